#!/usr/bin/env python3
"""A model endpoint on loopback that plays every part a real one may play.   fault_server.py

Prints "port N M" once it listens on 127.0.0.1, at N with HTTP and at M with HTTPS and a certificate that nobody trusts. Ends when its
standard input does. It speaks as chat completions (a path that ends in
/chat/completions) or as Anthropic messages (/v1/messages), streamed or not, as the request asks. Used as a proxy it answers all the same.
The first part of the path names the scene, or else the model does: http://127.0.0.1:N/hang/v1, or model "hang" at http://127.0.0.1:N/v1.

Answers
  ok                a good summary (SUMMARY below), model "MODEL-answered", 123 prompt tokens, 45 completion tokens
  say:TEXT          TEXT in its place (as a model's name)
  echo-long         a text several times longer than asked for
  wait-for-release  as ok, but only once GET /release was made
  split             as ok; a stream in CRLF lines with comments, one byte at a time, and data of several lines
  no-done           as ok; a stream that ends, or goes silent, after its reason to stop, without "[DONE]"
  whole             as ok, never streamed whatever was asked for
  thinks            as ok, with <think>…</think> in front
  untyped           as ok, without a content type
Errors
                    (once: for each of the two APIs, streamed and not)
  status-NNN        that status and an error object; status-NNN-then-ok once, and ok from then on
  retry-now         once 429 with Retry-After: 0, then ok
  retry-date        once 503 with a date that has passed, then ok
  retry-late        429 with Retry-After: 3600
  no-money          429 that says insufficient_quota
  refuses-key       401 with the key it was sent in its message
  knows-other-key   400 unless the limit of tokens is called max_completion_tokens
  small-window      400 as over the context window, while the request is longer than 20,000 bytes
  redirect          307 to /caught/…, which answers as ok
  rude-error        400 with a message that is long, and commands the terminal
  html-error        502 with an HTML page full of control characters
  huge-error        500 with an endless body
Streams that go wrong (answers that are not streamed play "error" or "truncated")
  error             an error event in the middle of the text; error-first: before it, once, then ok
  truncated         the connection is cut in the middle of the text; truncated-first: before it, once, then ok
  unfinished        ends in good order in the middle of the text, without a reason to stop
  endless           text for ever
  long-event        one event without an end
Answers that are of no use
  empty, empty-text, no-text, garbage, not-json, wrong-json, deep, bad-utf8, html, wrong-type, gzip, wrong-role, huge, huge-headers,
  cut-off (at its limit of tokens), filtered, refusal, tool-call, only-thinks, thinks-on (reasoning without an end)
No answers
  hang              reads the request and says nothing
  stall             begins to stream, then says nothing
  drip              a comment every 20 ms, and never an answer
  closes            closes the connection without an answer; closes-then-ok: once, then ok

GET /requests   every POST so far: [{"path":…,"headers":{…},"body":"…"}, …], names of headers in lower case
GET /count      how many there are
GET /wait/N     every POST, once there are N of them
GET /gone/N     answers once N clients have closed their connection, whatever they got
GET /release    lets wait-for-release answer; GET /hold takes that back
"""

import gzip
import http.server
import json
import os
import re
import socket
import ssl
import struct
import sys
import tempfile
import threading
import time

SUMMARY = "The user asked for a parser: src/parser.cpp. Grüße, 世界 🙂. Open: tests."

