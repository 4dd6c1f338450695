"""undertext.langchain with the real LangChain."""

from __future__ import annotations

import asyncio
from typing import Any, List

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_values import json_objects, json_values, texts
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables.history import RunnableWithMessageHistory

import undertext
from undertext.langchain import UndertextChatMessageHistory

call = {"name": "search", "args": {"query": "parcel", "n": 3}, "id": "c1", "type": "tool_call"}
usage = {
    "input_tokens": 7,
    "output_tokens": 2,
    "total_tokens": 9,
    "input_token_details": {"cache_read": 5},
}
every_kind: List[BaseMessage] = [
    SystemMessage("Be brief."),
    SystemMessage([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]),
    HumanMessage("Where is my parcel?", id="m1", name="Ada"),
    HumanMessage(""),
    HumanMessage(
        [
            {"type": "text", "text": "this"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        ]
    ),
    HumanMessage(["strings", {"type": "text", "text": "among parts"}]),
    HumanMessage("more", field_of_mine={"a": [1, 2.5, None]}, empty_field_of_mine=None),
    AIMessage(
        "",
        tool_calls=[call],
        id="m2",
        usage_metadata=usage,
        response_metadata={"model_name": "m", "finish_reason": "tool_calls"},
    ),
    AIMessage("Let me look.", tool_calls=[call, {**call, "id": None}]),
    AIMessage(
        "",
        invalid_tool_calls=[
            {
                "name": "search",
                "args": '{"query":',
                "id": "c2",
                "error": "cut off",
                "type": "invalid_tool_call",
            }
        ],
    ),
    AIMessage(
        "",
        additional_kwargs={
            "tool_calls": [
                {"id": "c3", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
            "refusal": None,
        },
    ),
    AIMessage(
        [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "c1", "name": "search", "input": {}},
        ],
        tool_calls=[call],
    ),
    AIMessage([]),
    AIMessageChunk(
        content="par",
        tool_call_chunks=[
            {"name": "search", "args": '{"q', "id": "c4", "index": 0, "type": "tool_call_chunk"}
        ],
    ),
    ToolMessage(
        "It left Lyon.", tool_call_id="c1", name="search", id="m3", artifact={"rows": [1, 2]}
    ),
    ToolMessage("", tool_call_id="c1", status="error"),
    ToolMessage(
        "two",
        tool_call_id="c1",
        artifact=[Document("page", metadata={"source": "a"}), Document("page", id="d")],
    ),
    ToolMessage(
        "three",
        tool_call_id="c1",
        artifact={"said": [HumanMessage("a"), AIMessage("b", tool_calls=[call])]},
    ),
    ToolMessage("four", tool_call_id="c1", artifact={"lc": 1, "type": "secret", "id": ["HOME"]}),
    FunctionMessage(content="42", name="answer"),
    ChatMessage(content="As you wish.", role="developer"),
    ChatMessage(content="Objection.", role="critic"),
]


def opened() -> UndertextChatMessageHistory:
    return UndertextChatMessageHistory(undertext.open("memory:", "s"))


@pytest.mark.parametrize(
    "message",
    every_kind,
    ids=lambda message: f"{type(message).__name__} {str(message.content)[:20]}",
)
def test_a_message_of_every_kind_comes_back_equal(message: BaseMessage) -> None:
    history = opened()
    history.add_messages([message])
    assert history.messages == [message]
    assert [type(each) for each in history.messages] == [type(message)]


random_calls = st.lists(
    st.fixed_dictionaries(
        {"name": texts, "args": json_objects, "id": st.none() | texts, "type": st.just("tool_call")}
    ),
    max_size=2,
)
parts = st.fixed_dictionaries({"type": st.just("text"), "text": texts}) | json_objects | texts
common = {
    "content": texts | st.lists(parts, max_size=3),
    "id": st.none() | texts,
    "name": st.none() | texts,
    "additional_kwargs": json_objects,
    "response_metadata": json_objects,
}
random_messages = st.one_of(
    st.builds(HumanMessage, **common),
    st.builds(SystemMessage, **common),
    st.builds(AIMessage, tool_calls=random_calls, **common),
    st.builds(
        ToolMessage, tool_call_id=texts, artifact=json_values, **{**common, "content": texts}
    ),
)


@settings(max_examples=300)
@given(st.lists(random_messages, max_size=4))
def test_random_messages_come_back_equal(messages: List[BaseMessage]) -> None:
    history = opened()
    history.add_messages(messages)
    assert history.messages == messages


class Mine(HumanMessage):
    pass


@pytest.mark.parametrize(
    "message",
    [
        RemoveMessage(id="m1"),
        Mine(content="a class of my own"),
        HumanMessage("x", additional_kwargs={"a": (1, 2)}),
        HumanMessage("x", additional_kwargs={"a": float("nan")}),
        HumanMessage("x", additional_kwargs={1: "a"}),
        HumanMessage("x", additional_kwargs={"a": {1, 2}}),
        HumanMessage("\ud83d"),
        ToolMessage("x", tool_call_id="c", artifact=object()),
    ],
    ids=[
        "removal",
        "own class",
        "tuple",
        "nan",
        "number as key",
        "set",
        "lone surrogate",
        "object as artifact",
    ],
)
def test_what_would_not_come_back_is_refused_and_nothing_of_the_call_is_kept(
    message: BaseMessage,
) -> None:
    history = opened()
    with pytest.raises(undertext.InvalidArgumentError):
        history.add_messages([HumanMessage("before"), message])
    assert history.messages == []
    assert history.conversation.version == 0


def test_clear_loses_nothing() -> None:
    history = opened()
    history.add_messages(every_kind)
    history.clear()
    assert history.messages == []
    assert history.conversation.query("count", all=True)["count"] == len(every_kind)
    history.conversation.undo()
    assert history.messages == every_kind


def test_no_messages_make_no_version() -> None:
    history = opened()
    history.add_messages([])
    assert history.conversation.version == 0


def test_the_engine_understands_what_it_keeps() -> None:
    history = opened()
    history.add_messages(
        [
            HumanMessage("Where is it?"),
            AIMessage("", tool_calls=[call]),
            ToolMessage("Lyon", tool_call_id="c1"),
            AIMessage("In Lyon."),
        ]
    )
    conversation = history.conversation
    assert [message["role"] for message in conversation.messages()] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert conversation.messages(contains="Lyon", role="tool")[0]["content"] == "Lyon"
    request = conversation.render("openai_chat")["request"]
    assert request["messages"][1]["tool_calls"][0]["function"]["name"] == "search"
    conversation.delete(indices=[1], pairs="shrink")
    assert [message.content for message in history.messages] == ["Where is it?", "In Lyon."]


def test_edits_and_summaries_of_the_engine_are_seen() -> None:
    history = opened()
    history.add_messages([HumanMessage("one", id="a"), AIMessage("two"), HumanMessage("")])
    history.conversation.transform(indices=[0], replace_text={"find": "one", "with": "uno"})
    history.conversation.compress(
        indices=[1], summary={"role": "system", "content": "They said two."}
    )
    assert history.messages == [
        HumanMessage("uno", id="a"),
        SystemMessage("They said two."),
        HumanMessage(""),
    ]
    history.conversation.transform(indices=[2], replace_text={"find": "empty", "with": "nothing"})
    assert history.messages[2] == HumanMessage("(nothing)")


def test_a_redacted_message_says_so_and_its_calls_keep_their_ids() -> None:
    history = opened()
    history.add_messages(
        [
            HumanMessage("secret", id="h"),
            AIMessage("secret", tool_calls=[call]),
            ToolMessage("secret", tool_call_id="c1"),
        ]
    )
    history.conversation.redact([0, 1, 2], who="me")
    human, ai, tool = history.messages
    assert "secret" not in str(history.messages)
    assert (
        isinstance(human, HumanMessage)
        and isinstance(ai, AIMessage)
        and isinstance(tool, ToolMessage)
    )
    assert ai.tool_calls[0]["id"] == tool.tool_call_id == "c1"


def test_merged_calls_are_all_there() -> None:
    history = opened()
    history.add_messages([AIMessage("one", tool_calls=[call])])
    history.conversation.append(
        {
            "role": "assistant",
            "content": "two",
            "toolCalls": [{"id": "c2", "name": "f", "arguments": "{"}],
        }
    )
    history.conversation.merge([0, 1])
    merged = history.messages[0]
    assert isinstance(merged, AIMessage) and merged.content == "one\ntwo"
    assert [each["id"] for each in merged.tool_calls] == ["c1"] and [
        each["id"] for each in merged.invalid_tool_calls
    ] == ["c2"]


def test_messages_that_other_programs_appended_are_messages_of_langchain() -> None:
    history = opened()
    history.conversation.append(
        [
            {"role": "user", "content": "hi", "name": "Ada", "timestamp": 5},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a":1}'},
                    }
                ],
            },
            {
                "role": "assistant",
                "content": "",
                "toolCalls": [
                    {"id": "d", "name": "f", "arguments": '{"a":'},
                    {"id": "e", "name": "f", "arguments": {"a": 2}},
                ],
            },
            {"role": "tool", "content": "r", "toolCallId": "c"},
            {"role": "developer", "content": "Be brief."},
        ]
    )
    human, first, second, tool, system = history.messages
    assert human == HumanMessage("hi", name="Ada")
    assert isinstance(first, AIMessage) and first.tool_calls == [
        {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}
    ]
    assert (
        isinstance(second, AIMessage)
        and second.tool_calls[0]["args"] == {"a": 2}
        and second.invalid_tool_calls[0]["args"] == '{"a":'
    )
    assert tool == ToolMessage("r", tool_call_id="c")
    assert system == SystemMessage("Be brief.")


