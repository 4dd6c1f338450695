#!/usr/bin/env python3
"""Turns what the benchmark programs wrote into the files of bench/results, and prints the table of targets.

    summary.py RAW RESULTS [PAGE]

RAW holds <program>.json as Google Benchmark writes it. RESULTS gets the same runs without the machine's name and paths, one to a
line, and summary.md. PAGE gets the table of targets between its two marks. Every figure is the median of the repetitions, in CPU time.
"""

import json
import statistics
import sys
from pathlib import Path

PROGRAMS = ["edits", "queries", "memory", "throughput"]
SIZES = [1_000, 10_000, 100_000, 1_000_000]
COLUMN_OF_SIZE = {1_000: "1,000", 10_000: "10,000", 100_000: "100,000", 1_000_000: "1,000,000"}
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
DROPPED_CONTEXT = {"host_name", "executable", "load_avg"}
KEPT_FIELDS = [
    "name",
    "repetition_index",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "items_per_second",
    "bytes_per_second",
    "bytes",
    "versions",
    "bytes_per_message",
]


def public_results(raw):
    """The runs of one program in the order of its source, without aggregates (medians are taken here) and without what tells where
    it ran."""
    runs = [run for run in raw["benchmarks"] if run["run_type"] == "iteration"]
    runs.sort(
        key=lambda run: (
            run["family_index"],
            run["per_family_instance_index"],
            run.get("repetition_index", 0),
        )
    )
    return {
        "context": {
            key: value for key, value in raw["context"].items() if key not in DROPPED_CONTEXT
        },
        "benchmarks": [{key: run[key] for key in KEPT_FIELDS if key in run} for run in runs],
    }


def write_results(results, path):
    runs = ",\n".join("    " + json.dumps(run) for run in results["benchmarks"])
    context = json.dumps(results["context"])
    path.write_text(f'{{\n  "context": {context},\n  "benchmarks": [\n{runs}\n  ]\n}}\n')


class Measured:
    """Medians by (what, by, n); n is None where the size is fixed."""

    def __init__(self, results_of_program):
        runs = {}
        for results in results_of_program.values():
            for run in results["benchmarks"]:
                what, by, *rest = run["name"].split("/")
                n = next((int(part[2:]) for part in rest if part.startswith("n:")), None)
                runs.setdefault((what, by, n), []).append(run)
        self.runs = runs

    def median(self, what, by, n=None, field="cpu_time"):
        """None when it was not measured. Times are in nanoseconds."""
        runs = self.runs.get((what, by, n))
        if not runs or field not in runs[0]:
            return None
        scale = NANOSECONDS[runs[0]["time_unit"]] if field == "cpu_time" else 1
        return statistics.median(run[field] for run in runs) * scale

    @staticmethod
    def whats(program_results):
        return list(
            dict.fromkeys(run["name"].split("/")[0] for run in program_results["benchmarks"])
        )

    def bys(self, what):
        return list(dict.fromkeys(by for (w, by, _) in self.runs if w == what))


# Numbers for people ------------------------------------------------------------------------------------------------------


def three_digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def time_text(ns):
    if ns is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{three_digits(ns / size)} {unit}"
    return f"{three_digits(ns)} ns"


def bytes_text(count):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{three_digits(count / size)} {unit}"
    return f"{three_digits(count)} B"


def times_text(ratio):
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.3g}×"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


# Targets -----------------------------------------------------------------------------------------------------------------


