#!/usr/bin/env python3
"""The command line as people use it: every command, on a SQLite store of its own.   cli_test.py BINARY"""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "tests/transcripts"
# ESC, OSC 52, C1, carriage return, bidi override, a soft hyphen: none may reach a terminal as it is.
NASTY = "\x1b[31mred\x1b]52;c;aGk=\x07 \u009b31m a\rb \u202eevil\u202c \x7f \u00ad end"
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)


class Bench:
    """A folder of its own, with the environment that leads there."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="undertext-cli-"))
        kept = {
            k: v
            for k, v in os.environ.items()
            if k
            not in (
                "COLUMNS",
                "NO_COLOR",
                "UNDERTEXT_STORE",
                "UNDERTEXT_CONVERSATION",
                "EDITOR",
                "VISUAL",
            )
        }
        self.env = {
            **kept,
            "HOME": str(self.folder / "home"),
            "XDG_DATA_HOME": str(self.folder / "data"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "USER": "tester",
        }

    def run(self, *words, stdin="", status=0, told=1, **env):
        """Standard output, after checking the exit status; errors must be one line, or as many as `told`."""
        done = subprocess.run(
            [self.binary, *words],
            input=stdin.encode(),
            capture_output=True,
            env={**self.env, **env},
            timeout=120,
        )
        assert done.returncode == status, (
            words,
            done.returncode,
            done.stdout[-500:],
            done.stderr[-500:],
        )
        self.stderr = done.stderr.decode()
        if status != 0 and status != 6:
            assert self.stderr.count("\n") == told, (words, self.stderr)
        return done.stdout.decode()

    def json(self, *words, **more):
        return json.loads(self.run(*words, "--json", **more))

    def lines(self, *words, **more):
        return [json.loads(line) for line in self.run(*words, "--json", **more).splitlines()]

    def fails(self, code, status, *words, **more):
        self.run(*words, status=status, **more)
        assert self.stderr.startswith(f"undertext: {code}: "), self.stderr
        self.run(*words, "--json", status=status, **more)
        assert json.loads(self.stderr)["error"]["code"] == code, self.stderr

    def terminal(self, *words, typed=(), **env):
        """What a terminal is sent; `typed` are lines, each sent when something of the one before has been answered."""
        ours, theirs = pty.openpty()
        out = b""
        with subprocess.Popen(
            [self.binary, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**self.env, **env},
            start_new_session=True,
        ) as process:
            os.close(theirs)
            for wait_for, line in typed:
                deadline = time.monotonic() + 60
                while wait_for.encode() not in out:
                    if time.monotonic() > deadline:
                        process.kill()
                        raise AssertionError((wait_for, out))
                    if select.select([ours], [], [], 1)[0]:
                        out += os.read(ours, 65536)
                out = out[out.index(wait_for.encode()) + len(wait_for.encode()) :]
                os.write(ours, line.encode())
            try:
                while piece := os.read(ours, 65536):
                    out += piece
            except OSError:  # how Linux says that the other end is closed
                pass
        os.close(ours)
        self.status = process.returncode
        return out.decode().replace("\r\n", "\n")


def a_word_is_no_conversation_by_mistake(b):
    """`append a < file` neither takes the word for a text nor leaves the file unread."""
    lines = b.folder / "messages.jsonl"
    lines.write_text('{"role":"user","content":"of the file"}\n')

    def given(*words):
        with lines.open() as file:
            return subprocess.run(
                [b.binary, *words], stdin=file, capture_output=True, env=b.env, timeout=120
            )

    for words in (["mistaken"], ["-c", "first", "mistaken"], ["first", "a text"]):
        done = given("append", *words)
        assert done.returncode == 2 and b"invalid_argument" in done.stderr, (words, done)
    assert b"append mistaken - appends the file" in given("append", "mistaken").stderr
    b.fails("not_found", 3, "show", "mistaken")
    assert given("append", "--new", "mistaken", "-").returncode == 0
    assert b.json("show", "mistaken")["messages"] == [{"role": "user", "content": "of the file"}]
    # A conversation alone is no text, wherever standard input comes from; with -c it is one.
    b.fails("invalid_argument", 2, "append", "mistaken", stdin='{"role":"user","content":"x"}')
    assert "append mistaken - appends standard input" in b.stderr, b.stderr
    b.run("append", "-c", "mistaken", "mistaken")
    # A file that the shell reads line by line is not meant.
    loop = 'while read -r line; do "$0" append -c mistaken "of the loop"; done'
    with lines.open() as file:
        subprocess.run(
            ["sh", "-c", loop, b.binary],
            stdin=file,
            stdout=subprocess.DEVNULL,
            env=b.env,
            check=True,
            timeout=120,
        )
    assert len(b.json("show", "mistaken")["messages"]) == 3


def compresses_by_what_a_strategy_has(b):
    text = " ".join(["word"] * 400)
    for role in ("user", "assistant") * 6:
        b.run("append", "-c", "wordy", "--new", "--role", role, text)
    for line in (
        '"targetTokens":2000',
        '"budget":{"window":2000}',
        '"progress":true,"targetTokens":1',
    ):
        answer = json.loads(
            b.run("exec", "-c", "wordy", stdin='{"operation":"COMPRESS",' + line + "}\n")
        )
        assert answer["ok"], (line, answer)
        b.run("undo", "wordy")
    both = '{"operation":"COMPRESS","targetTokens":2000,"indices":[0]}\n'
    answer = json.loads(b.run("exec", "-c", "wordy", stdin=both))
    assert "targetTokens and indices exclude each other" in answer["error"]["message"], answer
    b.run("compress", "wordy", "--target-tokens", "2000")


def without_colours(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def makes_and_lists(b):
    b.fails("not_found", 3, "list")
    assert b.run("init").startswith("sqlite:")
    store = b.folder / "data/undertext/undertext.db"
    assert store.stat().st_mode & 0o777 == 0o600 and store.parent.stat().st_mode & 0o777 == 0o700
    assert b.run("new", "first") == "first\n"
    b.fails("conflict", 4, "new", "first")
    b.fails("invalid_argument", 2, "new", "../evil")
    made_up = b.json("new")["result"]["conversation"]
    assert re.fullmatch(r"\d{8}-\d{6}-\w{6}", made_up)
    assert [c["conversation"] for c in b.lines("list")] == sorted([made_up, "first"])
    assert "first" in b.run("list")
    b.run("new", "set", "--config", '{"tokenLimit":50}')
    b.fails("invalid_argument", 2, "new", "bad", "--config", '{"nonsense":1}')
    (b.folder / "config.json").write_text('{"tokenLimit":50}')
    b.run("new", "by-file", "--config", str(b.folder / "config.json"))
    b.fails("invalid_argument", 2, "new", "bad", "--config", "{nonsense")
    assert "--config" in b.stderr
    b.fails("not_found", 3, "new", "bad", "--config", "nowhere.json")
    assert "--config" in b.stderr


def appends_and_shows(b):
    b.run("append", "Hello")  # to the one called default, which needs no making
    b.fails("not_found", 3, "append", "-c", "nobody", "x")
    b.run("append", "-c", "somebody", "--new", "x")
    answer = b.json("append", "-c", "first", "--role", "system", "Be brief.")
    assert (answer["ok"], answer["operation"], answer["version"]) == (True, "APPEND", 1), answer
    b.run("append", "-c", "first", "What is 2+2?", "-m", "the question")
    b.run("append", "-c", "first", '{"role":"assistant","content":"4","note":1.50}')
    b.run(
        "append",
        "-c",
        "first",
        "-",
        stdin='{"role":"user","content":"a"}\n\n[{"role":"user","content":"b"},{"role":"user","content":"c"}]\n',
    )
    b.run("append", "-c", "first", "--role", "user", "-", stdin="from\nstandard input")
    shown = b.json("show", "first")
    assert [m["content"] for m in shown["messages"]] == [
        "Be brief.",
        "What is 2+2?",
        "4",
        "a",
        "b",
        "c",
        "from\nstandard input",
    ]
    assert '{"role":"assistant","content":"4","note":1.50}' in b.run("show", "first", "--json")
    text = b.run("show", "first")
    assert (
        "system  #0" in text and "      What is 2+2?" in text and "      standard input" in text
    ), text
    assert len(b.json("show", "first", "--role", "user", "--last", "2")["messages"]) == 2
    assert b.json("show", "-c", "first", "--first", "1")["ordinals"] == [0]
    assert len(b.json("show", "first", "--at-version", "2")["messages"]) == 2
    assert b.json("show", "first", "--contains", "2+2")["ordinals"] == [1]
    b.fails("not_found", 3, "show", "nobody")
    b.fails("not_found", 3, "show", "first", "--at-version", "99")
    b.fails(
        "invalid_argument",
        2,
        "append",
        "-c",
        "first",
        "-",
        stdin='{"role":"user","content":"fine"}\n{"role":"nobody"}\n',
    )
    assert "line 2" in b.stderr
    b.run("undo", "first")
    b.run("undo", "first")
    b.fails("conflict", 4, "append", "-c", "first", "x", "--expected-version", "1")
    first = b.json("append", "-c", "first", "once", "--operation-id", "op-1")
    assert b.json("append", "-c", "first", "once", "--operation-id", "op-1") == first
    b.fails("invalid_argument", 2, "append", "-c", "first", "")


def edits(b):
    before = b.json("show", "first")["messages"]
    answer = b.json("edit", "-c", "first", "2", "--text", "four", "-m", "in words")
    assert answer["operation"] == "REPLACE"
    assert b.json("show", "first")["messages"][2] == {
        "role": "assistant",
        "content": "four",
        "note": 1.5,
    }
    editor = b.folder / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/four/FOUR/ "$1"\n')
    editor.chmod(0o700)
    b.run("edit", "-c", "first", "2", EDITOR=str(editor))
    assert b.json("show", "first")["messages"][2]["content"] == "FOUR"
    version = b.lines("log", "first", "-n", "1")[0]["version"]
    b.run("edit", "-c", "first", "2", EDITOR="true")
    assert (
        "nothing was changed" in b.stderr
        and b.lines("log", "first", "-n", "1")[0]["version"] == version
    )
    b.fails("unavailable", 5, "edit", "-c", "first", "2", EDITOR="false")
    b.run("edit", "-c", "first", "2", "--message", '{"role":"assistant","content":"five"}')
    b.fails("invalid_argument", 2, "edit", "-c", "first", "99", "--text", "x")
    assert not list(pathlib.Path(tempfile.gettempdir()).glob("undertext-??????.md"))
    b.run("undo", "first")
    b.run("redo", "first")
    assert b.json("show", "first")["messages"][2]["content"] == "five"
    b.run("rollback", "-c", "first", "0")
    assert b.json("show", "first")["messages"] == before
    b.run("rollback", "-c", "first", "--to-version", str(version))
    assert b.json("show", "first")["messages"][2]["content"] == "FOUR"
    b.fails("invalid_argument", 2, "rollback", "-c", "first")
    b.fails("not_found", 3, "redo", "first")


def looks_back(b):
    versions = b.lines("log", "first")
    assert [v["version"] for v in versions] == list(range(len(versions) - 1, -1, -1))
    assert versions[-1]["operation"] is None and any(
        v["description"] == "the question" for v in versions
    )
    assert len(b.run("log", "first", "-n", "3").splitlines()) == 3
    assert b.json("diff", "-c", "first", "0", "2")["result"] == {
        "removed": [],
        "added": [0, 1],
        "moved": [],
    }
    assert "+ #1" in b.run("diff", "-c", "first", "0", "2")
    b.fails("not_found", 3, "diff", "-c", "first", "0", "99")
    blame = b.json("blame", "-c", "first", "2")["result"]
    assert blame["stored"]["version"] == 3 and blame["hidden"], blame
    assert "stored" in b.run("blame", "-c", "first", "2")
    assert b.run("blame", "first", "2") == b.run("blame", "-c", "first", "2")
    assert b.run("diff", "first", "0", "1") == b.run("diff", "-c", "first", "0", "1")
    assert b.run("diff", "first", "0") == b.run("diff", "-c", "first", "0")
    assert b.run("search", "first", "a") == b.run("search", "-c", "first", "a")
    b.fails("invalid_argument", 2, "blame", "first", "two")
    assert "ORDINAL" in b.stderr
    b.fails("invalid_argument", 2, "edit", "-c", "first")
    assert "INDEX" in b.stderr
    b.fails("invalid_argument", 2, "rollback", "first", "0", "1")
    assert "BATCH" in b.stderr
    b.fails("not_found", 3, "blame", "-c", "first", "99")
    assert {h["conversation"] for h in b.lines("search", "Hello")} == {"default"}
    assert [h["ordinal"] for h in b.lines("search", "-c", "first", "2+2")] == [1]
    assert "What is 2+2?" in b.run("search", "2+2")
    assert b.run("search", "nowhere to be found") == ""


def forks_and_compresses(b):
    assert b.run("fork", "-c", "first", "second", "--at-version", "2") == "second\n"
    assert len(b.json("show", "second")["messages"]) == 2
    b.fails("conflict", 4, "fork", "-c", "first", "second")
    assert [c["forkOf"] for c in b.lines("list") if c["conversation"] == "second"] == [
        {"conversation": "first", "version": 2}
    ]
    b.run("new", "long")
    for _ in range(4):
        b.run(
            "append",
            "-c",
            "long",
            '{"role":"user","content":"%s"}' % ("word " * 40),
            '{"role":"assistant","content":"%s"}' % ("answer " * 40),
        )
    answer = b.json("compress", "long", "--target-tokens", "200")
    assert answer["operation"] == "COMPRESS" and answer["stats"]["tokens"] <= 200, answer
    assert "COMPRESS" in b.run("compress", "long", "--strategy", '{"name":"keep_recent","n":2}')
    b.fails("cannot_fit", 7, "compress", "long", "--target-tokens", "1")
    b.fails("invalid_argument", 2, "compress", "long", "--strategy", "magic")


def evaluates_compactions(b):
    transcript = str(ROOT / "tests/digest/long/python_rounding.json")
    # A strategy that is tried on a transcript, whose facts stand beside its messages.
    tried = b.json("eval", transcript, "--target", "15%", "--model", "claude-opus-4-7")["result"][
        "compactions"
    ]
    assert len(tried) == 1 and "version" not in tried[0] and tried[0]["summariser"] == "digest", (
        tried
    )
    assert tried[0]["tokensAfter"] <= 0.15 * tried[0]["tokensBefore"], tried[0]
    assert (
        0 < tried[0]["dollarsAfter"] < tried[0]["dollarsBefore"] and tried[0]["prefixTokens"] >= 0
    ), tried[0]
    facts = json.loads((ROOT / "tests/digest/long/python_rounding.json").read_text())["facts"]
    assert {kind: count["facts"] for kind, count in tried[0]["survival"].items()} == {
        kind: len(f) for kind, f in facts.items()
    }
    assert tried[0]["survival"]["constraints"] == {"facts": 2, "kept": 2, "lost": []}, tried[0]
    table = b.run("eval", transcript, "--target", "15%", "--model", "claude-opus-4-7")
    for row in (
        r"tried +supersede, dedupe, clear_tool_results, smart_summary \(digest\)",
        r" tokens +\d+ -> \d+ +\(1\d\.\d %\)",
        r" prefix kept +\d+ tokens",
        r" a request +\$\d\.\d+ -> \$\d\.\d+",
        r" constraints +2 of 2 +100\.0 %",
    ):
        assert re.search(row, table), (row, table)
    # Thresholds for CI: the status, and a line for each that is missed.
    b.run(
        "eval",
        transcript,
        "--min",
        "constraints=1",
        "--min",
        "changedFiles=1",
        "--min",
        "paths=0.6",
    )
    b.run(
        "eval",
        transcript,
        "--strategy",
        "sliding_window",
        "--min",
        "constraints=1",
        "--min",
        "attempts=0.5",
        "--min",
        "nextStep=1",
        status=1,
        told=2,
    )
    assert "constraints: 0.0 % of them survive; 100.0 % was asked for" in b.stderr, b.stderr
    assert "lost: Never use floats for money" in b.run(
        "eval", transcript, "--strategy", "sliding_window", "--lost"
    )
    b.fails("invalid_argument", 2, "eval", transcript, "--min", "wishes=1")
    b.fails("invalid_argument", 2, "eval", transcript, "--min", "constraints")
    for number in ("nan", "-nan", "inf", "-1", "1e400", "1e300"):
        b.fails("invalid_argument", 2, "eval", transcript, "--min", f"constraints={number}")
        b.fails("invalid_argument", 2, "eval", transcript, "--target", number)
        b.fails("invalid_argument", 2, "eval", transcript, "--target", f"{number}%")
    # Facts of one's own, and a transcript on standard input without any: then those that the digest finds.
    own = b.folder / "own.json"
    own.write_text('{"names":["nobody"]}')
    text = (ROOT / "tests/digest/long/python_rounding.json").read_text()
    assert b.json("eval", transcript, "--facts", str(own))["result"]["compactions"][0][
        "survival"
    ] == {"names": {"facts": 1, "kept": 0, "lost": ["nobody"]}}
    own.write_text('["nobody"]')
    b.fails("invalid_argument", 2, "eval", transcript, "--facts", str(own))
    messages = json.dumps({"messages": json.loads(text)["messages"]})
    found = b.json("eval", "-", stdin=messages)["result"]["compactions"][0]["survival"]
    assert list(found) == [
        "constraints",
        "request",
        "plan",
        "changedFiles",
        "results",
        "errors",
        "attempts",
        "nextStep",
        "paths",
        "commands",
        "urls",
    ], found
    assert found["constraints"]["kept"] == found["constraints"]["facts"] > 0, found["constraints"]
    # Every compaction of a conversation.
    b.run("import", "-", "evaluated", stdin=messages)
    assert b.json("eval", "evaluated")["result"]["compactions"] == []
    before = len(b.json("show", "evaluated")["messages"])
    assert (
        b.json("eval", "evaluated", "--target", "15%")["result"]["compactions"][0]["tokensAfter"]
        > 0
    )
    assert len(b.json("show", "evaluated")["messages"]) == before, (
        "a strategy that is tried changes nothing"
    )
    for target in ("8000", "2500"):
        b.run("compress", "evaluated", "--target-tokens", target)
    made = b.json("eval", "evaluated")["result"]["compactions"]
    assert [m["tokensBefore"] for m in made][1] == [m["tokensAfter"] for m in made][0], made
    assert (
        made[0]["version"] < made[1]["version"]
        and made[0]["tokensAfter"] <= 8000
        and made[1]["tokensAfter"] <= 2500
    ), made
    assert all(m["survival"]["constraints"]["lost"] == [] for m in made), made
    b.run("eval", "evaluated", "--min", "constraints=1")


def views(b, conversation):
    head = b.lines("log", conversation, "-n", "1")[0]["version"]
    return [b.run("show", conversation, "--json", "--at-version", str(v)) for v in range(head + 1)]


def travels(b):
    """Export, import, export: the same bytes, the same views at every version."""
    operations = [
        {
            "operation": "APPEND",
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "u\u202e"},
                {"role": "assistant", "content": "", "toolCalls": [{"id": "c"}]},
                {"role": "tool", "toolCallId": "c", "content": "t"},
            ],
            "operationId": "first of all",
            "description": 'say "so"',
        },
        {
            "operation": "INSERT",
            "position": 1,
            "messages": [{"role": "user", "content": "in between", "timestamp": 5}],
        },
        {"operation": "REPLACE", "index": 1, "message": {"role": "user", "content": "instead"}},
        {
            "operation": "replace",
            "indices": [1],
            "data": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}],
        },
        {"operation": "MERGE", "indices": [2, 3], "separator": " & "},
        {"operation": "SPLIT", "index": 2, "at": [3]},
        {"operation": "MARK", "indices": [0], "mark": "pinned"},
        {"operation": "UNMARK", "ordinals": [0], "mark": "pinned"},
        {"operation": "TRANSFORM", "roles": ["user"], "replaceText": {"find": "o", "with": "0"}},
        {
            "operation": "TRANSFORM",
            "indices": [1],
            "truncateText": {"maxChars": 2, "keep": "both", "marker": "…"},
        },
        {"operation": "TRANSFORM", "ordinals": [0], "setMetadata": {"a": [1, 2.50]}},
        {"operation": "TRUNCATE", "keepLast": 9, "range": {"start": 0, "end": 99}, "pairs": "grow"},
        {"operation": "DELETE", "indices": [1], "pairs": "shrink"},
        {"operation": "UNDO"},
        {"operation": "REDO"},
        {"operation": "COMPRESS", "indices": [1], "summary": {"role": "user", "content": "sum"}},
        {"operation": "EXPAND", "index": 1},
        {"operation": "START_BATCH", "hidePrior": True},
        {"operation": "APPEND", "messages": [{"role": "assistant", "content": "carried"}]},
        {"operation": "END_BATCH", "targetBatch": 0, "carry": ["assistant"]},
        {
            "operation": "APPEND",
            "messages": [
                {"role": "user", "content": "x" * 2000},
                {"role": "assistant", "content": "y" * 2000},
                {"role": "user", "content": "z"},
            ],
        },
        {
            "operation": "COMPRESS",
            "strategy": {"name": "smart_summary", "keep": 1},
            "targetTokens": 300,
        },
        {
            "operation": "FILTER",
            "roles": ["user", "assistant", "system"],
            "contentExcludes": ["nothing of this"],
        },
        {"operation": "CLEAR"},
        {"operation": "RESTORE", "version": 3},
        {"operation": "ROLLBACK", "targetBatchIndex": 0},
    ]
    script = "".join(json.dumps(o) + "\n" for o in operations)
    # A message whose own bytes hold line breaks keeps them.
    script += (
        '{"operation":"APPEND","messages":[{"role":"user",  "content":"\\u00e9", "n": 1.50e0}]}\n'
    )
    answers = b.run(
        "exec",
        "--store",
        "sqlite:" + str(b.folder / "data/undertext/undertext.db"),
        "-c",
        "traveller",
        "--config",
        '{"tokenLimit": 100000}',
        stdin=script,
    )
    for line, operation in zip(answers.splitlines(), operations):
        assert json.loads(line)["ok"], (line, operation)
    b.run(
        "append",
        "-c",
        "traveller",
        '{"role":"user",\n "content":"on\ttwo lines"}'.replace("\t", " "),
    )
    b.run("redact", "-c", "traveller", "--yes", "--why", "a test", "3")
    b.run("fork", "-c", "traveller", "branch", "--at-version", "10")
    b.run("append", "-c", "branch", "on the branch")
    for conversation in ("traveller", "branch"):
        exported = b.run("export", conversation)
        lines = exported.splitlines()
        assert (
            json.loads(lines[0])["format"] == "undertext.conversation"
            and json.loads(lines[-1])["end"] is True
        )
        assert all(json.loads(line) for line in lines)
        for store in (str(b.folder / "other.db"), str(b.folder / "data/undertext/undertext.db")):
            where = ["--store", "sqlite:" + store]
            copy = b.json("import", "-", "copy-of-" + conversation, *where, stdin=exported)[
                "result"
            ]
            assert copy["versions"] == len(lines) - 2
            assert b.run("export", "copy-of-" + conversation, *where) == exported
            differing = [
                (x, y)
                for x, y in zip(
                    b.lines("log", "copy-of-" + conversation, *where), b.lines("log", conversation)
                )
                if x != y
            ]
            assert not differing, differing
        assert views(b, "copy-of-" + conversation) == views(b, conversation)
        if conversation == "traveller":
            # An operation id that was answered is answered again.
            again = b.run(
                "exec",
                "--store",
                "sqlite:" + str(b.folder / "other.db"),
                "-c",
                "copy-of-traveller",
                stdin=json.dumps(operations[0]) + "\n",
            )
            assert json.loads(again)["version"] == 1, again
            travels_badly(b, exported)
    b.run("check")


def travels_badly(b, exported):
    lines = exported.splitlines()
    b.fails("corrupt", 6, "import", "-", stdin="\n".join(lines[:-1]) + "\n")
    b.fails("corrupt", 6, "import", "-", stdin="\n".join(lines[:3] + lines[4:]) + "\n")
    b.fails("corrupt", 6, "import", "-", stdin=exported.replace("instead", "INSTEAD"))
    b.fails("invalid_argument", 2, "import", "-", stdin="\n".join(lines[:2] + ["{"] + lines[3:]))
    b.fails(
        "unsupported",
        8,
        "import",
        "-",
        stdin=exported.replace('"formatVersion":3', '"formatVersion":4', 1),
    )
    b.fails("conflict", 4, "import", "-", "traveller", stdin=exported)
    b.fails("not_found", 3, "import", str(b.folder / "nothing"))
    spy = lines[0].replace(
        '"settings":{"tokenLimit": 100000}',
        '"settings":{"summarisers":{"spy":{"url":"http://127.0.0.1:1/v1/chat/completions","model":"m"}}}',
    )
    assert spy != lines[0]
    b.run("import", "-", stdin="\n".join([spy] + lines[1:]), status=6)  # the digest tells first
    file = b.folder / "out.jsonl"
    b.run("export", "traveller", "-o", str(file))
    assert file.read_text() == exported and file.stat().st_mode & 0o777 == 0o600
    b.fails("conflict", 4, "export", "traveller", "-o", str(file))
    assert (
        b.json("import", str(file), "from-file")["result"]["messages"]
        == json.loads(lines[-1])["messages"]
    )
    assert [json.loads(m)["role"] for m in b.run("export", "traveller", "--messages").splitlines()]


def reads_transcripts(b):
    for name, count, left_out in (
        ("openai.json", 5, {}),
        ("anthropic.json", 4, {"model of the request": 1, "max_tokens of the request": 1}),
        ("messages.jsonl", 2, {}),
    ):
        result = b.json("import", str(SAMPLES / name))["result"]
        assert (result["format"], result["messages"], result["leftOut"]) == (
            "messages",
            count,
            left_out,
        ), result
    result = b.json("import", str(SAMPLES / "codex.jsonl"), "codex")["result"]
    assert result["format"] == "codex" and result["leftOut"] == {
        "event_msg": 2,
        "session_meta": 1,
        "turn_context": 1,
    }, result
    shown = b.json("show", "codex", "--all")["messages"]
    assert [m["role"] for m in shown] == [
        "user",
        "assistant",
        "assistant",
        "tool",
        "assistant",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ], shown
    assert shown[1]["content"][0]["item"]["encrypted_content"] == "AAAA", shown[1]  # its reasoning
    assert shown[2]["toolCalls"][0] == {
        "id": "call_1",
        "name": "shell",
        "arguments": '{"command":["ls"]}',
    }
    assert shown[3]["toolCallId"] == "call_1" and shown[3]["content"] == "README.md\n"
    assert shown[0]["timestamp"] == 1765154386102 and shown[0]["content"] == [
        {"type": "text", "text": "List the files"}
    ]
    assert (
        len(b.json("show", "codex")["messages"]) == 2
    )  # what Codex went on with after it had summarised
    store = "sqlite:" + str(b.folder / "data/undertext/undertext.db")
    expanded = b.run(
        "exec",
        "--store",
        store,
        "-c",
        "codex",
        stdin='{"operation":"EXPAND","index":0}\n{"query":"stats"}\n{"operation":"UNDO"}\n',
    ).splitlines()
    assert json.loads(expanded[1])["result"]["currentBatchMessages"] == 9, (
        expanded
    )  # and what it had summarised
    result = b.json("import", str(SAMPLES / "claude-code.jsonl"), "claude")["result"]
    assert result["format"] == "claude-code", result
    assert result["leftOut"] == {
        "summary": 1,
        "file-history-snapshot": 1,
        "sidechain, the work of a sub-agent": 1,
        "an error of the API": 1,
        "system": 1,
        "a last line that is cut off": 1,
    }, result
    shown = b.json("show", "claude")["messages"]
    assert [m["role"] for m in shown] == ["user", "assistant", "user", "assistant"], shown
    assert [p["type"] for p in shown[1]["content"]] == [
        "thinking",
        "text",
        "tool_use",
    ]  # three lines of one answer
    assert (
        shown[1]["metadata"]["claudeCode"]["model"] == "claude-sample" and shown[1]["id"] == "u-2"
    )
    b.run("import", "--dialect", "anthropic", str(SAMPLES / "anthropic.json"), "dialect")
    request = json.loads(b.run("export", "dialect", "--dialect", "openai_chat"))["messages"]
    assert [m["role"] for m in request] == ["system", "user", "assistant", "tool"], request
    b.fails("invalid_argument", 2, "import", "-", stdin="hello\n")
    b.fails("invalid_argument", 2, "import", "-", stdin="")
    b.fails("invalid_argument", 2, "import", "--format", "export", str(SAMPLES / "codex.jsonl"))
    b.run("import", "--append", "-c", "codex", str(SAMPLES / "messages.jsonl"))
    assert len(b.json("show", "codex")["messages"]) == 4
    # Messages, one a line, are stored some 8 MB at a time. Nobody sees any of them before all are there, and a line that is none leaves the id free.
    many = [json.dumps({"role": "user", "content": f"{i} " + "x" * 1_000_000}) for i in range(20)]
    b.fails("invalid_argument", 2, "import", "-", "large", stdin="\n".join(many + ["{}"]) + "\n")
    b.fails("not_found", 3, "show", "large")
    result = b.json("import", "-", "large", stdin="\n\n".join(many) + "\n")["result"]
    assert (result["versions"], result["messages"], result["leftOut"]) == (3, 20, {}), result
    assert b.run("export", "large", "--messages").splitlines() == many
    b.fails("conflict", 4, "import", "-", "large", stdin="\n".join(many))
    # A session that grew: only what is new is stored, by either option; what was added here stays.
    for name in ("codex", "claude-code"):
        lines = (SAMPLES / f"{name}.jsonl").read_text().splitlines()
        whole = b.json("import", str(SAMPLES / f"{name}.jsonl"), f"{name}-whole")["result"][
            "messages"
        ]
        expected = [m["content"] for m in b.json("show", f"{name}-whole")["messages"]]
        for option in ("--append", "--after"):
            id = f"{name}{option}"
            first = b.json("import", "-", id, stdin="\n".join(lines[:6]) + "\n")["result"][
                "messages"
            ]
            b.run("append", "-c", id, "by hand")
            grown = b.json("import", "-", option, "-c", id, stdin="\n".join(lines) + "\n")["result"]
            assert (grown["format"], first + grown["messages"]) == (name, whole), (
                grown,
                first,
                whole,
            )
            shown = [m["content"] for m in b.json("show", id)["messages"]]
            assert shown.pop(shown.index("by hand")) and shown == expected, (shown, expected)
            again = b.json("import", "-", option, "-c", id, stdin="\n".join(lines) + "\n")["result"]
            assert (again["messages"], again["versions"]) == (0, 0), again
    b.fails("conflict", 4, "import", "--after", "-c", "dialect", str(SAMPLES / "codex.jsonl"))
    b.fails("not_found", 3, "import", "--after", "-c", "nobody", str(SAMPLES / "codex.jsonl"))


def writes_sessions(b):
    """export --to: what is marked as the program's own summary is one, and no summary is lost."""
    store = "sqlite:" + str(b.folder / "data/undertext/undertext.db")
    turns = [("user", "mine"), ("assistant", "a1"), ("user", "u2"), ("assistant", "a2")]
    messages = "".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in turns)

    def exported(indices, role):
        id = f"{role}-of-{'-'.join(map(str, indices))}"
        b.run("import", "-", id, stdin=messages)
        summary = {"role": role, "content": "a summary"}
        compress = {"operation": "COMPRESS", "indices": indices, "summary": summary}
        answer = b.run("exec", "--store", store, "-c", id, stdin=json.dumps(compress) + "\n")
        assert json.loads(answer)["ok"], answer
        return b.run("export", id, "--to", "claude-code"), json.loads(
            b.run("export", id, "--to", "opencode")
        )

    def marked(claude, opencode):
        lines = [json.loads(line) for line in claude.splitlines()]
        return (
            [each["message"]["content"] for each in lines if each.get("isCompactSummary")],
            [
                part["text"]
                for each in opencode["messages"]
                for part in each["parts"]
                if each["info"].get("summary")
            ],
        )

    assert marked(*exported([0, 1], "user")) == (["a summary"], ["a summary"])
    # COMPRESS may begin behind the user's first prompt.
    claude, opencode = exported([1, 2], "user")
    assert marked(claude, opencode) == ([], [])
    said = [
        part["text"] for each in opencode["messages"] for part in each["parts"] if "text" in part
    ]
    assert said == ["mine", "a summary", "a2"], said
    # Its database is written by opencode alone, which is not here.
    install = ("export", "user-of-1-2", "--to", "opencode", "--install")
    b.run(*install, status=8, PATH="/usr/bin:/bin")
    assert b.stderr.startswith("undertext: unsupported: ") and "opencode import" in b.stderr
    # System prompts are left out; a summary of that role says what nothing else does.
    claude, opencode = exported([0, 1], "system")
    assert marked(claude, opencode) == ([], [])
    said = [
        part["text"] for each in opencode["messages"] for part in each["parts"] if "text" in part
    ]
    assert said == ["mine", "a1", "u2", "a2"], said


