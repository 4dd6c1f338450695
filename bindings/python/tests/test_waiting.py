"""Waiting for what runs in the background."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import Any, Callable, List

import pytest

import undertext
from undertext import aio
from undertext.types import Event, Message, Plan


def compressing(write: undertext.Summariser) -> undertext.Conversation:
    """A conversation with a compression under way."""
    strategy = {"name": "smart_summary", "keep": 2, "summariser": "model"}
    settings = {
        "compressionConfig": {
            "enabled": True,
            "threshold": 100,
            "targetTokens": 60,
            "strategy": strategy,
        }
    }
    conversation = undertext.open(settings=settings, summarisers={"model": write})
    conversation.append(
        [{"role": "user", "content": f"message number {i} with words"} for i in range(40)]
    )
    return conversation


def test_an_interrupt_ends_the_waiting_at_once_and_not_the_compression() -> None:
    is_awaited, go_on = threading.Event(), threading.Event()

    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        assert is_awaited.wait(30)
        os.kill(os.getpid(), signal.SIGINT)
        assert go_on.wait(30)
        return "short"

    with compressing(write) as conversation:
        with pytest.raises(KeyboardInterrupt):
            is_awaited.set()
            conversation.wait_for_compression()
        go_on.set()
        conversation.wait_for_compression()
        assert "short" in str(conversation.messages(first=1))


@pytest.mark.parametrize(
    "end", [undertext.Conversation.close, lambda conversation: None], ids=["closed", "forgotten"]
)
def test_a_conversation_ends_though_somebody_was_called_away_from_waiting_for_it(
    end: Callable[[undertext.Conversation], None],
) -> None:
    is_awaited, ended = threading.Event(), threading.Event()

    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        assert is_awaited.wait(30)
        os.kill(os.getpid(), signal.SIGINT)
        never = threading.Event()
        while not cancel.is_cancelled():
            never.wait(0.01)
        ended.set()
        return "short"

    conversation = compressing(write)
    with pytest.raises(KeyboardInterrupt):
        is_awaited.set()
        conversation.wait_for_compression()
    end(conversation)
    del conversation
    assert ended.wait(30)


def test_closing_stops_what_runs_in_the_background_though_a_call_of_another_thread_is_under_way() -> (
    None
):
    is_inside, ended = threading.Event(), threading.Event()

    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        never = threading.Event()
        while not cancel.is_cancelled():
            never.wait(0.01)
        ended.set()
        return "short"

    def change(message: Message) -> Message:
        is_inside.set()
        assert ended.wait(30)
        return message

    conversation = compressing(write)
    other = threading.Thread(
        target=conversation.transform, args=(change,), kwargs={"indices": [39]}
    )
    other.start()
    assert is_inside.wait(30)
    conversation.close()
    assert ended.wait(30) and conversation.closed
    other.join(30)
    assert not other.is_alive()


def test_closing_cancels_a_compression_that_another_thread_has_asked_for() -> None:
    is_asked = threading.Event()
    raised: List[undertext.UndertextError] = []

    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        is_asked.set()
        never = threading.Event()
        while not cancel.is_cancelled():
            never.wait(0.01)
        return "late"

    def compress() -> None:
        with pytest.raises(undertext.UnavailableError) as caught:
            conversation.compress(
                strategy={"name": "smart_summary", "keep": 2, "summariser": "model"}
            )
        raised.append(caught.value)

    conversation = undertext.open(summarisers={"model": write})
    conversation.append(
        [{"role": "user", "content": f"message number {i} with words"} for i in range(40)]
    )
    other = threading.Thread(target=compress, daemon=True)
    other.start()
    assert is_asked.wait(30)
    conversation.close()
    other.join(30)
    assert raised and conversation.closed


def test_code_cannot_wait_for_the_compression_it_is_part_of() -> None:
    raised: List[Any] = []

    @undertext.slow
    def waits(
        view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel
    ) -> Plan | None:
        with pytest.raises(
            undertext.InvalidArgumentError, match="part of its compression"
        ) as caught:
            conversation.wait_for_compression()
        raised.append(caught.value.field)
        with compressing(lambda *_: "short") as another:
            another.wait_for_compression()
            raised.append("short" in str(another.messages(first=1)))
        return None

    settings = {
        "compressionConfig": {
            "enabled": True,
            "threshold": 3,
            "targetTokens": 2,
            "strategy": "waits",
        }
    }
    conversation = undertext.open(settings=settings, strategies={"waits": waits})
    conversation.append({"role": "user", "content": "some text that is long enough"})
    conversation.wait_for_compression()
    assert raised == ["conversation", True]


def test_code_that_a_call_runs_may_wait_for_what_runs_in_the_background() -> None:
    asked: List[int] = []

    @undertext.slow
    def waits(
        view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel
    ) -> Plan | None:
        conversation.wait_for_compression()
        asked.append(len(view))
        return None

    conversation = undertext.open(strategies={"waits": waits})
    conversation.append({"role": "user", "content": "x"})
    conversation.compress(strategy="waits")
    conversation.answer_text('{"operation":"COMPRESS","strategy":"waits"}')
    assert asked == [1, 1]


def test_a_subscriber_that_waits_does_not_wait_for_itself() -> None:
    heard: List[str] = []

    def hear(event: Event) -> None:
        conversation.wait_for_compression()
        heard.append(event["type"])

    go_on = threading.Event()
    with compressing(lambda *_: "short" if go_on.wait(30) else "") as conversation:
        conversation.subscribe(hear)
        go_on.set()
        conversation.wait_for_compression()
        assert "COMPRESSED" in heard


def test_a_coroutine_cannot_wait_for_the_compression_it_is_part_of_and_its_tasks_can_afterwards() -> (
    None
):
    refused: List[Any] = []
    strategy = {"name": "smart_summary", "keep": 2, "summariser": "model"}
    settings = {
        "compressionConfig": {
            "enabled": True,
            "threshold": 100,
            "targetTokens": 60,
            "strategy": strategy,
        }
    }

    async def work() -> None:
        is_over = asyncio.Event()
        left: List[asyncio.Task[None]] = []

        async def later() -> None:
            await is_over.wait()
            await conversation.wait_for_compression()

        async def write(*_: object) -> str:
            left.append(asyncio.ensure_future(later()))
            with pytest.raises(
                undertext.InvalidArgumentError, match="part of its compression"
            ) as caught:
                await conversation.wait_for_compression()
            refused.append(caught.value.field)
            return "short"

        async with aio.open(settings=settings, summarisers={"model": write}) as conversation:
            await conversation.append(
                [{"role": "user", "content": f"message number {i} with words"} for i in range(40)]
            )
            await conversation.wait_for_compression()
            assert "short" in str(await conversation.messages(first=1))
            is_over.set()
            await left[0]

    asyncio.run(asyncio.wait_for(work(), 60))
    assert refused == ["conversation"]


def test_a_coroutine_that_a_call_runs_may_wait_for_what_runs_in_the_background() -> None:
    async def work() -> None:
        async def waits(view: undertext.View, *_: object) -> None:
            await conversation.wait_for_compression()
            asked.append(len(view))

        asked: List[int] = []
        async with aio.open(strategies={"waits": waits}) as conversation:
            await conversation.append({"role": "user", "content": "x"})
            await conversation.compress(strategy="waits")
        assert asked == [1]

    asyncio.run(asyncio.wait_for(work(), 60))