def target_rows(m):
    """(target, what was measured, the figure, met). `met` is None where no target was set: a figure one should know beside the others."""

    def at_least_100(what, by, baseline, is_target=True):
        mine, other = m.median(what, by, 100_000), m.median(what, baseline, 100_000)
        if mine is None or other is None:
            return
        ratio = other / mine
        figure = f"{times_text(ratio)} ({time_text(mine)}, {time_text(other)})"
        of = what + by.removeprefix("engine")
        yield (
            "≥ 100× faster at 100,000" if is_target else "(no target)",
            f"{of}; {baseline}",
            figure,
            ratio >= 100 if is_target else None,
        )

    edits = ["INSERT", "REPLACE", "DELETE"]
    for by in ["engine", "engine, tool ids"]:
        for edit in edits:
            yield from at_least_100(edit, by, "shared_ptr copy")
    for edit in edits:
        yield from at_least_100(edit, "engine", "one-thread shared_ptr copy", is_target=False)
    for edit in edits:
        small, large = m.median(edit, "engine", 1_000), m.median(edit, "engine", 1_000_000)
        if small and large:
            yield (
                "≤ 6× dearer at 1,000,000 than at 1,000",
                edit,
                f"{times_text(large / small)} ({time_text(small)}, {time_text(large)})",
                large / small <= 6,
            )
    for edit in ["INSERT", "REPLACE", "DELETE"]:
        with_ids, without = (
            m.median(edit, "engine, tool ids", 100_000),
            m.median(edit, "engine", 100_000),
        )
        if with_ids and without:
            yield (
                "≤ 1.3× dearer with tool ids at 100,000",
                edit,
                f"{times_text(with_ids / without)} ({time_text(without)}, {time_text(with_ids)})",
                with_ids / without <= 1.3,
            )
    for what in ["FILTER of users", "FILTER of tools"]:
        time = m.median(what, "engine, tool ids", 100_000)
        if time:
            yield ("≤ 10 ms at 100,000", what + ", tool ids", time_text(time), time <= 10e6)
    for what, by in [
        ("ROLLBACK after TRUNCATE", "engine, tool ids"),
        ("RESTORE after TRUNCATE", "engine, tool ids"),
        ("diff of neighbours", "engine"),
        ("blame of a message", "engine"),
        ("marks of a message", "engine"),
    ]:
        small, large = m.median(what, by, 1_000), m.median(what, by, 100_000)
        if small and large:
            yield (
                "≤ 6× dearer at 100,000 than at 1,000",
                what + by.removeprefix("engine"),
                f"{times_text(large / small)} ({time_text(small)}, {time_text(large)})",
                large / small <= 6,
            )
    if time := m.median("diff of neighbours", "engine", 100_000):
        yield ("≤ 20 µs at 100,000", "diff of neighbours", time_text(time), time <= 20e3)
    for by in ["engine", "engine, tool ids"]:
        size = m.median("1,000 versions", by, field="bytes")
        if size is None:
            continue
        yield (
            "≤ 8 MB",
            "1,000 versions of 100,000 messages" + by.removeprefix("engine"),
            bytes_text(size),
            size <= 8e6,
        )
    for question in [
        "k-th of a role",
        "all of a rare role",
        "last 3 of a role",
        "count of a role in a range",
        "messages of 10 seconds",
        "count in 1 % of the time",
        "tail within 8k tokens",
        "tail within 128k tokens",
        "tail within half the tokens",
    ]:
        yield from at_least_100(question, "engine", "scan")
    for question, by in [
        ("last 3 of a role", "reverse scan"),
        ("tail within 8k tokens", "reverse scan"),
        ("tail within 128k tokens", "reverse scan"),
        ("tail within half the tokens", "reverse scan"),
        ("count in 1 % of the time", "binary search"),
    ]:
        yield from at_least_100(question, "engine", by, is_target=False)
    for what in ["read all", "read all, 2,000 edits"]:
        ratios = {
            n: m.median(what, "engine", n) / m.median(what, "vector<Message>", n)
            for n in SIZES
            if m.median(what, "engine", n) and m.median(what, "vector<Message>", n)
        }
        for n, ratio in ratios.items():
            is_target = what == "read all"
            yield (
                "≤ 2× a vector of the same handles" if is_target else "(no target)",
                f"{what}; {COLUMN_OF_SIZE[n]}",
                times_text(ratio),
                ratio <= 2 if is_target else None,
            )
    for by in ["engine", "engine, a REPLACE first", "engine, tool ids"]:
        size = m.median("bookkeeping a message", by, field="bytes_per_message")
        if size is None:
            continue
        yield (
            "≤ 150 bytes",
            "bookkeeping a message" + by.removeprefix("engine"),
            f"{size:.0f} bytes",
            size <= 150,
        )
    for what in ["APPEND 1 an operation", "APPEND 10 an operation"]:
        for by in ["engine", "engine, tool ids"]:
            rate = m.median(what, by, field="items_per_second")
            if rate is None:
                continue
            yield (
                "≥ 500,000 messages/s",
                what + by.removeprefix("engine"),
                f"{rate:,.0f}/s",
                rate >= 500_000,
            )


