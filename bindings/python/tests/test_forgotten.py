"""What nobody refers to any more is let go, and what it had open is closed, though its code refers to it."""

from __future__ import annotations

import asyncio
import gc
import os
import time
import weakref
from pathlib import Path
from typing import Any, Callable

import pytest

import undertext
from undertext import aio
from undertext.sdk import Compressed, ConversationManager
from undertext.types import Plan


def comes_true(condition: Callable[[], bool]) -> bool:
    """Once nobody refers to it: a thread that has done its work, the library's or one for asyncio, may still do so for a moment."""
    until = time.monotonic() + 30
    while True:
        gc.collect()
        if condition():
            return True
        if time.monotonic() > until:
            return False
        time.sleep(0.001)


SAID = {"role": "user", "content": "x"}


class Agent:
    """Owns its conversation, and is its code."""

    conversation: Any

    def summarise(self, *_: object) -> str:
        return "short"

    def plan(self, *_: object) -> None:
        assert self.conversation

    def compress(self, messages: Any, mark_map: Any, config: Any) -> Compressed:
        return {"messages": messages, "markMap": mark_map}


def by_summariser(agent: Agent) -> undertext.Conversation:
    return undertext.open(summarisers={"model": agent.summarise})


def by_strategy(agent: Agent) -> undertext.Conversation:
    return undertext.open(
        strategies={"mine": undertext.slow(lambda view, tokens_max, cancel: agent.plan())}
    )


def by_a_fork(agent: Agent) -> undertext.Conversation:
    return by_strategy(agent).fork()


def by_a_view(agent: Agent) -> undertext.View:
    with by_strategy(agent) as conversation:
        return conversation.view()


def by_the_sdk(agent: Agent) -> undertext.Conversation:
    return ConversationManager(strategy=agent).conversation


def by_asyncio(agent: Agent) -> aio.Conversation:
    async def opened() -> aio.Conversation:
        return await aio.open(summarisers={"model": agent.summarise})

    return asyncio.run(opened())


@pytest.mark.parametrize(
    "open_by", [by_summariser, by_strategy, by_a_fork, by_a_view, by_the_sdk, by_asyncio]
)
def test_an_agent_is_let_go_though_it_is_code_of_its_own_conversation(
    open_by: Callable[[Agent], Any],
) -> None:
    agent = Agent()
    agent.conversation = open_by(agent)
    known = weakref.ref(agent)
    del agent
    assert comes_true(lambda: known() is None)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="files are counted there")
def test_files_are_closed_with_forgotten_agents(tmp_path: Path) -> None:
    def files() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = files()
    for i in range(20):
        agent = Agent()
        agent.conversation = undertext.open(
            f"sqlite:{tmp_path / 'store.db'}", f"c{i}", summarisers={"model": agent.summarise}
        )
        agent.conversation.append(SAID)
    assert files() > before
    del agent
    assert comes_true(lambda: files() == before)


def test_code_stays_for_as_long_as_a_fork_may_ask_it() -> None:
    asked = []

    def plan(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> None:
        asked.append(len(view))

    conversation = undertext.open(strategies={"mine": plan})
    conversation.append(SAID)
    fork = conversation.fork()
    conversation.close()
    del conversation, plan
    gc.collect()
    fork.compress(strategy="mine")
    assert asked == [1]


def test_code_stays_for_as_long_as_a_view_may_ask_it() -> None:
    def plan(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> Plan:
        return {"replacements": [{"hide": [0]}]}

    with undertext.open(strategies={"mine": plan}) as conversation:
        conversation.append([SAID, SAID])
        view = conversation.view()
    del conversation, plan
    gc.collect()
    fit = view.query("fit", strategy="mine", budget={"window": view.tokens - 1, "reserve": 0})[
        "result"
    ]
    assert fit["plan"]["replacements"][0]["ordinals"] == [0]
