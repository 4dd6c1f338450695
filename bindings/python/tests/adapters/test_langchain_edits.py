"""undertext.langchain where others have a hand in the conversation: edits of the engine, and messages that did not come from LangChain."""

from __future__ import annotations

from typing import Any, Callable, List

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

import undertext
from undertext.langchain import UndertextChatMessageHistory, to_langchain


def call(id: str | None, **args: Any) -> Any:
    return {"name": "track", "args": args, "id": id, "type": "tool_call"}


def use(id: str, **args: Any) -> Any:
    return {"type": "tool_use", "id": id, "name": "track", "input": args}


def chunk(content: Any, *ids: str, args: str = "{}") -> AIMessageChunk:
    """Of a stream that was added up, as a history is given."""
    return AIMessageChunk(
        content=content,
        tool_call_chunks=[
            {"name": "track", "args": args, "id": id, "index": index, "type": "tool_call_chunk"}
            for index, id in enumerate(ids)
        ],
    )


TEXT = {"type": "text", "text": "I look."}


def edited(
    messages: List[BaseMessage], edit: Callable[[undertext.Conversation], object]
) -> List[Any]:
    history = UndertextChatMessageHistory(undertext.open("memory:", "s"))
    history.add_messages(messages)
    assert history.messages == messages
    edit(history.conversation)
    return history.messages


def of_others(*messages: Any) -> List[Any]:
    return edited([], lambda conversation: conversation.append(list(messages)))


def ids(message: AIMessage) -> List[Any]:
    return [each["id"] for each in message.tool_calls]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (AIMessage("a", tool_calls=[call("x")]), AIMessage("b", tool_calls=[call("y")])),
        (
            AIMessage("a", tool_calls=[call("x")]),
            AIMessage([TEXT, use("y")], tool_calls=[call("y")]),
        ),
        (
            AIMessage([TEXT, use("x")], tool_calls=[call("x")]),
            AIMessage("b", tool_calls=[call("y")]),
        ),
        (
            AIMessage([use("x")], tool_calls=[call("x")]),
            AIMessage([use("y", n=1)], tool_calls=[call("y", n=1)]),
        ),
        (chunk("a", "x"), chunk("", "y")),
        (chunk("a", "x"), AIMessage("b", tool_calls=[call("y")])),
        (AIMessage("a", tool_calls=[call("x")]), chunk("b", "y")),
        (chunk([TEXT, use("x")], "x"), chunk([use("y")], "y")),
    ],
    ids=[
        "fields",
        "field, part",
        "part, field",
        "parts",
        "chunks",
        "chunk, field",
        "field, chunk",
        "chunks with parts",
    ],
)
def test_the_calls_of_merged_messages_are_all_there(first: AIMessage, second: AIMessage) -> None:
    [merged] = edited([first, second], lambda conversation: conversation.merge([0, 1]))
    assert sorted(ids(merged)) == ["x", "y"]
    if isinstance(merged, AIMessageChunk):
        assert sorted(str(each["id"]) for each in merged.tool_call_chunks) == ["x", "y"]


def test_a_call_without_an_id_does_not_hide_those_of_the_message_that_it_was_merged_with() -> None:
    [merged] = edited(
        [AIMessage("a", tool_calls=[call(None)]), AIMessage("b", tool_calls=[call("y")])],
        lambda conversation: conversation.merge([0, 1]),
    )
    assert ids(merged) == [None, "y"]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([HumanMessage(""), HumanMessage("x")], HumanMessage("x")),
        ([HumanMessage([]), HumanMessage(""), HumanMessage("x")], HumanMessage("x")),
        ([HumanMessage(""), HumanMessage([TEXT])], HumanMessage([TEXT])),
        (
            [AIMessage(""), AIMessage("", tool_calls=[call("x")])],
            AIMessage("", tool_calls=[call("x")]),
        ),
        ([HumanMessage("", id="h"), HumanMessage("")], HumanMessage("", id="h")),
        ([HumanMessage("(empty)"), HumanMessage("x")], HumanMessage("(empty)\nx")),
    ],
    ids=["text", "twice", "parts", "call", "nothing", "the word"],
)
def test_a_message_that_says_nothing_adds_nothing_to_what_is_merged_with_it(
    messages: List[BaseMessage], expected: BaseMessage
) -> None:
    assert edited(
        messages, lambda conversation: conversation.merge(list(range(len(messages))))
    ) == [expected]


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("ab", tool_calls=[call("x")]),
        AIMessage([TEXT, use("x")], tool_calls=[call("x")]),
        AIMessage([TEXT, {**use("x"), "input": {}}], tool_calls=[call("x", n=1)]),
        AIMessage(
            "ab",
            additional_kwargs={
                "tool_calls": [
                    {
                        "id": "x",
                        "type": "function",
                        "function": {"name": "track", "arguments": "{}"},
                    }
                ]
            },
        ),
        chunk("ab", "x", args='{"n": 1}'),
        chunk("ab", "x", args='{"n": '),
        chunk([TEXT, use("x")], "x"),
    ],
    ids=[
        "field",
        "part",
        "part as streamed",
        "raw",
        "chunk",
        "chunk that is not whole",
        "chunk with a part",
    ],
)
def test_the_call_of_a_message_that_was_split_stays_with_the_last_piece(message: AIMessage) -> None:
    pieces = edited([message], lambda conversation: conversation.split(0, [1]))
    assert [ids(piece) for piece in pieces] == [[], ["x"]]
    assert pieces[1].tool_calls == message.tool_calls
    if isinstance(message, AIMessageChunk):
        assert [piece.tool_call_chunks for piece in pieces] == [[], message.tool_call_chunks]


