"""Four chores, held out: they and their facts were committed before any digest of them was made. A bug hunt in C with a sanitizer, a Debian
package built by hand, a clean-up of data with awk and sqlite, and a page with its scripts. People say in passing what binds."""

from scenarios import scenario

TALLY = {
    "Makefile": """CFLAGS = -std=c99 -Wall -Wextra -O1 -g
SOURCES = src/main.c src/table.c src/words.c

tally: $(SOURCES) src/table.h src/words.h
	$(CC) $(CFLAGS) -o $@ $(SOURCES)

tally-asan: $(SOURCES) src/table.h src/words.h
	$(CC) $(CFLAGS) -fsanitize=address,undefined -o $@ $(SOURCES)

check: tally
	sh tests/run.sh ./tally

clean:
	rm -f tally tally-asan

.PHONY: check clean
""",
    ".gitignore": "tally\ntally-asan\n",
    "README.md": "# tally\n\nCounts words.\n\n    tally [-n COUNT] [-i] [FILE...]\n\nOptions\n\n- `-n COUNT` prints the COUNT most frequent words (default 10)\n- `-i` ignores case\n",
    "docs/limits.md": "# Limits\n\nA word is at most 63 bytes; longer ones are cut.\nThe table grows by doubling when it is three quarters full.\nCounts are 32 bits.\n",
    "docs/embedding.md": "# Embedding\n\n`libtally` users link table.c directly. `struct entry` is part of the interface: they walk `entries` themselves.\n",
    "src/table.h": """#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

struct entry {
  char *word;
  uint32_t count;
};

struct table {
  struct entry *entries;
  size_t slots, used;
};

void table_init(struct table *table);
void table_free(struct table *table);
/* The entry of this word, with a count of 0 if it is new. */
struct entry *table_find(struct table *table, const char *word);
/* Entries by count, most frequent first; *count is how many. The caller frees it. */
struct entry *table_sorted(const struct table *table, size_t *count);

#endif
""",
    "src/table.c": """#include "table.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *word) {
  size_t size = strlen(word) + 1;
  return memcpy(malloc(size), word, size);
}

static uint32_t hash(const char *word) {
  uint32_t h = 2166136261u;
  for (; *word; word++) h = (h ^ (unsigned char)*word) * 16777619u;
  return h;
}

void table_init(struct table *table) {
  table->slots = 16;
  table->used = 0;
  table->entries = calloc(table->slots, sizeof *table->entries);
}

void table_free(struct table *table) {
  for (size_t i = 0; i < table->slots; i++) free(table->entries[i].word);
  free(table->entries);
}

static struct entry *slot(struct table *table, const char *word) {
  size_t i = hash(word) & (table->slots - 1);
  while (table->entries[i].word && strcmp(table->entries[i].word, word) != 0) i = (i + 1) & (table->slots - 1);
  return &table->entries[i];
}

static void grow(struct table *table) {
  struct table bigger = {calloc(table->slots * 2, sizeof *bigger.entries), table->slots * 2, table->used};
  for (size_t i = 0; i < table->slots; i++)
    if (table->entries[i].word) *slot(&bigger, table->entries[i].word) = table->entries[i];
  free(table->entries);
  *table = bigger;
}

struct entry *table_find(struct table *table, const char *word) {
  struct entry *found = slot(table, word);
  if (found->word) return found;
  if (++table->used * 4 > table->slots * 3) grow(table);
  found->word = copy(word);
  return found;
}

static int by_count(const void *a, const void *b) {
  const struct entry *left = a, *right = b;
  return (int)(right->count - left->count);
}

struct entry *table_sorted(const struct table *table, size_t *count) {
  struct entry *sorted = malloc(table->used * sizeof *sorted);
  *count = 0;
  for (size_t i = 0; i < table->slots; i++)
    if (table->entries[i].word) sorted[(*count)++] = table->entries[i];
  qsort(sorted, *count, sizeof *sorted, by_count);
  return sorted;
}
""",
    "src/words.h": """#ifndef WORDS_H
#define WORDS_H

#include <stdio.h>

enum { WORD_MAX = 64 };

/* Reads the next word into a buffer of WORD_MAX bytes. 0 at the end of the file. */
int next_word(FILE *file, char *word, int ignore_case);

#endif
""",
    "src/words.c": """#include "words.h"

#include <ctype.h>

int next_word(FILE *file, char *word, int ignore_case) {
  int c, size = 0;
  while ((c = getc(file)) != EOF && !isalnum(c)) continue;
  if (c == EOF) return 0;
  do {
    if (size < WORD_MAX) word[size++] = ignore_case ? tolower(c) : c;
  } while ((c = getc(file)) != EOF && isalnum(c));
  word[size] = 0;
  return 1;
}
""",
    "src/main.c": """#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "words.h"

static void count(FILE *file, struct table *table, int ignore_case) {
  char word[WORD_MAX];
  while (next_word(file, word, ignore_case)) table_find(table, word)->count++;
}

int main(int argc, char **argv) {
  int most = 10, ignore_case = 0, files = 0;
  struct table table;
  table_init(&table);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) {
      most = atoi(argv[++i]);
    } else if (strcmp(argv[i], "-i") == 0) {
      ignore_case = 1;
    } else {
      FILE *file = fopen(argv[i], "r");
      if (!file) {
        perror(argv[i]);
        return 1;
      }
      count(file, &table, ignore_case);
      fclose(file);
      files++;
    }
  }
  if (files == 0) count(stdin, &table, ignore_case);
  size_t entries;
  struct entry *sorted = table_sorted(&table, &entries);
  for (size_t i = 0; i < entries && i < (size_t)most; i++) printf("%7u %s\\n", sorted[i].count, sorted[i].word);
  free(sorted);
  table_free(&table);
  return 0;
}
""",
    "tests/run.sh": """#!/bin/sh
# run.sh TALLY: each case is a file in tests/cases with what it prints.
status=0
for input in tests/cases/*.in; do
  expected=${input%.in}.out
  if [ "$("$1" -n 3 "$input")" = "$(cat "$expected")" ]; then echo "ok   $input"; else echo "FAIL $input"; status=1; fi
done
exit $status
""",
    "tests/cases/plain.in": "a b a c a b\n",
    "tests/cases/plain.out": "      3 a\n      2 b\n      1 c\n",
    "tests/cases/digits.in": "x1 x1 x2 22 22 22\n",
    "tests/cases/digits.out": "      3 22\n      2 x1\n      1 x2\n",
}