def speaks_dialects(b):
    """export, import and validate with --dialect; a request that came in goes out to the byte, line breaks included."""
    body = """{"model":"m","max_tokens":9,
  "system":"Be brief.","messages":[{"role":"user","content":"caf\\u00e9?",
     "x":1.50},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{"p": 1e2}}]},{"role":"user",
     "content":[{"type":"tool_result","tool_use_id":"t1","content":"bin"}]}]}"""
    result = b.json("import", "-", "asked", "--dialect", "anthropic", stdin=body)["result"]
    assert result == {
        "conversation": "asked",
        "format": "anthropic",
        "versions": 1,
        "messages": 4,
        "leftOut": {"max_tokens of the request": 1, "model of the request": 1},
    }, result
    [made, entry] = reversed(b.lines("log", "asked"))
    assert (made["version"], entry["version"], entry["operation"], entry["description"]) == (
        0,
        1,
        "APPEND",
        "imported from anthropic",
    ), entry
    out = b.run("export", "asked", "--dialect", "anthropic")
    assert b.stderr == "" and body.split('"messages":')[1].rstrip("}") in out, out
    assert json.loads(out) == {
        k: v for k, v in json.loads(body).items() if k in ("system", "messages")
    }
    # What was imported is added to what is there, as one operation; --append asks that it is there.
    assert "1 messages, 1 versions (anthropic)" in b.run(
        "import",
        "-",
        "asked",
        "--dialect",
        "anthropic",
        stdin='{"role":"assistant","content":"Two."}',
    )
    b.run(
        "import",
        "-",
        "--append",
        "-c",
        "asked",
        "--profile",
        "bedrock",
        stdin='[{"role":"user","content":"More"}]',
    )
    b.fails(
        "not_found",
        3,
        "import",
        "-",
        "--append",
        "-c",
        "nobody",
        "--dialect",
        "anthropic",
        stdin=body,
    )
    assert (
        len(b.json("show", "asked")["messages"]) == 6
        and b.lines("log", "asked", "-n", "1")[0]["version"] == 3
    )
    # Of several answers the first is taken, which is told; and each dialect reads its own.
    for dialect, given in (
        (
            "openai_chat",
            {
                "choices": [
                    {"message": {"role": "assistant", "content": "a"}},
                    {"message": {"role": "assistant", "content": "b"}},
                ]
            },
        ),
        (
            "gemini",
            {"contents": [{"role": "model", "parts": [{"text": "a"}]}], "generationConfig": {}},
        ),
        (
            "openai_responses",
            {
                "input": [
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "a"}],
                    }
                ],
                "store": False,
            },
        ),
    ):
        result = b.json(
            "import", "-", "of-" + dialect, "--dialect", dialect, stdin=json.dumps(given)
        )["result"]
        assert len(result["leftOut"]) == 1 and result["messages"] == 1, result
        assert "a" in b.run("show", "of-" + dialect)
        assert b.json("export", "of-" + dialect, "--dialect", dialect)["ok"]
    b.run(
        "import",
        "-",
        "of-openai_chat",
        "--dialect",
        "openai_chat",
        stdin='{"model":"m","messages":[{"role":"user","content":"x"}]}',
    )
    assert b.stderr == "undertext: left out: 1 × model of the request\n", b.stderr

    # A cut that leaves a result without its call: told by validate, repaired by export.
    b.run(
        "append",
        "-c",
        "broken",
        "--new",
        '{"role":"tool","tool_call_id":"lost","content":"orphan"}',
    )
    b.run(
        "append",
        "-c",
        "broken",
        '{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"oops"}}]}',
    )
    found = b.run("validate", "broken", "--dialect", "openai_chat", status=2)
    assert (
        re.search(r"^PAIR_ORPHAN_RESULT +messages\[0\] \(#0, lost\)$", found, re.M)
        and "PAIR_MISSING_RESULT" in found
    ), found
    assert (
        "error   Invalid parameter: messages with role 'tool'" in found
        and "repair  moved behind its call" in found
    ), found
    assert b.stderr == "undertext: openai_chat would refuse this: 2 findings\n", b.stderr
    narrow = b.terminal("validate", "broken", "--dialect", "openai_chat", COLUMNS="70")
    assert b.status == 2 and re.sub(r"\s+", " ", without_colours(narrow)) == re.sub(
        r"\s+", " ", found + b.stderr
    ), narrow  # wrapped, not cut
    answer = json.loads(
        b.run("validate", "broken", "--dialect", "openai_chat", "--json", status=2, told=0)
    )
    assert (
        answer["ok"]
        and not answer["result"]["valid"]
        and [f["code"] for f in answer["result"]["findings"]]
        == ["PAIR_ORPHAN_RESULT", "PAIR_MISSING_RESULT"]
    ), answer
    request = json.loads(b.run("export", "broken", "--dialect", "anthropic"))
    assert (
        "found PAIR_ORPHAN_RESULT at " in b.stderr
        and "lost L_ARGS_WRAPPED (low) at #1: " in b.stderr
    ), b.stderr
    assert request["messages"][-1]["content"][0]["type"] == "tool_result", request
    document = b.json("export", "broken", "--dialect", "anthropic")
    assert (
        b.stderr == ""
        and document["result"]["request"] == request
        and document["result"]["findings"]
        and document["result"]["losses"]
    ), document
    query = json.dumps({"query": "render", "dialect": "anthropic"}) + "\n"
    store = "sqlite:" + str(b.folder / "data/undertext/undertext.db")
    assert json.loads(b.run("exec", "--store", store, "-c", "broken", stdin=query)) == document
    # What is exported validates, from a file and from a pipe.
    for dialect in ("openai_chat", "openai_responses", "anthropic", "gemini"):
        file = b.folder / f"{dialect}.json"
        b.run("export", "broken", "--dialect", dialect, "-o", str(file))
        assert file.stat().st_mode & 0o777 == 0o600
        assert (
            b.run("validate", str(file), "--dialect", dialect)
            == f"nothing that {dialect} would refuse\n"
        )
        assert b.json("validate", "-", "--dialect", dialect, stdin=file.read_text())["result"] == {
            "valid": True,
            "findings": [],
        }
    b.fails("conflict", 4, "export", "broken", "--dialect", "gemini", "-o", str(file))
    # No provider takes an empty list.
    assert json.loads(
        b.run("export", "broken", "--dialect", "openai_chat", "--at-version", "0")
    ) == {"messages": [{"role": "user", "content": "Continue."}]}
    assert b.run("export", "broken", "--messages", "--at-version", "1").count("\n") == 1
    assert (
        b.run(
            "validate", "broken", "--dialect", "openai_chat", "--at-version", "0", status=2
        ).count("NO_MESSAGES")
        == 1
    )
    many = json.dumps(
        [{"role": "tool", "tool_call_id": f"c{i}", "content": "x"} for i in range(50)]
    )
    b.run("import", "-", "many", "--dialect", "openai_chat", stdin=many)
    b.run("export", "many", "--dialect", "openai_chat")
    assert b.stderr.count("\n") == 42 and b.stderr.count("and 30 more") == 2, (
        b.stderr
    )  # findings, then losses

    # A profile is a name of the library's, or a file.
    profile = b.folder / "strict.json"
    profile.write_text('{"name":"strict\\u001b[31m","dialect":"openai_chat","first_user":true}')
    assert "FIRST_NOT_USER" in b.run(
        "validate", "of-openai_chat", "--profile", str(profile), status=2
    )
    assert "\x1b" not in b.stderr and "strict" in b.stderr
    assert (
        b.run("validate", "of-openai_chat", "--dialect", "openai_chat", "--profile", "deepseek")
        == "nothing that deepseek would refuse\n"
    )
    b.fails(
        "invalid_argument",
        2,
        "validate",
        "of-openai_chat",
        "--dialect",
        "gemini",
        "--profile",
        str(profile),
    )
    b.fails("not_found", 3, "export", "broken", "--profile", "nosuch")
    assert "llama_cpp" in b.stderr
    profile.write_text('{"dialect":"openai_chat","colour":1}')
    b.fails("invalid_argument", 2, "export", "broken", "--profile", str(profile))
    assert "(colour)" in b.run("export", "broken", "--profile", str(profile), status=2) + b.stderr
    b.fails("invalid_argument", 2, "export", "broken", "--dialect", "klingon")
    assert "openai_responses" in b.stderr and all(
        n in b.run("validate", "--help") for n in ("openai_responses", "llama_cpp")
    )

    # A word may be a conversation or a file, and never silently the wrong one.
    (b.folder / "here").mkdir()
    (b.folder / "here/broken").write_text('[{"role":"user","content":"x"}]')
    (b.folder / "here/body.json").write_text('{"messages":[{"role":"user","content":"x"}]}')

    def here(*words):
        done = subprocess.run(
            [b.binary, "validate", "--dialect", "openai_chat", *words],
            capture_output=True,
            env=b.env,
            cwd=b.folder / "here",
            timeout=60,
        )
        return done.returncode, (done.stdout + done.stderr).decode()

    assert here("body.json")[0] == 0 and here("./broken")[0] == 0 and here("-c", "broken")[0] == 2
    status, said = here("broken")
    assert status == 2 and "say ./broken or -c broken" in said, said
    assert (
        here("nobody")[0] == 3
        and here("./nobody")[0] == 3
        and here("body.json", "-c", "broken")[0] == 2
    )
    assert here("body.json", "--store", f"sqlite:{b.folder}/none.db")[0] == 0

    b.fails("invalid_argument", 2, "validate", "broken")
    b.fails("invalid_argument", 2, "validate", "-", "--dialect", "openai_chat", stdin="{")
    b.fails(
        "invalid_argument",
        2,
        "validate",
        "-",
        "--dialect",
        "openai_chat",
        "--at-version",
        "1",
        stdin="[]",
    )
    b.fails("not_found", 3, "validate", "broken", "--dialect", "openai_chat", "--at-version", "99")
    b.fails(
        "invalid_argument",
        2,
        "import",
        "-",
        "--dialect",
        "openai_chat",
        stdin='[{"role":"user","content":"x"},{"role":"queen","content":"x"}]',
    )
    assert "messages[1].role" in b.stderr
    b.fails("invalid_argument", 2, "import", "-", "--dialect", "openai_chat", stdin="[]")
    b.fails(
        "invalid_argument",
        2,
        "import",
        "-",
        "--dialect",
        "openai_chat",
        "--format",
        "codex",
        stdin="[]",
    )
    b.fails("invalid_argument", 2, "export", "broken", "--dialect", "openai_chat", "--all")
    b.fails("invalid_argument", 2, "export", "broken", "--at-version", "1")


