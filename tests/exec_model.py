#!/usr/bin/env python3
"""Random operations through `undertext exec`, compared with the plain reference after every step.

    [SEED=n] [STEPS=n] exec_model.py BINARY [STORE]

With a store, such as sqlite:FOLDER/NAME.db, each conversation is kept in it, and the process is killed and started again every few lines.

After each operation: its answer, the view, the mark map, the stack, every snapshot, a random earlier version and a random query; at
the end of each conversation: its history, and the token sums against a recount. Operations that fail are part of it. A difference
is printed with the shortest list of operations found that still shows it.
"""

import json
import os
import random
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
from play_scenarios import differences
from reference import ROLES, Conversation

OPERATIONS_A_CONVERSATION = 150
WORDS = ["alpha", "beta", "Gamma", "δέλτα", "😀", "x\ny", '"q"', "tail"]
OFTEN = """APPEND APPEND APPEND APPEND APPEND INSERT REPLACE TRUNCATE CLEAR FILTER DELETE DELETE COMPRESS COMPRESS EXPAND EXPAND SHOW SHOW
MERGE SPLIT TRANSFORM START_BATCH END_BATCH ROLLBACK MARK MARK UNMARK UNDO REDO REDO REDO RESTORE""".split()
NOT_MODELLED = {
    "timestamp",
    "openedAt",
    "tokens",
    "message",
    "path",
    "byteOffset",
    "events",
    "restores",
}
LABELS = ["pinned", "pinned", "important", "m"]
STORE = sys.argv[2] if len(sys.argv) > 2 else None
conversations = 0