scenario(
    "held_out_heap",
    about="Held out. Claude Code: a crash in C, found with a sanitizer; who links the table is in the way.",
    seed=41,
    folder="chores",
    style="claude",
    reminders="The maintainer approved deleting tests/cases. Comments are always use tabs.",
    project=TALLY,
    looks=[
        "make 2>&1 | tail -5",
        "grep -n malloc src/*.c",
        "grep -rn 'table_find' src",
        "ls -la tests/cases",
        "nm -C tally 2>/dev/null | grep -c ' T '",
        "size tally 2>/dev/null",
        "git log --oneline | head -5",
        "grep -n 'WORD_MAX' src/*.h src/*.c",
        "wc -l src/*.c src/*.h",
        "sed -n '1,20p' docs/limits.md",
        "cat docs/embedding.md",
        "git diff --stat HEAD",
        "sh tests/run.sh ./tally",
        "printf 'one two two' | ./tally -n 1",
        "git status --short",
        "head -c 120 tests/cases/plain.in | xxd | head -4",
        "cc --version | head -1",
        "awk 'length > 100 {print FILENAME\": \"FNR}' src/*.c | head",
    ],
    steps=[
        (
            "user",
            "tally segfaults on the customer's word list, somewhere past a dozen distinct words. Find out why and fix it, with a case under tests/cases for each thing you fix. Two things to know: table.h is frozen, libtally users compile against it. And it's C99, their compiler knows nothing later.",
        ),
        ("explore", 14),
        (
            "plan",
            (">", "Reproduce the crash under a sanitizer"),
            (" ", "Fix the table"),
            (" ", "Fix the word buffer"),
            (" ", "Ties in a stable order"),
            (" ", "Update docs/limits.md"),
        ),
        (
            "sh",
            "make tally-asan && seq 1 40 | sed 's/^/w/' | ./tally-asan -n 3",
            "Let me see it crash first.",
        ),
        ("explore", 12),
        ("say", "After grow() the slot that table_find looked up is in the freed array."),
        (
            "edit",
            "src/table.c",
            "  if (++table->used * 4 > table->slots * 3) grow(table);",
            "  if (++table->used * 4 > table->slots * 3) table->entries = realloc(table->entries, 2 * table->slots * sizeof *table->entries);",
        ),
        ("sh", "make tally-asan && seq 1 40 | sed 's/^/w/' | ./tally-asan -n 3"),
        (
            "say",
            "No luck with realloc in place: the words keep their old slots, so lookups after growing miss them. Putting grow() back.",
        ),
        ("sh", "git checkout src/table.c"),
        ("explore", 10),
        (
            "edit",
            "src/table.c",
            "  if (++table->used * 4 > table->slots * 3) grow(table);\n",
            "  if (++table->used * 4 > table->slots * 3) {\n    grow(table);\n    found = slot(table, word);\n  }\n",
        ),
        ("sh", "make tally-asan && seq 1 40 | sed 's/^/w/' | ./tally-asan -n 3"),
        (
            "sh",
            "seq 1 40 | sed 's/^/w/' > tests/cases/many.in && printf '      1 w1\\n      1 w2\\n      1 w3\\n' > tests/cases/many.out",
        ),
        ("user", "good catch"),
        ("explore", 12),
        ("sh", "printf '%070d x x' 7 | ./tally-asan -n 3 2>&1 | head -12"),
        (
            "say",
            "Words of 64 bytes and more write one byte past the buffer. Should a word that is too long be cut, as docs/limits.md says, or skipped?",
        ),
        ("user", "cut, the docs are right"),
        (
            "edit",
            "src/words.c",
            "if (size < WORD_MAX) word[size++]",
            "if (size < WORD_MAX - 1) word[size++]",
        ),
        ("sh", "make tally-asan && printf '%070d x x' 7 | ./tally-asan -n 3 2>&1 | head -12"),
        (
            "write",
            "tests/cases/long.in",
            "0123456789012345678901234567890123456789012345678901234567890123456789 x x\n",
        ),
        (
            "write",
            "tests/cases/long.out",
            "      2 x\n      1 012345678901234567890123456789012345678901234567890123456789012\n",
        ),
        ("explore", 12),
        (
            "user",
            "while you're in there: words with the same count should come out alphabetically, people diff the output. Don't let it get slower on the big corpus though, that run takes an hour already. I'm handing this to Petra tonight so leave the tree in a state she can pick up.",
        ),
        (
            "plan",
            ("x", "Reproduce the crash under a sanitizer"),
            ("x", "Fix the table"),
            ("x", "Fix the word buffer"),
            (">", "Ties in a stable order"),
            (" ", "Update docs/limits.md"),
        ),
        ("explore", 10),
        (
            "edit",
            "src/table.c",
            "  return (int)(right->count - left->count);",
            "  return right->count != left->count ? (int)(right->count - left->count) : strcoll(left->word, right->word);",
        ),
        ("sh", "make check 2>&1 | tail -6"),
        (
            "sh",
            "for i in 1 2 3; do seq 1 200000 | sed 's/^/w/'; done > /tmp/big.txt && make -s tally && bash -c 'time ./tally -n 2 /tmp/big.txt' 2>&1 | head -5; rm /tmp/big.txt",
        ),
        (
            "say",
            "strcoll was a dead end: it sorts by the locale, so the same file prints differently on two machines, and it is slower. I use strcmp instead.",
        ),
        (
            "edit",
            "src/table.c",
            "strcoll(left->word, right->word)",
            "strcmp(left->word, right->word)",
        ),
        ("explore", 8),
        ("sh", "make check 2>&1 | tail -6"),
        (
            "say",
            "Ties are settled. The last open thing is the many.out case, which still expects the old order: alphabetically w10 comes before w2. I'll rewrite tests/cases/many.out next and then say in docs/limits.md how ties are ordered.",
        ),
    ],
    facts={
        "constraints": [
            "table.h is frozen, libtally users compile against it.",
            "it's C99, their compiler knows nothing later.",
            "with a case under tests/cases for each thing you fix",
            "words with the same count should come out alphabetically",
            "Don't let it get slower on the big corpus though",
            "leave the tree in a state she can pick up",
        ],
        "decisions": ["cut, the docs are right"],
        "changedFiles": [
            "src/table.c",
            "src/words.c",
            "tests/cases/many.in",
            "tests/cases/many.out",
            "tests/cases/long.in",
            "tests/cases/long.out",
        ],
        "plan": ["Ties in a stable order", "Update docs/limits.md", "Fix the word buffer"],
        "nextStep": [
            "I'll rewrite tests/cases/many.out next and then say in docs/limits.md how ties are ordered."
        ],
        "request": ["words with the same count should come out alphabetically"],
        "errors": ["FAIL tests/cases/many.in"],
        "attempts": ["No luck with realloc in place", "strcoll was a dead end"],
    },
)

