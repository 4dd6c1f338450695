import asyncio

from claude_agent_sdk import ClaudeAgentOptions, get_session_messages_from_store, list_sessions_from_store

import undertext
from undertext.claude_agent_sdk import UndertextSessionStore

SESSION = "11111111-1111-4111-8111-111111111111"


def entry(number, role, text):
    """What Claude Code writes to its transcript, in short."""
    uuid, parent = (f"00000000-0000-4000-8000-00000000000{n}" if n else None for n in (number, number - 1))
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": role, "content": text}}


async def main():
    with undertext.Store("memory:") as store:  # or "sqlite:agents.db", "postgres://…"
        sessions = UndertextSessionStore(store)
        options = ClaudeAgentOptions(session_store=sessions)  # for query() and ClaudeSDKClient, which then call append() and load()

        # What the SDK does while an agent runs.
        key = {"project_key": "-home-ann-shop", "session_id": SESSION}
        await options.session_store.append(key, [entry(1, "user", "Why is the build red?"), entry(2, "assistant", "A test of the parser fails.")])

        print([session.first_prompt for session in await list_sessions_from_store(sessions, "/home/ann/shop")])
        print([message.message["content"] for message in await get_session_messages_from_store(sessions, SESSION, "/home/ann/shop")])

        # The transcript is a conversation like any other: it can be searched, counted, forked and redacted.
        with store.open(f"claude.-home-ann-shop.{SESSION}") as conversation:
            print(conversation.messages(contains="parser")[0]["content"], conversation.stats()["tokens"], "tokens")


asyncio.run(main())
