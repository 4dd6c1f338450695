"""What tests/gateway/sdk_compaction.py runs with the packages of a folder: an agent whose session compacts, or a client of Anthropic's that asks for it.

    compaction_calls.py agents BASE_URL FOLDER     compaction_calls.py resume BASE_URL FOLDER     compaction_calls.py anthropic BASE_URL FOLDER

`agents` leaves the items of each session in FOLDER as a list of JSON; `resume` goes on with what is there, without compacting. Prints the answers, one in a line.
"""

import asyncio
import json
import pathlib
import sys

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


def anthropic_client(url):
    import anthropic

    client = anthropic.Anthropic(base_url=url + "/anthropic", api_key="k", max_retries=0)
    for streams, pauses in ((False, False), (True, False), (False, True), (True, True)):
        messages, blocks = [], 0
        edit = {
            "type": "compact_20260112",
            "trigger": {"type": "input_tokens", "value": 1000},
            "pause_after_compaction": pauses,
        }
        for turn in range(12):
            messages.append(
                {
                    "role": "user",
                    "content": f"question {turn} {streams} {pauses} " + "many words " * 60,
                }
            )
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
                messages.append({"role": "assistant", "content": answer.content})
                blocks += sum(
                    block.type == "compaction" and bool(block.content and block.encrypted_content)
                    for block in answer.content
                )
                if answer.stop_reason != "compaction":
                    break
                assert pauses and len(answer.content) == 1, answer
            print(answer.content[-1].text)
        print("compacted" if blocks else "not compacted")


if __name__ == "__main__":
    if sys.argv[1] == "anthropic":
        anthropic_client(sys.argv[2])
    else:
        work = {"agents": agents_session, "resume": resumed_session}[sys.argv[1]]
        for each in ("input", "previous_response_id"):
            asyncio.run(work(sys.argv[2], sys.argv[3], each))