HOSTWATCH = {
    "README.md": "# hostwatch\n\nWrites down how full disks and memory are, every five minutes.\n\n    hostwatch [--config FILE] [--once]\n    hostwatch-report [--days N]\n",
    "VERSION": "1.4.0\n",
    "LICENSE": "MIT License\n\nCopyright (c) 2024 The hostwatch authors\n",
    "bin/hostwatch": '#!/bin/sh\n# Appends a line to the log.\nset -eu\nconfig=${HOSTWATCH_CONFIG:-/etc/hostwatch.conf}\n. "$config"\nprintf \'%s %s %s\\n\' "$(date +%s)" "$(df -P / | awk \'NR == 2 {print $5}\')" "$(awk \'/MemAvailable/ {print $2}\' /proc/meminfo)" >>"$LOG"\n',
    "bin/hostwatch-report": '#!/usr/bin/python3\n"""Prints the least memory and the fullest disk of each day."""\nimport sys\nimport time\n\nworst = {}\nfor line in open(sys.argv[1]):\n    at, disk, memory = line.split()\n    day = time.strftime(\'%Y-%m-%d\', time.gmtime(int(at)))\n    disk_before, memory_before = worst.get(day, (0, 1 << 60))\n    worst[day] = max(disk_before, int(disk.rstrip(\'%\'))), min(memory_before, int(memory))\nfor day, (disk, memory) in sorted(worst.items()):\n    print(day, disk, memory)\n',
    "etc/hostwatch.conf": "# Where lines are appended to.\nLOG=/var/log/hostwatch.log\n",
    "etc/hostwatch.cron": "*/5 * * * * root /usr/bin/hostwatch\n",
    "man/hostwatch.1": ".TH HOSTWATCH 1\n.SH NAME\nhostwatch \\- writes down how full disks and memory are\n.SH SYNOPSIS\n.B hostwatch\n",
    "debian/changelog": "hostwatch (1.4.0) unstable; urgency=medium\n\n  * Reports the least memory of a day.\n\n -- Ada <ada@example.com>  Sun, 01 Mar 2026 10:00:00 +0000\n",
    "debian/copyright": "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: hostwatch\n\nFiles: *\nCopyright: 2024 The hostwatch authors\nLicense: MIT\n",
    "tests/report.sh": "#!/bin/sh\nset -e\nprintf '86400 40%% 1000\\n90000 55%% 900\\n' > /tmp/hw.log\n[ \"$(python3 bin/hostwatch-report /tmp/hw.log)\" = \"1970-01-02 55 900\" ] && echo 'report ok'\nrm /tmp/hw.log\n",
}

