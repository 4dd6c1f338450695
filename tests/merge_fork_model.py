#!/usr/bin/env python3
"""Random operations on a conversation and its forks, with merges between, compared with the plain reference after every step.

    [SEED=n] [STEPS=n] merge_fork_model.py BINARY

Every conversation has a process of its own over one SQLite file; forks are made by `undertext fork`.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
binary = sys.argv[1]
sys.argv[2:] = []
from exec_model import Chance, compared
from reference import Conversation

STEPS_A_STORE = 120


class Served:
    """A stored conversation behind `undertext exec`."""

    def __init__(self, store, id, chance):
        self.process = subprocess.Popen(
            [
                binary,
                "exec",
                "--store",
                store,
                "--conversation",
                id,
                "--checkpoint",
                str(chance.choice([1, 3, 20])),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, request):
        self.process.stdin.write(json.dumps(request, ensure_ascii=False) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


def merge(chance, model):
    """A merge of one of the forks, with a fault now and then."""
    id = chance.choice(list(model.forks))
    fork, mode = model.forks[id], chance.choice(["summary", "summary", "messages", "pick"])
    request = {"operation": "MERGE_FORK", "from": id if chance.randrange(12) else "nobody"}
    request |= {"mode": mode} if mode != "summary" or chance.one_in(2) else {}
    if mode == "summary":
        request["summary"] = {"role": "user", "content": "what the fork did: " + chance.text()}
    if mode == "pick":
        own = range(fork.base, len(fork.log))
        request["ordinals"] = (
            chance.some(own, 4)
            if own and chance.randrange(8)
            else [chance.randrange(len(fork.log) + 2)]
        )
    return request


def walk(seed, steps, folder):
    chance, store = Chance(seed), f"sqlite:{folder}/{seed}.db"
    model, served = Conversation(), {"p": Served(store, "p", chance)}

    def both(id, request):
        told = (model if id == "p" else model.forks[id]).answer(request)
        found = compared(request, json.loads(json.dumps(told)), served[id].ask(request))
        if found:
            raise AssertionError(
                "\n    ".join(
                    [
                        f"SEED={seed} STEPS={steps}",
                        f"{id}: {json.dumps(request, ensure_ascii=False)}",
                    ]
                    + found[:5]
                )
            )

    for step in range(steps):
        id = "p"
        if step > 3 and chance.one_in(8) and len(model.forks) < 8:
            id = f"f{len(model.forks)}"
            subprocess.run(
                [binary, "fork", "--store", store, "p", id], check=True, stdout=subprocess.DEVNULL
            )
            model.fork(id)
            served[id] = Served(store, id, chance)
        elif model.forks and chance.one_in(3):
            both("p", merge(chance, model))
        else:
            id = chance.choice(["p", *model.forks, *model.forks])
            target = model if id == "p" else model.forks[id]
            summaries = [i for i, o in enumerate(target.state.view) if o in target.merged]
            expand = id == "p" and summaries and chance.one_in(2)
            both(
                id,
                {"operation": "EXPAND", "index": chance.choice(summaries)}
                if expand
                else chance.operation(target),
            )
        for request in (
            {"query": "messages"},
            {"query": "messages", "all": True},
            {"query": "batches"},
        ):
            both(id, request)
    for id in served:
        both(id, {"query": "history"})
    ended = [each.end() for each in served.values()]
    checked = subprocess.run([binary, "check", "--store", store], capture_output=True, text=True)
    if any(ended) or checked.returncode:
        raise AssertionError(
            f"SEED={seed} STEPS={steps}: exit statuses {ended}; check: {checked.stdout}{checked.stderr}"
        )


def main():
    seed, steps = (
        int(os.environ.get("SEED", random.randrange(1 << 31))),
        int(os.environ.get("STEPS", 360)),
    )
    print(f"SEED={seed} STEPS={steps}")
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, steps, STEPS_A_STORE):
            walk(seed + first, min(STEPS_A_STORE, steps - first), folder)
    print(f"{steps} steps agree\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
