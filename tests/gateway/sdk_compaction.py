#!/usr/bin/env python3
"""SDKs that compact, through a gateway that answers for the provider.   sdk_compaction.py PROGRAM ADAPTERS_FOLDER SDKS_FOLDER

The Agents SDK's compaction session (both of its modes) and the Anthropic SDK's compaction beta, against an upstream of ours that knows neither: it checks every request by what
providers publish. Exits with 77, which means skipped, where the packages are not to be had.
"""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "dialect"))
import validator
from compaction_calls import WAYS, named
from gateways import Folder, Gateway
from upstream import Upstream, streamed, whole

PROGRAM = ADAPTERS = SDKS = None
CALLS = pathlib.Path(__file__).with_name("compaction_calls.py")


def numbered(count, name):
    return f"answer {count} of {name}"


class SdkCompaction(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.addCleanup(self.folder.remove)
        self.upstream = self.enterContext(Upstream())
        self.store = f"sqlite:{self.folder.path}/kept.db"
        self.gateway = self.enterContext(
            Gateway(
                self.folder,
                self.upstream,
                self.store,
                "--policy",
                json.dumps({"compaction": "pointer"}),
            )
        )

    def calls(self, python, kind, url=None):
        module = "anthropic" if kind.startswith("anthropic") else "agents"
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode != 0:
            self.skipTest(f"{module} is not to be had")
        done = subprocess.run(
            [python, str(CALLS), kind, url or self.gateway.url, str(self.folder.path)],
            env={**self.folder.env, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-500:] + done.stderr[-3000:])
        return done.stdout.splitlines()

    def ask(self, conversation, line):
        words = [PROGRAM, "exec", "--store", self.store, "--conversation", conversation]
        done = subprocess.run(
            words,
            env=self.folder.env,
            capture_output=True,
            text=True,
            input=json.dumps(line) + "\n",
        )
        answer = json.loads(done.stdout)
        self.assertTrue(answer["ok"], answer)
        return answer

    def conversations(self):
        listed = subprocess.run(
            [PROGRAM, "list", "--store", self.store, "--json"],
            env=self.folder.env,
            capture_output=True,
            text=True,
        ).stdout
        return [json.loads(line)["conversation"] for line in listed.splitlines()]

    def expanded(self, conversation):
        """The view with every summary expanded, as the client and the provider said it."""
        while True:
            view = self.ask(conversation, {"query": "messages"})["messages"]
            made = [
                i
                for i, message in enumerate(view)
                if str(message["content"]).startswith("[Summary of earlier messages]")
            ]
            if not made:
                return [
                    message["native"]["json"] if "native" in message else message
                    for message in view
                    if message["role"] != "system"
                ]
            self.ask(conversation, {"operation": "EXPAND", "index": made[0]})

    def bodies(self):
        bodies = [json.loads(request.body) for request in self.upstream.requests]
        for body in bodies:
            self.assertNotIn("ut1.", json.dumps(body))
            self.assertNotIn("context_management", body)
        return bodies

    def test_the_compaction_session_of_the_agents_sdk(self):
        async def answer(request, reader, writer):
            text = numbered(len(self.upstream.requests), "agents")
            item = {
                "type": "message",
                "id": f"msg_{len(self.upstream.requests)}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }
            body = {
                "id": f"resp_{len(self.upstream.requests)}",
                "object": "response",
                "created_at": 1,
                "model": "gpt-4.1",
                "status": "completed",
                "output": [item],
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "error": None,
                "incomplete_details": None,
                "instructions": None,
                "metadata": {},
                "temperature": 1,
                "top_p": 1,
                "usage": {
                    "input_tokens": 10,
                    "input_tokens_details": {"cached_tokens": 0},
                    "output_tokens": 1,
                    "output_tokens_details": {"reasoning_tokens": 0},
                    "total_tokens": 11,
                },
            }
            await whole(json.dumps(body).encode())(request, reader, writer)

        self.upstream.answer = answer
        lines = self.calls(f"{ADAPTERS}/bin/python", "agents")
        self.assertEqual(
            [line for line in lines if line.startswith("answer")],
            [numbered(i + 1, "agents") for i in range(18)],
        )
        self.assertEqual(
            [line.split()[0] for line in lines if "compacted" in line],
            ["compacted", "compacted"],
            lines,
        )
        self.assertTrue(
            all(request.target.endswith("/responses") for request in self.upstream.requests),
            "no compaction reaches the upstream",
        )
        for body in self.bodies():
            self.assertEqual(validator.broken("openai_responses", body), [])
        # All that was said is there, in one conversation for each session.
        conversations = self.conversations()
        self.assertEqual(len(conversations), 2, conversations)
        self.gateway.stop()
        modes = []
        for conversation in conversations:
            items = self.expanded(conversation)
            texts = [
                item["content"] if isinstance(item["content"], str) else item["content"][0]["text"]
                for item in items
            ]
            mode = texts[0].split()[3]
            first = 9 * ("input", "previous_response_id").index(mode)
            # Every question and every answer, once and in order.
            self.assertEqual(
                texts,
                [
                    text
                    for turn in range(9)
                    for text in (
                        f"question {turn} by {mode} " + "many words " * 60,
                        numbered(first + turn + 1, "agents"),
                    )
                ],
            )
            modes.append(mode)
        self.assertEqual(sorted(modes), ["input", "previous_response_id"])
        # The gateway is gone: what the session holds is detached, and goes on with the provider alone.
        for mode in modes:
            file = self.folder.path / f"{mode}.json"
            self.assertIn("ut1.", file.read_text())
            self.folder.run("detach", file)
            self.assertNotIn("ut1.", file.read_text())
        count = len(self.upstream.requests)
        self.assertEqual(
            self.calls(f"{ADAPTERS}/bin/python", "resume", self.upstream.url),
            [numbered(count + 1, "agents"), numbered(count + 2, "agents")],
        )
        for body in self.bodies()[count:]:
            self.assertEqual(validator.broken("openai_responses", body), [])
            self.assertIn("The earlier part of this conversation was compacted.", json.dumps(body))

    def test_the_compaction_beta_of_the_anthropic_sdk(self):
        async def answer(request, reader, writer):
            text = numbered(len(self.upstream.requests), "anthropic")
            body = {
                "id": f"msg_{len(self.upstream.requests)}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "stop_reason": "end_turn",
                "content": [{"type": "text", "text": text}],
                "usage": {"input_tokens": 10, "output_tokens": 1},
            }
            if not json.loads(request.body).get("stream"):
                return await whole(json.dumps(body).encode())(request, reader, writer)
            events = [
                {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}},
                {
                    "type": "content_block_start",
                    "index": 0,
                    "content_block": {"type": "text", "text": ""},
                },
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": text},
                },
                {"type": "content_block_stop", "index": 0},
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                    "usage": {"output_tokens": 1},
                },
                {"type": "message_stop"},
            ]
            await streamed(
                [
                    f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
                    for event in events
                ]
            )(request, reader, writer)

        self.upstream.answer = answer
        lines = self.calls(f"{SDKS}/bin/python", "anthropic")
        # Each turn has its answer, and compaction blocks came in each way of asking.
        count = 12 * len(WAYS)
        self.assertEqual(
            [line for line in lines if line.startswith("answer")],
            [numbered(i + 1, "anthropic") for i in range(count)],
        )
        self.assertEqual([line for line in lines if "compacted" in line], ["compacted"] * len(WAYS))
        bodies = self.bodies()
        self.assertEqual(len(bodies), count)
        for body in bodies:
            self.assertEqual(validator.broken("anthropic", body), [])
        self.assertLess(
            max(len(json.dumps(body)) for body in bodies), 12 * 700, "nothing was compacted"
        )
        self.gateway.stop()
        # Every compaction expands to the exact originals: all that was said, once and in order.
        conversations = self.conversations()
        self.assertEqual(len(conversations), len(WAYS), conversations)
        expanded = [self.expanded(conversation) for conversation in conversations]
        for way in WAYS:
            said = json.loads((self.folder.path / f"said-{named(way)}.json").read_text())
            self.assertEqual(len(said), 24)
            (found,) = (each for each in expanded if each[0] == said[0])
            self.assertEqual(found, said, way)
        # The gateway is gone: each client's list is detached, and goes on with the provider alone.
        for way in WAYS:
            file = self.folder.path / f"list-{named(way)}.json"
            former = file.read_text()
            self.assertIn("ut1.", former)
            self.assertEqual(
                json.loads(former)[0]["role"] == "assistant", way[-1], "it was dropped"
            )
            self.folder.run("detach", file)
        self.assertEqual(
            self.calls(f"{SDKS}/bin/python", "anthropic-resume", self.upstream.url),
            [numbered(count + i + 1, "anthropic") for i in range(len(WAYS))],
        )
        for body in self.bodies()[count:]:
            self.assertEqual(validator.broken("anthropic", body), [])
            self.assertIn(
                "The earlier part of this conversation was compacted.",
                json.dumps(body["messages"][0]),
            )


if __name__ == "__main__":
    PROGRAM, ADAPTERS, SDKS = (sys.argv.pop(1) for _ in range(3))
    if not all(pathlib.Path(folder, "bin", "python").exists() for folder in (ADAPTERS, SDKS)):
        print("skipped: sdks: scripts/python --adapters and scripts/peers sdks could not get them")
        sys.exit(77)
    unittest.main(verbosity=2)
