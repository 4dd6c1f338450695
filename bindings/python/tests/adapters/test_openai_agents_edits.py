"""undertext.openai_agents where others have a hand in the conversation: edits of the engine, and messages that did not come from the SDK. Its own converter judges the items."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, List

import pytest
from agents.models.chatcmpl_converter import Converter

import undertext
from undertext.openai_agents import UndertextSession

QUESTION: Dict[str, Any] = {"role": "user", "content": "Where is the parcel?"}
REASONING: Dict[str, Any] = {
    "type": "reasoning",
    "id": "r",
    "summary": [{"type": "summary_text", "text": "think hard now"}],
    "encrypted_content": "gAAA",
}
CALL: Dict[str, Any] = {
    "type": "function_call",
    "call_id": "c",
    "name": "track",
    "arguments": '{"n": 7}',
    "id": "f",
    "status": "completed",
}
PLAIN_CALL: Dict[str, Any] = {
    "type": "function_call",
    "call_id": "c",
    "name": "track",
    "arguments": '{"n": 7}',
}
RESULT: Dict[str, Any] = {
    "type": "function_call_output",
    "call_id": "c",
    "output": "it left Lyon " * 20,
    "id": "o",
}
ANSWER: Dict[str, Any] = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "status": "completed",
    "content": [
        {"type": "output_text", "text": "It left Lyon.", "annotations": [], "logprobs": []}
    ],
}
LITELLM: Dict[str, Any] = {
    "role": "assistant",
    "content": "It left Lyon.",
    "provider_data": {"model": "litellm"},
}
CUSTOM: Dict[str, Any] = {
    "type": "custom_tool_call_output",
    "call_id": "k",
    "output": "it left Lyon",
}


def edited(items: List[Any], edit: Callable[[undertext.Conversation], object]) -> List[Any]:
    async def play() -> List[Any]:
        session = UndertextSession("s", undertext.open("memory:", "s"))
        await session.add_items(items)
        edit(session.conversation)
        found: List[Any] = list(await session.get_items())
        for limit in range(1, len(found) + 1):
            assert await session.get_items(limit) == found[-limit:]
        assert [await session.pop_item() for _ in found] == found[::-1]
        assert await session.get_items() == []
        return found

    return asyncio.run(play())


def of_others(*messages: Any) -> List[Any]:
    return edited([], lambda conversation: conversation.append(list(messages)))


def converted(items: List[Any]) -> List[Any]:
    return [dict(message) for message in Converter.items_to_messages(items)]


def test_metadata_of_the_engine_is_no_part_of_an_item() -> None:
    items = [
        QUESTION,
        REASONING,
        CALL,
        RESULT,
        ANSWER,
        LITELLM,
        CUSTOM,
        {"type": "message", **QUESTION, "id": "u"},
        {**QUESTION, "metadata": "mine"},
    ]
    assert (
        edited(
            items,
            lambda conversation: conversation.transform(
                indices=list(range(len(items))), set_metadata={"seen": True}
            ),
        )
        == items
    )


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (QUESTION, {**QUESTION, "content": "Where is the PARCEL?"}),
        (
            {**QUESTION, "name": "Ada"},
            {**QUESTION, "name": "Ada", "content": "Where is the PARCEL?"},
        ),
        (RESULT, {**RESULT, "output": "it left NICE " * 20}),
        (ANSWER, {**ANSWER, "content": [{**ANSWER["content"][0], "text": "It left NICE."}]}),
        (LITELLM, {**LITELLM, "content": "It left NICE."}),
        (CUSTOM, {**CUSTOM, "output": "it left NICE"}),
        (REASONING, REASONING),
    ],
    ids=[
        "question",
        "with a name",
        "result",
        "answer",
        "with provider data",
        "custom tool",
        "reasoning",
    ],
)
def test_an_edit_of_the_text_is_seen(item: Any, expected: Any) -> None:
    def edit(conversation: undertext.Conversation) -> None:
        for word, other in (("parcel", "PARCEL"), ("Lyon", "NICE"), ("hard", "HARD")):
            conversation.transform(indices=[0], replace_text={"find": word, "with": other})

    assert edited([item], edit) == [expected]


def test_a_cleared_result_is_a_result() -> None:
    items = edited(
        [QUESTION, CALL, RESULT, ANSWER, QUESTION],
        lambda conversation: conversation.compress(
            strategy={"name": "clear_tool_results", "keep": 0}
        ),
    )
    assert items[2]["output"].startswith("[result of track cleared") and items[2] == {
        **RESULT,
        "output": items[2]["output"],
    }
    assert [each for index, each in enumerate(items) if index != 2] == [
        QUESTION,
        CALL,
        ANSWER,
        QUESTION,
    ]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([REASONING, ANSWER], [REASONING, {"role": "assistant", "content": "It left Lyon."}]),
        (
            [ANSWER, LITELLM],
            [
                {
                    **ANSWER,
                    "content": [
                        *ANSWER["content"],
                        {"type": "output_text", "text": "It left Lyon.", "annotations": []},
                    ],
                }
            ],
        ),
        ([LITELLM, LITELLM], [{**LITELLM, "content": "It left Lyon.\nIt left Lyon."}]),
        ([CALL, {**CALL, "call_id": "d", "id": "g"}], [CALL, {**CALL, "call_id": "d", "id": "g"}]),
        ([CALL, LITELLM], [CALL, {"role": "assistant", "content": "It left Lyon."}]),
        ([ANSWER, CALL], [ANSWER, CALL]),
        (
            [LITELLM, CALL],
            [{**LITELLM, "content": [{"type": "output_text", "text": "It left Lyon."}]}, CALL],
        ),
        ([LITELLM, PLAIN_CALL], [{**LITELLM, "content": "It left Lyon.\n"}, PLAIN_CALL]),
        (
            [{"role": "assistant", "content": ""}, LITELLM],
            [{"role": "assistant", "content": "It left Lyon."}],
        ),
        ([{**ANSWER, "content": []}, LITELLM], [{"role": "assistant", "content": "It left Lyon."}]),
        ([{"role": "assistant", "content": ""}, CALL], [CALL]),
        (
            [{"role": "user", "content": ""}, {"role": "user", "content": []}],
            [{"role": "user", "content": ""}],
        ),
        ([REASONING, CALL], [REASONING, CALL]),
    ],
    ids=[
        "reasoning, answer",
        "answer, text",
        "texts",
        "calls",
        "call, text",
        "answer, call",
        "text, call",
        "text, plain call",
        "nothing, text",
        "no parts, text",
        "nothing, call",
        "nothing, nothing",
        "reasoning, call",
    ],
)
def test_of_what_was_merged_nothing_is_missing(items: List[Any], expected: List[Any]) -> None:
    found = edited(items, lambda conversation: conversation.merge([0, 1]))
    assert found == expected
    taken = [item for item in found if "provider_data" not in item]
    assert len(converted(taken)) >= min(1, len(taken))


@pytest.mark.parametrize("item", [LITELLM, ANSWER], ids=["with provider data", "answer"])
def test_of_what_was_split_nothing_is_told_twice(item: Any) -> None:
    two = (
        {**item, "content": [*item["content"], {**item["content"][0], "text": "So it did."}]}
        if item is ANSWER
        else item
    )
    found = edited([two], lambda conversation: conversation.split(0, [1]))
    assert len(found) == 2 and found[0] != found[1]
    texts = [
        str(each["content"])
        for each in converted(
            [
                {"role": "assistant", "content": each["content"]}
                if "provider_data" in each
                else each
                for each in found
            ]
        )
    ]
    assert (
        "\n".join(texts) == "It left Lyon.\nSo it did."
        if item is ANSWER
        else "".join(texts) == "It left Lyon."
    )


USE: Dict[str, Any] = {"type": "tool_use", "id": "u", "name": "track", "input": {"n": 7}}
TOOL_RESULT: Dict[str, Any] = {"type": "tool_result", "tool_use_id": "u", "content": "Lyon"}


def test_calls_and_results_of_others_that_were_merged_with_an_item_are_items() -> None:
    said = {
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
    }
    asked = {"role": "user", "content": [{"type": "input_text", "text": "Well?"}], "extra": 1}

    def edit(conversation: undertext.Conversation) -> None:
        conversation.append({"role": "user", "content": [TOOL_RESULT]})
        conversation.insert(1, [{"role": "assistant", "content": [USE, {**USE, "id": "v"}]}])
        conversation.merge([0, 1])
        conversation.merge([1, 2])

    assert edited([said, asked], edit) == [
        said,
        {"type": "function_call", "call_id": "u", "name": "track", "arguments": '{"n": 7}'},
        {"type": "function_call", "call_id": "v", "name": "track", "arguments": '{"n": 7}'},
        {"type": "function_call_output", "call_id": "u", "output": "Lyon"},
        asked,
    ]


def test_parts_that_the_sdk_gave_are_no_calls_and_no_results() -> None:
    items = [
        {
            "role": role,
            "content": [{"type": "output_text", "text": "x"}, USE, TOOL_RESULT],
            "extra": 1,
        }
        for role in ("assistant", "user")
    ]
    assert edited(items, lambda conversation: None) == items


@pytest.mark.parametrize("pairs", ["literal", "shrink", "grow"])
def test_popping_takes_one_item_whatever_the_conversation_does_with_pairs(pairs: str) -> None:
    async def play() -> None:
        session = UndertextSession("s", undertext.open(settings={"pairs": pairs}))
        items: List[Any] = [QUESTION, CALL, RESULT]
        await session.add_items(items)
        for left in (2, 1, 0):
            assert await session.pop_item() == items[left]
            assert await session.get_items() == items[:left]
        await session.add_items(items)
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(play())


# Messages of others


def imported(request: Any) -> List[Any]:
    return list(undertext.import_messages("anthropic", request)["messages"])


def test_what_was_imported_from_anthropic_is_calls_and_results() -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
    }
    request = {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Where is it?"}, image]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "a", "name": "track", "input": {"n": 7}},
                    {"type": "tool_use", "id": "b", "name": "track", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "Lyon"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "b",
                        "content": [
                            {"type": "text", "text": "Nice"},
                            {"type": "text", "text": "today"},
                        ],
                    },
                    {"type": "text", "text": "Well?"},
                ],
            },
        ]
    }
    items = of_others(*imported(request))
    assert items == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Where is it?"},
                {
                    "type": "input_image",
                    "image_url": "data:image/png;base64,AA==",
                    "detail": "auto",
                },
            ],
        },
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "a", "name": "track", "arguments": '{"n": 7}'},
        {"type": "function_call", "call_id": "b", "name": "track", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "Lyon"},
        {"type": "function_call_output", "call_id": "b", "output": "Nice\ntoday"},
        {"role": "user", "content": [{"type": "input_text", "text": "Well?"}]},
    ]
    assert [message["role"] for message in converted(items)] == [
        "user",
        "assistant",
        "assistant",
        "tool",
        "tool",
        "user",
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "x", "id": "m", "name": "Ada", "status": "odd", "phase": 5},
        {"role": "assistant", "content": "x", "id": "m"},
        {"role": "assistant", "content": [{"type": "text", "text": "x"}], "id": "m"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:,"}},
                {"type": "of another day"},
                {},
            ],
        },
        {
            "role": "assistant",
            "type": "message",
            "id": "m",
            "content": [{"type": "text", "text": "x"}, {"type": "of another day"}],
        },
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:,"}},
                {"type": "of another day"},
                {"type": "text", "text": 5},
            ],
        },
        {"role": "system", "content": [{"type": "text", "text": "x"}]},
        {"role": "developer", "content": "x", "type": "of another day"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {
            "role": "tool",
            "content": [
                {"type": "text", "text": "x"},
                {"type": "image_url", "image_url": {"url": "data:,"}},
            ],
            "toolCallId": "c",
        },
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c", "content": None}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": 5, "content": [5, {"type": "text"}]}
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use"}],
            "toolCalls": [{"id": "c", "name": "f", "arguments": {}}],
        },
    ],
    ids=str,
)
def test_the_sdk_takes_every_message_of_others(message: Any) -> None:
    assert converted(of_others(message))


def test_what_cannot_be_read_as_a_whole_is_read_one_by_one() -> None:
    def append(conversation: undertext.Conversation) -> None:
        conversation.append_text('{"role":"user","content":"two","n":%s}' % ("1" * 100_001))

    assert edited([{"role": "user", "content": "one"}], append) == [
        {"role": "user", "content": "one"},
        {"role": "user", "content": "two"},
    ]


@pytest.mark.parametrize(
    "items", [None, 5, [5], [None], ["text"], {"role": "user", "content": "x"}], ids=str
)
def test_what_is_no_list_of_items_is_refused(items: Any) -> None:
    session = UndertextSession("s", undertext.open("memory:", "s"))
    with pytest.raises(undertext.InvalidArgumentError):
        asyncio.run(session.add_items(items))
    assert session.conversation.version == 0
