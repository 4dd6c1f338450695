#!/usr/bin/env python3
"""The README is short, its links lead somewhere, and every page of the manual can be reached from it.   readme_test.py REPOSITORY"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
LINES_MAX = 120
CODE_LINES_MAX = 10
failures = []


def links(page):
    """The files that a page links to; what stands in code is no link."""
    prose = "\n".join(line for line in page.read_text().splitlines() if not line.startswith("    "))
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", prose)):
        if not re.match(r"[a-z]+:|#", target):
            yield (page.parent / target.split("#")[0]).resolve()


def code_blocks(text):
    """Runs of indented lines, with blank ones between them."""
    return [block.strip("\n").splitlines() for block in re.findall(r"(?:^(?:    .*)?\n)+", text, re.MULTILINE) if block.strip()]


readme = root / "README.md"
lines = len(readme.read_text().splitlines())
if lines > LINES_MAX:
    failures.append(f"README.md has {lines} lines; at most {LINES_MAX}")
for block in code_blocks(readme.read_text()):
    code = [line for line in block if line.strip()]
    if len(code) > CODE_LINES_MAX:
        failures.append(f"README.md: {len(code)} lines of code; at most {CODE_LINES_MAX}: {code[0].strip()}")

reached, waiting = set(), [readme]
while waiting:
    page = waiting.pop()
    if page in reached:
        continue
    reached.add(page)
    for target in links(page):
        if not target.exists():
            failures.append(f"{page.relative_to(root)} links to {target}, which is not there")
        elif target.suffix == ".md":
            waiting.append(target)
pages = [*(root / "docs").glob("*.md"), root / "ARCHITECTURE.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"]
failures += [f"{page.relative_to(root)} cannot be reached from the README: docs/README.md is the index" for page in pages if page not in reached]

for failure in failures:
    print("FAIL", failure)
print(f"{lines} lines; {len(reached)} pages can be reached")
sys.exit(bool(failures))
