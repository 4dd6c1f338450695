"""reconcile(): a conversation follows a client that keeps its own list."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Dict, List

import pytest

import undertext
from undertext import aio

Body = Dict[str, Any]


def body(*texts: str) -> Body:
    """A request to Anthropic; its newest message is a list of one part with a marker, as clients send it."""
    messages: List[Body] = [
        {"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)
    ]
    messages[-1]["content"] = [
        {"type": "text", "text": texts[-1], "cache_control": {"type": "ephemeral"}}
    ]
    return {"model": "m", "system": "S", "messages": messages}


# What is sent, and what comes of it: outcome, common, added, removed.
STORY = [
    (body("one"), ("appended", 0, 2, 0)),
    (body("one"), ("same", 2, 0, 0)),
    (body("one", "two", "three"), ("appended", 2, 2, 0)),
    (body("one", "two", "other"), ("edited", 3, 1, 1)),
    (body("one", "two", "three"), ("edited", 3, 1, 1)),
]


def said(messages: Any) -> List[str]:
    return [
        each["content"] if isinstance(each["content"], str) else each["content"][0]["text"]
        for each in messages
    ]


def facts(answer: Any) -> Any:
    return tuple(answer[name] for name in ("outcome", "common", "added", "removed"))


@pytest.mark.parametrize("kind", ["memory", "stored"])
def test_the_conversation_follows_a_client(kind: str, tmp_path: Path) -> None:
    with undertext.open(
        *([f"sqlite:{tmp_path / 'store.db'}", "c"] if kind == "stored" else [])
    ) as conversation:
        version = 0
        for request, expected in STORY:
            answer = conversation.reconcile(request=request, client="claude_code")
            assert facts(answer) == expected
            version += expected[0] != "same"
            assert answer["version"] == conversation.version == version
        assert said(conversation.messages()) == ["S", "one", "two", "three"]
        assert len(conversation.messages(all=True)) == 5  # nothing is stored twice
        with pytest.raises(undertext.ConflictError):
            conversation.reconcile(request=body("one"), client="claude_code", expected_version=0)
        with pytest.raises(undertext.InvalidArgumentError):
            conversation.reconcile(request=body("one"), client="nobody")  # type: ignore[arg-type]
        assert conversation.version == version


def test_messages_of_the_engines_own_form_and_named_ones_are_a_list_too() -> None:
    with undertext.open() as conversation:
        said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
        assert facts(conversation.reconcile(said)) == ("appended", 0, 2, 0)
        assert facts(conversation.reconcile([*said, {"role": "user", "content": "r"}])) == (
            "appended",
            2,
            1,
            0,
        )
        assert facts(
            conversation.reconcile([{"ordinal": 0}, {"ordinal": 2}], client="framework")
        ) == ("edited", 2, 0, 1)


def test_the_coroutine_says_the_same(tmp_path: Path) -> None:
    async def work() -> None:
        async with aio.open(f"sqlite:{tmp_path / 'store.db'}", "c") as conversation:
            for request, expected in STORY:
                assert (
                    facts(await conversation.reconcile(request=request, client="claude_code"))
                    == expected
                )
            # Two at once come one after the other: the view is one of the lists.
            lists = [body("one", "two", text) for text in ("left", "right")]
            answers = await asyncio.gather(
                *(conversation.reconcile(request=each, client="claude_code") for each in lists)
            )
            assert {answer["outcome"] for answer in answers} == {"edited"}
            assert said(await conversation.messages())[:3] == ["S", "one", "two"]
            assert said(await conversation.messages())[3:] in (["left"], ["right"])

    asyncio.run(asyncio.wait_for(work(), 60))
