#!/usr/bin/env python3
"""Events over the wire, with two servers on one store.   events.py PROGRAM [TEST…]"""

import json
import sys
import unittest

from running import EventStream, Folder, Server

PROGRAM = sys.argv[1]
PATH = "/v1/conversations/{}/events"


class Events(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder(PROGRAM)
        cls.here, cls.there = Server(cls.folder), Server(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.here.close()
        cls.there.close()
        cls.folder.remove()

    def versions(self, stream):
        return [
            json.loads(line[6:])["version"]
            for line in stream.lines
            if line.startswith('data: {"version"')
        ]

    def test_what_one_server_does_is_told_by_both_and_by_each_once(self):
        self.here.make("shared")
        streams = [EventStream(server, PATH.format("shared")) for server in (self.here, self.there)]
        for number in range(10):
            server = (self.here, self.there)[number % 2]
            self.assertEqual(server.append("shared", f"message {number}").status, 200)
        for stream in streams:
            self.assertEqual(stream.reply.headers["Content-Type"], "text/event-stream")
            self.assertTrue(stream.wait_for("id: 10"), stream.lines)
            told = self.versions(stream)
            self.assertEqual(told, list(range(told[0], 11)))
            stream.close()

    def test_who_was_cut_off_goes_on_where_it_was_at_any_server(self):
        self.here.make("long")
        for number in range(5):
            self.here.append("long", f"message {number}")
        first = EventStream(self.here, PATH.format("long") + "?after=0")
        self.assertTrue(first.wait_for("id: 5"))
        first.close()
        self.here.append("long", "while it was away")
        again = EventStream(
            self.there, PATH.format("long") + "?after=0", headers={"Last-Event-ID": "5"}
        )
        self.assertTrue(again.wait_for("id: 6"), again.lines)
        self.assertEqual(self.versions(again), [6])
        again.close()

    def test_a_conversation_that_another_server_takes_out_ends_its_streams(self):
        self.here.make("doomed")
        stream = EventStream(self.here, PATH.format("doomed"))
        self.assertTrue(stream.wait_for("id: 0"))
        self.assertEqual(self.there.request("DELETE", "/v1/conversations/doomed").status, 200)
        self.assertTrue(stream.ended.wait(30))
        self.assertIn("event: deleted", stream.lines)
        self.assertEqual(self.here.request("GET", PATH.format("doomed")).status, 404)

    def test_streams_end_when_the_server_stops(self):
        server = Server(self.folder, store="memory:")
        server.make("a")
        stream = EventStream(server, PATH.format("a"))
        self.assertTrue(stream.wait_for("id: 0"))
        self.assertEqual(server.stop(), 0)
        self.assertTrue(stream.ended.wait(30))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
