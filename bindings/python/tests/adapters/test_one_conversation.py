"""A history of LangChain and a session of the Agents SDK in one conversation, with whatever others append to it."""

from __future__ import annotations

import asyncio
import json
from typing import Any, List

import pytest
from agents.models.chatcmpl_converter import Converter
from hypothesis import example, given, settings
from hypothesis import strategies as st
from json_values import json_objects, json_values, texts
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import undertext
from undertext.langchain import UndertextChatMessageHistory
from undertext.openai_agents import UndertextSession


def converted(session: UndertextSession) -> List[Any]:
    return [
        dict(message) for message in Converter.items_to_messages(asyncio.run(session.get_items()))
    ]


def test_each_reads_what_the_other_wrote() -> None:
    conversation = undertext.open("memory:", "s")
    history, session = (
        UndertextChatMessageHistory(conversation),
        UndertextSession("s", conversation),
    )
    call = {"name": "track", "args": {"n": 7}, "id": "c", "type": "tool_call"}
    history.add_messages(
        [
            HumanMessage([{"type": "text", "text": "Where?"}], id="h"),
            AIMessage("", tool_calls=[call]),
            ToolMessage("Lyon", tool_call_id="c"),
        ]
    )
    items: List[Any] = [
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "In Lyon.", "annotations": []}],
        },
        {"role": "user", "content": [{"type": "input_text", "text": "Thanks."}]},
        {"type": "function_call", "call_id": "d", "name": "bye", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "d",
            "output": [{"type": "input_text", "text": "said"}],
        },
    ]
    asyncio.run(session.add_items(items))
    assert [(message.type, message.text) for message in history.messages] == [
        ("human", "Where?"),
        ("ai", ""),
        ("tool", "Lyon"),
        ("ai", "In Lyon."),
        ("human", "Thanks."),
        ("ai", ""),
        ("tool", "said"),
    ]
    assert [
        message.tool_calls for message in history.messages if isinstance(message, AIMessage)
    ] == [[call], [], [{"name": "bye", "args": {}, "id": "d", "type": "tool_call"}]]
    assert asyncio.run(session.get_items())[3:] == items
    assert [message["role"] for message in converted(session)] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "tool",
    ]


@pytest.mark.parametrize(
    ("told", "arguments"),
    [
        ({"name": "track", "arguments": {"n": 7}}, {"n": 7}),
        ({"name": "track", "input": {"n": 7}}, {"n": 7}),
        ({"name": "track", "args": {"n": 7}}, {"n": 7}),
        ({"type": "function", "function": {"name": "track", "arguments": '{"n": 7}'}}, {"n": 7}),
        ({"type": "function", "function": {"name": "track", "arguments": None}}, {}),
        ({"name": "track", "arguments": None}, {}),
        ({"name": "track"}, {}),
    ],
    ids=str,
)
def test_the_arguments_of_a_call_are_there_by_whichever_name(told: Any, arguments: Any) -> None:
    conversation = undertext.open("memory:", "s")
    conversation.append({"role": "assistant", "content": "", "toolCalls": [{"id": "c", **told}]})
    [message] = UndertextChatMessageHistory(conversation).messages
    items: List[Any] = list(asyncio.run(UndertextSession("s", conversation).get_items()))
    assert isinstance(message, AIMessage) and message.tool_calls == [
        {"name": "track", "args": arguments, "id": "c", "type": "tool_call"}
    ]
    assert message.invalid_tool_calls == []
    assert [{**item, "arguments": json.loads(item["arguments"])} for item in items] == [
        {"type": "function_call", "call_id": "c", "name": "track", "arguments": arguments}
    ]


USE = {"type": "tool_use", "id": "b", "name": "f", "input": {}}


@pytest.mark.parametrize(
    ("members", "calls"),
    [
        (
            {"content": [USE], "toolCalls": [{"id": "a", "name": "f", "arguments": {}}]},
            [("b", {}), ("a", {})],
        ),
        ({"content": [USE], "toolCalls": [{"id": "b", "name": "f", "arguments": {}}]}, [("b", {})]),
        ({"toolCalls": [{"id": "a", "name": "f", "arguments": ""}]}, [("a", {})]),
        (
            {"toolCalls": [{"id": "a", "name": "f", "input": {"n": 1}, "args": {"n": 2}}]},
            [("a", {"n": 1})],
        ),
        (
            {
                "toolCalls": [],
                "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": '{"n":1}'}}],
            },
            [("x", {"n": 1})],
        ),
    ],
    ids=["order", "twice", "no arguments", "two spellings", "an empty list"],
)
def test_every_adapter_reads_the_calls_that_the_engine_reads(members: Any, calls: Any) -> None:
    conversation = undertext.open("memory:", "s")
    conversation.append({"role": "assistant", "content": "", **members})
    [message] = UndertextChatMessageHistory(conversation).messages
    assert (
        isinstance(message, AIMessage)
        and [(call["id"], call["args"]) for call in message.tool_calls] == calls
    )
    items: List[Any] = list(asyncio.run(UndertextSession("s", conversation).get_items()))
    assert [(item["call_id"], json.loads(item["arguments"])) for item in items] == calls


