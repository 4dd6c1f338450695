"""A history of LangChain and a session of the Agents SDK in one conversation, with whatever others append to it."""

from __future__ import annotations

import asyncio
import json
from typing import Any, List

import pytest
from agents.models.chatcmpl_converter import Converter
from hypothesis import given, settings
from hypothesis import strategies as st
from json_values import json_objects, json_values, texts
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import undertext
from undertext.langchain import UndertextChatMessageHistory
from undertext.openai_agents import UndertextSession


def converted(session: UndertextSession) -> List[Any]:
    return [dict(message) for message in Converter.items_to_messages(asyncio.run(session.get_items()))]


def test_each_reads_what_the_other_wrote() -> None:
    conversation = undertext.open("memory:", "s")
    history, session = UndertextChatMessageHistory(conversation), UndertextSession("s", conversation)
    call = {"name": "track", "args": {"n": 7}, "id": "c", "type": "tool_call"}
    history.add_messages([HumanMessage([{"type": "text", "text": "Where?"}], id="h"), AIMessage("", tool_calls=[call]), ToolMessage("Lyon", tool_call_id="c")])
    items: List[Any] = [
        {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "In Lyon.", "annotations": []}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Thanks."}]},
        {"type": "function_call", "call_id": "d", "name": "bye", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "d", "output": [{"type": "input_text", "text": "said"}]},
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
    assert [message.tool_calls for message in history.messages if isinstance(message, AIMessage)] == [[call], [], [{"name": "bye", "args": {}, "id": "d", "type": "tool_call"}]]
    assert asyncio.run(session.get_items())[3:] == items
    assert [message["role"] for message in converted(session)] == ["user", "assistant", "tool", "assistant", "user", "assistant", "tool"]


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
    assert isinstance(message, AIMessage) and message.tool_calls == [{"name": "track", "args": arguments, "id": "c", "type": "tool_call"}]
    assert message.invalid_tool_calls == []
    assert [{**item, "arguments": json.loads(item["arguments"])} for item in items] == [{"type": "function_call", "call_id": "c", "name": "track", "arguments": arguments}]


part_types = st.sampled_from(["text", "input_text", "output_text", "refusal", "thinking", "tool_use", "tool_result", "image", "image_url", "document", ""])
parts = st.fixed_dictionaries(
    {"type": part_types},
    optional={name: texts | json_values for name in ("text", "refusal", "id", "name", "input", "tool_use_id", "content", "source", "image_url", "is_error")},
)
contents = st.none() | texts | st.lists(parts | json_objects, max_size=3)
calls = st.lists(st.fixed_dictionaries({"id": texts}, optional={name: texts | json_values for name in ("name", "arguments", "input", "args", "function")}), max_size=2)
shells = json_objects | st.fixed_dictionaries({}, optional={name: json_objects | json_values for name in ("type", "data", "item", "message", "call", "output", "asGiven", "callsAreParts", "resultsAreParts")})
messages_of_others = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "developer", "tool"]), "content": contents},
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
def test_no_message_of_others_makes_the_rest_unreadable(messages: List[Any]) -> None:
    conversation = undertext.open("memory:", "s")
    history, session = UndertextChatMessageHistory(conversation), UndertextSession("s", conversation)
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
    assert read[0] == HumanMessage("first") and read[-1] == HumanMessage("last") and len(read) >= taken + 2
    assert items[0] == {"role": "user", "content": "first"} and items[-1] == {"role": "user", "content": "last"} and len(items) >= taken + 2
    popped: List[Any] = [asyncio.run(session.pop_item()) for _ in items]
    assert popped == items[::-1] and asyncio.run(session.pop_item()) is None
