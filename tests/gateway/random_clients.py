#!/usr/bin/env python3
"""Random clients of all dialects under random policies, seen from both sides of the gateway.   [SEED=n] [UNDERTEXT_STORIES=n] random_clients.py PROGRAM

Clients go on, rewind to an earlier prompt or to another branch, ask for another answer, compact, and drop what a compaction stands for; gateways restart; models call the tools that the
gateway offers them. Whatever happens: each request that the upstream gets is valid by what providers publish (tests/dialect/validator.py); it begins as the one before did, unless an edit was
recorded or the client changed its list; the client gets the upstream's answers and nothing else; and the conversation has all that the client's list has.
"""

import json
import os
import random
import sys
import unittest

import editing
import validator
from editing import Anthropic, Blocks, Chat, Codex, Editing, Responses, without_ids, without_markers
from upstream import whole

STORIES = int(os.environ.get("UNDERTEXT_STORIES", "12"))


class Gemini:
    target, profile, listed = "/v1beta/models/m:generateContent", "gemini", "contents"
    fields = (("x-goog-api-key", "k"),)

    def __init__(self, session):
        self.session, self.list, self.calls = session, [], 0

    def say(self, text):
        self.list.append({"role": "user", "parts": [{"text": text}]})

    def use_tool(self, path, result):
        self.calls += 1
        call = {"id": f"call_{self.calls}", "name": "read"}
        self.list.append(
            {"role": "model", "parts": [{"functionCall": {**call, "args": {"path": path}}}]}
        )
        response = {**call, "response": {"output": result}}
        self.list.append({"role": "user", "parts": [{"functionResponse": response}]})

    def take(self, answer):
        self.list.append(json.loads(answer)["candidates"][0]["content"])

    def body(self):
        system = {"parts": [{"text": "Be brief."}]}
        return {"systemInstruction": system, "contents": self.list}

    @staticmethod
    def answer(text, part=None):
        content = {"role": "model", "parts": [part or {"text": text}]}
        return json.dumps(
            {
                "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
                "responseId": "r",
                "modelVersion": "m",
            }
        ).encode()


def searching(client, number):
    """An answer of the model's that calls a tool of the gateway's."""
    name, given = "context_search", {"text": "word1x1 word2x2"}
    if isinstance(client, Gemini):
        call = {"id": f"find_{number}", "name": name, "args": given}
        return client.answer("", {"functionCall": call})
    answer = json.loads(client.answer("searching"))
    if isinstance(client, Anthropic):
        answer["content"] = [
            {"type": "tool_use", "id": f"toolu_find_{number}", "name": name, "input": given}
        ]
        answer["stop_reason"] = "tool_use"
    elif isinstance(client, Chat):
        call = {"name": name, "arguments": json.dumps(given)}
        answer["choices"][0]["finish_reason"] = "tool_calls"
        answer["choices"][0]["message"] = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"find_{number}", "type": "function", "function": call}],
        }
    else:
        answer["output"] = [
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"find_{number}",
                "name": name,
                "arguments": json.dumps(given),
                "status": "completed",
            }
        ]
    return json.dumps(answer).encode()


def without_blocks(messages):
    """Of a list: what is said in it, without compaction items and blocks."""
    kept = []
    for message in messages:
        content = message.get("content")
        if message.get("type") == "compaction":
            continue
        if isinstance(content, list):
            content = [block for block in content if block.get("type") != "compaction"]
            if not content:
                continue
            message = {**message, "content": content}
        kept.append(message)
    return kept