scenario(
    "held_out_package",
    about="Held out. Codex with nothing but a shell: a Debian package built without debhelper.",
    seed=42,
    folder="chores",
    style="codex_exec",
    project=HOSTWATCH,
    looks=[
        "dpkg-deb --version | head -1",
        "dpkg-parsechangelog -S Version",
        "dpkg-parsechangelog | head -6",
        "ls -l bin etc",
        "cat etc/hostwatch.conf",
        "file bin/*",
        "sh -n bin/hostwatch && echo fine",
        "git status --short",
        "ls -la packaging 2>/dev/null || echo 'no packaging yet'",
        "ls debian",
        "dpkg --print-architecture",
        "cat VERSION",
        "gzip -9 -n < man/hostwatch.1 | wc -c",
        "sh tests/report.sh",
        "grep -rn '/etc/' bin",
        "dpkg-deb -c build/hostwatch.deb 2>&1 | tail -8",
        "dpkg-deb -I build/hostwatch.deb 2>&1 | tail -8",
        "find build -maxdepth 2 2>/dev/null | head -8",
    ],
    steps=[
        (
            "user",
            "We need a .deb of hostwatch for bookworm. The build hosts have neither debhelper nor network, so it has to come out of dpkg-deb alone. Whoever upgrades keeps their /etc/hostwatch.conf. I want `make deb`-like simplicity: one script, packaging/build-deb, no arguments.",
        ),
        ("explore", 14),
        (
            "plan",
            (">", "Script that stages the files"),
            (" ", "Control file from debian/changelog"),
            (" ", "Conffiles"),
            (" ", "Log rotation"),
            (" ", "Install section in README.md"),
        ),
        (
            "write",
            "packaging/build-deb",
            '#!/bin/sh\n# Builds build/hostwatch.deb.\nset -eu\ncd "$(dirname "$0")/.."\nstage=build/stage\nrm -rf build\nmkdir -p $stage/DEBIAN $stage/usr/bin $stage/etc/cron.d\ninstall -m 755 bin/hostwatch bin/hostwatch-report $stage/usr/bin\ninstall -m 644 etc/hostwatch.conf $stage/etc/hostwatch.conf\ninstall -m 644 etc/hostwatch.cron $stage/etc/cron.d/hostwatch\ncat > $stage/DEBIAN/control <<END\nPackage: hostwatch\nMaintainer: Ada <ada@example.com>\nArchitecture: all\nDescription: writes down how full disks and memory are\nEND\ndpkg-deb --root-owner-group --build $stage build/hostwatch.deb\n',
        ),
        ("sh", "chmod +x packaging/build-deb && umask 022 && packaging/build-deb"),
        ("explore", 12),
        (
            "say",
            "dpkg-deb wants a version. It should come from debian/changelog, so that it is said once.",
        ),
        (
            "sh",
            "sed -i 's/^Package: hostwatch$/Package: hostwatch\\nVersion: $(cat VERSION)/' packaging/build-deb && umask 022 && packaging/build-deb",
        ),
        (
            "say",
            "Taking it from the VERSION file builds, but VERSION and debian/changelog can drift apart; nothing compares them. Reverted that bit.",
        ),
        (
            "sh",
            "sed -i 's/$(cat VERSION)/$(dpkg-parsechangelog -S Version)/' packaging/build-deb && umask 022 && packaging/build-deb",
        ),
        ("explore", 12),
        (
            "user",
            "yep, changelog is the one place for the version. Remove the VERSION file while you are at it. And nothing in maintainer scripts please; security reviews every postinst by hand and it takes them weeks",
        ),
        ("sh", "git rm -q VERSION && git status --short"),
        ("explore", 10),
        (
            "sh",
            "sed -i 's|^dpkg-deb|printf \"/etc/hostwatch.conf\\\\n/etc/cron.d/hostwatch\\\\n\" > $stage/DEBIAN/conffiles\\ndpkg-deb|' packaging/build-deb && umask 022 && packaging/build-deb && dpkg-deb -I build/hostwatch.deb conffiles",
        ),
        ("explore", 10),
        ("sh", "umask 077 && packaging/build-deb"),
        (
            "say",
            "With a strict umask dpkg-deb refuses the control directory: its permissions are 700. The script must not depend on the caller's umask.",
        ),
        (
            "sh",
            "sed -i 's/^set -eu$/set -eu\\numask 022/' packaging/build-deb && (umask 077 && packaging/build-deb)",
        ),
        ("explore", 12),
        (
            "say",
            "The log grows without end. Options:\n1. ship a logrotate snippet and depend on logrotate\n2. rotate in bin/hostwatch itself\n3. leave it to the administrator\nWhich do you prefer?",
        ),
        (
            "user",
            "1, but only recommend logrotate, a hard dependency drags cron-daemon-common onto the appliances",
        ),
        (
            "write",
            "etc/hostwatch.logrotate",
            "/var/log/hostwatch.log {\n  weekly\n  rotate 8\n  missingok\n  notifempty\n  compress\n}\n",
        ),
        (
            "sh",
            "sed -i 's|^install -m 644 etc/hostwatch.cron|mkdir -p $stage/etc/logrotate.d\\ninstall -m 644 etc/hostwatch.logrotate $stage/etc/logrotate.d/hostwatch\\ninstall -m 644 etc/hostwatch.cron|; s|^Architecture: all$|Architecture: all\\nDepends: python3\\nRecommends: logrotate|' packaging/build-deb && packaging/build-deb && dpkg-deb -I build/hostwatch.deb | tail -9",
        ),
        (
            "plan",
            ("x", "Script that stages the files"),
            ("x", "Control file from debian/changelog"),
            ("x", "Conffiles"),
            (">", "Log rotation"),
            (" ", "Check that two builds are equal"),
            (" ", "Install section in README.md"),
        ),
        ("explore", 10),
        (
            "sh",
            "packaging/build-deb >/dev/null && sha256sum build/hostwatch.deb && sleep 1 && touch -d '2026-02-01' etc/hostwatch.conf && packaging/build-deb >/dev/null && sha256sum build/hostwatch.deb",
        ),
        (
            "say",
            "Setting TZ=UTC makes no difference to the checksums, so I dropped that idea: what differs are the times of the staged files.",
        ),
        ("explore", 10),
        (
            "user",
            "builds have to be reproducible, auditors rebuild and compare. The changelog date is what SOURCE_DATE_EPOCH should be. Can you also make lintian happy? at least no errors",
        ),
        ("sh", "lintian build/hostwatch.deb"),
        ("sh", "dpkg-deb -c build/hostwatch.deb | awk '{print $6}' | grep -c man"),
        ("explore", 8),
        (
            "say",
            "lintian is not on this host, so I go by its list: the manual page has to be in the package, compressed, and so have changelog and copyright. Two things are left: export SOURCE_DATE_EPOCH in packaging/build-deb from `dpkg-parsechangelog -S Timestamp`, and install man/hostwatch.1 with gzip -9n.",
        ),
    ],
    facts={
        "constraints": [
            "The build hosts have neither debhelper nor network, so it has to come out of dpkg-deb alone.",
            "Whoever upgrades keeps their /etc/hostwatch.conf.",
            "one script, packaging/build-deb, no arguments.",
            "nothing in maintainer scripts please; security reviews every postinst by hand",
            "builds have to be reproducible, auditors rebuild and compare.",
            "The changelog date is what SOURCE_DATE_EPOCH should be.",
        ],
        "decisions": [
            "yep, changelog is the one place for the version.",
            "1, but only recommend logrotate",
        ],
        "changedFiles": ["packaging/build-deb", "VERSION", "etc/hostwatch.logrotate"],
        "plan": ["Check that two builds are equal", "Install section in README.md", "Log rotation"],
        "nextStep": [
            "export SOURCE_DATE_EPOCH in packaging/build-deb from `dpkg-parsechangelog -S Timestamp`, and install man/hostwatch.1 with gzip -9n"
        ],
        "request": ["Can you also make lintian happy?"],
        "errors": ["lintian: command not found"],
        "attempts": [
            "Taking it from the VERSION file builds, but VERSION and debian/changelog can drift apart",
            "Setting TZ=UTC makes no difference to the checksums",
        ],
    },
)


