#!/usr/bin/env python3
"""Real coding agents that compact through the gateway, and go on without it.   compacting.py UNDERTEXT AGENTS_FOLDER

Codex asks for compactions, which the gateway answers ("compaction":"pointer"): the provider never sees an item of the gateway's, every request that it gets is valid, and
every compaction expands to the exact originals. Claude Code compacts by itself (/compact), under a policy that edits and under none: its own summaries expand to the originals, too.
Then the gateway is gone: the session is detached, and resumes with the provider alone. What agents send holds their makers' prompts: it stays in memory and in a temporary folder. Exits with 77, which means skipped, where they are not to be had.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "agents"), str(TESTS / "dialect")]
import reconcile_test as agents
import running
import upstream
import validator


class Work:
    """A gateway between an agent and a provider, until it ends."""

    def __init__(self, program, provider, policy, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.store, self.home = f"sqlite:{folder}/kept.db", self.folder / "agent"
        self.home.mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder}
        self.gateway = subprocess.Popen(
            [
                program,
                "gateway",
                self.store,
                "--listen",
                "127.0.0.1:0",
                "--quiet",
                "--policy",
                json.dumps(policy),
                f"--anthropic={provider.url}",
                f"--openai={provider.url}",
            ],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=open(self.folder / "log", "w"),
            text=True,
        )
        self.url = self.gateway.stdout.readline().split()[1]

    def stop(self):
        self.gateway.terminate()
        assert self.gateway.wait(30) == 0
        self.gateway.stdout.close()

    def run(self, *words, text=None, **environment):
        done = subprocess.run(
            [self.program, *words],
            env={**self.environment, **environment},
            input=text,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, conversation, line):
        answer = json.loads(
            self.run(
                "exec",
                "--store",
                self.store,
                "--conversation",
                conversation,
                text=json.dumps(line) + "\n",
            )
        )
        assert answer["ok"], answer
        return answer

    def conversation_of(self, session):
        ids = [
            json.loads(line)["conversation"]
            for line in self.run("list", "--store", self.store, "--json").splitlines()
        ]
        return next(each for each in ids if session in each)

    def expanded(self, conversation):
        """The view with every summary and stub expanded, the client's own summaries among them, as it was sent by the client."""
        while True:
            view = self.ask(conversation, {"query": "messages"})["messages"]
            made = [i for i, message in enumerate(view) if stands_for_others(message)]
            if not made:
                return [message.get("native", {}).get("json", message) for message in view]
            self.ask(conversation, {"operation": "EXPAND", "index": made[0]})


# How a summary or a stub of the engine's begins, and a summary of Claude Code's.
BEGINNINGS = ("[Summary of earlier messages]", "[result ", "This session is being continued")


def texts_of(content):
    for part in [content] if isinstance(content, str) else content or []:
        if isinstance(part, str):
            yield part
        elif part.get("type") == "tool_result":
            yield from texts_of(part.get("content"))
        elif "text" in part:
            yield part["text"]


def stands_for_others(message):
    return any(text.startswith(BEGINNINGS) for text in texts_of(message["content"]))