def targets_table(m):
    word = {True: "yes", False: "**no**", None: "–"}
    rows = [[target, what, figure, word[met]] for target, what, figure, met in target_rows(m)]
    return table(["target", "measured", "result", "met"], rows).replace(
        "| ---: | ---: | ---: |", "| --- | --- | --- |", 1
    )


# The page ----------------------------------------------------------------------------------------------------------------


def times_by_size(m, results):
    rows = []
    for what in m.whats(results):
        for by in m.bys(what):
            cells = [time_text(m.median(what, by, n)) for n in SIZES]
            rows.append(
                [f"**{what}**, {by}" if by.startswith("engine") else f"{what}, {by}", *cells]
            )
    return table(["", *(f"n = {COLUMN_OF_SIZE[n]}" for n in SIZES)], rows)


def memory_tables(m):
    versions = [
        [by, bytes_text(m.median("1,000 versions", by, field="bytes"))]
        for by in m.bys("1,000 versions")
    ]
    books = [
        [by, f"{m.median('bookkeeping a message', by, field='bytes_per_message'):.0f} bytes"]
        for by in m.bys("bookkeeping a message")
    ]
    return (
        table(["1,000 kept versions of 100,000 messages, beyond the messages", "bytes"], versions)
        + "\n\n"
        + table(["each of 100,000 messages, beyond its JSON", "bytes"], books)
    )


def throughput_table(m, results):
    rows = [
        [
            what,
            by,
            f"{m.median(what, by, field='items_per_second'):,.0f}",
            f"{m.median(what, by, field='bytes_per_second') / 1e6:,.0f} MB/s",
        ]
        for what in m.whats(results)
        for by in m.bys(what)
    ]
    return table(["", "by", "messages a second", "JSON"], rows)


def summary(m, results, setup):
    return f"""# Benchmark results

Written by `scripts/bench`; what is measured and how stands in [docs/benchmarks.md](../../docs/benchmarks.md). Times are CPU time, medians
of the repetitions; the raw numbers lie beside this file.

```text
{setup.strip()}
```

## Targets

{targets_table(m)}

## Edits, every old version kept

![time against n for the edits](edits.svg)

{times_by_size(m, results["edits"])}

## Queries

![time against n for the queries](queries.svg)

{times_by_size(m, results["queries"])}

## Memory

{memory_tables(m)}

## Throughput, messages of 600 bytes on one core

{throughput_table(m, results["throughput"])}
"""


def quote(content, page):
    begin, end = "<!-- targets: written by scripts/bench -->\n", "<!-- end of targets -->"
    text = page.read_text()
    before, after = text[: text.index(begin) + len(begin)], text[text.index(end) :]
    page.write_text(f"{before}\n{content}\n\n{after}")


def main():
    raw_folder, results_folder, *pages = map(Path, sys.argv[1:])
    results = {
        program: public_results(json.loads((raw_folder / f"{program}.json").read_text()))
        for program in PROGRAMS
    }
    for program, content in results.items():
        write_results(content, results_folder / f"{program}.json")
    m = Measured(results)
    (results_folder / "summary.md").write_text(
        summary(m, results, (results_folder / "setup.txt").read_text())
    )
    for page in pages:
        quote(targets_table(m), page)
    print(targets_table(m))


if __name__ == "__main__":
    main()
