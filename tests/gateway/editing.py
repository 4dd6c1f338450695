#!/usr/bin/env python3
"""Policies that edit requests, seen from both sides of the gateway.   editing.py PROGRAM

Clients keep their own lists and talk through the gateway to an upstream of ours, whose requests are checked by what providers publish (tests/dialect/validator.py).
Random ones are in random_clients.py.
"""

import gzip
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "dialect"))
import validator
from gateways import Folder, Gateway
from upstream import Upstream, whole

PROGRAM = None


def words(count, seed):
    return " ".join(f"word{seed}x{i}" for i in range(count))


class Anthropic:
    """A client of Anthropic's API that keeps its list."""

    target, profile, listed = "/v1/messages", "anthropic", "messages"
    fields = (("x-api-key", "k"), ("anthropic-version", "2023-06-01"))

    def __init__(self, session):
        self.session, self.list, self.calls = session, [], 0

    def say(self, text):
        self.list.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def use_tool(self, path, result):
        self.calls += 1
        self.list.append(
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": f"toolu_{self.calls}",
                        "name": "read",
                        "input": {"path": path},
                    }
                ],
            }
        )
        self.list.append(
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": f"toolu_{self.calls}", "content": result}
                ],
            }
        )

    def take(self, answer):
        self.list.append({"role": "assistant", "content": json.loads(answer)["content"]})

    def body(self):
        messages = json.loads(json.dumps(self.list))
        messages[-1]["content"][-1]["cache_control"] = {
            "type": "ephemeral"
        }  # moves with every request
        return {
            "model": "m",
            "max_tokens": 50,
            "system": [{"type": "text", "text": "Be brief."}],
            "tools": [],
            "messages": messages,
        }

    @staticmethod
    def answer(text):
        return json.dumps(
            {
                "id": "msg_" + text,
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 0, "output_tokens": 1},
            }
        ).encode()


class Chat:
    target, profile, listed = "/v1/chat/completions", "openai_chat", "messages"
    fields = (("authorization", "Bearer k"),)

    def __init__(self, session):
        self.session, self.calls = session, 0
        self.list = [{"role": "system", "content": "Be brief."}]

    def say(self, text):
        self.list.append({"role": "user", "content": text})

    def use_tool(self, path, result):
        self.calls += 1
        call = {
            "id": f"call_{self.calls}",
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"path": path})},
        }
        self.list.append({"role": "assistant", "content": None, "tool_calls": [call]})
        self.list.append({"role": "tool", "tool_call_id": f"call_{self.calls}", "content": result})

    def take(self, answer):
        self.list.append(json.loads(answer)["choices"][0]["message"])

    def body(self):
        return {"model": "m", "messages": self.list}

    @staticmethod
    def answer(text):
        return json.dumps(
            {
                "id": "chat_" + text,
                "object": "chat.completion",
                "model": "m",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": text},
                    }
                ],
            }
        ).encode()


