"""How a client that keeps its own list writes it down, in four dialects: never twice alike.

A message is a dict: `kind` (system, user, assistant, thought, call, result, summary, compaction), `text`, and what the kind needs.
`Speller.body` writes a request of such messages, with markers, ids and spellings by chance; `said` reads any request of the dialect
back into what it says, without them. Neither knows anything of the engine.
"""

import json

IMAGE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
)
LISTS = {
    "anthropic": "messages",
    "openai_chat": "messages",
    "openai_responses": "input",
    "gemini": "contents",
}


class Speller:
    def __init__(self, chance, dialect):
        self.chance, self.dialect = chance, dialect
        self.message = {
            "anthropic": self.anthropic,
            "openai_chat": self.chat,
            "openai_responses": self.responses,
            "gemini": self.gemini,
        }[dialect]

    def body(self, messages):
        top = (
            messages[:1]
            if messages and messages[0]["kind"] == "system" and self.dialect != "openai_chat"
            else []
        )
        body = {
            LISTS[self.dialect]: [self.message(each) for each in messages[len(top) :]],
            "model": self.chance.choice(["m", "n"]),
        }
        for each in top:
            name, value = {
                "anthropic": ("system", self.texts(each["text"])),
                "openai_responses": ("instructions", each["text"]),
                "gemini": ("systemInstruction", {"parts": [{"text": each["text"]}]}),
            }[self.dialect]
            body[name] = value
        return self.shuffled(body)

    def maybe(self, **members):
        return members if self.chance.random() < 0.4 else {}

    def shuffled(self, members):
        members = list(members.items())
        self.chance.shuffle(members)
        return dict(members)

    def json(self, value):
        """The text of a JSON value: keys, blanks, numbers and characters as chance has it."""
        if isinstance(value, dict):
            return (
                "{"
                + ", ".join(
                    f"{json.dumps(key)}: {self.json(each)}"
                    for key, each in self.shuffled(value).items()
                )
                + "}"
            )
        if isinstance(value, list):
            return "[" + self.chance.choice([",", " ,\n"]).join(map(self.json, value)) + "]"
        if isinstance(value, int) and not isinstance(value, bool):
            return self.chance.choice(["%d", "%d.0", "%de0"]) % value
        return json.dumps(value, ensure_ascii=self.chance.random() < 0.5)

    def marked(self, part):
        return {**part, **self.maybe(cache_control={"type": "ephemeral"})}

    def texts(self, text, kind="text"):
        return (
            text
            if self.chance.random() < 0.5
            else [
                self.marked({"type": kind, "text": text})
                if kind == "text"
                else {"type": kind, "text": text}
            ]
        )

    def anthropic(self, m):
        kind, text = m["kind"], m["text"]
        if kind == "thought":
            return {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": text, "signature": "c2ln"},
                    {"type": "text", "text": "so " + text},
                ],
            }
        if kind == "call":
            uses = [
                self.marked(
                    {
                        "type": "tool_use",
                        "id": each["id"],
                        "name": "f",
                        "input": self.shuffled(each["arguments"]),
                    }
                )
                for each in m["calls"]
            ]
            return {"role": "assistant", "content": [{"type": "text", "text": text}, *uses]}
        if kind == "result":
            return {
                "role": "user",
                "content": [
                    self.marked(
                        {"type": "tool_result", "tool_use_id": m["id"], "content": self.texts(text)}
                    )
                ],
            }
        if kind == "compaction":
            return {"role": "assistant", "content": [{"type": "compaction", "content": text}]}
        if "image" in m:
            source = {"type": "base64", "media_type": "image/png", "data": IMAGE + m["image"]}
            return {
                "role": "user",
                "content": [
                    {"type": "text", "text": text},
                    self.marked({"type": "image", "source": source}),
                ],
            }
        return {"role": "user" if kind == "summary" else kind, "content": self.texts(text)}

    def chat(self, m):
        kind, text = m["kind"], m["text"]
        if kind == "call":
            calls = [
                {
                    "id": each["id"],
                    "type": "function",
                    "function": {"name": "f", "arguments": self.json(each["arguments"])},
                }
                for each in m["calls"]
            ]
            return {
                "role": "assistant",
                **self.chance.choice([{}, {"content": None}, {"content": ""}]),
                "tool_calls": calls,
            }
        if kind == "result":
            return {"role": "tool", "tool_call_id": m["id"], "content": self.texts(text)}
        if kind in ("assistant", "thought"):
            beside = {
                **self.maybe(refusal=None),
                **self.maybe(annotations=[]),
                **self.maybe(reasoning_content=f"hm {self.chance.random()}"),
            }
            return self.shuffled({"role": "assistant", "content": text, **beside})
        if "image" in m:
            image = {
                "type": "image_url",
                "image_url": {"url": "data:image/png;base64," + IMAGE + m["image"]},
            }
            return {"role": "user", "content": [{"type": "text", "text": text}, image]}
        return {"role": "user" if kind == "summary" else kind, "content": text}

    def item(self, prefix, **members):
        made = {
            **members,
            **self.maybe(id=f"{prefix}_{self.chance.getrandbits(60):x}"),
            **self.maybe(status="completed"),
        }
        return self.shuffled(made)

    def responses(self, m):
        kind, text = m["kind"], m["text"]
        if kind == "thought":
            return {
                "type": "reasoning",
                "id": "rs_" + text.replace(" ", ""),
                "summary": [],
                "encrypted_content": "ZW5j" + text,
            }
        if kind == "call":
            call = m["calls"][0]
            return self.item(
                "fc",
                type="function_call",
                call_id=call["id"],
                name="f",
                arguments=self.json(call["arguments"]),
            )
        if kind == "result":
            return self.item("fco", type="function_call_output", call_id=m["id"], output=text)
        if kind == "compaction":
            return {
                "type": "compaction",
                "id": "cmp_" + text.replace(" ", ""),
                "encrypted_content": text,
            }
        if kind == "assistant":
            part = {
                "type": "output_text",
                "text": text,
                **self.maybe(annotations=[]),
                **self.maybe(logprobs=[]),
            }
            return self.item("msg", type="message", role="assistant", content=[part])
        if "image" in m:
            return {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": text},
                    {
                        "type": "input_image",
                        "image_url": "data:image/png;base64," + IMAGE + m["image"],
                    },
                ],
            }
        return {
            **self.maybe(type="message"),
            "role": "user" if kind == "summary" else kind,
            "content": self.texts(text, "input_text"),
        }

    def gemini(self, m):
        kind, text = m["kind"], m["text"]
        if kind == "call":
            parts = [
                {
                    "functionCall": {
                        "id": each["id"],
                        "name": "f",
                        "args": self.shuffled(each["arguments"]),
                    }
                }
                for each in m["calls"]
            ]
            return {"role": "model", "parts": [{"text": text}, *parts]}
        if kind == "result":
            return {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": m["id"], "name": "f", "response": {"output": text}}}
                ],
            }
        image = (
            [{"inlineData": {"mimeType": "image/png", "data": IMAGE + m["image"]}}]
            if "image" in m
            else []
        )
        return {
            "role": "model" if kind in ("assistant", "thought") else "user",
            "parts": [{"text": text}, *image],
        }