def knows_what_was_sent(b):
    """export and validate know which thinking an edit made void; cost tells what an edit costs; import --after adds what is new."""
    said = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "h", "signature": "s1"},
                {"type": "text", "text": "a"},
            ],
        },
        {"role": "user", "content": "and?"},
    ]
    b.run("import", "-", "bound", "--dialect", "anthropic", stdin=json.dumps(said))
    b.run("edit", "-c", "bound", "0", "--text", "other")
    assert "THINK_PREFIX_CHANGED" in b.run(
        "validate", "bound", "--profile", "anthropic_bound", status=2
    )
    assert "nothing" in b.run(
        "validate", "bound", "--profile", "anthropic_bound", "--at-version", "1"
    )
    assert "signature" not in b.run("export", "bound", "--profile", "anthropic_bound")
    assert "signature" in b.run(
        "export", "bound", "--profile", "anthropic_bound", "--bound-thinking", "drop_block"
    )
    assert "advice: set thinking.block_binding" in b.stderr, b.stderr
    b.fails(
        "conflict",
        4,
        "export",
        "bound",
        "--profile",
        "anthropic_bound",
        "--bound-thinking",
        "refuse",
    )
    b.fails(
        "not_found", 3, "export", "bound", "--profile", "anthropic_bound", "--sent-version", "99"
    )
    b.fails("invalid_argument", 2, "export", "bound", "--sent-version", "1")
    (b.folder / "rest.json").write_text('{"tools":[{"name":"g"}]}')
    b.run(
        "import",
        "-",
        "asks",
        "--dialect",
        "anthropic",
        stdin=json.dumps(
            [
                said[0],
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "t", "content": "r"}],
                },
            ]
        ),
    )
    assert "TOOL_UNDEFINED" in b.run(
        "validate",
        "asks",
        "--dialect",
        "anthropic",
        "--request",
        str(b.folder / "rest.json"),
        status=2,
    )
    b.fails(
        "invalid_argument",
        2,
        "validate",
        "-",
        "--dialect",
        "anthropic",
        "--sent-version",
        "1",
        stdin="[]",
    )

    cost = b.json("cost", "bound", "--from", "1", "--dialect", "anthropic", "--overhead", "2000")[
        "result"
    ]
    query = (
        json.dumps({"query": "cost", "from": 1, "dialect": "anthropic", "overhead": 2000}) + "\n"
    )
    store = "sqlite:" + str(b.folder / "data/undertext/undertext.db")
    assert (
        json.loads(b.run("exec", "--store", store, "-c", "bound", stdin=query))["result"] == cost
        and cost["reusable"] == 2000
    ), cost
    assert "the cache still serves 2000" in b.run(
        "cost", "bound", "--from", "1", "--dialect", "anthropic", "--overhead", "2000"
    )
    b.fails("not_found", 3, "cost", "bound", "--from", "99", "--dialect", "anthropic")
    b.fails("invalid_argument", 2, "cost", "bound", "--dialect", "anthropic")
    operations = [{"operation": "TRANSFORM", "indices": [0], "truncateText": {"maxChars": 1}}]
    (b.folder / "operations.json").write_text(json.dumps(operations))
    tried = b.json(
        "cost",
        "bound",
        "--operations",
        str(b.folder / "operations.json"),
        "--profile",
        "anthropic_bound",
        "--cache-markers",
        "auto",
    )["result"]
    query = (
        json.dumps(
            {
                "query": "cost",
                "operations": operations,
                "profile": "anthropic_bound",
                "cacheMarkers": "auto",
            }
        )
        + "\n"
    )
    assert (
        json.loads(b.run("exec", "--store", store, "-c", "bound", stdin=query))["result"] == tried
    )
    query = json.dumps({"query": "render", "dialect": "anthropic", "cacheMarkers": "auto"}) + "\n"
    marked = json.loads(b.run("exec", "--store", store, "-c", "bound", stdin=query))["result"][
        "request"
    ]
    assert json.loads(
        b.run("export", "bound", "--dialect", "anthropic", "--cache-markers", "auto")
    ) == marked and "cache_control" in json.dumps(marked)
    b.fails("invalid_argument", 2, "export", "bound", "--cache-markers", "auto")

    # A client that speaks Chat sends back what it was given, and more: only that is added, and the rest keeps its bytes.
    sent = json.loads(b.run("export", "asks", "--dialect", "openai_chat"))
    raw = b.run("export", "asks", "--dialect", "openai_chat").strip()
    more = raw[: raw.rindex("]")] + ',{"role":"assistant","content":"done"}]}'
    assert "1 messages, 1 versions" in b.run(
        "import", "-", "asks", "--dialect", "openai_chat", "--after", stdin=more
    )
    assert "0 messages, 0 versions" in b.run(
        "import", "-", "asks", "--dialect", "openai_chat", "--after", stdin=more
    )
    assert len(b.json("show", "asks")["messages"]) == len(sent["messages"]) + 1
    b.fails(
        "conflict",
        4,
        "import",
        "-",
        "asks",
        "--dialect",
        "openai_chat",
        "--after",
        stdin='[{"role":"user","content":"else"}]',
    )
    # Consecutive requests of a client: the marker moves, and a list of one text becomes a string.
    marked = [{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}]
    answer = {"role": "assistant", "content": [{"type": "text", "text": "two"}]}
    request = {
        "model": "m",
        "system": [{"type": "text", "text": "S"}],
        "messages": [{"role": "user", "content": marked}],
    }
    b.run("import", "-", "agent", "--dialect", "anthropic", stdin=json.dumps(request), told=1)
    request["messages"] = [
        {"role": "user", "content": "one"},
        answer,
        {"role": "user", "content": [dict(marked[0], text="three")]},
    ]
    assert "2 messages, 1 versions" in b.run(
        "import",
        "-",
        "agent",
        "--dialect",
        "anthropic",
        "--append",
        "--after",
        stdin=json.dumps(request),
    )
    assert "0 messages, 0 versions" in b.run(
        "import",
        "-",
        "agent",
        "--dialect",
        "anthropic",
        "--after",
        "--client",
        "claude_code",
        stdin=json.dumps(request),
    )
    request["messages"] = [
        {"role": "user", "content": "one"},
        answer,
        {"role": "user", "content": "other"},
    ]
    assert "1 messages, 1 versions" in b.run(
        "import", "-", "agent", "--dialect", "anthropic", "--after", stdin=json.dumps(request)
    )
    assert [m["content"] for m in b.json("show", "agent")["messages"]][3] == "other"
    # Its own compaction is one: the summary stands for what it dropped.
    request["messages"] = [
        {"role": "assistant", "content": [{"type": "compaction", "content": "C"}]},
        {"role": "user", "content": "next"},
    ]
    assert "2 messages, 1 versions" in b.run(
        "import", "-", "agent", "--dialect", "anthropic", "--after", stdin=json.dumps(request)
    )
    assert len(b.json("show", "agent")["messages"]) == 3
    expanded = b.run(
        "exec",
        "--store",
        store,
        "-c",
        "agent",
        stdin='{"operation":"EXPAND","index":1}\n{"query":"stats"}\n',
    ).splitlines()
    assert json.loads(expanded[1])["result"]["currentBatchMessages"] == 5, expanded
    # A client that goes on with what was exported after an edit repeats that.
    b.run(
        "exec",
        "--store",
        store,
        "-c",
        "agent",
        stdin='{"operation":"COMPRESS","indices":[1,2],"summary":{"role":"user","content":"sum"}}\n',
    )
    raw = b.run("export", "agent", "--dialect", "anthropic").strip()
    more_still = raw[: raw.rindex("]")] + ',{"role":"assistant","content":"on"}]}'
    assert "1 messages, 1 versions" in b.run(
        "import", "-", "agent", "--dialect", "anthropic", "--after", stdin=more_still
    )
    assert b.json("show", "agent")["messages"][1]["content"] == "sum"
    b.fails(
        "not_found", 3, "import", "-", "nobody", "--dialect", "openai_chat", "--after", stdin=more
    )
    b.fails("invalid_argument", 2, "import", "-", "asks", "--after", stdin=more)


