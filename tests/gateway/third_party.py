#!/usr/bin/env python3
"""Coding agents that the gateway has no profile of, with it and without it.   third_party.py UNDERTEXT WORK_FOLDER

pi, in the four dialects that it speaks, and Gemini CLI (scripts/peers agents) work for several turns with a tool and resume. Through the gateway they ask for the same, print the
same, what they send arrives byte by byte and header by header, and every request is recorded; what is recorded of pi is what its own session file says. What they send holds their makers' prompts: it stays in memory and in a temporary
folder. Exits with 77, which means skipped, where the programs are not to be had.
"""

import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [
    str(pathlib.Path(__file__).parent),
    str(pathlib.Path(__file__).parent.parent / "agents"),
]
import agents
import running
import tap
import upstream

TURNS = (("Please use a tool.", False), ("thanks", True), ("Now use a tool again.", True))


class Agent:
    """Runs a program of Node's for a turn at a time."""

    def __init__(self, command, folder):
        self.command, self.folder, self.printed = command, pathlib.Path(folder), []
        self.environment = running.plain_environment(self.folder)
        (self.folder / "notes.txt").write_text("one\ntwo\n")
        upstream.FILE["path"] = str(self.folder / "notes.txt")

    def run(self, *words):
        made = running.run([*self.command, *words], self.folder, self.environment)
        assert made.returncode == 0, made.stdout + made.stderr
        assert re.search(r"_[0-9a-f]{20}", made.stdout), made.stdout + made.stderr  # an answer
        self.printed.append(re.sub(re.escape(str(self.folder)), "FOLDER", made.stdout))


def pi(api, path):
    def work(command, provider, folder):
        agent = running.Pi(command, provider, folder, api, path)
        for text, _ in TURNS:
            agent.say(text)
        return agent

    return work


def gemini(command, provider, folder):
    agent = Agent(command, folder)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "telemetry": {"enabled": False},
    }
    (agent.folder / ".gemini").mkdir()
    (agent.folder / ".gemini" / "settings.json").write_text(json.dumps(settings))
    agent.environment.update(
        GEMINI_API_KEY="none",
        GOOGLE_GEMINI_BASE_URL=provider.url,
        GEMINI_CLI_NO_RELAUNCH="true",
        GEMINI_CLI_TRUST_WORKSPACE="true",
    )
    for text, resumes in TURNS:
        agent.run(
            "--model",
            "gemini-2.5-pro",
            *(["--resume", "latest"] if resumes else []),
            "--prompt",
            text,
        )
    return agent


def pi_files(folder):
    return sorted((folder / ".pi" / "agent" / "sessions").rglob("*.jsonl"))


def meant(shown):
    """What pi writes in its own way for all providers: arguments as JSON, results as a tool's, and ids of calls, which are numbered here."""
    calls, all_blocks = {}, []
    for role, kind, text, name, arguments, call in shown:
        number = call and calls.setdefault(call.split("|")[0], len(calls))
        if kind == "result":
            role, name = "tool", None
        if isinstance(arguments, str):
            arguments = json.loads(arguments)
        all_blocks.append((role, kind, text, name, arguments, number))
    return all_blocks


def check_pi_files(program, store, files, place):
    """pi's own file of a session, imported, shows what was recorded of it; nothing names the file."""
    assert files, "pi has written no session"
    recorded = {each: meant(agents.said(store, each)) for each in store.conversations()}
    for number, file in enumerate(files):
        imported = agents.Store(program, f"sqlite:{place}/pi{number}.db")
        subprocess.run(
            [program, "import", str(file), "--format", "pi", "--store", imported.url, "-c", "c"],
            check=True,
            capture_output=True,
        )
        own = meant(agents.said(imported, "c"))
        assert own in recorded.values(), {
            each: [pair for pair in itertools.zip_longest(own, shown) if pair[0] != pair[1]][:3]
            for each, shown in recorded.items()
        }


def the_same_with_and_without(program, name, work, command, is_pi=False):
    with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "work"
        plain, asked = agents.directly(work, command, folder)
        shutil.rmtree(folder)
        folder.mkdir()
        store = f"sqlite:{place}/gateway.db"
        with tap.Tap() as client_side, tap.Tap() as provider_side:
            provider_side.to(provider.url.removeprefix("http://"))
            gateway = agents.Gateway(
                program,
                store,
                provider_side.url,
                client_side.address,
                "--gemini",
                provider_side.url,
            )
            client_side.to(gateway.address)
            shown = agents.printed(work(command, client_side, folder))
            told = gateway.stop()
            agents.check_equal(agents.calls(client_side), agents.calls(provider_side))
            assert agents.kinds(client_side) == asked, (agents.kinds(client_side), asked)
        assert shown == plain, [
            pair for pair in itertools.zip_longest(plain, shown) if pair[0] != pair[1]
        ][:3]
        assert len(provider.requests) >= 5, "no tool was used"
        turns = agents.check_recorded(agents.Store(program, store), provider)
        if is_pi:
            check_pi_files(program, agents.Store(program, store), pi_files(folder), place)
        assert "not recorded" not in told, told
        print(
            f"{name}: {len(provider.requests)} requests, equal and recorded in {len(turns)} conversations",
            flush=True,
        )


def main(program, folder):
    folder = pathlib.Path(folder).resolve()
    pi_command, node = running.pi_command(folder), running.node_of(folder)
    geminis = folder / "node_modules/@google/gemini-cli/bundle/gemini.js"
    if not pi_command or not geminis.exists():
        agents.agents.skip("scripts/peers agents could not get them, or there is no Node 20")
    for api, path in (
        ("openai-completions", "/v1"),
        ("openai-responses", "/v1"),
        ("anthropic-messages", ""),
        ("google-generative-ai", "/v1beta"),
    ):
        the_same_with_and_without(program, f"pi with {api}", pi(api, path), pi_command, True)
    the_same_with_and_without(program, "Gemini CLI", gemini, [node, str(geminis)])


if __name__ == "__main__":
    main(*sys.argv[1:3])