def plain(value):
    """A value as JSON with sorted keys, 1.0 as 1 and without what is volatile."""

    def without(value):
        if isinstance(value, dict):
            return {
                key: without(each)
                for key, each in value.items()
                if key not in ("cache_control", "annotations", "logprobs")
            }
        if isinstance(value, list):
            return [without(each) for each in value]
        return int(value) if isinstance(value, float) and value == int(value) else value

    return json.dumps(without(value), sort_keys=True)


def parts_of(content):
    if not content:
        return []
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [("text", part["text"]) if part["type"].endswith("text") else part for part in parts]


def said(dialect, body):
    """What a request says: (who, what) in order, whichever message it stands in."""
    found = []

    def add(who, part):
        if isinstance(part, dict) and part.get("type") == "tool_result":
            part = {**part, "content": parts_of(part["content"])}
        found.append((who, part if isinstance(part, tuple) else plain(part)))

    if dialect == "gemini":
        contents = (
            [{"role": "system", **body["systemInstruction"]}] if "systemInstruction" in body else []
        )
        for content in contents + body["contents"]:
            for part in content["parts"]:
                add(content["role"], part)
        return found
    for part in parts_of(body.get("system") or body.get("instructions")):
        add("system", part)
    for message in body[LISTS[dialect]]:
        kind = message.get("type", "message")
        for part in parts_of(message.get("content")) if kind == "message" else []:
            add(
                (message["role"], message.get("tool_call_id"))
                if dialect == "openai_chat"
                else message["role"],
                part,
            )
        for call in message.get("tool_calls", []):
            add("call", {"id": call["id"], "arguments": json.loads(call["function"]["arguments"])})
        if kind == "function_call":
            add("call", {"id": message["call_id"], "arguments": json.loads(message["arguments"])})
        elif kind == "function_call_output":
            add("result", {"id": message["call_id"], "output": message["output"]})
        elif kind != "message":
            add("item", message)
    return found
