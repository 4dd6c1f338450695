#!/usr/bin/env python3
"""Sessions of opencode and pi, read and converted.   other_sessions_test.py UNDERTEXT WORK_FOLDER

opencode and pi (scripts/peers agents) make sessions against an upstream of ours, opencode one with
a compaction and a sub-agent. `undertext open` and `undertext import` read
from them what the program sends when it resumes them itself. Exported to opencode and installed,
both are resumed by it: the upstream gets the same conversation. The programs'
files stay as they were. Exits with 77, which means skipped, where the programs are not to be had.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import opened
import running
import upstream
from reconcile_test import program_in, skip
from sessions_test import command, result_text, said_by, said_in, same, texts


def said_to_chat(body):
    said = []
    for message in body["messages"]:
        if message["role"] == "tool":
            said.append(("result", result_text(message["content"]).strip()))
        elif message["role"] in ("user", "assistant"):
            said += [each for each in texts(message["role"], message["content"] or "") if each[1]]
            for call in message.get("tool_calls", []):
                arguments = json.loads(call["function"]["arguments"])
                said.append(
                    ("call", call["function"]["name"], json.dumps(arguments, sort_keys=True))
                )
    return said


def last_turn(provider):
    """What was said to the model that has tools: not what asks for a title or a summary."""
    return said_to_chat([each.body for each in provider.requests if each.body.get("tools")][-1])


def said_when_opened(undertext, home, client):
    """By the sessions of this client that `undertext open` finds."""
    said = {}
    with opened.Sessions(undertext, home) as sessions:
        for id in sessions.ids():
            of_client = types.SimpleNamespace(ask=lambda line, id=id: sessions.ask(id, line)[0])
            assert id.startswith(client) or client == "pi", id
            said[id] = said_by(of_client)
    return said


def file_bytes(folder, pattern):
    return {path: path.read_bytes() for path in pathlib.Path(folder).rglob(pattern)}


def resumed_by_opencode(undertext, binary, store, folder, expected):
    """The conversation `session` of the store, installed where opencode looks, and resumed."""
    folder.mkdir()
    with upstream.Upstream() as provider:
        agent = running.OpenCode(binary, provider, folder)
        (folder / "bin").mkdir()
        (folder / "bin" / "opencode").symlink_to(pathlib.Path(binary).resolve())
        path = f"{folder}/bin:{agent.environment['PATH']}"
        made = subprocess.run(
            [undertext, "export", "session", "--store", store, "--to", "opencode", "--install"],
            capture_output=True,
            text=True,
            timeout=running.SECONDS_MAX,
            env=dict(agent.environment, PATH=path, PWD=str(folder)),
            cwd=folder,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        agent.session = made.stdout.strip().splitlines()[-1]
        assert f"to resume it: opencode -s {agent.session}" in made.stderr, made.stderr
        agent.say("Go on here.")
        agent.close()
        same(expected + [("user", "Go on here.")], last_turn(provider), "resumed by opencode")
        with opened.Sessions(undertext, folder) as sessions:
            (kept,) = sessions.ask(f"opencode.{agent.session}", {"query": "messages", "all": True})
        return [json.dumps(message) for message in kept["messages"]]


def opencode_sessions(undertext, binary, folder):
    (folder / "first").mkdir()
    store = f"sqlite:{folder}/sessions.db"
    with upstream.Upstream() as provider:
        agent = running.OpenCode(binary, provider, folder / "first")
        for text in ("Please use a tool.", "thanks", "Please ask a helper."):
            agent.say(text)
        agent.compact()
        agent.say("and now?")
        agent.say("Now use a tool again.")
        agent.close()
        before = file_bytes(agent.folder, "opencode.db*")
        found = said_when_opened(undertext, agent.folder, "opencode")
        assert file_bytes(agent.folder, "opencode.db*") == before, "the database was written to"
        assert len(found) == 2, found.keys()  # the sub-agent has a session of its own
        said = found[f"opencode.{agent.session}"]
        printed = running.run([binary, "export", agent.session], agent.folder, agent.environment)
        assert printed.returncode == 0, printed.stderr
        (folder / "session.json").write_text(printed.stdout)
        command(undertext, "import", str(folder / "session.json"), "session", "--store", store)
        same(said, said_in(undertext, store, "session"), "opencode's database and its export")
        agent.say("One more thing.")
        agent.close()
        same(said + [("user", "One more thing.")], last_turn(provider), "opencode by itself")
    assert any(entry[0] == "call" for entry in said), "no tool was used"
    kept = resumed_by_opencode(undertext, binary, store, folder / "second", said)
    assert any("Please use a tool." in text for text in kept), "what was compacted is not there"
    print(f"opencode: {len(said)} entries", flush=True)


def pi_sessions(undertext, binary, pi, folder):
    (folder / "first").mkdir()
    store = f"sqlite:{folder}/sessions.db"
    with upstream.Upstream() as provider:
        agent = running.Pi(pi, provider, folder / "first")
        for text in ("Please use a tool.", "thanks", "Now use a tool again."):
            agent.say(text)
        (file,) = file_bytes(agent.folder / ".pi", "*.jsonl")
        before = file.read_bytes()
        (said,) = said_when_opened(undertext, agent.folder, "pi").values()
        command(undertext, "import", str(file), "session", "--store", store)
        same(said, said_in(undertext, store, "session"), "a session of pi, opened and imported")
        assert file.read_bytes() == before, "the file was written to"
        agent.say("One more thing.")
        same(said + [("user", "One more thing.")], last_turn(provider), "pi by itself")
    assert any(entry[0] == "call" for entry in said), "no tool was used"
    resumed_by_opencode(undertext, binary, store, folder / "second", said)
    print(f"pi: {len(said)} entries", flush=True)


def main(undertext, folder):
    binary = program_in(folder, "node_modules/opencode-linux-*/bin/opencode")
    pi = running.pi_command(folder)
    if not binary or not pi:
        skip("scripts/peers agents could not get opencode or pi, or there is no Node for pi")
    undertext = shutil.which(undertext) or undertext
    for work in (
        lambda place: opencode_sessions(undertext, binary, place),
        lambda place: pi_sessions(undertext, binary, pi, place),
    ):
        with tempfile.TemporaryDirectory() as place:
            work(pathlib.Path(place))


if __name__ == "__main__":
    main(*sys.argv[1:3])
