#!/usr/bin/env python3
"""What users read is plain: pages, public headers and the manual page have the words of the field,
pages have one sentence on a line, and none of them is too long.   prose_test.py REPOSITORY"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
WORDS_MAX = 40  # of a sentence; what it quotes as code counts as one
INSTEAD = {
    r"unless told": "default: …",
    r"\banew\b": "again, or what it does then",
    r"given up": "pruned, dropped",
    r"taken out": "removed, pruned, purged",
    r"for good": "permanently, or pruned and purged",
    r"come again": "retry later",
    r"whoever|somebody|nobody|everybody": "the client, the operator, the reader: who it is",
    r"\bdoors?\b": "API, binding, endpoint",
    r"code of one's own": "custom strategy, callback",
    r"utili[sz]e": "use",
    r"\bin order to\b": "to",
    r"\bsimply\b|\bjust\b(?= (?:call|use|run|add))": "nothing",
}
# Where a word is the right one.
RIGHT = {
    ("docs/cli.md", "nobody"),  # the id of a conversation that is not there
}
failures = []


def prose(page):
    """The lines of a page that are sentences, with their numbers: no code, tables or headings."""
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and line.strip() and not line.startswith(("    ", "|", "#", "<", "[")):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
            yield number, re.sub(r"`[^`]*`", "code", text)


pages = sorted([*root.glob("docs/*.md"), *root.glob("*.md")])
headers = sorted([*root.glob("include/undertext/*.hpp"), *root.glob("include/undertext/*.h")])
for path in [*pages, *headers, root / "docs" / "undertext.1"]:
    name = str(path.relative_to(root))
    if name == "CHANGELOG.md":  # of releases that are out, too
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for words, instead in INSTEAD.items():
            found = re.search(words, line, re.IGNORECASE)
            if found and (name, found[0].lower()) not in RIGHT:
                failures.append(f"{name}:{number}: “{found[0]}”: write {instead}")
for page in pages:
    for number, line in prose(page):
        where = f"{page.relative_to(root)}:{number}"
        if re.search(r"[a-z)`]\. [A-Z]", re.sub(r"\b(?:e\.g|i\.e|cf)\. ", "", line)):
            failures.append(f"{where}: two sentences on one line")
        for sentence in re.split(r"(?<=[.!?:;])\s+", line):
            if len(sentence.split()) > WORDS_MAX:
                failures.append(f"{where}: a sentence of {len(sentence.split())} words")
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
