#!/usr/bin/env python3
"""Random messages in every format: what each API says of them is what they were made of.

    random_blocks.py BINARY [COUNT]

Blocks are chosen first and then spelled, each in a format that can say it, some of them twice; so what `{"query":"blocks"}` must answer is known without reading the message.
Messages are appended in every form that a conversation may be given; then whole lists of Gemini, Anthropic and the Responses API are sent as requests of a client.
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
        value = self.pick(
            {},
            {"a": 1},
            {"path": "a/b", "deep": [1.5, None, {"x": "y"}]},
            '{"a":1}',
            "no json",
            "",
            None,
        )
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

    def custom(self):
        id, name, text = self.id(), self.pick("p", "patch"), self.text()
        block = {"kind": "call", "callId": id, "name": name, "arguments": text}
        listed = {"id": id, "type": "custom", "custom": {"name": name, "input": text}}
        return [], {self.pick("toolCalls", "tool_calls"): [listed]}, [block]

    def placed(self, item):
        """An item of the Responses API in a message: as a part, or whole, as import keeps it."""
        return [self.pick(item, {"type": "openai_responses", "item": item})]

    def item(self):
        item, block = self.call_item()
        if "call_id" in item and self.one_in(3):  # as the Agents SDK has it
            return (
                [{"callId" if key == "call_id" else key: value for key, value in item.items()}],
                {},
                [block],
            )
        return self.placed(item), {}, [block]

    def call_item(self):
        """A call of each type that the Responses API has, and what is read of it."""
        id, name, text = self.id(), self.pick("f", "look"), self.text()
        arguments = self.pick("{}", '{"a":1}', "no json")
        own = {"id": "i_" + id}
        value = self.pick({"commands": ["ls"]}, {"type": "exec"})
        # type, whether the API wants an id of its own, fields, what is read besides
        client = {
            "function_call": (
                {"name": name, "arguments": arguments},
                {"name": name, "arguments": arguments},
            ),
            "custom_tool_call": ({"name": name, "input": text}, {"name": name, "arguments": text}),
            "shell_call": (
                {"action": value},
                {"type": "shell_call", "name": "shell", "arguments": value},
            ),
            "local_shell_call": (
                {"action": value},
                {"type": "local_shell_call", "name": "local_shell", "arguments": value},
            ),
            "apply_patch_call": (
                {"operation": value},
                {"type": "apply_patch_call", "name": "apply_patch", "arguments": value},
            ),
            "computer_call": (
                {"action": value},
                {"type": "computer_call", "name": "computer", "arguments": value},
            ),
        }
        hosted = {
            "web_search_call": ({"action": value}, {"name": "web_search", "arguments": value}),
            "file_search_call": (
                {"queries": [text], "results": [{"text": text}]},
                {
                    "name": "file_search",
                    "arguments": [text],
                    "blocks": [{"kind": "text", "text": text}],
                },
            ),
            "code_interpreter_call": (
                {"code": text, "container_id": "c", "outputs": [{"type": "logs", "logs": text}]},
                {
                    "name": "code_interpreter",
                    "arguments": text,
                    "blocks": [{"kind": "text", "text": text}],
                },
            ),
            "image_generation_call": (
                {"result": "AAAA"},
                {"name": "image_generation", "arguments": {}},
            ),
            "mcp_call": self.pick(
                (
                    {"name": name, "arguments": arguments, "server_label": "s", "output": text},
                    {
                        "name": name,
                        "arguments": arguments,
                        "blocks": [{"kind": "text", "text": text}],
                    },
                ),
                (
                    {
                        "name": name,
                        "arguments": arguments,
                        "server_label": "s",
                        "error": {"message": text},
                    },
                    {
                        "name": name,
                        "arguments": arguments,
                        "isError": True,
                        "blocks": [{"kind": "text", "text": text}],
                    },
                ),
            ),
            "mcp_list_tools": (
                {"tools": [{"name": name}], "server_label": "s"},
                {"name": "mcp_list_tools", "arguments": [{"name": name}]},
            ),
        }
        named = {  # by the provider, and answered by an item
            "tool_search_call": ({"arguments": value}, {"name": "tool_search", "arguments": value}),
            "program": ({"code": text}, {"name": "program", "arguments": text}),
            "novel_call": (
                {"name": name, "arguments": arguments},
                {"name": name, "arguments": arguments},
            ),
        }
        kinds = self.pick(client, client, hosted, hosted, named)
        type = self.pick(*kinds)
        fields, told = kinds[type]
        if kinds is client:
            return {"type": type, **own, "call_id": id, **fields}, {
                "kind": "call",
                "callId": id,
                **told,
            }
        if kinds is named:
            return {"type": type, **own, "call_id": id, **fields}, {
                "kind": "call",
                "type": type,
                "callId": id,
                "byProvider": True,
                **told,
            }
        if self.one_in(6):
            return (
                {
                    "type": "mcp_approval_request",
                    "id": id,
                    "server_label": "s",
                    "name": name,
                    "arguments": arguments,
                },
                {
                    "kind": "call",
                    "type": "mcp_approval_request",
                    "callId": id,
                    "name": name,
                    "arguments": arguments,
                    "byProvider": True,
                },
            )
        return {"type": type, **own, "status": "completed", **fields}, {
            "kind": "call",
            "type": type,
            "byProvider": True,
            **told,
        }

    def output_item(self):
        """The same of results."""
        id, text = self.id(), self.text()
        said = [{"kind": "text", "text": text}]
        image = {
            "kind": "media",
            "media": "image",
            "source": "base64",
            "data": "AAAA",
            "mime": "image/png",
        }
        screenshot = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"}
        plain = self.pick(
            (text, said),
            (
                [
                    {"type": "input_text", "text": text},
                    {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
                ],
                [*said, image],
            ),
        )
        type, fields, told = self.pick(
            ("function_call_output", {"output": plain[0]}, {"blocks": plain[1]}),
            ("custom_tool_call_output", {"output": plain[0]}, {"blocks": plain[1]}),
            (
                "shell_call_output",
                {
                    "output": [
                        {"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
                    ]
                },
                {"type": "shell_call_output", "blocks": said},
            ),
            (
                "local_shell_call_output",
                {"output": text},
                {"type": "local_shell_call_output", "blocks": said},
            ),
            (
                "apply_patch_call_output",
                {"status": "failed", "output": text},
                {"type": "apply_patch_call_output", "isError": True, "blocks": said},
            ),
            (
                "apply_patch_call_output",
                {"status": "completed", "output": text},
                {"type": "apply_patch_call_output", "blocks": said},
            ),
            (
                "computer_call_output",
                {"output": screenshot},
                {"type": "computer_call_output", "blocks": [image]},
            ),
            (
                "tool_search_output",
                {"tools": [{"name": "x"}]},
                {
                    "type": "tool_search_output",
                    "byProvider": True,
                    "blocks": [{"kind": "opaque", "json": {"name": "x"}}],
                },
            ),
            (
                "program_output",
                {"result": text},
                {"type": "program_output", "byProvider": True, "blocks": said},
            ),
            (
                "mcp_approval_response",
                {"approve": True, "reason": text},
                {"type": "mcp_approval_response", "byProvider": True, "blocks": said},
            ),
            (
                "novel_call_output",
                {"output": text},
                {"type": "novel_call_output", "byProvider": True, "blocks": said},
            ),
        )
        key = {"local_shell_call_output": "id", "mcp_approval_response": "approval_request_id"}.get(
            type, "call_id"
        )
        return {"type": type, key: id, **fields}, {"kind": "result", "callId": id, **told}

    def output(self):
        item, block = self.output_item()
        return self.placed(item), {}, [block]

    def server(self):
        """A tool of Anthropic's servers, and what it found, in one message."""
        id, text, value = self.id(), self.text(), self.pick({}, {"query": "q"})
        found = {"type": "web_search_result", "url": "https://x", "title": text}
        ran = {"type": "code_execution_result", "stdout": text, "stderr": "", "return_code": 0}
        used, name, answer, fields, told = self.pick(
            (
                "server_tool_use",
                "web_search",
                "web_search_tool_result",
                {"content": [found]},
                [{"kind": "opaque", "type": "web_search_result", "json": found}],
            ),
            (
                "server_tool_use",
                "code_execution",
                "code_execution_tool_result",
                {"content": ran},
                [{"kind": "opaque", "json": ran}],
            ),
            (
                "mcp_tool_use",
                "look",
                "mcp_tool_result",
                {"is_error": False, "content": [{"type": "text", "text": text}]},
                [{"kind": "text", "text": text}],
            ),
        )
        call = {
            "type": used,
            "id": id,
            "name": name,
            "input": value,
            **({"server_name": "s"} if used == "mcp_tool_use" else {}),
        }
        return (
            [call, {"type": answer, "tool_use_id": id, **fields}],
            {},
            [
                {
                    "kind": "call",
                    "type": used,
                    "callId": id,
                    "name": name,
                    "arguments": value,
                    "byProvider": True,
                },
                {
                    "kind": "result",
                    "type": answer,
                    "callId": id,
                    "byProvider": True,
                    "blocks": told,
                },
            ],
        )

    def key(self, name):
        """Gemini takes both spellings."""
        return (
            name
            if self.one_in(2)
            else "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
        )

    def gemini_media(self):
        form, told = self.pick(
            (
                {self.key("inlineData"): {self.key("mimeType"): "image/png", "data": "AAAA"}},
                {"media": "image", "source": "base64", "data": "AAAA", "mime": "image/png"},
            ),
            (
                {
                    self.key("fileData"): {
                        self.key("mimeType"): "video/mp4",
                        self.key("fileUri"): "gs://v",
                    }
                },
                {"media": "video", "source": "url", "data": "gs://v", "mime": "video/mp4"},
            ),
        )
        return form, {"kind": "media", **told}

    def gemini_said(self):
        text = self.text()
        return self.pick(
            ({"text": text}, {"kind": "text", "text": text}),
            (
                {"text": text, "thought": True, self.key("thoughtSignature"): "s"},
                {"kind": "reasoning", "text": text},
            ),
        )

    def gemini_call(self):
        id, name, value = (
            self.id(),
            self.pick("f", "run.it"),
            self.pick({}, {"a": 1}, {"deep": [1.5, None, {"x": "y"}]}),
        )
        call = {"id": id, "name": name, **({"args": value} if value or self.one_in(2) else {})}
        signed = {self.key("thoughtSignature"): "s"} if self.one_in(3) else {}
        return {self.key("functionCall"): call, **signed}, {
            "kind": "call",
            "callId": id,
            "name": name,
            "arguments": value,
        }

    def gemini_server(self):
        text, code = self.text(), {"language": "PYTHON", "code": "1+1"}
        call, answer = self.key("executableCode"), self.key("codeExecutionResult")
        return self.pick(
            (
                {call: code},
                {
                    "kind": "call",
                    "type": call,
                    "name": "code_execution",
                    "arguments": code,
                    "byProvider": True,
                },
            ),
            (
                {answer: {"outcome": "OUTCOME_OK", "output": text}},
                {
                    "kind": "result",
                    "type": answer,
                    "name": "code_execution",
                    "byProvider": True,
                    "blocks": [{"kind": "text", "text": text}],
                },
            ),
        )

    def gemini_response(self):
        id, name, text = self.id(), self.pick("f", "run.it"), self.text()
        said = [{"kind": "text", "text": text}]
        response, told = self.pick(
            ({"output": text}, {"blocks": said}),
            ({"error": text}, {"isError": True, "blocks": said}),
            ({"rows": [1, text]}, {"blocks": [{"kind": "opaque", "json": {"rows": [1, text]}}]}),
        )
        return {self.key("functionResponse"): {"id": id, "name": name, "response": response}}, {
            "kind": "result",
            "callId": id,
            "name": name,
            **told,
        }

    def gemini(self):
        """A part of Gemini, as import keeps what no other form has a place for."""
        part, block = self.pick(self.gemini_said, self.gemini_call, self.gemini_server)()
        return [{"type": "gemini", "item": part}], {}, [block]

    def gemini_given(self):
        part, block = self.pick(self.gemini_media, self.gemini_response)()
        return [{"type": "gemini", "item": part}], {}, [block]

    def said(self):
        text = self.text()
        return (
            [{"type": self.pick("text", "input_text", "output_text"), "text": text}],
            {},
            [{"kind": "text", "text": text}],
        )

    def reasoning(self):
        text = self.text()
        form = self.pick(
            {"type": "thinking", "thinking": text, "signature": "s"},
            {"type": "reasoning", "text": text},
            {
                "type": "reasoning",
                "item": {
                    "type": "reasoning",
                    "id": "rs",
                    "summary": [{"type": "summary_text", "text": text}],
                },
            },
        )
        return [form], {}, [{"kind": "reasoning", "text": text}]

    def image(self):
        form, told = self.pick(
            (
                {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
                {"source": "url", "data": "https://x/y.png"},
            ),
            (
                {"type": "image", "image_url": {"url": "https://x/y.png"}},
                {"source": "url", "data": "https://x/y.png"},
            ),
            (
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
                {"source": "base64", "data": "AAAA", "mime": "image/png"},
            ),
            (
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
                },
                {"source": "base64", "data": "AAAA", "mime": "image/png"},
            ),
            (
                {"type": "image", "source": {"type": "file", "file_id": "f1"}},
                {"source": "file_id", "data": "f1"},
            ),
        )
        return [form], {}, [{"kind": "media", "media": "image", **told}]

    def strange(self):
        part = self.pick(
            {"type": "novelty", "x": [1]}, {"no": "type"}, {"type": "note", "text": "n"}
        )
        return (
            [part],
            {},
            [
                {
                    "kind": "opaque",
                    **({"type": part["type"]} if "type" in part else {}),
                    "json": part,
                }
            ],
        )

    def result_part(self):
        id, text = self.id(), self.text()
        many, failed = self.one_in(3), self.one_in(4)
        content = (
            [{"type": "text", "text": text}, {"type": "text", "text": "more"}] if many else text
        )
        blocks = [{"kind": "text", "text": text}] + (
            [{"kind": "text", "text": "more"}] if many else []
        )
        fields = {"tool_use_id": id, "content": content, **({"is_error": True} if failed else {})}
        block = {
            "kind": "result",
            "callId": id,
            **({"isError": True} if failed else {}),
            "blocks": blocks,
        }
        return (
            [
                self.pick(
                    {"type": "tool_result", **fields},
                    {"type": "tool_result", "tool_result": fields},
                )
            ],
            {},
            [block],
        )

    def assistant(self):
        parts, members, blocks, listed = [], {}, [], []
        for _ in range(1 + self.random.randrange(4)):
            more_parts, more_members, more_blocks = self.pick(
                self.call,
                self.call,
                self.custom,
                self.said,
                self.reasoning,
                self.item,
                self.item,
                self.server,
                self.gemini,
                self.strange,
            )()
            parts += more_parts
            for key, calls in more_members.items():
                members.setdefault(key, []).extend(calls)
            if more_parts:
                blocks += more_blocks
            elif "toolCalls" in more_members:
                listed.insert(
                    sum(1 for _, key in listed if key == "toolCalls"), (more_blocks[0], "toolCalls")
                )
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
            more_parts, _, more_blocks = self.pick(
                self.said,
                self.image,
                self.result_part,
                self.output,
                self.gemini_given,
                self.strange,
            )()
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
            {"kind": "result", "callId": id, "blocks": [{"kind": "text", "text": text}]}
        ]

    def legacy(self):
        name, text, arguments = self.pick("f", "look"), self.text(), self.pick("{}", '{"a":1}', "")
        return {
            "role": "assistant",
            "content": text,
            "function_call": {"name": name, "arguments": arguments},
        }, [
            {"kind": "text", "text": text},
            {"kind": "call", "callId": "legacy_fn_1", "name": name, "arguments": arguments or {}},
        ]

    def answer(self):
        parts, _, blocks = self.output()
        return {"role": "tool", "content": parts}, blocks

    def message(self):
        return self.pick(
            self.assistant,
            self.assistant,
            self.assistant,
            self.user,
            self.tool,
            self.answer,
            self.legacy,
        )()

    # Lists as clients send them: the messages, and what is read of all of them together.

    def gemini_request(self):
        contents, told = [], []
        for _ in range(1 + self.random.randrange(4)):
            role, makers = self.pick(
                ("model", (self.gemini_said, self.gemini_call, self.gemini_server)),
                ("user", (self.gemini_media, self.gemini_response)),
            )
            made = [self.pick(*makers)() for _ in range(1 + self.random.randrange(3))]
            contents.append({"role": role, "parts": [part for part, _ in made]})
            told += [self.imported(block) for _, block in made]
        return {"contents": contents}, told

    def imported(self, block):
        """What a result of ours says is a text or parts, so an object becomes its text."""
        said = [
            {"kind": "text", "text": compact(each["json"])} if each["kind"] == "opaque" else each
            for each in block.get("blocks", [])
        ]
        return {**block, "blocks": said} if said else block

    def anthropic_request(self):
        messages, told = [], []
        for _ in range(1 + self.random.randrange(4)):
            parts, blocks = [], []
            for _ in range(1 + self.random.randrange(3)):
                more_parts, _, more_blocks = (
                    self.server() if self.one_in(2) else self.anthropic_said()
                )
                parts += more_parts
                blocks += more_blocks
            messages.append({"role": "assistant", "content": parts})
            told += blocks
        return {"messages": messages}, told

    def anthropic_said(self):
        text, id = self.text(), self.id()
        part, block = self.pick(
            ({"type": "text", "text": text}, {"kind": "text", "text": text}),
            (
                {"type": "thinking", "thinking": text, "signature": "s"},
                {"kind": "reasoning", "text": text},
            ),
            (
                {"type": "tool_use", "id": id, "name": "f", "input": {"a": 1}},
                {"kind": "call", "callId": id, "name": "f", "arguments": {"a": 1}},
            ),
        )
        return [part], {}, [block]

    def responses_request(self):
        made = [
            self.pick(self.call_item, self.output_item)()
            for _ in range(1 + self.random.randrange(6))
        ]
        return {"input": [item for item, _ in made]}, [block for _, block in made]

    def request(self):
        dialect = self.pick("gemini", "anthropic", "openai_responses")
        make = {
            "gemini": self.gemini_request,
            "anthropic": self.anthropic_request,
            "openai_responses": self.responses_request,
        }[dialect]
        return {"operation": "RECONCILE", "dialect": dialect, "request": (made := make())[0]}, made[
            1
        ]


