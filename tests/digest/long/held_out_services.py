"""Two services, held out: they and their facts were committed before any digest of them was made. A rate limiter in Go and a mail importer in Python,
with builds that fail, checks by scripts, and users who change their mind."""

from scenarios import scenario

LIMITER = {
    "go.mod": "module example.com/limiter\n\ngo 1.20\n",
    "limiter.go": """package limiter

import (
	"sync"
	"time"
)

// Limiter allows so many calls of a key within a window.
type Limiter struct {
	mu     sync.Mutex
	max    int
	window time.Duration
	calls  map[string][]time.Time
	now    func() time.Time
}

func New(max int, window time.Duration) *Limiter {
	return &Limiter{max: max, window: window, calls: map[string][]time.Time{}, now: time.Now}
}

// Allow reports whether one more call of the key is allowed.
func (l *Limiter) Allow(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	recent := l.calls[key]
	for len(recent) > 0 && now.Sub(recent[0]) > l.window {
		recent = recent[1:]
	}
	if len(recent) >= l.max {
		return false
	}
	l.calls[key] = append(recent, now)
	return true
}
""",
    "limiter_test.go": """package limiter

import (
	"testing"
	"time"
)

func TestAllowsUpToTheMaximum(t *testing.T) {
	l := New(2, time.Minute)
	if !l.Allow("a") || !l.Allow("a") {
		t.Fatal("two calls should be allowed")
	}
	if l.Allow("a") {
		t.Fatal("the third call should not be allowed")
	}
}
""",
    "cmd/demo/main.go": """package main

import (
	"fmt"
	"time"

	"example.com/limiter"
)

func main() {
	l := limiter.New(3, time.Second)
	for i := 0; i < 5; i++ {
		fmt.Println(i, l.Allow("demo"))
	}
}
""",
    "docs/operations.md": "# Operations\n\nThe limiter runs inside every gateway pod.\nKeys are account ids; there are about two million a day.\n",
    "README.md": "# limiter\n\nSliding-window rate limits, in memory.\n",
    "tests/soak.sh": """#!/bin/sh
# Calls with many keys, and compares what is left in memory with what was measured before.
set -eu
go run ./cmd/demo | diff tests/demo.txt - && echo 'soak ok'
""",
    "tests/demo.txt": "0 true\n1 true\n2 true\n3 false\n4 false\n",
}

