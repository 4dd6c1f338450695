#!/usr/bin/env python3
"""Every link of the site leads to a page, a place of a page or a file that is there; every page is there as Markdown too and named in llms.txt; every public header
is in the reference, and docs/errors.md has the codes of the engine.   pages_test.py REPOSITORY"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

root = Path(sys.argv[1]).resolve()
html = root / "build/site/html"
BASE = "/docs/"
failures = []


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.places.add(values["id"])
        for name in ("href", "src"):
            if values.get(name):
                self.links.append(values[name])


pages = {file.name: Page(file.read_text()) for file in html.glob("*.html")}
checked = 0
for name, page in pages.items():
    for link in page.links:
        target, place = urldefrag(urljoin(f"{BASE}{name}", link))
        if re.match(r"[a-z]+:", target):
            continue
        checked += 1
        if not target.startswith(BASE):
            failures.append(f"{name}: {link} leads out of the site")
            continue
        path = unquote(target.removeprefix(BASE)) or "index.html"
        path = path if (html / path).is_file() else f"{path}.html"
        if not (html / path).is_file():
            failures.append(f"{name}: {link} leads to no file")
        elif place and path in pages and unquote(place) not in pages[path].places:
            failures.append(f"{name}: {link} leads to no place of {path}")

names = {name.removesuffix(".html") for name in pages} - {"404", "index"}
listed = (html / "llms.txt").read_text()
whole = (html / "llms-full.txt").read_text()
for name in sorted(names):
    markdown = html / f"{name}.md"
    if not markdown.is_file():
        failures.append(f"{name} is not there as Markdown")
    elif markdown.read_text() not in whole:
        failures.append(f"llms-full.txt lacks {name}")
    if f"({name}.md)" not in listed:
        failures.append(f"llms.txt lacks {name}")

headers = (html / "cpp-reference.md").read_text()
failures += [
    f"{file.name} is not in the reference"
    for file in (root / "include/undertext").glob("*.hpp")
    if f"## {file.name}" not in headers
]

codes = set(
    re.findall(
        r"^  (\w+), +//",
        (root / "include/undertext/error.hpp")
        .read_text()
        .split("enum class ErrorCode")[1]
        .split("};")[0],
        re.M,
    )
)
rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", (root / "docs/errors.md").read_text(), re.M))
if set(rows) != codes:
    failures.append(f"docs/errors.md lists {sorted(rows)}, the engine has {sorted(codes)}")

for failure in failures[:50]:
    print("FAIL", failure)
print(f"{len(pages)} pages, {checked} links, {len(failures)} failures")
sys.exit(bool(failures))
