#!/usr/bin/env python3
"""Stores of an older release, without an index, that a server indexes in the background.   indexing.py PROGRAM [TEST…]"""

import pathlib
import re
import shutil
import sqlite3
import sys
import time
import unittest

from running import Folder, Server

PROGRAM = sys.argv[1]
RELEASE = pathlib.Path(__file__).resolve().parent.parent / "stored" / "0.1.0"


def rows_of(path, sql):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return db.execute(sql).fetchall()


class Indexing(unittest.TestCase):
    def serve(self, name):
        folder = Folder(PROGRAM)
        self.addCleanup(folder.remove)
        self.path = folder.path / "store" / "undertext.db"
        shutil.copyfile(RELEASE / name, self.path)
        self.server = Server(folder)
        self.addCleanup(self.server.close)

    def metric(self, name):
        found = re.search(
            rf"^undertext_index_{name} (\d+)$",
            self.server.request("GET", "/metrics").body.decode(),
            re.M,
        )
        self.assertTrue(found, name)
        return int(found[1])

    def indexed(self, patience=120):
        """What the metrics say once nothing waits any more, having never gone down before."""
        deadline, before = time.monotonic() + patience, 0
        while True:
            waiting, messages = self.metric("tenants_waiting"), self.metric("messages_total")
            self.assertGreaterEqual(messages, before)
            before = messages
            if waiting == 0:
                return self.metric("messages_total")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def find(self, text):
        found = self.server.request("GET", "/v1/recall?limit=50&text=" + text).json()["result"][
            "found"
        ]
        return [(each["conversation"], each["ordinal"]) for each in found]

    def expected(self):
        """Messages of conversations that are long enough for a row: the words of others are read from the messages."""
        counts = rows_of(self.path, "SELECT count(*) FROM messages GROUP BY key >> 32")
        return sum(count for (count,) in counts if count >= 64)

    def test_all_messages_are_indexed_once_and_found_before_and_after(self):
        for name in ("long.db", "random_literal.db", "random_shrink.db"):
            with self.subTest(name=name):
                self.serve(name)
                count = self.expected()
                self.assertGreater(count, 100)
                found = self.find("message")  # the first call of the tenant, which begins it
                self.assertEqual(self.indexed(), count)
                self.assertEqual(self.find("message"), found)
                self.assertGreater(rows_of(self.path, "SELECT count(*) FROM words")[0][0], 0)
                self.assertEqual(self.server.stop(), 0)
                self.server.start()
                self.assertEqual(self.find("message"), found)
                self.assertEqual(self.indexed(), 0, "there is nothing left to do")

    def test_appends_go_on_meanwhile(self):
        self.serve("long.db")
        count = self.expected()
        self.server.make("new")
        for number in range(50):
            self.assertEqual(self.server.append("new", f"appended kettle {number}").status, 200)
        self.assertGreaterEqual(self.indexed(), count)
        self.assertEqual(len(self.find("kettle")), 50)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
