#!/usr/bin/env python3
"""Draws time against the number of messages, both axes logarithmic, from the files of bench/results.

plot.py RESULTS        writes RESULTS/edits.svg and RESULTS/queries.svg
"""

import json
import math
import sys
from html import escape
from pathlib import Path

from summary import PROGRAMS, Measured, SIZES

# What is drawn: a panel for each, and the lines that can be in it. The engine is drawn last, over the others.
EDITS = ["INSERT", "REPLACE", "DELETE", "APPEND", "TRUNCATE", "snapshot"]
QUERIES = [
    "k-th of a role",
    "all of a rare role",
    "count of a role in a range",
    "messages of 10 seconds",
    "tail within half the tokens",
    "index of an ordinal, 10 % inserted",
]
SUBTITLES = {
    "INSERT": "one message at a random place",
    "REPLACE": "one message at a random place",
    "DELETE": "one message at a random place",
    "APPEND": "one message",
    "TRUNCATE": "keep the last half",
    "snapshot": "a copy to keep",
    "k-th of a role": "its place",
    "all of a rare role": "the one system message",
    "count of a role in a range": "of a third of all, on average",
    "messages of 10 seconds": "ten messages",
    "tail within half the tokens": "where it begins",
    "index of an ordinal, 10 % inserted": "after n/10 inserts at random places",
}
COLOURS = {
    "engine": "#0b6e99",
    "deep copy": "#8c4a2f",
    "shared_ptr copy": "#c4772b",
    "handle copy": "#7d7d7d",
    "scan": "#c4772b",
    "reverse scan": "#7d7d7d",
    "binary search": "#7d7d7d",
}

COLUMNS = 3
PLOT_WIDTH, PLOT_HEIGHT = 200, 190
LABEL_WIDTH = 108  # to the right of a plot, for the names of its lines
LEFT, TOP = 58, 104  # of the first plot, in the picture
COLUMN_STEP = PLOT_WIDTH + LABEL_WIDTH + 14
ROW_STEP = PLOT_HEIGHT + 86
LABEL_STEP = 13  # labels stand at least so far apart
INK, FAINT, GRID, PAPER = "#22272b", "#636b72", "#e3e6e8", "#ffffff"


def power_text(exponent):
    """Of ten nanoseconds."""
    value, unit = 10 ** (exponent % 3), ["ns", "µs", "ms", "s"][exponent // 3]
    return f"{value} {unit}"


class Picture:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def text(self, x, y, content, size=12, colour=INK, anchor="start", weight="normal"):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(content)}</text>'
        )

    def line(self, x1, y1, x2, y2, colour, width=1.0):
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'
        )

    def curve(self, points, colour, width):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>'
        )
        for x, y in points:
            self.parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width + 0.6:.1f}" fill="{colour}"/>'
            )

    def svg(self, title):
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" '
            f"role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">\n<title>{escape(title)}</title>\n"
            f'<rect width="100%" height="100%" fill="{PAPER}"/>\n{body}\n</svg>\n'
        )


def spread(wanted, top, bottom):
    """Moves labels apart: places in the order of `wanted` (rising), at least LABEL_STEP from each other, between top and bottom."""
    places = []
    for y in wanted:
        places.append(max(y, places[-1] + LABEL_STEP if places else top))
    limit = bottom
    for i in reversed(range(len(places))):
        places[i] = min(places[i], limit)
        limit = places[i] - LABEL_STEP
    return places


def panel(picture, left, top, name, series, low, high, label_axis):
    """`series` is {line: {n: nanoseconds}}; low and high are powers of ten."""

    def x_of(n):
        return left + PLOT_WIDTH * (math.log10(n) - 3) / 3

    def y_of(ns):
        return top + PLOT_HEIGHT * (high - math.log10(ns)) / (high - low)

    picture.text(left, top - 26, name, 13.5, weight="600")
    picture.text(left, top - 11, SUBTITLES[name], 11, FAINT)
    for exponent in range(low, high + 1):
        y = y_of(10**exponent)
        picture.line(left, y, left + PLOT_WIDTH, y, GRID)
        if label_axis:
            picture.text(left - 8, y + 4, power_text(exponent), 11, FAINT, "end")
    for n in SIZES:
        picture.line(x_of(n), top, x_of(n), top + PLOT_HEIGHT, GRID)
        picture.text(
            x_of(n),
            top + PLOT_HEIGHT + 16,
            {1_000: "1k", 10_000: "10k", 100_000: "100k", 1_000_000: "1M"}[n],
            11,
            FAINT,
            "middle",
        )

    ends = []
    for line, values in sorted(series.items(), key=lambda item: item[0] == "engine"):
        points = [(x_of(n), y_of(ns)) for n, ns in values.items()]
        picture.curve(points, COLOURS[line], 2.4 if line == "engine" else 1.6)
        if SIZES[-1] in values:
            ends.append((points[-1][1], line))
        else:  # it stops early, and is named above its end
            picture.text(points[-1][0] - 5, points[-1][1] - 5, line, 11.5, COLOURS[line], "end")
    ends.sort()
    labels = spread([y for y, _ in ends], top, top + PLOT_HEIGHT)
    for (y, line), label_y in zip(ends, labels):
        right = left + PLOT_WIDTH
        picture.line(right + 4, y, right + 9, label_y, COLOURS[line], 0.8)
        picture.text(
            right + 12,
            label_y + 4,
            "Undertext" if line == "engine" else line,
            11.5,
            COLOURS[line],
            weight="700" if line == "engine" else "normal",
        )


def draw(measured, names, title, subtitle):
    series = {}
    for name in names:
        lines = {
            by: {n: measured.median(name, by, n) for n in SIZES if measured.median(name, by, n)}
            for by in COLOURS
        }
        series[name] = {by: values for by, values in lines.items() if values}
    everything = [
        ns for lines in series.values() for values in lines.values() for ns in values.values()
    ]
    low, high = math.floor(math.log10(min(everything))), math.ceil(math.log10(2 * max(everything)))
    rows = math.ceil(len(names) / COLUMNS)
    picture = Picture(LEFT + COLUMNS * COLUMN_STEP, TOP + rows * ROW_STEP - 32)
    picture.text(14, 26, title, 16, weight="600")
    picture.text(14, 44, subtitle, 12, FAINT)
    for i, name in enumerate(names):
        panel(
            picture,
            LEFT + i % COLUMNS * COLUMN_STEP,
            TOP + i // COLUMNS * ROW_STEP,
            name,
            series[name],
            low,
            high,
            i % COLUMNS == 0,
        )
    for column in range(COLUMNS):
        picture.text(
            LEFT + column * COLUMN_STEP + PLOT_WIDTH / 2,
            TOP + rows * ROW_STEP - ROW_STEP + PLOT_HEIGHT + 34,
            "messages in the conversation",
            11,
            FAINT,
            "middle",
        )
    return picture.svg(title)


def main():
    folder = Path(sys.argv[1])
    measured = Measured(
        {program: json.loads((folder / f"{program}.json").read_text()) for program in PROGRAMS}
    )
    (folder / "edits.svg").write_text(
        draw(
            measured,
            EDITS,
            "What an edit costs when every old version is kept",
            "CPU time of one operation against the length of the conversation; both axes logarithmic",
        )
    )
    (folder / "queries.svg").write_text(
        draw(
            measured,
            QUERIES,
            "What a question costs",
            "CPU time of one query against the length of the conversation; both axes logarithmic",
        )
    )


if __name__ == "__main__":
    main()