@pytest.mark.parametrize(
    "message",
    [
        AIMessage([use("x")]),
        AIMessage([use("x")], tool_calls=[call("y")]),
        HumanMessage([use("x")]),
    ],
    ids=str,
)
def test_parts_that_langchain_has_not_as_calls_are_none(message: BaseMessage) -> None:
    assert edited([message], lambda conversation: None) == [message]


def test_what_was_imported_from_anthropic_is_calls_and_results() -> None:
    request = {
        "messages": [
            {"role": "user", "content": "Where is it?"},
            {"role": "assistant", "content": [TEXT, use("a", n=7), use("b")]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "Lyon"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "b",
                        "content": [{"type": "text", "text": "no such parcel"}],
                        "is_error": True,
                    },
                    {"type": "text", "text": "Well?"},
                ],
            },
            {"role": "assistant", "content": [use("c")]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]},
        ]
    }
    assert of_others(*undertext.import_messages("anthropic", request)["messages"]) == [
        HumanMessage("Where is it?"),
        AIMessage([TEXT, use("a", n=7), use("b")], tool_calls=[call("a", n=7), call("b")]),
        ToolMessage("Lyon", tool_call_id="a"),
        ToolMessage("no such parcel", tool_call_id="b", status="error"),
        HumanMessage([{"type": "text", "text": "Well?"}]),
        AIMessage([use("c")], tool_calls=[call("c")]),
        ToolMessage("", tool_call_id="c"),
    ]


@pytest.mark.parametrize("position", [1, 2], ids=["before", "behind"])
def test_a_result_of_others_that_was_merged_with_a_message_is_a_result(position: int) -> None:
    def edit(conversation: undertext.Conversation) -> None:
        conversation.insert(
            position,
            [
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "a", "content": "Lyon"}],
                }
            ],
        )
        conversation.merge([1, 2])

    assert edited([AIMessage("", tool_calls=[call("a")]), HumanMessage("Well?")], edit) == [
        AIMessage("", tool_calls=[call("a")]),
        ToolMessage("Lyon", tool_call_id="a"),
        HumanMessage([{"type": "text", "text": "Well?"}]),
    ]


def test_parts_that_langchain_gave_are_no_results() -> None:
    result = {"type": "tool_result", "tool_use_id": "a", "content": "Lyon"}
    messages: List[BaseMessage] = [
        HumanMessage([result, TEXT]),
        ToolMessage([result], tool_call_id="a"),
        AIMessage([result], tool_calls=[call("b")]),
    ]
    assert edited(messages, lambda conversation: None) == messages


def test_the_calls_of_a_message_of_others_that_says_only_results_are_there() -> None:
    found = of_others(
        {
            "role": "assistant",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": "Lyon"}],
            "toolCalls": [{"id": "b", "name": "track", "arguments": {}}],
        }
    )
    assert found[0] == ToolMessage("Lyon", tool_call_id="a") and ids(found[1]) == ["b"]


def test_one_message_stays_one_where_one_is_asked_for() -> None:
    parts = [{"type": "tool_result", "tool_use_id": id, "content": "r"} for id in "ab"]
    assert to_langchain({"role": "user", "content": parts}) == HumanMessage(parts)  # type: ignore[arg-type]


def test_parts_of_the_responses_api_are_texts_and_images() -> None:
    image = {"type": "input_image", "image_url": "data:,", "detail": "auto"}
    human, ai, system = of_others(
        {"role": "user", "content": [{"type": "input_text", "text": "this"}, image]},
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "a cat", "annotations": [], "logprobs": []}
            ],
        },
        {"role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
    )
    assert human == HumanMessage(
        [{"type": "text", "text": "this"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    )
    assert ai == AIMessage([{"type": "text", "text": "a cat"}], id="m") and ai.text == "a cat"
    assert system == SystemMessage([{"type": "text", "text": "Be brief."}])


def test_what_cannot_be_read_as_a_whole_is_read_one_by_one() -> None:
    def append(conversation: undertext.Conversation) -> None:
        conversation.append_text('{"role":"user","content":"two","n":%s}' % ("1" * 100_001))
        conversation.append({"role": "user", "content": "three"})

    assert edited([HumanMessage("one")], append) == [
        HumanMessage("one"),
        HumanMessage("two"),
        HumanMessage("three"),
    ]


@pytest.mark.parametrize(
    "messages", [None, 5, [5], [None], ["text"], [{"role": "user", "content": "x"}]], ids=str
)
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    history = UndertextChatMessageHistory(undertext.open("memory:", "s"))
    with pytest.raises(undertext.InvalidArgumentError):
        history.add_messages(messages)
    assert history.conversation.version == 0