def keeps_house(b):
    assert "sound" in b.run("check") and b.json("check", "first")["result"]["damage"] == []
    copy = b.folder / "copy.db"
    b.run("backup", str(copy))
    assert b.run("export", "first", "--store", f"sqlite:{copy}") == b.run("export", "first")
    b.run("backup", str(copy), status=2)
    b.run("new", "gone")
    b.run("append", "-c", "gone", "SECRET-ONE")
    b.run("append", "-c", "gone", "SECRET-TWO")
    b.fails("invalid_argument", 2, "redact", "-c", "gone", "0", "--why", "asked")  # nobody to ask
    b.fails("invalid_argument", 2, "redact", "-c", "gone", "0", "--yes")
    b.run("redact", "-c", "gone", "0", "--why", "asked", "--yes")
    shown = b.run("show", "gone", "--json")
    assert "SECRET-ONE" not in shown and "SECRET-TWO" in shown and "tester" in shown
    b.fails("not_found", 3, "redact", "-c", "gone", "9", "--why", "asked", "--yes")
    b.run("new", "-c", "secretive")
    b.run("append", "secretive", "the code is 4711-0815")
    b.run(
        "edit", "secretive", "0", "--text", "The code is 4711-0815!", "-m", "spelling of 4711-0815"
    )
    told = b.run("redact", "secretive", "0", "--why", "asked", "--yes")
    assert "--derived" in told and "copy #1" in told and "operation v2" in told, told
    done = b.json("redact", "secretive", "0", "--derived", "--why", "asked", "--yes")["result"]
    assert done["redacted"] == 2 and done["derived"] == [
        {"conversation": "secretive", "ordinal": 1, "kind": "copy"}
    ], done
    assert b.run("show", "secretive", "--all").count("[redacted]") == 2
    assert b"SECRET-ONE" not in (b.folder / "data/undertext/undertext.db").read_bytes()
    b.run("purge", "gone", "--why", "asked", "--yes")
    b.fails("not_found", 3, "show", "gone")
    b.fails("conflict", 4, "new", "gone")
    b.fails("conflict", 4, "purge", "first", "--why", "it has a fork", "--yes")
    result = b.json("gc", "long", "--keep-versions", "1", "--yes")["result"]
    assert result["versions"] > 0, result
    b.fails("unsupported", 8, "export", "long")
    assert b.run("export", "long", "--messages")
    b.run("gc")
    damaged = b.folder / "damaged.db"
    copy.write_bytes(copy.read_bytes().replace(b"2+2", b"2+3"))  # a bit that was kept wrong
    b.run("check", "--store", f"sqlite:{copy}", status=6)
    assert b.json("check", "--store", f"sqlite:{copy}", status=6)["ok"] is False
    damaged.write_bytes(b"this is no database, whatever its name says" * 100)
    b.fails("corrupt", 6, "list", "--store", f"sqlite:{damaged}")


