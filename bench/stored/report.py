#!/usr/bin/env python3
"""Turns what scripts/bench-conversations measured into the files of bench/results/conversations.

    report.py RAW RESULTS

RAW holds turns.jsonl, langgraph.jsonl, growth.jsonl, open.jsonl and setup.txt. RESULTS gets them, a page of tables, and two plots.
"""

import json
import math
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plot import FAINT, GRID, Picture

OURS, THEIRS = "#0b6e99", "#c4772b"
PAYLOAD = 1000  # bytes of text a turn
WIDTH, HEIGHT, LEFT, TOP, STEP = 230, 190, 70, 92, 330


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def bytes_text(n):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n:.0f} B"


def panel(picture, left, title, subtitle, lines, unit):
    """`lines` is [(name, colour, [(x, y)])]; both axes are logarithmic."""
    xs = [x for _, _, points in lines for x, _ in points]
    ys = [y for _, _, points in lines for _, y in points]
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys) * 1.01))
    high = max(high, low + 2)  # so that noise does not look like growth

    def x_of(x):
        return left + WIDTH * math.log(x / min(xs)) / math.log(max(xs) / min(xs))

    def y_of(y):
        return TOP + HEIGHT * (high - math.log10(y)) / (high - low)

    picture.text(left, TOP - 26, title, 13.5, weight="600")
    picture.text(left, TOP - 11, subtitle, 11, FAINT)
    for exponent in range(low, high + 1):
        picture.line(left, y_of(10**exponent), left + WIDTH, y_of(10**exponent), GRID)
        picture.text(left - 8, y_of(10**exponent) + 4, unit(10**exponent), 11, FAINT, "end")
    for x in sorted(set(xs)):
        picture.line(x_of(x), TOP, x_of(x), TOP + HEIGHT, GRID)
        label = f"{x / 1e6:.3g}M" if x >= 1e6 else f"{x / 1e3:.3g}k" if x >= 1e3 else str(x)
        picture.text(x_of(x), TOP + HEIGHT + 16, label, 10, FAINT, "middle")
    for name, colour, points in lines:
        picture.curve([(x_of(x), y_of(y)) for x, y in points], colour, 2.2)
        if name:
            y = y_of(points[-1][1])
            picture.text(
                x_of(points[-1][0]),
                y - 8 if y > TOP + 20 else y + 18,
                name,
                11.5,
                colour,
                "end",
                "700",
            )


def milliseconds(y):
    return f"{y:g} ms" if y < 1000 else f"{y / 1000:g} s"


def growth_plot(growth):
    picture = Picture(LEFT + 4 * STEP - 60, TOP + HEIGHT + 50)
    picture.text(
        14,
        26,
        "One stored conversation as it grows: messages, and an edit for every ten",
        16,
        weight="600",
    )
    picture.text(14, 44, "SQLite, durable; every version kept; both axes logarithmic", 12, FAINT)
    names = [
        (
            "file",
            "bytes a message stored",
            lambda g: g["bytes"] / g["messages"],
            lambda y: bytes_text(y),
        ),
        ("open", "and read the last 50 messages", lambda g: g["open_ms"], milliseconds),
        ("edit", "REPLACE at a random place", lambda g: g["edit_ms"], milliseconds),
        ("append", "one message", lambda g: g["append_ms"], milliseconds),
    ]
    for k, (title, subtitle, value, unit) in enumerate(names):
        panel(
            picture,
            LEFT + k * STEP,
            title,
            subtitle,
            [("", OURS, [(g["messages"], value(g)) for g in growth])],
            unit,
        )
        picture.text(
            LEFT + k * STEP + WIDTH / 2, TOP + HEIGHT + 36, "messages stored", 11, FAINT, "middle"
        )
    return picture.svg("One stored conversation as it grows")


