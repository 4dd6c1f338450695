#!/usr/bin/env python3
"""Plays every scenario through `undertext exec` and through another door, and compares their answers byte for byte, but for the time.

    same_answers.py BINARY DOOR FILE.json…

DOOR is a command that takes the arguments of BINARY. Scenarios that are about other doors only are left out, as in play_scenarios.py.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

from play_scenarios import SECONDS_MAX, compact, line_of

TIME = re.compile(rb'"(timestamp|openedAt)":\d{13}')


def answers(binary, scenario):
    command = [binary, "exec"] + (
        ["--config", compact(scenario["config"])] if "config" in scenario else []
    )
    lines = "".join(line_of(step) + "\n" for step in scenario["steps"]).encode()
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, timeout=SECONDS_MAX)
    return done.returncode, TIME.sub(rb'"\1":0', done.stdout).split(b"\n")


def main(binary, door, *files):
    name = os.environ.get("UNDERTEXT_DOOR", "exec")
    same = different = 0
    for file in map(pathlib.Path, files):
        for scenario in json.loads(file.read_text(encoding="utf-8")):
            if name not in scenario.get("doors", [name]):
                continue
            expected, got = answers(binary, scenario), answers(door, scenario)
            if expected == got:
                same += 1
                continue
            different += 1
            print(f"{file.name}: {scenario['title']}")
            print(
                *(f"  {a}\n  {b}" for a, b in zip(expected[1], got[1]) if a != b),
                f"  status {expected[0]}, {got[0]}",
                sep="\n",
            )
    print(f"{same} the same, {different} different")
    return different != 0 or same == 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
