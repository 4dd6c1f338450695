#!/usr/bin/env python3
"""Real coding agents through the gateway: every request reaches the upstream as it was sent, every answer the agent as it was given.

    agents.py PROGRAM AGENTS      AGENTS: what scripts/peers agents has got; exits with 77 where it is not there

Agents put times and random ids into their requests, so that two runs differ. Instead one run is seen at both sides of the gateway. What they send holds their makers' prompts:
it stays in memory.
"""
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "server")]
from gateways import Folder, Gateway  # noqa: E402
from tap import Tap  # noqa: E402

sys.path.insert(0, str(HERE.parent / "agents"))
sys.modules.pop("running", None)
import reconcile_test  # noqa: E402
import upstream  # noqa: E402

HOP = ("host", "connection", "transfer-encoding", "keep-alive", "te", "upgrade", "expect")


def end_to_end(part):
    return part.first, sorted((n, v) for n, v in part.fields if n.lower() not in HOP), part.body


class At:
    """An upstream as agents are told of it."""

    def __init__(self, url):
        self.url = url


def compare(name, program, work, binary, path):
    folder = Folder(program)
    try:
        with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as home, Tap(int(provider.url.rsplit(":", 1)[1])) as far:
            near = Tap(None)  # known by its port before there is a gateway: that is the name agents call it by
            with Gateway(folder, far.url, f"--host=127.0.0.1:{near.port}") as gateway, near:
                near.target = ("127.0.0.1", gateway.port)
                work(binary, At(near.url + path), home)
                sent, got = near.exchanges(), far.exchanges()
    finally:
        folder.remove()
    upgrades = [e for e in sent if e.request.get("upgrade")]
    assert all(" 426 " in e.answer.first for e in upgrades)
    sent = [e for e in sent if not e.request.get("upgrade")]
    prefix = path.removesuffix("/v1")
    for exchange in sent:
        method, target, version = exchange.request.first.split(" ")
        exchange.request.first = " ".join((method, target.removeprefix(prefix) or "/", version))
    key = lambda e: (e.request.first, e.request.body)  # noqa: E731
    assert sorted(map(key, sent)) == sorted(map(key, got)), f"{len(sent)} sent, {len(got)} arrived"
    for ours, theirs in zip(sorted(sent, key=key), sorted(got, key=key)):
        assert end_to_end(ours.request) == end_to_end(theirs.request), (ours.request.first, ours.request.fields, theirs.request.fields)
        assert end_to_end(ours.answer) == end_to_end(theirs.answer), (ours.answer.fields, theirs.answer.fields)
    print(f"{name}: {len(sent)} requests and answers are the same at both sides of the gateway; {len(upgrades)} upgrades were answered 426")


def main(program, folder):
    claude = reconcile_test.program_in(folder, "node_modules/@anthropic-ai/claude-code-*/claude")
    codex = reconcile_test.program_in(folder, "node_modules/@openai/codex-*/vendor/*/bin/codex")
    if not claude or not codex:
        reconcile_test.skip("scripts/peers agents could not get them")
    os.environ["ENABLE_TOOL_SEARCH"] = "true"
    compare("Claude Code", program, reconcile_test.claude_code, claude, "/anthropic")
    compare("Codex", program, reconcile_test.codex, codex, "")


main(*sys.argv[1:])
