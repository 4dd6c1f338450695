#!/usr/bin/env python3
"""Sessions of real coding agents, read and converted.   sessions_test.py UNDERTEXT WORK_FOLDER

Claude Code and Codex (scripts/peers agents) make sessions against an upstream of ours. Each is imported: what it says is what the agent sends when it
resumes the session itself. Then it is exported to the other agent, which resumes it: the upstream gets the same conversation. The agents' files stay as
they were. Where the user went back in a session, what it says is also what the agent sends then. Exits with 77, which means skipped, where the programs are not to be had.
"""

import datetime
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import checking
import running
import upstream
from reconcile_test import program_in, skip


def of_the_client(text):
    """What an agent says to the model by itself, in every request anew."""
    return text.startswith(
        (
            "<system-reminder>",
            "<environment_context>",
            "<skills_instructions>",
            "<permissions instructions>",
        )
    )


def texts(role, content):
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [
        (role, part["text"].strip())
        for part in parts
        if "text" in part and not of_the_client(part["text"])
    ]


def result_text(content):
    return (
        content
        if isinstance(content, str)
        else "\n".join(part.get("text", "") for part in content or [])
    )


def said_to_anthropic(body):
    said = []
    for message in body["messages"]:
        parts = (
            message["content"]
            if isinstance(message["content"], list)
            else [{"type": "text", "text": message["content"]}]
        )
        for part in parts if message["role"] != "system" else []:
            if part["type"] == "tool_use":
                said.append(("call", part["name"], json.dumps(part["input"], sort_keys=True)))
            elif part["type"] == "tool_result":
                said.append(("result", result_text(part.get("content")).strip()))
            elif part["type"] == "text":
                said += texts(message["role"], [part])
    return said


def said_to_responses(body):
    said = []
    for item in body["input"]:
        if item.get("role") in ("user", "assistant"):
            said += texts(item["role"], item["content"])
        elif item.get("type") == "function_call":
            said.append(
                ("call", item["name"], json.dumps(json.loads(item["arguments"]), sort_keys=True))
            )
        elif item.get("type") == "function_call_output":
            said.append(("result", result_text(item["output"]).strip()))
    return said


def said_in(undertext, store, id):
    """What the conversation's view says, whichever format it came from."""
    conversation = checking.Conversation(undertext, "--store", store, "--conversation", id)
    said = said_by(conversation)
    conversation.close()
    return said


def said_by(conversation):
    said = []
    for entry in conversation.ask({"query": "blocks"})["result"]:
        for block in entry["blocks"] if entry["role"] != "system" else []:
            if block["kind"] == "text":
                said += texts(entry["role"], block["text"])
            elif block["kind"] == "call":
                arguments = block["arguments"]
                said.append(
                    (
                        "call",
                        block["name"],
                        json.dumps(
                            json.loads(arguments) if isinstance(arguments, str) else arguments,
                            sort_keys=True,
                        ),
                    )
                )
            elif block["kind"] == "result":
                said.append(
                    (
                        "result",
                        "\n".join(inner.get("text", "") for inner in block["blocks"]).strip(),
                    )
                )
    return said


def check_attachments(undertext, store, id, body):
    """What a session attached is said to the model, in the agent's own words around it."""
    conversation = checking.Conversation(undertext, "--store", store, "--conversation", id)
    attached = [
        message["content"]
        for message in conversation.ask({"query": "messages", "role": "system"})["messages"]
    ]
    conversation.close()
    sent = json.dumps(
        [message["content"] for message in body["messages"] if message["role"] == "system"],
        ensure_ascii=False,
    )
    assert attached, "the session attached nothing"
    for text in attached:
        for line in text.splitlines():
            assert json.dumps(line.strip(), ensure_ascii=False)[1:-1] in sent, (
                f"not sent: {line[:200]}"
            )


def check_expanded(undertext, store, id, before):
    """The agent's own compaction stands for what it had sent before it: EXPAND brings that back, in its order, and UNDO takes it back."""
    conversation = checking.Conversation(undertext, "--store", store, "--conversation", id)
    compacted = said_by(conversation)
    view = conversation.ask({"query": "messages"})["messages"]
    index = next(
        i
        for i, message in enumerate(view)
        if any(text in json.dumps(message) for text in checking.SUMMARIES)
    )
    conversation.ask({"operation": "EXPAND", "index": index})
    expanded = iter(said_by(conversation))
    for entry in before:
        assert entry in expanded, f"not there, or at another place: {str(entry)[:300]}"
    conversation.ask({"operation": "UNDO"})
    assert said_by(conversation) == compacted
    conversation.close()