def turns_plot(ours, theirs):
    picture = Picture(LEFT + 2 * STEP - 60, TOP + HEIGHT + 50)
    picture.text(14, 26, "A turn of two messages of half a kilobyte, stored", 16, weight="600")
    picture.text(
        14,
        44,
        "Undertext on SQLite beside LangGraph's SQLite checkpointer; both axes logarithmic",
        12,
        FAINT,
    )
    for k, (title, key, unit) in enumerate(
        (("bytes a turn", "bytes_a_turn", bytes_text), ("time a turn", "ms_a_turn", milliseconds))
    ):
        lines = [
            ("LangGraph", THEIRS, [(t["turn"], t[key]) for t in theirs]),
            ("Undertext", OURS, [(t["turn"], t[key]) for t in ours]),
        ]
        panel(picture, LEFT + k * STEP, title, "since the measurement before", lines, unit)
        picture.text(
            LEFT + k * STEP + WIDTH / 2, TOP + HEIGHT + 36, "turns stored", 11, FAINT, "middle"
        )
    return picture.svg("A turn of two messages of half a kilobyte, stored")


def report(ours, theirs, growth, opened, setup):
    yield "# Stored conversations\n"
    yield "Measured by the programs that `scripts/bench-conversations` runs; how they were compiled stands below.\n"
    yield "```\n" + setup.strip() + "\n```\n"
    yield "## A turn of two messages of half a kilobyte, beside LangGraph's SQLite checkpointer\n"
    yield "| turns | bytes a turn | LangGraph | fewer by | ms a turn | LangGraph | faster by |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for a, b in zip(ours, theirs):
        yield (
            f"| {a['turn']} | {a['bytes_a_turn']:,.0f} | {b['bytes_a_turn']:,.0f} | {b['bytes_a_turn'] / a['bytes_a_turn']:,.0f}x | "
            f"{a['ms_a_turn']:.3f} | {b['ms_a_turn']:.1f} | {b['ms_a_turn'] / a['ms_a_turn']:,.0f}x |"
        )
    a, b = ours[-1], theirs[-1]
    yield f"\nStored in all after {a['turn']} turns: {bytes_text(a['bytes'])}, LangGraph {bytes_text(b['bytes'])}.\n"
    limit = 1.5 * PAYLOAD + 400
    yield f"To reach: at most {limit:,.0f} bytes a turn (1.5 times the text and 400 bytes). The last {a['bytes_a_turn']:,.0f}.\n"
    yield "![bytes and time a turn](turns.svg)\n"
    yield "## One conversation of a million messages and a hundred thousand edits\n"
    yield "| messages | versions | file | bytes a message | edit | append | open and read 50 |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for g in growth:
        yield (
            f"| {g['messages']:,} | {g['versions']:,} | {bytes_text(g['bytes'])} | {g['bytes'] / g['messages']:.0f} | {g['edit_ms']:.2f} ms | "
            f"{g['append_ms']:.2f} ms | {g['open_ms']:.1f} ms |"
        )
    yield "\nMedians of 100 edits and appends, each durable by itself. Bodies are 235 bytes of JSON.\n"
    times = sorted(o["open_ms"] for o in opened)
    memory = max(o["resident_kb"] for o in opened) / 1024
    yield (
        f"A new process that opens the last of these ({opened[0]['messages']:,} messages) and reads its last 50: {times[len(times) // 2]:.1f} ms "
        f"(median of {len(times)}, longest {times[-1]:.1f}), {memory:.1f} MB resident at most.\n"
    )
    yield "![growth](growth.svg)"


def main(raw, results):
    results.mkdir(parents=True, exist_ok=True)
    ours, theirs, growth, opened = (
        read(raw / f"{name}.jsonl") for name in ("turns", "langgraph", "growth", "open")
    )
    for name in ("turns.jsonl", "langgraph.jsonl", "growth.jsonl", "open.jsonl", "setup.txt"):
        shutil.copy(raw / name, results / name)
    (results / "turns.svg").write_text(turns_plot(ours, theirs))
    (results / "growth.svg").write_text(growth_plot(growth))
    (results / "summary.md").write_text(
        "\n".join(report(ours, theirs, growth, opened, (raw / "setup.txt").read_text())) + "\n"
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
