#!/usr/bin/env python3
"""Random messages in every format: what each API says of them is what they were made of.

    random_blocks.py BINARY [COUNT]

Blocks are chosen first and then spelled, each in a format that can say it, some of them twice; so what `{"query":"blocks"}` must answer is known without reading the message.
BINARY is any command that takes the arguments of `undertext`. SEED=n makes the same messages again; it is printed.
"""
import json
import os
import random
import subprocess
import sys

from play_scenarios import SECONDS_MAX, compact

WORDS = ["hello", "café 😀", 'a "quoted" word', "two\nlines", "x" * 40, "{}", "\\", "tool_use"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.number = 0

    def one_in(self, n):
        return self.random.randrange(n) == 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def text(self):
        return self.random.choice(WORDS)

    def id(self):
        self.number += 1
        return f"c{self.number}"

    def arguments(self):
        """As given, and as it is told: nothing and an empty text are no arguments."""
        value = self.pick({}, {"a": 1}, {"path": "a/b", "deep": [1.5, None, {"x": "y"}]}, '{"a":1}', "no json", "", None)
        return value, {} if value in ("", None) else value

    # Each answers (parts, members, blocks): what goes into the content, what beside it, and what must be read.

    def call(self):
        id, name = self.id(), self.pick("f", "look", "run.it")
        given, told = self.arguments()
        key = self.pick("arguments", "input", "args")
        block = {"kind": "call", "callId": id, "name": name, "arguments": told}
        fields = {} if given is None and self.one_in(2) else {key: given}
        part = {"type": "tool_use", "id": id, "name": name, **fields}
        nested = {"type": "tool_use", "tool_use": {"id": id, "name": name, **fields}}
        flat = {"id": id, "name": name, **fields}
        function = {"id": id, "type": "function", "function": {"name": name, **fields}}
        sdk = {"type": "tool-call", "toolCallId": id, "toolName": name, **fields}
        form = self.random.randrange(7)
        if form == 0:
            return [self.pick(part, nested, sdk)], {}, [block]
        if form == 1:
            return [part], {"toolCalls": [self.pick(flat, function)]}, [block]
        if form == 2:
            return [], {"toolCalls": [flat], "tool_calls": [function]}, [block]
        if form == 3:
            return [part], {"toolCalls": [flat], "tool_calls": [function]}, [block]
        return [], {self.pick("toolCalls", "tool_calls"): [self.pick(flat, function)]}, [block]

    def item(self):
        id = self.id()
        type, field, name = self.pick(("shell_call", "action", "shell"), ("local_shell_call", "action", "local_shell"), ("apply_patch_call", "operation", "apply_patch"),
                                      ("computer_call", "action", "computer"))
        value = self.pick({"commands": ["ls"]}, {"type": "exec"})
        block = {"kind": "call", "type": type, "callId": id, "name": name, "arguments": value}
        wrapped = {"type": "openai_responses", "item": {"type": type, "id": "i_" + id, "call_id": id, field: value}}
        return [self.pick(wrapped, {"type": type, "callId": id, field: value})], {}, [block]

    def said(self):
        text = self.text()
        return [{"type": self.pick("text", "input_text", "output_text"), "text": text}], {}, [{"kind": "text", "text": text}]

    def reasoning(self):
        text = self.text()
        form = self.pick({"type": "thinking", "thinking": text, "signature": "s"}, {"type": "reasoning", "text": text},
                         {"type": "reasoning", "item": {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": text}]}})
        return [form], {}, [{"kind": "reasoning", "text": text}]

    def image(self):
        form, told = self.pick(
            ({"type": "image_url", "image_url": {"url": "https://x/y.png"}}, {"source": "url", "data": "https://x/y.png"}),
            ({"type": "image", "image_url": {"url": "https://x/y.png"}}, {"source": "url", "data": "https://x/y.png"}),
            ({"type": "input_image", "image_url": "data:image/png;base64,AAAA"}, {"source": "base64", "data": "AAAA", "mime": "image/png"}),
            ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}, {"source": "base64", "data": "AAAA", "mime": "image/png"}),
            ({"type": "image", "source": {"type": "file", "file_id": "f1"}}, {"source": "file_id", "data": "f1"}))
        return [form], {}, [{"kind": "media", "media": "image", **told}]

    def strange(self):
        part = self.pick({"type": "novelty", "x": [1]}, {"no": "type"}, {"type": "note", "text": "n"})
        return [part], {}, [{"kind": "opaque", **({"type": part["type"]} if "type" in part else {}), "json": part}]

    def result_part(self):
        id, text = self.id(), self.text()
        many, failed = self.one_in(3), self.one_in(4)
        content = [{"type": "text", "text": text}, {"type": "text", "text": "more"}] if many else text
        blocks = [{"kind": "text", "text": text}] + ([{"kind": "text", "text": "more"}] if many else [])
        fields = {"tool_use_id": id, "content": content, **({"is_error": True} if failed else {})}
        block = {"kind": "result", "callId": id, **({"isError": True} if failed else {}), "blocks": blocks}
        return [self.pick({"type": "tool_result", **fields}, {"type": "tool_result", "tool_result": fields})], {}, [block]

    def assistant(self):
        parts, members, blocks, listed = [], {}, [], []
        for _ in range(1 + self.random.randrange(4)):
            more_parts, more_members, more_blocks = self.pick(self.call, self.call, self.said, self.reasoning, self.item, self.strange)()
            parts += more_parts
            for key, calls in more_members.items():
                members.setdefault(key, []).extend(calls)
            if more_parts:
                blocks += more_blocks
            elif "toolCalls" in more_members:
                listed.insert(sum(1 for _, key in listed if key == "toolCalls"), (more_blocks[0], "toolCalls"))
            else:
                listed.append((more_blocks[0], "tool_calls"))
        content = parts if parts else self.pick("", None)
        message = {"role": "assistant", "content": content, **members}
        return dict(self.shuffled(message)), blocks + [block for block, _ in listed]

    def shuffled(self, message):
        members = list(message.items())
        if self.one_in(3):
            self.random.shuffle(members)
        return members

    def user(self):
        if self.one_in(3):
            text = self.text()
            return {"role": "user", "content": text}, [{"kind": "text", "text": text}]
        parts, blocks = [], []
        for _ in range(1 + self.random.randrange(3)):
            more_parts, _, more_blocks = self.pick(self.said, self.image, self.result_part, self.strange)()
            parts += more_parts
            blocks += more_blocks
        return {"role": "user", "content": parts}, blocks

    def tool(self):
        if self.one_in(3):
            part, _, blocks = self.result_part()
            return {"role": "tool", "content": part}, blocks
        id, text = self.id(), self.text()
        content = self.pick(text, [{"type": "text", "text": text}])
        return {"role": "tool", self.pick("toolCallId", "tool_call_id"): id, "content": content}, [
            {"kind": "result", "callId": id, "blocks": [{"kind": "text", "text": text}]}]

    def message(self):
        return self.pick(self.assistant, self.assistant, self.user, self.tool)()


def main(binary, count="400", *_):
    seed = int(os.environ.get("SEED") or random.randrange(1 << 32))
    maker = Maker(seed)
    made = [maker.message() for _ in range(int(count) if count.isdigit() else 400)]
    lines = compact({"operation": "APPEND", "messages": [message for message, _ in made]}) + "\n" + compact({"query": "blocks"}) + "\n"
    done = subprocess.run([binary, "exec"], input=lines.encode(), stdout=subprocess.PIPE, timeout=SECONDS_MAX, check=True)
    appended, answer = (json.loads(line) for line in done.stdout.splitlines())
    if not appended["ok"]:
        sys.exit(f"SEED={seed}: {appended}")
    failed = 0
    for (message, blocks), told in zip(made, answer["result"], strict=True):
        if told["blocks"] == blocks:
            continue
        failed += 1
        print(f"SEED={seed}\n  of   {compact(message)}\n  told {compact(told['blocks'])}\n  made {compact(blocks)}")
    print(f"SEED={seed}")
    print(f"{len(made) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