def plain(message):
    """What a message of Anthropic's says: markers of the cache move with every request."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks = [
        {key: value for key, value in block.items() if key != "cache_control"} for block in blocks
    ]
    return json.dumps([message["role"], blocks], sort_keys=True)


def check_requests(provider, profile):
    for request in provider.requests:
        sent = json.dumps(request.body)
        assert "ut1." not in sent and "compaction_trigger" not in sent, sent[:500]
        # What Codex adds to its items itself, its provider takes.
        broken = [
            each
            for each in validator.broken(profile, request.body)
            if "internal_chat_message_metadata_passthrough" not in each
        ]
        assert not broken, broken


def compact(agent):
    upstream.SIZE["tokens"] = 90000  # more than the agent wants
    agent.say("That was much.")
    upstream.SIZE["tokens"] = 10
    agent.say("and now?")


def codex(program, binary):
    with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as folder:
        work = Work(program, provider, {"compaction": "pointer"}, folder)
        agent = running.Codex(binary, types.SimpleNamespace(url=work.url), work.home)
        for _ in range(3):
            for text in ("Please use a tool.", "thanks"):
                agent.say(text)
            compact(agent)
        agent.say("use a tool once more")
        check_requests(provider, "openai_responses_stateless")
        work.stop()
        conversation = work.conversation_of(agent.session)
        compactions = [
            record
            for record in work.ask(conversation, {"query": "requests"})["result"]
            if record["kind"] == "compaction"
        ]
        assert len(compactions) >= 3, compactions
        # All that the provider answered, and all that the user said, is there again, once and in order.
        items = work.expanded(conversation)
        said = [
            part["text"] for item in items if item.get("role") == "user" for part in item["content"]
        ]
        for text, times in (
            ("Please use a tool.", 3),
            ("thanks", 3),
            ("That was much.", 3),
            ("and now?", 3),
            ("use a tool once more", 1),
        ):
            assert said.count(text) == times, (text, said)
        calls = [item["call_id"] for item in items if item["type"] == "function_call"]
        results = [item["call_id"] for item in items if item["type"] == "function_call_output"]
        assert calls == results and len(calls) == len(set(calls)) == 4, (calls, results)
        (file,) = (work.home / ".codex" / "sessions").glob("**/*.jsonl")
        assert "ut1." in file.read_text()
        print(work.run("detach", agent.session, CODEX_HOME=str(work.home / ".codex")).strip())
        assert "ut1." not in file.read_text()
        config = work.home / ".codex" / "config.toml"
        config.write_text(config.read_text().replace(work.url, provider.url))
        count = len(provider.requests)
        agent.say("are you still there?")
        assert len(provider.requests) > count
        check_requests(provider, "openai_responses_stateless")
        assert "compacted" in json.dumps(provider.requests[-1].body)
        print(
            f"Codex: {len(compactions)} compactions through the gateway, {len(items)} items expanded, resumed without it"
        )


def resumed_without(work, agent, provider):
    """The gateway is gone: the session is detached, and goes on with the provider alone. How many requests came before."""
    print(work.run("detach", agent.session, CLAUDE_CONFIG_DIR=str(work.home / ".claude")).strip())
    agent.environment["ANTHROPIC_BASE_URL"] = provider.url
    count = len(provider.requests)
    agent.say("are you still there?")
    assert len(provider.requests) > count
    for request in provider.requests[count:]:
        assert not validator.broken("anthropic", request.body), validator.broken(
            "anthropic", request.body
        )
    assert "This session is being continued" in json.dumps(provider.requests[-1].body), (
        "what the client had compacted"
    )
    return count


def claude_code(program, binary):
    with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as folder:
        work = Work(
            program,
            provider,
            {"mode": "compact", "thresholdTokens": 100, "cacheSeconds": 0, "repair": "on"},
            folder,
        )
        agent = running.ClaudeCode(binary, types.SimpleNamespace(url=work.url), work.home)
        for _ in range(2):
            # Long enough that there is something to free beside the client's own prompt.
            for text in (
                "Please use a tool.",
                "thanks, " + "and so on " * 1500,
                "Now use a tool again.",
                "/compact",
                "and now?",
            ):
                agent.say(text)
        edited = [request for request in provider.requests if "messages" in request.body]
        for request in edited:
            assert not validator.broken("anthropic", request.body), validator.broken(
                "anthropic", request.body
            )
        work.stop()
        history = work.ask(work.conversation_of(agent.session), {"query": "history"})["result"]
        edits = sum((entry["description"] or "").startswith("policy ") for entry in history)
        assert edits > 0, history
        count = resumed_without(work, agent, provider)
        print(
            f"Claude Code: {count} requests and {edits} edits through the gateway, resumed without it"
        )


def claude_code_expanded(program, binary):
    """What /compact replaces is all there: each of its summaries expands to the messages that the client had sent."""
    with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as folder:
        work = Work(program, provider, {"mode": "observe"}, folder)
        agent = running.ClaudeCode(binary, types.SimpleNamespace(url=work.url), work.home)
        for _ in range(2):
            for text in ("Please use a tool.", "thanks", "/compact"):
                agent.say(text)
        agent.say("and now?")
        work.stop()
        conversation = work.conversation_of(agent.session)
        records = work.ask(conversation, {"query": "requests"})["result"]
        asked = [
            json.loads(
                work.ask(conversation, {"query": "request", "number": record["number"]})["result"][
                    "request"
                ]
            )
            for record in records
            if record["kind"] == "compaction"
        ]
        assert len(asked) == 2, [record["kind"] for record in records]
        expanded = [plain(message) for message in work.expanded(conversation)]
        for body in asked:
            # The last message of such a request asks for the summary.
            originals = [
                plain(message)
                for message in body["messages"][:-1]
                if not stands_for_others(message)
            ]
            assert len(originals) > 2, body
            at = iter(expanded)
            lost = [
                each[:300] for each in originals if each not in at
            ]  # in their order: `in` goes on where the one before was found
            assert not lost, lost
        calls = [
            block["id"]
            for each in expanded
            for block in json.loads(each)[1]
            if block.get("type") == "tool_use"
        ]
        assert len(calls) == len(set(calls)) == 2, calls
        count = resumed_without(work, agent, provider)
        print(
            f"Claude Code: {count} requests and {len(asked)} compactions through the gateway, {len(expanded)} messages expanded, resumed without it"
        )


def main(program, folder):
    claude = agents.program_in(folder, "node_modules/@anthropic-ai/claude-code-*/claude")
    openai = agents.program_in(folder, "node_modules/@openai/codex-*/vendor/*/bin/codex")
    if not claude or not openai:
        agents.skip("scripts/peers agents could not get them")
    codex(program, openai)
    claude_code(program, claude)
    claude_code_expanded(program, claude)


if __name__ == "__main__":
    main(*sys.argv[1:3])