class Responses:
    target, profile, listed = "/v1/responses", "openai_responses_stateless", "input"
    fields = (("authorization", "Bearer k"),)

    def __init__(self, session):
        self.session, self.list, self.calls = session, [], 0

    def say(self, text):
        self.list.append(
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        )

    def use_tool(self, path, result):
        self.calls += 1
        self.list.append(
            {
                "type": "function_call",
                "call_id": f"call_{self.calls}",
                "name": "read",
                "arguments": json.dumps({"path": path}),
            }
        )
        self.list.append(
            {"type": "function_call_output", "call_id": f"call_{self.calls}", "output": result}
        )

    def take(self, answer):
        self.list += json.loads(answer)["output"]

    def body(self):
        return {"model": "m", "instructions": "Be brief.", "store": False, "input": self.list}

    @staticmethod
    def answer(text):
        item = {
            "type": "message",
            "id": "msg_" + text.replace(" ", "_"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }
        return json.dumps(
            {
                "id": "resp_" + text,
                "object": "response",
                "model": "m",
                "status": "completed",
                "output": [item],
            }
        ).encode()


def without_markers(value):
    if isinstance(value, list):
        return [without_markers(each) for each in value]
    if isinstance(value, dict):
        return {key: without_markers(each) for key, each in value.items() if key != "cache_control"}
    return value


class Editing(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.addCleanup(self.folder.remove)
        self.upstream = self.enterContext(Upstream())
        self.store = f"sqlite:{self.folder.path}/kept.db"

    def gateway(self, policy, *options, **others):
        return self.enterContext(
            Gateway(
                self.folder,
                self.upstream,
                self.store,
                "--policy",
                json.dumps(policy),
                *options,
                **others,
            )
        )

    def ask(self, gateway, client, answer, fields=()):
        """One request; what the client reads, and the body that the upstream got. The client takes the answer over."""
        expected = client.answer(answer)
        self.upstream.answer = whole(expected)
        with gateway.connect() as connection:
            got = connection.ask(
                "POST",
                client.target,
                [
                    ("content-type", "application/json"),
                    ("x-session-id", client.session),
                    *client.fields,
                    *fields,
                ],
                json.dumps(client.body()).encode(),
            )
        self.assertEqual((got.status, got.body), (200, expected), got)
        client.take(got.body)
        return got, json.loads(self.upstream.requests[-1].body)

    def run_program(self, *arguments, text=None):
        done = subprocess.run(
            [PROGRAM, *arguments], env=self.folder.env, input=text, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def conversations(self):
        return [
            json.loads(line)["conversation"]
            for line in self.run_program("list", "--store", self.store, "--json").splitlines()
        ]

    def query(self, conversation, *lines):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        answers = self.run_program(
            "exec", "--store", self.store, "--conversation", conversation, text=text
        )
        return [json.loads(line) for line in answers.splitlines()]

    def change(self, conversation, operation):
        """Again where the gateway was recording an answer meanwhile."""
        while not (answer := self.query(conversation, operation)[0])["ok"]:
            self.assertEqual(answer["error"]["code"], "conflict", answer)

    def edits(self, conversation):
        """Versions that a policy made."""
        return {
            entry["version"]
            for entry in self.query(conversation, {"query": "history"})[0]["result"]
            if (entry["description"] or "").startswith("policy ")
        }

    def long_client(self, gateway, turns=12, session="s"):
        client = Anthropic(session)
        for turn in range(turns):
            client.say(f"question {turn}")
            client.use_tool(f"file{turn}", words(100, turn))
            got, sent = self.ask(gateway, client, f"answer {turn}")
        return client, got, sent

    def test_an_edit_is_a_version_with_a_receipt(self):
        gateway = self.gateway({"mode": "compact", "thresholdTokens": 1500})
        client, got, sent = self.long_client(gateway)
        self.assertLess(len(json.dumps(sent)), len(json.dumps(client.body())) * 0.8)
        self.assertGreater(int(got.get("x-undertext-saved")), 500)
        (conversation,) = self.conversations()
        self.assertTrue(self.edits(conversation))
        receipts = self.query(conversation, {"query": "receipts"})[0]["result"]
        self.assertEqual({receipt["version"] for receipt in receipts}, self.edits(conversation))
        self.assertTrue(all(receipt["ordinals"] for receipt in receipts))

    def test_observe_adds_nothing(self):
        gateway = self.gateway({"mode": "observe"})
        client = Anthropic("s")
        client.say("hello")
        body = json.dumps(client.body()).encode()
        got, _ = self.ask(gateway, client, "hi")
        self.assertEqual(self.upstream.requests[-1].body, body)
        self.assertEqual(
            [name for name, _ in got.fields if name.lower().startswith("x-undertext")], []
        )

    def test_a_policy_of_one_tenant_leaves_models_of_others_alone(self):
        gateway = self.gateway({"models": {"other": {"mode": "compact", "thresholdTokens": 10}}})
        client = Chat("s")
        client.say(words(500, 1))
        body = json.dumps(client.body()).encode()
        self.ask(gateway, client, "ok")
        self.assertEqual(self.upstream.requests[-1].body, body)

    def test_repair_is_reported(self):
        gateway = self.gateway({"repair": "on"})
        client = Anthropic("s")
        client.say("read it")
        client.use_tool("x", "one")
        del client.list[1]
        self.assertNotEqual(validator.broken("anthropic", client.body()), [])
        got, sent = self.ask(gateway, client, "ok")
        self.assertEqual(validator.broken("anthropic", sent), [])
        self.assertIn("PAIR_ORPHAN_RESULT", got.get("x-undertext-repaired"))
        self.assertIn("a request was repaired", gateway.log_with("a request was repaired"))

    def test_a_store_that_is_gone_lets_requests_through(self):
        gateway = self.gateway({"mode": "compact", "thresholdTokens": 100}, file_bytes_max=200_000)
        client = Anthropic("s")
        for turn in range(40):  # until nothing more can be stored
            client.say(f"question {turn}")
            client.use_tool(f"file{turn}", words(400, turn))
            self.ask(gateway, client, f"answer {turn}")
        self.assertIn("not recorded", gateway.log_with("not recorded"))

    def test_a_compressed_request_is_edited_too(self):
        gateway = self.gateway({"mode": "compact", "thresholdTokens": 1000})
        client, _, _ = self.long_client(gateway)
        client.say("one more")
        self.upstream.answer = whole(client.answer("ok"))
        with gateway.connect() as connection:
            got = connection.ask(
                "POST",
                client.target,
                [
                    ("content-type", "application/json"),
                    ("content-encoding", "gzip"),
                    ("x-session-id", "s"),
                    *client.fields,
                ],
                gzip.compress(json.dumps(client.body()).encode()),
            )
        self.assertEqual(got.status, 200)
        request = self.upstream.requests[-1]
        self.assertIsNone(request.get("content-encoding"))
        self.assertEqual(validator.broken("anthropic", json.loads(request.body)), [])
        self.assertEqual(int(request.get("content-length")), len(request.body))


class Codex(Responses):
    """Compacts as Codex does: the base prompt and the user's messages stay before the item."""

    def __init__(self, session):
        super().__init__(session)
        self.list.append(
            {
                "type": "message",
                "role": "developer",
                "content": [{"type": "input_text", "text": "You are Codex."}],
            }
        )

    def body(self):
        return {"model": "m", "store": False, "stream": False, "input": self.list}


class Pointers(Editing):
    POLICY = {"compaction": "pointer"}
    HEAD = [
        ("content-type", "application/json"),
        ("authorization", "Bearer k"),
        ("x-session-id", "s"),
    ]

    def compact(self, gateway, client, stream=True, key="k"):
        body = {
            **client.body(),
            "stream": stream,
            "input": [*client.list, {"type": "compaction_trigger"}],
        }
        asked = len(self.upstream.requests)
        with gateway.connect() as connection:
            got = connection.ask("POST", "/v1/responses", self.HEAD, json.dumps(body).encode())
        self.assertEqual(got.status, 200, got)
        self.assertEqual(len(self.upstream.requests), asked, "no upstream is asked")
        if stream:
            events = [
                json.loads(line[6:])
                for line in got.body.decode().splitlines()
                if line.startswith("data: ")
            ]
            self.assertEqual(
                [event["type"] for event in events],
                [
                    "response.created",
                    "response.output_item.added",
                    "response.output_item.done",
                    "response.completed",
                ],
            )
            (item,) = events[-1]["response"]["output"]
        else:
            (item,) = got.json()["output"]
        self.assertEqual(item["type"], "compaction")
        # As Codex goes on: its base prompt, what the user said, the item.
        client.list = [
            client.list[0],
            *(each for each in client.list[1:] if each.get("role") == "user"),
            item,
        ]
        return item

    def work(self, gateway, client, turns, begin=0):
        for turn in range(begin, begin + turns):
            client.say(f"question {turn}")
            client.use_tool(f"file{turn}", words(80, turn))
            got, sent = self.ask(gateway, client, f"answer {turn}")
            self.assertNotIn(
                "ut1.", json.dumps(sent), "a provider never sees an item of the gateway's"
            )
            self.assertEqual(validator.broken(client.profile, sent), [])
        return sent

    def expanded(self, conversation):
        """The view with every summary expanded, as the client sent it."""
        while True:
            messages = self.query(conversation, {"query": "messages"})[0]["messages"]
            made = [i for i, message in enumerate(messages) if "native" not in message]
            if not made:
                return [without_ids(message["native"]["json"]) for message in messages]
            self.assertTrue(
                self.query(conversation, {"operation": "EXPAND", "index": made[0]})[0]["ok"]
            )

    def test_every_compaction_expands_to_the_exact_originals(self):
        gateway = self.gateway(self.POLICY)
        client = Codex("s")
        everything = []
        for round in range(3):
            self.work(gateway, client, 6, 10 * round)
            everything += [
                each
                for each in client.list
                if each not in everything and each.get("type") != "compaction"
            ]
            self.compact(gateway, client, stream=round != 1)
        sent = self.work(gateway, client, 1, 90)
        everything += [
            each
            for each in client.list
            if each not in everything and each.get("type") != "compaction"
        ]
        self.assertLess(len(json.dumps(sent)), len(json.dumps(everything)) / 2)
        (conversation,) = self.conversations()
        # All of them are still there, and nothing else is: the view, with all that was hidden shown again.
        log = self.query(conversation, {"query": "messages", "all": True})[0]["messages"]
        natives = [message["native"]["json"] for message in log if "native" in message]
        for item in everything:
            self.assertEqual(
                sum(without_ids(native) == without_ids(item) for native in natives), 1, item
            )
        self.assertEqual(self.expanded(conversation), [without_ids(each) for each in everything])
        # What is expanded takes effect with the next request, without the client.
        sent = self.work(gateway, client, 1, 95)
        self.assertIn("word3x7", json.dumps(sent))

    def test_a_conversation_may_have_a_policy_of_its_own(self):
        for compaction, others in [("pointer", "off"), ("off", "pointer")]:
            gateway = self.gateway(
                {
                    "compaction": others,
                    "conversations": {
                        f"openai_responses-own-{compaction}": {"compaction": compaction}
                    },
                }
            )
            for session, expected in [
                (f"own-{compaction}", compaction),
                ("other-" + compaction, others),
            ]:
                client = Codex(session)
                self.HEAD = [*Pointers.HEAD[:-1], ("x-session-id", session)]
                self.work(gateway, client, 3)
                self.assertIn("openai_responses-" + session, self.conversations())
                if expected == "pointer":
                    self.assertTrue(
                        self.compact(gateway, client)["encrypted_content"].startswith("ut1.")
                    )
                    continue
                item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAABprovider"}
                body = json.dumps(
                    {**client.body(), "input": [*client.list, {"type": "compaction_trigger"}]}
                ).encode()
                self.upstream.answer = whole(
                    json.dumps(
                        {
                            "id": "resp_c",
                            "object": "response",
                            "model": "m",
                            "status": "completed",
                            "output": [item],
                        }
                    ).encode()
                )
                with gateway.connect() as connection:
                    got = connection.ask("POST", "/v1/responses", self.HEAD, body)
                self.assertEqual(got.json()["output"], [item], "the provider's")
                self.assertEqual(self.upstream.requests[-1].body, body)
            gateway.stop()

    def test_the_start_and_the_first_compaction_say_what_happens_without_undertext(self):
        quiet = self.gateway({"mode": "compact"})
        self.assertNotIn("undertext detach", quiet.log())
        quiet.stop()
        gateway = self.gateway(self.POLICY)
        self.assertEqual(gateway.log().count("undertext detach SESSION"), 1, gateway.log())
        client = Codex("s")
        for round in range(2):
            self.work(gateway, client, 3, 10 * round)
            self.compact(gateway, client)
        log = gateway.log_with("a compaction was answered")
        self.assertEqual(log.count("a compaction was answered"), 1, "the first one only")
        self.assertEqual(log.count("undertext detach SESSION"), 2, log)
        self.run_wrapped()

    def run_wrapped(self):
        done = subprocess.run(
            [PROGRAM, "wrap", "--policy", json.dumps(self.POLICY), "true"],
            env=self.folder.env,
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(done.stderr.count("undertext detach SESSION"), 1, done.stderr)

    def test_pins_shown_messages_and_better_summaries_take_effect_through_an_item(self):
        gateway = self.gateway({**self.POLICY, "targetTokens": 1000})
        client = Codex("s")
        self.work(gateway, client, 8)
        (conversation,) = self.conversations()
        log = self.query(conversation, {"query": "messages", "all": True})[0]
        ordinal_of = lambda text: next(
            ordinal
            for ordinal, message in zip(log["ordinals"], log["messages"])
            if text in json.dumps(message)
        )
        pinned = ordinal_of("question 2")
        self.change(conversation, {"operation": "MARK", "ordinals": [pinned], "mark": "pinned"})
        item = self.compact(gateway, client)
        # As Codex may: it keeps none of the user's messages, so what is sent is what the view has.
        client.list = [client.list[0], client.list[-1]]
        sent = json.dumps(self.work(gateway, client, 1, 50))
        self.assertIn("question 2", sent, "what is pinned stays")
        # What was hidden, and shown again.
        log = self.query(conversation, {"query": "messages", "all": True})[0]
        hidden = ordinal_of("question 50")
        self.change(conversation, {"operation": "DELETE", "ordinals": [hidden]})
        self.assertNotIn("question 50", json.dumps(self.work(gateway, client, 1, 60)))
        self.change(conversation, {"operation": "SHOW", "ordinals": [hidden]})
        self.assertIn("question 50", json.dumps(self.work(gateway, client, 1, 65)))
        # A better summary.
        view = self.query(conversation, {"query": "messages"})[0]
        at = [
            i
            for i, message in enumerate(view["messages"])
            if "Summary of earlier messages" in json.dumps(message)
        ]
        self.assertTrue(at)
        said = "All is well with the parser."
        better = {
            "operation": "REPLACE",
            "index": at[0],
            "message": {"role": "user", "content": said},
        }
        self.change(conversation, better)
        sent = self.work(gateway, client, 1, 70)
        self.assertIn(said, json.dumps(sent))
        self.assertEqual(client.list[1], item, "the client has the same item")

    def test_an_item_outlives_the_gateway_and_its_store(self):
        gateway = self.gateway(self.POLICY)
        client = Codex("s")
        client.say("remember that the colour is teal-417")
        self.work(gateway, client, 6)
        self.compact(gateway, client)
        gateway.stop()
        for file in pathlib.Path(self.folder.path).glob("kept.db*"):
            file.unlink()
        gateway = self.gateway(self.POLICY)
        client.say("which colour?")
        _, sent = self.ask(gateway, client, "teal-417")
        self.assertNotIn("ut1.", json.dumps(sent))
        self.assertIn("compacted", json.dumps(sent))
        self.assertEqual(validator.broken(client.profile, sent), [])

    def test_forged_and_foreign_items_are_refused_and_tell_nothing(self):
        gateway = self.gateway(self.POLICY)
        client = Codex("s")
        self.work(gateway, client, 6)
        item = self.compact(gateway, client)
        sealed = item["encrypted_content"]
        answers = set()
        asked = len(self.upstream.requests)
        for text, key in [
            (sealed[:-2] + ("AA" if sealed[-2:] != "AA" else "BB"), "k"),
            (sealed, "another user's key"),
            ("ut1." + "A" * 200, "k"),
        ]:
            body = {
                "model": "m",
                "store": False,
                "input": [
                    {"type": "compaction", "id": "c", "encrypted_content": text},
                    {"role": "user", "content": "go on"},
                ],
            }
            with gateway.connect() as connection:
                got = connection.ask(
                    "POST",
                    "/v1/responses",
                    [
                        ("content-type", "application/json"),
                        ("authorization", f"Bearer {key}"),
                        ("x-session-id", "t"),
                    ],
                    json.dumps(body).encode(),
                )
            self.assertEqual(
                (got.status, got.get("x-undertext-error")), (400, "invalid_compaction")
            )
            answers.add(got.body)
        self.assertEqual(len(answers), 1, "the answers differ")
        self.assertEqual(len(self.upstream.requests), asked)

    def test_a_login_that_was_renewed_goes_on_with_its_session_where_all_are_one_user(self):
        gateway = self.gateway(self.POLICY, "--one-user")
        client = Codex("s")
        client.fields = [("authorization", "Bearer the first login")]
        self.work(gateway, client, 6)
        self.compact(gateway, client)
        client.fields = [("authorization", "Bearer the renewed login")]
        client.say("go on")
        got, sent = self.ask(gateway, client, "yes")
        self.assertEqual(got.status, 200, got)
        self.assertNotIn("ut1.", json.dumps(sent))
        self.assertIn("question 5", json.dumps(sent))
        self.assertEqual(len(self.conversations()), 1)

    def test_tokens_are_counted_of_what_the_provider_would_get(self):
        gateway = self.gateway(self.POLICY)
        client = Codex("s")
        self.work(gateway, client, 6)
        self.compact(gateway, client)
        client.say("go on")
        body = {"model": "m", "input": client.list}
        self.upstream.answer = whole(b'{"object":"response.input_tokens","input_tokens":9}')
        with gateway.connect() as connection:
            got = connection.ask(
                "POST", "/v1/responses/input_tokens", self.HEAD, json.dumps(body).encode()
            )
        self.assertEqual(got.json()["input_tokens"], 9)
        counted = json.loads(self.upstream.requests[-1].body)
        self.assertNotIn("ut1.", json.dumps(counted), "a provider cannot count an item")
        _, sent = self.ask(gateway, client, "yes")
        self.assertEqual(counted["input"], sent["input"])

    def test_what_a_tool_returns_is_no_item_and_locks_no_session(self):
        gateway = self.gateway(self.POLICY)
        client = Codex("s")
        self.work(gateway, client, 6)
        genuine = self.compact(gateway, client)["encrypted_content"]
        for turn, text in enumerate(["ut1." + "A" * 200, genuine]):
            client.list = [client.list[0]]
            client.say(text)
            client.list += [
                {"type": "function_call", "call_id": f"q{turn}", "name": "read", "arguments": "{}"},
                {"type": "function_call_output", "call_id": f"q{turn}", "output": text},
            ]
            got, sent = self.ask(gateway, client, "read")
            self.assertEqual(got.status, 200, got)
            self.assertIn(
                {"type": "function_call_output", "call_id": f"q{turn}", "output": text},
                sent["input"],
            )
            self.assertEqual(
                sent["input"],
                client.list[: len(sent["input"])],
                "the provider gets what the client said",
            )

    def test_a_providers_own_item_passes(self):
        gateway = self.gateway(self.POLICY)
        client = Codex("s")
        client.list.append(
            {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAABprovider"}
        )
        client.say("go on")
        body = json.dumps(client.body()).encode()
        self.ask(gateway, client, "ok")
        self.assertEqual(self.upstream.requests[-1].body, body)

    def test_responses_compact(self):
        gateway = self.gateway(self.POLICY)
        client = Codex("s")
        self.work(gateway, client, 6)
        with gateway.connect() as connection:
            got = connection.ask(
                "POST",
                "/v1/responses/compact",
                self.HEAD,
                json.dumps({"model": "m", "input": client.list}).encode(),
            )
        answer = got.json()
        self.assertEqual(answer["object"], "response.compaction")
        self.assertEqual(answer["output"][-1]["type"], "compaction")
        client.list = [client.list[0], *answer["output"]]
        sent = self.work(gateway, client, 1, 50)
        self.assertLess(len(json.dumps(sent)), 6 * 600)

    def test_a_compaction_of_a_short_conversation_drops_nothing_without_a_summary(self):
        for size in (5, 20, 60, 200):
            gateway = self.gateway(self.POLICY)
            client = Codex(f"s{size}")
            for turn in range(3):
                client.say(f"question {turn}. " + words(size, turn))
                self.ask(gateway, client, f"answer {turn}")
            everything = list(client.list)
            with gateway.connect() as connection:
                head = [*self.HEAD[:-1], ("x-session-id", client.session)]
                got = connection.ask(
                    "POST",
                    "/v1/responses/compact",
                    head,
                    json.dumps({"model": "m", "input": client.list}).encode(),
                )
            self.assertEqual(got.json()["output"][-1]["type"], "compaction", got)
            (conversation,) = (
                each for each in self.conversations() if each.endswith(client.session)
            )
            self.assertEqual(
                self.expanded(conversation), [without_ids(each) for each in everything], size
            )
            gateway.stop()

    def test_a_session_that_is_detached_goes_on_without_the_gateway(self):
        gateway = self.gateway(self.POLICY)
        client = Codex("s")
        self.work(gateway, client, 6)
        self.compact(gateway, client)
        gateway.stop()
        sessions = pathlib.Path(self.folder.path) / ".codex" / "sessions" / "2026"
        sessions.mkdir(parents=True)
        file = sessions / "rollout-2026-01-01-0199-abcd.jsonl"
        meta = {"type": "session_meta", "payload": {"id": "0199-abcd"}}
        file.write_text(
            json.dumps(meta)
            + "\n"
            + json.dumps(
                {
                    "type": "compacted",
                    "payload": {"message": "", "replacement_history": client.list},
                }
            )
            + "\n"
        )
        done = subprocess.run(
            [PROGRAM, "detach", "0199-abcd"],
            env={**self.folder.env, "CODEX_HOME": str(pathlib.Path(self.folder.path) / ".codex")},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = file.read_text().splitlines()
        self.assertEqual(json.loads(first), meta)
        resumed = json.loads(second)["payload"]["replacement_history"]
        self.assertNotIn("ut1.", second)
        self.assertEqual(len(resumed), len(client.list))
        self.assertIn("compacted", resumed[-1]["content"][0]["text"])
        self.assertEqual(
            validator.broken(client.profile, {"model": "m", "store": False, "input": resumed}), []
        )
        self.assertTrue(file.with_name(file.name + ".before-detach").exists())


class Blocks(Editing):
    """compact_20260112 of Anthropic's API, for an upstream that knows nothing of it."""

    POLICY = {"compaction": "pointer"}

    class Client(Anthropic):
        def __init__(self, session, pauses=False, threshold=1500):
            super().__init__(session)
            self.edit = {
                "type": "compact_20260112",
                "trigger": {"type": "input_tokens", "value": threshold},
                "pause_after_compaction": pauses,
            }

        def body(self):
            return {**super().body(), "context_management": {"edits": [self.edit]}}

        def drop(self):
            """As clients may: the last block stands for all that is before it."""
            at = max(
                i
                for i, message in enumerate(self.list)
                if any(block["type"] == "compaction" for block in message["content"])
            )
            self.list = self.list[at:]

    def send(self, gateway, client, answer="ok", stream=False):
        """One request: the blocks of the answer, and the body that the upstream got, if it got one."""
        text = {"type": "text", "text": answer}
        message = {
            "id": "msg_" + answer,
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [text],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 0, "output_tokens": 1},
        }
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": answer},
            },
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 1},
            },
            {"type": "message_stop"},
        ]
        streamed = "".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events
        ).encode()
        self.upstream.answer = (
            whole(streamed, fields=(("content-type", "text/event-stream"),))
            if stream
            else whole(json.dumps(message).encode())
        )
        asked = len(self.upstream.requests)
        with gateway.connect() as connection:
            got = connection.ask(
                "POST",
                client.target,
                [
                    ("content-type", "application/json"),
                    ("x-session-id", client.session),
                    *client.fields,
                ],
                json.dumps({**client.body(), "stream": stream}).encode(),
            )
        self.assertEqual(got.status, 200, got)
        body = (
            json.loads(self.upstream.requests[-1].body)
            if len(self.upstream.requests) > asked
            else None
        )
        if body:
            self.assertNotIn("ut1.", json.dumps(body))
            self.assertNotIn("context_management", body)
            self.assertEqual(validator.broken(client.profile, body), [])
        content, stop = (
            self.read_stream(got.body.decode())
            if stream
            else (got.json()["content"], got.json()["stop_reason"])
        )
        self.assertEqual(stop, "end_turn" if body else "compaction")
        client.list.append({"role": "assistant", "content": content})
        return content, body

    def read_stream(self, text):
        """As the SDK reads it."""
        events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        content, stop = [], None
        self.assertEqual((events[0]["type"], events[-1]["type"]), ("message_start", "message_stop"))
        for event in events:
            if event["type"] == "content_block_start":
                self.assertEqual(event["index"], len(content))
                content.append(event["content_block"])
            if event["type"] == "content_block_delta":
                delta = event["delta"]
                block = content[event["index"]]
                if delta["type"] == "compaction_delta":
                    block.update(
                        content=delta["content"], encrypted_content=delta["encrypted_content"]
                    )
                else:
                    block["text"] += delta["text"]
            if event["type"] == "message_delta":
                stop = event["delta"]["stop_reason"]
        return content, stop

    def work(self, gateway, client, turns, begin=0, stream=False):
        """The blocks of compactions that came."""
        blocks = []
        for turn in range(begin, begin + turns):
            client.say(f"question {turn}")
            client.use_tool(f"file{turn}", words(80, turn))
            content, _ = self.send(gateway, client, f"answer {turn}", stream)
            blocks += [block for block in content if block["type"] == "compaction"]
        return blocks

    def test_a_block_stands_before_the_answer_and_for_what_is_before_it(self):
        for stream in (False, True):
            for drops in (False, True):
                with self.subTest(stream=stream, drops=drops):
                    gateway = self.gateway(self.POLICY)
                    client = self.Client(f"b-{stream}-{drops}")
                    blocks = self.work(gateway, client, 8, stream=stream)
                    self.assertGreaterEqual(len(blocks), 1, "nothing was compacted")
                    for block in blocks:
                        self.assertEqual(sorted(block), ["content", "encrypted_content", "type"])
                        self.assertTrue(block["content"])
                    if drops:
                        client.drop()
                    client.say("go on")
                    _, body = self.send(gateway, client, "went on", stream)
                    text = json.dumps(body)
                    self.assertIn("answer 7", text, "what was said behind the block is there")
                    conversation = "anthropic-" + client.session
                    everything = json.dumps(
                        self.query(conversation, {"query": "messages", "all": True})
                    )
                    for turn in range(8):
                        self.assertEqual(
                            everything.count(f'"question {turn}"'), 1, "each original once"
                        )
                        self.assertIn(f"word{turn}x79", everything)
                    self.assertNotIn("ut1.", everything)
                    self.assertLess(len(text), len(everything))
                    gateway.stop()

    def test_a_list_that_is_detached_goes_on_without_the_gateway(self):
        for pauses in (False, True):
            for drops in (False, True):
                with self.subTest(pauses=pauses, drops=drops):
                    gateway = self.gateway(self.POLICY)
                    client = self.Client(f"d-{pauses}-{drops}", pauses)
                    self.assertTrue(self.work(gateway, client, 12), "nothing was compacted")
                    if drops:
                        client.drop()
                    gateway.stop()
                    file = pathlib.Path(self.folder.path) / f"{client.session}.json"
                    file.write_text(json.dumps(client.list))
                    self.run_program("detach", str(file))
                    resumed = Anthropic(client.session)
                    resumed.list = json.loads(file.read_text())
                    self.assertNotIn("ut1.", json.dumps(resumed.list))
                    self.assertEqual(resumed.list[0]["role"], "user")
                    self.assertIn("The earlier part of this", resumed.list[0]["content"])
                    client.drop()
                    behind = [b for b in client.list[0]["content"] if b["type"] != "compaction"]
                    said = [{"role": "assistant", "content": behind}] if behind else []
                    self.assertEqual(resumed.list[1:], said + client.list[1:])
                    resumed.say("go on")
                    self.assertEqual(validator.broken("anthropic", resumed.body()), [])

    def test_a_pause_is_answered_without_the_upstream(self):
        for stream in (False, True):
            with self.subTest(stream=stream):
                gateway = self.gateway(self.POLICY)
                client = self.Client(f"p-{stream}", pauses=True)
                asked = len(self.upstream.requests)
                blocks = self.work(gateway, client, 8, stream=stream)
                self.assertGreaterEqual(len(blocks), 1, "nothing was compacted")
                self.assertEqual(
                    len(self.upstream.requests) - asked + len(blocks),
                    8,
                    "a pause reaches no upstream",
                )
                paused = next(
                    message
                    for message in client.list
                    if message["role"] == "assistant"
                    and message["content"][0]["type"] == "compaction"
                )
                self.assertEqual(len(paused["content"]), 1)
                client.say("go on")
                content, body = self.send(gateway, client, "went on", stream)
                self.assertTrue(body, "and goes on")
                gateway.stop()

    def test_a_count_of_tokens_edits_no_conversation(self):
        gateway = self.gateway(self.POLICY)
        client = self.Client("c", pauses=True)
        self.assertTrue(self.work(gateway, client, 8), "nothing was compacted")
        gateway.stop()  # what is behind the answers is recorded by then
        version = self.query("anthropic-c", {"query": "version"})[0]
        gateway = self.gateway(self.POLICY)
        client.say("go on")
        client.edit["trigger"]["value"] = 1
        self.upstream.answer = whole(b'{"input_tokens":17}')
        asked = len(self.upstream.requests)
        with gateway.connect() as connection:
            got = connection.ask(
                "POST",
                "/v1/messages/count_tokens",
                [("content-type", "application/json"), ("x-session-id", "c"), *client.fields],
                json.dumps(client.body()).encode(),
            )
        self.assertEqual((got.status, got.json()), (200, {"input_tokens": 17}))
        self.assertEqual(len(self.upstream.requests), asked + 1)
        self.assertNotIn("ut1.", self.upstream.requests[-1].body.decode())
        gateway.stop()
        self.assertEqual(self.query("anthropic-c", {"query": "version"})[0], version)

    def test_what_is_shown_again_takes_effect_through_a_block(self):
        gateway = self.gateway({**self.POLICY, "targetTokens": 1000})
        client = self.Client("e")
        self.work(gateway, client, 8)
        conversation = "anthropic-e"
        view = self.query(conversation, {"query": "messages"})[0]
        shown = [
            i
            for i, message in enumerate(view["messages"])
            if "Summary of earlier messages" in json.dumps(message)
        ]
        self.assertTrue(shown)
        self.change(conversation, {"operation": "EXPAND", "index": shown[0]})
        client.edit["trigger"]["value"] = 200_000
        client.say("go on")
        _, body = self.send(gateway, client, "went on")
        self.assertIn("question 0", json.dumps(body))

    def test_a_block_outlives_the_store_and_a_forged_one_is_refused(self):
        gateway = self.gateway(self.POLICY)
        client = self.Client("o")
        client.say("the colour is teal-417")
        self.send(gateway, client)
        block = self.work(gateway, client, 8)[-1]
        gateway.stop()
        for file in pathlib.Path(self.folder.path).glob("kept.db*"):
            file.unlink()
        gateway = self.gateway(self.POLICY)
        client.edit["trigger"]["value"] = 200_000
        client.say("go on")
        _, body = self.send(gateway, client, "went on")
        self.assertIn("compacted", json.dumps(body["messages"][0]))
        self.assertEqual(body["messages"][-1]["content"][-1]["text"], "go on")
        block = dict(block, encrypted_content=block["encrypted_content"][:-4] + "AAAA")
        client.list = [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": [block]},
            {"role": "user", "content": "go on"},
        ]
        with gateway.connect() as connection:
            got = connection.ask(
                "POST",
                client.target,
                [("content-type", "application/json"), ("x-session-id", "f"), *client.fields],
                json.dumps({"model": "m", "max_tokens": 50, "messages": client.list}).encode(),
            )
        self.assertEqual((got.status, got.get("x-undertext-error")), (400, "invalid_compaction"))


def without_ids(item):
    return {key: value for key, value in item.items() if key not in ("id", "status")}


# What holds for policies is tried once.
for inherited in [name for name in vars(Editing) if name.startswith("test_")]:
    setattr(Pointers, inherited, None)
    setattr(Blocks, inherited, None)

if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
