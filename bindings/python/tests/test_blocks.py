"""What messages say: read_blocks() and Conversation.blocks()."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Dict, List

import pytest

import undertext
from undertext import aio


def assistant(**members: Any) -> Dict[str, Any]:
    return {"role": "assistant", "content": "", **members}


def call(id: str, arguments: Any = None) -> Dict[str, Any]:
    return {
        "kind": "call",
        "callId": id,
        "name": "f",
        "arguments": {} if arguments is None else arguments,
    }


def use(id: str) -> Dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "f", "input": {}}


SAID: List[Any] = [
    (
        assistant(content=[use("b")], toolCalls=[{"id": "a", "name": "f", "arguments": {}}]),
        [call("b"), call("a")],
    ),
    (
        assistant(content=[use("a")], toolCalls=[{"id": "a", "name": "f", "arguments": {}}]),
        [call("a")],
    ),
    (assistant(toolCalls=[{"id": "a", "name": "f", "arguments": ""}]), [call("a")]),
    (
        assistant(toolCalls=[{"id": "a", "name": "f", "input": {"n": 1}, "args": {"n": 2}}]),
        [call("a", {"n": 1})],
    ),
    (
        assistant(
            toolCalls=[],
            tool_calls=[{"id": "x", "function": {"name": "f", "arguments": '{"n":1}'}}],
        ),
        [call("x", '{"n":1}')],
    ),
    (
        {
            "role": "tool",
            "content": [
                {"type": "tool_result", "tool_result": {"tool_use_id": "a", "content": "Lyon"}}
            ],
        },
        [{"kind": "result", "callId": "a", "blocks": [{"kind": "text", "text": "Lyon"}]}],
    ),
    (
        {
            "role": "user",
            "content": [{"type": "image", "image_url": {"url": "https://example.org/a.png"}}],
        },
        [{"kind": "media", "media": "image", "source": "url", "data": "https://example.org/a.png"}],
    ),
    (
        assistant(content=[{"type": "thinking", "thinking": "hm", "signature": "s"}]),
        [{"kind": "reasoning", "text": "hm"}],
    ),
    (
        assistant(content=[{"type": "refusal", "refusal": "no"}]),
        [{"kind": "text", "type": "refusal", "text": "no"}],
    ),
    (
        assistant(content=[{"type": "of another day"}]),
        [{"kind": "opaque", "type": "of another day", "json": {"type": "of another day"}}],
    ),
]


@pytest.mark.parametrize(
    ("message", "blocks"), SAID, ids=[str(index) for index in range(len(SAID))]
)
def test_a_message_says_the_same_wherever_it_is_asked(
    message: Dict[str, Any], blocks: List[Any]
) -> None:
    text = json.dumps(message)
    assert (
        undertext.read_blocks(text)
        == undertext.read_blocks(text.encode())
        == undertext.read_blocks(json.loads(text))
        == blocks
    )
    with undertext.open() as conversation:
        conversation.append_text(text)
        assert conversation.blocks() == [{"ordinal": 0, "role": message["role"], "blocks": blocks}]


def test_what_only_json_can_spell_is_read() -> None:
    assert undertext.read_blocks(r'{"role":"user","content":"half \ud83d"}') == [
        {"kind": "text", "text": "half \ufffd"}
    ]


def test_blocks_takes_the_filters_of_messages() -> None:
    with undertext.open() as conversation:
        conversation.append(
            [{"role": role, "content": role} for role in ("system", "user", "assistant", "user")]
        )
        assert [
            (each["ordinal"], each["role"]) for each in conversation.blocks(role="user", last=1)
        ] == [(3, "user")]
        with pytest.raises(undertext.InvalidArgumentError):
            conversation.blocks(role="none")  # type: ignore[arg-type]


def test_blocks_can_be_awaited() -> None:
    async def play() -> None:
        async with aio.open() as conversation:
            await conversation.append({"role": "user", "content": "x"})
            assert await conversation.blocks() == [
                {"ordinal": 0, "role": "user", "blocks": [{"kind": "text", "text": "x"}]}
            ]

    asyncio.run(play())


@pytest.mark.parametrize(
    "message",
    [
        None,
        5,
        "",
        "{",
        [],
        {},
        {"role": "user"},
        {"role": "nobody", "content": "x"},
        {"role": "user", "content": {1}},
        {"role": "user", "content": "half \ud83d"},
    ],
    ids=ascii,
)
def test_what_is_no_message_is_refused(message: Any) -> None:
    with pytest.raises(undertext.InvalidArgumentError):
        undertext.read_blocks(message)
