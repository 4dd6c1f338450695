"""A model for the examples, on the loopback: it follows a script, speaks every provider's format, and refuses what providers refuse.

with model() as upstream:
    upstream.requests
"""

import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "gateway"), str(TESTS / "dialect")]
from upstream import Upstream, whole
from validator import broken

# What it answers to the last words that it reads: a text, or a call of a tool that the request offers.
SCRIPT = (
    ("Why is the build red?", ("run_tests", {"suite": "parser"})),
    ("Why is the build red?", "A test of the parser fails."),
    ("1 failed: parser.cpp:17", "parser.cpp fails at line 17: it refuses an empty list."),
    ("Please fix it.", "Fixed: line 17 now takes an empty list."),
    ("Tidy up the branches.", ("delete_branch", {"name": "wip"})),
    ("deleted wip", "The branch wip is gone."),
    ("Which tests are missing?", "One for a list of one element."),
    ("Which files are affected?", "parser.cpp and parser.hpp."),
    (
        "One for a list",
        "The parser needs a test for a list of one element; parser.cpp and parser.hpp change.",
    ),
)


def answer_to(said, tools):
    for asked, answer in SCRIPT:
        if asked in said and (isinstance(answer, str) or answer[0] in tools):
            return answer
    return f"Understood: {said.splitlines()[0][:60]}"


def words_of(content):
    """The texts of a message, whatever they are wrapped in."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(words_of, content)))
    if isinstance(content, dict):
        return "\n".join(
            filter(
                None,
                (
                    words_of(content.get(key))
                    for key in ("text", "content", "output", "result", "response")
                ),
            )
        )
    return ""


def chat(body):
    answer = answer_to(
        words_of(body["messages"][-1]["content"]),
        [tool["function"]["name"] for tool in body.get("tools", [])],
    )
    message = {"role": "assistant", "content": answer}
    if not isinstance(answer, str):
        call = {
            "id": f"call_{len(body['messages'])}",
            "type": "function",
            "function": {"name": answer[0], "arguments": json.dumps(answer[1])},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "stop" if isinstance(answer, str) else "tool_calls",
        "logprobs": None,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": 40, "completion_tokens": 10, "total_tokens": 50},
    }


def responses(body):
    items = body["input"] if isinstance(body["input"], list) else [{"content": body["input"]}]
    answer = answer_to(words_of(items[-1]), [tool["name"] for tool in body.get("tools", [])])
    text = {
        "type": "message",
        "id": f"msg_{len(items)}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": answer, "annotations": []}],
    }
    if not isinstance(answer, str):
        text = {
            "type": "function_call",
            "id": f"fc_{len(items)}",
            "call_id": f"call_{len(items)}",
            "name": answer[0],
            "arguments": json.dumps(answer[1]),
            "status": "completed",
        }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body["model"],
        "output": [text],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 40,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 50,
        },
    }


def messages(body):
    answer = answer_to(
        words_of(body["messages"][-1]["content"]), [tool["name"] for tool in body.get("tools", [])]
    )
    block = {"type": "text", "text": answer}
    if not isinstance(answer, str):
        block = {
            "type": "tool_use",
            "id": f"toolu_{len(body['messages'])}",
            "name": answer[0],
            "input": answer[1],
        }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": "end_turn" if isinstance(answer, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 40, "output_tokens": 10},
    }


def generate(body):
    tools = [
        each["name"]
        for tool in body.get("tools", [])
        for each in tool.get("functionDeclarations", [])
    ]
    last = body["contents"][-1]["parts"]
    said = "\n".join(
        part.get("text") or words_of(part.get("functionResponse", {})) for part in last
    )
    answer = answer_to(said, tools)
    part = (
        {"text": answer}
        if isinstance(answer, str)
        else {
            "functionCall": {"name": answer[0], "args": answer[1]},
            "thoughtSignature": "c2lnbmVk",
        }
    )
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": 40,
            "candidatesTokenCount": 10,
            "totalTokenCount": 50,
        },
        "modelVersion": "m",
    }


FORMATS = (
    ("/chat/completions", "openai_chat", chat),
    ("/responses", "openai_responses", responses),
    ("/messages", "anthropic", messages),
    (":generateContent", "gemini", generate),
)


async def reply(request, reader, writer):
    body = json.loads(request.body or b"{}")
    path = request.target.split("?")[0]
    for ending, profile, make in FORMATS:
        if path.endswith(ending):
            found = broken(profile, body)
            answer = (
                {"error": {"type": "invalid_request_error", "message": "; ".join(found)}}
                if found
                else make(body)
            )
            return await whole(
                json.dumps(answer).encode(), "400 Bad Request" if found else "200 OK"
            )(request, reader, writer)
    return await whole(b"{}", "404 Not Found")(request, reader, writer)


def model():
    upstream = Upstream()
    upstream.answer = reply
    return upstream


def environment(url):
    """What leads the official SDKs there."""
    return {
        "OPENAI_BASE_URL": url + "/v1",
        "OPENAI_API_KEY": "sk-example",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-example",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "example",
    }