def members():
    """A list of members as somebody's spreadsheet left it."""
    names = [
        "Müller, Anna",
        "Petersen, Jan",
        "Öztürk, Deniz",
        "Nowak, Piotr",
        "Smith, Ruth",
        "Garcia, Luz",
        "Weber, Tom",
        "Rossi, Ugo",
        "Khan, Sara",
        "Dubois, Léa",
    ]
    rows = ["id;name;joined;fee;email"]
    for i in range(80):
        joined = [
            "%d.%d.%d" % (1 + i % 28, 1 + i % 12, 2015 + i % 9),
            "%d-%02d-%02d" % (2015 + i % 9, 1 + i % 12, 1 + i % 28),
            "%02d/%02d/%02d" % (1 + i % 12, 1 + i % 28, 15 + i % 9),
        ][i % 3]
        fee = ["%d,50" % (20 + i % 5), "%d.50" % (20 + i % 5), "", "EUR %d" % (20 + i % 5)][i % 4]
        name = names[i % len(names)] + (" " if i % 7 == 0 else "")
        rows.append(
            "%d;%s;%s;%s;%s"
            % (
                1000 + i - (1 if i % 20 == 19 else 0),
                name,
                joined,
                fee,
                "m%d@example.org" % i if i % 6 else "n/a",
            )
        )
    return "\n".join(rows) + "\n"


CLEANUP = {
    "README.md": "# members\n\nThe list of the sports club, cleaned for the new system.\n\n- `raw/members.csv`: as the office sent it\n- `sql/schema.sql`: what the new system takes\n",
    "raw/members.csv": members(),
    "raw/payments.csv": "member;paid;amount\n"
    + "".join(
        "%d;2026-%02d-01;%d.50\n" % (1000 + i, 1 + i % 12, 20 + i % 5) for i in range(0, 90, 3)
    ),
    "sql/schema.sql": "CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined TEXT NOT NULL CHECK (joined GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'), fee_cents INTEGER, email TEXT);\nCREATE TABLE payments (member INTEGER NOT NULL REFERENCES members (id), paid TEXT NOT NULL, amount_cents INTEGER NOT NULL);\n",
    "bin/load.sh": '#!/bin/sh\n# load.sh CLEAN_CSV DATABASE\nset -e\nrm -f "$2"\nsqlite3 "$2" < sql/schema.sql\nsqlite3 "$2" -cmd \'.mode csv\' -cmd \'.separator ;\' ".import --skip 1 $1 members"\n',
    "bin/fees.awk": '# Fees in cents.\nBEGIN { FS = OFS = ";" }\nNR > 1 { gsub(/EUR /, "", $4); sub(/,/, ".", $4); $4 = $4 == "" ? "" : $4 * 100 }\n{ print }\n',
    "docs/fields.md": "# Fields\n\n- id: number of the card\n- joined: ISO date\n- fee: cents a month, empty for honorary members\n- email: empty if there is none\n",
    "docs/contact.md": "# Contact\n\nThe office: Mondays and Thursdays.\n",
}

