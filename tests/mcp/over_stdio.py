#!/usr/bin/env python3
"""`undertext mcp` as a process: what it answers, whom it shows what, and what no input does to it.   over_stdio.py PROGRAM"""

import json
import subprocess
import sys
import unittest

import served
from served import request

PROGRAM = sys.argv[1]


class Stdio(unittest.TestCase):
    def setUp(self):
        self.context = served.store(PROGRAM)
        self.folder, self.url, self.project = self.context.__enter__()

    def tearDown(self):
        self.context.__exit__(None, None, None)

    def serve(self, *options, project=None):
        return served.Stdio(self.folder, self.url, project or self.project, *options)

    def call(self, server, tool, arguments):
        return server.ask(request("tools/call", {"name": tool, "arguments": arguments}))["result"]

    def test_every_tool_does_its_work(self):
        server = self.serve("--allow-edits")
        for tool, arguments, expected in served.CALLS:
            result = self.call(server, tool, arguments)
            self.assertIn(expected, result["content"][0]["text"], tool)
            self.assertFalse(result["isError"], result)
        self.assertEqual(server.close(), b"")

    def test_without_a_flag_nothing_can_be_changed(self):
        server = self.serve()
        names = [tool["name"] for tool in server.ask(request("tools/list"))["result"]["tools"]]
        self.assertEqual(names, served.READING)
        for tool in served.EDITING:
            self.assertEqual(
                server.ask(request("tools/call", {"name": tool}))["error"]["code"], -32602
            )
        server.close()

    def test_a_project_is_the_folder_it_runs_in(self):
        search = {"text": "tokenizer", "all": True}
        here = self.serve()
        text = self.call(here, "context_search", search)["content"][0]["text"]
        self.assertIn("crash on emoji", text)
        self.assertNotIn("another project", text)
        result = self.call(here, "context_expand", {"ordinals": [0], "conversation": "there"})
        self.assertTrue(result["isError"])
        self.assertEqual(
            [r["name"] for r in here.ask(request("resources/list"))["result"]["resources"]],
            ["here"],
        )
        here.close()
        for options, found in (
            (["--all"], 2),
            (["-c", "there"], 1),
            (["--project", str(self.folder.path / "there")], 1),
            (["--project", "nowhere"], 0),
        ):
            server = self.serve(*options, project=self.folder.path)
            self.assertEqual(
                len(server.ask(request("resources/list"))["result"]["resources"]), found, options
            )
            server.close()
        elsewhere = self.serve(project=self.folder.path)
        self.assertIn(
            "There is no conversation",
            self.call(elsewhere, "context_search", search)["content"][0]["text"],
        )
        elsewhere.close()

    def test_options_that_contradict_each_other_are_refused(self):
        done = subprocess.run(
            [PROGRAM, "mcp", "--store", self.url, "--all", "-c", "here"],
            capture_output=True,
            env=self.folder.env,
        )
        self.assertEqual(done.returncode, 2)

    def test_the_schemas_cost_at_most_1500_tokens(self):
        server = self.serve("--allow-edits")
        tools = server.ask(request("tools/list"))["result"]["tools"]
        server.close()
        self.assertEqual([tool["name"] for tool in tools], served.READING + served.EDITING)
        for text in (
            json.dumps(tools, separators=(",", ":")),
            json.dumps([{k: t[k] for k in ("name", "description", "inputSchema")} for t in tools]),
        ):
            counted = subprocess.run(
                [PROGRAM, "count", "--json", "-"],
                input=text,
                capture_output=True,
                text=True,
                env=self.folder.env,
            )
            if counted.returncode:  # the vocabulary is not there
                counted = subprocess.run(
                    [PROGRAM, "count", "--json", "--tokenizer", "estimate", "-"],
                    input=text,
                    capture_output=True,
                    text=True,
                    check=True,
                )
            tokens = json.loads(counted.stdout)["tokens"]
            print("tokens of the schemas:", tokens)
            self.assertLessEqual(tokens, 1500)

    def test_what_others_commit_is_seen(self):
        server = self.serve()
        self.assertIn(
            "Nothing was found",
            self.call(server, "context_search", {"text": "zebra"})["content"][0]["text"],
        )
        served.fill(self.folder, self.url, "later", self.project, "A zebra came by.", "Did it?")
        self.assertIn(
            "zebra came",
            self.call(server, "context_search", {"text": "zebra"})["content"][0]["text"],
        )
        server.close()

    def test_hostile_lines_are_answered_and_the_next_one_is_served(self):
        deep = (
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":'
            + b'{"a":' * 100_000
            + b"1"
            + b"}" * 100_001
        )
        lines = [
            b"",
            b"\x00",
            b"\xff\xfe",
            b"{",
            b"null",
            b"7",
            b"[]",
            b"[" * 100_000,
            b'{"jsonrpc":"2.0"}',
            deep,
            b'{"jsonrpc":"2.0","id":"' + b"x" * 500_000 + b'","method":"ping"}',
            b'{"jsonrpc":"2.0","id":' + b"9" * 500_000 + b',"method":"ping"}',
            b'{"jsonrpc":"2.0","id":1,"method":"' + b"m" * 500_000 + b'"}',
            b'{"id":1,"id":2}',
            b'"' + b"a" * 3_000_000 + b'"',
            json.dumps([request("ping")] * 33).encode(),
            json.dumps(
                request(
                    "tools/call",
                    {"name": "context_expand", "arguments": {"ordinals": list(range(5000))}},
                )
            ).encode(),
            json.dumps(
                request(
                    "tools/call", {"name": "context_search", "arguments": {"text": "a " * 200_000}}
                )
            ).encode(),
            json.dumps(
                request(
                    "tools/call", {"name": "context_expand", "arguments": {"from": 0, "to": 2**63}}
                )
            ).encode(),
        ]
        server = self.serve("--allow-edits")
        for line in lines:
            answer = server.ask(line)
            self.assertIn("jsonrpc", answer, line[:80])
            self.assertLess(len(json.dumps(answer)), 600_000)
        for note in (
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}},
            {"jsonrpc": "2.0", "method": "x" * 100},
            {"jsonrpc": "2.0", "id": 1, "result": {}},
        ):
            server.send(note)  # and nothing comes back
        self.assertEqual(
            server.ask(request("ping", ident="last", meta=None)),
            {"jsonrpc": "2.0", "id": "last", "result": {}},
        )
        self.assertEqual(server.close(), b"")

    def test_a_client_that_goes_away_ends_it(self):
        server = self.serve()
        server.process.stdout.close()
        server.send(request("tools/list"))
        server.process.stdin.close()
        server.process.wait(timeout=60)
        server.process.stderr.close()
        self.assertIn(server.process.returncode, (0, 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
