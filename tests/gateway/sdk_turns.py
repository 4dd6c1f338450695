#!/usr/bin/env python3
"""Turns of the official SDKs, through the gateway, are one conversation each: with its texts, reasoning, calls, results and usage, streamed or not.

sdk_turns.py PROGRAM SDKS       SDKS: what scripts/peers sdks has got, for Python, or scripts/peers clients, for TypeScript; exits with 77 where it is not there
"""

import json
import pathlib
import subprocess
import sys

from gateways import Folder, Gateway
from upstream import Upstream, streamed, whole

KINDS = ("chat", "responses", "previous", "messages", "gemini")
ARGUMENTS = {"city": "Oslo"}


def thought(model):
    return f"I look outside for {model}."


def last_words(model):
    return f"You are welcome, says {model}."


def said(model, turn):
    return {1: "Let me see.", 2: f"It rains in Oslo, says {model}.", 3: last_words(model)}[turn]


def sse(events, named=True):
    return [
        ((f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n").encode()
        for event in events
    ]


def chat(model, turn, streams):
    call = {
        "id": f"call_{model}",
        "type": "function",
        "function": {"name": "weather", "arguments": json.dumps(ARGUMENTS)},
    }
    usage = {
        "prompt_tokens": 10 * turn,
        "completion_tokens": turn,
        "total_tokens": 11 * turn,
        "prompt_tokens_details": {"cached_tokens": turn},
    }
    base, reason = (
        {"id": f"c-{model}-{turn}", "created": 1, "model": model},
        "tool_calls" if turn == 1 else "stop",
    )
    if not streams:
        message = {
            "role": "assistant",
            "content": said(model, turn),
            **({"tool_calls": [call]} if turn == 1 else {}),
        }
        return {
            **base,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage,
        }
    text = said(model, turn)
    deltas = [{"role": "assistant", "content": ""}, {"content": text[:5]}, {"content": text[5:]}]
    if turn == 1:
        arguments = call["function"]["arguments"]
        deltas += [
            {
                "tool_calls": [
                    {
                        "index": 0,
                        **call,
                        "function": {"name": "weather", "arguments": arguments[:4]},
                    }
                ]
            },
            {"tool_calls": [{"index": 0, "function": {"arguments": arguments[4:]}}]},
        ]
    part = {**base, "object": "chat.completion.chunk"}
    chunks = [
        {**part, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    chunks += [
        {**part, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**part, "choices": [], "usage": usage},
    ]
    return [*sse(chunks, named=False), b"data: [DONE]\n\n"]


def response(model, turn, streams):
    output = [
        {
            "type": "message",
            "id": f"msg_{model}_{turn}",
            "role": "assistant",
            "status": "completed",
            "content": [
                {
                    "type": "output_text",
                    "text": said(model, turn),
                    "annotations": [],
                    "logprobs": [],
                }
            ],
        }
    ]
    if turn == 1:
        output = [
            {
                "type": "reasoning",
                "id": f"rs_{model}",
                "summary": [{"type": "summary_text", "text": thought(model)}],
            },
            *output,
            {
                "type": "function_call",
                "id": f"fc_{model}",
                "call_id": f"call_{model}",
                "name": "weather",
                "arguments": json.dumps(ARGUMENTS),
                "status": "completed",
            },
        ]
    usage = {
        "input_tokens": 10 * turn,
        "input_tokens_details": {"cached_tokens": turn},
        "output_tokens": turn,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 11 * turn,
    }
    done = {
        "id": f"resp_{model}_{turn}",
        "object": "response",
        "created_at": 1,
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
        "usage": usage,
    }
    if not streams:
        return done
    events = [
        {
            "type": "response.created",
            "response": {**done, "output": [], "status": "in_progress", "usage": None},
        }
    ]
    for index, item in enumerate(output):
        events += [
            {
                "type": "response.output_item.added",
                "output_index": index,
                "item": {**item, "status": "in_progress"},
            },
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]
    events.append({"type": "response.completed", "response": done})
    return sse({**event, "sequence_number": number} for number, event in enumerate(events))


def message(model, turn, streams):
    blocks = [{"type": "text", "text": said(model, turn)}]
    if turn == 1:
        blocks = [
            {"type": "thinking", "thinking": thought(model), "signature": "c2lnbmVk"},
            *blocks,
            {"type": "tool_use", "id": f"toolu_{model}", "name": "weather", "input": ARGUMENTS},
        ]
    reason = "tool_use" if turn == 1 else "end_turn"
    usage = {
        "input_tokens": 9 * turn,
        "cache_read_input_tokens": turn,
        "cache_creation_input_tokens": 0,
        "output_tokens": turn,
    }
    base = {
        "id": f"msg_{model}_{turn}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "stop_sequence": None,
    }
    if not streams:
        return {**base, "content": blocks, "stop_reason": reason, "usage": usage}
    events = [
        {
            "type": "message_start",
            "message": {
                **base,
                "content": [],
                "stop_reason": None,
                "usage": {**usage, "output_tokens": 1},
            },
        }
    ]
    for index, block in enumerate(blocks):
        empty = {
            "text": {"text": ""},
            "thinking": {"thinking": "", "signature": ""},
            "tool_use": {"input": {}},
        }[block["type"]]
        deltas = {
            "text": [{"type": "text_delta", "text": block.get("text")}],
            "thinking": [
                {"type": "thinking_delta", "thinking": block.get("thinking")},
                {"type": "signature_delta", "signature": block.get("signature")},
            ],
            "tool_use": [
                {"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}
            ],
        }[block["type"]]
        events += [
            {"type": "content_block_start", "index": index, "content_block": {**block, **empty}},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": turn},
        },
        {"type": "message_stop"},
    ]
    return sse(events)


def content(model, turn, streams):
    parts = [{"text": said(model, turn)}]
    if turn == 1:
        parts = [
            {"text": thought(model), "thought": True},
            *parts,
            {
                "functionCall": {"name": "weather", "args": ARGUMENTS},
                "thoughtSignature": "c2lnbmVk",
            },
        ]
    usage = {
        "promptTokenCount": 10 * turn,
        "cachedContentTokenCount": turn,
        "candidatesTokenCount": turn,
        "totalTokenCount": 11 * turn,
    }
    whole_one = {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": usage,
        "modelVersion": model,
    }
    if not streams:
        return whole_one
    at = next(i for i, part in enumerate(parts) if "text" in part and "thought" not in part)
    halves = [{"text": parts[at]["text"][:5]}, {"text": parts[at]["text"][5:]}]
    pieces = [
        {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
            "modelVersion": model,
        }
        for part in (*parts[:at], *halves, *parts[at + 1 :])
    ]
    pieces[-1]["candidates"][0]["finishReason"], pieces[-1]["usageMetadata"] = "STOP", usage
    return sse(pieces, named=False)


class Provider:
    """Answers the n-th request of a model with its n-th turn."""

    def __init__(self):
        self.turns = {}

    async def __call__(self, request, reader, writer):
        path, body = request.target.split("?")[0], json.loads(request.body)
        model = body.get("model") or path.rsplit("/", 1)[-1].split(":")[0]
        turn = self.turns[model] = self.turns.get(model, 0) + 1
        make = {
            "chat": chat,
            "responses": response,
            "previous": response,
            "messages": message,
            "gemini": content,
        }[model.split("-")[0]]
        streams = model.endswith("streamed")
        made = make(model, turn, streams)
        await (streamed(made) if streams else whole(json.dumps(made).encode()))(
            request, reader, writer
        )


def what_is_said(block):
    if block["kind"] == "call":
        return (
            "call",
            block["name"],
            json.loads(block["arguments"])
            if isinstance(block["arguments"], str)
            else block["arguments"],
        )
    if block["kind"] == "result":
        return "result", "".join(each.get("text", "") for each in block["blocks"])
    return block["kind"], block["text"]


def expected(model):
    """Chat Completions have no reasoning."""
    reasoning = [] if model.startswith("chat") else [("reasoning", thought(model))]
    return [
        ("text", "Be brief."),
        ("text", f"What is the weather in Oslo, {model}?"),
        *reasoning,
        ("text", said(model, 1)),
        ("call", "weather", ARGUMENTS),
        ("result", "rain, 3 degrees"),
        ("text", said(model, 2)),
        ("text", "Thank you!"),
        ("text", said(model, 3)),
    ]


def command_for(sdks):
    here = pathlib.Path(__file__).resolve().parent
    if (sdks / "bin/python").exists():
        return [str(sdks / "bin/python"), str(here / "sdk_turn_calls.py")], []
    if (sdks / "node_modules/openai").exists():
        return ["node", str(here / "sdk_turn_calls.mjs")], [str(sdks.resolve())]
    return None


def main(program, sdks):
    command = command_for(pathlib.Path(sdks))
    if command is None:
        print(f"skipped: sdks: there is nothing in {sdks}")
        return 77
    folder = Folder(program)
    store = f"sqlite:{folder.path}/kept.db"
    environment = {
        k: v
        for k, v in folder.env.items()
        if k.lower() not in ("http_proxy", "https_proxy", "all_proxy")
    }

    def ask(conversation, query, member="result"):
        done = subprocess.run(
            [program, "exec", "--store", store, "--conversation", conversation],
            input=json.dumps(query),
            capture_output=True,
            text=True,
            env=folder.env,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)[member]

    try:
        with Upstream() as upstream:
            upstream.answer = Provider()
            with Gateway(folder, upstream, store) as gateway:
                done = subprocess.run(
                    [*command[0], gateway.url, *command[1]],
                    capture_output=True,
                    text=True,
                    timeout=300,
                    env=environment,
                )
                assert done.returncode == 0, done.stderr[-3000:] + gateway.log()[-1000:]
                assert gateway.stop()[0] == 0
        models = [f"{kind}-{ending}" for ending in ("whole", "streamed") for kind in KINDS]
        assert done.stdout.splitlines() == [last_words(model) for model in models], done.stdout
        listed = subprocess.run(
            [program, "list", "--store", store, "--json"],
            capture_output=True,
            text=True,
            env=folder.env,
        ).stdout
        conversations = {}
        for line in listed.splitlines():
            conversation = json.loads(line)["conversation"]
            records = ask(conversation, {"query": "requests"})
            conversations.setdefault(records[0]["model"], []).append((conversation, records))
        assert sorted(conversations) == sorted(models), conversations.keys()
        for model, found in conversations.items():
            assert len(found) == 1, f"{model} is {[conversation for conversation, _ in found]}"
            ((conversation, records),) = found
            told = [
                what_is_said(block)
                for row in ask(conversation, {"query": "blocks"})
                for block in row["blocks"]
            ]
            assert told == expected(model), f"{model}:\n{told}\ninstead of\n{expected(model)}"
            stored = ask(conversation, {"query": "messages", "all": True}, "messages")
            kept = ask(conversation, {"query": "messages"}, "messages")
            assert len(stored) == len(kept), f"{model}: {stored}"
            usage = [
                (
                    record["usage"]["prompt"],
                    record["usage"]["completion"],
                    record["usage"]["cached"],
                )
                for record in records
            ]
            assert usage == [(10 * turn, turn, turn) for turn in (1, 2, 3)], f"{model}: {usage}"
            assert [record["status"] for record in records] == [200, 200, 200], records
        print(
            f"{len(models)} conversations of 3 turns each: texts, reasoning, calls, results and usage are those of the wire"
        )
    finally:
        folder.remove()
    return 0


sys.exit(main(*sys.argv[1:]))
