#!/usr/bin/env python3
"""The official SDKs behave the same with the gateway and without it: what they send, what they return, what they raise, how often they try again.

sdks.py PROGRAM SDKS       SDKS: what scripts/peers sdks has got, for Python, or scripts/peers clients, for TypeScript; exits with 77 where it is not there
"""

import asyncio
import json
import pathlib
import subprocess
import sys

from gateways import Folder, Gateway
from upstream import Upstream, chunk, head, streamed, whole

REQUEST_ID = ("x-request-id", "req_1")


def sse(*events, named=False):
    lines = [
        (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n"
        for event in events
    ]
    return [line.encode() for line in lines]


def chat(model, stream):
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
    }
    base = {"id": "c1", "created": 1, "model": model}
    if not stream:
        del call["index"]
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return {
            **base,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        }
    part = {**base, "object": "chat.completion.chunk"}
    deltas = [
        {"role": "assistant", "content": ""},
        {"content": "Hel"},
        {"content": "lo \u00e9"},
        {"tool_calls": [call]},
    ]
    return [
        *sse(
            *(
                {**part, "choices": [{"index": 0, "delta": d, "finish_reason": None}]}
                for d in deltas
            )
        ),
        b"data: [DONE]\n\n",
    ]


def response(model, stream):
    text = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
    }
    done = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": model,
        "output": [text],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
    }
    if not stream:
        return done
    return sse(
        {
            "type": "response.created",
            "sequence_number": 0,
            "response": {**done, "output": [], "status": "in_progress"},
        },
        {
            "type": "response.output_text.delta",
            "sequence_number": 1,
            "item_id": "msg_1",
            "output_index": 0,
            "content_index": 0,
            "delta": "Hello",
            "logprobs": [],
        },
        {"type": "response.completed", "sequence_number": 2, "response": done},
        named=True,
    )


def message(model, stream):
    blocks = [
        {"type": "text", "text": "Hello"},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
    ]
    base = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    if not stream:
        return {**base, "content": blocks, "stop_reason": "tool_use"}
    events = [
        {"type": "message_start", "message": base},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "Hello"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {**blocks[1], "input": {}}},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"city": "Oslo"}'},
        },
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]
    return sse(*events, named=True)


def content(model, stream):
    part = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hello"}]}, "index": 0}],
        "modelVersion": model,
    }
    done = {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}],
                },
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
    }
    return sse(part, done) if stream else done


def error_body(path, status):
    if "messages" in path:
        return {"type": "error", "error": {"type": "overloaded_error", "message": f"no: {status}"}}
    if ":" in path:
        return {"error": {"code": status, "message": f"no: {status}", "status": "FAILED"}}
    return {"error": {"message": f"no: {status}", "type": "x", "param": None, "code": None}}


def models(request):
    if request.get("anthropic-version"):
        return {
            "data": [
                {
                    "id": "m1",
                    "type": "model",
                    "display_name": "M",
                    "created_at": "2026-01-01T00:00:00Z",
                }
            ],
            "has_more": False,
            "first_id": "m1",
            "last_id": "m1",
        }
    if request.get("x-goog-api-key"):
        return {"models": [{"name": "models/m1"}]}
    return {
        "object": "list",
        "data": [{"id": "m1", "object": "model", "created": 1, "owned_by": "x"}],
    }


async def provider(request, reader, writer):
    path = request.target.split("?")[0]
    body = json.loads(request.body) if request.body else {}
    model = body.get("model") or path.rsplit("/", 1)[-1].split(":")[0]
    stream = bool(body.get("stream")) or "streamGenerateContent" in path
    make = (
        chat
        if path.endswith("/chat/completions")
        else response
        if path.endswith("/responses")
        else message
        if path.endswith("/messages")
        else content
    )
    answer = None
    if request.method == "GET" and path.endswith("/models"):
        answer = whole(json.dumps(models(request)).encode())
    elif path.endswith("/count_tokens"):
        answer = whole(b'{"input_tokens": 7}')
    elif path.endswith(":countTokens"):
        answer = whole(b'{"totalTokens": 7}')
    elif model.startswith("error-"):
        status = int(model[6:])
        answer = whole(
            json.dumps(error_body(path, status)).encode(),
            f"{status} Reason",
            [("content-type", "application/json"), ("retry-after-ms", "1"), REQUEST_ID],
        )
    elif model == "silent":
        await reader.read(1)
        writer.close()
        return
    elif model == "torn":
        writer.write(
            head(fields=[("content-type", "text/event-stream")], chunked=True)
            + b"".join(map(chunk, make(model, True)[:2]))
        )
        await writer.drain()
        writer.close()
        return
    elif model == "endless":
        writer.write(head(fields=[("content-type", "text/event-stream")], chunked=True))
        while not reader.at_eof():
            writer.write(chunk(make(model, True)[0]))
            await writer.drain()
            await asyncio.sleep(0.01)
        return
    elif stream:
        answer = streamed(
            make(model, True),
            fields=[("content-type", "text/event-stream; charset=utf-8"), REQUEST_ID],
        )
    else:
        answer = whole(
            json.dumps(make(model, False)).encode(),
            fields=[("content-type", "application/json"), REQUEST_ID],
        )
    await answer(request, reader, writer)


def run(command, url, upstream, environment):
    upstream.requests.clear()
    done = subprocess.run(
        [word.format(url=url) for word in command],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results = [json.loads(line) for line in done.stdout.splitlines()]
    sent = [
        (
            r.method,
            r.target,
            sorted((n, v) for n, v in r.fields if n.lower() not in ("host", "connection")),
            r.body,
        )
        for r in upstream.requests
    ]
    return results, sent


def command_for(sdks):
    """None where there are no such SDKs."""
    here = pathlib.Path(__file__).resolve().parent
    if (sdks / "bin/python").exists():
        return [str(sdks / "bin/python"), str(here / "sdk_calls.py"), "{url}"]
    if (sdks / "node_modules/openai").exists():
        return ["node", str(here / "sdk_calls.mjs"), "{url}", str(sdks.resolve())]
    return None


def main(program, sdks):
    command = command_for(pathlib.Path(sdks))
    if command is None:
        print(f"skipped: sdks: there is nothing in {sdks}")
        return 77
    folder = Folder(program)
    environment = {
        k: v
        for k, v in folder.env.items()
        if k.lower() not in ("http_proxy", "https_proxy", "all_proxy")
    }
    try:
        with Upstream() as upstream:
            upstream.answer = provider
            direct, sent_directly = run(command, upstream.url, upstream, environment)
            with Gateway(folder, upstream) as gateway:
                through, sent_through = run(command, gateway.url, upstream, environment)
        for ours, theirs in zip(through, direct):
            assert ours == theirs, f"with the gateway {ours}\nwithout {theirs}"
        assert len(through) == len(direct) and len(sent_through) == len(sent_directly)
        for ours, theirs in zip(sent_through, sent_directly):
            assert ours == theirs, f"with the gateway {ours}\nwithout {theirs}"
        failed = [
            (sdk, name, result)
            for sdk, name, result in direct
            if "ok" not in result and not name.startswith(("error", "torn", "timeout"))
        ]
        assert not failed, failed
        print(
            f"{len(direct)} calls of SDKs, {len(sent_directly)} requests: the same with the gateway and without it"
        )
    finally:
        folder.remove()
    return 0


sys.exit(main(*sys.argv[1:]))
