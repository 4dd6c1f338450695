#!/usr/bin/env python3
"""What recall costs: time of a query, size of the index, time of durable appends, indexing of an older store.

    bench/recall/speed.py query   UNDERTEXT [MESSAGES]             p50 and p99 of a query, and the size of the index
    bench/recall/speed.py everywhere UNDERTEXT [CONVERSATIONS]     p50 and p99 over all conversations of a server (GET /v1/recall)
    bench/recall/speed.py appends UNDERTEXT OLDER [ROUNDS]         durable appends beside those of a release without an index
    bench/recall/speed.py index   UNDERTEXT OLDER [MEGABYTES]      `undertext index` on a store that OLDER wrote
    bench/recall/speed.py served  UNDERTEXT OLDER [MEGABYTES]      `undertext serve` on such a store, until its metrics say that all is indexed
    bench/recall/speed.py sizes   UNDERTEXT FILE                   the index beside the text, for each language of a FILE that make.py made

Everything is in a folder of its own, which is deleted. The same seed makes the same conversations.
Times are those of a clock, and those that the program was at work on a processor: on a machine with other work only the latter tell something.
"""

import json
import os
import http.client
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make
from run import Exec


def at_work(process):
    """Seconds that all threads of a process were on a processor."""
    folder = f"/proc/{process.pid}/task"
    return (
        sum(
            int(open(f"{folder}/{thread}/schedstat").read().split()[0])
            for thread in os.listdir(folder)
        )
        / 1e9
    )


class Measured:
    """Times of calls, by the clock and by the processor, in milliseconds."""

    def __init__(self, process):
        self.process, self.clock, self.worked = process, [], []

    def __call__(self, call):
        began, worked = time.perf_counter(), at_work(self.process)
        answer = call()
        self.clock.append(1e3 * (time.perf_counter() - began))
        self.worked.append(1e3 * (at_work(self.process) - worked))
        return answer

    def __str__(self):
        at = lambda times, share: sorted(times)[int(len(times) * share)]
        return (
            f"p50 {statistics.median(self.clock):.2f} ms, p99 {at(self.clock, 0.99):.2f} ms; "
            f"at work p50 {statistics.median(self.worked):.3f} ms, p99 {at(self.worked, 0.99):.3f} ms"
        )


class Stored(Exec):
    def __init__(self, binary, path, conversation="c"):
        self.process = subprocess.Popen(
            [binary, "exec", "--store", "sqlite:" + path, "--conversation", conversation],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )


def conversation(count, words=make.EN, seed=23):
    messages, questions = make.dialogue(random.Random(seed), words, count, max(200, count // 200))
    return messages[:count], [question["text"] for question in questions]


def fill(engine, messages, step=500):
    for start in range(0, len(messages), step):
        engine.ask({"operation": "APPEND", "messages": messages[start : start + step]})


def index_share(path):
    """Bytes of the index."""
    db = sqlite3.connect("file:" + path + "?mode=ro", uri=True)
    return db.execute("SELECT coalesce(sum(length(bytes)), 0) FROM words").fetchone()[0]


def fts5(path, messages, questions):
    """SQLite's FTS5 with its defaults, of the same messages, with the process's own sqlite3: p50, and the bytes of its index."""
    db = sqlite3.connect(path)
    db.execute("CREATE VIRTUAL TABLE f USING fts5(text, content='')")
    db.executemany(
        "INSERT INTO f (rowid, text) VALUES (?, ?)",
        [(i + 1, message["content"]) for i, message in enumerate(messages)],
    )
    db.commit()
    size = db.execute(
        "SELECT (SELECT sum(length(block)) FROM f_data) + (SELECT sum(length(sz)) FROM f_docsize)"
    ).fetchone()[0]
    times = []
    for question in questions:
        words = "".join(c if c.isalnum() else " " for c in question).split()
        match = " OR ".join('"%s"' % word for word in words)
        began = time.thread_time()
        db.execute(
            "SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank LIMIT 20", (match,)
        ).fetchall()
        times.append(time.thread_time() - began)
    return statistics.median(times), size


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
        times, empty, alone = (Measured(engine.process) for _ in range(3))
        ask = lambda text: engine.ask({"query": "recall", "text": text, "budgetTokens": 4000})
        for question in questions[:400]:
            empty(lambda: engine.ask({"query": "version"}))
            times(lambda: ask(question))
        if words is make.ZH:
            for question in questions[:100]:
                alone(lambda: ask(" ".join(question[:3])))
        engine.close()
        text = sum(len(message["content"].encode()) for message in messages)
        fts5_time, fts5_size = fts5(
            os.path.join(folder, name + ".fts.db"), messages, questions[:400]
        )
        print(
            f"{name}: {count} messages, {text} bytes of text; index {index_share(path) / text:.3f} of it; "
            f"{times}; of which the protocol {statistics.median(empty.worked):.3f} ms at work; the first one {1e3 * first:.1f} ms; "
            f"FTS5: p50 {1e3 * fts5_time:.3f} ms at work, index {fts5_size / text:.3f} of the text"
            + (f"; for three characters that stand alone {alone}" if alone.worked else "")
        )


class Served:
    def __init__(self, binary, path):
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--quiet", "--store", "sqlite:" + path],
            stdout=subprocess.PIPE,
            text=True,
        )
        address = self.process.stdout.readline().split("http://")[1].split()[0].strip("/")
        self.connection = http.client.HTTPConnection(address)

    def call(self, method, path, body=None):
        self.connection.request(
            method,
            path,
            json.dumps(body, ensure_ascii=False).encode() if body is not None else None,
            {"Content-Type": "application/json"} if body is not None else {},
        )
        answer = json.loads(self.connection.getresponse().read())
        assert answer["ok"], answer
        return answer

    def close(self):
        self.process.terminate()
        self.process.wait()


def everywhere(binary, folder, count):
    server = Served(binary, os.path.join(folder, "all.db"))
    rng = random.Random(23)
    text, questions = 0, []
    for number in range(count):
        messages, asked = make.dialogue(rng, make.EN, 40, 1)
        server.call("POST", "/v1/conversations", {"id": f"c{number}"})
        server.call(
            "POST",
            f"/v1/conversations/c{number}/operations",
            {"operation": "APPEND", "messages": messages},
        )
        text += sum(len(message["content"].encode()) for message in messages)
        if number % max(1, count // 400) == 0:
            questions.append((asked[0]["text"], f"c{number}"))
    ask = lambda question: server.call("GET", "/v1/recall?text=" + urllib.parse.quote(question))[
        "result"
    ]
    began = time.perf_counter()
    ask(questions[0][0])
    first = time.perf_counter() - began
    times, looks, empty = (Measured(server.process) for _ in range(3))
    right = 0
    for question, conversation in questions:
        empty(lambda: server.call("GET", "/v1/conversations?limit=1"))
        found = times(lambda: ask(question))["found"]
        right += any(each["conversation"] == conversation for each in found)
    for question, _ in questions[:10]:
        time.sleep(1.1)
        looks(lambda: ask(question))
    server.close()
    print(
        f"{count} conversations, {40 * count} messages, {text} bytes of text: {times}; of which the protocol "
        f"{statistics.median(empty.worked):.3f} ms at work; with a look for new messages {looks}; the first one {1e3 * first:.0f} ms; "
        f"the right conversation is among the first 20 messages for {right} of {len(questions)} questions"
    )


def appends(binary, older, folder, rounds):
    messages, _ = conversation(2000)
    shares = []
    for n in range(rounds):
        times = {}
        for name, program in (
            (("new", binary), ("old", older)) if n % 2 else (("old", older), ("new", binary))
        ):
            engine = Stored(program, os.path.join(folder, f"{name}{n}.db"))
            began = time.perf_counter()
            for message in messages:
                engine.ask({"operation": "APPEND", "messages": [message]})
            times[name] = (time.perf_counter() - began) / len(messages)
            engine.close()
        shares.append(times["new"] / times["old"])
        print(
            f"round {n}: {1e6 * times['old']:.0f} µs without an index, {1e6 * times['new']:.0f} µs with one"
        )
    print(f"median: {100 * (statistics.median(shares) - 1):+.1f} %")


def older_store(older, path, megabytes):
    """Conversations that a release without an index stored: how many, and bytes of their text."""
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
    return number, text


def index(binary, older, folder, megabytes):
    path = os.path.join(folder, "old.db")
    number, text = older_store(older, path, megabytes)
    began = time.perf_counter()
    subprocess.run([binary, "index", "--store", "sqlite:" + path], check=True)
    took = time.perf_counter() - began
    print(
        f"{text / 2**20:.0f} MiB of text in {number} conversations: {took:.1f} s, index {index_share(path) / text:.3f} of the text"
    )


def served(binary, older, folder, megabytes):
    path = os.path.join(folder, "old.db")
    number, text = older_store(older, path, megabytes)
    began = time.perf_counter()
    server = Served(binary, path)
    server.call("GET", "/v1/conversations?limit=1")  # the first call of a tenant begins it

    def metric(name):
        server.connection.request("GET", "/metrics")
        lines = server.connection.getresponse().read().decode().splitlines()
        return next(
            int(line.split()[1]) for line in lines if line.startswith(f"undertext_index_{name} ")
        )

    while metric("tenants_waiting"):
        time.sleep(0.1)
    took, worked, messages = (
        time.perf_counter() - began,
        at_work(server.process),
        metric("messages_total"),
    )
    server.close()
    print(
        f"{text / 2**20:.0f} MiB of text in {number} conversations: {messages} messages indexed in the background of a server in {took:.1f} s, "
        f"{worked:.1f} s of them at work, index {index_share(path) / text:.3f} of the text"
    )


def sizes(binary, folder, file):
    text, indexed = {}, {}
    for number, line in enumerate(open(file, encoding="utf-8")):
        given = json.loads(line)
        path = os.path.join(folder, f"{number}.db")
        engine = Stored(binary, path)
        for start in range(0, len(given["messages"]), 16):
            engine.ask({"operation": "APPEND", "messages": given["messages"][start : start + 16]})
        engine.close()
        language = given["language"]
        text[language] = text.get(language, 0) + sum(
            len(message["content"].encode()) for message in given["messages"]
        )
        indexed[language] = indexed.get(language, 0) + index_share(path)
    print("| language | bytes of text | index, of the text |")
    print("| --- | ---: | ---: |")
    for language in text:
        print(f"| {language} | {text[language]} | {indexed[language] / text[language]:.3f} |")


def main():
    what, given = sys.argv[1], sys.argv[2:]
    folder = tempfile.mkdtemp(prefix="undertext-recall-", dir=os.environ.get("TMPDIR"))
    try:
        if what == "query":
            query(given[0], folder, int(given[1]) if len(given) > 1 else 100000)
        elif what == "everywhere":
            everywhere(given[0], folder, int(given[1]) if len(given) > 1 else 10000)
        elif what == "appends":
            appends(given[0], given[1], folder, int(given[2]) if len(given) > 2 else 5)
        elif what == "served":
            served(given[0], given[1], folder, int(given[2]) if len(given) > 2 else 1024)
        elif what == "sizes":
            sizes(given[0], folder, given[1])
        else:
            index(given[0], given[1], folder, int(given[2]) if len(given) > 2 else 1024)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