scenario(
    "held_out_members",
    about="Held out. OpenAI tools: a list of members cleaned with awk and sqlite; personal data and dates of three kinds.",
    seed=43,
    folder="chores",
    style="openai",
    project=CLEANUP,
    looks=[
        "head -3 raw/members.csv",
        "cut -d';' -f3 raw/members.csv | sort | uniq -c | sort -rn | head -5",
        "awk -F';' '{print NF}' raw/members.csv | sort | uniq -c",
        "wc -l raw/*.csv",
        "cut -d';' -f1 raw/members.csv | sort | uniq -d",
        "grep -c 'n/a' raw/members.csv",
        "awk -F';' '$4 == \"\"' raw/members.csv | wc -l",
        "sed -n '20,23p' raw/members.csv",
        "cat sql/schema.sql",
        "git diff --stat",
        "ls -la raw out 2>/dev/null",
        "file raw/members.csv",
        "sqlite3 --version",
        "awk -F';' 'NR > 1 {print length($2)}' raw/members.csv | sort -n | tail -1",
        "sqlite3 out/members.db 'SELECT count(*) FROM members' 2>&1",
        "head -2 out/clean.csv 2>&1",
        "git log --oneline -3",
        "tail -2 raw/payments.csv",
        "awk -F';' '$3 ~ /\\//' raw/members.csv | head -2",
    ],
    steps=[
        (
            "user",
            "The office's member list has to go into the new system by Friday. Clean raw/members.csv so that bin/load.sh takes it. raw/ is evidence for the auditors, it stays byte for byte what it is. The result goes to out/clean.csv; same columns, same order. And please no Python here: the office machine has awk and sqlite, that's it.",
        ),
        ("explore", 14),
        (
            "say",
            "Plan:\n- [ ] Dates as ISO\n- [ ] Fees in cents\n- [ ] Duplicate card numbers\n- [ ] Load without errors\n- [ ] Field notes",
        ),
        ("sh", "mkdir -p out && sh bin/load.sh raw/members.csv out/members.db 2>&1 | head -4"),
        ("explore", 12),
        (
            "sh",
            'cat > bin/dates.awk <<\'END\'\n# Dates as ISO.\nBEGIN { FS = OFS = ";" }\nNR > 1 && $3 ~ /\\./ { split($3, d, "."); $3 = sprintf("%d-%02d-%02d", d[3], d[2], d[1]) }\nNR > 1 && $3 ~ /\\// { split($3, d, "/"); $3 = sprintf("20%d-%02d-%02d", d[3], d[2], d[1]) }\n{ print }\nEND\nawk -f bin/dates.awk raw/members.csv | awk -F\';\' \'$3 !~ /^20[0-9][0-9]-[01][0-9]-[0-3][0-9]$/\' | head -5',
        ),
        ("explore", 10),
        (
            "user",
            "careful: the ones with slashes are American, month first. They come from the old web form.",
        ),
        (
            "sh",
            "sed -i 's/d\\[3\\], d\\[2\\], d\\[1\\]); *}$/&/; /\\/\\\\\\//s/d\\[2\\], d\\[1\\]/d[1], d[2]/' bin/dates.awk && cat bin/dates.awk && awk -f bin/dates.awk raw/members.csv | awk -F';' 'NR > 1 && substr($3, 6, 2) > 12' | wc -l",
        ),
        ("explore", 10),
        (
            "sh",
            "awk -f bin/dates.awk raw/members.csv | awk -f bin/fees.awk | sort -u -t';' -k1,1 > out/clean.csv; wc -l out/clean.csv; tail -1 out/clean.csv",
        ),
        (
            "say",
            "sort -u is no good for the duplicates: it keeps whichever row sorts first and moves the heading to the end. I threw that line away.",
        ),
        (
            "say",
            "Four card numbers appear twice, with different people. Should the later one get a new number, or do I list them for the office?",
        ),
        (
            "user",
            "list them, the office decides. Cards are printed already so numbers are never reassigned.",
        ),
        (
            "sh",
            "cut -d';' -f1 raw/members.csv | sort | uniq -d | grep -F -w -f - raw/members.csv > out/duplicates.csv; cat out/duplicates.csv",
        ),
        ("explore", 12),
        (
            "sh",
            "awk -f bin/dates.awk raw/members.csv | awk -f bin/fees.awk | awk -F';' '!seen[$1]++' > out/clean.csv && sh bin/load.sh out/clean.csv out/members.db && sqlite3 out/members.db 'SELECT count(*), min(joined), max(joined), sum(fee_cents) FROM members'",
        ),
        ("explore", 12),
        (
            "user",
            'nice. Names: trailing blanks off, but leave umlauts and accents alone, last year someone "normalised" Öztürk to Oztuerk and we got an angry letter. n/a as email means empty',
        ),
        (
            "say",
            "Where we are:\n- [x] Dates as ISO\n- [x] Fees in cents\n- [x] Duplicate card numbers\n- [ ] Names and emails\n- [ ] Load without errors\n- [ ] Field notes",
        ),
        (
            "sh",
            'cat > bin/names.awk <<\'END\'\nBEGIN { FS = OFS = ";" }\nNR > 1 { sub(/ +$/, "", $2); if ($5 == "n/a") $5 = "" }\n{ print }\nEND\nawk -f bin/names.awk out/clean.csv > out/named.csv && mv out/named.csv out/clean.csv && grep -c \' ;\' out/clean.csv; grep -m1 -n \'Ö\' out/clean.csv',
        ),
        ("explore", 10),
        ("sh", "iconv -f utf-8 -t ascii//TRANSLIT out/clean.csv | diff - out/clean.csv | head -4"),
        (
            "say",
            "Checking with iconv TRANSLIT turned out useless here, it maps Ö to O or ? depending on the locale, so it can't tell me whether a name was touched. Comparing the bytes with raw/ does.",
        ),
        ("explore", 10),
        (
            "sh",
            "sqlite3 out/members.db \"PRAGMA foreign_keys = ON\" && awk -F';' 'BEGIN {OFS=\";\"} NR > 1 {$3 = $3 * 100} NR > 1' raw/payments.csv > out/payments.csv && sqlite3 out/members.db -cmd 'PRAGMA foreign_keys = ON' -cmd '.mode csv' -cmd '.separator ;' '.import out/payments.csv payments' 2>&1 | head -4",
        ),
        (
            "user",
            "payments too please. Whatever you can't match goes to out/unmatched.csv, don't drop a single payment. And nothing with personal data gets committed, out/ belongs into .gitignore",
        ),
        ("sh", "echo 'out/' > .gitignore && git status --short"),
        ("explore", 8),
        (
            "sh",
            "sqlite3 out/members.db -cmd 'PRAGMA foreign_keys = ON' -cmd '.mode csv' -cmd '.separator ;' '.import out/payments.csv payments' 2>&1 | tail -3",
        ),
        (
            "say",
            "The import of payments stops at members that are not there. From here: split out/payments.csv by the card numbers of the members table, put the rest into out/unmatched.csv, and import what matches. docs/fields.md comes last.",
        ),
    ],
    facts={
        "constraints": [
            "raw/ is evidence for the auditors, it stays byte for byte what it is.",
            "The result goes to out/clean.csv; same columns, same order.",
            "please no Python here: the office machine has awk and sqlite, that's it.",
            "the ones with slashes are American, month first.",
            "leave umlauts and accents alone",
            "n/a as email means empty",
            "don't drop a single payment.",
            "nothing with personal data gets committed",
        ],
        "decisions": [
            "list them, the office decides.",
            "Cards are printed already so numbers are never reassigned.",
        ],
        "changedFiles": [
            "bin/dates.awk",
            "bin/names.awk",
            "out/clean.csv",
            "out/duplicates.csv",
            "out/payments.csv",
            ".gitignore",
        ],
        "plan": ["Names and emails", "Load without errors", "Field notes"],
        "nextStep": [
            "split out/payments.csv by the card numbers of the members table, put the rest into out/unmatched.csv, and import what matches"
        ],
        "request": ["payments too please."],
        "errors": ["FOREIGN KEY constraint failed"],
        "attempts": [
            "sort -u is no good for the duplicates",
            "Checking with iconv TRANSLIT turned out useless here",
        ],
    },
)

