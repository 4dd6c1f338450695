#!/usr/bin/env python3
"""Real coding agents through the gateway.   agents.py UNDERTEXT WORK_FOLDER

Claude Code and Codex (scripts/peers agents) work for several turns with tools, resume, ask sub-agents and compact, with a gateway between them and an upstream of ours. What the
agents send arrives as it was sent, byte by byte and header by header; what is recorded is what their own session files hold, and every request can be had back. What they
send holds their makers' prompts: it stays in memory and in a temporary folder. Exits with 77, which means skipped, where the programs are not to be had.
"""
import collections
import itertools
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
    def __init__(self, program, store, url, host):
        self.process = subprocess.Popen([program, "gateway", store, "--listen", "127.0.0.1:0", "--host", host, "--quiet", "--anthropic", url, "--openai", url],
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
        self.program, self.url = program, url

    def conversations(self):
        listed = subprocess.run([self.program, "list", "--store", self.url, "--json"], check=True, capture_output=True, text=True).stdout
        return [json.loads(line)["conversation"] for line in listed.splitlines()]

    def ask(self, conversation, *lines):
        """What each line is answered with."""
        done = subprocess.run([self.program, "exec", "--store", self.url, "--conversation", conversation], check=True, capture_output=True,
                              text=True, input="".join(json.dumps(line) + "\n" for line in lines))
        answers = [json.loads(answer) for answer in done.stdout.splitlines()]
        assert all(answer["ok"] for answer in answers), answers
        return answers


def check_recorded(store, provider):
    """Every request that arrived is in some conversation, byte by byte."""
    kept, turns = collections.Counter(), {}
    for conversation in store.conversations():
        turns[conversation] = store.ask(conversation, {"query": "requests"})[0]["result"]
        for answer in store.ask(conversation, *({"query": "request", "number": record["number"]} for record in turns[conversation])):
            kept[answer["result"]["request"].encode()] += 1
    arrived = collections.Counter(request.raw for request in provider.requests)
    missing = arrived - kept
    assert not missing, f"{sum(missing.values())} of {sum(arrived.values())} requests are not recorded"
    assert not kept - arrived, "something is recorded that was not sent"
    return turns


def said(store, conversation):
    """What the conversation shows now, block by block: who says what. Left out is what agents put in when they send: system messages, reminders, encrypted reasoning."""
    shown = []
    for row in store.ask(conversation, {"query": "blocks"})[0]["result"]:
        for block in row["blocks"]:
            text = block.get("text", "").strip()
            if row["role"] != "system" and block["kind"] != "reasoning" and not text.startswith("<system-reminder>"):
                shown.append((row["role"], block["kind"], text, block.get("name"), block.get("arguments"), block.get("callId")))
    return shown


def check_session_files(program, store, files, kind, place):
    """The agent's own file of a session, imported, shows what was recorded of it."""
    assert files
    for file in files:
        imported = Store(program, f"sqlite:{place}/{file.stem}.db")
        subprocess.run([program, "import", str(file), "--format", kind, "--store", imported.url, "-c", "c"], check=True, capture_output=True)
        conversation = next(each for each in store.conversations() if file.stem.endswith(each.split("-", 1)[1]))
        own, recorded = said(imported, "c"), said(store, conversation)
        assert own == recorded, [pair for pair in itertools.zip_longest(own, recorded) if pair[0] != pair[1]][:3]


def through_the_gateway(program, name, work, binary, conversations_min, kind, session_files):
    with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as place:
        store = f"sqlite:{place}/gateway.db"
        with tap.Tap() as client_side:
            gateway = Gateway(program, store, provider.url, client_side.address)
            client_side.to(gateway.address)
            work(binary, client_side, folder)
            told = gateway.stop()
            check_equal(requests_that_were_sent(client_side), requests_that_arrived(provider))
        turns = check_recorded(Store(program, store), provider)
        check_session_files(program, Store(program, store), session_files(pathlib.Path(folder)), kind, place)
        assert len(turns) >= conversations_min, turns.keys()
        linked = {conversation: records[0].get("belongsTo") for conversation, records in turns.items()}
        main = next(conversation for conversation, to in linked.items() if to is None)
        assert all(to == main for conversation, to in linked.items() if conversation != main), linked
        assert "not recorded" not in told, told
        print(f"{name}: {len(provider.requests)} requests, equal and recorded in {len(turns)} conversations")


def main(program, folder):
    claude = agents.program_in(folder, "node_modules/@anthropic-ai/claude-code-*/claude")
    openai = agents.program_in(folder, "node_modules/@openai/codex-*/vendor/*/bin/codex")
    if not claude or not openai:
        agents.skip("scripts/peers agents could not get them")
    through_the_gateway(program, "Claude Code", agents.claude_code, claude, 2, "claude-code", lambda home: list(home.glob(".claude/projects/*/*.jsonl")))
    through_the_gateway(program, "Codex", agents.codex, openai, 2, "codex", lambda home: list(home.glob(".codex/sessions/**/*.jsonl")))


if __name__ == "__main__":
    main(*sys.argv[1:3])
