"""The same conversation for asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections import UserDict, UserString, deque
from pathlib import Path
from typing import Any, Awaitable, Callable, Coroutine, Dict, List, TypeVar

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
    for asynchronous, synchronous in (
        (aio.Conversation, undertext.Conversation),
        (aio.Store, undertext.Store),
    ):
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
            assert [m["content"] for m in await conversation.messages()] == [
                str(i) for i in range(200)
            ]

    run(work())


def test_conversations_run_beside_each_other_and_the_loop_stays_free() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def waits(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> None:
        entered.set()
        assert go_on.wait(30)

    async def work() -> None:
        async with (
            aio.open(strategies={"waits": undertext.slow(waits)}) as stuck,
            aio.open() as other,
        ):
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
        async with aio.open(strategies={"waits": waits}) as conversation:
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


async def around(call: Awaitable[T]) -> T:
    return await call


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_a_call_whose_task_is_cancelled_before_its_first_step_does_not_happen() -> None:
    go_on = threading.Event()

    def waits(message: Message) -> Message:
        assert go_on.wait(30)
        return message

    async def work() -> None:
        async with aio.open() as conversation:
            await conversation.append(say("one"))
            first = conversation.transform(waits, indices=[0])
            wrapped: List[Callable[[Coroutine[Any, Any, int]], Awaitable[int]]] = [
                lambda call: call,
                around,
                lambda call: asyncio.wait_for(call, 30),
            ]
            for wrap in wrapped:
                task = asyncio.ensure_future(wrap(conversation.append(say("by a task"))))
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            conversation.append(say("closed")).close()
            let_go = conversation.append(say("let go"))
            del let_go
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(conversation.append(say("by no time at all")), 0)
            go_on.set()
            await first
            assert [m["content"] for m in await conversation.messages()] == ["one"]

    run(work())


def test_other_mappings_and_sequences_are_read_when_the_call_is_made_too() -> None:
    class Model(UserDict):  # type: ignore[type-arg]
        def __call__(self, *asked: object) -> str:
            return "short"

    async def work() -> None:
        async with aio.open(summarisers={"mine": Model()}) as conversation:
            message: Any = UserDict({**say("before"), "tags": deque([1])})
            first = conversation.append([message])
            message["content"] = "after"
            message["tags"].append(2)
            await first
            assert await conversation.messages() == [{**say("before"), "tags": [1]}]
            with pytest.raises(undertext.InvalidArgumentError):
                await conversation.append(UserDict({**say("x"), "text": UserString("x")}))

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
TALK = [
    say("a message of some length, so that there is something to be made shorter") for _ in range(6)
]


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


class Model:
    async def __call__(
        self, messages: List[Message], tokens_max: int, cancel: undertext.Cancel
    ) -> str:
        await asyncio.sleep(0)
        return "they talked"


@pytest.mark.parametrize(
    "model",
    [Model(), lambda *asked: Model()(*asked), undertext.quick(lambda *asked: Model()(*asked))],
)
def test_whatever_can_be_awaited_is(model: Any) -> None:
    async def nothing() -> None:
        await asyncio.sleep(0)

    async def work() -> None:
        async with aio.open(
            summarisers={"model": model}, strategies={"idle": lambda *asked: nothing()}
        ) as conversation:
            await conversation.append(TALK)
            assert (await conversation.compress(strategy="idle"))["outcome"] == "fits"
            assert (await conversation.compress(strategy=STRATEGY))["outcome"] == "compressed"

    run(work())


class Odd(Dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("not now")


def test_what_is_handed_in_is_read_when_the_call_is_made() -> None:
    async def work() -> None:
        settings: Dict[str, Any] = {"tokenLimit": 5}
        opening = aio.open(settings=settings)
        settings["tokenLimit"] = "none"
        async with opening as conversation:
            message: Dict[str, Any] = {"role": "user", "content": "", "tags": [("a", {})]}
            calls: List[Awaitable[object]] = []
            for i in range(5):
                message["content"], message["tags"][0][1]["i"] = str(i), i
                calls.append(conversation.append(message))
                calls.append(conversation.append([message], description=str(i)))
            message.clear()
            await asyncio.gather(*calls)
            assert await conversation.messages() == [
                {"role": "user", "content": str(i), "tags": [["a", {"i": i}]]}
                for i in range(5)
                for _ in range(2)
            ]
            cycle: Dict[str, Any] = say("round")
            cycle["again"] = [cycle, cycle]
            for refused in (cycle, {**say("odd"), "odd": Odd()}):
                with pytest.raises(undertext.InvalidArgumentError):
                    await conversation.append(refused)

    run(work())


async def compressing(model: Callable[..., Any]) -> aio.Conversation:
    conversation = await aio.open(summarisers={"model": model})
    await conversation.append(TALK)
    return conversation


def test_a_model_may_need_a_thread_however_many_compress() -> None:
    async def write(*asked: object) -> str:
        return await asyncio.to_thread(lambda: "they talked")

    async def work() -> None:
        asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
        conversations = [await compressing(write) for _ in range(8)]
        answers = await asyncio.gather(
            *(conversation.compress(strategy=STRATEGY) for conversation in conversations)
        )
        assert [answer["outcome"] for answer in answers] == ["compressed"] * 8
        await asyncio.gather(*(conversation.close() for conversation in conversations))

    run(work())


class Waiting:
    """A model that takes until it is told, or is cancelled."""

    def __init__(self) -> None:
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()

    async def __call__(self, *asked: object) -> str:
        self.asked.set()
        await self.go_on.wait()
        return "they talked"


def test_calls_do_not_wait_for_a_model() -> None:
    async def work() -> None:
        model = Waiting()
        async with await compressing(model) as conversation:
            before = conversation.append(say("before"))
            compression = asyncio.ensure_future(conversation.compress(strategy=STRATEGY))
            assert await conversation.append(say("after")) == 3
            assert await before == 2
            await model.asked.wait()
            assert not compression.done()
            model.go_on.set()
            assert (await compression)["outcome"] == "compressed"
            assert [m["content"] for m in await conversation.messages(last=2)] == [
                "before",
                "after",
            ]

    run(work())


def test_a_model_may_ask_its_own_conversation() -> None:
    async def work() -> None:
        async def write(*asked: object) -> str:
            return f"{(await conversation.count())['count']} messages"

        async with await compressing(write) as conversation:
            await conversation.compress(strategy=STRATEGY)
            assert "6 messages" in str((await conversation.messages())[0]["content"])

    run(work())


def test_calls_do_not_wait_for_whoever_waits_for_a_compression() -> None:
    async def work() -> None:
        model = Waiting()
        settings = {
            "compressionConfig": {
                "enabled": True,
                "threshold": 60,
                "targetTokens": 60,
                "strategy": {**STRATEGY, "summaryTokens": 20},
            }
        }
        async with aio.open(summarisers={"model": model}, settings=settings) as conversation:
            await conversation.append(TALK)
            waiting = asyncio.ensure_future(conversation.wait_for_compression())
            await conversation.append(say("meanwhile"))
            await model.asked.wait()
            assert not waiting.done()
            model.go_on.set()
            await waiting

    run(work())


def test_a_compression_is_cancelled_while_it_waits_for_a_model() -> None:
    async def work() -> None:
        model = Waiting()
        async with await compressing(model) as conversation:
            for _ in range(2):  # to be cancelled once is nothing for the next
                model.asked.clear()
                compression = asyncio.ensure_future(conversation.compress(strategy=STRATEGY))
                await model.asked.wait()
                await conversation.cancel_compression()
                with pytest.raises(undertext.UnavailableError):
                    await compression
            model.go_on.set()
            assert (await conversation.compress(strategy=STRATEGY))["outcome"] == "compressed"

    run(work())


def test_closing_cancels_what_waits_for_a_model() -> None:
    async def work() -> None:
        model = Waiting()
        async with await compressing(model) as conversation:
            compression = asyncio.ensure_future(conversation.compress(strategy=STRATEGY))
            await model.asked.wait()
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(conversation.compress(strategy=STRATEGY), 0.01)
        assert conversation.closed and not model.go_on.is_set()
        with pytest.raises(undertext.UnavailableError):
            await compression
        await conversation.close()

    run(work())


def test_what_a_coroutine_raises_is_raised_where_the_call_is_awaited() -> None:
    async def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        raise TimeoutError("the model did not answer")

    async def work() -> None:
        async with aio.open(summarisers={"model": write}) as conversation:
            await conversation.append(TALK)
            with pytest.raises(TimeoutError, match="^the model did not answer$"):
                await conversation.compress(strategy=STRATEGY)
            assert conversation.version == 1

    run(work())


@pytest.mark.parametrize("count", [-1, 1.5, "x", 2**70, True, float("nan")])
def test_a_cost_that_is_no_number_of_tokens_is_refused_by_its_name(count: Any) -> None:
    async def write(*asked: object) -> Dict[str, Any]:
        return {"text": "they talked", "completionTokens": count}

    async def work() -> None:
        async with await compressing(write) as conversation:
            with pytest.raises(
                undertext.InvalidArgumentError, match="completionTokens must be"
            ) as caught:
                await conversation.compress(strategy=STRATEGY)
            assert caught.value.field == "completionTokens"
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