scenario(
    "held_out_limiter",
    about="Held out. A rate limiter in Go that never forgets a key.",
    seed=61,
    folder="services",
    style="codex_exec",
    project=LIMITER,
    looks=[
        "go vet ./...",
        "go test ./... 2>&1 | tail -5",
        "go version",
        "go list ./...",
        "gofmt -l .",
        "grep -n 'func ' *.go",
        "ls -la . cmd/demo",
        "git status --short",
        "go env GOFLAGS",
        "wc -l *.go",
        "git diff HEAD --stat",
        "grep -rn 'now()' --include='*.go' .",
    ],
    steps=[
        (
            "user",
            "Our gateway pods are killed for memory after two days; I suspect the limiter never forgets keys. Confirm it and fix it. Allow() is called from six services, its signature stays. No background goroutine: the pods are frozen between requests and timers go wrong there.",
        ),
        ("explore", 12),
        (
            "plan",
            (">", "Show the growth in a test"),
            (" ", "Forget keys that have expired"),
            (" ", "Keep Allow fast with two million keys"),
            (" ", "Say in docs/operations.md how much memory a key takes"),
        ),
        (
            "write",
            "growth_test.go",
            """package limiter

import (
	"fmt"
	"testing"
	"time"
)

func TestForgetsKeysThatExpired(t *testing.T) {
	l := New(2, time.Minute)
	clock := time.Unix(0, 0)
	l.now = func() time.Time { return clock }
	for i := 0; i < 1000; i++ {
		l.Allow(fmt.Sprint("key", i))
		clock = clock.Add(time.Second)
	}
	if len(l.calls) > 100 {
		t.Fatalf("%d keys are kept, want at most 100", len(l.calls))
	}
}
""",
        ),
        ("sh", "go test -run TestForgets ./... 2>&1 | head -8"),
        ("explore", 14),
        (
            "edit",
            "limiter.go",
            "	recent := l.calls[key]\n",
            "	for other, times := range l.calls {\n		if now.Sub(times[len(times)-1]) > l.window {\n			delete(l.calls, other)\n		}\n	}\n	recent := l.calls[key]\n",
        ),
        ("sh", "go test ./... 2>&1 | tail -5"),
        (
            "sh",
            'printf \'package limiter\\n\\nimport (\\n\\t"fmt"\\n\\t"testing"\\n\\t"time"\\n)\\n\\nfunc BenchmarkAllow(b *testing.B) {\\n\\tl := New(2, time.Minute)\\n\\tfor i := 0; i < b.N; i++ {\\n\\t\\tl.Allow(fmt.Sprint(i %% 20000))\\n\\t}\\n}\\n\' > bench_test.go && go test -run xxx -bench Allow -benchtime 2000x ./... 2>&1 | grep ns/op | awk \'{print $1}\'',
        ),
        (
            "say",
            "Sweeping all keys in every call was no good: with two million keys each Allow would walk two million entries. I took it back and keep the keys in the order of their last call instead.",
        ),
        ("sh", "git checkout -q limiter.go && git status --short"),
        ("explore", 14),
        (
            "user",
            "ok. one more thing: time must come from l.now everywhere, the tests of the gateway fake it. And please no dependency for the list, container/list is fine.",
        ),
        ("explore", 8),
        (
            "edit",
            "limiter.go",
            'import (\n	"sync"\n',
            'import (\n	"container/list"\n	"sync"\n',
        ),
        ("sh", "go build ./... 2>&1 | head -5"),
        (
            "edit",
            "limiter.go",
            "	now    func() time.Time\n}",
            "	now    func() time.Time\n	order  *list.List // of keys, the one called longest ago first\n	places map[string]*list.Element\n}",
        ),
        (
            "sh",
            "sed -i 's/now: time.Now}/now: time.Now, order: list.New(), places: map[string]*list.Element{}}/' limiter.go && gofmt -l . && go build ./... 2>&1 | head -5",
        ),
        ("explore", 14),
        (
            "say",
            "Should a key whose call was refused count as called, so that it is kept, or be forgotten a window after its last allowed call?",
        ),
        ("user", "the latter, refused calls must not keep it alive"),
        (
            "edit",
            "limiter.go",
            "	l.calls[key] = append(recent, now)\n	return true\n",
            "	l.calls[key] = append(recent, now)\n	l.touch(key)\n	return true\n",
        ),
        ("sh", "go vet ./... 2>&1 | head -4"),
        ("explore", 10),
        (
            "say",
            "A heap by expiry didn't work out: updating a key's place needs its index, and container/heap does not tell it without extra bookkeeping.",
        ),
        (
            "edit",
            "limiter.go",
            "// Allow reports",
            "func (l *Limiter) touch(key string) {\n	if place, known := l.places[key]; known {\n		l.order.MoveToBack(place)\n	} else {\n		l.places[key] = l.order.PushBack(key)\n	}\n}\n\n// Allow reports",
        ),
        ("sh", "go vet ./... && go test ./... 2>&1 | tail -6"),
        (
            "plan",
            ("x", "Show the growth in a test"),
            (">", "Forget keys that have expired"),
            (" ", "Keep Allow fast with two million keys"),
            (" ", "Say in docs/operations.md how much memory a key takes"),
        ),
        ("explore", 8),
        (
            "user",
            "The soak test has to print exactly tests/demo.txt, ops diff it. Does it still?",
        ),
        (
            "sh",
            "sed -i 's/New(3, time.Second)/New(2, time.Second)/' cmd/demo/main.go && sh tests/soak.sh",
        ),
        ("explore", 10),
        ("sh", "go test -run TestForgets ./... 2>&1 | head -8"),
        (
            "say",
            "No: I changed the demo to two calls, so the third line differs, and the growth test still keeps all 1000 keys. Next I'll put the demo back to New(3, time.Second) and drop expired keys from the front of l.order in Allow.",
        ),
    ],
    facts={
        "constraints": [
            "Allow() is called from six services, its signature stays.",
            "No background goroutine: the pods are frozen between requests",
            "time must come from l.now everywhere",
            "please no dependency for the list, container/list is fine.",
            "The soak test has to print exactly tests/demo.txt",
        ],
        "decisions": ["the latter, refused calls must not keep it alive"],
        "changedFiles": ["growth_test.go", "bench_test.go", "limiter.go", "cmd/demo/main.go"],
        "plan": [
            "Forget keys that have expired",
            "Keep Allow fast with two million keys",
            "Say in docs/operations.md how much memory a key takes",
        ],
        "nextStep": ["drop expired keys from the front of l.order in Allow"],
        "request": ["Does it still?"],
        "errors": ["1000 keys are kept, want at most 100", "< 2 true"],
        "attempts": [
            "Sweeping all keys in every call was no good",
            "A heap by expiry didn't work out",
        ],
    },
)

