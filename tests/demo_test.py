#!/usr/bin/env python3
"""What `undertext demo` promises to terminals, pipes and the README's picture.   demo_test.py BINARY"""

import os
import pathlib
import pty
import re
import subprocess
import sys
import time
import unicodedata

CAPTIONS = [
    "An agent has worked on a bug. This is what its model will read next.",
    "A hint for one turn only: the hint goes, the answer it brought stays.",
    "A wrong answer misleads every later turn. Replace it; the log keeps it.",
    "Over budget. Keeping the last four tears a tool result from its call.",
    "Strategies only propose, and never tear a pair: a stub for the long result,",
    "or a digest of all that is old, which still knows what it stands for.",
    "Roll back to batch 0: all is there. And on again from any version.",
    "Every version is still there, with its batch and its tokens.",
]
# What the engine has to have said for the story to be true.
FACTS = [
    "tool_result_without_call: #5",
    "result of run_tests cleared",
    "stands for 6",
    "over budget 800",
    "v15 is v11 again",
    "v17 is v13 again",
    "18 of 18 versions",
]
MAKE_SVG = pathlib.Path(__file__).resolve().parent.parent / "docs/make_demo_svg.py"


def environment(**changes):
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    return {**kept, "TERM": "xterm-256color", **changes}


def cells(line):
    return sum(
        2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in line
        if not unicodedata.combining(c)
    )


def piped(binary, **changes):
    done = subprocess.run(
        [binary, "demo"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(**changes),
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout.decode()


def in_terminal(binary, **changes):
    ours, theirs = pty.openpty()
    out = b""
    with subprocess.Popen(
        [binary, "demo", "--no-wait"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(**changes),
    ) as process:
        os.close(theirs)
        try:
            while piece := os.read(ours, 65536):
                out += piece
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0, out
    return out.decode().replace("\r\n", "\n")


def main(binary):
    began_s = time.monotonic()
    plain = piped(binary)
    assert time.monotonic() - began_s < 2, "a pipe need not wait"
    assert all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cf") for c in plain), (
        "a control character in a pipe"
    )
    for number, caption in enumerate(CAPTIONS, 1):
        assert f"\n {number}   {caption}\n" in plain, caption
    for fact in FACTS:
        assert fact in plain, fact
    assert "✗" not in plain, plain
    assert piped(binary) == plain, "two performances differ"

    for columns in (1, 7, 24, 40, 59, 60, 80, 89, 90, 100, 250):
        widest = max(piped(binary, COLUMNS=str(columns)).split("\n"), key=cells)
        assert cells(widest) <= min(columns, 100), (columns, widest)

    colored = in_terminal(binary, COLUMNS="100")
    without_colors = re.sub(r"\x1b\[[0-9;]+m", "", colored)
    assert without_colors != colored and without_colors == plain, "colours change more than colours"
    assert in_terminal(binary, COLUMNS="100", NO_COLOR="1") == plain, "NO_COLOR"

    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            assert (
                subprocess.run(
                    [binary, "demo"], stdout=full, env=environment(), timeout=60
                ).returncode
                == 1
            ), "a full disk"

    subprocess.run([sys.executable, MAKE_SVG, binary, "--check"], check=True, timeout=60)
    print("the demo keeps its promises")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
