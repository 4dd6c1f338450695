"""undertext.openai_agents with the real Agents SDK."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Dict, List

import pytest
from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from hypothesis import given, settings
from hypothesis import strategies as st
from json_values import json_objects, json_values, texts
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

import undertext
from undertext.openai_agents import UndertextSession

set_tracing_disabled(True)

every_kind: List[Dict[str, Any]] = [
    {"role": "user", "content": "Where is my parcel?"},
    {"role": "user", "content": ""},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "this"},
            {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
        ],
    },
    {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "x", "annotations": []}],
    },
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "x", "metadata": "none of ours", "timestamp": "noon"},
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
    {"type": "function_call_output", "call_id": "c1", "output": ""},
    {
        "type": "function_call_output",
        "call_id": "c1",
        "output": [{"type": "input_text", "text": "a"}],
    },
    {"type": "function_call_output", "call_id": "c1", "output": None, "item": 5},
    {
        "type": "web_search_call",
        "id": "w1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    },
    {"type": "item_reference", "id": "i1"},
    {
        "type": "computer_call_output",
        "call_id": "k",
        "output": {"type": "computer_screenshot", "image_url": "data:,"},
    },
    {},
]


def opened() -> UndertextSession:
    return UndertextSession("s", undertext.open("memory:", "s"))


def kept(items: List[Any]) -> List[Any]:
    async def play() -> List[Any]:
        session = opened()
        await session.add_items(items)
        return list(await session.get_items())

    return asyncio.run(play())


def test_items_of_every_kind_come_back_as_they_were_given() -> None:
    assert kept(every_kind) == every_kind


random_parts = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(
                [
                    "input_text",
                    "output_text",
                    "text",
                    "refusal",
                    "tool_use",
                    "tool_result",
                    "image_url",
                    "input_image",
                    "thinking",
                ]
            )
        },
        optional={
            name: json_values
            for name in (
                "text",
                "refusal",
                "id",
                "tool_use_id",
                "content",
                "image_url",
                "annotations",
                "logprobs",
                "other",
            )
        },
    ),
    max_size=3,
)
random_items = st.one_of(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "system", "developer", "tool", "other"]),
            "content": json_values | random_parts,
        },
        optional={
            "type": texts | st.just("message"),
            "id": json_values,
            "status": texts,
            "toolCalls": json_values,
            "metadata": json_values,
        },
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("function_call"),
            "call_id": json_values,
            "name": texts,
            "arguments": texts,
        },
        optional={"item": json_values, "id": texts},
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("function_call_output"),
            "call_id": texts,
            "output": json_values | random_parts,
        },
        optional={"item": json_values, "id": texts},
    ),
    json_objects,
)


@settings(max_examples=300)
@given(st.lists(random_items, max_size=4))
def test_random_items_come_back_as_they_were_given(items: List[Dict[str, Any]]) -> None:
    assert kept(items) == items


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": ("a",)},
        {"role": "user", "content": float("inf")},
        {1: "a"},
        {"content": object()},
    ],
)
def test_what_json_would_not_bring_back_is_refused_and_nothing_of_the_call_is_kept(
    item: Any,
) -> None:
    session = opened()
    with pytest.raises(undertext.InvalidArgumentError):
        asyncio.run(session.add_items([{"role": "user", "content": "before"}, item]))
    assert session.conversation.version == 0


def test_the_engine_understands_what_it_keeps() -> None:
    session = opened()
    asyncio.run(session.add_items(every_kind))  # type: ignore[arg-type]
    conversation = session.conversation
    assert conversation.messages(contains="left Lyon", role="tool")[0]["toolCallId"] == "c1"
    blocks = [block for message in conversation.blocks() for block in message["blocks"]]
    assert [block["text"] for block in blocks if block["kind"] == "reasoning"] == ["hm"]
    assert [block["name"] for block in blocks if block["kind"] == "call"] == [
        "search",
        "web_search",
    ]


def test_a_limit_is_of_the_latest_items() -> None:
    async def play() -> None:
        session = opened()
        await session.add_items(every_kind)  # type: ignore[arg-type]
        assert await session.get_items(3) == every_kind[-3:]
        assert await session.get_items(1000) == every_kind
        assert await session.get_items(0) == []
        session.session_settings = SessionSettings(limit=2)
        assert await session.get_items() == every_kind[-2:]

    asyncio.run(play())


def test_pop_takes_the_last_item_until_there_is_none_and_loses_nothing() -> None:
    async def play() -> None:
        session = opened()
        await session.add_items(every_kind)  # type: ignore[arg-type]
        assert [await session.pop_item() for _ in every_kind] == every_kind[::-1]
        assert await session.pop_item() is None
        assert session.conversation.query("count", all=True)["count"] == len(every_kind)

    asyncio.run(play())


def test_clear_hides_everything_and_loses_nothing() -> None:
    async def play() -> None:
        session = opened()
        await session.add_items(every_kind)  # type: ignore[arg-type]
        await session.clear_session()
        assert await session.get_items() == []
        session.conversation.undo()
        assert await session.get_items() == every_kind

    asyncio.run(play())


def test_messages_that_other_programs_appended_are_items() -> None:
    session = opened()
    calls = [
        {"id": "c", "name": "f", "arguments": {"a": 1}},
        {"id": "d", "name": "f", "arguments": "{}"},
    ]
    session.conversation.append(
        [
            {"role": "assistant", "content": "Wait.", "toolCalls": calls},
            {"role": "tool", "content": "r", "toolCallId": "c"},
        ]
    )
    assert asyncio.run(session.get_items()) == [
        {"role": "assistant", "content": "Wait."},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
        {"type": "function_call", "call_id": "d", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
    ]


@pytest.mark.parametrize(
    "shell",
    [
        {},
        {"note": "mine"},
        {"item": 5},
        {"type": "function_call"},
        {"type": "function_call_output"},
    ],
    ids=str,
)
def test_a_field_that_another_program_wrote_leaves_the_message_and_all_others_readable(
    shell: Any,
) -> None:
    async def play() -> None:
        session = opened()
        await session.add_items([{"role": "user", "content": "one"}])
        session.conversation.append({"role": "user", "content": "two", "openaiItem": shell})
        session.conversation.append(
            {"role": "tool", "content": "three", "toolCallId": "c", "openaiItem": {"note": "mine"}}
        )
        session.conversation.append(
            {
                "role": "assistant",
                "content": "four",
                "tool_calls": [{"id": "d", "function": None}],
                "openaiItem": {"note": "mine"},
            }
        )
        items: List[Any] = [
            {"role": "user", "content": "one"},
            {"role": "user", "content": "two"},
            {"type": "function_call_output", "call_id": "c", "output": "three"},
            {"role": "assistant", "content": "four"},
            {"type": "function_call", "call_id": "d", "name": "", "arguments": "{}"},
        ]
        assert await session.get_items() == items
        assert [await session.pop_item() for _ in items] == items[::-1]

    asyncio.run(play())


@pytest.mark.parametrize(
    "calls",
    [
        {
            "toolCalls": [
                {"id": "a", "name": "f", "arguments": "{}"},
                {"id": "b", "name": "g", "arguments": {"n": 1}},
            ]
        },
        {
            "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
                for id in "ab"
            ]
        },
    ],
    ids=["toolCalls", "tool_calls"],
)
def test_popping_one_of_the_items_of_a_message_leaves_the_others(calls: Dict[str, Any]) -> None:
    async def play() -> None:
        session = opened()
        conversation = session.conversation
        conversation.append(
            [
                {"role": "user", "content": "gone"},
                {"role": "assistant", "content": "Let me look.", "id": "m", **calls},
            ]
        )
        conversation.delete(indices=[0])
        items = await session.get_items()
        assert len(items) == 3
        for left in (2, 1, 0):
            assert await session.pop_item() == items[left]
            assert await session.get_items() == items[:left]
        for left in (1, 2, 3):
            conversation.undo()
            assert await session.get_items() == items[:left]
        conversation.redact([1], who="me")
        popped: List[Any] = [await session.pop_item() for _ in items]
        assert [item.get("call_id") for item in popped] == ["b", "a", None]

    asyncio.run(play())


def test_merged_and_redacted_calls_are_all_there() -> None:
    session = opened()
    calls: List[Any] = [
        {"type": "function_call", "call_id": f"c{i}", "name": "f", "arguments": "{}", "id": f"i{i}"}
        for i in range(3)
    ]
    asyncio.run(session.add_items(calls))
    session.conversation.merge([0, 1])
    assert asyncio.run(session.get_items()) == calls
    session.conversation.redact([2], who="me")
    assert asyncio.run(session.get_items())[-1]["call_id"] == "c2"  # type: ignore[typeddict-item]


def test_two_sessions_that_pop_at_once_get_different_items(url: str) -> None:
    items: List[Any] = [{"role": "user", "content": str(i)} for i in range(20)]

    async def play() -> None:
        with undertext.open(url, "s") as one, undertext.open(url, "s") as two:
            mine, yours = UndertextSession("s", one), UndertextSession("s", two)
            await mine.add_items(items)
            popped = await asyncio.gather(
                *(session.pop_item() for _ in range(10) for session in (mine, yours))
            )
            assert sorted(str(item) for item in popped) == sorted(str(item) for item in items)

    asyncio.run(play())


class Scripted(Model):
    """Calls a tool, then says how many items it was given."""

    async def get_response(
        self, system_instructions: Any, input: Any, *arguments: Any, **named: Any
    ) -> ModelResponse:
        if not any(
            isinstance(item, dict) and item.get("type") == "function_call_output" for item in input
        ):
            output: Any = ResponseFunctionToolCall(
                type="function_call", call_id="c1", name="where", arguments='{"parcel": 7}'
            )
        else:
            text = ResponseOutputText(
                type="output_text", text=f"{len(input)} items", annotations=[]
            )
            output = ResponseOutputMessage(
                type="message", id="m", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *arguments: Any, **named: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


@function_tool
def where(parcel: int) -> str:
    return f"parcel {parcel} is in Lyon"


def test_a_runner_remembers_across_runs_and_processes(url: str) -> None:
    agent = Agent(name="a", model=Scripted(), tools=[where])

    def run(question: str) -> Any:
        with undertext.open(url, "s1") as conversation:
            session = UndertextSession("s1", conversation)
            assert isinstance(session, Session)
            return asyncio.run(Runner.run(agent, question, session=session)).final_output

    assert run("Where is it?") == "3 items"
    assert run("And now?") == "5 items"
    with undertext.open(url, "s1") as conversation:
        assert [message["role"] for message in conversation.messages()] == [
            "user",
            "assistant",
            "tool",
            "assistant",
            "user",
            "assistant",
        ]
        assert conversation.messages(role="tool")[0]["content"] == "parcel 7 is in Lyon"