def same(expected, got, what):
    for index, (a, b) in enumerate(zip(expected, got)):
        assert a == b, f"{what}: entry {index}: expected {str(a)[:300]}, got {str(b)[:300]}"
    assert len(expected) == len(got), (
        f"{what}: {len(expected)} entries expected, got {len(got)}: {str(got[len(expected) :] or expected[len(got) :])[:600]}"
    )


def command(undertext, *words, environment=None):
    made = subprocess.run(
        [undertext, *words], capture_output=True, text=True, timeout=120, env=environment
    )
    assert made.returncode == 0, (words, made.stdout[-500:], made.stderr[-1500:])
    return made


def digests(folder):
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in pathlib.Path(folder).rglob("*.jsonl")
    }


def turns_of(provider):
    """The requests of the main conversation."""
    return [
        request
        for request in provider.requests
        if (request.body.get("messages") or request.body.get("input"))
        and "x-claude-code-agent-id" not in {name.lower() for name in request.headers}
    ]


def work_claude_code(agent):
    for text in ("Please use a tool.", "thanks", "Please ask a helper.", "/compact", "and now?"):
        agent.say(text)
    return next((agent.folder / ".claude" / "projects").glob(f"*/{agent.session}.jsonl"))


def work_codex(agent):
    for text in ("Please use a tool.", "thanks", "and now?"):
        agent.say(text)
    return next((agent.folder / ".codex" / "sessions").rglob(f"*{agent.session}.jsonl"))


AGENTS = {
    "claude-code": (running.ClaudeCode, work_claude_code, said_to_anthropic),
    "codex": (running.Codex, work_codex, said_to_responses),
}


def converted(undertext, binaries, source, target):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        store = f"sqlite:{folder}/sessions.db"
        make, work, said = AGENTS[source]
        with upstream.Upstream() as provider:
            (folder / "first").mkdir()
            agent = make(binaries[source], provider, folder / "first")
            file = work(agent)
            before = digests(folder / "first")
            command(undertext, "import", str(file), "session", "--store", store)
            imported = said_in(undertext, store, "session")
            assert digests(folder / "first") == before, "a file of the agent was written to"
            seen = len(provider.requests)
            if source == "claude-code":  # the one that compacts
                asked = [said(request.body) for request in turns_of(provider)]
                compacting = next(
                    i
                    for i, each in enumerate(asked)
                    if any(str(entry[1]).startswith("CRITICAL: Respond") for entry in each)
                )
                check_expanded(undertext, store, "session", asked[compacting - 1])
            agent.say("One more thing.")
            if source == "claude-code":
                check_attachments(undertext, store, "session", turns_of(provider)[-1].body)
            same(
                imported + [("user", "One more thing.")],
                said(turns_of(provider)[-1].body if seen < len(provider.requests) else {}),
                f"{source} resumed by itself",
            )
        assert any(entry[0] == "call" for entry in imported) or source == "claude-code", (
            "no tool was used"
        )

        make, _, said = AGENTS[target]
        with upstream.Upstream() as provider:
            (folder / "second").mkdir()
            agent = make(binaries[target], provider, folder / "second")
            environment = dict(agent.environment, PWD=str(agent.folder))
            made = subprocess.run(
                [undertext, "export", "session", "--store", store, "--to", target, "--install"],
                capture_output=True,
                text=True,
                timeout=120,
                env=environment,
                cwd=agent.folder,
            )
            assert made.returncode == 0, made.stderr
            path = pathlib.Path(made.stdout.strip().splitlines()[0])
            assert path.exists() and path.stat().st_mode & 0o777 == 0o600, path
            agent.session = made.stderr.strip().split()[-1]
            agent.say("Go on here.")
            same(
                imported + [("user", "Go on here.")],
                said(turns_of(provider)[-1].body),
                f"{source} resumed by {target}",
            )
            # And back: what the target wrote down says the same.
            command(undertext, "import", str(path), "back", "--store", store)
            back = said_in(undertext, store, "back")
            same(
                imported + [("user", "Go on here.")],
                back[: len(imported) + 1],
                f"{source} back from {target}",
            )
    print(f"{source} to {target}: {len(imported)} entries")


