"""A provider on the loopback that coding agents talk to, and that keeps what they send.

    with Upstream() as upstream:
        run_agent(upstream.url)
        upstream.requests        # [Request(path, headers, body)], in order of arrival

It answers as a model would that follows a script: a request that asks for a tool ("use a tool") gets a call, one that brings a result gets a text, one that asks for a summary
gets one. Speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Google's generateContent, streamed or whole.
"""

import ctypes
import ctypes.util
import dataclasses
import http.server
import json
import threading
import uuid


@dataclasses.dataclass
class Request:
    path: str
    headers: dict
    body: dict
    fields: list  # the headers as they came, in their order
    target: str
    raw: bytes


def sse(events):
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events
    ).encode()


def new_id(kind):
    return f"{kind}_{uuid.uuid4().hex[:20]}"


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))


# Anthropic


def anthropic_blocks(body):
    last = body["messages"][-1]
    said = [m for m in body["messages"] if m["role"] == "user"][-1]["content"]
    parts = said if isinstance(said, list) else [{"type": "text", "text": said}]
    asked = text_of(said)
    if "Respond with TEXT ONLY" in asked:
        return [
            {
                "type": "text",
                "text": "<analysis>x</analysis><summary>"
                + new_id("The user read a file twice:")
                + "</summary>",
            }
        ], "end_turn"
    names = {tool["name"] for tool in body.get("tools", [])}
    if any(part.get("type") == "tool_result" for part in parts) or last["role"] == "assistant":
        return [{"type": "text", "text": new_id("The result is here:")}], "end_turn"
    helper = next((name for name in HELPERS if name in names), None)
    if "ask a helper" in asked and helper:
        call = helper_arguments(helper)
        return [
            {"type": "text", "text": "A helper looks."},
            {"type": "tool_use", "id": new_id("toolu"), "name": helper, "input": call},
        ], "tool_use"
    reading = (
        reading_call({tool["name"]: tool.get("input_schema", {}) for tool in body.get("tools", [])})
        if "use a tool" in asked
        else None
    )
    if reading:
        call = {"type": "tool_use", "id": new_id("toolu"), "name": reading[0], "input": reading[1]}
        return [{"type": "text", "text": "I read it."}, call], "tool_use"
    return [{"type": "text", "text": new_id("Answer")}], "end_turn"


FILE = {"path": "notes.txt"}
# Tools that ask a sub-agent, and the name of a sub-agent that their programs have.
HELPERS = {"Task": "general-purpose", "Agent": "general-purpose", "task": "general"}


def helper_arguments(tool):
    return {
        "description": "look",
        "prompt": "Please use a tool to look.",
        "subagent_type": HELPERS[tool],
    }


def anthropic_answer(body):
    blocks, stop = anthropic_blocks(body)
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    message = {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    if not body.get("stream"):
        return json.dumps(
            dict(message, content=blocks, stop_reason=stop)
        ).encode(), "application/json"
    events = [{"type": "message_start", "message": message}]
    for index, block in enumerate(blocks):
        empty = dict(block, text="") if block["type"] == "text" else dict(block, input={})
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if block["type"] == "text"
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]
    return sse(events), "text/event-stream"


# Responses


def function_call(name, arguments, **more):
    return {
        "type": "function_call",
        "id": new_id("fc"),
        "call_id": new_id("call"),
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
        **more,
    }


def asked_helper(items, asked):
    """A call that asks a sub-agent, or then one that waits for it."""
    last = items[-1]
    if "ask a helper" in asked and last.get("role") == "user":
        return function_call(
            "spawn_agent", {"message": "Please use a tool to look."}, namespace="multi_agent_v1"
        )
    made = next(
        (
            item
            for item in items
            if last.get("type") == "function_call_output"
            and item.get("type") == "function_call"
            and item["call_id"] == last["call_id"]
        ),
        {},
    )
    if made.get("name") != "spawn_agent":
        return None
    return function_call(
        "wait_agent",
        {"targets": [json.loads(text_of(last["output"]))["agent_id"]], "timeout_ms": 30000},
        namespace="multi_agent_v1",
    )


