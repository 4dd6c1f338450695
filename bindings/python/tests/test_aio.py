"""The same conversation for asyncio."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any, Coroutine, List, TypeVar

import pytest

import undertext
from undertext import aio
from undertext.types import Message

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 60))


def say(content: str) -> dict[str, object]:
    return {"role": "user", "content": content}


def test_every_public_method_is_there_as_a_coroutine() -> None:
    for asynchronous, synchronous in ((aio.Conversation, undertext.Conversation), (aio.Store, undertext.Store)):
        names = {name for name in vars(synchronous) if not name.startswith("_")}
        assert names <= {name for name in dir(asynchronous) if not name.startswith("_")}


def test_a_conversation_is_opened_used_and_closed(tmp_path: Path) -> None:
    async def work() -> None:
        url = f"sqlite:{tmp_path / 'store.db'}"
        async with aio.open(url, "one") as conversation:
            assert await conversation.append(say("kept")) == 1
            fork = await conversation.fork(id="two")
            assert (await fork.count())["count"] == 1
            await fork.close()
        assert conversation.closed
        async with aio.Store(url) as store:
            assert [c["conversation"] for c in await store.list()] == ["one", "two"]
            async with store.open("one", make="never") as again:
                assert await again.messages(role="user", last=1) == [say("kept")]
        with pytest.raises(undertext.InvalidArgumentError):
            await again.append(say("x"))
        unopened = aio.Store(url)
        with pytest.raises(undertext.InvalidArgumentError):
            await unopened.list()
        store = await unopened
        assert (await store.check())["damage"] == []
        await store.close()

    run(work())


def test_calls_run_in_the_order_in_which_they_were_made() -> None:
    async def work() -> None:
        async with aio.open() as conversation:
            calls = [conversation.append(say(str(i))) for i in range(200)]
            assert await asyncio.gather(*reversed(calls)) == list(range(200, 0, -1))
            assert [m["content"] for m in await conversation.messages()] == [str(i) for i in range(200)]

    run(work())


def test_conversations_run_beside_each_other_and_the_loop_stays_free() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def waits(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> None:
        entered.set()
        assert go_on.wait(30)

    async def work() -> None:
        async with aio.open(strategies={"waits": undertext.slow(waits)}) as stuck, aio.open() as other:
            await stuck.append(say("x"))
            waiting = asyncio.ensure_future(stuck.compress(strategy="waits"))
            while not entered.is_set():
                await asyncio.sleep(0.001)
            assert await other.append(say("not waiting")) == 1
            assert not waiting.done()
            go_on.set()
            assert (await waiting)["outcome"] == "fits"

    run(work())


def test_a_call_that_is_cancelled_before_its_turn_does_not_happen_and_a_later_one_does() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def waits(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> None:
        entered.set()
        assert go_on.wait(30)

    async def work() -> None:
        async with aio.open(strategies={"waits": undertext.slow(waits)}) as conversation:
            await conversation.append(say("one"))
            running = asyncio.ensure_future(conversation.compress(strategy="waits"))
            queued = asyncio.ensure_future(conversation.append(say("never")))
            last = asyncio.ensure_future(conversation.append(say("two")))
            while not entered.is_set():
                await asyncio.sleep(0.001)
            queued.cancel()
            running.cancel()
            for cancelled in (queued, running):
                with pytest.raises(asyncio.CancelledError):
                    await cancelled
            go_on.set()
            assert await last == 3  # after the compression, which came to its end
            assert [m["content"] for m in await conversation.messages()] == ["one", "two"]

    run(work())


def test_events_are_iterated_over_until_the_conversation_ends() -> None:
    async def work() -> None:
        conversation = await aio.open()
        heard: List[str] = []

        async def listen(events: aio.Events) -> None:
            async for event in events:
                heard.append(event["type"])

        listener = asyncio.ensure_future(listen(conversation.events()))
        async with conversation.events() as others:
            await conversation.append(say("one"))
            assert (await others.__anext__())["ordinal"] == 0
        await conversation.append(say("two"))
        await conversation.close()
        await listener
        assert heard == ["MESSAGE_ADDED", "CONTEXT_CHANGED"] * 2

    run(work())


STRATEGY = {"name": "smart_summary", "keep": 1, "summariser": "model"}
TALK = [say("a message of some length, so that there is something to be made shorter") for _ in range(6)]


def test_a_summariser_may_be_a_coroutine_function() -> None:
    async def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        await asyncio.sleep(0)
        assert threading.current_thread() is threading.main_thread()
        return "they talked"

    async def work() -> None:
        async with aio.open(summarisers={"model": write}) as conversation:
            await conversation.append(TALK)
            assert (await conversation.compress(strategy=STRATEGY))["outcome"] == "compressed"

    run(work())


def test_a_coroutine_that_raises_is_the_cause() -> None:
    async def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        raise TimeoutError("the model did not answer")

    async def work() -> None:
        async with aio.open(summarisers={"model": write}) as conversation:
            await conversation.append(TALK)
            with pytest.raises(undertext.InternalError) as caught:
                await conversation.compress(strategy=STRATEGY)
            assert isinstance(caught.value.__cause__, TimeoutError)
            assert conversation.version == 1

    run(work())


def test_an_append_holds_the_loop_for_less_than_a_millisecond() -> None:
    async def work() -> float:
        async with aio.open() as conversation:
            await conversation.append(say("warm"))
            taken = []
            for _ in range(200):
                before = time.perf_counter()
                call = conversation.append(say("x" * 10_000))
                taken.append(time.perf_counter() - before)
                await call
            return sorted(taken)[len(taken) // 2]

    assert run(work()) < 0.001
