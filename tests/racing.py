#!/usr/bin/env python3
"""Several processes change one stored conversation at once; then it must be what some serial order of the acknowledged operations makes.

    [SEED=n] [STEPS=n] racing.py BINARY STORE [PROCESSES]

Each process sends random operations through `undertext exec`, some with the version they expect, all with an operation id, and now and then one that it
sent before. Versions give the order: the acknowledged operations, played in that order through one process in memory, must be answered with the same
versions and sums, and lead to the same conversation. Nothing acknowledged is missing, nothing is there twice, nothing was refused that has happened.
"""

import json
import os
import random
import subprocess
import sys
import threading


def operation(chance, version, number):
    kind = chance.choice(
        ["APPEND"] * 6 + ["INSERT", "DELETE", "REPLACE", "MARK", "START_BATCH", "ROLLBACK", "UNDO"]
    )
    message = {"role": chance.choice(["user", "assistant"]), "content": f"from {number}"}
    fields = {
        "APPEND": {"messages": [message] * chance.randint(1, 2)},
        "INSERT": {"position": 0, "messages": [message]},
        "DELETE": {"indices": [0]},
        "REPLACE": {"index": 0, "message": message},
        "MARK": {"indices": [0], "mark": "m"},
        "START_BATCH": {},
        "ROLLBACK": {"targetBatchIndex": 0},
        "UNDO": {},
    }[kind]
    if kind != "APPEND" or chance.randrange(3) == 0:
        fields["expectedVersion"] = version
    return {"operation": kind, **fields, "operationId": str(number)}


class Writer(threading.Thread):
    def __init__(self, command, seed, steps):
        super().__init__()
        self.command, self.chance, self.steps, self.seed = command, random.Random(seed), steps, seed
        self.acknowledged, self.problems, self.refused = [], [], 0

    def run(self):
        process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

        def ask(request):
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        version = 0
        for step in range(self.steps):
            if self.chance.randrange(4) == 0:
                version = ask({"query": "version"})["result"]
            if self.acknowledged and self.chance.randrange(10) == 0:
                request, first = self.chance.choice(self.acknowledged)
                again = ask(request)
                if again != first:
                    self.problems.append(
                        f"repeated, {request} was answered {again}, and {first} the first time"
                    )
                continue
            request = operation(self.chance, version, self.seed * 1000000 + step)
            answer = ask(request)
            if answer["ok"]:
                self.acknowledged.append((request, answer))
                version = answer["version"]
            elif answer["error"]["code"] in ("conflict", "invalid_argument", "not_found"):
                self.refused += 1
                version = ask({"query": "version"})["result"]
            else:
                self.problems.append(f"{request} was answered {answer}")
        process.stdin.close()
        process.wait()


def play(command, requests):
    text = "".join(json.dumps(request) + "\n" for request in requests)
    return [
        json.loads(line)
        for line in subprocess.run(
            command, input=text, capture_output=True, text=True
        ).stdout.splitlines()
    ]


def without_times(history):
    return [{k: v for k, v in entry.items() if k != "timestamp"} for entry in history["result"]]


def main(binary, store, processes=8):
    seed, steps = (
        int(os.environ.get("SEED", random.randrange(1 << 20))),
        int(os.environ.get("STEPS", 100)),
    )
    print(f"SEED={seed} STEPS={steps}, {processes} processes")
    stored = [
        binary,
        "exec",
        "--store",
        store,
        "--conversation",
        f"racing-{seed}-{os.getpid()}",
        "--checkpoint",
        "7",
    ]
    writers = [Writer(stored, seed * 100 + n, steps) for n in range(processes)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    problems = [problem for writer in writers for problem in writer.problems]
    acknowledged = sorted(
        (pair for writer in writers for pair in writer.acknowledged),
        key=lambda pair: pair[1]["version"],
    )
    versions = [answer["version"] for _, answer in acknowledged]
    if versions != list(range(1, len(versions) + 1)):
        problems.append("the versions of what was acknowledged are not 1, 2, 3 and so on")
    ends = [
        {"query": "history"},
        {"query": "state"},
        {"query": "messages", "all": True},
        {"query": "markMap"},
    ]
    serial = play([binary, "exec"], [request for request, _ in acknowledged] + ends)
    for (request, answer), again in zip(acknowledged, serial):
        if answer != again:
            problems.append(f"{request} was answered {answer}, and {again} in the serial order")
    for end, got, expected in zip(ends, play(stored, ends), serial[len(acknowledged) :]):
        if end["query"] == "history":
            got, expected = without_times(got), without_times(expected)
        if end["query"] != "state" and got != expected:
            problems.append(f"{end} differs from the serial order")
    for problem in problems[:10]:
        print(problem[:2000])
    refused = sum(writer.refused for writer in writers)
    print(
        f"{len(acknowledged)} operations acknowledged, {refused} refused, {len(problems)} problems"
    )
    return 1 if problems or not acknowledged or not refused else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