def responses_items(body):
    items = body["input"] if isinstance(body["input"], list) else []
    asked = text_of([i for i in items if i.get("role") == "user"][-1]["content"]) if items else ""
    if items and items[-1].get("type") == "compaction_trigger":
        return [
            {
                "type": "compaction",
                "id": new_id("cmp"),
                "encrypted_content": "c2VjcmV0" + uuid.uuid4().hex,
            }
        ]
    words = "A summary of the work." if "CHECKPOINT COMPACTION" in asked else new_id("Answer")
    message = {
        "type": "message",
        "id": new_id("msg"),
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": words, "annotations": [], "logprobs": []}],
    }
    names = {tool.get("name") for tool in body.get("tools", [])}
    helper = asked_helper(items, asked) if "multi_agent_v1" in names else None
    if helper:
        return [helper]
    if items and items[-1].get("type", "").endswith("_output") or "use a tool" not in asked:
        return [message]
    shells = (
        ("exec_command", {"cmd": "echo hi"}),
        ("shell", {"command": ["echo", "hi"]}),
        ("shell_command", {"command": "echo hi"}),
        ("update_plan", {"plan": []}),
    )
    call = next((pair for pair in shells if pair[0] in names), None) or reading_call(
        {tool.get("name"): tool.get("parameters", {}) for tool in body.get("tools", [])}
    )
    if call is None:
        return [message]
    reasoning = {
        "type": "reasoning",
        "id": new_id("rs"),
        "summary": [],
        "encrypted_content": "ZW5j" + uuid.uuid4().hex,
    }
    return [reasoning, function_call(*call)]


def responses_answer(body):
    items = responses_items(body)
    tokens = SIZE["tokens"]
    usage = {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens + 5,
    }
    response = {
        "id": new_id("resp"),
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body["model"],
        "output": items,
        "usage": usage,
    }
    if not body.get("stream"):
        return json.dumps(response).encode(), "application/json"
    events = [
        {
            "type": "response.created",
            "response": dict(response, status="in_progress", output=[], usage=None),
        }
    ]
    for index, item in enumerate(items):
        events.append(
            {
                "type": "response.output_item.added",
                "output_index": index,
                "item": dict(item, content=[]) if item["type"] == "message" else item,
            }
        )
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            events += [
                {
                    "type": "response.content_part.added",
                    **place,
                    "part": dict(item["content"][0], text=""),
                },
                {
                    "type": "response.output_text.delta",
                    **place,
                    "delta": item["content"][0]["text"],
                    "logprobs": [],
                },
            ]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": response})
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return sse(events), "text/event-stream"


SIZE = {"tokens": 10}


# Chat Completions, and Google

MANY_TOKENS = 99000  # more than an agent wants that compacts below 100,000


def reading_call(tools):
    """A call of the tool that reads files, whatever it is named: (name, arguments); none where there is no such tool. `tools`: name -> JSON schema."""
    for name in ("read", "read_file", "Read"):
        if name in tools:
            path = next(
                (key for key in tools[name].get("properties", {}) if "path" in key.lower()), "path"
            )
            return name, {path: FILE["path"]}
    return None