def asks_for_the_conversation_in_one_way(b):
    """Every command about a conversation takes it as an argument and by -c."""
    commands = re.findall(
        r"^  ([\w-]+) {2,}", b.run("--help").split("Subcommands:")[1].split("Examples")[0], re.M
    )
    helps = {command: b.run(command, "--help") for command in commands}
    by_option = {
        command
        for command, text in helps.items()
        if re.search(r"^  -c,--conversation ", text, re.M)
    }
    as_argument = {
        command for command, text in helps.items() if re.search(r"^  CONVERSATION ", text, re.M)
    }
    assert by_option == as_argument, by_option ^ as_argument
    assert len(by_option) >= 22, by_option
    for words in (["show"], ["log"], ["export"], ["validate", "--dialect", "anthropic"], ["check"]):
        assert b.run(words[0], "first", *words[1:]) == b.run(words[0], "-c", "first", *words[1:]), (
            words
        )
    b.fails("not_found", 3, "show", "nobody")
    b.fails("not_found", 3, "show", "-c", "nobody")
    # What is wrong is said by the name of the option.
    for code, status, option, *words in (
        ("not_found", 3, "--store", "list", "--store", f"sqlite:{b.folder}/none.db"),
        ("invalid_argument", 2, "--store", "list", "--store", "nonsense:"),
        ("invalid_argument", 2, "--last", "show", "first", "--last", "x"),
        ("invalid_argument", 2, "--dialect", "export", "first", "--dialect", "nonsense"),
        ("not_found", 3, "--models", "show", "first", "--models", f"{b.folder}/none.json"),
        ("not_found", 3, "--at-version", "show", "first", "--at-version", "99"),
        ("not_found", 3, "--at-batch", "show", "first", "--at-batch", "99"),
        ("not_found", 3, "--at-version", "fork", "first", "nowhere", "--at-version", "99"),
        ("not_found", 3, "--at-version", "export", "first", "--messages", "--at-version", "99"),
        (
            "not_found",
            3,
            "--sent-version",
            "validate",
            "first",
            "--dialect",
            "anthropic",
            "--sent-version",
            "99",
        ),
        ("not_found", 3, "--to-version", "rollback", "first", "--to-version", "99"),
        ("not_found", 3, "--from", "cost", "first", "--dialect", "anthropic", "--from", "99"),
        (
            "not_found",
            3,
            "--to",
            "cost",
            "first",
            "--dialect",
            "anthropic",
            "--from",
            "1",
            "--to",
            "99",
        ),
        (
            "invalid_argument",
            2,
            "--operations",
            "cost",
            "first",
            "--dialect",
            "anthropic",
            "--operations",
            "/dev/null",
        ),
        ("invalid_argument", 2, "--tenant", "list", "--tenant", "../evil"),
        ("not_found", 3, "--profile", "export", "first", "--profile", "nonsense"),
        ("invalid_argument", 2, "--profile", "export", "first", "--profile", "/dev/null"),
        ("not_found", 3, "--request", "record", "first", "--request", f"{b.folder}/none"),
        ("not_found", 3, "--output", "export", "first", "-o", f"{b.folder}/none/file"),
        ("conflict", 4, "--output", "export", "first", "-o", str(b.folder)),
        ("invalid_argument", 2, "POLICY", "what-if", "first", "nonsense"),
        ("invalid_argument", 2, "--conversation", "show", "first", "-c", "second"),
        ("invalid_argument", 2, "--nonsense", "show", "first", "--nonsense"),
    ):
        b.fails(code, status, *words)
        assert re.search(rf"(?<![\w-]){option}\b", b.stderr), (words, b.stderr)