def test_langchain_reads_items_of_the_responses_api() -> None:
    conversation = undertext.open("memory:", "s")
    reasoning = {
        "type": "reasoning",
        "id": "r",
        "summary": [{"type": "summary_text", "text": "hm"}],
    }
    items: List[Any] = [
        reasoning,
        {
            "type": "shell_call",
            "call_id": "s",
            "action": {"commands": ["ls"]},
            "id": "sh",
            "status": "completed",
        },
        {
            "type": "shell_call_output",
            "call_id": "s",
            "output": [{"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 0}}],
        },
        {"type": "function_call", "call_id": "f", "name": "track", "arguments": "{}", "id": "fc"},
        {"type": "function_call_output", "call_id": "f", "output": "Lyon", "id": "fo"},
    ]
    asyncio.run(UndertextSession("s", conversation).add_items(items))
    assert UndertextChatMessageHistory(conversation).messages == [
        AIMessage([reasoning]),
        AIMessage(
            [],
            tool_calls=[
                {"name": "shell", "args": {"commands": ["ls"]}, "id": "s", "type": "tool_call"}
            ],
        ),
        ToolMessage(
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], tool_call_id="s"
        ),
        AIMessage([], tool_calls=[{"name": "track", "args": {}, "id": "f", "type": "tool_call"}]),
        ToolMessage("Lyon", tool_call_id="f"),
    ]


def test_half_a_surrogate_pair_makes_nothing_unreadable() -> None:
    conversation = undertext.open("memory:", "s")
    conversation.append_text(
        r'[{"role":"assistant","content":[{"type":"thing","text":"\ud83d"}],"toolCalls":[{"id":"c","name":"f"}]},{"role":"tool","toolCallId":"c","content":"\ud83d"}]'
    )
    assert len(UndertextChatMessageHistory(conversation).messages) == 2
    assert [
        item.get("call_id") for item in asyncio.run(UndertextSession("s", conversation).get_items())
    ] == [None, "c", "c"]


part_types = st.sampled_from(
    [
        "text",
        "input_text",
        "output_text",
        "refusal",
        "thinking",
        "tool_use",
        "tool_result",
        "image",
        "image_url",
        "document",
        "",
    ]
)
parts = st.fixed_dictionaries(
    {"type": part_types},
    optional={
        name: texts | json_values
        for name in (
            "text",
            "refusal",
            "id",
            "name",
            "input",
            "tool_use_id",
            "content",
            "source",
            "image_url",
            "is_error",
        )
    },
)
response_items = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["shell_call", "shell_call_output", "reasoning", "function_call_output", "message"]
        )
    },
    optional={"call_id": texts, "output": texts, "role": texts},
)
wrapped = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["openai_responses", "reasoning"]),
        "item": response_items | json_objects,
    }
)
contents = st.none() | texts | st.lists(parts | wrapped | json_objects, max_size=3)
calls = st.lists(
    st.fixed_dictionaries(
        {"id": texts},
        optional={
            name: texts | json_values for name in ("name", "arguments", "input", "args", "function")
        },
    ),
    max_size=2,
)
shells = (
    st.fixed_dictionaries({"item": response_items})
    | json_objects
    | st.fixed_dictionaries(
        {},
        optional={
            name: json_objects | json_values
            for name in (
                "type",
                "data",
                "item",
                "message",
                "call",
                "output",
                "asGiven",
                "callsAreParts",
                "resultsAreParts",
            )
        },
    )
)
messages_of_others = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system", "developer", "tool"]),
        "content": contents,
    },
    optional={
        "type": texts | st.just("message"),
        "id": texts,
        "name": json_values,
        "status": json_values,
        "toolCallId": texts,
        "toolCalls": calls,
        "tool_calls": calls,
        "langchain": shells,
        "openaiItem": shells,
    },
)


@settings(max_examples=300)
@given(st.lists(messages_of_others, max_size=3))
@example(
    [
        {
            "role": "assistant",
            "type": "message",
            "id": "",
            "content": [
                {"type": "output_text", "text": ""},
                {"type": "openai_responses", "item": {}},
            ],
        }
    ]
)
def test_no_message_of_others_makes_the_rest_unreadable(messages: List[Any]) -> None:
    conversation = undertext.open("memory:", "s")
    history, session = (
        UndertextChatMessageHistory(conversation),
        UndertextSession("s", conversation),
    )
    history.add_user_message("first")
    taken = 0
    for message in messages:
        try:
            conversation.append(message)
            taken += 1
        except undertext.InvalidArgumentError:  # what is no message for the engine
            pass
    asyncio.run(session.add_items([{"role": "user", "content": "last"}]))
    read, items = history.messages, asyncio.run(session.get_items())
    assert (
        read[0] == HumanMessage("first")
        and read[-1] == HumanMessage("last")
        and len(read) >= taken + 2
    )
    assert (
        items[0] == {"role": "user", "content": "first"}
        and items[-1] == {"role": "user", "content": "last"}
        and len(items) >= taken + 2
    )
    popped: List[Any] = [asyncio.run(session.pop_item()) for _ in items]
    assert popped == items[::-1] and asyncio.run(session.pop_item()) is None