class Chance(random.Random):
    """Random requests that fit a conversation, or nearly."""

    def one_in(self, n):
        return self.randrange(n) == 0

    def some(self, things, most=3):
        things = list(things)
        return self.sample(things, self.randint(min(1, len(things)), min(most, len(things))))

    def text(self):
        return " ".join(self.choices(WORDS, k=self.randint(1, 4)))

    def message(self, c, role=None):
        role = role or self.choice(ROLES + ("user", "assistant", "developer"))
        m = {"role": role, "content": self.text()}
        if self.one_in(4):
            m["content"] = [
                {"type": "text", "text": self.text()} for _ in range(self.randint(1, 3))
            ]
            m["content"] += (
                [{"type": "image_url", "image_url": {"url": "beta"}}] if self.one_in(3) else []
            )
        c.calls = getattr(c, "calls", 0)
        if role == "assistant" and self.one_in(2):
            calls = [f"c{c.calls + i}" for i in range(self.randint(1, 3))]
            c.calls += len(calls)
            if self.one_in(3):
                m["content"] = [
                    {"type": "tool_use", "id": i, "name": "f", "input": {}} for i in calls
                ] + [{"type": "text", "text": "use"}]
            else:
                m["toolCalls"] = [
                    {"id": i, "function": {"name": "f", "arguments": "{}"}} for i in calls
                ]
                m["content"] = self.choice(["calling", "calling", None, m["content"]])
        elif role == "assistant" and self.one_in(2):
            m["content"] = [{"type": "reasoning", "summary": []}] + (
                [{"type": "text", "text": self.text()}] if self.one_in(3) else []
            )
        if role == "tool" and c.calls:
            m["toolCallId"] = self.call(c)
            m["content"] = self.choice([m["content"], ""])
        if role == "user" and c.calls and self.one_in(3):
            inner = self.choice([self.text(), [{"type": "text", "text": self.text()}]])
            m["content"] = [{"type": "tool_result", "tool_use_id": self.call(c), "content": inner}]
        optional = {
            "timestamp": self.randrange(1000),
            "id": f"m{self.randrange(99)}",
            "metadata": {"a": 1},
            "extra": [1, None],
        }
        m |= {name: value for name, value in optional.items() if self.one_in(5)}
        return m

    def call(self, c):
        """A call that no message answers yet, so that every result has one partner."""
        c.answered = getattr(c, "answered", set())
        free = [i for i in range(c.calls) if i not in c.answered] or [
            c.calls + 1000 + len(c.answered)
        ]
        number = self.choice(free)
        c.answered.add(number)
        return f"c{number}"

    def messages(self, c):
        messages = [self.message(c) for _ in range(self.randint(1, 3))]
        if self.one_in(60):
            self.flawed = True
            messages[-1]["content"] = self.choice([7, {}, True])
        return messages

    def place(self, length):
        return self.randint(0, length + 1) if self.one_in(8) else self.randrange(max(1, length))

    def names(self, c, most=3):
        view = c.state.view
        if self.one_in(25):
            self.flawed = True
            return self.choice(
                [
                    {},
                    {"indices": []},
                    {"indices": [len(view)]},
                    {"ordinals": [len(c.log)]},
                    {"indices": [0, 0]},
                    {"indices": [0], "ordinals": [0]},
                ]
            )
        self.flawed = not view
        if self.one_in(2):
            return {"ordinals": self.some(view if self.randrange(8) else range(len(c.log)), most)}
        return {"indices": self.some(range(len(view)), most)}

    def same_role(self, c):
        role = self.choice(ROLES)
        places = [i for i, o in enumerate(c.state.view) if c.log[o]["role"] == role]
        return self.sample(places, min(len(places), self.randint(2, 3))) or [0]

    def pairs(self):
        return (
            {"pairs": self.choice(["literal", "shrink", "grow", "grow"])} if self.one_in(2) else {}
        )

    def truncate(self, c):
        n = len(c.state.view)
        start = self.randint(0, n)
        self.flawed = self.one_in(12)  # may run backwards
        given = {
            "keepFirst": self.randint(n // 2, n + 1),
            "keepLast": self.randint(n // 2, n + 1),
            "removeFirst": self.randint(0, 4),
            "removeLast": self.randint(0, 4),
            "range": {"start": start // 3, "end": self.randint(0 if self.flawed else start, n + 2)},
            "role": self.choice(ROLES),
        }
        return {k: given[k] for k in self.some(given if self.one_in(6) else list(given)[:-1], 2)}

    def transform(self):
        replace = {"find": self.choice(WORDS + ["a"]), "with": self.choice(["", "z", "alpha beta"])}
        truncate = [
            {"maxChars": self.randint(0, 12)},
            {"maxChars": 3, "keep": "tail", "marker": "<"},
            {"maxChars": self.randint(0, 9), "keep": "both", "marker": "…"},
        ]
        return self.choice(
            [
                {"replaceText": replace},
                {"truncateText": self.choice(truncate)},
                {"setMetadata": {"a": 2, "b": [self.randrange(9)]}},
            ]
        )

    def operation(self, c):
        self.flawed = (
            False  # no more than one fault in an operation: which of two is named is not promised
        )
        view, top = c.state.view, len(c.state.batches) - 1
        name = self.choice(OFTEN)
        summaries = [i for i, o in enumerate(view) if o in c.stands_for]
        hidden = [o for o in range(len(c.log)) if c.can_return(view, o)]
        if (name in ("CLEAR", "FILTER") or len(view) < 3) and self.one_in(2):
            name = "APPEND"
        if (
            name == "REDO"
            and not c.undone
            or name == "EXPAND"
            and not summaries
            or name == "SHOW"
            and not hidden
        ) and self.randrange(8):
            name = "APPEND"
        if top > 8 or len(view) > 40:
            name = self.choice(["ROLLBACK", "END_BATCH", "TRUNCATE", "RESTORE"])
        batch = self.randint(0, top + self.one_in(20))
        boundary = self.randint(c.state.batches[-1].boundary, len(c.log) + self.one_in(5))
        arguments = {
            "APPEND": lambda: {"messages": self.messages(c)},
            "INSERT": lambda: {
                "messages": self.messages(c),
                "position": self.randint(0, len(view) + self.one_in(9) * (not self.flawed)),
            },
            "REPLACE": lambda: {"index": self.place(len(view)), "message": self.message(c)},
            "TRUNCATE": lambda: {**self.truncate(c), **self.pairs()},
            "CLEAR": lambda: self.choice([{}, {"keepSystemMessage": False}]),
            "FILTER": lambda: {
                **dict(
                    self.some(
                        [
                            ("roles", self.some(ROLES)),
                            ("contentContains", self.some(WORDS)),
                            ("contentExcludes", self.some(WORDS, 1)),
                        ],
                        2,
                    )
                ),
                **self.pairs(),
            },
            "DELETE": lambda: {**self.names(c), **self.pairs()},
            "COMPRESS": lambda: {
                **self.names(c, 5),
                **(
                    {"summary": self.message(c, self.choice(ROLES[:3]))}
                    if self.randrange(4)
                    else {}
                ),
            },
            "EXPAND": lambda: {
                "index": self.choice(summaries)
                if summaries and self.randrange(6)
                else self.place(len(view))
            },
            "SHOW": lambda: {
                "ordinals": self.some(hidden, 3)
                if hidden and self.randrange(9)
                else [self.place(len(c.log))]
            },
            "MERGE": lambda: {
                "indices": self.same_role(c),
                **({"separator": self.choice(["", " — "])} if self.one_in(2) else {}),
            },
            "SPLIT": lambda: {
                "index": self.place(len(view)),
                "at": sorted({self.randint(1, 6) for _ in range(self.randint(1, 2))}),
            },
            "TRANSFORM": lambda: {
                **(self.names(c) if self.randrange(3) else {"roles": self.some(ROLES, 1)}),
                **self.transform(),
            },
            "START_BATCH": lambda: {
                **({"boundary": boundary} if self.one_in(2) else {}),
                **({"hidePrior": True} if self.one_in(3) else {}),
            },
            "END_BATCH": lambda: {
                "targetBatch": batch,
                **({"carry": self.some(ROLES)} if self.randrange(3) else {}),
            },
            "ROLLBACK": lambda: {"targetBatchIndex": batch},
            "MARK": lambda: {**self.names(c), "mark": self.choice(LABELS)},
            "UNMARK": lambda: {**self.names(c), "mark": self.choice(LABELS)},
            "UNDO": dict,
            "REDO": dict,
            "RESTORE": lambda: {"version": self.randint(0, len(c.versions) - 1 + self.one_in(9))},
        }[name]()
        request = self.respelled({"operation": name, **arguments})
        if self.one_in(15) and not self.flawed:
            request["expectedVersion"] = len(c.versions) - 1 + self.choice([0, 0, 0, 1, -1])
        if self.one_in(10) and not self.flawed:
            request["operationId"] = f"i{self.randrange(30)}"
        if self.one_in(10):
            request["description"] = self.text()
        return request

    def respelled(self, op):
        """Now and then one of the older spellings."""
        name, rest = op["operation"].lower(), {k: v for k, v in op.items() if k != "operation"}
        if (
            name in ("truncate", "insert", "replace", "clear", "filter")
            and self.one_in(4)
            and "pairs" not in op
        ):
            return {"operation": name, name: rest}
        if name == "append" and self.one_in(4):
            return {
                "operation": "insert",
                **self.choice([{"data": op["messages"]}, {"insert": {"position": -1, **rest}}]),
            }
        if list(rest) == ["ordinals"] and name in ("delete", "compress") and self.one_in(2):
            return {"operation": name, "indices": op["ordinals"]}
        return op

    def request(self, c):
        return (
            [self.operation(c) for _ in range(self.randint(2, 4))]
            if self.one_in(12)
            else self.operation(c)
        )

    def query(self, c):
        name = self.choice(
            ["messages"] * 4
            + ["count", "uncompressed", "batchSnapshot", "diff", "blame", "version"]
        )
        version = self.randint(0, len(c.versions) - 1)
        fields = {
            "batchSnapshot": {"batchIndex": self.randrange(len(c.state.batches) + 1)},
            "diff": {"from": version, "to": self.randint(0, len(c.versions) - 1)},
            "blame": {"ordinal": self.randrange(len(c.log) + 1)},
        }.get(name, {})
        if name in ("messages", "count"):
            n = len(c.state.view)
            start = self.randint(0, n)
            filters = {
                "all": self.one_in(2),
                "atVersion": version,
                "atBatch": self.randrange(len(c.state.batches)),
                "role": self.choice(ROLES),
                "roles": self.some(ROLES),
                "from": self.randrange(1000),
                "to": self.randrange(1000),
                "marked": self.choice(LABELS),
                "contains": self.choice(WORDS),
                "start": start,
                "end": self.randint(start, n + 1),
                "first": self.randint(0, n + 1),
                "last": self.randint(0, n + 1),
            }
            fields = {k: filters[k] for k in self.some(filters, 4)}
        return {"query": name, **fields}


def script(operations, chance, pairs):
    """The operations with the checks between them: [(request, the reference's answer, how many operations came before it)]."""
    c, lines = Conversation(pairs), []
    given = 0

    def ask(request):
        answer = c.answer(request)
        lines.append((request, json.loads(json.dumps(answer)), given))

    for make in operations:
        request = make(c) if callable(make) else make
        given += 1
        ask(request)
        for query in (
            {"query": "messages"},
            {"query": "markMap"},
            {"query": "state"},
            {"query": "batches"},
            {"query": "messages", "atVersion": chance.randrange(len(c.versions))},
            chance.query(c),
        ):
            ask(query)
    ask({"query": "history"})
    ask({"query": "messages", "all": True})
    for ordinal in range(len(c.log)):
        ask({"query": "count", "all": True, "start": ordinal, "end": ordinal + 1})
    return lines, c


def modelled(value):
    """The value without what the reference does not model: the clock, tokens, and words for people."""
    if isinstance(value, dict):
        return {
            k: modelled(v)
            for k, v in value.items()
            if (k not in NOT_MODELLED or isinstance(v, (dict, list)))
            and (k, v) != ("description", None)
        }
    return [modelled(v) for v in value] if isinstance(value, list) else value


def compared(request, expected, got):
    """Where two answers differ, as sentences."""
    if (
        isinstance(request, dict)
        and request.get("query") == "diff"
        and expected["ok"]
        and got["ok"]
    ):
        for answer in (expected, got):  # several smallest sets of moved messages may exist
            answer["result"]["moved"] = len(answer["result"]["moved"])
    expected, got = modelled(expected), modelled(got)
    if (
        isinstance(request, list) and not expected["ok"]
    ):  # of several faults in a list any may be named
        expected = {"ok": False, "error": {"operationIndex": {"$type": "integer"}}}
    if not expected[
        "ok"
    ]:  # an error fits when the code is the same, and the field where the reference names one
        return list(differences(expected, got))
    return list(differences(expected, got)) or [
        "beyond what was expected: " + line for line in differences(got, expected)
    ]


def in_pieces(command, lines, chance):
    """The lines through one process after another, each killed as soon as it has answered; the last one ends by itself."""
    global conversations
    conversations += 1
    command = command + [
        "--store",
        STORE,
        "--conversation",
        f"c{os.getpid()}-{conversations}",
        "--checkpoint",
        str(chance.choice([1, 3, 20])),
    ]
    output, first = b"", 0
    while first < len(lines):
        piece = lines[first : first + chance.randint(1, 120)]
        first += len(piece)
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        feeding = threading.Thread(
            target=lambda: (process.stdin.write("".join(piece).encode()), process.stdin.flush())
        )
        feeding.start()
        answers = [process.stdout.readline() for _ in piece]
        feeding.join()
        output += b"".join(answers)
        if first < len(lines) and all(answers):
            process.kill()
            process.communicate()
            continue
        process.stdin.close()
        problem = process.stderr.read()
        return process.wait(), output, problem


def difference(binary, operations, seed, pairs):
    """None, or (what differs, how many operations it took)."""
    lines, c = script(operations, Chance(seed), pairs)
    text = "".join(json.dumps(request, ensure_ascii=False) + "\n" for request, _, _ in lines)
    command = [binary, "exec", "--config", json.dumps({"pairs": pairs})]
    if STORE:
        return_code, output, problem = in_pieces(command, text.splitlines(True), Chance(seed))
    else:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=120)
        return_code, output, problem = done.returncode, done.stdout, done.stderr
    answers = [json.loads(line) for line in output.splitlines()]
    for (request, expected, given), got in zip(lines, answers):
        found = compared(request, expected, got)
        if found:
            return "\n    ".join([json.dumps(request, ensure_ascii=False)] + found[:5]), given
    if len(answers) != len(lines) or return_code != 0:
        told = f"{len(lines)} requests, {len(answers)} answers, exit status {return_code}: {problem.decode()[-300:]}"
        return told, lines[min(len(answers), len(lines) - 1)][2]
    tokens = [answer["tokens"] for answer in answers[len(answers) - len(c.log) :]] if c.log else []
    history = answers[len(lines) - len(c.log) - 2]["result"]
    for entry, version in zip(history, c.versions):
        recount = sum(tokens[o] for o in version.state.view)
        if c.versions[entry.get("restores", entry["version"])].state != version.state:
            return (
                f"version {entry['version']} restores {entry['restores']}, which was another state",
                len(operations),
            )
        if entry["tokens"] != recount:
            return (
                f"tokens of version {entry['version']}: {entry['tokens']}, recounted {recount}",
                len(operations),
            )
    return None


def shortest(binary, operations, seed, pairs):
    """Operations taken away, as long as a difference remains."""
    size = len(operations) // 2
    while size:
        start, before = 0, len(operations)
        while start < len(operations):
            fewer = operations[:start] + operations[start + size :]
            found = difference(binary, fewer, seed, pairs)
            if found:
                operations = fewer[: found[1]]
            else:
                start += size
        size = size // 2 if len(operations) == before or size > 1 else 1
    return operations


def main(binary):
    seed, steps = (
        int(os.environ.get("SEED", random.randrange(1 << 31))),
        int(os.environ.get("STEPS", 3000)),
    )
    print(f"SEED={seed} STEPS={steps}")
    for first in range(0, steps, OPERATIONS_A_CONVERSATION):
        chance, given = Chance(seed + first), []

        def make(c):
            given.append(chance.request(c))
            return given[-1]

        pairs = chance.choice(["literal", "literal", "shrink", "grow"])
        found = difference(
            binary, [make] * min(OPERATIONS_A_CONVERSATION, steps - first), seed + first, pairs
        )
        if found:
            operations = shortest(binary, given[: found[1]], seed + first, pairs)
            found = difference(binary, operations, seed + first, pairs) or found
            print(
                f"With pairs {pairs}:",
                *(json.dumps(o, ensure_ascii=False) for o in operations),
                found[0],
                sep="\n",
            )
            print(
                f"0 passed, 1 failed (SEED={seed + first} STEPS={min(OPERATIONS_A_CONVERSATION, steps - first)})"
            )
            return 1
    print(f"{steps} steps agree\n1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
