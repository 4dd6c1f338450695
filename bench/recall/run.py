#!/usr/bin/env python3
"""How much of the evidence a search brings back, beside SQLite's FTS5 with its defaults, FTS5 whose results bring their neighbours, and the last 20 messages.

    bench/recall/run.py build/release/undertext [FILE]      FILE: made by make.py; default: made now, with seed 23

All messages of each conversation are hidden (CLEAR), and every question is asked with the query `recall`.
Printed for each language: the share of evidence, averaged over questions, among the first 20 messages of the
answer, and within 4,000 tokens.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile

MESSAGES, TOKENS = 20, 4000


class Exec:
    def __init__(self, binary):
        self.process = subprocess.Popen(
            [binary, "exec"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask(self, line):
        self.process.stdin.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["ok"], answer
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def text_of(message):
    return message["content"]


def within(order, tokens, most=None, budget=None):
    taken, used = [], 0
    for ordinal in order:
        if most is not None and len(taken) == most:
            break
        if budget is not None and used + tokens[ordinal] > budget:
            break
        taken.append(ordinal)
        used += tokens[ordinal]
    return set(taken)


def with_neighbours(order, count):
    """Each result, the message before it and the one after it."""
    return list(
        dict.fromkeys(
            near for place in order for near in (place, place - 1, place + 1) if 0 <= near < count
        )
    )


def fts5(messages):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE f USING fts5(text)")
    db.executemany(
        "INSERT INTO f (rowid, text) VALUES (?, ?)",
        [(i + 1, text_of(m)) for i, m in enumerate(messages)],
    )

    def find(question):
        words = "".join(c if c.isalnum() else " " for c in question).split()
        match = " OR ".join('"%s"' % word for word in words)
        return [
            row[0] - 1
            for row in db.execute(
                "SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank LIMIT 500", (match,)
            )
        ]

    return find


def main():
    binary = sys.argv[1]
    if len(sys.argv) > 2:
        path = sys.argv[2]
    else:
        path = os.path.join(tempfile.mkdtemp(), "recall.jsonl")
        subprocess.run(
            [
                sys.executable,
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "make.py"),
                path,
            ],
            check=True,
        )
    shares = {}
    for line in open(path, encoding="utf-8"):
        given = json.loads(line)
        messages = given["messages"]
        engine = Exec(binary)
        for start in range(0, len(messages), 200):
            engine.ask({"operation": "APPEND", "messages": messages[start : start + 200]})
        counts = engine.ask({"query": "tokens", "perMessage": True})["result"]["messages"]
        tokens = [count["tokens"] if isinstance(count, dict) else count for count in counts]
        engine.ask({"operation": "CLEAR", "keepSystemMessage": False})
        find = fts5(messages)
        last = list(range(len(messages) - 1, -1, -1))
        for question in given["questions"]:
            evidence = set(question["evidence"])
            share = lambda found: len(evidence & found) / len(evidence)
            many = [
                o
                for unit in engine.ask(
                    {"query": "recall", "text": question["text"], "budgetTokens": 20000}
                )["result"]["units"]
                for o in unit["ordinals"]
            ]
            few = {
                o
                for unit in engine.ask(
                    {"query": "recall", "text": question["text"], "budgetTokens": TOKENS}
                )["result"]["units"]
                for o in unit["ordinals"]
            }
            plain = find(question["text"])
            near = with_neighbours(plain, len(messages))
            row = shares.setdefault(given["language"], [])
            row.append(
                (
                    share(set(many[:MESSAGES])),
                    share(few),
                    share(within(plain, tokens, most=MESSAGES)),
                    share(within(plain, tokens, budget=TOKENS)),
                    share(within(near, tokens, most=MESSAGES)),
                    share(within(near, tokens, budget=TOKENS)),
                    share(within(last, tokens, most=MESSAGES)),
                    share(within(last, tokens, budget=TOKENS)),
                )
            )
        engine.close()
    print(
        "| language | questions | recall, 20 messages | recall, 4,000 tokens | FTS5, 20 | FTS5, 4,000 | FTS5 with neighbours, 20 | the same, 4,000 | last 20 | last 4,000 |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for language, rows in shares.items():
        print(
            f"| {language} | {len(rows)} | "
            + " | ".join(f"{100 * sum(r[k] for r in rows) / len(rows):.1f} %" for k in range(8))
            + " |"
        )


if __name__ == "__main__":
    main()
