#!/usr/bin/env python3
"""What a page shows of `undertext exec` is true: lines that are asked, and below each its answer.   session_test.py BINARY PAGE…"""

import pathlib
import subprocess
import sys

binary, *pages = sys.argv[1:]
failures = 0
for page in pages:
    sessions = pathlib.Path(page).read_text().split("$ undertext exec\n")[1:]
    if not sessions:
        sys.exit(f"{page} shows no session")
    for session in sessions:
        lines = [line.strip() for line in session.split("\n\n", 1)[0].splitlines()]
        asked, shown = lines[0::2], lines[1::2]
        ran = subprocess.run(
            [binary, "exec"],
            input="\n".join(asked) + "\n",
            capture_output=True,
            text=True,
            check=True,
        )
        answers = ran.stdout.splitlines()
        if answers != shown:
            failures += 1
            print(f"FAIL {page}: expected {shown}, got {answers}")
sys.exit(bool(failures))
