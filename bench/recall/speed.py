#!/usr/bin/env python3
"""What recall costs: time of a query, size of the index, time of durable appends, indexing of an older store.

    bench/recall/speed.py query   UNDERTEXT [MESSAGES]             p50 and p99 of a query, and the size of the index
    bench/recall/speed.py appends UNDERTEXT OLDER [ROUNDS]         durable appends beside those of a release without an index
    bench/recall/speed.py index   UNDERTEXT OLDER [MEGABYTES]      `undertext index` on a store that OLDER wrote

Everything is in a folder of its own, which is deleted. The same seed makes the same conversations.
"""
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make  # noqa: E402
from run import Exec  # noqa: E402


class Stored(Exec):
    def __init__(self, binary, path, conversation="c"):
        self.process = subprocess.Popen([binary, "exec", "--store", "sqlite:" + path, "--conversation", conversation], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")


def conversation(count, words=make.EN, seed=23):
    messages, questions = make.dialogue(random.Random(seed), words, count, max(200, count // 200))
    return messages[:count], [question["text"] for question in questions]


def fill(engine, messages, step=500):
    for start in range(0, len(messages), step):
        engine.ask({"operation": "APPEND", "messages": messages[start:start + step]})


def index_share(path):
    db = sqlite3.connect("file:" + path + "?mode=ro", uri=True)
    return db.execute("SELECT coalesce(sum(length(bytes)), 0) FROM words").fetchone()[0]


def query(binary, folder, count):
    for name, words in (("English", make.EN), ("Chinese", make.ZH)):
        path = os.path.join(folder, name + ".db")
        messages, questions = conversation(count, words)
        engine = Stored(binary, path)
        fill(engine, messages)
        engine.ask({"operation": "CLEAR", "keepSystemMessage": False})
        engine.close()
        engine = Stored(binary, path)
        began = time.perf_counter()
        engine.ask({"query": "recall", "text": questions[0]})
        first = time.perf_counter() - began
        engine.ask({"query": "version"})
        times, empty = [], []
        for question in questions[:400]:
            began = time.perf_counter()
            engine.ask({"query": "version"})
            empty.append(time.perf_counter() - began)
            began = time.perf_counter()
            engine.ask({"query": "recall", "text": question, "budgetTokens": 4000})
            times.append(time.perf_counter() - began)
        engine.close()
        text = sum(len(message["content"].encode()) for message in messages)
        times.sort()
        print(f"{name}: {count} messages, {text} bytes of text; index {index_share(path) / text:.3f} of it; "
              f"p50 {1e3 * statistics.median(times):.2f} ms, p99 {1e3 * times[int(len(times) * 0.99)]:.2f} ms, "
              f"of which the protocol {1e3 * statistics.median(empty):.2f} ms; the first one {1e3 * first:.1f} ms")


def appends(binary, older, folder, rounds):
    messages, _ = conversation(2000)
    shares = []
    for n in range(rounds):
        times = {}
        for name, program in (("new", binary), ("old", older)) if n % 2 else (("old", older), ("new", binary)):
            engine = Stored(program, os.path.join(folder, f"{name}{n}.db"))
            began = time.perf_counter()
            for message in messages:
                engine.ask({"operation": "APPEND", "messages": [message]})
            times[name] = (time.perf_counter() - began) / len(messages)
            engine.close()
        shares.append(times["new"] / times["old"])
        print(f"round {n}: {1e6 * times['old']:.0f} µs without an index, {1e6 * times['new']:.0f} µs with one")
    print(f"median: {100 * (statistics.median(shares) - 1):+.1f} %")


def index(binary, older, folder, megabytes):
    path = os.path.join(folder, "old.db")
    rng = random.Random(23)
    engine, text, number = None, 0, 0
    while text < megabytes << 20:
        if engine:
            engine.close()
        engine = Stored(older, path, f"c{number}")
        messages, _ = make.coding(rng, 20000, 10)
        fill(engine, messages)
        text += sum(len(message["content"].encode()) for message in messages)
        number += 1
    engine.close()
    began = time.perf_counter()
    subprocess.run([binary, "index", "--store", "sqlite:" + path], check=True)
    took = time.perf_counter() - began
    print(f"{text / 2**20:.0f} MiB of text in {number} conversations: {took:.1f} s, index {index_share(path) / text:.3f} of the text")


def main():
    what, given = sys.argv[1], sys.argv[2:]
    folder = tempfile.mkdtemp(prefix="undertext-recall-", dir=os.environ.get("TMPDIR"))
    try:
        if what == "query":
            query(given[0], folder, int(given[1]) if len(given) > 1 else 100000)
        elif what == "appends":
            appends(given[0], given[1], folder, int(given[2]) if len(given) > 2 else 5)
        else:
            index(given[0], given[1], folder, int(given[2]) if len(given) > 2 else 1024)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
