#!/usr/bin/env python3
"""Draws docs/demo.svg, the README's picture of `undertext demo`.   make_demo_svg.py UNDERTEXT [--check] [--all] [--output FILE]

Plays the demo in a terminal of 100 columns and turns what came out, colours included, into a picture of a window. Blocks and lines
are drawn as shapes, so that they join whatever font the reader has. --check compares with the file instead of writing it, --all
takes every scene.
"""

import argparse
import html
import os
import pathlib
import pty
import re
import subprocess
import sys
import unicodedata

SCENES = (6, 8)
COLUMNS = 100
CELL, LINE, MARGIN, BAR_TOP = (
    8.43,
    20,
    24,
    44,
)  # pixels; CELL is the advance of the usual monospaced fonts at 14 pixels
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
GROUND, FRAME, TEXT = "#16181d", "#2a2e37", "#d7dae0"
EIGHTHS = {"░": 8, **{c: i + 1 for i, c in enumerate("▏▎▍▌▋▊▉█")}}
ARMS = {"─": "lr", "│": "ud", "├": "udr", "┴": "lru", "┬": "lrd", "╭": "dr", "╰": "ur", "╯": "ul"}


def play(undertext):
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment.update(COLUMNS=str(COLUMNS), TERM="xterm-256color")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [undertext, "demo", "--no-wait"], stdin=subprocess.DEVNULL, stdout=theirs, env=environment
    ) as process:
        os.close(theirs)
        out = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end has been closed
                break
            if not piece:
                break
            out += piece
        os.close(ours)
    if process.returncode != 0:
        sys.exit(f"{undertext} demo: exit status {process.returncode}")
    return out.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def color_256(n):
    if n >= 232:
        return "#" + f"{8 + 10 * (n - 232):02x}" * 3
    if n < 16:
        sys.exit(f"colour {n} depends on the reader's terminal")
    levels = (0, 95, 135, 175, 215, 255)
    n -= 16
    return "#" + "".join(f"{levels[i]:02x}" for i in (n // 36, n // 6 % 6, n % 6))


def characters(line):
    """(character, cells, colour, background, bold) of one line with its escape codes."""
    color, ground, bold = TEXT, None, False
    for codes, character in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
        if character:
            yield (
                character,
                2 if unicodedata.east_asian_width(character) in "WF" else 1,
                color,
                ground,
                bold,
            )
            continue
        codes = [int(c) for c in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                color, ground, bold = TEXT, None, False
            elif code == 1:
                bold = True
            else:
                (_, n), codes = codes[:2], codes[2:]
                color, ground = (color_256(n), ground) if code == 38 else (color, color_256(n))


def shape(character, x, y, color):
    """The SVG of a line or dot whose cell begins at x, y; None when it is drawn as text."""
    middle, centre = y + LINE / 2, x + CELL / 2
    if character == "●":
        return f'<circle fill="{color}" cx="{centre:.2f}" cy="{middle}" r="3.6"/>'
    if character in ARMS:
        ends = {
            "l": (x, middle),
            "r": (x + CELL, middle),
            "u": (centre, y),
            "d": (centre, y + LINE),
        }
        points = [ends[arm] for arm in ARMS[character]]
        if character in "╭╰╯":
            (a, b), (c, d) = points
            path = f"M{a:.2f} {b:g}Q{centre:.2f} {middle:g} {c:.2f} {d:g}"
        else:
            path = "".join(f"M{centre:.2f} {middle:g}L{a:.2f} {b:g}" for a, b in points)
        return f'<path fill="none" stroke="{color}" stroke-width="1.4" d="{path}"/>'
    return None


def draw_line(line, y):
    out, bars, run = [], [], None  # a run: characters of one style, drawn together

    def end_run():
        if run and run["text"].strip():
            text, cells = (
                run["text"].rstrip(),
                run["cells"] - (len(run["text"]) - len(run["text"].rstrip())),
            )
            weight = ' font-weight="700"' if run["bold"] else ""
            fill = "" if run["color"] == TEXT else f' fill="{run["color"]}"'
            place = f'x="{run["x"]:.2f}" y="{y + 14.5:g}" textLength="{cells * CELL:.2f}"'
            out.append(f"<text {place}{fill}{weight}>{html.escape(text, quote=False)}</text>")

    column = 0
    for character, cells, color, ground, bold in characters(line):
        x = MARGIN + column * CELL
        if ground:
            out.append(
                f'<rect x="{x:.2f}" y="{y + 1}" width="{cells * CELL + 0.3:.2f}" height="{LINE - 2}" fill="{ground}"/>'
            )
        filled = EIGHTHS.get(character, 0) / 8 * CELL
        if (
            filled
            and bars
            and bars[-1]["end"] == column
            and bars[-1]["style"] == (color, character == "░")
        ):
            bars[-1].update(end=column + 1, width=bars[-1]["width"] + filled)
        elif filled:
            bars.append(
                {"x": x, "end": column + 1, "width": filled, "style": (color, character == "░")}
            )
        drawn = filled or shape(character, x, y, color)
        style = (color, bold, cells)
        if (
            drawn
            or not run
            or run["style"] != style
            or (character == " " and run["text"].endswith(" "))
        ):
            end_run()
            run = None
        if drawn:
            out += [drawn] if not filled else []
        elif run:
            run["text"] += character
            run["cells"] += cells
        elif character != " ":
            run = {
                "x": x,
                "text": character,
                "cells": cells,
                "color": color,
                "bold": bold,
                "style": style,
            }
        column += cells
    end_run()
    for piece in bars:
        color, light = piece["style"]
        opacity = ' fill-opacity=".35"' if light else ""
        place = f'x="{piece["x"]:.2f}" y="{y + 4}" width="{piece["width"]:.2f}" height="{LINE - 8}"'
        out.append(f'<rect {place} fill="{color}"{opacity}/>')
    return out


def picture(lines):
    width, height = round(2 * MARGIN + COLUMNS * CELL), BAR_TOP + len(lines) * LINE + MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "<title>undertext demo: old messages compressed and expanded again, and the timeline of all versions</title>",
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10" fill="{GROUND}" stroke="{FRAME}"/>',
    ]
    out += [
        f'<circle cx="{22 + 18 * i}" cy="20" r="5.5" fill="{c}"/>'
        for i, c in enumerate(("#e0645c", "#dfb14f", "#62b562"))
    ]
    out.append(f'<g font-family="{FONT}" font-size="14" fill="{TEXT}" xml:space="preserve">')
    out.append(
        f'<text x="{width / 2:g}" y="25" text-anchor="middle" font-size="13" fill="#808690">undertext demo</text>'
    )
    for number, line in enumerate(lines):
        out += draw_line(line, BAR_TOP + number * LINE)
    return "\n".join(out + ["</g>", "</svg>", ""])


def chosen(lines, scenes):
    kept, scene, wanted = [], 0, False
    for line in lines:
        plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if begins := re.match(r" (\d)   \S", plain):
            scene = int(begins[1])
        if plain.strip() == "Now you:":
            break
        wanted = scene in scenes
        if wanted and (kept or plain.strip()):
            kept.append(line)
    while not kept[-1].strip():
        kept.pop()
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("undertext")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument(
        "--output", type=pathlib.Path, default=pathlib.Path(__file__).with_name("demo.svg")
    )
    options = parser.parse_args()
    lines = play(options.undertext)
    svg = picture(lines if options.all else chosen(lines, SCENES))
    if not options.check:
        options.output.write_text(svg)
    elif options.output.read_text() != svg:
        sys.exit(
            f"{options.output} is not what `undertext demo` shows; draw it again with {sys.argv[0]} {options.undertext}"
        )


if __name__ == "__main__":
    main()
