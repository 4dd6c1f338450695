#!/usr/bin/env python3
"""What a gateway keeps of its traffic, and that traffic never waits for it.   recording.py PROGRAM

A client that keeps its own list talks to an upstream of ours through the gateway, while the gateway is killed, its store goes, its disk is full, its quota is reached, or nothing
may be kept. What the client reads is what the upstream said; what is recorded is what happened.
"""
import gzip
import json
import os
import subprocess
import sys
import threading
import time
import unittest

from gateways import Folder, Gateway
from running import Server
from upstream import Upstream, chunk, head, streamed, whole

PROGRAM = None
SESSION = ("x-session-id", "s-1")


def answer_text(text):
    message = {"id": "msg_" + text, "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}],
               "stop_reason": "end_turn", "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}}
    return json.dumps(message).encode()


def events(text):
    message = {"id": "msg_" + text, "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 5, "output_tokens": 1}}
    for event in ({"type": "message_start", "message": message},
                  {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                  {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
                  {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}, {"type": "message_stop"}):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def body_of(*texts):
    roles = ("user", "assistant")
    return json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]}).encode()


class Recording(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.addCleanup(self.folder.remove)
        self.upstream = self.enterContext(Upstream())
        self.store = f"sqlite:{self.folder.path}/kept.db"

    def gateway(self, *options, **others):
        return self.enterContext(Gateway(self.folder, self.upstream, self.store, *options, **others))

    def say(self, gateway, *texts, fields=(SESSION,)):
        with gateway.connect() as client:
            answer = client.ask("POST", "/v1/messages", [("content-type", "application/json"), ("x-api-key", "k"), *fields], body_of(*texts))
        self.assertTrue(answer.complete, answer)
        return answer

    def run_program(self, *words, text=None):
        done = subprocess.run([PROGRAM, *words], env=self.folder.env, input=text, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def is_so(self, condition, patience=30):
        deadline = time.monotonic() + patience
        while not (so := condition()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return so

    def conversations(self, *options):
        listed = self.run_program("list", "--store", self.store, "--json", *options)
        return [json.loads(line)["conversation"] for line in listed.splitlines()]

    def ask(self, conversation, query, *options):
        line = self.run_program("exec", "--store", self.store, "--conversation", conversation, *options, text=json.dumps(query) + "\n")
        return json.loads(line)["result"]

    def texts(self, conversation):
        rows = self.ask(conversation, {"query": "blocks"})
        return [block["text"] for row in rows for block in row["blocks"] if block["kind"] == "text"]

    def test_a_turn_is_kept_with_its_usage_and_its_bytes_streamed_or_not(self):
        gateway = self.gateway()
        self.upstream.answer = whole(answer_text("one"))
        self.say(gateway, "hi")
        self.upstream.answer = streamed(list(events("two")))
        self.say(gateway, "hi", "one", "more")
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), ["hi", "one", "more", "two"])
        first, second = self.ask(conversation, {"query": "requests"})
        self.assertEqual((first["status"], second["status"]), (200, 200))
        self.assertEqual(self.ask(conversation, {"query": "request", "number": 1})["request"].encode(), body_of("hi"))
        self.assertEqual(self.ask(conversation, {"query": "request", "number": 2})["answer"].encode(), b"".join(events("two")))

    def test_killed_in_a_stream_nothing_is_missing_after_the_next_request_and_nothing_is_made_up(self):
        for fields in ((SESSION,), ()):
            with self.subTest(fields=fields):
                self.store = f"sqlite:{self.folder.path}/{len(fields)}.db"
                gateway = self.gateway()
                self.upstream.answer = whole(answer_text("one"))
                self.say(gateway, "hi", fields=fields)
                begun = threading.Event()

                async def half(request, reader, writer):
                    writer.write(head(fields=[("content-type", "text/event-stream")], chunked=True) + chunk(next(iter(events("lost")))))
                    await writer.drain()
                    begun.set()
                    await reader.read()  # until the gateway is gone

                self.upstream.answer = half
                with gateway.connect() as client:
                    client.request("POST", "/v1/messages", [("x-api-key", "k"), *fields], body_of("hi", "one", "more"))
                    self.assertTrue(begun.wait(30))
                    client.read_head()
                    gateway.process.kill()
                    gateway.process.wait(30)
                    self.assertNotIn(b"\r\n0\r\n\r\n", client.rest())
                again = self.gateway()
                self.upstream.answer = whole(answer_text("two"))
                self.say(again, "hi", "one", "more", fields=fields)
                self.say(again, "hi", "one", "more", "two", "last", fields=fields)
                self.assertEqual(again.stop()[0], 0)
                shown = [self.texts(each) for each in self.conversations()]
                self.assertIn(["hi", "one", "more", "two", "last", "two"], shown)
                self.assertFalse(any("lost" in texts for texts in shown))

    def test_a_store_that_is_gone_changes_nothing_for_the_client(self):
        gateway = self.gateway()
        self.upstream.answer = whole(answer_text("one"))
        self.say(gateway, "hi")
        for name in os.listdir(self.folder.path):
            if name.startswith("kept.db"):
                os.rename(self.folder.path / name, self.folder.path / ("gone-" + name))
        for _ in range(3):
            self.assertEqual(self.say(gateway, "hi", "one", "more").body, answer_text("one"))
        self.assertIn("not recorded", gateway.log_with("not recorded"))
        self.assertEqual(gateway.stop()[0], 0)

    def test_a_quota_stops_recording_and_traffic_only_where_that_is_asked_for(self):
        for enforce in ("recording", "traffic"):
            with self.subTest(enforce):
                self.store = f"sqlite:{self.folder.path}/{enforce}.db"
                gateway = self.gateway("--tenant-conversations", 1, "--enforce", enforce)
                earlier = gateway.log()
                self.upstream.answer = whole(answer_text("one"))
                self.say(gateway, "hi", fields=[("x-session-id", "first")])
                self.say(gateway, "hi there", fields=[("x-session-id", "second")])
                self.assertTrue(self.is_so(lambda: gateway.log()[len(earlier):].count("not recorded")))
                before = len(self.upstream.requests)
                answer = self.say(gateway, "hello", fields=[("x-session-id", "third")])
                if enforce == "recording":
                    self.assertEqual(answer.body, answer_text("one"))
                else:
                    self.assertEqual((answer.status, answer.get("x-undertext-error")), (429, "quota_reached"))
                    self.assertEqual(answer.json()["error"]["type"], "rate_limit_error")
                    self.assertEqual(len(self.upstream.requests), before)
                self.assertEqual(gateway.stop()[0], 0)
                self.assertEqual(len(self.conversations()), 1)

    def test_levels_of_tenants_differ(self):
        tokens = {name: self.folder.make_token(name, name) for name in ("open", "quiet", "shut")}
        options = ["--tokens", self.folder.tokens, "--key-env", "anthropic=A", "--record", "quiet=metadata", "--record", "shut=none"]
        gateway = self.gateway(*options, environment={"A": "sk-own"})
        self.upstream.answer = whole(answer_text("one"))
        for name, token in tokens.items():
            with gateway.connect() as client:
                answer = client.ask("POST", "/v1/messages", [("x-api-key", token), SESSION], body_of("words of " + name))
                self.assertEqual(answer.status, 200)
        self.assertEqual(gateway.stop()[0], 0)
        kept = b"".join(each.read_bytes() for each in self.folder.path.glob("kept.db*"))
        self.assertEqual([name for name in tokens if b"words of " + name.encode() in kept], ["open"])

    def test_of_tenants_and_levels_only_what_may_be_kept_is(self):
        for level, texts, requests in (("metadata", [], 1), ("none", None, 0)):
            with self.subTest(level):
                self.store = f"sqlite:{self.folder.path}/{level}.db"
                gateway = self.gateway("--record", level)
                self.upstream.answer = whole(answer_text("one"))
                self.say(gateway, "secret words")
                self.assertEqual(gateway.stop()[0], 0)
                path = self.folder.path / f"{level}.db"
                if texts is None:
                    self.assertFalse(path.exists() and self.conversations())
                    continue
                (conversation,) = self.conversations()
                self.assertEqual(self.texts(conversation), texts)
                self.assertEqual(len(self.ask(conversation, {"query": "requests"})), requests)
                kept = b"".join(each.read_bytes() for each in self.folder.path.glob(f"{level}.db*"))
                self.assertNotIn(b"secret words", kept)

    def test_a_session_id_of_another_user_leads_to_no_conversation_of_others(self):
        gateway = self.gateway()
        self.upstream.answer = whole(answer_text("one"))
        self.say(gateway, "hi")
        with gateway.connect() as client:
            client.ask("POST", "/v1/messages", [("x-api-key", "another"), SESSION], body_of("hi", "one", "mine"))
            named = [("x-api-key", "another"), ("x-undertext-conversation", "generic-s-1")]
            client.ask("POST", "/v1/messages", named, body_of("hi", "one", "mine"))
        self.assertEqual(gateway.stop()[0], 0)
        shown = {each: self.texts(each) for each in self.conversations()}
        self.assertEqual(len(shown), 3, shown)
        self.assertEqual(sum("mine" in texts for texts in shown.values()), 2, shown)
        self.assertIn(["hi", "one"], shown.values())
        kept = b"".join(each.read_bytes() for each in self.folder.path.glob("kept.db*"))
        self.assertNotIn(b"another", kept)

    def test_a_session_id_of_another_tenant_leads_to_no_conversation_of_others(self):
        tokens = {name: self.folder.make_token(name, name) for name in ("acme", "evil")}
        gateway = self.gateway("--tokens", self.folder.tokens, "--key-env", "anthropic=A", environment={"A": "sk-own"})
        self.upstream.answer = whole(answer_text("one"))
        sent = {"acme": (body_of("hi"),), "evil": (body_of("hi", "one", "mine"), body_of("hi", "one", "mine", "one", "more"))}
        for name, bodies in sent.items():
            for body in bodies:
                for named in ((), [("x-undertext-conversation", "generic-s-1")]):
                    with gateway.connect() as client:
                        self.assertEqual(client.ask("POST", "/v1/messages", [("x-api-key", tokens[name]), SESSION, *named], body).status, 200)
        self.assertEqual(gateway.stop()[0], 0)
        server = Server(self.folder, "--tokens", self.folder.tokens, store=self.store)
        self.addCleanup(server.close)
        for name, token in tokens.items():
            ids = [each["id"] for each in server.request("GET", "/v1/conversations", token=token).json()["result"]["conversations"]]
            self.assertTrue(ids)
            for each in ids:
                shown = server.request("GET", f"/v1/conversations/{each}/messages", token=token).body.decode()
                self.assertEqual("mine" in shown, name == "evil", shown)

    def test_streams_of_gemini_are_kept_with_events_and_as_one_array_in_pieces(self):
        gateway = self.gateway()
        said = [{"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]} for text in ("on", "e")]
        array = json.dumps(said).encode()
        asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
        for number, (query, answer) in enumerate((("?alt=sse", streamed([b"data: " + json.dumps(each).encode() + b"\r\n\r\n" for each in said])),
                                                  ("", streamed([array[:20], array[20:]], fields=[("content-type", "application/json")])))):
            self.upstream.answer = answer
            with gateway.connect() as client:
                fields = [("x-goog-api-key", "k"), ("x-session-id", str(number))]
                self.assertTrue(client.ask("POST", f"/v1beta/models/m:streamGenerateContent{query}", fields, json.dumps(asked).encode()).complete)
        self.assertEqual(gateway.stop()[0], 0)
        self.assertEqual([self.texts(each) for each in self.conversations()], [["hi", "one"]] * 2)

    def test_a_compaction_and_a_count_are_no_turns_and_models_and_heads_make_no_conversation(self):
        gateway = self.gateway()
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "one"}]}
        self.upstream.answer = whole(json.dumps({"id": "resp_1", "object": "response", "status": "completed", "output": [item]}).encode())
        asked = {"model": "m", "input": [{"role": "user", "content": "hi"}]}
        with gateway.connect() as client:
            client.ask("HEAD", "/")
            client.ask("GET", "/v1/models", [("authorization", "Bearer k")])
            client.ask("POST", "/v1/responses", [("authorization", "Bearer k"), SESSION], json.dumps(asked).encode())
            compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2VjcmV0"}
            self.upstream.answer = whole(json.dumps({"object": "response.compaction", "output": [compaction], "usage": {"input_tokens": 9}}).encode())
            compacted = json.dumps(dict(asked, input=[*asked["input"], item])).encode()
            self.assertIn(b"response.compaction", client.ask("POST", "/v1/responses/compact", [("authorization", "Bearer k"), SESSION], compacted).body)
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), ["hi", "one"])
        self.assertEqual([each["kind"] for each in self.ask(conversation, {"query": "requests"})], ["turn", "compaction"])
        kept = self.ask(conversation, {"query": "request", "number": 2})
        self.assertEqual((kept["request"].encode(), json.loads(kept["answer"])["output"]), (compacted, [compaction]))

    def test_compressed_bodies_are_read_and_bombs_are_not(self):
        gateway = self.gateway()
        self.upstream.answer = whole(gzip.compress(answer_text("one")), fields=[("content-type", "application/json"), ("content-encoding", "gzip")])
        bodies = gzip.compress(body_of("hi")), gzip.compress(b'{"messages":["' + b"a" * (300 << 20), 1)
        with gateway.connect() as client:
            for body in bodies:
                answer = client.ask("POST", "/v1/messages", [("x-api-key", "k"), SESSION, ("content-encoding", "gzip")], body)
                self.assertEqual(gzip.decompress(answer.body), answer_text("one"))
        self.assertIn("too_large", gateway.log_with("too_large"))
        if "UNDERTEXT_SANITIZED" not in os.environ:
            self.assertLess(gateway.resident_bytes(), 300 << 20)
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), ["hi", "one"])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
