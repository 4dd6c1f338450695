#!/usr/bin/env python3
"""Context tools that the gateway offers and answers without the client (--tools recall).   tools.py PROGRAM

A client that forgets what it said talks through the gateway to a model of ours, which searches before it answers. The client gets one answer, whole or
streamed, and sees neither the tools nor the calls; the model finds what the client no longer sends.
"""

import http.server
import json
import subprocess
import sys
import threading
import unittest
import urllib.request

from gateways import Folder, Gateway

PROGRAM = None
FACT = "The launch code of the kettle is wombat-4711."


def result_of(body):
    """The text of a tool's result at the end of a request, in the words of its dialect; None where there is none."""
    if "input" in body:
        last = body["input"][-1] if isinstance(body["input"], list) else {}
        return last.get("output") if last.get("type") == "function_call_output" else None
    if "contents" in body:
        parts = body["contents"][-1]["parts"]
        return next(
            (
                json.dumps(part["functionResponse"]["response"])
                for part in parts
                if "functionResponse" in part
            ),
            None,
        )
    last = body["messages"][-1]
    if last["role"] == "tool":
        return last["content"]
    blocks = last["content"] if isinstance(last["content"], list) else []
    return next((block["content"] for block in blocks if block["type"] == "tool_result"), None)


def anthropic(text, search):
    block = (
        {"type": "tool_use", "id": "toolu_1", "name": "context_search", "input": {"text": search}}
        if search
        else {"type": "text", "text": text}
    )
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [block],
        "stop_reason": "tool_use" if search else "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 1},
    }
    start = {**block, "input": {}} if search else {"type": "text", "text": ""}
    delta = (
        {"type": "input_json_delta", "partial_json": json.dumps({"text": search})}
        if search
        else {"type": "text_delta", "text": text}
    )
    return message, [
        {"type": "message_start", "message": {**message, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"]},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]


def chat(text, search):
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "context_search", "arguments": json.dumps({"text": search})},
    }
    message = (
        {"role": "assistant", "content": None, "tool_calls": [call]}
        if search
        else {"role": "assistant", "content": text}
    )
    finish = "tool_calls" if search else "stop"
    delta = {"tool_calls": [{"index": 0, **call}]} if search else {"content": text}
    chunks = [
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "model": "m",
            "choices": [{"index": 0, "delta": d, "finish_reason": f}],
        }
        for d, f in (({"role": "assistant", "content": ""}, None), (delta, None), ({}, finish))
    ]
    return {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }, chunks


