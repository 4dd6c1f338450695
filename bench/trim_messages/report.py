#!/usr/bin/env python3
"""Turns what scripts/bench-compression measured into the files of bench/results/compression.

    report.py RAW RESULTS

RAW holds trim_messages.jsonl, compression.json (as Google Benchmark writes it) and setup.txt. RESULTS gets the same without the machine's name and
paths, a table of each, and a plot.
"""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plot import FAINT, GRID, INK, Picture, power_text, spread
from summary import Measured, SIZES, public_results, time_text, write_results

COLOURS = {
    "Undertext": "#0b6e99",
    "Undertext, from JSON text": "#6aa9c4",
    "langchain-core (Python)": "#c4772b",
    "@langchain/core (Node)": "#8c4a2f",
}
LEFT, TOP, WIDTH, HEIGHT, RIGHT = 70, 74, 430, 320, 190


def by_line(runs):
    lines = {}
    for run in runs:
        lines.setdefault(run["by"], {})[run["n"]] = run
    return lines


def slope(points):
    """Of the last step of a line whose axes are logarithmic: 1 is linear, 2 quadratic."""
    (n1, t1), (n2, t2) = points[-2:]
    return math.log(t2 / t1) / math.log(n2 / n1)


def plot(lines):
    sizes = sorted({n for values in lines.values() for n in values})
    times = [run["seconds"] * 1e9 for values in lines.values() for run in values.values()]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    picture = Picture(LEFT + WIDTH + RIGHT, TOP + HEIGHT + 46)

    def x_of(n):
        return LEFT + WIDTH * math.log(n / sizes[0]) / math.log(sizes[-1] / sizes[0])

    def y_of(ns):
        return TOP + HEIGHT * (high - math.log10(ns)) / (high - low)

    picture.text(14, 26, "Trimming a conversation to half of its tokens", 16, weight="600")
    picture.text(
        14,
        44,
        "Time of one call against the length of the conversation; both axes logarithmic",
        12,
        FAINT,
    )
    for exponent in range(low, high + 1):
        y = y_of(10**exponent)
        picture.line(LEFT, y, LEFT + WIDTH, y, GRID)
        picture.text(
            LEFT - 8,
            y + 4,
            power_text(exponent) if exponent < 12 else f"{10 ** (exponent - 9):,} s",
            11,
            FAINT,
            "end",
        )
    for n in sizes:
        picture.line(x_of(n), TOP, x_of(n), TOP + HEIGHT, GRID)
        picture.text(x_of(n), TOP + HEIGHT + 16, f"{n:,}", 10, FAINT, "middle")
    picture.text(
        LEFT + WIDTH / 2, TOP + HEIGHT + 36, "messages in the conversation", 11, FAINT, "middle"
    )
    ends = []
    for by, values in sorted(lines.items(), key=lambda item: item[0] == "Undertext"):
        points = [(x_of(n), y_of(run["seconds"] * 1e9)) for n, run in sorted(values.items())]
        picture.curve(points, COLOURS[by], 2.4 if by == "Undertext" else 1.6)
        ends.append((points[-1][1], points[-1][0], by))
    ends.sort()
    for (y, x, by), label_y in zip(ends, spread([y for y, _, _ in ends], TOP, TOP + HEIGHT)):
        picture.line(x + 4, y, LEFT + WIDTH + 9, label_y, COLOURS[by], 0.8)
        picture.text(
            LEFT + WIDTH + 12,
            label_y + 4,
            by,
            11.5,
            COLOURS.get(by, INK),
            weight="700" if by == "Undertext" else "normal",
        )
    return picture.svg("Trimming a conversation to half of its tokens")


def trim_table(lines):
    order = [by for by in COLOURS if by in lines]
    heads = [f"{by} {next(iter(lines[by].values()))['version']}" for by in order]
    yield "| messages | " + " | ".join(heads) + " |"
    yield "| ---: |" + " ---: |" * len(order)
    for n in sorted({n for values in lines.values() for n in values}):
        cells = [
            time_text(lines[by][n]["seconds"] * 1e9) if n in lines[by] else "over the limit"
            for by in order
        ]
        yield f"| {n:,} | " + " | ".join(cells) + " |"
    growth = [
        f"n^{slope([(n, run['seconds']) for n, run in sorted(lines[by].items())]):.1f}"
        for by in order
    ]
    yield "| growth of the last step | " + " | ".join(growth) + " |"


def planning_table(measured, results):
    yield "| what | by | " + " | ".join(f"{n:,}" for n in SIZES) + " |"
    yield "| --- | --- |" + " ---: |" * len(SIZES)
    for what in Measured.whats(results):
        for by in measured.bys(what):
            yield (
                f"| {what} | {by} | "
                + " | ".join(time_text(measured.median(what, by, n)) for n in SIZES)
                + " |"
            )


def main():
    raw, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    runs = [json.loads(line) for line in (raw / "trim_messages.jsonl").read_text().splitlines()]
    (folder / "trim_messages.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))
    lines = by_line(runs)
    (folder / "trim_messages.svg").write_text(plot(lines))
    results = public_results(json.loads((raw / "compression.json").read_text()))
    write_results(results, folder / "planning.json")
    setup = (raw / "setup.txt").read_text()
    (folder / "setup.txt").write_text(setup)
    page = [
        "# Compression benchmarks",
        "",
        "Written by `scripts/bench-compression`; what is measured stands in [docs/compression-benchmarks.md](../../../docs/compression-benchmarks.md).",
        "",
        "```text",
        setup.rstrip(),
        "```",
        "",
        "## Trimming to half of the tokens, beside LangChain",
        "",
        *trim_table(lines),
        "",
        "## Planning and applying",
        "",
        *planning_table(Measured({"compression": results}), results),
        "",
    ]
    (folder / "summary.md").write_text("\n".join(page))
    print("\n".join(page))


if __name__ == "__main__":
    main()
