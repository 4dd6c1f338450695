#!/usr/bin/env python3
"""Holds the code to the room table of ARCHITECTURE.md.   architecture_test.py REPOSITORY

A room is a folder of src, or one of the doors in bindings. Its files include their own room, the rooms its row allows, the public headers of those rooms, the standard
library, and what its row says it hides; one room knows the operating system. A public header obeys the row of the room it belongs to. No two headers define the same type.
"""

import pathlib
import re
import sys

DOORS = {"c": "bindings/c", "node": "bindings/node/native", "python": "bindings/python/native"}
TEST_LIBRARIES = {"gtest", "gmock", "simdjson"}
C_LIBRARY = {
    "assert",
    "ctype",
    "errno",
    "limits",
    "math",
    "stddef",
    "stdint",
    "stdio",
    "stdlib",
    "string",
    "time",
}
POSIX = {
    "arpa",
    "unistd",
    "fcntl",
    "netinet",
    "poll",
    "signal",
    "sys",
    "termios",
    "dlfcn",
    "malloc",
}


def read_table(text):
    """{room: {column: [names]}}, in the order of the rows; "–" stands for none."""
    rows = [
        [c.strip() for c in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.lstrip().startswith("|")
    ]
    heads = [i for i, row in enumerate(rows) if row[0] == "room"]
    if len(heads) != 1:
        sys.exit("ARCHITECTURE.md: expected exactly one table whose first column is 'room'")
    head, table = rows[heads[0]], {}
    for row in rows[heads[0] + 2 :]:
        if len(row) != len(head):
            break
        cells = {
            name: [w for w in re.split(r"[\s,`]+", cell) if w not in ("", "–", "-")]
            for name, cell in zip(head, row)
        }
        table[cells["room"][0]] = cells
    return table


def is_of_tests(file):
    return file.stem.endswith(("_test", "_fixture"))


def main(root):
    table = read_table((root / "ARCHITECTURE.md").read_text())
    faults = []
    owner = {}  # public header -> its room
    above = []
    for room, row in table.items():
        faults += [
            f"ARCHITECTURE.md: {room} may include {r}, which is not a row above it"
            for r in row["may include"]
            if r not in above
        ]
        above.append(room)
        for header in row["public headers"]:
            if header in owner:
                faults.append(f"ARCHITECTURE.md: {header} belongs to {owner[header]} and to {room}")
            owner[header] = room
    folders = {p.name for p in (root / "src").iterdir() if p.is_dir()} | DOORS.keys()
    headers = {p.name: p for p in (root / "include/undertext").iterdir()}
    faults += [f"src/{r}: not in the room table" for r in sorted(folders - table.keys())]
    faults += [f"ARCHITECTURE.md: there is no src/{r}" for r in sorted(table.keys() - folders)]
    faults += [
        f"include/undertext/{h}: no room lists it" for h in sorted(headers.keys() - owner.keys())
    ]
    faults += [
        f"ARCHITECTURE.md: there is no include/undertext/{h}"
        for h in sorted(owner.keys() - headers.keys())
    ]

    umbrella = "undertext.hpp"  # to include it is to include all that it includes
    promised = re.findall(r"#include <undertext/([^>]+)>", headers[umbrella].read_text())
    faults += [
        f"include/undertext/{umbrella}: leaves out {h}"
        for h in sorted(headers.keys() - {umbrella} - set(promised))
    ]

    sources = [(p, p.parent.name) for p in sorted((root / "src").glob("*/*"))]
    sources += [
        (p, door) for door, folder in DOORS.items() for p in sorted((root / folder).glob("*"))
    ]
    files = [(p, room) for p, room in sources if room in table and p.suffix in (".hpp", ".cpp")]
    files += [(headers[h], owner[h]) for h in sorted(owner.keys() & headers.keys() - {umbrella})]
    for file, room in files:
        allowed_rooms = {room, *table[room]["may include"]}
        hidden = {name.lower() for name in table[room]["hides"]}
        for number, line in enumerate(file.read_text().splitlines(), 1):
            # What differs between systems is asked where their calls are.
            if (
                "posix" not in hidden
                and not is_of_tests(file)
                and re.search(r'\b(__APPLE__|__linux__|__GLIBC__)\b|"/proc/', line)
            ):
                faults.append(
                    f"{file.relative_to(root)}:{number}: the room {room} may not know which system it runs on"
                )
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not match:
                continue
            quoted, path = match[1] == '"', match[2]
            first = re.split(r"[/.]", path)[0]
            if path == "undertext.h":
                good = "c" in allowed_rooms
            elif first == "undertext" and not quoted:
                names = (
                    promised
                    if path == f"undertext/{umbrella}"
                    else [path.removeprefix("undertext/")]
                )
                good = all(owner.get(n) in allowed_rooms for n in names)
            elif quoted and file.stem.endswith("_test") and path.startswith("../../tests/"):
                good = True
            elif quoted and room in DOORS and "/" not in path:
                good = (file.parent / path).exists()
            elif quoted:
                good = first in allowed_rooms and "/" in path and file.parent.name != "undertext"
            elif re.fullmatch(r"\w+", path) or first in C_LIBRARY:
                good = True
            elif first in POSIX:
                good = "posix" in hidden or is_of_tests(file)
            else:
                good = any(h.startswith(first.lower()) for h in hidden) or (
                    file.stem.endswith("_test") and first in TEST_LIBRARIES
                )
            if not good:
                faults.append(
                    f"{file.relative_to(root)}:{number}: the room {room} may not include {path}"
                )

    # All rooms share one namespace: two types of one name would be one to the linker, and undefined behaviour.
    defined = {}
    for file in [*sorted((root / "src").glob("*/*.hpp")), *headers.values()]:
        within = []
        for line in file.read_text().splitlines():
            if match := re.match(r"(?:inline )?namespace ([\w:]*) ?\{", line):
                within.append(match[1] or str(file))  # one without a name is the file's own
            elif within and re.match(r"\}(\s*//.*)?$", line) and "namespace" in line:
                within.pop()
            elif match := re.match(
                r"(?:struct|class|enum class) (?:UNDERTEXT_API )?(\w+)(?: final)?(?: :.*)? \{", line
            ):
                defined.setdefault("::".join([*within, match[1]]), set()).add(
                    str(file.relative_to(root))
                )
    faults += [
        f"{name} is defined in {' and in '.join(sorted(where))}"
        for name, where in sorted(defined.items())
        if len(where) > 1
    ]

    print("\n".join(faults) or f"{len(files)} files in {len(table)} rooms keep to the room table")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
