#!/usr/bin/env python3
"""What the server keeps in memory, and what it refuses to: budgets of bodies, answers and caches.   memory.py PROGRAM [TEST…]"""

import os
import re
import socket
import sys
import threading
import time
import unittest

from running import Folder, Server

PROGRAM = sys.argv[1]
MIB = 1 << 20
SANITIZED = bool(os.environ.get("UNDERTEXT_SANITIZED"))  # then sizes are not what users get


def metric(server, name, token=None):
    text = server.request("GET", "/metrics", token=token).body.decode()
    return int(re.search(rf"^undertext_{name} (\d+)$", text, re.M)[1])


class Bodies(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.acme = self.folder.make_token("acme-app", "acme")
        self.zeta = self.folder.make_token("zeta-app", "zeta")
        self.scraper = self.folder.make_token("scraper", "default", "metrics")
        self.server = Server(self.folder, "--tokens", self.folder.tokens, "--memory", "64")

    def tearDown(self):
        self.server.close()
        self.folder.remove()

    def begin_import(self, token, length, sent=0):
        """The head of an import and the beginning of its body; the rest never comes."""
        connection = self.server.connect()
        connection.sendall(
            "\r\n".join(
                [
                    "POST /v1/imports?id=large HTTP/1.1",
                    f"Host: {self.server.host}",
                    f"Authorization: Bearer {token}",
                    "Content-Type: application/x-ndjson",
                    f"Content-Length: {length}",
                    "",
                    "",
                ]
            ).encode()
        )
        for _ in range(sent // MIB):
            connection.sendall(b" " * MIB)
        return connection

    def status(self, connection):
        answer = b""
        while b"\r\n\r\n" not in answer and (some := connection.recv(65536)):
            answer += some
        return int(answer.split()[1]), answer

    def test_bodies_under_way_have_no_more_memory_than_they_may(self):
        before = self.server.resident_bytes()
        first = self.begin_import(self.acme, 30 * MIB, sent=29 * MIB)
        deadline = time.monotonic() + 30
        while metric(self.server, "request_memory_bytes", self.scraper) < 29 * MIB:
            self.assertLess(time.monotonic(), deadline)
        others = [self.begin_import(self.acme, 30 * MIB) for _ in range(8)]
        for other in others:
            status, answer = self.status(other)
            self.assertEqual(status, 503)
            self.assertIn(b"\r\nRetry-After: ", answer)
            self.assertIn(b'"code":"unavailable"', answer)
            other.close()
        zeta = self.begin_import(
            self.zeta, 30 * MIB, sent=29 * MIB
        )  # half of it is another tenant's
        while metric(self.server, "request_memory_bytes", self.scraper) < 58 * MIB:
            self.assertLess(time.monotonic(), deadline)
        if not SANITIZED:
            self.assertLess(self.server.resident_bytes() - before, 100 * MIB)
        self.assertEqual(metric(self.server, "request_memory_refused_total", self.scraper), 8)
        self.assertEqual(
            self.server.request("GET", "/v1/conversations", token=self.acme).status,
            200,
            "what is small goes on",
        )
        for connection in (first, zeta):
            connection.close()
        while metric(self.server, "request_memory_bytes", self.scraper) > MIB:
            self.assertLess(time.monotonic(), deadline, "given back when the client goes")
        refused = '"route":"/v1/imports","status":503'
        self.assertIn(refused, self.server.log_with(refused), "and told in the log")

    def test_what_slow_senders_announce_takes_no_room_from_others(self):
        slow = [
            self.begin_import(token, 30 * MIB, sent=MIB)
            for token in (self.acme, self.acme, self.zeta, self.zeta)
        ]
        deadline = time.monotonic() + 30
        while metric(self.server, "request_memory_bytes", self.scraper) < 4 * MIB:
            self.assertLess(time.monotonic(), deadline)
        self.assertLess(metric(self.server, "request_memory_bytes", self.scraper), 16 * MIB)
        self.assertEqual(self.server.make("a", self.zeta).status, 201)
        self.assertEqual(self.server.append("a", "x" * 4_000_000, self.zeta).status, 200)
        for connection in slow:
            connection.close()

    def test_a_body_that_could_never_have_room_is_too_large(self):
        connection = self.begin_import(self.acme, 33 * MIB)
        self.assertEqual(self.status(connection)[0], 413)
        connection.close()


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder(PROGRAM)
        cls.server = Server(cls.folder, "--answer", "2", "--memory", "16", "--cache", "4")
        cls.server.make("long")
        for _ in range(8):
            assert cls.server.append("long", "x" * 500_000).status == 200

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.folder.remove()

    def refused(self, method, path, body=None):
        reply = self.server.request(method, "/v1/conversations/long" + path, body)
        self.assertEqual((reply.status, reply.json()["error"]["code"]), (413, "too_large"), path)
        self.assertIn("export", reply.json()["error"]["message"])

    def test_what_would_be_a_very_large_answer_is_refused_and_says_what_to_do(self):
        self.refused("GET", "/messages")
        self.refused("GET", "/messages?role=user")
        self.refused("GET", "/messages?contains=x&from=0")
        self.refused("GET", "/state")
        self.refused("GET", "/uncompressed")
        self.refused("GET", "/render?dialect=openai_chat")
        self.refused("POST", "/query", {"query": "messages", "all": True})

    def test_a_part_of_it_is_answered(self):
        for path, count in (
            ("/messages?last=3", 3),
            ("/messages?start=1&end=4", 3),
            ("/messages?contains=nothing", 0),
        ):
            reply = self.server.request("GET", "/v1/conversations/long" + path)
            self.assertEqual((reply.status, len(reply.json()["messages"])), (200, count), path)
        for which in ("start=0&end=8", "ordinals=0,1,2,3,4,5,6,7"):
            rows = self.server.request("GET", "/v1/conversations/long/rows?" + which)
            self.assertLessEqual(len(rows.body), 2 * MIB)
            self.assertEqual(
                (rows.status, rows.json()["result"]["next"]),
                (200, len(rows.json()["result"]["rows"])),
            )
        export = self.server.request("GET", "/v1/conversations/long/export")
        self.assertEqual(export.status, 200)
        self.assertGreater(len(export.body), 4_000_000)

    def test_versions_with_long_descriptions_come_in_pages(self):
        self.server.make("told")
        description = "d" * 16_000
        operations = [
            {
                "operation": "APPEND",
                "messages": [{"role": "user", "content": "x"}],
                "description": description,
            }
        ] * 600
        self.assertEqual(
            self.server.request("POST", "/v1/conversations/told/operations", operations).status, 200
        )
        reply = self.server.request("GET", "/v1/conversations/told/history?limit=1000")
        self.assertLessEqual(len(reply.body), 2 * MIB)
        page = reply.json()
        self.assertGreater(len(page["result"]), 100)
        self.assertEqual(page["next"], page["result"][-1]["version"])
        self.assertEqual(
            self.server.request(
                "POST", "/v1/conversations/told/query", {"query": "history"}
            ).status,
            413,
        )
        self.assertEqual(
            self.server.request("GET", "/v1/conversations/told/timeline?points=600").status, 413
        )
        self.assertEqual(
            self.server.request("GET", "/v1/conversations/told/timeline?points=50").status, 200
        )

    def test_a_preview_shows_no_more_messages_than_are_little(self):
        self.server.make("previewed")
        for _ in range(12):
            self.server.append("previewed", "x" * 500_000)
        reply = self.server.request(
            "POST",
            "/v1/conversations/previewed/preview",
            {"operation": "DELETE", "indices": list(range(12))},
        )
        self.assertEqual(reply.status, 200)
        self.assertEqual(len(reply.json()["diff"]["removed"]), 12)
        self.assertEqual(len(reply.json()["rows"]), 2, "as many as an answer may have")

    def test_a_list_and_an_operation_have_a_length(self):
        self.server.make("lists")
        path, message = "/v1/conversations/lists/operations", {"role": "user", "content": "x"}
        append = {"operation": "APPEND", "messages": [message]}
        for body, field in (
            ([append] * 1001, None),
            ({"operation": "APPEND", "messages": [message] * 10_001}, "messages"),
        ):
            reply = self.server.request("POST", path, body)
            self.assertEqual(
                (reply.status, reply.json()["error"]["code"], reply.json()["error"].get("field")),
                (413, "too_large", field),
            )
        self.assertEqual(
            self.server.request("GET", "/v1/conversations/lists/version").json()["result"], 0
        )
        for body in ([append] * 1000, {"operation": "APPEND", "messages": [message] * 10_000}):
            self.assertEqual(self.server.request("POST", path, body).status, 200)

    def test_answers_that_are_not_read_are_counted_until_there_is_no_room(self):
        """Ten of 1.5 MB, of 16 MiB: the one for which there is no room is told to come again."""
        slow = []
        try:
            statuses = []
            for _ in range(30):
                connection = self.server.connect()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.sendall(
                    f"GET /v1/conversations/long/messages?last=3 HTTP/1.1\r\nHost: {self.server.host}\r\n\r\n".encode()
                )
                slow.append(connection)
                statuses.append(int(connection.recv(100).split()[1]))
            self.assertIn(503, statuses)
            self.assertLessEqual(statuses.count(200), 12)
            self.assertLess(metric(self.server, "request_memory_bytes"), 20 * MIB)
        finally:
            for connection in slow:
                connection.close()
        deadline = time.monotonic() + 30
        while self.server.request("GET", "/v1/conversations/long/messages?last=3").status != 200:
            self.assertLess(time.monotonic(), deadline, "there is room again when they go")

    def slow_readers(self, method, path, body=""):
        """Thirty of 1.5 MB and more, none of which is read. How many were answered 200, and bytes that came to be resident."""
        before, slow, statuses = self.server.resident_bytes(), [], []
        try:
            for _ in range(30):
                connection = self.server.connect()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.sendall(
                    f"{method} /v1/conversations/{path} HTTP/1.1\r\nHost: {self.server.host}\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
                )
                slow.append(connection)
                statuses.append(int(connection.recv(100).split()[1]))
            self.assertIn(503, statuses, path)
            return statuses.count(200), self.server.resident_bytes() - before
        finally:
            for connection in slow:
                connection.close()
            deadline = time.monotonic() + 30
            while metric(self.server, "request_memory_bytes") > MIB:
                self.assertLess(time.monotonic(), deadline)

    def test_pages_and_previews_that_are_not_read_are_counted_too(self):
        self.server.make("pages")
        for _ in range(5):
            self.server.append("pages", "x" * 400_000)
        described = {
            "operation": "APPEND",
            "messages": [{"role": "user", "content": "x"}],
            "description": "d" * 16_000,
        }
        self.assertEqual(
            self.server.request(
                "POST", "/v1/conversations/pages/operations", [described] * 110
            ).status,
            200,
        )
        for call in (
            ("GET", "pages/rows?start=0&end=5"),
            ("GET", "pages/rows?ordinals=0,1,2,3,4"),
            ("GET", "pages/history?limit=1000"),
            ("GET", "pages/timeline?points=5000"),
            ("POST", "pages/preview", '{"operation":"DELETE","indices":[0,1,2,3,4]}'),
        ):
            good, resident = self.slow_readers(*call)
            self.assertIn(good, range(1, 12), call)
            if not SANITIZED:
                self.assertLess(resident, 48 * MIB, call)

    def test_open_conversations_keep_no_more_than_they_may_together(self):
        for number in range(12):
            self.server.make(f"many-{number}")
            for _ in range(2):
                self.assertEqual(self.server.append(f"many-{number}", "y" * 500_000).status, 200)
        for number in range(12):
            self.server.request("GET", f"/v1/conversations/many-{number}/version")
        self.assertLessEqual(metric(self.server, "open_conversations_bytes"), 4 * MIB)
        self.assertLess(metric(self.server, "open_conversations"), 6)
        self.assertEqual(
            self.server.request("GET", "/v1/conversations/many-0/count").json()["count"], 2
        )


class Reading(unittest.TestCase):
    """Many small values take many times their text while they are read."""

    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.server = Server(self.folder, "--memory", "64")
        self.server.make("a")
        self.server.append("a", "hello")

    def tearDown(self):
        self.server.close()
        self.folder.remove()

    def peak_bytes(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) * 1024

    def test_what_could_never_be_read_in_the_memory_there_is_is_too_large(self):
        header = self.server.request("GET", "/v1/conversations/a/export").body.split(b"\n")[0]
        before = self.peak_bytes()
        many = b"[" + b"1," * (8 << 20) + b"1]"
        refused = self.server.request(
            "POST",
            "/v1/imports?id=b",
            header + b"\n" + many + b"\n",
            headers={"Content-Type": "application/x-ndjson"},
        )
        self.assertEqual((refused.status, refused.json()["error"]["code"]), (413, "too_large"))
        refused = self.server.request(
            "POST",
            "/v1/conversations/a/operations",
            b"[" + many[-(15 << 20) :],
            headers={"Content-Type": "application/json"},
        )
        self.assertEqual((refused.status, refused.json()["error"]["code"]), (413, "too_large"))
        if not SANITIZED:
            self.assertLess(self.peak_bytes() - before, 80 * MIB)

    def test_text_is_no_more_than_text(self):
        self.assertEqual(self.server.append("a", 'a,b:[{\\"' * 1_000_000).status, 200)
        export = self.server.request("GET", "/v1/conversations/a/export").body
        self.assertEqual(
            self.server.request(
                "POST", "/v1/imports?id=b", export, headers={"Content-Type": "application/x-ndjson"}
            ).status,
            201,
        )


class Threads(unittest.TestCase):
    """Exports hold a thread each, while their clients read."""

    threads = 8

    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.tokens = {
            name: self.folder.make_token(name, name) for name in ("acme", "zeta", "beta")
        }
        self.server = Server(
            self.folder, "--tokens", self.folder.tokens, "--threads", str(self.threads)
        )
        for token in self.tokens.values():
            self.server.make("large", token)
            for _ in range(12):
                self.server.append("large", "x" * 1_000_000, token)
        self.open = []

    def tearDown(self):
        for connection in self.open:
            connection.close()
        self.server.close()
        self.folder.remove()

    def begin_export(self, name):
        connection = self.server.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(
            (
                f"GET /v1/conversations/large/export HTTP/1.1\r\nHost: {self.server.host}\r\n"
                f"Authorization: Bearer {self.tokens[name]}\r\n\r\n"
            ).encode()
        )
        status = int(connection.recv(100).split()[1])
        if status == 200:
            self.open.append(connection)
        else:
            connection.close()
        return connection, status

    def test_exports_leave_threads_for_others(self):
        """Two of eight threads, one for each tenant."""
        self.assertEqual(self.begin_export("acme")[1], 200)
        self.assertEqual(self.begin_export("acme")[1], 503)
        self.assertEqual(self.begin_export("zeta")[1], 200)
        self.assertEqual(self.begin_export("beta")[1], 503)
        self.assertEqual(
            self.server.request(
                "GET", "/v1/conversations/large/version", token=self.tokens["beta"]
            ).status,
            200,
        )

    def test_an_export_ends_when_its_token_is_revoked(self):
        connection, status = self.begin_export("acme")
        self.assertEqual(status, 200)
        self.folder.run("token", "revoke", "acme", "--tokens", self.folder.tokens)
        connection.settimeout(30)
        deadline, ended = time.monotonic() + 30, False
        # The server must let go though nobody reads: a thread and a slot are free again for another tenant.
        self.assertEqual(self.begin_export("zeta")[1], 200)
        while not ended:
            self.assertLess(time.monotonic(), deadline)
            ended = self.begin_export("beta")[1] == 200
        read = b""
        try:
            while some := connection.recv(65536):
                read += some
        except ConnectionError:
            pass
        self.assertNotIn(b"\r\n0\r\n\r\n", read[-10:], "nobody takes it for the whole")


class FewThreads(Threads):
    threads = 2

    def test_exports_leave_threads_for_others(self):
        """One of two threads; its own tenant has the other one too."""
        self.assertEqual(self.begin_export("acme")[1], 200)
        self.assertEqual(self.begin_export("zeta")[1], 503)
        for name in ("acme", "beta"):
            self.assertEqual(
                self.server.request(
                    "GET", "/v1/conversations/large/version", token=self.tokens[name]
                ).status,
                200,
            )

    test_an_export_ends_when_its_token_is_revoked = None


class Strangers(unittest.TestCase):
    def test_what_takes_no_token_has_a_rate_of_its_own_for_each_address(self):
        folder = Folder(PROGRAM)
        token = folder.make_token("app", "acme")
        server = Server(folder, "--tokens", folder.tokens)
        try:
            one = "".join(
                f"GET {path} HTTP/1.1\r\nHost: {server.host}\r\n\r\n"
                for path in ("/docs.css", "/none")
            )
            last = f"GET /readyz HTTP/1.1\r\nHost: {server.host}\r\nConnection: close\r\n\r\n"
            answers = b""
            with server.connect("127.0.7.1") as connection:
                sender = threading.Thread(
                    target=connection.sendall, args=((one * 1500 + last).encode(),)
                )
                sender.start()
                while some := connection.recv(65536):
                    answers += some
                sender.join()
            self.assertEqual(answers.count(b"HTTP/1.1 "), 3001)
            self.assertGreater(answers.count(b"HTTP/1.1 429 "), 0)
            self.assertGreater(answers.count(b"HTTP/1.1 200 "), 100)
            self.assertIn(
                b"HTTP/1.1 200 ",
                answers[answers.rindex(b"HTTP/1.1 ") :],
                "a probe is answered all the same",
            )
            self.assertEqual(
                server.request("GET", "/docs.css", source="127.0.7.2").status,
                200,
                "another address",
            )
            self.assertEqual(
                server.request("GET", "/v1/conversations", token=token, source="127.0.7.1").status,
                200,
                "and whoever has a token",
            )
        finally:
            server.close()
            folder.remove()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
