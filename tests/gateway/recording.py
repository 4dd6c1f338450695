#!/usr/bin/env python3
"""What a gateway keeps of its traffic, and that traffic never waits for it.   recording.py PROGRAM

A client that keeps its own list talks to an upstream of ours through the gateway, while the gateway is killed, its store goes, its disk is full, its quota is reached, or nothing
may be kept. What the client reads is what the upstream said; what is recorded is what happened.
"""

import asyncio
import gzip
import json
import os
import random
import re
import resource
import subprocess
import sys
import threading
import time
import unittest
import zlib

from gateways import Client, Folder, Gateway
from running import Server
from upstream import Upstream, chunk, head, streamed, whole

PROGRAM = None
SESSION = ("x-session-id", "s-1")


def answer_text(text):
    message = {
        "id": "msg_" + text,
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1},
    }
    return json.dumps(message).encode()


def events(text):
    message = {
        "id": "msg_" + text,
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": {"input_tokens": 5, "output_tokens": 1},
    }
    for event in (
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def body_of(*texts):
    roles = ("user", "assistant")
    return json.dumps(
        {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)],
        }
    ).encode()


def stored_in_brotli(data):
    """A stream of one block that is not compressed: a window of 16 bits, one length less one in 16 bits, the bytes, and an empty last block."""
    return (len(data) - 1 << 4 | 1 << 20).to_bytes(3, "little") + data + b"\x03"


class Kept(unittest.TestCase):
    """A client, an upstream, and what a store has of them."""

    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.addCleanup(self.folder.remove)
        self.upstream = self.enterContext(Upstream())
        self.store = f"sqlite:{self.folder.path}/kept.db"

    def gateway(self, *options, **others):
        return self.enterContext(
            Gateway(self.folder, self.upstream, self.store, *options, **others)
        )

    def say(self, gateway, *texts, fields=(SESSION,)):
        with gateway.connect() as client:
            answer = client.ask(
                "POST",
                "/v1/messages",
                [("content-type", "application/json"), ("x-api-key", "k"), *fields],
                body_of(*texts),
            )
        self.assertTrue(answer.complete, answer)
        return answer

    def run_program(self, *words, text=None):
        done = subprocess.run(
            [PROGRAM, *words], env=self.folder.env, input=text, capture_output=True, text=True
        )
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
        line = self.run_program(
            "exec",
            "--store",
            self.store,
            "--conversation",
            conversation,
            *options,
            text=json.dumps(query) + "\n",
        )
        return json.loads(line)["result"]

    def texts(self, conversation):
        rows = self.ask(conversation, {"query": "blocks"})
        return [block["text"] for row in rows for block in row["blocks"] if block["kind"] == "text"]


