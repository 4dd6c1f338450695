#!/usr/bin/env python3
"""No request that is rendered breaks a rule of its provider, whatever was edited.   requests_test.py UNDERTEXT [SDKS]

    [SEED=n] [CONVERSATIONS=n]

Random conversations, of clients of every dialect and in the engine's own form, are edited by every operation and rendered for every profile
through `undertext exec`. validator.py checks each request from the providers' published rules; with SDKS, a Python environment that has the
official packages (scripts/peers sdks), their types check the requests as well. Exits with 77, which means skipped, where SDKS is not there. A conversation that its provider takes and nobody
edited must not have a finding for its own dialect, and must break no rule in another.
"""

import collections
import json
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
from conversations import Conversations, as_json
from validator import ANTHROPIC, CHAT, GEMINI, PROFILES, RESPONSES, broken

SOURCES = [CHAT, RESPONSES, ANTHROPIC, GEMINI, "neutral"]


class Exec:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "exec"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.asked = []

    def ask(self, line):
        self.asked.append(line)
        self.process.stdin.write(as_json(line) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def result(self, line):
        answer = self.ask(line)
        assert answer["ok"], (line, answer)
        return answer["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Run:
    def __init__(self, program, typed):
        self.program, self.typed = program, typed
        self.requests = 0
        self.faults = []
        self.operations = collections.Counter()
        self.losses = collections.Counter()

    def conversation(self, seed):
        make = Conversations(random.Random(seed))
        source = SOURCES[seed % len(SOURCES)]
        engine = Exec(self.program)
        try:
            if source == "neutral":
                messages = make.neutral()
            else:
                body = make.body(source)
                wrong = broken(source, body)
                assert not wrong, (seed, body, wrong)
                messages = engine.result(
                    {"query": "importMessages", "dialect": source, "json": body}
                )["messages"]
            appended = engine.ask({"operation": "APPEND", "messages": messages})
            assert appended["ok"], (seed, messages, appended)
            self.render_all(engine, seed, "unedited", home=source)
            for _ in range(make.chance.randint(1, 6)):
                count, version = (
                    engine.ask({"query": "count"})["count"],
                    engine.result({"query": "version"}),
                )
                operation = make.edit(
                    count, version if isinstance(version, int) else version["version"]
                )
                if engine.ask(operation)["ok"]:
                    self.operations[operation["operation"]] += 1
            self.render_all(engine, seed, "edited")
        finally:
            engine.close()

    def render_all(self, engine, seed, state, home=None):
        for profile, (dialect, _) in PROFILES.items():
            rendered = engine.result({"query": "render", "profile": profile})
            self.requests += 1
            self.losses.update(loss["code"] for loss in rendered["losses"])
            for words in broken(profile, rendered["request"]):
                self.faults.append((seed, state, profile, words, rendered["request"]))
            if profile == home and rendered["findings"] and dialect != CHAT:
                self.faults.append(
                    (
                        seed,
                        state,
                        profile,
                        "a finding in what its provider takes: " + as_json(rendered["findings"]),
                        None,
                    )
                )
            if self.typed is not None:
                self.typed.append(
                    {
                        "seed": seed,
                        "state": state,
                        "profile": profile,
                        "dialect": dialect,
                        "request": rendered["request"],
                    }
                )


def types_refuse(python, requests):
    """What the types of the official packages have against the requests."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(
        [python, os.path.join(here, "sdk_types.py")],
        input="".join(as_json(r) + "\n" for r in requests),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(program, sdks=None):
    if sdks and not os.path.exists(os.path.join(sdks, "bin", "python")):
        print("skipped: sdks: the official packages are not there; scripts/peers sdks gets them")
        return 77
    first, count = (
        int(os.environ.get("SEED", 1)),
        int(os.environ.get("CONVERSATIONS", 60 if sdks else 200)),
    )
    run = Run(program, [] if sdks else None)
    for seed in range(first, first + count):
        run.conversation(seed)
    for seed, state, profile, words, request in run.faults[:6]:
        print(
            f"SEED={seed} CONVERSATIONS=1 ({state}) {profile}: {words}\n    {as_json(request)[:1500]}"
        )
    refused = types_refuse(os.path.join(sdks, "bin", "python"), run.typed) if sdks else []
    for one in refused[:10]:
        print(
            f"SEED={one['seed']} CONVERSATIONS=1 ({one['state']}) {one['profile']}: {one['error'][:800]}\n    {as_json(one['request'])[:1500]}"
        )
    kinds = collections.Counter(
        (profile, words.split(": ", 1)[1][:40]) for _, _, profile, words, _ in run.faults
    )
    for kind, times in kinds.most_common(40):
        print(times, kind)
    print(
        f"{count} conversations from seed {first}, {sum(run.operations.values())} operations of {len(run.operations)} kinds, "
        f"{run.requests} requests: {len(run.faults)} faults"
        + (
            f"; {len(run.typed)} requests against the SDKs' types: {len(refused)} faults"
            if sdks
            else ""
        )
    )
    return 1 if run.faults or refused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