# Made for this file: signed by itself, for 127.0.0.1, and worth nothing.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSacrrRjmopPCR7we
41hYen08605bCtPNWPCb01Yn58WhRANCAATuMJzBTqPZxHwjBTyVU7TpYfoExQlW
P1RXeod8yohHtNudi7G65bDTEbWHZVjTF7A0k/jyvByaOeVyEbL+URfW
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBkTCCATagAwIBAgIUInjcPyC3f6MAH1thViKfmdMMoGUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTExNTEyNDAwOFoYDzIxMjYxMDIy
MTI0MDA4WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATuMJzBTqPZxHwjBTyVU7TpYfoExQlWP1RXeod8yohHtNudi7G65bDT
EbWHZVjTF7A0k/jyvByaOeVyEbL+URfWo2QwYjAdBgNVHQ4EFgQU0dwjyJZR59+c
dUgPtqpUBB95iIcwHwYDVR0jBBgwFoAU0dwjyJZR59+cdUgPtqpUBB95iIcwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0kAMEYC
IQDZY1ZGGlNbW44U2VoJmxtG03sEmtkmPBafrP7Mt6vCZgIhAJlzUe34Iaswe0HR
Id+0t8zdFzJVLvzUdtlMwYezAUej
-----END CERTIFICATE-----
"""


class State:
    def __init__(self):
        self.changed = threading.Condition()
        self.requests = []
        self.gone = 0
        self.played = set()
        self.released = False

    def change(self, action):
        with self.changed:
            action(self)
            self.changed.notify_all()

    def wait(self, test):
        with self.changed:
            self.changed.wait_for(lambda: test(self))


STATE = State()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    # Plumbing

    def send(self, status, body, content_type="application/json", **headers):
        self.send_response(status)
        if content_type:
            self.send_header("Content-Type", content_type)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def send_json(self, status, value, **headers):
        self.send(status, json.dumps(value, ensure_ascii=False).encode(), **headers)

    def begin_stream(self, content_type="text/event-stream; charset=utf-8", status=200):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def recorded(self, action):
        """What `action` would send in chunks."""
        sent = []
        self.chunk = sent.append
        action()
        del self.chunk
        return b"".join(sent)

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")

    def event(self, value, name=None):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.chunk(((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode())

    def cut(self):
        """Ends the connection as a crash would."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def say_nothing(self):
        """Until the client hangs up; see finish()."""
        self.wfile.flush()
        self.close_connection = True

    def finish(self):
        super().finish()
        if getattr(self, "command", None) != "POST":
            return
        try:
            while self.connection.recv(1024):
                pass
        except OSError:
            pass
        STATE.change(lambda s: setattr(s, "gone", s.gone + 1))

    def first_time(self):
        played = (self.scene, self.path, bool(self.body.get("stream")))
        with STATE.changed:
            is_first = played not in STATE.played
            STATE.played.add(played)
            return is_first

    # The two APIs

    def error_object(self, message, kind):
        if self.anthropic:
            return {"type": "error", "error": {"type": kind, "message": message}}
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def openai_chunk(self, delta, reason=None, **more):
        return {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": self.answered_model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
            **more,
        }

    def stream_start(self):
        if self.anthropic:
            message = {
                "id": "m1",
                "type": "message",
                "role": "assistant",
                "model": self.answered_model,
                "content": [],
                "stop_reason": None,
                "usage": {
                    "input_tokens": 100,
                    "cache_read_input_tokens": 20,
                    "cache_creation_input_tokens": 3,
                    "output_tokens": 1,
                },
            }
            self.event({"type": "message_start", "message": message}, "message_start")
            self.event({"type": "ping"}, "ping")
            self.event(
                {
                    "type": "content_block_start",
                    "index": 0,
                    "content_block": {"type": "text", "text": ""},
                },
                "content_block_start",
            )
        else:
            self.event(
                self.openai_chunk({"role": "assistant", "content": "", "refusal": None}, usage=None)
            )

    def stream_text(self, text):
        for at in range(0, len(text), 16):
            piece = text[at : at + 16]
            if self.anthropic:
                delta = {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": piece},
                }
                self.event(delta, "content_block_delta")
            else:
                self.event(self.openai_chunk({"content": piece}, usage=None))

    def stream_stop(self, reason, done=True):
        if self.anthropic:
            self.event({"type": "content_block_stop", "index": 0}, "content_block_stop")
            delta = {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": 45},
            }
            self.event(delta, "message_delta")
            if done:
                self.event({"type": "message_stop"}, "message_stop")
        else:
            self.event(self.openai_chunk({}, reason, usage=None))
            if self.body.get("stream_options", {}).get("include_usage"):
                usage = {"prompt_tokens": 123, "completion_tokens": 45, "total_tokens": 168}
                self.event({**self.openai_chunk({}), "choices": [], "usage": usage})
            if done:
                self.event("[DONE]")

    def stop_word(self, word):
        """The reason to stop, as this API spells it."""
        anthropic = {
            "stop": "end_turn",
            "length": "max_tokens",
            "content_filter": "refusal",
            "tool_calls": "tool_use",
        }
        return anthropic[word] if self.anthropic else word

    def whole(self, text, reason="stop", role="assistant", **message):
        if self.anthropic:
            content = [{"type": "text", "text": text}] if text is not None else []
            usage = {
                "input_tokens": 100,
                "cache_read_input_tokens": 20,
                "cache_creation_input_tokens": 3,
                "output_tokens": 45,
            }
            return {
                "id": "m1",
                "type": "message",
                "role": role,
                "model": self.answered_model,
                "content": content,
                "stop_reason": self.stop_word(reason),
                "stop_sequence": None,
                "usage": usage,
            }
        choice = {
            "index": 0,
            "message": {"role": role, "content": text, **message},
            "finish_reason": reason,
            "logprobs": None,
        }
        return {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": self.answered_model,
            "choices": [choice],
            "usage": {"prompt_tokens": 123, "completion_tokens": 45, "total_tokens": 168},
        }

    def answer(self, text, reason="stop"):
        if not self.body.get("stream"):
            return self.send_json(200, self.whole(text, reason))
        self.begin_stream()
        self.stream_start()
        self.stream_text(text)
        self.stream_stop(self.stop_word(reason))
        self.end_stream()

    # Requests

    def do_GET(self):
        part, _, number = self.path.strip("/").partition("/")
        if part == "wait":
            STATE.wait(lambda s: len(s.requests) >= int(number))
        elif part == "gone":
            STATE.wait(lambda s: s.gone >= int(number))
        elif part in ("release", "hold"):
            STATE.change(lambda s: setattr(s, "released", part == "release"))
        elif part not in ("requests", "count"):
            return self.send_json(404, {})
        with STATE.changed:
            requests = list(STATE.requests)
        self.send_json(200, len(requests) if part == "count" else requests)

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = {
            "path": self.path,
            "headers": {k.lower(): v for k, v in self.headers.items()},
            "body": text.decode("utf-8", "replace"),
        }
        STATE.change(lambda s: s.requests.append(request))
        try:
            self.body = json.loads(text)
        except ValueError:
            return self.send_json(400, {"error": {"message": "the request is not JSON"}})
        if self.path.endswith("/embeddings"):
            return self.embed()
        self.anthropic = self.path.endswith("/v1/messages")
        if not self.anthropic and not self.path.endswith("/chat/completions"):
            return self.send_json(404, {"error": {"message": "no such path"}})
        self.answered_model = self.body["model"] + "-answered"
        first = re.sub(r"^https?://[^/]*", "", self.path).strip("/").split("/")[0]
        self.scene = self.body["model"] if first in ("v1", "chat") else first
        try:
            self.play(self.scene)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    # The vector of a text: how often it says each colour. The last ones first, so that places do not tell.
    def embed(self):
        model, texts = self.body["model"], self.body["input"]
        if model.startswith("status-"):
            return self.send_json(int(model.split("-")[1]), {"error": {"message": "no"}})
        data = [
            {
                "object": "embedding",
                "index": i,
                "embedding": [text.count(colour) + 0.25 for colour in ("red", "blue", "crimson")],
            }
            for i, text in enumerate(texts)
        ]
        if model == "synonyms":
            for each, text in zip(data, texts):
                each["embedding"] = [
                    text.count("red") + text.count("crimson") + 0.25,
                    text.count("blue") + 0.25,
                    0.25,
                ]
        if model == "lacks-one":
            data.pop()
        if model == "foreign":
            data[0]["index"] = 4711
        self.send_json(200, {"object": "list", "data": data[::-1], "model": model})

    def play(self, scene):
        if scene.startswith("say:"):
            return self.answer(scene[4:])
        if scene.startswith("status-"):
            status = int(scene.split("-")[1])
            if scene.endswith("-then-ok") and not self.first_time():
                return self.answer(SUMMARY)
            return self.send_json(
                status, self.error_object(f"this is status {status}", "some_error")
            )
        if scene.endswith("-then-ok") or scene.endswith("-first"):
            if not self.first_time():
                return self.answer(SUMMARY)
            scene = scene.removesuffix("-then-ok")
        getattr(self, "play_" + scene.replace("-", "_"))()

    # Answers

    def play_ok(self):
        self.answer(SUMMARY)

    play_caught = play_ok

    def play_echo_long(self):
        limit = self.body.get("max_tokens") or self.body.get("max_completion_tokens")
        self.answer("word " * (4 * limit + 1000))

    def play_wait_for_release(self):
        STATE.wait(lambda s: s.released)
        self.answer(SUMMARY)

    def play_split(self):
        if not self.body.get("stream"):
            return self.answer(SUMMARY)
        self.begin_stream()
        text = self.recorded(self.stream_start) + self.recorded(lambda: self.stream_text(SUMMARY))
        text += self.recorded(lambda: self.stream_stop(self.stop_word("stop")))
        text = (
            text.replace(b"\n\n", b"\n: a comment\n\n")
            .replace(b', "', b',\ndata: "', 3)
            .replace(b"\n", b"\r\n")
        )
        for at in range(len(text)):
            self.chunk(text[at : at + 1])
        self.end_stream()

    def play_no_done(self):
        if not self.body.get("stream"):
            return self.answer(SUMMARY)
        self.begin_stream()
        self.stream_start()
        self.stream_text(SUMMARY)
        self.stream_stop(self.stop_word("stop"), done=False)
        self.cut()

    def play_whole(self):
        self.send_json(200, self.whole(SUMMARY))

    def play_thinks(self):
        self.answer("<think>\nHm.\n</think>\n\n" + SUMMARY)

    def play_untyped(self):
        self.send_json(200, self.whole(SUMMARY), content_type=None)

    # Errors

    def play_retry_now(self):
        if not self.first_time():
            return self.answer(SUMMARY)
        self.send_json(429, self.error_object("slow down", "rate_limit_error"), Retry_After="0")

    def play_retry_date(self):
        if not self.first_time():
            return self.answer(SUMMARY)
        self.send_json(
            503,
            self.error_object("not now", "api_error"),
            Retry_After="Wed, 21 Oct 2015 07:28:00 GMT",
        )

    def play_retry_late(self):
        self.send_json(429, self.error_object("slow down", "rate_limit_error"), Retry_After="3600")

    def play_no_money(self):
        self.send_json(
            429, self.error_object("You exceeded your current quota", "insufficient_quota")
        )

    def play_refuses_key(self):
        key = self.headers.get("x-api-key") or self.headers.get("Authorization", "").removeprefix(
            "Bearer "
        )
        self.send_json(
            401,
            self.error_object(f"Incorrect key: {key} {'x' * 270} {key}", "authentication_error"),
        )

    def play_knows_other_key(self):
        if "max_completion_tokens" in self.body:
            return self.answer(SUMMARY)
        text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        self.send_json(400, self.error_object(text, "invalid_request_error"))

    def play_small_window(self):
        if int(self.headers["Content-Length"]) <= 20000:
            return self.answer(SUMMARY)
        text = (
            "prompt is too long: 9000 tokens > 5000 maximum"
            if self.anthropic
            else "This model's maximum context length is 5000 tokens."
        )
        self.send_json(400, self.error_object(text, "invalid_request_error"))

    def play_redirect(self):
        self.send_json(307, {}, Location="/caught" + self.path.removeprefix("/redirect"))

    def play_rude_error(self):
        self.send_json(
            400, self.error_object("bad\x1b[31m\n\u202eword " + "x" * 1000, "invalid_request_error")
        )

    def play_html_error(self):
        self.send(502, b"<html>\x1b[31m bad \x00 gateway</html>", "text/html")

    def play_huge_error(self):
        self.begin_stream("application/json", 500)
        while True:
            self.chunk(b" " * 65536)

    # Streams that go wrong

    def play_error(self):
        problem = self.error_object("Overloaded", "overloaded_error")
        if not self.body.get("stream"):
            return self.send_json(200, problem)
        self.begin_stream()
        if not self.scene.endswith("-first"):
            self.stream_start()
            self.stream_text(SUMMARY[:20])
        self.event(problem, "error" if self.anthropic else None)
        self.end_stream()

    play_error_first = play_error

    def play_truncated(self):
        if not self.body.get("stream"):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id":')
            return self.cut()
        self.begin_stream()
        if not self.scene.endswith("-first"):
            self.stream_start()
            self.stream_text(SUMMARY[:20])
        self.cut()

    play_truncated_first = play_truncated

    def play_unfinished(self):
        if not self.body.get("stream"):
            return self.play_truncated()
        self.begin_stream()
        self.stream_start()
        self.stream_text(SUMMARY[:20])
        self.end_stream()

    def play_endless(self):
        self.begin_stream()
        self.stream_start()
        events = self.recorded(lambda: self.stream_text("word " * 10000))
        while True:
            self.chunk(events)

    def play_long_event(self):
        self.begin_stream()
        while True:
            self.chunk(b"data: " + b"x" * 65536)

    # Answers that are of no use

    def play_empty(self):
        self.send(200, b"")

    def play_empty_text(self):
        self.answer("")

    def play_no_text(self):
        self.send_json(
            200,
            {
                "id": "c1",
                "object": "chat.completion",
                "model": "m",
                "choices": [],
                "content": [],
                "usage": {},
            },
        )

    def play_garbage(self):
        data = bytes(range(256)) * 8
        self.send(200, data, "text/event-stream" if self.body.get("stream") else "application/json")

    def play_not_json(self):
        if not self.body.get("stream"):
            return self.send(200, b"{'text': None}")
        self.begin_stream()
        self.event("{'text': None}")
        self.end_stream()

    def play_wrong_json(self):
        self.send_json(200, [1, 2, {"choices": {"message": 7}}])

    def play_deep(self):
        self.send(200, b"[" * 1000000)

    def play_bad_utf8(self):
        self.send(200, json.dumps(self.whole("x")).encode().replace(b'"x"', b'"\xff\xfe"'))

    def play_html(self):
        self.send(200, b"<html><body>Please log in</body></html>", "text/html; charset=utf-8")

    def play_wrong_type(self):
        self.send(200, json.dumps(self.whole(SUMMARY)).encode(), "text/plain")

    def play_gzip(self):
        self.send(
            200, gzip.compress(json.dumps(self.whole(SUMMARY)).encode()), Content_Encoding="gzip"
        )

    def play_wrong_role(self):
        self.send_json(200, self.whole(SUMMARY, role="user"))

    def play_huge(self):
        self.begin_stream("application/json")
        self.chunk(b'{"id":"')
        while True:
            self.chunk(b"x" * 65536)

    def play_huge_headers(self):
        self.send_response(200)
        for number in range(1000):
            self.send_header(f"X-{number}", "x" * 1000)
        self.end_headers()
        self.cut()

    def play_cut_off(self):
        self.answer(SUMMARY[:30], "length")

    def play_filtered(self):
        self.answer(SUMMARY[:30], "content_filter")

    def play_refusal(self):
        if self.anthropic:
            return self.answer("", "content_filter")
        self.send_json(200, self.whole(None, refusal="I cannot help with that."))

    def play_tool_call(self):
        self.answer("", "tool_calls")

    def play_only_thinks(self):
        self.answer("<think>Hm.</think>\n")

    def play_thinks_on(self):
        self.answer("<think>\nHm. The user wants")

    # No answers

    def play_hang(self):
        self.say_nothing()

    def play_stall(self):
        self.begin_stream()
        self.stream_start()
        self.stream_text(SUMMARY[:20])
        self.say_nothing()

    def play_drip(self):
        self.begin_stream()
        while True:
            self.chunk(b":\n")
            time.sleep(0.02)

    def play_closes(self):
        self.cut()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # A client that hangs up is part of the play; anything else is a fault of this file.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def main():
    servers = [Server(("127.0.0.1", 0), Handler) for _ in range(2)]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(CERTIFICATE)
        file.flush()
        context.load_cert_chain(file.name)
    # The handshake is made by the thread of the connection, when it first reads.
    servers[1].socket = context.wrap_socket(
        servers[1].socket, server_side=True, do_handshake_on_connect=False
    )
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("port", *(server.server_address[1] for server in servers), flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
