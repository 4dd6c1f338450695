"""Sessions of the Claude Agent SDK: its published suite, and what it does not ask."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, List

import pytest
from claude_agent_sdk import get_session_messages_from_store, list_sessions_from_store
from claude_agent_sdk.testing import run_session_store_conformance
from hypothesis import given
from hypothesis import strategies as st
from json_values import json_objects

import undertext
from undertext.claude_agent_sdk import UndertextSessionStore

KEY: Any = {"project_key": "-home-ann-shop", "session_id": "0199-a"}
SUB: Any = {**KEY, "subpath": "subagents/agent-1"}


def said(number: int, role: str, content: Any, parent: int | None = None) -> Any:
    return {
        "type": role,
        "uuid": f"00000000-0000-4000-8000-00000000000{number}",
        "parentUuid": None if parent is None else f"00000000-0000-4000-8000-00000000000{parent}",
        "sessionId": KEY["session_id"],
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": role, "content": content},
    }


TURN: List[Any] = [
    {"type": "mode", "mode": "normal"},
    said(1, "user", "Why is the build red?"),
    said(2, "assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}], 1),
    said(3, "user", [{"type": "tool_result", "tool_use_id": "t", "content": "1 failed"}], 2),
    said(4, "assistant", [{"type": "text", "text": "(empty)"}], 3),
    said(5, "user", "(empty)", 4),
    said(6, "assistant", "", 5),
]


def stored(url: str, *batches: List[Any]) -> List[Any] | None:
    async def through() -> List[Any] | None:
        with undertext.Store(url) as store:
            sessions = UndertextSessionStore(store)
            for batch in batches:
                await sessions.append(KEY, batch)
        with undertext.Store(url) as store:
            return await UndertextSessionStore(store).load(KEY)

    return asyncio.run(through())


def test_it_passes_the_suite_that_the_sdk_publishes(tmp_path: Path) -> None:
    stores: List[undertext.Store] = []

    def make_store() -> UndertextSessionStore:
        stores.append(undertext.Store(f"sqlite:{tmp_path / str(len(stores))}.db"))
        return UndertextSessionStore(stores[-1])

    asyncio.run(run_session_store_conformance(make_store))
    for store in stores:
        store.close()


def test_entries_of_a_turn_come_back_equal(url: str) -> None:
    assert stored(url, TURN) == TURN


@given(st.lists(json_objects, max_size=4))
def test_random_entries_come_back_equal(values: List[Any]) -> None:
    entries: List[Any] = [
        {"type": "x", "uuid": str(place), **each} for place, each in enumerate(values)
    ]
    entries += [said(place, "user", each) for place, each in enumerate(values)]

    async def through() -> List[Any] | None:
        with undertext.Store("memory:") as store:
            sessions = UndertextSessionStore(store)
            await sessions.append(KEY, [*entries])
            return await sessions.load(KEY)

    unique = list({each["uuid"]: each for each in reversed(entries)}.values())[::-1]
    assert asyncio.run(through()) == ([*unique] or None)


def test_a_batch_that_is_sent_again_is_stored_once(url: str) -> None:
    assert stored(url, TURN[1:], TURN[1:], TURN[3:]) == TURN[1:]
    with undertext.Store(url) as store, store.open("claude.-home-ann-shop.0199-a") as conversation:
        assert len(conversation) == len(TURN[1:]) + len(TURN[3:])


def test_entries_without_a_uuid_are_all_kept(url: str) -> None:
    assert stored(url, TURN[:1], TURN[:1]) == [TURN[0], TURN[0]]


def test_the_engine_sees_texts_calls_and_results(url: str) -> None:
    stored(url, TURN)
    with undertext.Store(url) as store, store.open("claude.-home-ann-shop.0199-a") as conversation:
        kinds = [[block["kind"] for block in each["blocks"]] for each in conversation.blocks()]
        assert kinds[1:5] == [["text"], ["call"], ["result"], ["text"]]
        assert "build red" in str(conversation.recall("why is the build red", all=True))


def test_what_is_hidden_or_compressed_is_loaded_all_the_same(url: str) -> None:
    stored(url, TURN)
    with undertext.Store(url) as store:
        with store.open("claude.-home-ann-shop.0199-a") as conversation:
            conversation.compress(indices=[1, 2, 3], summary={"role": "user", "content": "…"})
            conversation.transform(indices=[2], replace_text={"find": "empty", "with": "full"})
        assert asyncio.run(UndertextSessionStore(store).load(KEY)) == TURN


def test_a_redacted_entry_does_not_come_back(url: str) -> None:
    stored(url, TURN)
    with undertext.Store(url) as store:
        with store.open("claude.-home-ann-shop.0199-a") as conversation:
            conversation.redact([3], who="ann")
        assert asyncio.run(UndertextSessionStore(store).load(KEY)) == [*TURN[:3], *TURN[4:]]


def test_the_sdk_lists_and_reads_sessions_of_the_store() -> None:
    async def read() -> Any:
        with undertext.Store("memory:") as store:
            sessions = UndertextSessionStore(store)
            key: Any = {**KEY, "session_id": "11111111-1111-4111-8111-111111111111"}
            entries: List[Any] = [{**each, "sessionId": key["session_id"]} for each in TURN]
            await sessions.append(key, entries)
            listed = await list_sessions_from_store(sessions, directory="/home/ann/shop")
            return listed, await get_session_messages_from_store(
                sessions, key["session_id"], directory="/home/ann/shop"
            )

    listed, messages = asyncio.run(read())
    assert [each.first_prompt for each in listed] == ["Why is the build red?"]
    assert [each.type for each in messages][:4] == ["user", "assistant", "user", "assistant"]


def test_what_was_deleted_does_not_begin_again() -> None:
    async def again() -> None:
        with undertext.Store("memory:") as store:
            sessions = UndertextSessionStore(store)
            await sessions.append(KEY, TURN)
            await sessions.append(SUB, TURN)
            await sessions.delete(KEY)
            assert store.list() == []
            with pytest.raises(undertext.NotFoundError):
                await sessions.append(KEY, TURN)

    asyncio.run(again())


def test_long_names_are_told_apart() -> None:
    project: Any = {**KEY, "project_key": "p" * 200}
    subpaths = ["subagents/" + "a" * 100, "subagents/" + "a" * 101, "ä/ö"]

    async def listed() -> List[str]:
        with undertext.Store("memory:") as store:
            sessions = UndertextSessionStore(store)
            keys: List[Any] = [{**project, "subpath": subpath} for subpath in subpaths]
            for key in keys:
                await sessions.append(key, TURN)
            return await sessions.list_subkeys(project)

    assert sorted(asyncio.run(listed())) == subpaths