@pytest.mark.parametrize(
    "shell",
    [
        {},
        {"run": "r1"},
        {"type": "human"},
        {"type": "human", "data": 5},
        {"type": "human", "data": {"type": "ai"}},
        {"type": "of another day", "data": {}},
        {"type": ["human"], "data": {}},
        {"type": "chat", "data": {}},
        {"type": "remove", "data": {"id": "m1"}},
    ],
    ids=str,
)
def test_a_field_that_another_program_wrote_leaves_the_message_and_all_others_readable(
    shell: Any,
) -> None:
    history = opened()
    history.add_messages([HumanMessage("one")])
    history.conversation.append({"role": "user", "content": "two", "id": "m", "langchain": shell})
    history.add_messages([AIMessage("three")])
    assert history.messages == [
        HumanMessage("one"),
        HumanMessage("two", id="m"),
        AIMessage("three"),
    ]


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c", "name": 5, "arguments": {}},
        {"id": "c", "name": None, "arguments": "{}"},
        {"id": "c", "name": "f", "arguments": 5},
        {"id": "c", "name": "f", "arguments": [1]},
        {"id": "c", "name": "f", "arguments": "[" * 100_000},
        {"id": "c", "function": None},
        {"id": "c", "function": 5},
    ],
    ids=lambda call: str(call)[:60],
)
def test_a_call_of_any_shape_is_a_call(call: Any) -> None:
    history = opened()
    history.conversation.append({"role": "assistant", "content": "x", "toolCalls": [call]})
    message = history.messages[0]
    assert isinstance(message, AIMessage) and message.content == "x"
    assert [each["id"] for each in [*message.tool_calls, *message.invalid_tool_calls]] == ["c"]


template = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain_core", "prompts", "prompt", "PromptTemplate"],
    "kwargs": {"template": "{x}", "input_variables": ["x"]},
}


@pytest.mark.parametrize(
    "artifact",
    [
        template,
        [template],
        {"lc": 1, "type": "not_implemented", "id": ["a"]},
        {"lc": 2, "nothing": "known"},
    ],
    ids=str,
)
def test_what_a_stored_artifact_names_is_made_only_if_it_is_a_document_or_a_message(
    artifact: Any,
) -> None:
    history = opened()
    data = {"artifact_lc": artifact}
    history.conversation.append(
        {
            "role": "tool",
            "content": "r",
            "toolCallId": "c",
            "langchain": {"type": "tool", "data": data},
        }
    )
    assert history.messages == [ToolMessage("r", tool_call_id="c", artifact=artifact)]


def test_an_artifact_of_another_class_is_refused() -> None:
    history = opened()
    with pytest.raises(undertext.InvalidArgumentError):
        history.add_messages(
            [ToolMessage("r", tool_call_id="c", artifact=PromptTemplate.from_template("{x}"))]
        )
    assert history.conversation.version == 0


def test_two_histories_of_one_stored_conversation_see_each_other(url: str) -> None:
    with undertext.open(url, "s") as one, undertext.open(url, "s") as two:
        mine, yours = UndertextChatMessageHistory(one), UndertextChatMessageHistory(two)
        mine.add_user_message("first")
        yours.add_ai_message("second")
        mine.add_user_message("third")
        assert [message.content for message in mine.messages] == ["first", "second", "third"]
        assert mine.messages == yours.messages


def chain(url: str) -> Any:
    model = GenericFakeChatModel(
        messages=iter([AIMessage("one", id="a"), AIMessage("two", id="b")])
    )
    return RunnableWithMessageHistory(
        model, lambda session_id: UndertextChatMessageHistory(undertext.open(url, session_id))
    )


def test_a_runnable_with_message_history_remembers(url: str) -> None:
    runnable, config = chain(url), {"configurable": {"session_id": "s1"}}
    runnable.invoke([HumanMessage("first")], config)
    asyncio.run(runnable.ainvoke([HumanMessage("second")], config))
    with undertext.open(url, "s1") as conversation:
        messages = UndertextChatMessageHistory(conversation).messages
    assert [message.content for message in messages] == ["first", "one", "second", "two"]


def test_the_asynchronous_methods_do_the_same() -> None:
    async def play() -> None:
        history = opened()
        await history.aadd_messages(every_kind)
        assert await history.aget_messages() == every_kind
        await history.aclear()
        assert await history.aget_messages() == []

    asyncio.run(play())