class Story:
    """One client and its gateways."""

    def __init__(self, test, chance, client, policy):
        self.test, self.chance, self.client, self.policy = test, chance, client, policy
        self.gateway = test.gateway(policy)
        self.before, self.version, self.conversation = [], 0, None
        self.prompts = []  # the client's list before each of its prompts, of all branches
        self.searches = self.edits_seen = self.rewinds = self.compactions = 0

    def play(self):
        for turn in range(self.chance.randrange(10, 25)):
            is_rewritten = self.change_list()
            self.prompts.append(list(self.client.list))
            self.client.say(f"question {turn}")
            for _ in range(self.chance.randrange(3)):
                self.client.use_tool(
                    f"file{self.chance.randrange(4)}",
                    editing.words(self.chance.randrange(120), self.chance.randrange(9)),
                )
            if self.chance.random() < 0.08:
                self.restart()
            self.ask(f"answer {turn}", is_rewritten)
            if self.chance.random() < 0.05:  # for another answer
                self.client.list = self.asked
                self.rewinds += 1
                self.ask(f"another answer {turn}", True)
        if isinstance(self.client, Codex) and self.compactions == 0:
            self.compact()
            self.client.say("go on")
            self.ask("went on", True)
        self.gateway.stop()
        self.check_log()

    def restart(self):
        self.gateway.stop()
        self.gateway = self.test.gateway(self.policy)

    def compact(self):
        self.test.compact(self.gateway, self.client, stream=self.chance.random() < 0.5)
        self.compactions += 1

    def change_list(self):
        """What the client does with its list before the next prompt; whether it did something."""
        client, chance = self.client, self.chance.random()
        if chance < 0.1 and len(self.prompts) > 1:
            client.list = list(self.chance.choice(self.prompts[1:]))
            self.rewinds += 1
            return True
        if self.policy["compaction"] == "pointer" and len(client.list) > 6:
            if isinstance(client, Codex) and chance < 0.25:
                self.compact()
                return True
            blocks = [i for i, m in enumerate(client.list) if without_blocks([m]) != [m]]
            if blocks and chance < 0.25:
                client.list = client.list[blocks[-1] :]
                return True
        return False

    def exchange(self, text):
        """The answer that the client got, and what the upstream got."""
        client, expected = self.client, self.client.answer(text)
        calls_left = self.chance.choice([0, 0, 1, 2])

        async def answer(request, reader, writer):
            nonlocal calls_left
            said = expected
            if calls_left > 0 and "context_search" in json.dumps(
                json.loads(request.body).get("tools", [])
            ):
                calls_left -= 1
                self.searches += 1
                said = searching(client, self.searches)
            await whole(said)(request, reader, writer)

        self.test.upstream.answer = answer
        asked, searched = len(self.test.upstream.requests), self.searches
        with self.gateway.connect() as connection:
            got = connection.ask(
                "POST",
                client.target,
                [
                    ("content-type", "application/json"),
                    ("x-session-id", client.session),
                    *client.fields,
                ],
                json.dumps(client.body()).encode(),
            )
        test = self.test
        test.assertEqual(got.status, 200, got)
        bodies = [json.loads(request.body) for request in test.upstream.requests[asked:]]
        for body in bodies:
            test.assertEqual(validator.broken(client.profile, body), [])
            test.assertNotIn("ut1.", json.dumps(body))
        is_as_sent = self.searches == searched and got.body == expected
        if not is_as_sent:
            self.check_answer(got.json(), json.loads(expected), bodies)
        return got, bodies

    def check_answer(self, got, expected, bodies):
        """With the answers to calls between, or a compaction block before it."""
        test = self.test
        if isinstance(self.client, Blocks.Client):
            made = [block for block in got["content"] if block["type"] == "compaction"]
            test.assertLessEqual(len(made), 1)
            self.compactions += len(made)
            if not bodies:
                test.assertEqual((got["content"], got["stop_reason"]), (made, "compaction"))
                return
            got["content"] = [block for block in got["content"] if block["type"] != "compaction"]
        for ignored in ("id", "responseId", "usage", "created_at"):
            got.pop(ignored, None), expected.pop(ignored, None)
        test.assertEqual(got, expected)

    def ask(self, text, is_rewritten):
        client, test = self.client, self.test
        own = json.loads(json.dumps(client.body()))
        self.asked = list(client.list)
        got, bodies = self.exchange(text)
        client.take(got.body)
        if not bodies:  # a pause: the client goes on at once
            self.before = None
            return self.ask(text, True)
        version, sent = int(got.get("x-undertext-version")), bodies[0]
        test.assertGreaterEqual(version, self.version)
        self.conversation = self.conversation or test.conversations()[0]
        now, list_now = (without_markers(body[client.listed]) for body in (sent, own))
        if now == list_now:
            test.assertEqual(int(got.get("x-undertext-saved")), 0)
        elif self.asked == without_blocks(self.asked):  # else the view stands for an item
            test.assertTrue(self.edits(version), "the list differs, and nothing was edited")
        if not is_rewritten and now[: len(self.before)] != self.before:
            recent = [each for each in self.edits(version) if each > self.version]
            test.assertTrue(recent, "the prefix broke without an edit")
            self.edits_seen += 1
        ignored = {client.listed, "tools", "context_management"}
        test.assertEqual(
            {key: value for key, value in sent.items() if key not in ignored},
            {key: value for key, value in own.items() if key not in ignored},
        )
        if self.policy["tools"] == "none":
            test.assertEqual(sent.get("tools"), own.get("tools"))
        self.before, self.version = now, version

    def edits(self, version):
        """Versions up to this one that the policy made, or the client asked for."""
        history = self.test.query(self.conversation, {"query": "history"})[0]["result"]
        return {
            entry["version"]
            for entry in history
            if (entry["description"] or "").startswith(("policy ", "asked for by the client"))
            and entry["version"] <= version
        }

    def check_log(self):
        """Nothing of the client's list is lost, and nothing of it is there as another message."""
        test = self.test
        test.assertEqual(test.conversations(), [self.conversation])
        log = test.query(self.conversation, {"query": "messages", "all": True})[0]["messages"]
        natives = [each["native"]["json"] if "native" in each else each for each in log]
        kept = [without_ids(without_markers(each)) for each in natives if isinstance(each, dict)]
        for message in without_blocks(self.client.list):
            test.assertIn(without_ids(without_markers(message)), kept)


