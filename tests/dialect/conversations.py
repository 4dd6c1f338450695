"""Random conversations as clients of each dialect have them, and edits of every kind.

make = Conversations(random.Random(seed))
make.body("gemini")         # a request that its own provider takes
make.edit(count, versions)  # an operation for a view of so many messages
"""

import base64
import json
from validator import ANTHROPIC, CHAT, RESPONSES

PNG = "iVBORw0KGgo="
TOOLS = [
    "ls",
    "read_file",
    "my.tool",
    "my/tool",
    "my tool",
    "mcp__server.lookup",
    "a" * 70,
    "werkzeug_ä",
]
WORDS = ["alpha", "beta", "tail", "x\ny", "δέλτα", "😀", '"q"', "Continue.", "ok "]
OPERATIONS = """APPEND INSERT REPLACE TRUNCATE CLEAR FILTER DELETE DELETE DELETE COMPRESS COMPRESS EXPAND SHOW MERGE MERGE SPLIT SPLIT SPLIT
TRANSFORM TRANSFORM START_BATCH END_BATCH ROLLBACK MARK UNMARK UNDO REDO RESTORE""".split()


class Conversations:
    def __init__(self, chance):
        self.chance = chance
        self.number = 0
        self.markers = 0  # a request has four at most, and its instructions may have one

    def one_in(self, n):
        return self.chance.randrange(n) == 0

    def text(self):
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 4)))

    def next_id(self, start):
        self.number += 1
        return f"{start}{self.number}"

    def body(self, dialect):
        turns = [
            turn for _ in range(self.chance.randint(1, 5)) for turn in getattr(self, dialect)()
        ]
        if dialect == CHAT:
            top = (
                [{"role": self.chance.choice(["system", "developer"]), "content": self.text()}]
                if self.one_in(2)
                else []
            )
            return {"messages": top + turns}
        top = self.one_in(2)
        if dialect == RESPONSES:
            return {**({"instructions": self.text()} if top else {}), "input": turns}
        if dialect == ANTHROPIC:
            system = self.chance.choice(
                [
                    self.text(),
                    [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
                ]
            )
            return {
                **({"system": system} if top else {}),
                "messages": turns + [{"role": "user", "content": "go on"}],
            }
        return {
            **({"systemInstruction": {"parts": [{"text": self.text()}]}} if top else {}),
            "contents": turns,
        }

    # One exchange of each dialect: what a user says, what the model does, and what it answers.

    def openai_chat(self):
        turns = [
            {
                "role": "user",
                "content": self.chance.choice(
                    [self.text(), [{"type": "text", "text": self.text()}, self.chat_part()]]
                ),
            }
        ]
        if self.one_in(5):
            turns.append({"role": "system", "content": "Remember: " + self.text()})
        for _ in range(self.chance.choice([0, 0, 1, 1, 2])):
            calls = [self.chat_call() for _ in range(self.chance.randint(1, 3))]
            said = self.chance.choice(
                [{"content": None}, {"content": self.text()}, {"content": ""}]
            )
            reasoning = {"reasoning_content": self.text()} if self.one_in(4) else {}
            turns.append({"role": "assistant", **said, **reasoning, "tool_calls": calls})
            turns += [
                {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "content": self.chance.choice(
                        [self.text(), "", [{"type": "text", "text": self.text()}]]
                    ),
                }
                for call in calls
            ]
        final = (
            {"content": self.text()} if self.randrange(6) else {"content": None, "refusal": "No."}
        )
        return turns + [{"role": "assistant", **final}]

    def randrange(self, n):
        return self.chance.randrange(n)

    def chat_part(self):
        return self.chance.choice(
            [
                {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64," + PNG, "detail": "low"},
                },
                {"type": "image_url", "image_url": {"url": "https://example.com/i.png"}},
                {"type": "image_url", "image_url": {"url": "http://example.com/i.png"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
                },
                {
                    "type": "file",
                    "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,AAAA"},
                },
                {"type": "file", "file": {"file_id": "file-1"}},
            ]
        )

    def chat_call(self):
        tool = self.chance.choice(TOOLS[:2])
        if self.one_in(5):
            return {
                "id": self.next_id("c"),
                "type": "custom",
                "custom": {"name": tool, "input": "print(1)"},
            }
        return {
            "id": self.next_id(self.chance.choice(["c", "call_0123456789-", "c.d:"])),
            "type": "function",
            "function": {
                "name": tool,
                "arguments": self.chance.choice(["{}", '{"a":1}', "", "not JSON", "[1]"]),
            },
        }

    def openai_responses(self):
        content = self.chance.choice(
            [self.text(), [{"type": "input_text", "text": self.text()}, self.response_part()]]
        )
        items = [{"type": "message", "role": "user", "content": content}]
        if self.one_in(5):
            items.append({"type": "message", "role": "developer", "content": self.text()})
        for _ in range(self.chance.choice([0, 0, 1, 1, 2])):
            items += self.reasoning()
            calls = [self.response_call() for _ in range(self.chance.randint(1, 3))]
            items += [call for call, _ in calls] + [result for _, result in calls]
        if self.one_in(3):
            items += self.reasoning() + [
                {
                    "type": "web_search_call",
                    "id": self.next_id("ws_"),
                    "status": "completed",
                    "action": {"type": "search", "query": "q", "queries": ["q"]},
                }
            ]
        parts = [{"type": "output_text", "text": self.text(), "annotations": []}]
        return (
            items
            + self.reasoning()
            + [
                {
                    "type": "message",
                    "id": self.next_id("msg_"),
                    "role": "assistant",
                    "status": "completed",
                    "content": parts
                    if self.randrange(6)
                    else [{"type": "refusal", "refusal": "No."}],
                }
            ]
        )

    def reasoning(self):
        if self.one_in(2):
            return []
        item = {
            "type": "reasoning",
            "id": self.next_id("rs_"),
            "summary": [{"type": "summary_text", "text": "hm"}],
        }
        return [{**item, "encrypted_content": "e"} if self.one_in(2) else item]

    def response_part(self):
        return self.chance.choice(
            [
                {
                    "type": "input_image",
                    "image_url": "data:image/png;base64," + PNG,
                    "detail": "auto",
                },
                {"type": "input_image", "file_id": "file-1", "detail": "low"},
                {"type": "input_image", "image_url": "https://example.com/i.png", "detail": "auto"},
                {
                    "type": "input_file",
                    "filename": "a.pdf",
                    "file_data": "data:application/pdf;base64,AAAA",
                },
                {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            ]
        )

    def response_call(self):
        call_id, kind = self.next_id("call_"), self.randrange(8)
        output = self.chance.choice(
            [self.text(), "", [{"type": "input_text", "text": "t"}, self.response_part()]]
        )
        if kind == 0:
            return (
                {"type": "custom_tool_call", "call_id": call_id, "name": "py", "input": "1+1"},
                {"type": "custom_tool_call_output", "call_id": call_id, "output": "2"},
            )
        if kind == 1:
            return (
                {"type": "shell_call", "call_id": call_id, "action": {"commands": ["ls"]}},
                {
                    "type": "shell_call_output",
                    "call_id": call_id,
                    "output": [
                        {"stdout": "bin", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
                    ],
                },
            )
        if kind == 2:
            return (
                {
                    "type": "apply_patch_call",
                    "call_id": call_id,
                    "status": "completed",
                    "operation": {"type": "delete_file", "path": "a"},
                },
                {
                    "type": "apply_patch_call_output",
                    "call_id": call_id,
                    "status": "failed",
                    "output": "no",
                },
            )
        if kind == 3:
            action = {"type": "click", "button": "left", "x": 1, "y": 2}
            shot = {"type": "computer_screenshot", "image_url": "data:image/png;base64," + PNG}
            return (
                {
                    "type": "computer_call",
                    "id": self.next_id("cu_"),
                    "call_id": call_id,
                    "status": "completed",
                    "action": action,
                    "pending_safety_checks": [],
                },
                {"type": "computer_call_output", "call_id": call_id, "output": shot},
            )
        return (
            {
                "type": "function_call",
                "id": self.next_id("fc_"),
                "call_id": call_id,
                "name": self.chance.choice(TOOLS[:2]),
                "arguments": '{"a":1}',
            },
            {"type": "function_call_output", "call_id": call_id, "output": output},
        )

    def anthropic(self):
        content = self.chance.choice(
            [self.text(), [{"type": "text", "text": self.text()}, self.anthropic_block()]]
        )
        turns = [{"role": "user", "content": content}]
        if self.one_in(6):
            turns.append({"role": "system", "content": "Remember: " + self.text()})
        for _ in range(self.chance.choice([0, 0, 1, 1, 2])):
            uses = [
                {
                    "type": "tool_use",
                    "id": self.next_id("toolu_"),
                    "name": self.chance.choice(TOOLS[:2]),
                    "input": {"a": 1},
                }
                for _ in range(self.chance.randint(1, 3))
            ]
            turns.append(
                {
                    "role": "assistant",
                    "content": self.thinking()
                    + ([{"type": "text", "text": "now"}] if self.one_in(2) else [])
                    + uses,
                }
            )
            more = [{"type": "text", "text": self.text()}] if self.one_in(4) else []
            turns.append(
                {
                    "role": "user",
                    "content": [self.anthropic_result(use["id"]) for use in uses] + more,
                }
            )
        answer = self.thinking()
        if self.one_in(4):
            search = self.next_id("srvtoolu_")
            answer += [
                {
                    "type": "server_tool_use",
                    "id": search,
                    "name": "web_search",
                    "input": {"query": "q"},
                },
                {"type": "web_search_tool_result", "tool_use_id": search, "content": []},
            ]
        return turns + [
            {
                "role": "assistant",
                "content": answer + [{"type": "text", "text": self.text().strip()}],
            }
        ]

    def thinking(self):
        if self.one_in(2):
            return []
        return [
            self.chance.choice(
                [
                    {"type": "thinking", "thinking": "hm", "signature": self.next_id("sig")},
                    {"type": "thinking", "thinking": "", "signature": self.next_id("sig")},
                    {"type": "redacted_thinking", "data": self.next_id("data")},
                ]
            )
        ]

    def anthropic_block(self):
        block = self.chance.choice(
            [
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/webp", "data": PNG},
                },
                {"type": "image", "source": {"type": "url", "url": "https://example.com/i.png"}},
                {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
                    "title": "A",
                },
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "words"},
                    "title": "W",
                },
                {"type": "text", "text": "cached", "cache_control": {"type": "ephemeral"}},
            ]
        )
        self.markers += "cache_control" in block
        return block if self.markers <= 3 else {"type": "text", "text": "not cached"}

    def anthropic_result(self, use):
        kind = self.randrange(6)
        if kind == 0:
            return {
                "type": "tool_result",
                "tool_use_id": use,
                "content": "failed",
                "is_error": True,
            }
        if kind == 1:
            return {"type": "tool_result", "tool_use_id": use}
        if kind == 2:
            block = self.anthropic_block()
            return {
                "type": "tool_result",
                "tool_use_id": use,
                "content": [{"type": "text", "text": "t"}, block],
            }
        return {
            "type": "tool_result",
            "tool_use_id": use,
            "content": self.chance.choice([self.text(), ""]),
        }

    def signature(self):
        return base64.b64encode(self.next_id("signature").encode()).decode()

    def gemini(self):
        turns = [
            {
                "role": "user",
                "parts": [{"text": self.text()}] + ([self.gemini_part()] if self.one_in(2) else []),
            }
        ]
        for _ in range(self.chance.choice([0, 0, 1, 1, 2])):
            calls = [
                {"name": self.chance.choice(["ls", "my.tool", "ns:f"]), "args": {"a": 1}}
                for _ in range(self.chance.randint(1, 3))
            ]
            if self.one_in(2):
                calls = [{"id": self.next_id("f"), **call} for call in calls]
            parts = [{"functionCall": call} for call in calls]
            parts[0]["thoughtSignature"] = self.signature()
            thought = [{"text": "hm", "thought": True}] if self.one_in(3) else []
            turns.append({"role": "model", "parts": thought + parts})
            turns.append(
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                **({"id": call["id"]} if "id" in call else {}),
                                "name": call["name"],
                                "response": self.chance.choice(
                                    [{"output": self.text()}, {"error": "no"}, {"rows": [1, 2]}]
                                ),
                            }
                        }
                        for call in calls
                    ],
                }
            )
        signed = {"text": "", "thoughtSignature": self.signature()}
        return turns + [
            {
                "role": "model",
                "parts": [{"text": self.text()}] + ([signed] if self.one_in(4) else []),
            }
        ]

    def gemini_part(self):
        return self.chance.choice(
            [
                {"inlineData": {"mimeType": "image/heic", "data": "AAAA"}},
                {"inlineData": {"mimeType": "image/png", "data": PNG}},
                {"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}},
                {"inlineData": {"mimeType": "text/plain", "data": "AAAA"}},
                {"fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/i.png"}},
                {
                    "fileData": {
                        "mimeType": "application/pdf",
                        "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x",
                    }
                },
            ]
        )

    # The engine's own form, and edits.

    def message(self):
        role = self.chance.choice(["user", "user", "assistant", "system", "tool"])
        content = self.chance.choice(
            [
                self.text(),
                self.text(),
                [{"type": "text", "text": self.text()}],
                "" if role == "tool" else " ",
                "[image]",
            ]
        )
        message = {"role": role, "content": content}
        if role == "assistant" and self.one_in(2):
            message["toolCalls"] = [
                {
                    "id": self.next_id(self.chance.choice(["c", "x" * 70, "ü"])),
                    "function": {"name": self.chance.choice(TOOLS), "arguments": "{}"},
                }
                for _ in range(self.chance.randint(1, 2))
            ]
        if role == "user" and self.one_in(4):
            message["content"] = [self.chance.choice([self.chat_part, self.anthropic_block])()]
        if role == "tool":
            message["toolCallId"] = f"c{self.chance.randint(1, self.number + 1)}"
        return message

    def neutral(self):
        return [self.message() for _ in range(self.chance.randint(1, 9))]

    def some(self, count, most):
        return sorted(self.chance.sample(range(count), min(count, self.chance.randint(1, most))))

    def edit(self, count, versions):
        name = self.chance.choice(OPERATIONS)
        at = self.randrange(count) if count else 0
        names = {"indices": self.some(count, 3) or [0]}
        pairs = (
            {"pairs": self.chance.choice(["literal", "shrink", "grow"])} if self.one_in(2) else {}
        )
        replace = {
            "replaceText": {
                "find": self.chance.choice(WORDS),
                "with": self.chance.choice(["", "z"]),
            }
        }
        arguments = {
            "APPEND": {"messages": [self.message()]},
            "INSERT": {"messages": [self.message()], "position": at},
            "REPLACE": {"index": at, "message": self.message()},
            "TRUNCATE": {
                **self.chance.choice(
                    [{"keepLast": count // 2 + 1}, {"removeFirst": 2}, {"removeLast": 1}]
                ),
                **pairs,
            },
            "CLEAR": {"keepSystemMessage": self.one_in(2)},
            "FILTER": {"contentExcludes": [self.chance.choice(WORDS)], **pairs},
            "DELETE": {**names, **pairs},
            "COMPRESS": {**names, "summary": {"role": "user", "content": "summary"}},
            "EXPAND": {"index": at},
            "SHOW": {"ordinals": [self.randrange(count + 3)]},
            "MERGE": {
                "indices": list(range(at, min(count, at + self.chance.randint(2, 3)))),
                "separator": self.chance.choice(["", "\n"]),
            },
            "SPLIT": {"index": at, "at": self.chance.choice([[1], [2], [1, 3], [5]])},
            "TRANSFORM": {
                **names,
                **self.chance.choice(
                    [
                        replace,
                        {"truncateText": {"maxChars": self.randrange(6)}},
                        {"setMetadata": {"a": 2}},
                    ]
                ),
            },
            "START_BATCH": {},
            "END_BATCH": {"targetBatch": 0, "carry": ["user", "assistant"]},
            "ROLLBACK": {"targetBatchIndex": 0},
            "MARK": {**names, "mark": "pinned"},
            "UNMARK": {**names, "mark": "pinned"},
            "UNDO": {},
            "REDO": {},
            "RESTORE": {"version": self.randrange(versions + 1)},
        }[name]
        return {"operation": name, **arguments}


def as_json(value):
    """Compact, as the engine writes it: a message that is sent back must be the very bytes that came."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
