#!/usr/bin/env python3
"""A gateway whose store is a PostgreSQL that goes and comes back: traffic goes through unchanged, recording resumes with the client's next request, and nothing is recorded that
did not happen.   postgres.py PROGRAM   Exits with 77, which means skipped, where PostgreSQL is not installed.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import random
import signal
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "postgres"))
import recording
from recording import SESSION, answer_text, body_of, events
from server import Server, skip_without_programs
from upstream import chunk, head, whole


def processes_of(server):
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    return [
        postmaster,
        *map(
            int, pathlib.Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        ),
    ]


class Postgres(recording.Kept):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())

    def setUp(self):
        super().setUp()
        database = self.id().rsplit(".", 1)[1][:50]
        self.server.sql(f"CREATE DATABASE {database}")
        self.store = self.server.url(database)
        self.upstream.answer = whole(answer_text("one"))

    def goes_through(self, gateway, *texts):
        self.assertEqual(self.say(gateway, *texts).body, answer_text("one"))
        self.assertEqual(self.upstream.last().body, body_of(*texts))

    def only_what_happened(self, conversation, *lists):
        sent = [body_of(*texts).decode() for texts in lists]
        records = self.ask(conversation, {"query": "requests"})
        kept = [
            self.ask(conversation, {"query": "request", "number": record["number"]})["request"]
            for record in records
        ]
        self.assertTrue(kept)
        self.assertEqual(
            kept, [text for text in sent if text in kept], "not what was sent, or twice"
        )

    def test_traffic_goes_on_while_the_server_is_down_and_the_next_request_brings_what_is_missing(
        self,
    ):
        gateway = self.gateway()
        lists = [["hi"]]
        self.goes_through(gateway, *lists[0])
        self.assertTrue(
            self.is_so(
                lambda: [self.texts(each) for each in self.conversations()[:1]] == [["hi", "one"]]
            )
        )
        self.server.kill()
        for text in ("more", "again"):
            lists.append([*lists[-1], "one", text])
            self.goes_through(gateway, *lists[-1])
        self.assertIn("not recorded", gateway.log_with("not recorded"))
        self.server.start()
        lists.append([*lists[-1], "one", "last"])
        self.goes_through(gateway, *lists[-1])
        self.assertEqual(gateway.stop()[0], 0)
        (conversation,) = self.conversations()
        self.assertEqual(self.texts(conversation), [*lists[-1], "one"])
        self.only_what_happened(conversation, *lists)

    def test_a_gateway_starts_without_the_server_and_records_once_it_is_there(self):
        self.run_program("init", "--store", self.store)
        self.server.kill()
        gateway, texts = self.gateway(), ["hi"]
        self.goes_through(gateway, *texts)
        self.assertIn("not recorded", gateway.log_with("not recorded"))
        self.server.start()

        def is_recorded():
            texts.extend(["one", f"question {len(texts)}"])
            self.goes_through(gateway, *texts)
            time.sleep(0.1)
            return self.conversations()

        self.assertTrue(self.is_so(is_recorded, 60), gateway.log())
        self.assertTrue(
            self.is_so(
                lambda: [self.texts(each) for each in self.conversations()[:1]] == [[*texts, "one"]]
            ),
            gateway.log(),
        )
        self.assertEqual(gateway.stop()[0], 0)

    def test_a_stream_that_outlives_the_server_arrives_whole(self):
        gateway = self.gateway()
        begun, goes_on = threading.Event(), asyncio.Event()

        async def in_two_parts(request, reader, writer):
            pieces = list(events("two"))
            writer.write(
                head(fields=[("content-type", "text/event-stream")], chunked=True)
                + chunk(pieces[0])
            )
            await writer.drain()
            begun.set()
            await goes_on.wait()
            writer.write(b"".join(map(chunk, pieces[1:])) + b"0\r\n\r\n")

        self.goes_through(gateway, "hi")
        self.upstream.answer = in_two_parts
        with gateway.connect() as client:
            client.request(
                "POST", "/v1/messages", [("x-api-key", "k"), SESSION], body_of("hi", "one", "more")
            )
            self.assertTrue(begun.wait(30))
            self.server.kill()
            self.upstream.loop.call_soon_threadsafe(goes_on.set)
            answer = client.read()
        self.assertTrue(answer.complete, answer)
        self.assertEqual(answer.body, b"".join(events("two")))
        self.assertIn("not recorded", gateway.log_with("not recorded"))
        self.server.start()
        self.upstream.answer = whole(answer_text("one"))
        self.goes_through(gateway, "hi", "one", "more", "two", "last")
        self.assertEqual(gateway.stop()[0], 0)
        shown = [self.texts(each) for each in self.conversations()]
        self.assertIn(["hi", "one", "more", "two", "last", "one"], shown)

    def test_a_server_that_hangs_holds_no_traffic_up(self):
        gateway = self.gateway()
        self.goes_through(gateway, "hi")
        self.assertTrue(
            self.is_so(
                lambda: [self.texts(each) for each in self.conversations()[:1]] == [["hi", "one"]]
            )
        )
        hanging = processes_of(self.server)
        for each in hanging:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGSTOP)
        try:
            texts = ["hi"]
            for text in ("more", "again"):
                texts += ["one", text]
                self.goes_through(gateway, *texts)
        finally:
            for each in hanging:
                with contextlib.suppress(
                    ProcessLookupError
                ):  # the server ends those of its processes whose client has gone
                    os.kill(each, signal.SIGCONT)
        self.assertTrue(
            self.is_so(
                lambda: [self.texts(each) for each in self.conversations()[:1]] == [[*texts, "one"]]
            ),
            gateway.log(),
        )
        self.assertEqual(gateway.stop()[0], 0)

    def test_of_requests_that_a_policy_edits_few_wait_for_a_server_that_hangs(self):
        gateway = self.gateway("--policy", json.dumps({"mode": "compact", "thresholdTokens": 500}))
        said = " ".join(f"word{i}" for i in range(400))
        texts = ["hi", said, "more", said, "again"]
        self.upstream.answer = whole(answer_text("one"))
        self.say(gateway, *texts)
        self.assertNotEqual(self.upstream.last().body, body_of(*texts), "it is edited")
        hanging, took = processes_of(self.server), []
        for each in hanging:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGSTOP)
        try:
            for number in range(8):
                texts += ["one", f"question {number}"]
                began = time.monotonic()
                self.goes_through(gateway, *texts)
                took.append(time.monotonic() - began)
        finally:
            for each in hanging:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGCONT)
        print(f"with a server that hangs, requests took {[round(each, 2) for each in took]} s")
        # One finds out. Later on another one may: a call to the server has a deadline, after which
        # it is tried again.
        self.assertLess(sum(each > 1 for each in took), 3, took)
        self.assertLess(sorted(took)[len(took) // 2], 0.5, took)

        def is_edited():
            texts.extend(["one", f"question {len(texts)}"])
            self.say(gateway, *texts)
            return self.upstream.last().body != body_of(*texts)

        self.assertTrue(self.is_so(is_edited, 60), gateway.log())

        def is_recorded():
            requests = []
            for conversation in self.conversations():
                for record in self.ask(conversation, {"query": "requests"})[-1:]:
                    query = {"query": "request", "number": record["number"]}
                    requests.append(self.ask(conversation, query)["request"])
            return requests == [body_of(*texts).decode()]

        self.assertTrue(self.is_so(is_recorded), gateway.log())
        self.assertEqual(gateway.stop()[0], 0)

    def test_killed_again_and_again_nothing_is_missing_after_the_next_request_and_nothing_is_made_up(
        self,
    ):
        seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
        chance = random.Random(seed)
        print(f"SEED={seed}", flush=True)
        said, ended, may_ask, answered = (
            set(),
            threading.Event(),
            threading.Semaphore(0),
            threading.Semaphore(0),
        )

        async def numbered(request, reader, writer):
            text = f"answer {len(said)} to {json.loads(request.body)['messages'][-1]['content']}"
            said.add(text)
            await whole(answer_text(text))(request, reader, writer)

        self.upstream.answer = numbered
        gateway, failures = self.gateway("--quiet"), []

        def ask(fields, texts):
            with gateway.connect() as client:
                answer = client.ask(
                    "POST",
                    "/v1/messages",
                    [("content-type", "application/json"), *fields],
                    body_of(*texts),
                )
            texts.append(answer.json()["content"][0]["text"])
            answered.release()

        def client(number, texts):
            fields = [
                ("x-api-key", f"key-{number}"),
                *([("x-session-id", "same for all")] if number % 2 else []),
            ]
            try:
                while may_ask.acquire() and not ended.is_set():
                    texts.append(f"client {number} question {len(texts)}")
                    ask(fields, texts)
            except Exception as failure:  # which no fault of a store may cause
                failures.append(failure)
                answered.release(1000)

        lists = [[] for _ in range(3)]
        threads = [threading.Thread(target=client, args=each) for each in enumerate(lists)]
        for each in threads:
            each.start()
        for change in (self.server.kill, self.server.start) * 3:
            before, after = chance.randint(1, 8), chance.randint(0, 8)
            may_ask.release(before + after)
            for _ in range(before):
                self.assertTrue(answered.acquire(timeout=30))
            change()
            for _ in range(after):
                self.assertTrue(answered.acquire(timeout=30))
        ended.set()
        may_ask.release(len(lists))
        for each in threads:
            each.join(60)
            self.assertFalse(each.is_alive(), f"SEED={seed}")
        self.assertEqual(failures, [], f"SEED={seed}")
        shown = lambda: [self.texts(each) for each in self.conversations()]
        for _ in range(5):  # a server that has just started may be slow to answer
            for number, texts in enumerate(lists):
                texts.append(f"client {number} last {len(texts)}")
                ask(
                    [
                        ("x-api-key", f"key-{number}"),
                        *([("x-session-id", "same for all")] if number % 2 else []),
                    ],
                    texts,
                )
            if self.is_so(lambda: all(texts in shown() for texts in lists), 20):
                break
        else:
            self.fail(f"SEED={seed}: something is missing")
        self.assertEqual(gateway.stop()[0], 0)
        asked = {text for texts in lists for text in texts[::2]}
        for texts in shown():
            for text in texts:
                self.assertTrue(text in asked or text in said, f"SEED={seed}: nobody said {text!r}")


if __name__ == "__main__":
    skip_without_programs()
    recording.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
