#!/usr/bin/env python3
"""Random agent sessions through `undertext exec`, with a plain simulation of Anthropic's prompt cache as the provider.

    [SEED=n] [SESSIONS=n] prompt_cache_model.py BINARY

The simulation shares nothing with the engine: a request is a list of blocks (tools, system, messages); a marked block writes one entry, the
hash of everything up to it; a marked block reads the first entry found on the way back over at most 20 blocks, its own included.

Of every request with "cacheMarkers":"auto": at most four markers, on blocks that may have one; a turn that only appends reads all of the
request before; after an edit at least the longest earlier request that is still a prefix is read; and the query `cost` foretells what is read,
for these markers and for a client that marks the instructions and the end by itself, before operations are carried out as after them.
"""

import copy
import hashlib
import json
import os
import random
import subprocess
import sys

LOOKBACK = 20
TOOL_TOKENS = 700  # taken for each tool
MARKER = {"type": "ephemeral"}


class Engine:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "exec"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.lines = []

    def ask(self, **line):
        self.lines.append(json.dumps(line))
        self.process.stdin.write(self.lines[-1] + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def result(self, query, **line):
        answer = self.ask(query=query, **line)
        assert answer["ok"], answer
        return answer["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def blocks_of(request):
    """The blocks of a request in the provider's order: [role, block]."""
    content = lambda c: [{"type": "text", "text": c}] if isinstance(c, str) else c
    blocks = [["tools", tool] for tool in request.get("tools", [])]
    blocks += [["system", block] for block in content(request.get("system", []))]
    return blocks + [
        [m["role"], block] for m in request["messages"] for block in content(m["content"])
    ]


class Cache:
    """What the provider keeps."""

    def __init__(self):
        self.entries = set()
        self.sent = []  # the hash of each whole request

    def send(self, request):
        """How many blocks are read from the cache."""
        blocks = blocks_of(request)
        markers = [i + 1 for i, (_, block) in enumerate(blocks) if block.get("cache_control")]
        hashes = prefix_hashes(blocks)
        read = 0
        for marker in markers:
            for end in range(marker, max(marker - LOOKBACK, 0), -1):
                if hashes[end] in self.entries:
                    read = max(read, end)
                    break
        self.entries.update(hashes[marker] for marker in markers)
        self.sent.append(hashes[-1])
        return read


def prefix_hashes(blocks):
    digest, hashes = hashlib.sha256(), [""]
    for role, block in blocks:
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        digest.update(json.dumps([role, bare], sort_keys=True).encode())
        hashes.append(digest.hexdigest())
    return hashes


def may_be_marked(role, block):
    if role == "tools":
        return not block.get("defer_loading")
    if block["type"] == "text":
        return block["text"].strip() != ""
    return block["type"] in ("tool_use", "tool_result", "image", "document")


def block_count(message):
    content = message.get("content") or []
    return (1 if isinstance(content, str) else len(content)) + len(message.get("tool_calls", []))


class Session:
    def __init__(self, program, chance):
        self.chance, self.engine = chance, Engine(program)
        self.cache, self.own = (
            Cache(),
            Cache(),
        )  # with markers of the engine's, and of the client's own
        self.tools = [
            {"name": f"t{i}", "input_schema": {"type": "object"}}
            for i in range(chance.choice([0, 0, 1, 3]))
        ]
        self.profile = {
            "dialect": "anthropic",
            "thinking_bound": chance.random() < 0.3,
            "cache": {
                "kind": "breakpoints",
                "min": 0,
                "lookback": LOOKBACK,
                "write": 1.25,
                "read": 0.1,
            },
        }
        self.says_sent = chance.random() < 0.5
        self.calls = self.words = self.answers = 0
        self.sent_version = None
        self.last_blocks = []
        first = [{"role": "system", "content": self.text()}] if chance.random() < 0.7 else []
        self.pinned = len(first)
        self.change(operation="APPEND", messages=first + [{"role": "user", "content": self.text()}])
        self.change(operation="MARK", ordinals=[self.pinned], mark="pinned")

    def text(self):
        self.words += 1
        return f"{self.words} " + "lorem ipsum " * self.chance.randrange(1, 30)

    def change(self, **operation):
        answer = self.engine.ask(**operation)
        assert answer["ok"], (operation, answer)
        return answer

    def answer_and_go_on(self):
        """The model's answer, and what the agent sends next."""
        chance, calls = self.chance, []
        content = [{"type": "text", "text": self.text()} for _ in range(chance.choice([1, 1, 2]))]
        if chance.random() < 0.4:
            self.answers += 1
            content.insert(
                0, {"type": "thinking", "thinking": self.text(), "signature": f"s{self.answers}"}
            )
        if chance.random() < 0.6:
            calls = [f"c{self.calls + i}" for i in range(chance.choice([1, 1, 2, 3, 12, 25]))]
            self.calls += len(calls)
        content += [
            {"type": "tool_use", "id": call, "name": "f", "input": {"n": call}} for call in calls
        ]
        answer = [{"role": "assistant", "content": content}]
        if calls and chance.random() < 0.3:
            answer = [
                {
                    "role": "assistant",
                    "content": self.text(),
                    "tool_calls": [
                        {
                            "id": call,
                            "type": "function",
                            "function": {"name": "f", "arguments": "{}"},
                        }
                        for call in calls
                    ],
                }
            ]
        if calls and chance.random() < 0.5:
            turn = [
                {"role": "tool", "tool_call_id": call, "content": self.text()} for call in calls
            ]
        elif calls:
            turn = [
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": call, "content": self.text()}
                        for call in calls
                    ],
                }
            ]
        else:
            near = (
                LOOKBACK + chance.choice([-1, 0, 1]) - len(content)
            )  # as far as a marker at the end looks back, or not
            count = chance.choice([1, 2, near, near])
            turn = [
                {
                    "role": "user",
                    "content": self.text()
                    if count == 1
                    else [{"type": "text", "text": self.text()}] * count,
                }
            ]
        if chance.random() < 0.5:
            self.change(operation="APPEND", messages=answer + turn)
        else:
            self.change(operation="APPEND", messages=answer)
            self.change(operation="APPEND", messages=turn)

    def edit(self):
        """An operation for the view as it is, or nothing."""
        view = self.view()
        users = [
            i
            for i, m in enumerate(view)
            if i > self.pinned and m["role"] == "user" and isinstance(m["content"], str)
        ]
        kind = self.chance.choice(
            ["COMPRESS", "COMPRESS", "CLEAR", "REPLACE", "INSERT", "DELETE", "TRANSFORM", "UNDO"]
        )
        if kind == "COMPRESS":
            return {
                "operation": kind,
                "strategy": {"name": "smart_summary", "keep": self.chance.choice([2, 4, 8])},
            }
        if kind == "CLEAR":
            return {
                "operation": "COMPRESS",
                "strategy": {"name": "clear_tool_results", "keep": self.chance.choice([0, 1, 3])},
            }
        if kind == "UNDO":
            # Without its results a call is left open, and render makes results up: blocks that are in no message.
            return (
                {"operation": kind}
                if view[-1]["role"] == "user" and isinstance(view[-1]["content"], str)
                else None
            )
        if not users:
            return None
        index = self.chance.choice(users)
        if kind == "REPLACE":
            return {
                "operation": kind,
                "index": index,
                "message": {"role": "user", "content": self.text()},
            }
        if kind == "INSERT":
            return {
                "operation": kind,
                "position": index,
                "messages": [{"role": "user", "content": self.text()}],
            }
        if kind == "DELETE":
            return {"operation": kind, "indices": [index]}
        return {
            "operation": kind,
            "indices": [index],
            "replaceText": {"find": "lorem", "with": "ipsa"},
        }

    def view(self):
        return self.engine.ask(query="messages")["messages"]

    def cost(self, **arguments):
        arguments = {"overhead": TOOL_TOKENS * len(self.tools), "profile": self.profile} | arguments
        return self.engine.result("cost", **arguments)

    def maybe_edit(self):
        """Whether something was edited. What operations cost is known before they are carried out."""
        if self.chance.random() < 0.6:
            return False
        operation = self.edit()
        if operation is None:
            return False
        markers = self.chance.choice(["auto", "given"])
        before = self.engine.ask(
            query="cost",
            operations=[operation],
            cacheMarkers=markers,
            profile=self.profile,
            **{"from": self.sent_version},
        )
        answer = self.engine.ask(**operation)
        assert answer["ok"] == before["ok"], (operation, answer, before)
        assert answer["ok"] or answer["error"]["code"] != "invalid_argument", (operation, answer)
        if answer["ok"]:
            after = self.engine.result(
                "cost", cacheMarkers=markers, profile=self.profile, **{"from": self.sent_version}
            )
            assert before["result"] == after, (operation, before, after)
        return answer["ok"]

    def tokens_of(self, read):
        """Tokens of the first `read` blocks, which end with a message."""
        if read == 0:
            return 0
        tokens, read = TOOL_TOKENS * len(self.tools), read - len(self.tools)
        counts = [m["tokens"] for m in self.engine.result("tokens", perMessage=True)["messages"]]
        for message, count in zip(self.view(), counts):
            if read <= 0:
                break
            tokens, read = tokens + count, read - block_count(message)
        assert read == 0, "a marker stands within a message"
        return tokens

    def marked_by_client(self):
        request = self.engine.result("render", profile=self.profile)["request"]
        request["tools"] = copy.deepcopy(self.tools)
        blocks = [block for _, block in blocks_of(request)]
        assert not any("cache_control" in block for block in blocks)
        if isinstance(request.get("system"), str):
            request["system"] = [{"type": "text", "text": request["system"]}]
        for message in request["messages"]:
            if isinstance(message["content"], str):
                message["content"] = [{"type": "text", "text": message["content"]}]
        for block in (
            self.tools and request["tools"][-1],
            request.get("system") and request["system"][-1],
            request["messages"][-1]["content"][-1],
        ):
            if block:
                block["cache_control"] = MARKER
        return request

    def send(self, was_edited):
        sent = {"sentVersion": self.sent_version} if self.says_sent and self.sent_version else {}
        rendered = self.engine.result(
            "render",
            profile=self.profile,
            cacheMarkers="auto",
            request={"tools": self.tools},
            **sent,
        )
        request = {"tools": self.tools} | rendered["request"]
        blocks = blocks_of(request)
        marked = [(role, block) for role, block in blocks if "cache_control" in block]
        assert 1 <= len(marked) <= 4, marked
        assert all(
            may_be_marked(role, block) and block["cache_control"] == MARKER
            for role, block in marked
        ), marked
        plain = self.engine.result("render", profile=self.profile, **sent)["request"]
        hashes = prefix_hashes(blocks)
        assert prefix_hashes(blocks_of({"tools": self.tools} | plain)) == hashes, (
            "markers change nothing else"
        )
        whole = max(
            [end for end in range(len(hashes)) if hashes[end] in self.cache.sent], default=0
        )
        foretold = {}
        if self.sent_version:
            foretold = {
                m: self.cost(cacheMarkers=m, **{"from": self.sent_version})["reusable"]
                for m in ("auto", "given")
            }
        read, own = self.cache.send(request), self.own.send(self.marked_by_client())
        assert read >= whole, (read, whole)
        if self.last_blocks and not was_edited:
            assert read == len(self.last_blocks) - 1 and hashes[: read + 1] == self.last_blocks, (
                read,
                len(self.last_blocks),
            )
        if foretold and not rendered["findings"]:  # a repair makes blocks that are in no message
            assert foretold == {"auto": self.tokens_of(read), "given": self.tokens_of(own)}, (
                foretold,
                read,
                own,
            )
        self.last_blocks = hashes
        self.sent_version = self.engine.result("version")
        return read, len(blocks)

    def play(self):
        read = total = 0
        for _ in range(self.chance.randrange(4, 16)):
            was_edited = self.sent_version is not None and self.maybe_edit()
            if self.view()[-1]["role"] == "assistant":
                self.change(operation="APPEND", messages=[{"role": "user", "content": self.text()}])
            counts = self.send(was_edited)
            read, total = read + counts[0], total + counts[1]
            self.answer_and_go_on()
        self.engine.close()
        return read, total


def main():
    seed, sessions = int(os.environ.get("SEED", "1")), int(os.environ.get("SESSIONS", "100"))
    read = total = 0
    for number in range(seed, seed + sessions):
        session = Session(sys.argv[1], random.Random(number))
        try:
            counts = session.play()
        except BaseException:
            print(f"SEED={number} SESSIONS=1; the lines so far:")
            print("\n".join(session.engine.lines))
            raise
        read, total = read + counts[0], total + counts[1]
    print(
        f"seeds {seed} to {seed + sessions - 1}: of {total} blocks sent, {read} read from the cache"
    )


if __name__ == "__main__":
    main()
