"""Turns what scripts/bench-python measured into bench/results/python/summary.md.   report.py RUNS.jsonl SETUP.txt MESSAGES"""

import json
import pathlib
import sys

WHAT = {
    "append": "A message at the end",
    "messages": "The last three user messages of {n}",
    "edit": "One message of {n} replaced, the state before it kept",
}


def number(microseconds):
    return f"{microseconds:,.2f}" if microseconds < 100 else f"{microseconds:,.0f}"


def main(runs, setup, count):
    taken = [json.loads(line) for line in pathlib.Path(runs).read_text().splitlines()]
    page = [
        "# The door for Python",
        "",
        "Made by `scripts/bench-python`; the raw numbers are in [runs.jsonl](runs.jsonl).",
        "",
        "```",
        pathlib.Path(setup).read_text().rstrip(),
        "```",
    ]
    for what, title in WHAT.items():
        rows = [run for run in taken if run["what"] == what]
        base = next((run["microseconds"] for run in rows if run["by"] == "C++"), None)
        page += [
            "",
            f"## {title.format(n=format(int(count), ','))}",
            "",
            "| by | µs a call |" + (" above C++ |" if base else ""),
            "| --- | ---: |" + (" ---: |" if base else ""),
        ]
        for run in rows:
            above = f" {number(run['microseconds'] - base)} |" if base else ""
            page.append(f"| {run['by']} | {number(run['microseconds'])} |{above}")
    print("\n".join(page))


if __name__ == "__main__":
    main(*sys.argv[1:])
