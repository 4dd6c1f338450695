#!/usr/bin/env python3
"""Real coding agents through the gateway.   agents_test.py UNDERTEXT WORK_FOLDER

Claude Code and Codex (scripts/peers agents) work for several turns with tools, resume, ask sub-agents and compact, with a gateway between them and an upstream of ours. What the
agents send arrives as it was sent, byte by byte and header by header; what is recorded is what their own session files hold, and every request can be had back. What they
send holds their makers' prompts: it stays in memory and in a temporary folder. Exits with 77, which means skipped, where the programs are not to be had.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "agents")]
import reconcile_test as agents
import tap
import upstream

HOP_BY_HOP = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host"}


class Gateway:
    def __init__(self, program, store, url):
        self.process = subprocess.Popen([program, "gateway", store, "--listen", "127.0.0.1:0", "--quiet", "--anthropic", url, "--openai", url],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.listening()

    def listening(self):
        for line in self.process.stderr:
            if '"gateway listening"' in line:
                return json.loads(line)["address"].removeprefix("http://")
        raise AssertionError("the gateway ended")

    def stop(self):
        self.process.terminate()
        _, told = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, told
        return told


def end_to_end(fields):
    return [(name, value) for name, value in fields if name.lower() not in HOP_BY_HOP]


def requests_that_arrived(provider):
    return [("POST", request.target, end_to_end(request.fields), request.raw) for request in provider.requests]


def requests_that_were_sent(client_side):
    wanted = ("/messages", "/responses")
    return [(method, target, end_to_end(fields), body) for method, target, fields, body in client_side.requests()
            if method == "POST" and target.split("?")[0].endswith(wanted)]


def check_equal(sent, arrived):
    count = lambda requests: collections.Counter(map(repr, requests))
    lost, other = count(sent) - count(arrived), count(arrived) - count(sent)
    assert not lost and not other, (list(lost)[:1], list(other)[:1])


class Store:
    def __init__(self, program, url):
        self.command = [program, "--store", url]

    def ask(self, *arguments):
        return subprocess.run([*self.command, *arguments], check=True, capture_output=True).stdout

    def conversations(self):
        return [each["id"] for each in json.loads(self.ask("list", "--json"))["conversations"]]


def check_recorded(program, store_url, provider):
    """Every request that arrived is in some conversation, byte by byte."""
    store = Store(program, store_url)
    kept, turns = collections.Counter(), {}
    for conversation in store.conversations():
        records = json.loads(store.ask("requests", conversation, "--json"))["requests"]
        turns[conversation] = records
        for record in records:
            kept[store.ask("request", conversation, str(record["number"]))] += 1
    arrived = collections.Counter(request.raw for request in provider.requests)
    missing = arrived - kept
    assert not missing, f"{sum(missing.values())} of {sum(arrived.values())} requests are not recorded"
    return turns


def through_the_gateway(program, name, work, binary, conversations_min):
    with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as place:
        store = f"sqlite:{place}/gateway.db"
        gateway = Gateway(program, store, provider.url)
        host, port = gateway.address.split(":")
        with tap.Tap(host, int(port)) as client_side:
            work(binary, client_side, folder)
            told = gateway.stop()
            check_equal(requests_that_were_sent(client_side), requests_that_arrived(provider))
        turns = check_recorded(program, store, provider)
        assert len(turns) >= conversations_min, turns.keys()
        print(f"{name}: {len(provider.requests)} requests in {len(turns)} conversations: {', '.join(turns)}", told[-300:])


def main(program, folder):
    claude = agents.program_in(folder, "node_modules/@anthropic-ai/claude-code-*/claude")
    openai = agents.program_in(folder, "node_modules/@openai/codex-*/vendor/*/bin/codex")
    if not claude or not openai:
        agents.skip("scripts/peers agents could not get them")
    through_the_gateway(program, "Claude Code", agents.claude_code, claude, 2)
    through_the_gateway(program, "Codex", agents.codex, openai, 1)


if __name__ == "__main__":
    main(*sys.argv[1:3])