def chat_answer(body):
    last = body["messages"][-1]
    tools = {
        tool["function"]["name"]: tool["function"].get("parameters", {})
        for tool in body.get("tools") or []
    }
    asked = text_of(last["content"]) if last["role"] == "user" else ""
    helper = next((name for name in HELPERS if name in tools), None)
    call = None
    if "ask a helper" in asked and helper:
        call = helper, helper_arguments(helper)
    elif "use a tool" in asked:
        call = reading_call(tools)
    message = {"role": "assistant", "content": None if call else new_id("Answer")}
    if call:
        message["tool_calls"] = [
            {
                "id": new_id("call"),
                "type": "function",
                "function": {"name": call[0], "arguments": json.dumps(call[1])},
            }
        ]
    reason = "tool_calls" if call else "stop"
    tokens = MANY_TOKENS if asked.startswith("That was much") else 10
    usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
    base = {"id": new_id("chatcmpl"), "created": 1, "model": body["model"]}
    if not body.get("stream"):
        return json.dumps(
            {
                **base,
                "object": "chat.completion",
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": usage,
            }
        ).encode(), "application/json"
    base["object"] = "chat.completion.chunk"
    delta = (
        dict(message, tool_calls=[dict(each, index=0) for each in message["tool_calls"]])
        if call
        else message
    )
    pieces = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**base, "choices": [], "usage": usage},
    ]
    return "".join(
        f"data: {json.dumps(piece)}\n\n" for piece in pieces
    ).encode() + b"data: [DONE]\n\n", "text/event-stream"


def google_answer(path, target, body):
    last = body["contents"][-1]
    tools = {
        each["name"]: each.get("parametersJsonSchema") or each.get("parameters") or {}
        for tool in body.get("tools") or []
        for each in tool.get("functionDeclarations", [])
    }
    said = "\n".join(part.get("text", "") for part in last["parts"])
    call = (
        reading_call(tools)
        if "use a tool" in said and not any("functionResponse" in part for part in last["parts"])
        else None
    )
    part = (
        {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": new_id("Answer")}
    )
    answer = {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "modelVersion": "m",
        "responseId": new_id("r"),
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    }
    if body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        answer["candidates"][0]["content"]["parts"] = [
            {
                "text": json.dumps(
                    {
                        "reasoning": "x",
                        "next_speaker": "user",
                        "model_choice": "flash",
                        "complexity_reasoning": "x",
                        "complexity_score": 1,
                    }
                )
            }
        ]
    if not path.endswith(":streamGenerateContent"):
        return json.dumps(answer).encode(), "application/json"
    if "alt=sse" not in target:
        return json.dumps([answer]).encode(), "application/json"
    return f"data: {json.dumps(answer)}\r\n\r\n".encode(), "text/event-stream"


def answer_of(path, target, body):
    if path.endswith("/messages"):
        return anthropic_answer(body)
    if path.endswith("/responses"):
        return responses_answer(body)
    return (
        chat_answer(body)
        if path.endswith("/chat/completions")
        else google_answer(path, target, body)
    )


ANSWERED = (
    "/messages",
    "/responses",
    "/chat/completions",
    ":generateContent",
    ":streamGenerateContent",
)


def unzstd(data, bytes_max=1 << 24):
    """Codex compresses what it sends with a login."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_void_p,
        ctypes.c_size_t,
    ]
    room = ctypes.create_string_buffer(bytes_max)
    size = library.ZSTD_decompress(room, bytes_max, data, len(data))
    assert size <= bytes_max, "no zstd"
    return room.raw[:size]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.reply(200)

    def do_GET(self):
        # A WebSocket is wanted: told that there is none, a client goes on with POST.
        self.reply(426 if self.path.endswith("/responses") else 404, b"{}")

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        text = unzstd(raw) if self.headers.get("content-encoding") == "zstd" else raw
        body = json.loads(text or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.reply(200, b'{"input_tokens":10}')
        if path.endswith(":countTokens"):
            return self.reply(200, b'{"totalTokens":10}')
        if not path.endswith(ANSWERED):
            return self.reply(404, b"{}")
        with self.server.lock:
            self.server.requests.append(
                Request(path, dict(self.headers), body, list(self.headers.items()), self.path, raw)
            )
        answer, kind = answer_of(path, self.path, body)
        self.reply(200, answer, kind)


class Upstream:
    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.requests = []
        self.server.lock = threading.Lock()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        return self

    @property
    def requests(self):
        with self.server.lock:
            return list(self.server.requests)

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