MAIL = {
    "pyproject.toml": '[project]\nname = "mailbox-import"\nversion = "1.4.0"\nrequires-python = ">=3.9"\n',
    "mailbox_import/__init__.py": "",
    "mailbox_import/parse.py": """import email
import email.policy


def parse(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    return {
        "from": message["From"],
        "subject": message["Subject"],
        "date": message["Date"],
        "body": message.get_body().get_content(),
    }
""",
    "mailbox_import/store.py": """import json
import pathlib


def save(folder, number, record):
    path = pathlib.Path(folder) / ("%06d.json" % number)
    path.write_text(json.dumps(record, default=str))
    return path
""",
    "mailbox_import/main.py": """import sys

from mailbox_import.parse import parse
from mailbox_import.store import save


def main(argv):
    folder, files = argv[0], argv[1:]
    for number, name in enumerate(files, 1):
        with open(name, "rb") as file:
            save(folder, number, parse(file.read()))
    print("imported", len(files))


if __name__ == "__main__":
    main(sys.argv[1:])
""",
    "samples/plain.eml": "From: Ada <ada@example.com>\nSubject: Minutes\nDate: Mon, 02 Feb 2026 10:00:00 +0100\n\nAll agreed.\n",
    "samples/html.eml": "From: shop@example.com\nSubject: Your order\nDate: Tue, 03 Feb 2026 08:00:00 +0000\nContent-Type: text/html; charset=utf-8\n\n<p>Thanks</p>\n",
    "samples/empty.eml": "From: noreply@example.com\nSubject: \nDate: Tue, 03 Feb 2026 08:00:00 +0000\nContent-Type: multipart/mixed; boundary=x\n\n--x--\n",
    "tests/test_parse.py": """import pathlib
import unittest

from mailbox_import.parse import parse

SAMPLES = pathlib.Path(__file__).parents[1] / "samples"


class Parse(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(parse((SAMPLES / "plain.eml").read_bytes())["body"], "All agreed.\\n")


if __name__ == "__main__":
    unittest.main()
""",
    "docs/retention.md": "# Retention\n\nMail is kept for seven years.\nThe archive compares the number of files in with the number of records out.\n",
    "README.md": "# mailbox-import\n\n`python3 -m mailbox_import.main OUT FILE...`\n",
    "Makefile": "check:\n\tpython3 -m unittest -q\n\ntrial:\n\tmkdir -p out && python3 -m mailbox_import.main out samples/*.eml\n",
}