def play(binary, *lines):
    done = subprocess.run(
        [binary, "exec"],
        input="".join(compact(line) + "\n" for line in lines).encode(),
        stdout=subprocess.PIPE,
        timeout=SECONDS_MAX,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for answer in answers:
        if not answer["ok"]:
            sys.exit(f"SEED={os.environ['SEED']}: {answer}")
    return answers


def main(binary, count="400", *_):
    seed = int(os.environ.setdefault("SEED", str(random.randrange(1 << 32))))
    count = int(count) if count.isdigit() else 400
    maker = Maker(seed)
    made = [maker.message() for _ in range(count)]
    answer = play(
        binary,
        {"operation": "APPEND", "messages": [message for message, _ in made]},
        {"query": "blocks"},
    )[1]
    read = [told["blocks"] for told in answer["result"]]
    # Each request is all that its client has sent, so its view is read before the next one comes.
    requests = [maker.request() for _ in range(count // 4)]
    answers = play(
        binary, *[line for request, _ in requests for line in (request, {"query": "blocks"})]
    )
    read += [
        [block for told in answer["result"] for block in told["blocks"]] for answer in answers[1::2]
    ]
    failed = 0
    for (given, blocks), told in zip(made + requests, read, strict=True):
        if told == blocks:
            continue
        failed += 1
        print(
            f"SEED={seed}\n  of   {compact(given)}\n  told {compact(told)}\n  made {compact(blocks)}"
        )
    print(f"SEED={seed}")
    print(f"{len(read) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