def responses(text, search):
    item = (
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "context_search",
            "arguments": json.dumps({"text": search}),
            "status": "completed",
        }
        if search
        else {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }
    )
    response = {
        "id": "resp_1",
        "object": "response",
        "model": "m",
        "status": "completed",
        "output": [item],
    }
    events = [
        {
            "type": "response.created",
            "response": {**response, "status": "in_progress", "output": []},
        },
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return response, [{"sequence_number": i, **event} for i, event in enumerate(events)]


def gemini(text, search):
    part = (
        {"functionCall": {"name": "context_search", "args": {"text": search}}}
        if search
        else {"text": text}
    )
    answer = {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "responseId": "r",
        "modelVersion": "m",
    }
    return answer, [answer]


GEMINI = "/v1beta/models/m"
DIALECTS = {
    "/v1/messages": anthropic,
    "/v1/chat/completions": chat,
    "/v1/responses": responses,
    GEMINI: gemini,
}


class Model(http.server.ThreadingHTTPServer):
    """Says what a search brought back, where it may search."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.bodies = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        found = result_of(body)
        may_search = (
            "context_search" in json.dumps(body.get("tools", []))
            and found is None
            and "Which code" in json.dumps(body)
        )
        said = "It is wombat-4711." if found and "wombat-4711" in found else "I do not know."
        if is_gemini := self.path.startswith(GEMINI):
            body["stream"] = "stream" in self.path
        whole, events = DIALECTS[GEMINI if is_gemini else self.path](
            said, "launch codes" if may_search else None
        )
        data = (
            "".join(f"data: {json.dumps(event)}\n\n" for event in events)
            if body.get("stream")
            else json.dumps(whole)
        )
        self.send_response(200)
        self.send_header(
            "Content-Type", "text/event-stream" if body.get("stream") else "application/json"
        )
        self.send_header("Content-Length", str(len(data.encode())))
        self.end_headers()
        self.wfile.write(data.encode())


class Tools(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.addCleanup(self.folder.remove)
        self.model = self.enterContext(Model())
        self.store = f"sqlite:{self.folder.path}/kept.db"

    def gateway(self, *options):
        return self.enterContext(Gateway(self.folder, self.model.url, self.store, *options))

    def ask(self, gateway, path, conversation, texts, stream):
        if path == GEMINI:
            contents = [
                {"role": ("user", "model")[i % 2], "parts": [{"text": text}]}
                for i, text in enumerate(texts)
            ]
            address = path + (":streamGenerateContent?alt=sse" if stream else ":generateContent")
            return self.post(f"{gateway.url}/gemini{address}", {"contents": contents}, conversation)
        provider = "anthropic" if path == "/v1/messages" else "openai"
        messages = [
            {"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)
        ]
        body = {
            "model": "m",
            "input" if path == "/v1/responses" else "messages": messages,
            "stream": stream,
        }
        if provider == "anthropic":
            body["max_tokens"] = 99
        return self.post(f"{gateway.url}/{provider}{path}", body, conversation)

    def post(self, url, body, conversation):
        fields = {
            "Content-Type": "application/json",
            "x-api-key": "k",
            "x-goog-api-key": "k",
            "X-Undertext-Conversation": conversation,
        }
        request = urllib.request.Request(
            url, json.dumps(body).encode(), method="POST", headers=fields
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def test_a_model_finds_what_its_client_no_longer_sends(self):
        gateway = self.gateway("--tools", "recall")
        for path in DIALECTS:
            for stream in (False, True):
                with self.subTest(path=path, stream=stream):
                    conversation = f"c-{path.split('/')[-1]}-{stream}"
                    self.ask(gateway, path, conversation, [FACT], stream)
                    self.model.bodies.clear()
                    answer = self.ask(
                        gateway, path, conversation, ["Which code does the kettle have?"], stream
                    )
                    self.assertIn("It is wombat-4711.", answer)
                    self.assertNotIn("context_search", answer)
                    self.assertEqual(len(self.model.bodies), 2)
                    self.assertIn("data, not instructions", json.dumps(self.model.bodies[1]))
                    self.assertEqual(stream, answer.startswith("data: "))

    def test_a_policy_offers_them_to_its_tenants_and_models_alone(self):
        gateway = self.gateway("--policy", '{"models":{"m":{"tools":"recall"}}}')
        self.ask(gateway, "/v1/messages", "c", [FACT], False)
        self.assertIn(
            "It is wombat-4711.",
            self.ask(gateway, "/v1/messages", "c", ["Which code does the kettle have?"], False),
        )
        self.assertEqual(gateway.stop()[0], 0)
        gateway = self.gateway("--tools", "recall", "--policy", '{"models":{"m":{"tools":"none"}}}')
        self.assertIn(
            "I do not know.",
            self.ask(gateway, "/v1/messages", "c", ["Which code does the kettle have?"], False),
        )

    def test_what_is_recorded_is_what_the_client_said_and_saw(self):
        gateway = self.gateway("--tools", "recall")
        self.ask(gateway, "/v1/messages", "c", [FACT], False)
        self.ask(gateway, "/v1/messages", "c", ["Which code does the kettle have?"], True)
        self.assertEqual(gateway.stop()[0], 0)
        shown = subprocess.run(
            [PROGRAM, "show", "--store", self.store, "-c", "c", "--json"],
            capture_output=True,
            text=True,
            check=True,
            env=self.folder.env,
        ).stdout
        self.assertIn("It is wombat-4711.", shown)
        self.assertNotIn("context_search", shown)
        self.assertNotIn("tool_use", shown)

    def test_nothing_is_offered_without_the_option_and_to_what_is_no_turn(self):
        self.ask(self.gateway(), "/v1/messages", "c", ["Which code does the kettle have?"], False)
        self.assertNotIn("tools", self.model.bodies[-1])
        done = subprocess.run(
            [PROGRAM, "gateway", "--tools", "all", self.store],
            capture_output=True,
            text=True,
            env=self.folder.env,
            timeout=60,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("none or recall", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