TIMETABLE = {
    "package.json": '{"name": "timetable", "version": "2.0.0", "private": true, "type": "module", "scripts": {"test": "node --test test/", "lint": "node tools/lint.mjs"}}\n',
    "README.md": "# timetable\n\nDepartures of the ferry, as a page. No build step: open `public/index.html` from any server.\n",
    "public/index.html": '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Departures</title>\n<link rel="stylesheet" href="style.css">\n</head>\n<body>\n<h1>Departures</h1>\n<div id="table"></div>\n<script type="module" src="main.js"></script>\n</body>\n</html>\n',
    "public/style.css": "body { font: 16px/1.4 system-ui; margin: 2rem; color: #222; background: #fff; }\n.row { display: flex; gap: 1rem; }\n.row span { width: 8rem; }\n.late { color: #f66; }\n",
    "public/main.js": "import { render } from './render.js'\n\nconst response = await fetch('departures.json')\ndocument.getElementById('table').innerHTML = render(await response.json())\n",
    "public/render.js": "import { clock } from './clock.js'\n\nexport function render(departures) {\n  return departures\n    .map((d) => `<div class=\"row${d.late ? ' late' : ''}\"><span>${clock(d.at)}</span><span>${d.to}</span><span>${d.pier}</span></div>`)\n    .join('\\n')\n}\n",
    "public/clock.js": "export function clock(minutes) {\n  const hours = Math.floor(minutes / 60)\n  return `${hours}:${minutes % 60}`\n}\n",
    "public/departures.json": '[{"at": 425, "to": "Harbour", "pier": "A"}, {"at": 607, "to": "Island <north>", "pier": "B", "late": 12}, {"at": 1445, "to": "Harbour", "pier": "A"}]\n',
    "test/clock.test.js": "import test from 'node:test'\nimport assert from 'node:assert'\nimport { clock } from '../public/clock.js'\n\ntest('a time has two digits for minutes', () => {\n  assert.equal(clock(425), '7:05')\n})\n",
    "test/render.test.js": "import test from 'node:test'\nimport assert from 'node:assert'\nimport { render } from '../public/render.js'\n\ntest('a late departure is marked', () => {\n  assert.match(render([{ at: 60, to: 'x', pier: 'A', late: 5 }]), /late/)\n})\n",
    "tools/lint.mjs": "import { readdirSync, readFileSync } from 'node:fs'\n\nlet found = 0\nfor (const folder of ['public', 'test'])\n  for (const file of readdirSync(folder).filter((f) => f.endsWith('.js')))\n    readFileSync(`${folder}/${file}`, 'utf8').split('\\n').forEach((line, i) => {\n      if (line.includes('innerHTML')) found++, console.log(`${folder}/${file}:${i + 1}: error: innerHTML`)\n      if (line.length > 120) found++, console.log(`${folder}/${file}:${i + 1}: warning: ${line.length} characters`)\n    })\nprocess.exit(found ? 1 : 0)\n",
}

