"""Waiting for what runs in the background."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, Callable, List

import pytest

import undertext
from undertext.types import Event, Message, Plan


def compressing(write: undertext.Summariser) -> undertext.Conversation:
    """A conversation with a compression under way."""
    strategy = {"name": "smart_summary", "keep": 2, "summariser": "model"}
    settings = {"compressionConfig": {"enabled": True, "threshold": 100, "targetTokens": 60, "strategy": strategy}}
    conversation = undertext.open(settings=settings, summarisers={"model": write})
    conversation.append([{"role": "user", "content": f"message number {i} with words"} for i in range(40)])
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


@pytest.mark.parametrize("end", [undertext.Conversation.close, lambda conversation: None], ids=["closed", "forgotten"])
def test_a_conversation_ends_though_somebody_was_called_away_from_waiting_for_it(end: Callable[[undertext.Conversation], None]) -> None:
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


def test_code_cannot_wait_for_the_compression_it_is_part_of() -> None:
    raised: List[Any] = []

    @undertext.slow
    def waits(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> Plan | None:
        with pytest.raises(undertext.InvalidArgumentError, match="part of its compression") as caught:
            conversation.wait_for_compression()
        raised.append(caught.value.field)
        with compressing(lambda *_: "short") as another:
            another.wait_for_compression()
            raised.append("short" in str(another.messages(first=1)))
        return None

    settings = {"compressionConfig": {"enabled": True, "threshold": 3, "targetTokens": 2, "strategy": "waits"}}
    conversation = undertext.open(settings=settings, strategies={"waits": waits})
    conversation.append({"role": "user", "content": "some text that is long enough"})
    conversation.wait_for_compression()
    assert raised == ["conversation", True]


def test_code_that_a_call_runs_may_wait_for_what_runs_in_the_background() -> None:
    asked: List[int] = []

    @undertext.slow
    def waits(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> Plan | None:
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