def escapes(b):
    b.run("new", "nasty", "--config", "{}")
    b.run("append", "-c", "nasty", NASTY, "-m", NASTY)
    b.run(
        "append",
        "-c",
        "nasty",
        json.dumps(
            {
                "role": "assistant",
                "content": "",
                "toolCalls": [{"id": NASTY, "name": NASTY, "arguments": NASTY}],
            },
            ensure_ascii=False,
        ),
    )
    for words in (
        ["show", "nasty"],
        ["log", "nasty"],
        ["search", "evil"],
        ["blame", "-c", "nasty", "0"],
        ["diff", "-c", "nasty", "0"],
        ["show", "nasty", "--json"],
        ["log", "nasty", "--json"],
        ["export", "nasty"],
        ["export", "nasty", "--dialect", "anthropic"],
        ["export", "nasty", "--dialect", "anthropic", "--json"],
        ["validate", "nasty", "--dialect", "openai_chat"],
        ["validate", "nasty", "--dialect", "openai_chat", "--json"],
        ["validate", NASTY, "--dialect", NASTY],
        ["export", "nasty", "--profile", NASTY],
        ["append", "-c", "nasty", "{\u202e"],
        ["show", "\u202e"],
        ["list", NASTY],
    ):
        piped = subprocess.run([b.binary, *words], capture_output=True, env=b.env)
        if "--json" not in words and words[0] != "export":
            assert not FORBIDDEN.search(piped.stdout.decode()), (words, piped.stdout)
        for env in ({}, {"NO_COLOR": "1"}):
            seen = b.terminal(*words, **env)
            if not env:
                seen = without_colours(seen)
            assert not FORBIDDEN.search(seen), (words, seen)
    assert json.loads(b.terminal("show", "nasty", "--json"))["messages"][0]["content"] == NASTY
    coloured = b.terminal("show", "first")
    assert (
        "\x1b[" in coloured
        and "\x1b[" not in b.terminal("show", "first", NO_COLOR="1")
        and "\x1b" not in b.run("show", "first")
    )