scenario(
    "held_out_mail",
    about="Held out. Mail without a body stops an import half way.",
    seed=62,
    folder="services",
    style="openai",
    project=MAIL,
    looks=[
        "make check 2>&1 | tail -4",
        "python3 -m unittest tests.test_parse 2>&1 | tail -3",
        "file samples/*",
        "ls -la samples out 2>/dev/null",
        "git status --short",
        "python3 --version",
        "grep -n 'def ' mailbox_import/*.py",
        "head -4 samples/html.eml",
        "wc -c samples/*.eml",
        "git log --oneline | head -3",
        "grep -rn get_body mailbox_import",
        "cat Makefile",
    ],
    steps=[
        (
            "user",
            "The nightly import stops at some mails and everything behind them is missing in the archive. Find out which and fix it. It has to run on Python 3.9, the archive host has nothing else. Never skip a mail silently: the number of records must equal the number of files.",
        ),
        ("explore", 10),
        ("sh", "make trial 2>&1 | tail -6"),
        (
            "plan",
            (">", "Import mails without a body"),
            (" ", "Dates as ISO in UTC"),
            (" ", "A record for mails that cannot be read"),
            (" ", "Describe records in README.md"),
        ),
        ("explore", 14),
        (
            "sh",
            'cat > tests/test_empty.py <<\'END\'\nimport pathlib\nimport unittest\n\nfrom mailbox_import.parse import parse\n\nSAMPLES = pathlib.Path(__file__).parents[1] / "samples"\n\n\nclass Empty(unittest.TestCase):\n    def test_no_body(self):\n        self.assertEqual(parse((SAMPLES / "empty.eml").read_bytes())["body"], "")\nEND\npython3 -m unittest discover -s tests 2>&1 | tail -4',
        ),
        (
            "edit",
            "mailbox_import/parse.py",
            '        "body": message.get_body().get_content(),\n',
            '        "body": message.get_payload(),\n',
        ),
        ("sh", "python3 -m unittest discover -s tests 2>&1 | tail -4"),
        (
            "say",
            "get_payload() is a dead end: for multipart mail it gives a list of parts, and base64 stays encoded. Reverted it.",
        ),
        ("sh", "git checkout -q mailbox_import/parse.py && git diff --stat"),
        (
            "edit",
            "mailbox_import/parse.py",
            '        "body": message.get_body().get_content(),\n',
            '        "body": body.get_content() if body else "",\n',
        ),
        (
            "sh",
            "sed -i 's/^    return {/    body = message.get_body()\\n    return {/' mailbox_import/parse.py && python3 -m unittest discover -s tests 2>&1 | tail -3",
        ),
        ("explore", 16),
        (
            "user",
            "works, nice. dates next: the archive sorts by them as text, so UTC with a Z at the end. If a mail has no date leave the field out, don't invent one.",
        ),
        ("explore", 12),
        (
            "edit",
            "mailbox_import/parse.py",
            '        "date": message["Date"],\n',
            '        "date": utc(message["Date"]),\n',
        ),
        (
            "sh",
            "python3 - <<'END'\np = 'mailbox_import/parse.py'\ns = open(p).read()\ns = s.replace('\\n\\ndef parse', '\\nfrom datetime import UTC\\n\\n\\ndef utc(date):\\n    return date.datetime.astimezone(UTC).strftime(\"%Y-%m-%dT%H:%M:%SZ\")\\n\\n\\ndef parse')\nopen(p, 'w').write(s)\nEND\nmake trial 2>&1 | tail -3",
        ),
        (
            "say",
            "datetime.UTC won't work here: it came with Python 3.11. I use timezone.utc.",
        ),
        (
            "sh",
            "sed -i 's/from datetime import UTC/from datetime import timezone/; s/astimezone(UTC)/astimezone(timezone.utc)/' mailbox_import/parse.py && make trial && grep -ho '\"date\": [^,]*' out/*.json",
        ),
        ("explore", 14),
        (
            "say",
            "A mail that cannot be read at all: should its record have the raw bytes in base64, or only the name of the file and the error?",
        ),
        (
            "user",
            "name and error. raw mail must not end up in the archive index, legal is strict about that",
        ),
        ("explore", 10),
        (
            "write",
            "samples/broken.eml",
            "Subject: =?utf-8?B?broken\nContent-Type: text/plain; charset=nonsense\n\ncaf\u00e9\n",
        ),
        ("sh", "make trial 2>&1 | tail -4"),
        (
            "plan",
            ("x", "Import mails without a body"),
            ("x", "Dates as ISO in UTC"),
            (">", "A record for mails that cannot be read"),
            (" ", "Describe records in README.md"),
        ),
        ("explore", 8),
        ("user", "Does broken.eml also stop the ones behind it?"),
        ("explore", 8),
        ("sh", "rm -rf out && make trial 2>&1 | grep -E 'Error|imported'; ls out | wc -l"),
        (
            "say",
            "Yes: it sorts first, and nothing is imported. What is left: catch the exception around parse() in mailbox_import/main.py and save a record with the name and the error, then leave out the date where there is none.",
        ),
    ],
    facts={
        "constraints": [
            "It has to run on Python 3.9, the archive host has nothing else.",
            "Never skip a mail silently: the number of records must equal the number of files.",
            "the archive sorts by them as text, so UTC with a Z at the end.",
            "If a mail has no date leave the field out, don't invent one.",
            "raw mail must not end up in the archive index",
        ],
        "decisions": ["name and error."],
        "changedFiles": ["tests/test_empty.py", "mailbox_import/parse.py", "samples/broken.eml"],
        "plan": [
            "A record for mails that cannot be read",
            "Describe records in README.md",
        ],
        "nextStep": ["catch the exception around parse() in mailbox_import/main.py"],
        "request": ["Does broken.eml also stop the ones behind it?"],
        "errors": ["'NoneType' object has no attribute 'datetime'"],
        "attempts": ["get_payload() is a dead end", "datetime.UTC won't work here"],
    },
)
