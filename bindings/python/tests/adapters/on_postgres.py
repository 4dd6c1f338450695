"""The adapters on a real PostgreSQL, whose URL is in UNDERTEXT_TEST_POSTGRES: what they keep is there for another process. Each test has a tenant of its own, which nothing else is in."""

from __future__ import annotations

import asyncio
import os
import uuid
from typing import Any, AsyncIterator, Dict, Iterator, List

import pytest
from checkpoints import place, put, values
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

import undertext
from undertext.langchain import UndertextChatMessageHistory
from undertext.langgraph import UndertextSaver
from undertext.openai_agents import UndertextSession

URL = os.environ["UNDERTEXT_TEST_POSTGRES"]


def new_tenant() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def tenant() -> Iterator[str]:
    """Ends with a reading of all that was stored."""
    name = new_tenant()
    yield name
    with undertext.Store(URL, tenant=name) as store:
        checked = store.check()
        assert checked["conversations"] > 0 and checked["damage"] == []


def test_a_history_comes_back_to_whoever_opens_it_next(tenant: str) -> None:
    call = {"name": "search", "args": {"query": "parcel"}, "id": "c1", "type": "tool_call"}
    talk: List[BaseMessage] = [
        SystemMessage("Be brief."),
        HumanMessage("Where is my parcel? \u2603", id="m1", name="Ada"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("It left Lyon.", tool_call_id="c1", artifact={"rows": [1, 2.5, None]}),
    ]
    with undertext.open(URL, "support", tenant=tenant) as conversation:
        UndertextChatMessageHistory(conversation).add_messages(talk)
    with (
        undertext.open(URL, "support", tenant=tenant, make="never") as one,
        undertext.open(URL, "support", tenant=tenant, make="never") as other,
    ):
        history, beside = UndertextChatMessageHistory(one), UndertextChatMessageHistory(other)
        assert history.messages == talk
        beside.add_messages([AIMessage("It is in Lyon.")])
        history.add_messages([HumanMessage("Thank you.")])
        assert history.messages == [*talk, AIMessage("It is in Lyon."), HumanMessage("Thank you.")]
        history.clear()
        assert history.messages == []


def test_checkpoints_are_put_listed_and_read_by_another_saver(tenant: str) -> None:
    messages = [HumanMessage(f"message {i}", id=str(i)) for i in range(6)]
    configs = [place()]
    with UndertextSaver.from_url(URL, tenant=tenant) as saver:
        for n in range(1, 7):
            configs.append(put(saver, configs[-1], n, messages=messages[:n], step=n))
        saver.put_writes(configs[-1], [("step", 7)], "task")
    with UndertextSaver.from_url(URL, tenant=tenant) as saver:
        for n in range(1, 7):
            assert values(saver, configs[n]) == {"messages": messages[:n], "step": n}
        assert [found.config for found in saver.list(place())] == configs[:0:-1]
        assert [found.config for found in saver.list(place(), limit=1, before=configs[3])] == [
            configs[2]
        ]
        newest = saver.get_tuple(place())
        assert newest is not None and newest.pending_writes == [("task", "step", 7)]
    with undertext.open(URL, "langgraph.t.0.messages", tenant=tenant, make="never") as conversation:
        assert conversation.query("count", all=True)["count"] == 6  # each message once


def test_the_published_conformance_suite_passes_in_every_capability() -> None:
    @checkpointer_test(name="undertext postgres")
    async def made() -> AsyncIterator[UndertextSaver]:
        with UndertextSaver.from_url(URL, tenant=new_tenant()) as opened:
            yield opened

    report = asyncio.run(validate(made))
    assert {
        name: result.failures for name, result in report.results.items() if result.failures
    } == {}
    assert {name for name, result in report.results.items() if result.passed} == {
        capability.value for capability in Capability
    }


def test_the_items_of_a_session_are_added_popped_and_kept(tenant: str) -> None:
    items: List[Dict[str, Any]] = [
        {"role": "user", "content": "Where is my parcel?"},
        {
            "type": "reasoning",
            "id": "r1",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "gAAA",
        },
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "search",
            "arguments": '{"q": "parcel"}',
            "id": "f1",
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "c1", "output": "It left Lyon."},
    ]

    async def play() -> None:
        with undertext.open(URL, "s", tenant=tenant) as conversation:
            session = UndertextSession("s", conversation)
            await session.add_items(items)  # type: ignore[arg-type]  # an item is one of many TypedDicts
            assert await session.get_items(limit=2) == items[2:]
        with undertext.open(URL, "s", tenant=tenant, make="never") as conversation:
            session = UndertextSession("s", conversation)
            assert await session.get_items() == items
            assert [await session.pop_item() for _ in range(2)] == items[:1:-1]
            await session.add_items([{"role": "user", "content": "Never mind."}])
        with undertext.open(URL, "s", tenant=tenant, make="never") as conversation:
            session = UndertextSession("s", conversation)
            assert await session.get_items() == [
                *items[:2],
                {"role": "user", "content": "Never mind."},
            ]
            await session.clear_session()
            assert await session.pop_item() is None

    asyncio.run(play())