def asks_first(b):
    b.run("new", "precious")
    out = b.terminal("purge", "precious", "--why", "a slip", typed=[("[y/N]", "n\n")])
    assert b.status == 1 and b.run("show", "precious") == "", out
    b.terminal("purge", "precious", "--why", "meant", typed=[("[y/N]", "y\n")])
    assert b.status == 0
    b.fails("not_found", 3, "show", "precious")


def talks_to_pipes(b):
    process = subprocess.Popen(
        [b.binary, "log", "traveller"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=b.env
    )
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() in (0, -signal.SIGPIPE)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [b.binary, "show", "first"], stdout=full, stderr=subprocess.PIPE, env=b.env
        )
    assert done.returncode == 1 and b"could be written" in done.stderr, done
    b.fails("invalid_argument", 2, "nonsense")
    b.fails("invalid_argument", 2, "show", "--nonsense")
    b.fails("invalid_argument", 2, "diff", "-c", "first", "1.5")
    b.fails("invalid_argument", 2, "list", "--store", "nosuch:thing")
    b.fails("not_found", 3, "list", "--store", f"sqlite:{b.folder}/none.db")
    assert "undertext new" in b.run("--help") and b.run("--version").startswith("undertext ")


def completes(b):
    commands = re.findall(
        r"^  ([\w-]+) {2,}", b.run("--help").split("Subcommands:")[1].split("Examples")[0], re.M
    )
    assert len(commands) > 20, commands
    for shell in ("bash", "zsh", "fish"):
        script = b.run("completion", shell)
        assert all(re.search(rf"\b{c}\b", script) for c in commands)
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script.encode(), check=True)
    asked = 'COMP_WORDS=({}); COMP_CWORD={}; _undertext; printf "%s\\n" "${{COMPREPLY[@]}}"'
    path = b.folder / "bin"
    path.mkdir()
    (path / "undertext").symlink_to(pathlib.Path(b.binary).resolve())
    for words, expected in (
        (["undertext", "sh"], {"show", "shell"}),
        (["undertext", "show", "--at"], {"--at-version", "--at-batch"}),
        (["undertext", "append", "--role", "a"], {"assistant"}),
        (["undertext", "show", "fir"], {"first"}),
        (["undertext", "edit", "-c", "fir"], {"first"}),
        (["undertext", "completion", "z"], {"zsh"}),
    ):
        script = b.run("completion", "bash") + asked.format(" ".join(words), len(words) - 1)
        done = subprocess.run(
            ["bash", "-c", script],
            capture_output=True,
            env={**b.env, "PATH": f"{path}:{b.env['PATH']}"},
            check=True,
        )
        assert set(done.stdout.decode().split()) == expected, (words, done)
    man = (ROOT / "docs/undertext.1").read_text().replace("\\-", "-")
    docs = (ROOT / "docs/cli.md").read_text()
    for command in commands:
        assert re.search(rf"^\.SS {command}$", man, re.M), f"docs/undertext.1 lacks {command}"
        assert re.search(rf"\b{command}\b", docs), f"docs/cli.md lacks {command}"
        section = (
            re.split(rf"^\.SS {command}$", man, flags=re.M)[1].split("\n.SS ")[0].split("\n.SH ")[0]
            + man.split(".SH COMMON OPTIONS")[1].split("\n.SH ")[0]
        )
        for option in set(
            re.findall(
                r"(?<![\w-])--[a-z][a-z-]+",
                b.run(command, "--help").split("Options:")[1].split("\n\n")[0],
            )
        ) - {"--help"}:
            assert f"{option}" in section, f"docs/undertext.1 lacks {option} of {command}"
    assert b.fails("invalid_argument", 2, "completion", "tcsh") is None


