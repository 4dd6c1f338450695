#!/usr/bin/env python3
"""opencode through the gateway.   opencode.py UNDERTEXT WORK_FOLDER

opencode (scripts/peers agents) works for several turns with tools, asks a sub-agent, compacts by
itself and when it is told to, and resumes its session in new processes; in
four dialects. Through the gateway it asks for the same and says the same, and what it sends arrives
byte by byte and header by header. Every request is recorded, no message
is stored twice, and what was recorded is what `undertext open` reads of its own database. What it
sends holds its makers' prompts: it stays in memory and in a temporary
folder. Exits with 77, which means skipped, where the program is not to be had.
"""

import collections
import functools
import itertools
import json
import pathlib
import re
import sys

sys.path[:0] = [
    str(pathlib.Path(__file__).parent),
    str(pathlib.Path(__file__).parent.parent / "agents"),
]
import agents
import opened
import running
import third_party

QUESTION = "What did we do so far?"


def without_ids(text):
    text = re.sub(r"\b(ses|msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}", "ID", text)
    return re.sub(r"\b1\d{12}\b", "TIME", text)


def finished(agent):
    agent.close()
    agent.printed = [without_ids(text) for text in agent.printed]
    return agent


def long_work(binary, provider, folder):
    # What it keeps of a long session behind its summary, it keeps of this short one too.
    agent = running.OpenCode(binary, provider, folder, tail_turns=1)
    # After the last one its usage is beyond what it wants, and it compacts.
    for text in ("Please use a tool.", "thanks", "Please ask a helper.", "That was much."):
        agent.say(text)
    agent.close()
    agent.run("Now use a tool again.")
    agent.compact()
    agent.say("and now?")
    return finished(agent)


def short_work(binary, provider, folder, api):
    agent = running.OpenCode(binary, provider, folder, api)
    agent.say("Please use a tool.")
    agent.say("thanks")
    agent.compact()
    agent.say("Now use a tool again.")
    return finished(agent)


def check_sessions(program, sub_agents, store, folder, place):
    """The sessions of its database are what was recorded of them, and nothing is there twice."""
    with opened.Sessions(program, folder) as sessions:
        ids = sessions.ids()
        assert len(ids) == 1 + sub_agents, ids
        for id in ids:
            own = third_party.meant(agents.said(sessions, id))
            conversation = "opencode-" + id.removeprefix("opencode.")
            recorded = third_party.meant(agents.said(store, conversation))
            assert own == recorded, [
                pair for pair in itertools.zip_longest(own, recorded) if pair[0] != pair[1]
            ][:3]
            check_once(store, conversation)
            if any(block[2] == QUESTION for block in own):
                assert any("Now use a tool again." in (block[2] or "") for block in own), own
                check_expanded(store, conversation)


def check_once(store, conversation):
    stored = store.ask(conversation, {"query": "messages", "all": True})[0]["messages"]
    said = [
        json.dumps({key: value for key, value in message.items() if key != "native"})
        for message in stored
    ]
    # Calls of Gemini have no ids: the same file may be read twice in the same words.
    counts = collections.Counter(text for text in said if "gemini_call_" not in text)
    assert max(counts.values()) == 1, counts.most_common(1)


def check_expanded(store, conversation):
    """Each summary stands for what was said before it: EXPAND brings that back, one after the
    other."""
    records = store.ask(conversation, {"query": "requests"})[0]["result"]
    compactions = sum(record["kind"] == "compaction" for record in records)
    view = store.ask(conversation, {"query": "messages"})[0]["messages"]
    summary = next(i for i, each in enumerate(view) if QUESTION in json.dumps(each)) + 1
    assert view[summary]["role"] == "assistant", view[summary]
    *_, shown = store.ask(
        conversation,
        *[{"operation": "EXPAND", "index": summary}] * compactions,
        {"query": "messages"},
    )
    stored = store.ask(conversation, {"query": "messages", "all": True})[0]["messages"]
    left_out = [each for each in stored if each not in shown["messages"]]
    # The summaries alone; what an agent says by itself may change when it resumes.
    said = [each for each in left_out if each["role"] != "system"]
    assert len(said) == compactions and said[-1] == view[summary], said


def main(program, folder):
    binary = agents.agents.program_in(folder, "node_modules/opencode-linux-*/bin/opencode")
    if not binary:
        agents.agents.skip("scripts/peers agents could not get opencode")
    for name, work, conversations, sub_agents in (
        ("opencode", long_work, 3, 1),
        ("opencode with Messages", functools.partial(short_work, api="anthropic"), 2, 0),
        ("opencode with Responses", functools.partial(short_work, api="openai"), 2, 0),
        ("opencode with generateContent", functools.partial(short_work, api="google"), 2, 0),
    ):
        check = functools.partial(check_sessions, program, sub_agents)
        agents.through_the_gateway(program, name, work, binary, conversations, check)


if __name__ == "__main__":
    main(*sys.argv[1:3])
