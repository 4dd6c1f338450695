#!/usr/bin/env python3
"""Prints the targets of docs/benchmarks.md as some runs of the benchmark programs met them, and fails when one was missed.

    ratios.py RUN.json...

A RUN is what a program wrote with --benchmark_out. Targets of which nothing was measured are left out.
"""

import json
import sys

from summary import Measured, public_results, target_rows


def main():
    results = {path: public_results(json.load(open(path))) for path in sys.argv[1:]}
    rows = [row for row in target_rows(Measured(results)) if row[3] is not None]
    if not rows:
        sys.exit("nothing was measured that has a target")
    width = max(len(what) for _, what, _, _ in rows)
    for target, what, figure, met in rows:
        print(f"  {'holds ' if met else 'MISSED'}  {what:<{width}}  {figure}   ({target})")
    missed = sum(not met for _, _, _, met in rows)
    sys.exit(f"{missed} of {len(rows)} targets were missed" if missed else 0)


if __name__ == "__main__":
    main()