def runs_a_shell(b):
    script = 'new talk\nuse talk\nappend "said in a shell"\n{"query":"stats"}\n# a comment\n\nuse nobody\nshow\nnonsense\nexit\nshow\n'
    done = subprocess.run(
        [b.binary, "shell"], input=script.encode(), capture_output=True, env=b.env, timeout=60
    )
    out = done.stdout.decode()
    assert done.returncode == 2 and "said in a shell" in out and '"totalMessages":1' in out, done
    assert out.count("said in a shell") == 1 and done.stderr.decode().count("undertext: ") == 2, (
        done
    )
    done = subprocess.run(
        [b.binary, "shell", "--store", "memory:", "-c", "m"],
        input=b'{"operation":"APPEND","messages":[{"role":"user","content":"x"}]}\nlist\n',
        capture_output=True,
        env=b.env,
        timeout=60,
    )
    assert done.returncode == 0 and b"1 message" in done.stdout, done
    done = subprocess.run(
        [b.binary, "shell"],
        input=b"append -\nexec\nshell\n",
        capture_output=True,
        env=b.env,
        timeout=60,
    )
    assert done.returncode == 2 and done.stderr.decode().count("invalid_argument") == 3, done
    edits_lines = b"libedit" in subprocess.run(["ldd", b.binary], capture_output=True).stdout
    out = b.terminal(
        "shell",
        typed=[
            ("default> ", "use ta\t\n" if edits_lines else "use talk\n"),
            ("talk> ", "show --last 1\n"),
            ("said in a shell", ""),
            ("talk> ", "exit\n"),
        ],
    )
    assert b.status == 0, out
    history = b.folder / "state/undertext/history"
    if edits_lines:
        assert history.stat().st_mode & 0o777 == 0o600 and "talk" in history.read_text()


def plays_the_manual(b):
    """The session of docs/cli.md, with its output but for the times."""
    told, folder = [], b.folder / "manual"
    for line in (
        (ROOT / "docs/cli.md")
        .read_text()
        .split("## A session")[1]
        .split("\n`#3`")[0]
        .strip("\n")
        .splitlines()
    ):
        if line.startswith("    $ "):
            told.append((line[6:], []))
        else:
            told[-1][1].append(line[4:])
    assert len(told) > 15
    folder.mkdir()
    for command, output in told:
        done = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            cwd=folder,
            env={**b.env, "XDG_DATA_HOME": str(folder), "PATH": f"{b.folder}/bin:{b.env['PATH']}"},
        )
        said, expected = (
            re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text.rstrip())
            for text in ((done.stdout + done.stderr).decode(), "\n".join(output))
        )
        assert said == expected, (command, said, expected)


def main(binary):
    b = Bench(os.path.abspath(binary))
    probe = subprocess.run(
        [binary, "init", "--store", f"sqlite:{b.folder}/probe.db"], capture_output=True, env=b.env
    )
    if probe.returncode == 8:
        print("skipped: sqlite: built without SQLite")
        return 77
    tests = [
        makes_and_lists,
        a_word_is_no_conversation_by_mistake,
        compresses_by_what_a_strategy_has,
        appends_and_shows,
        edits,
        looks_back,
        forks_and_compresses,
        evaluates_compactions,
        travels,
        reads_transcripts,
        writes_sessions,
        speaks_dialects,
        knows_what_was_sent,
        keeps_house,
        asks_for_the_conversation_in_one_way,
        escapes,
        asks_first,
        talks_to_pipes,
        completes,
        runs_a_shell,
        plays_the_manual,
    ]
    try:
        for test in tests:
            test(b)
            print("passed:", test.__name__.replace("_", " "))
    finally:
        shutil.rmtree(b.folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
