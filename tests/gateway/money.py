#!/usr/bin/env python3
"""What requests through a gateway cost: the ledger of a conversation, of a store, over HTTP and for Prometheus.   money.py PROGRAM

The upstream reports usage as Anthropic does. Its cache serves what a request has in common with the one before it; once it serves nothing for no reason, and once the client changes its
system prompt.
"""

import json
import pathlib
import re
import subprocess
import sys
import time
import unittest

from gateways import Client, Folder
from running import Server
from upstream import Upstream, whole

PROGRAM = None
MODEL = "claude-sonnet-4-5"


class Money(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.addCleanup(self.folder.remove)
        self.upstream = self.enterContext(Upstream())
        self.store = f"sqlite:{self.folder.path}/kept.db"
        self.server = Server(
            self.folder,
            "--gateway",
            "127.0.0.1:0",
            f"--anthropic={self.upstream.url}",
            store=self.store,
        )
        self.addCleanup(self.server.close)
        self.texts = []

    def run_program(self, *words):
        done = subprocess.run(
            [PROGRAM, *words], env=self.folder.env, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def gateway_host(self):
        line = next(
            line
            for line in self.server.log_with("gateway listening").splitlines()
            if "gateway listening" in line
        )
        return re.search(r'"address":"http://(127\.0\.0\.1:\d+)"', line)[1]

    def say(self, text, system, read, written, plain=3):
        self.texts.append(text)
        roles = ("user", "assistant")
        messages = [{"role": roles[i % 2], "content": each} for i, each in enumerate(self.texts)]
        messages[-1]["content"] = [
            {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
        ]
        answer = f"answer to {text}"
        number = len(self.texts)
        self.upstream.answer = whole(
            json.dumps(
                {
                    "id": f"msg_{number}",
                    "type": "message",
                    "role": "assistant",
                    "model": MODEL,
                    "content": [{"type": "text", "text": answer}],
                    "stop_reason": "end_turn",
                    "usage": {
                        "input_tokens": plain,
                        "cache_read_input_tokens": read,
                        "cache_creation_input_tokens": written,
                        "output_tokens": 10,
                        "cache_creation": {
                            "ephemeral_5m_input_tokens": written,
                            "ephemeral_1h_input_tokens": 0,
                        },
                    },
                }
            ).encode()
        )
        body = {"model": MODEL, "max_tokens": 99, "system": system, "messages": messages}
        with Client(self.gateway_host()) as client:
            answered = client.ask(
                "POST",
                "/v1/messages",
                [("content-type", "application/json"), ("x-api-key", "k"), ("x-session-id", "s-1")],
                json.dumps(body).encode(),
            )
        self.assertEqual(answered.status, 200, answered)
        self.texts.append(answer)
        self.is_so(lambda: self.recorded() == len(self.texts) // 2)

    def conversation(self):
        return json.loads(
            self.run_program("list", "--store", self.store, "--json").splitlines()[0]
        )["conversation"]

    def recorded(self):
        listed = self.run_program("list", "--store", self.store, "--json").splitlines()
        return (
            len(
                self.run_program(
                    "requests", "--store", self.store, "--json", self.conversation()
                ).splitlines()
            )
            if listed
            else 0
        )

    def is_so(self, condition, patience=60):
        deadline = time.monotonic() + patience
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_what_is_reported_is_billed_and_misses_are_explained(self):
        first = "You are brief. " * 400 + "Monday."
        self.say("one", first, 0, 4000)
        self.say("two", first, 4000, 30)
        self.say("three", first, 0, 4060)  # the same prefix, and not served
        self.say("four", first.replace("Monday", "Tuesday"), 0, 4090)  # another day

        conversation = self.conversation()
        ledger = json.loads(
            self.run_program("ledger", "--store", self.store, "--json", "--turns", conversation)
        )["result"]
        turns = ledger["turns"]
        self.assertEqual(
            [(t["sent"], t["read"], t["written"], t["output"], t["reported"]) for t in turns],
            [
                (4003, 0, 4000, 10, True),
                (4033, 4000, 30, 10, True),
                (4063, 0, 4060, 10, True),
                (4093, 0, 4090, 10, True),
            ],
        )
        self.assertAlmostEqual(
            turns[1]["dollars"], (3 * 3 + 4000 * 0.3 + 30 * 3.75 + 10 * 15) / 1e6, 9
        )
        self.assertEqual([t.get("cause") for t in turns], [None, None, "upstream", "changed"])
        self.assertEqual(
            [(f["number"], f["against"], f["cause"]) for f in ledger["findings"]],
            [(3, 2, "upstream"), (4, 3, "changed")],
        )
        at = ledger["findings"][1]["at"]
        self.assertEqual(
            (at["kind"], at["path"], at["byteInValue"], at["before"], at["after"]),
            ("broken", "system[0].text", len(first) - len("Monday."), "Monday.", "Tuesday."),
        )
        self.assertEqual(ledger["totals"]["sent"], sum(t["sent"] for t in turns))

        shown = self.run_program("ledger", "--store", self.store, conversation)
        self.assertIn("system[0].text differs from byte", shown)
        rows = json.loads(self.run_program("ledger", "--store", self.store, "--json"))["result"]
        self.assertEqual([(row["model"], row["totals"]["turns"]) for row in rows], [(MODEL, 4)])
        self.assertEqual(rows[0]["totals"], ledger["days"][0]["totals"])

        self.assertEqual(self.server.request("GET", "/v1/ledger").json()["result"], rows)
        whole_ledger = self.server.request(
            "GET", f"/v1/conversations/{conversation}/ledger?turns=false"
        ).json()["result"]
        self.assertNotIn("turns", whole_ledger)
        self.assertEqual(whole_ledger["findings"], ledger["findings"])
        compared = self.server.request(
            "GET", f"/v1/conversations/{conversation}/requests/2/cache-break"
        ).json()["result"]
        self.assertEqual((compared["against"], compared["at"]["kind"]), (1, "extended"))

        metrics = self.server.request("GET", "/metrics").body.decode()
        label = f'tenant="default",model="{MODEL}"'
        self.assertIn(f'undertext_ledger_tokens_total{{{label},kind="read"}} 4000\n', metrics)
        self.assertIn(
            f'undertext_ledger_tokens_total{{{label},kind="missed"}} {sum(t["missed"] for t in turns)}\n',
            metrics,
        )
        self.assertIn(f"undertext_ledger_findings_total{{{label}}} 2\n", metrics)
        dollars = float(re.search(rf"undertext_ledger_dollars_total{{{label}}} (\S+)", metrics)[1])
        self.assertAlmostEqual(dollars, ledger["totals"]["dollars"], 6)
        dashboard = (
            pathlib.Path(__file__).parents[2] / "packaging" / "grafana" / "undertext.json"
        ).read_text()
        shown = set(re.findall(r"undertext_\w+", dashboard))
        there = set(re.findall(r"^undertext_\w+", metrics, re.M))
        self.assertGreater(len(shown), 25)
        self.assertEqual(shown - there, set(), "the dashboard shows what nobody measures")

    def test_recorded_turns_are_replayed_under_another_policy(self):
        system = "You are brief. " * 400
        sent = 4000
        for number in range(12):
            self.say(
                f"{number} " + "lorem ipsum dolor " * 300,
                system,
                sent - 4000 if number else 0,
                4000,
            )
            sent += 4000
        policy = {"mode": "compact", "thresholdTokens": 12000}
        found = json.loads(
            self.run_program(
                "what-if", "--store", self.store, "--json", self.conversation(), json.dumps(policy)
            )
        )["result"]
        self.assertEqual(found["turns"], 12)
        self.assertGreater(found["policy"]["compactions"], 0)
        self.assertLess(found["policy"]["peak"], found["observe"]["peak"])
        over_http = self.server.request(
            "POST", f"/v1/conversations/{self.conversation()}/what-if", {"policy": policy}
        ).json()["result"]
        self.assertEqual(over_http, found)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