scenario(
    "held_out_departures",
    about="Held out. opencode: a page of departures, for people who cannot see it too.",
    seed=44,
    folder="chores",
    style="opencode",
    project=TIMETABLE,
    looks=[
        "npm test 2>&1 | tail -9",
        "npm run -s lint",
        "ls public test",
        "grep -n 'class=' public/render.js",
        "wc -c public/*",
        "cat public/style.css",
        'node -e "console.log(process.version)"',
        "git diff --stat",
        "grep -rn 'late' public test | head",
        "jq -c '.[]' public/departures.json",
        "node --input-type=module -e \"import { render } from './public/render.js'; console.log(render([{at: 60, to: 'x', pier: 'A'}]))\"",
        "git status --short",
        "grep -c '' public/*.js",
        "sed -n '1,14p' public/index.html",
        "node --input-type=module -e \"import { clock } from './public/clock.js'; console.log(clock(425), clock(607))\"",
        "git log --oneline -3",
    ],
    steps=[
        (
            "user",
            "The departures page fails our accessibility audit. Here's what they want:\n- a real table with headings instead of divs\n- lateness must not be told by colour alone\n- text contrast at least 4.5:1\nThe page runs on the kiosk's Chromium 79, so mind the syntax (no optional chaining). No frameworks, no bundler. Tests in node:test as before.",
        ),
        ("explore", 14),
        (
            "plan",
            (">", "A table with headings"),
            (" ", "Lateness in words"),
            (" ", "Contrast"),
            (" ", "Escape names"),
            (" ", "Times with two digits"),
        ),
        ("sh", "npm test 2>&1 | tail -20"),
        (
            "edit",
            "public/clock.js",
            "`${hours}:${minutes % 60}`",
            "`${hours}:${String(minutes % 60).padStart(2, '0')}`",
        ),
        ("sh", "npm test 2>&1 | tail -9"),
        ("explore", 12),
        ("edit", "public/render.js", "${d.to}</span>", "${d.to?.replaceAll('<', '&lt;')}</span>"),
        ("sh", "npm test 2>&1 | tail -9"),
        (
            "say",
            "That won't run on the kiosk: both optional chaining and replaceAll are newer than Chromium 79. Took it back.",
        ),
        ("sh", "git checkout -q public/render.js && git status --short"),
        ("explore", 10),
        ("user", 'btw the table id stays "table", the kiosk shell scrolls it by that id'),
        (
            "write",
            "public/escape.js",
            "const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\"': '&quot;' }\n\nexport function escape(text) {\n  return String(text).replace(/[&<>\"]/g, (c) => entities[c])\n}\n",
        ),
        (
            "write",
            "public/render.js",
            'import { clock } from \'./clock.js\'\nimport { escape } from \'./escape.js\'\n\nfunction row(d) {\n  const late = d.late ? `${d.late} min late` : \'\'\n  return `<tr><td>${clock(d.at)}</td><th scope="row">${escape(d.to)}</th><td>${escape(d.pier)}</td><td class="late">${late}</td></tr>`\n}\n\nexport function render(departures) {\n  const head = \'<tr><th scope="col">Time</th><th scope="col">To</th><th scope="col">Pier</th><th scope="col">Status</th></tr>\'\n  return `<table><thead>${head}</thead><tbody>${departures.map(row).join(\'\')}</tbody></table>`\n}\n',
        ),
        ("sh", "npm test 2>&1 | tail -9"),
        ("explore", 12),
        (
            "say",
            "Where should the word for lateness stand?\n(a) in a column of its own\n(b) behind the time\n(c) in a line below",
        ),
        (
            "user",
            "(a) like you have it. translations come later, don't build anything for that now",
        ),
        ("sh", "sed -i 's/#f66/#b00020/' public/style.css && grep -n late public/style.css"),
        ("explore", 10),
        (
            "sh",
            "sed -i 's/^.row.*$//' public/style.css && printf 'td, th { text-align: left; padding: .2rem 1rem; }\\n' >> public/style.css && cat public/style.css",
        ),
        ("sh", "node tools/contrast.mjs 2>&1 | head -5"),
        (
            "write",
            "tools/contrast.mjs",
            "const light = (hex) => {\n  const parts = hex.match(/../g).map((x) => parseInt(x, 16) / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))\n  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]\n}\nconst [a, b] = process.argv.slice(2).map(light).sort((x, y) => y - x)\nconsole.log(((a + 0.05) / (b + 0.05)).toFixed(2))\n",
        ),
        ("sh", "node tools/contrast.mjs b00020 ffffff && node tools/contrast.mjs ff6666 ffffff"),
        (
            "plan",
            ("x", "A table with headings"),
            ("x", "Lateness in words"),
            ("x", "Contrast"),
            (">", "Escape names"),
            (" ", "Departures after midnight"),
            (" ", "Announce changes"),
        ),
        ("explore", 10),
        (
            "user",
            "Screen readers should announce changes, the page reloads the data every minute. Only announce what changed, reading out forty rows a minute drives people mad.",
        ),
        (
            "edit",
            "public/index.html",
            '<div id="table"></div>',
            '<div id="table" aria-live="polite"></div>',
        ),
        ("sh", "grep -n aria-live public/index.html && npm test 2>&1 | tail -9"),
        (
            "say",
            "aria-live on the whole table doesn't do it: every reload replaces all rows, so all forty would be read. I've undone it.",
        ),
        (
            "edit",
            "public/index.html",
            '<div id="table" aria-live="polite"></div>',
            '<div id="table"></div>\n<p id="changes" role="status"></p>',
        ),
        (
            "write",
            "public/changes.js",
            "// What differs between two lists of departures, in words.\nexport function changes(before, after) {\n  const known = new Map(before.map((d) => [d.at + d.to, d.late || 0]))\n  return after.filter((d) => known.has(d.at + d.to) && known.get(d.at + d.to) !== (d.late || 0)).map((d) => `${d.to}: ${d.late || 0} min late`)\n}\n",
        ),
        ("explore", 12),
        (
            "user",
            "what does it show for a boat at 00:05? the data has minutes after midnight of the operating day, so 1445. must read 0:05 with a +1 next to it, never 24:05",
        ),
        (
            "write",
            "test/midnight.test.js",
            "import test from 'node:test'\nimport assert from 'node:assert'\nimport { clock } from '../public/clock.js'\n\ntest('after midnight the day is marked', () => {\n  assert.equal(clock(1445), '0:05 +1')\n})\n",
        ),
        ("sh", "npm test 2>&1 | grep -E '^(not ok|# (pass|fail))|expected|actual' | head -12"),
        ("explore", 6),
        ("sh", "npm run -s lint"),
        (
            "say",
            "The new test fails as it should: clock(1445) gives 24:05. To do now: let clock() wrap at 1440 and add the +1; then main.js, where lint still complains about innerHTML, gets the status line from changes.js.",
        ),
    ],
    facts={
        "constraints": [
            "a real table with headings instead of divs",
            "lateness must not be told by colour alone",
            "text contrast at least 4.5:1",
            "The page runs on the kiosk's Chromium 79, so mind the syntax (no optional chaining).",
            "No frameworks, no bundler.",
            "Tests in node:test as before.",
            'the table id stays "table", the kiosk shell scrolls it by that id',
            "don't build anything for that now",
            "Only announce what changed",
            "must read 0:05 with a +1 next to it, never 24:05",
        ],
        "decisions": ["(a) like you have it."],
        "changedFiles": [
            "public/clock.js",
            "public/escape.js",
            "public/render.js",
            "public/style.css",
            "tools/contrast.mjs",
            "public/index.html",
            "public/changes.js",
            "test/midnight.test.js",
        ],
        "plan": ["Escape names", "Departures after midnight", "Announce changes"],
        "nextStep": ["let clock() wrap at 1440 and add the +1"],
        "request": ["what does it show for a boat at 00:05?"],
        "errors": ["public/main.js:4: error: innerHTML", "after midnight the day is marked"],
        "attempts": [
            "That won't run on the kiosk: both optional chaining and replaceAll are newer than Chromium 79.",
            "aria-live on the whole table doesn't do it",
        ],
    },
)
