"""What tests/gateway/sdk_compaction.py runs with the packages of a folder: an agent whose session compacts, or a client of Anthropic's that asks for it.

    compaction_calls.py agents BASE_URL FOLDER        compaction_calls.py resume BASE_URL FOLDER
    compaction_calls.py anthropic BASE_URL FOLDER     compaction_calls.py anthropic-resume BASE_URL FOLDER

`agents` leaves the items of each session in FOLDER as a list of JSON, and `anthropic` the list of each client, with all that was said in it beside it; `resume` and `anthropic-resume` go on with what is there, without compacting.
Prints the answers, one in a line.
"""

import asyncio
import json
import pathlib
import sys

if __name__ == "__main__":
    sys.path.pop(0)  # this folder has an agents.py of its own


def agent_at(url):
    import agents
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0)
    agents.set_tracing_disabled(True)
    return (
        agents,
        client,
        agents.Agent(
            name="a",
            instructions="Be brief.",
            model=agents.OpenAIResponsesModel(model="gpt-4.1", openai_client=client),
        ),
    )


async def agents_session(url, folder, mode):
    agents, client, agent = agent_at(url + "/openai/v1")
    from agents.memory import OpenAIResponsesCompactionSession

    session = OpenAIResponsesCompactionSession(
        "s-" + mode,
        agents.SQLiteSession("s-" + mode),
        client=client,
        compaction_mode=mode,
        should_trigger_compaction=lambda context: len(context["compaction_candidate_items"]) >= 3,
    )
    for turn in range(9):
        result = await agents.Runner.run(
            agent, f"question {turn} by {mode} " + "many words " * 60, session=session
        )
        print(result.final_output)
    items = await session.get_items()
    print(
        "compacted" if any(item.get("type") == "compaction" for item in items) else "not compacted",
        len(items),
    )
    pathlib.Path(folder, f"{mode}.json").write_text(json.dumps(items))


async def resumed_session(url, folder, mode):
    """As docs/gateway.md says: the items that `undertext detach` has written take the place of the session's."""
    agents, _, agent = agent_at(url + "/v1")
    session = agents.SQLiteSession("s-" + mode)
    await session.add_items([{"role": "user", "content": "what the session had"}])
    await session.clear_session()
    await session.add_items(json.loads(pathlib.Path(folder, f"{mode}.json").read_text()))
    result = await agents.Runner.run(agent, f"are you still there by {mode}?", session=session)
    print(result.final_output)


# How the client of Anthropic asks: streamed or not, with pauses or not, and whether it drops what
# stands before a block.
WAYS = [
    (streams, pauses, drops)
    for drops in (False, True)
    for streams, pauses in ((False, False), (True, False), (False, True), (True, True))
]


def named(way):
    return "-".join(
        word for word, on in zip(("streams", "pauses", "drops"), way, strict=True) if on
    )


def client_at(url):
    import anthropic

    return anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)


def anthropic_client(url, folder, way):
    streams, pauses, drops = way
    client = client_at(url + "/anthropic")
    messages, said, blocks = [], [], 0
    edit = {
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": 1000},
        "pause_after_compaction": pauses,
    }
    for turn in range(12):
        question = {
            "role": "user",
            "content": f"question {turn} {named(way)} " + "many words " * 60,
        }
        messages.append(question)
        said.append(question)
        while True:
            request = {
                "model": "claude-sonnet-4-5",
                "max_tokens": 50,
                "messages": messages,
                "betas": ["compact-2026-01-12"],
                "context_management": {"edits": [edit]},
            }
            if streams:
                with client.beta.messages.stream(**request) as stream:
                    answer = stream.get_final_message()
            else:
                answer = client.beta.messages.create(**request)
            made = [block for block in answer.content if block.type == "compaction"]
            assert all(block.content and block.encrypted_content for block in made), answer
            blocks += len(made)
            if made and drops:
                messages.clear()
            messages.append({"role": "assistant", "content": answer.content})
            if answer.stop_reason != "compaction":
                break
            assert pauses and len(answer.content) == 1, answer
        said.append(
            {
                "role": "assistant",
                "content": [b.to_dict() for b in answer.content if b.type != "compaction"],
            }
        )
        print(answer.content[-1].text)
    print("compacted" if blocks > 1 else "not compacted")
    for message in messages:
        if message["role"] == "assistant":
            message["content"] = [block.to_dict() for block in message["content"]]
    pathlib.Path(folder, f"list-{named(way)}.json").write_text(json.dumps(messages))
    pathlib.Path(folder, f"said-{named(way)}.json").write_text(json.dumps(said))


def resumed_client(url, folder, way):
    messages = json.loads(pathlib.Path(folder, f"list-{named(way)}.json").read_text())
    messages.append({"role": "user", "content": f"are you still there {named(way)}?"})
    answer = client_at(url).beta.messages.create(
        model="claude-sonnet-4-5", max_tokens=50, messages=messages
    )
    print(answer.content[-1].text)


if __name__ == "__main__":
    kind, url, folder = sys.argv[1:]
    if kind.startswith("anthropic"):
        work = {"anthropic": anthropic_client, "anthropic-resume": resumed_client}[kind]
        for each in WAYS:
            work(url, folder, each)
    else:
        work = {"agents": agents_session, "resume": resumed_session}[kind]
        for each in ("input", "previous_response_id"):
            asyncio.run(work(url, folder, each))
