#!/usr/bin/env python3
"""How long `undertext open` takes on many sessions.   measure.py UNDERTEXT [MEGABYTES]

Makes the sessions in a temporary folder (make.py) and measures, as whole processes: the first list, reading everything, a search, and opening again.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import make


def measured(program, home, *words):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    began = time.monotonic()
    made = subprocess.run(
        [program, "open", "--json", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return time.monotonic() - began, json.loads(made.stdout)["result"]["sessions"]


def measure(program, home):
    figures = {}
    figures["first list"], first = measured(program, home, "--list", "--quick")
    figures["everything read"], whole = measured(program, home, "--list")
    figures["search of what all say"], hits = measured(program, home, "--search", "token bucket")
    figures["search of what none says"], no_hits = measured(
        program, home, "--search", "tokenless bucket"
    )
    again = [measured(program, home, "--list", "--quick")[0] for _ in range(5)]
    figures["opened again, median of 5"] = sorted(again)[2]
    assert (
        len(first) == len(whole)
        and all(session["isRead"] for session in whole)
        and hits
        and not no_hits
    ), (len(first), len(whole), len(hits))
    return figures


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
        make.make(folder, megabytes)
        print(
            f"{megabytes} MB in {megabytes} sessions, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
        )
        for what, seconds in measure(sys.argv[1], folder).items():
            print(f"{what:28} {seconds * 1000:8.0f} ms")
