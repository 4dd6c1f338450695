#!/usr/bin/env python3
"""Writes several test files as one, which compiles in a third of their time.   join_tests.py OUTPUT FILE…

In the place of its unnamed namespace each file gets one of its own name, so that two may use the same name for different things. Paths in
messages stay those of the files, relative to the folder of OUTPUT's build.
"""

import os
import pathlib
import re
import sys

UNNAMED = re.compile(r"^namespace \{$", re.M)


def joined(files, folder):
    pieces = []
    for file in map(pathlib.Path, files):
        pieces.append(
            f'#line 1 "{os.path.relpath(file, folder)}"\n'
            + UNNAMED.sub(f"namespace in_{file.stem} {{", file.read_text())
        )
    return "\n".join(pieces)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    output = pathlib.Path(sys.argv[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(joined(sys.argv[2:], output.parent.parent))
