#!/usr/bin/env python3
"""The README is short, its ways in are too, its links lead somewhere, and every page of the manual can be reached from it; what it installs
is what scripts/package makes, and docs/packages.md quotes what scripts/test-packages and scripts/stopwatch saw.   readme_test.py REPOSITORY"""

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
    return [
        block.strip("\n").splitlines()
        for block in re.findall(r"(?:^(?:    .*)?\n)+", text, re.MULTILINE)
        if block.strip()
    ]


readme = root / "README.md"
lines = len(readme.read_text().splitlines())
if lines > LINES_MAX:
    failures.append(f"README.md has {lines} lines; at most {LINES_MAX}")
for block in code_blocks(readme.read_text()):
    code = [line for line in block if line.strip()]
    if len(code) > CODE_LINES_MAX:
        failures.append(
            f"README.md: {len(code)} lines of code; at most {CODE_LINES_MAX}: {code[0].strip()}"
        )

# Three ways in: what is typed and what it prints, together.
WAYS = ("Wrap your agent", "Python", "TypeScript")
sections = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", readme.read_text(), re.MULTILINE))
for way in WAYS:
    shown = [line for block in code_blocks(sections.get(way, "")) for line in block if line.strip()]
    if not 1 < len(shown) <= CODE_LINES_MAX:
        failures.append(
            f"README.md: {way}: {len(shown)} lines with their output; at most {CODE_LINES_MAX}"
        )
    if "install" not in sections.get(way, ""):
        failures.append(f"README.md: {way}: nothing says how it is installed")

# Names of packages are those that scripts/package makes.
version = re.search(r"project\(undertext VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[
    1
]
OWN = re.escape(version)
PACKAGE = rf"undertext-{OWN}-cp3\d+-(abi3|cp3\d+)-manylinux_2_28_(x86_64|aarch64)\.whl|npm/undertext(-linux-(x64|arm64))?-{OWN}\.tgz|undertext-{OWN}-linux-(x64|arm64)\.tar\.gz|undertext_{OWN}_(amd64|arm64)\.deb"
for page in (readme, root / "docs/packages.md"):
    for name in re.findall(r"dist/((?:npm/)?undertext[^\s`]+)", page.read_text()):
        if not re.fullmatch(PACKAGE, name):
            failures.append(f"{page.name}: scripts/package makes no dist/{name}")

# Figures of packages come from results.
quoting = (root / "docs/packages.md").read_text()
for result in sorted((root / "bench/results/packages").glob("*.md")):
    for row in re.findall(r"^\|.*\|$", result.read_text(), re.MULTILINE):
        if row not in quoting:
            failures.append(f"docs/packages.md does not quote {result.relative_to(root)}: {row}")

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
pages = [
    *(root / "docs").glob("*.md"),
    root / "ARCHITECTURE.md",
    root / "CONTRIBUTING.md",
    root / "CHANGELOG.md",
]
failures += [
    f"{page.relative_to(root)} cannot be reached from the README: docs/README.md is the index"
    for page in pages
    if page not in reached
]

for failure in failures:
    print("FAIL", failure)
print(f"{lines} lines; {len(reached)} pages can be reached")
sys.exit(bool(failures))