class Recording(Kept):
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
        self.assertEqual(
            self.ask(conversation, {"query": "request", "number": 1})["request"].encode(),
            body_of("hi"),
        )
        self.assertEqual(
            self.ask(conversation, {"query": "request", "number": 2})["answer"].encode(),
            b"".join(events("two")),
        )

    def test_killed_in_a_stream_nothing_is_missing_after_the_next_request_and_nothing_is_made_up(
        self,
    ):
        for fields in ((SESSION,), ()):
            with self.subTest(fields=fields):
                self.store = f"sqlite:{self.folder.path}/{len(fields)}.db"
                gateway = self.gateway()
                self.upstream.answer = whole(answer_text("one"))
                self.say(gateway, "hi", fields=fields)
                begun = threading.Event()

                async def half(request, reader, writer):
                    writer.write(
                        head(fields=[("content-type", "text/event-stream")], chunked=True)
                        + chunk(next(iter(events("lost"))))
                    )
                    await writer.drain()
                    begun.set()
                    await reader.read()  # until the gateway is gone

                self.upstream.answer = half
                with gateway.connect() as client:
                    client.request(
                        "POST",
                        "/v1/messages",
                        [("x-api-key", "k"), *fields],
                        body_of("hi", "one", "more"),
                    )
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

    def test_a_store_that_comes_back_has_all_that_is_missing_with_the_next_request(self):
        gateway = self.gateway()
        self.upstream.answer = whole(answer_text("one"))
        self.say(gateway, "hi")
        self.assertTrue(
            self.is_so(
                lambda: [self.texts(each) for each in self.conversations()[:1]] == [["hi", "one"]]
            )
        )
        names = [name for name in os.listdir(self.folder.path) if name.startswith("kept.db")]
        for name in names:
            os.rename(self.folder.path / name, self.folder.path / ("gone-" + name))
        self.say(gateway, "hi", "one", "more")
        self.assertIn("not recorded", gateway.log_with("not recorded"))
        for name in names:
            os.rename(self.folder.path / ("gone-" + name), self.folder.path / name)
        self.say(gateway, "hi", "one", "more", "one", "again")
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), ["hi", "one", "more", "one", "again", "one"])

    def test_a_disk_that_has_room_again_has_all_that_is_missing_with_the_next_request(self):
        self.run_program("init", "--store", self.store)
        size = os.stat(f"{self.folder.path}/kept.db").st_size
        gateway = self.gateway(file_bytes_max=size + (256 << 10))
        self.upstream.answer = whole(answer_text("one"))
        chance, texts = random.Random(1), ["hi"]
        self.say(gateway, *texts)
        while "not recorded" not in gateway.log():
            self.assertLess(len(texts), 400)
            texts += ["one", chance.randbytes(20_000).hex()]
            self.say(gateway, *texts)
        resource.prlimit(
            gateway.process.pid,
            resource.RLIMIT_FSIZE,
            (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
        )
        texts += ["one", "and now?"]
        self.say(gateway, *texts)
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), [*texts, "one"])

    def test_what_cannot_be_read_passes_as_it_is(self):
        gateway = self.gateway()
        deep = (
            b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":'
            + b"[" * 100_000
            + b"]" * 100_000
            + b"}]}"
        )
        garbage = (
            b"data: {\ndata: [\n\n",
            b"event: \xff\xfe\ndata: \x00\n\n",
            b"data: " + b"[" * 100_000 + b"\n\n",
            b"\n" * 1000,
            b'data: {"type":"message_start","message":7}\n\n',
        )
        self.upstream.answer = streamed(list(garbage))
        for body in (deep, b"\xff" * 100, b"", b"[" * 1_000_000, body_of("hi")):
            with gateway.connect() as client:
                answer = client.ask("POST", "/v1/messages", [("x-api-key", "k"), SESSION], body)
            self.assertEqual((answer.status, answer.body), (200, b"".join(garbage)))
            self.assertEqual(self.upstream.last().body, body)
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual([text for text in self.texts(conversation) if text], ["hi"])

    def test_a_quota_stops_recording_and_traffic_only_where_that_is_asked_for(self):
        for enforce in ("recording", "traffic"):
            with self.subTest(enforce):
                self.store = f"sqlite:{self.folder.path}/{enforce}.db"
                gateway = self.gateway("--tenant-conversations", 1, "--enforce", enforce)
                earlier = gateway.log()
                refused = threading.Event()

                async def slowly(request, reader, writer):
                    writer.write(head(fields=[("content-type", "text/event-stream")], chunked=True))
                    await asyncio.get_running_loop().run_in_executor(None, refused.wait, 30)
                    writer.write(b"".join(map(chunk, events("one"))) + b"0\r\n\r\n")

                self.upstream.answer = slowly
                with gateway.connect() as under_way:
                    fields = [
                        ("content-type", "application/json"),
                        ("x-api-key", "k"),
                        ("x-session-id", "first"),
                    ]
                    under_way.request("POST", "/v1/messages", fields, body_of("hi"))
                    under_way.read_head()
                    self.upstream.answer = whole(answer_text("one"))
                    self.say(gateway, "hi there", fields=[("x-session-id", "second")])
                    self.assertTrue(
                        self.is_so(lambda: gateway.log()[len(earlier) :].count("not recorded"))
                    )
                    refused.set()
                    under_way.until(b"0\r\n\r\n")
                self.assertTrue(
                    self.is_so(
                        lambda: (
                            [self.texts(each) for each in self.conversations()[:1]]
                            == [["hi", "one"]]
                        )
                    ),
                    "a turn that was under way is recorded",
                )
                before = len(self.upstream.requests)
                answer = self.say(gateway, "hello", fields=[("x-session-id", "third")])
                if enforce == "recording":
                    self.assertEqual(answer.body, answer_text("one"))
                else:
                    self.assertEqual(
                        (answer.status, answer.get("x-undertext-error")), (429, "quota_reached")
                    )
                    self.assertEqual(answer.json()["error"]["type"], "rate_limit_error")
                    self.assertEqual(len(self.upstream.requests), before)
                self.assertEqual(gateway.stop()[0], 0)
                self.assertEqual(len(self.conversations()), 1)

    def test_levels_of_tenants_differ(self):
        tokens = {name: self.folder.make_token(name, name) for name in ("open", "quiet", "shut")}
        options = [
            "--tokens",
            self.folder.tokens,
            "--key-env",
            "anthropic=A",
            "--record",
            "quiet=metadata",
            "--record",
            "shut=none",
        ]
        gateway = self.gateway(*options, environment={"A": "sk-own"})
        self.upstream.answer = whole(answer_text("one"))
        for name, token in tokens.items():
            with gateway.connect() as client:
                answer = client.ask(
                    "POST",
                    "/v1/messages",
                    [("x-api-key", token), SESSION],
                    body_of("words of " + name),
                )
                self.assertEqual(answer.status, 200)
        self.assertEqual(gateway.stop()[0], 0)
        kept = b"".join(each.read_bytes() for each in self.folder.path.glob("kept.db*"))
        self.assertEqual(
            [name for name in tokens if b"words of " + name.encode() in kept], ["open"]
        )

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
            client.ask(
                "POST",
                "/v1/messages",
                [("x-api-key", "another"), SESSION],
                body_of("hi", "one", "mine"),
            )
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
        gateway = self.gateway(
            "--tokens", self.folder.tokens, "--key-env", "anthropic=A", environment={"A": "sk-own"}
        )
        self.upstream.answer = whole(answer_text("one"))
        sent = {
            "acme": (body_of("hi"),),
            "evil": (body_of("hi", "one", "mine"), body_of("hi", "one", "mine", "one", "more")),
        }
        for name, bodies in sent.items():
            for body in bodies:
                for named in ((), [("x-undertext-conversation", "generic-s-1")]):
                    with gateway.connect() as client:
                        self.assertEqual(
                            client.ask(
                                "POST",
                                "/v1/messages",
                                [("x-api-key", tokens[name]), SESSION, *named],
                                body,
                            ).status,
                            200,
                        )
        self.assertEqual(gateway.stop()[0], 0)
        server = Server(self.folder, "--tokens", self.folder.tokens, store=self.store)
        self.addCleanup(server.close)
        for name, token in tokens.items():
            ids = [
                each["id"]
                for each in server.request("GET", "/v1/conversations", token=token).json()[
                    "result"
                ]["conversations"]
            ]
            self.assertTrue(ids)
            for each in ids:
                shown = server.request(
                    "GET", f"/v1/conversations/{each}/messages", token=token
                ).body.decode()
                self.assertEqual("mine" in shown, name == "evil", shown)

    def test_streams_of_gemini_are_kept_with_events_and_as_one_array_in_pieces(self):
        gateway = self.gateway()
        said = [
            {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}
            for text in ("on", "e")
        ]
        array = json.dumps(said).encode()
        asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
        for number, (query, answer) in enumerate(
            (
                (
                    "?alt=sse",
                    streamed(
                        [b"data: " + json.dumps(each).encode() + b"\r\n\r\n" for each in said]
                    ),
                ),
                (
                    "",
                    streamed(
                        [array[:20], array[20:]], fields=[("content-type", "application/json")]
                    ),
                ),
            )
        ):
            self.upstream.answer = answer
            with gateway.connect() as client:
                fields = [("x-goog-api-key", "k"), ("x-session-id", str(number))]
                self.assertTrue(
                    client.ask(
                        "POST",
                        f"/v1beta/models/m:streamGenerateContent{query}",
                        fields,
                        json.dumps(asked).encode(),
                    ).complete
                )
        self.assertEqual(gateway.stop()[0], 0)
        self.assertEqual([self.texts(each) for each in self.conversations()], [["hi", "one"]] * 2)

    def test_a_conversation_that_moves_to_a_cache_of_gemini_keeps_what_was_said(self):
        gateway = self.gateway()

        def ask(texts, reply, *fields, **members):
            contents = [
                {"role": "user" if text.islower() else "model", "parts": [{"text": text}]}
                for text in texts
            ]
            said = {
                "candidates": [
                    {
                        "content": {"role": "model", "parts": [{"text": reply}]},
                        "finishReason": "STOP",
                    }
                ]
            }
            self.upstream.answer = whole(json.dumps(said).encode())
            with gateway.connect() as client:
                body = json.dumps({"contents": contents, **members}).encode()
                self.assertTrue(
                    client.ask(
                        "POST",
                        "/v1beta/models/m:generateContent",
                        [("x-goog-api-key", "k"), *fields],
                        body,
                    ).complete
                )
            # Only an answer that was recorded leads to its conversation.
            self.assertTrue(
                self.is_so(
                    lambda: any(self.texts(each)[-1] == reply for each in self.conversations())
                )
            )

        expected = []
        for number, fields in enumerate(((), (SESSION,), (("X-Undertext-Conversation", "named"),))):
            first, second = (
                f"{words} that is hardly given twice {number}"
                for words in ("An answer", "Another answer")
            )
            ask(["hi"], first, *fields)
            ask(["hi", first, "more"], second, *fields)
            ask([second, "on"], f"Two {number}", *fields, cachedContent="cachedContents/1")
            ask(
                [second, "on", f"Two {number}", "last"],
                f"Three {number}",
                *fields,
                cached_content="cachedContents/1",
            )
            expected.append(
                ["hi", first, "more", second, "on", f"Two {number}", "last", f"Three {number}"]
            )
        self.assertEqual(gateway.stop()[0], 0)
        self.assertCountEqual([self.texts(each) for each in self.conversations()], expected)

    def test_a_compaction_and_a_count_are_no_turns_and_models_and_heads_make_no_conversation(self):
        gateway = self.gateway()
        item = {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "one"}],
        }
        self.upstream.answer = whole(
            json.dumps(
                {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}
            ).encode()
        )
        asked = {"model": "m", "input": [{"role": "user", "content": "hi"}]}
        with gateway.connect() as client:
            client.ask("HEAD", "/")
            client.ask("GET", "/v1/models", [("authorization", "Bearer k")])
            client.ask(
                "POST",
                "/v1/responses",
                [("authorization", "Bearer k"), SESSION],
                json.dumps(asked).encode(),
            )
            compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2VjcmV0"}
            self.upstream.answer = whole(
                json.dumps(
                    {
                        "object": "response.compaction",
                        "output": [compaction],
                        "usage": {"input_tokens": 9},
                    }
                ).encode()
            )
            compacted = json.dumps(dict(asked, input=[*asked["input"], item])).encode()
            self.assertIn(
                b"response.compaction",
                client.ask(
                    "POST",
                    "/v1/responses/compact",
                    [("authorization", "Bearer k"), SESSION],
                    compacted,
                ).body,
            )
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), ["hi", "one"])
        self.assertEqual(
            [each["kind"] for each in self.ask(conversation, {"query": "requests"})],
            ["turn", "compaction"],
        )
        kept = self.ask(conversation, {"query": "request", "number": 2})
        self.assertEqual(
            (kept["request"].encode(), json.loads(kept["answer"])["output"]),
            (compacted, [compaction]),
        )

    def test_compressed_bodies_are_read_and_bombs_are_not(self):
        gateway = self.gateway()
        self.upstream.answer = whole(
            gzip.compress(answer_text("one")),
            fields=[("content-type", "application/json"), ("content-encoding", "gzip")],
        )
        bodies = (
            gzip.compress(body_of("hi")),
            gzip.compress(b'{"messages":["' + b"a" * (300 << 20), 1),
        )
        with gateway.connect() as client:
            for body in bodies:
                answer = client.ask(
                    "POST",
                    "/v1/messages",
                    [("x-api-key", "k"), SESSION, ("content-encoding", "gzip")],
                    body,
                )
                self.assertEqual(gzip.decompress(answer.body), answer_text("one"))
        self.assertIn("too_large", gateway.log_with("too_large", 120))
        if "UNDERTEXT_SANITIZED" not in os.environ:
            self.assertLess(gateway.resident_bytes(), 300 << 20)
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), ["hi", "one"])

    @unittest.skipIf(
        "brotli" in os.environ.get("UNDERTEXT_WITHOUT", "").split(), "brotli: declined"
    )
    def test_an_answer_in_brotli_is_read(self):
        gateway = self.gateway()
        self.upstream.answer = whole(
            stored_in_brotli(answer_text("one")),
            fields=[("content-type", "application/json"), ("content-encoding", "br")],
        )
        with gateway.connect() as client:
            answer = client.ask(
                "POST",
                "/v1/messages",
                [("x-api-key", "k"), SESSION, ("accept-encoding", "br")],
                body_of("hi"),
            )
        self.assertEqual(answer.body, stored_in_brotli(answer_text("one")))
        self.assertEqual(self.upstream.last().get("accept-encoding"), "br")
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), ["hi", "one"])

    def test_an_answer_that_is_a_bomb_passes_and_is_not_kept(self):
        gateway = self.gateway()
        large = b'{"content":"' + b"a" * (300 << 20)
        deflated = zlib.compressobj(1)
        bombs = (
            ("gzip", gzip.compress(large, 1)),
            ("deflate", deflated.compress(large) + deflated.flush()),
            ("gzip, gzip", gzip.compress(gzip.compress(large, 1))),
        )
        for number, (coding, bomb) in enumerate(bombs):
            self.upstream.answer = whole(
                bomb, fields=[("content-type", "application/json"), ("content-encoding", coding)]
            )
            self.assertEqual(
                self.say(gateway, "hi", fields=[("x-session-id", str(number))]).body, bomb
            )
        self.assertTrue(
            self.is_so(lambda: gateway.log().count("too_large") == len(bombs), 120), gateway.log()
        )
        if "UNDERTEXT_SANITIZED" not in os.environ:
            self.assertLess(gateway.resident_bytes(), 300 << 20)
        self.assertEqual(gateway.stop()[0], 0)
        self.assertEqual([self.texts(each) for each in self.conversations()], [["hi"]] * len(bombs))

    def test_events_are_read_whatever_type_the_upstream_gives_them(self):
        gateway = self.gateway()
        kinds = (
            "text/event-stream",
            "Text/Event-Stream; charset=utf-8",
            "application/json",
            "application/octet-stream",
            None,
        )
        for number, kind in enumerate(kinds):
            self.upstream.answer = streamed(
                list(events("one")), fields=[("content-type", kind)] if kind else []
            )
            self.say(gateway, "hi", fields=[("x-session-id", str(number))])
        self.assertEqual(gateway.stop()[0], 0)
        self.assertEqual(
            [self.texts(each) for each in self.conversations()], [["hi", "one"]] * len(kinds)
        )

    def test_an_answer_cut_between_two_events_is_torn_though_its_connection_ended_properly(self):
        gateway = self.gateway()
        self.upstream.answer = streamed(list(events("half"))[:3])
        self.say(gateway, "hi")
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        (record,) = self.ask(conversation, {"query": "requests"})
        self.assertTrue(record["torn"], record)

    def test_a_message_that_is_too_large_to_keep_passes_and_is_reported(self):
        large = body_of("a" * (20 << 20), "one", "more")
        for options in (
            [],
            ["--policy", '{"mode":"compact","thresholdTokens":1000,"repair":"on"}'],
        ):
            with self.subTest(options=options):
                gateway = self.gateway(*options)
                self.upstream.answer = whole(answer_text("yes"))
                with gateway.connect() as client:
                    answer = client.ask(
                        "POST", "/v1/messages", [("x-api-key", "k"), SESSION], large
                    )
                self.assertEqual((answer.status, answer.body), (200, answer_text("yes")))
                self.assertEqual(self.upstream.last().body, large)
                log = gateway.log_with("too_large")
                self.assertIn("not recorded", log)
                self.assertIn("too_large", log)
                self.assertEqual(gateway.stop()[0], 0)
                self.assertEqual(self.conversations(), [])

    def test_an_answer_that_is_made_in_the_background_is_kept_when_its_client_has_it(self):
        gateway = self.gateway()
        fields = [("content-type", "application/json"), ("authorization", "Bearer k")]
        made = {
            "id": "resp_1",
            "object": "response",
            "status": "queued",
            "model": "m",
            "output": [],
        }
        self.upstream.answer = whole(json.dumps(made).encode())
        asked = json.dumps({"model": "m", "background": True, "input": "hi"}).encode()
        with gateway.connect() as client:
            client.ask("POST", "/v1/responses", fields, asked)
            client.ask("GET", "/v1/responses/resp_1", fields)
            item = {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "one"}],
            }
            made.update(status="completed", output=[item], usage={"input_tokens": 5})
            self.upstream.answer = whole(json.dumps(made).encode())
            for _ in range(2):
                self.assertEqual(
                    client.ask("GET", "/v1/responses/resp_1", fields).json()["output"], [item]
                )
            client.ask("GET", "/v1/responses/resp_of_nobody", fields)
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), ["hi", "one"])
        records = self.ask(conversation, {"query": "requests"})
        self.assertEqual([each["method"] for each in records], ["POST", "GET"])

    def test_another_key_is_another_user_unless_all_are_one(self):
        for options, count in ([], 2), (["--one-user"], 3):
            gateway = self.gateway(*options)
            self.upstream.answer = whole(answer_text("one"))
            for key in ("k1", "k2"):
                with gateway.connect() as client:
                    fields = [("x-api-key", key), ("x-session-id", f"s{count}")]
                    client.ask("POST", "/v1/messages", fields, body_of("hi"))
            self.assertEqual(gateway.stop()[0], 0)
            self.assertEqual(len(self.conversations()), count)

    def test_what_is_not_recorded_is_counted(self):
        serving = Server(
            self.folder,
            "--gateway",
            "127.0.0.1:0",
            f"--anthropic={self.upstream.url}",
            "--recording",
            1,
            "--tenant-conversations",
            1,
            store=self.store,
        )
        self.addCleanup(serving.close)
        gateway = re.search(r"gateway: http://(\S+)", serving.process.stdout.readline().decode())[1]

        def number(name):
            found = re.search(
                rf"^undertext_{name} (\d+)$",
                serving.request("GET", "/metrics").body.decode(),
                re.MULTILINE,
            )
            return int(found[1])

        self.upstream.answer = whole(answer_text("x" * (3 << 20)))
        for session, name in (
            ("first", "gateway_record_dropped_total"),
            ("second", "gateway_record_failed_total"),
        ):
            self.assertEqual(number(name), 0)
            with Client(gateway) as client:
                answer = client.ask(
                    "POST",
                    "/v1/messages",
                    [("x-api-key", "k"), ("x-session-id", session)],
                    body_of("hi"),
                )
            self.assertEqual(len(answer.body), len(answer_text("x" * (3 << 20))))
            self.assertTrue(self.is_so(lambda name=name: number(name) > 0), name)
            self.upstream.answer = whole(answer_text("x" * (3 << 20)))

    def test_killed_again_and_again_nothing_is_missing_after_the_next_request_and_nothing_is_made_up(
        self,
    ):
        seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
        chance = random.Random(seed)
        print(f"SEED={seed}", flush=True)
        said, kills, ended = set(), 12, threading.Event()
        passed = threading.Semaphore(0)  # pieces of answers

        async def slowly(request, reader, writer):
            text = f"answer {len(said)} to {json.loads(request.body)['messages'][-1]['content']}"
            said.add(text)
            writer.write(head(fields=[("content-type", "text/event-stream")], chunked=True))
            for event in events(text):
                writer.write(chunk(event))
                await writer.drain()
                passed.release()
                await asyncio.sleep(0)
            writer.write(b"0\r\n\r\n")

        self.upstream.answer = slowly
        current, changed = [self.gateway("--quiet")], threading.Condition()

        def ask(gateway, fields, texts):
            with gateway.connect() as client:
                answer = client.ask(
                    "POST",
                    "/v1/messages",
                    [("content-type", "application/json"), *fields],
                    body_of(*texts),
                )
            if not answer.complete:
                raise ConnectionError
            deltas = [
                json.loads(line[6:])
                for line in answer.body.decode().splitlines()
                if line.startswith("data: ")
            ]
            return "".join(
                each["delta"].get("text", "")
                for each in deltas
                if each["type"] == "content_block_delta"
            )

        def client(number, texts):
            fields = [
                ("x-api-key", f"key-{number}"),
                *([("x-session-id", "same for all")] if number % 2 else []),
            ]
            while not ended.is_set() or len(texts) % 2:
                gateway = current[-1]
                if len(texts) % 2 == 0:
                    texts.append(f"client {number} question {len(texts)}")
                try:
                    texts.append(ask(gateway, fields, texts))
                except (ConnectionError, EOFError, IndexError):
                    with changed:
                        changed.wait_for(lambda: current[-1] is not gateway, 30)
            texts.append("last")
            texts.append(ask(current[-1], fields, texts))

        lists = [[] for _ in range(4)]
        threads = [threading.Thread(target=client, args=each) for each in enumerate(lists)]
        for each in threads:
            each.start()
        for _ in range(kills):
            for _ in range(chance.randint(1, 60)):
                self.assertTrue(passed.acquire(timeout=30))
            current[-1].process.kill()
            current[-1].process.wait(30)
            gateway = self.gateway("--quiet")
            with changed:
                current.append(gateway)
                changed.notify_all()
        ended.set()
        for each in threads:
            each.join(60)
            self.assertFalse(each.is_alive(), f"SEED={seed}")
        self.assertEqual(current[-1].stop()[0], 0)
        shown = [self.texts(each) for each in self.conversations()]
        for texts in lists:
            self.assertIn(texts, shown, f"SEED={seed}: something is missing")
        asked = {text for texts in lists for text in texts[::2]}
        for texts in shown:
            for text in texts:
                self.assertTrue(text in asked or text in said, f"SEED={seed}: nobody said {text!r}")
        print(
            f"{kills} kills: {sum(map(len, lists))} messages of {len(lists)} clients are there, in {len(shown)} conversations",
            flush=True,
        )


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
