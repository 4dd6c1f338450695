#!/usr/bin/env python3
"""Real coding agents, followed.   reconcile_test.py UNDERTEXT WORK_FOLDER

Claude Code and Codex (scripts/peers agents) work for several turns with tools, come back in new processes, ask sub-agents and compact, against an upstream of ours on the
loopback. Every request that they send is reconciled: the view, rendered, has the request's messages, nothing is stored twice, and the same request again changes nothing. What
they send holds their makers' prompts: it stays in memory. Exits with 77, which means skipped, where the programs are not to be had.
"""

import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import checking
import running
import upstream


def skip(reason):
    print("skipped: agents: " + reason)
    sys.exit(77)


def program_in(folder, pattern):
    found = [
        path for path in pathlib.Path(folder).resolve().glob(pattern) if os.access(path, os.X_OK)
    ]
    return str(found[0]) if found else None


def claude_code(binary, provider, folder):
    agent = running.ClaudeCode(binary, provider, folder)
    for text in (
        "Please use a tool.",
        "thanks",
        "Now use a tool again.",
        "Please ask a helper.",
        "/compact",
        "and now?",
        "use a tool once more",
    ):
        agent.say(text)
    return agent


def codex(binary, provider, folder, name="OpenAI"):
    agent = running.Codex(binary, provider, folder, name)
    for text in ("Please use a tool.", "thanks", "Now use a tool again.", "Please ask a helper."):
        agent.say(text)
    upstream.SIZE["tokens"] = 90000  # more than the agent wants: it compacts
    agent.say("That was much.")
    upstream.SIZE["tokens"] = 10
    for text in ("and now?", "use a tool once more"):
        agent.say(text)
    return agent


def followed(undertext, name, client, dialect, work, binary):
    with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as folder:
        work(binary, provider, folder)
        groups = checking.conversations(provider.requests)
    requests = sum(map(len, groups.values()))
    outcomes = []
    for group in groups.values():
        followed_here = checking.follow(undertext, client, dialect, group)
        assert checking.follow_stored(undertext, client, group) == followed_here
        checking.import_after(undertext, client, dialect, group)
        compressed, kept = checking.follow_compressed(undertext, client, dialect, group)
        assert len(group) < 6 or (compressed and kept), (compressed, kept)
        outcomes += followed_here
    check_work(name, groups, outcomes)
    print(f"{name}: {requests} requests of {len(groups)} conversations")


def check_work(name, groups, outcomes):
    """That the agent did what the test is about."""
    assert "compacted" in outcomes, outcomes
    assert sum(len(group) > 1 for group in groups.values()) > 1, f"{name}: no sub-agent worked"
    sent = json.dumps([request.body for group in groups.values() for request in group])
    assert '"tool_result"' in sent or '"function_call_output"' in sent, f"{name}: no tool was used"
    if name == "Codex":
        assert '"compaction_trigger"' in sent and '"type": "compaction"' in sent, (
            "no compaction by the provider"
        )


def main(undertext, folder):
    claude = program_in(folder, "node_modules/@anthropic-ai/claude-code-*/claude")
    openai = program_in(folder, "node_modules/@openai/codex-*/vendor/*/bin/codex")
    if not claude or not openai:
        skip("scripts/peers agents could not get them")
    followed(undertext, "Claude Code", "claude_code", "anthropic", claude_code, claude)
    followed(undertext, "Codex", "codex", "openai_responses", codex, openai)
    followed(
        undertext,
        "Codex, which compacts by itself",
        "codex",
        "openai_responses",
        lambda *given: codex(*given, "other"),
        openai,
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