class RandomClients(Editing):
    HEAD = editing.Pointers.HEAD

    def compact(self, gateway, client, stream):
        self.HEAD = [*editing.Pointers.HEAD[:-1], ("x-session-id", client.session)]
        return editing.Pointers.compact(self, gateway, client, stream)

    def test_random_clients_under_random_policies(self):
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        print(f"SEED={seed}")
        chance = random.Random(seed)
        stories, kinds = [], [Anthropic, Chat, Responses, Gemini, Codex, Blocks.Client]
        for number in range(STORIES):
            client = self.client(kinds[number % len(kinds)], chance, f"session-{number}")
            policy = {
                "mode": chance.choice(["fit", "tidy", "compact"]),
                "when": chance.choice(["limit", "cold"]),
                "cacheSeconds": chance.choice([0, 3600]),
                "windowTokens": chance.randrange(1500, 6000),
                "headroomTurns": chance.randrange(4),
                "keepResults": chance.randrange(3),
                "survival": chance.choice([{}, {"paths": 0.5}, {"constraints": 1, "request": 1}]),
                "repair": chance.choice(["on", "off"]),
                "tools": chance.choice(["none", "recall"]) if stories else "recall",
                "compaction": chance.choice(["off", "pointer"]),
            }
            if isinstance(client, (Codex, Blocks.Client)):
                policy["compaction"] = "pointer"  # the upstream knows nothing of what they ask
            kind = type(client).__qualname__
            with self.subTest(seed=seed, story=number, kind=kind, policy=policy):
                self.store = f"sqlite:{self.folder.path}/kept-{number}.db"
                stories.append(Story(self, chance, client, policy))
                stories[-1].play()
        for what in ("edits_seen", "rewinds", "searches", "compactions"):
            happened = sum(getattr(story, what) for story in stories)
            print(f"{what}: {happened}")
            self.assertGreater(happened, 0, f"{what}: nothing of it was tried")

    @staticmethod
    def client(kind, chance, session):
        if kind is not Blocks.Client:
            return kind(session)
        return kind(session, chance.random() < 0.5, chance.randrange(800, 3000))


# What holds for policies is tried in editing.py.
for inherited in [name for name in vars(Editing) if name.startswith("test_")]:
    if inherited not in vars(RandomClients):
        setattr(RandomClients, inherited, None)

if __name__ == "__main__":
    editing.PROGRAM = sys.argv.pop(1)
    unittest.main(argv=[sys.argv[0], "RandomClients", *sys.argv[1:]], verbosity=2)
