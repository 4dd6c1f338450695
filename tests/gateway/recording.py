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
import unittest

from gateways import Folder, Gateway
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

    def test_compressed_bodies_are_read_and_bombs_are_not(self):
        gateway = self.gateway()
        self.upstream.answer = whole(gzip.compress(answer_text("one")), fields=[("content-type", "application/json"), ("content-encoding", "gzip")])
        with gateway.connect() as client:
            for body in (gzip.compress(body_of("hi")), gzip.compress(b'{"messages":["' + b"a" * (300 << 20))):
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