def claude_code_went_back(file, to):
    """As Claude Code writes it when the user goes back to an earlier prompt: another child of what stood before that."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    said = [line for line in lines if line["type"] in ("user", "assistant") and "message" in line]
    prompt = next(line for line in said if line["message"]["content"] == "Say two.")
    answer = next(line for line in said if line["type"] == "assistant")
    parent = {
        "an answer": lambda: next(
            line["uuid"] for line in reversed(said[: said.index(prompt)]) if line["type"] != "user"
        ),
        "a line that is no message": lambda: "11111111-0000-4000-8000-000000000000",
        "the root": lambda: None,
    }[to]()
    now = datetime.datetime.now(datetime.timezone.utc)

    def line(like, number, parent, **members):
        at = now + datetime.timedelta(milliseconds=number)
        made = dict(
            like,
            uuid=f"11111111-0000-4000-8000-00000000000{number}",
            parentUuid=parent,
            timestamp=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **members,
        )
        with file.open("a") as out:
            out.write(json.dumps(made) + "\n")
        return made["uuid"]

    if to == "a line that is no message":
        own = next(
            line["uuid"] for line in reversed(said[: said.index(prompt)]) if line["type"] != "user"
        )
        notice = {key: prompt[key] for key in prompt if key not in ("message", "type")}
        line(
            dict(notice, type="system", subtype="informational", content="a notice", level="info"),
            0,
            own,
        )
    asked = line(prompt, 1, parent, message={"role": "user", "content": "Say something else."})
    message = dict(
        answer["message"], id="msg_another", content=[{"type": "text", "text": "Something else."}]
    )
    leaf = line(answer, 2, asked, message=message)
    with file.open("a") as out:
        stands_at = {"type": "last-prompt", "leafUuid": leaf, "sessionId": prompt["sessionId"]}
        out.write(json.dumps(stands_at) + "\n")


def claude_code_stands_at(file, place):
    """As Claude Code writes it when the user goes back to an earlier prompt, and says nothing yet."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    answers = [line["uuid"] for line in lines if line["type"] == "assistant"]
    leaf = {
        "type": "last-prompt",
        "leafUuid": answers[0] if place == "the first answer" else None,
        "explicit": True,
        "rewound": True,
        "sessionId": next(line["sessionId"] for line in lines if line["type"] == "assistant"),
    }
    with file.open("a") as out:
        out.write(json.dumps(leaf) + "\n")


def codex_took_back(file, turns):
    event = {"type": "thread_rolled_back", "num_turns": turns}
    last = json.loads(file.read_text().splitlines()[-1])
    at = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    with file.open("a") as out:
        line = {
            "timestamp": at.replace("+00:00", "Z"),
            "type": "event_msg",
            "payload": event,
        }
        if "ordinal" in last:
            line["ordinal"] = last["ordinal"] + 1
        out.write(json.dumps(line) + "\n")


def taken_back(undertext, binaries, source, change, what):
    """What is read of a session that the user went back in is what the agent itself resumes."""
    make, _, said = AGENTS[source]
    with tempfile.TemporaryDirectory() as folder, upstream.Upstream() as provider:
        folder = pathlib.Path(folder)
        agent = make(binaries[source], provider, folder)
        for text in ("Say one.", "Say two.", "Say three."):
            agent.say(text)
        file = next(folder.rglob(f"*{agent.session}.jsonl"))
        change(file, what)
        store = f"sqlite:{folder}/sessions.db"
        command(undertext, "import", str(file), "session", "--store", store)
        imported = said_in(undertext, store, "session")
        agent.say("One more thing.")
        same(
            imported + [("user", "One more thing.")],
            said(turns_of(provider)[-1].body),
            f"{source} went back to {what}",
        )
        assert not any("three" in str(entry[1]) for entry in imported), imported
    print(f"{source} back to {what}: {len(imported)} entries")


def main(undertext, folder):
    binaries = {
        "claude-code": program_in(folder, "node_modules/@anthropic-ai/claude-code-*/claude"),
        "codex": program_in(folder, "node_modules/@openai/codex-*/vendor/*/bin/codex"),
    }
    if not all(binaries.values()):
        skip("scripts/peers agents could not get them")
    converted(undertext, binaries, "claude-code", "codex")
    converted(undertext, binaries, "codex", "claude-code")
    for place in ("an answer", "a line that is no message", "the root"):
        taken_back(undertext, binaries, "claude-code", claude_code_went_back, place)
    for place in ("the first answer", "nothing"):
        taken_back(undertext, binaries, "claude-code", claude_code_stands_at, place)
    for turns in (1, 2, 3):
        taken_back(undertext, binaries, "codex", codex_took_back, turns)


if __name__ == "__main__":
    main(*sys.argv[1:3])
