"""asyncio, and models behind HTTP that the library asks by itself: nobody waits for them but who asked."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Callable, Coroutine, Dict, Iterator, List, TypeVar

import pytest

import undertext
from undertext import aio

T = TypeVar("T")
SERVER = Path(__file__).resolve().parents[3] / "tests" / "endpoint" / "fault_server.py"
TALK = [
    {
        "role": "user",
        "content": f"message {i} of some length, so that there is something to be made shorter here",
    }
    for i in range(6)
]
BY_A_MODEL = {"name": "smart_summary", "keep": 1, "summariser": "model"}


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 60))


class Endpoint:
    """Answers once it is released; says when it was asked."""

    def __init__(self, port: str) -> None:
        self.url = f"http://127.0.0.1:{port}"

    async def ask(self, path: str) -> None:
        await asyncio.to_thread(lambda: urllib.request.urlopen(self.url + path, timeout=30).read())

    def settings(self, scene: str) -> Dict[str, Any]:
        return {
            "summarisers": {
                "model": {"kind": "openai", "baseUrl": f"{self.url}/v1", "model": scene}
            }
        }


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with subprocess.Popen(
        [sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield Endpoint(server.stdout.readline().split()[1])


def opened(endpoint: Endpoint, scene: str = "wait-for-release", **more: Any) -> Any:
    try:
        undertext.open(settings=endpoint.settings(scene)).close()
    except undertext.UnsupportedError:
        pytest.skip("built without libcurl")
    return aio.open(settings=endpoint.settings(scene), **more)


STRATEGIES: List[Dict[str, Any]] = [
    BY_A_MODEL,
    {"name": "pipeline", "steps": [{"name": "clear_tool_results"}, BY_A_MODEL]},
]


def by_compress(
    conversation: aio.Conversation, strategy: Dict[str, Any]
) -> Coroutine[Any, Any, Any]:
    return conversation.compress(strategy=strategy)


def by_apply(conversation: aio.Conversation, strategy: Dict[str, Any]) -> Coroutine[Any, Any, Any]:
    return conversation.apply({"operation": "COMPRESS", "strategy": strategy})


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("asked", [by_compress, by_apply])
@pytest.mark.parametrize("forked", [False, True])
def test_calls_do_not_wait_for_an_endpoint(
    endpoint: Endpoint,
    strategy: Dict[str, Any],
    asked: Callable[..., Coroutine[Any, Any, Any]],
    forked: bool,
) -> None:
    async def work() -> None:
        async with opened(endpoint) as original:
            await original.append(TALK)
            async with await original.fork() if forked else original as conversation:
                compression = asyncio.ensure_future(asked(conversation, strategy))
                assert await conversation.append({"role": "user", "content": "after"}) == 2
                await endpoint.ask("/wait/1")
                assert not compression.done()
                await endpoint.ask("/release")
                answer = await compression
                assert (answer["outcome"], answer["version"]) == ("compressed", 3)

    run(work())


def test_a_compression_by_an_endpoint_is_of_the_version_of_its_turn(endpoint: Endpoint) -> None:
    async def work() -> None:
        for _ in range(20):
            async with opened(endpoint, "ok") as conversation:
                await conversation.append(TALK)
                compression = asyncio.ensure_future(conversation.compress(strategy=BY_A_MODEL))
                later = [
                    conversation.append({"role": "user", "content": f"after {i}"}) for i in range(3)
                ]
                receipt = (await compression)["receipt"]
                await asyncio.gather(*later)
                assert receipt["ordinals"] == [0, 1, 2, 3, 4]
                assert [m["content"] for m in await conversation.messages(last=4)] == [
                    TALK[5]["content"],
                    "after 0",
                    "after 1",
                    "after 2",
                ]

    run(work())


def told_of(error: undertext.UndertextError) -> Dict[str, Any]:
    return {**error.error, "words": (type(error), error.message, error.field, error.path)}


def test_an_endpoint_answers_asyncio_as_it_answers_others(endpoint: Endpoint) -> None:
    talk = TALK * 3

    def told(answer: Dict[str, Any]) -> Dict[str, Any]:
        """Without the times, which differ."""
        return {**answer, "receipt": {**answer["receipt"], "timestamp": 0}}

    def at_once(asked: Dict[str, Any]) -> List[Any]:
        with undertext.open(settings=endpoint.settings("ok")) as conversation:
            conversation.append(talk)
            try:
                return [told({**conversation.apply(asked)}), conversation.messages()]
            except undertext.UndertextError as error:
                return [told_of(error), conversation.messages()]

    async def later(asked: Dict[str, Any]) -> List[Any]:
        async with opened(endpoint, "ok") as conversation:
            await conversation.append(talk)
            try:
                return [told(await conversation.apply(asked)), await conversation.messages()]
            except undertext.UndertextError as error:
                return [told_of(error), await conversation.messages()]

    outcomes = set()
    wrong = [
        {**BY_A_MODEL, "keep": "x"},
        {**BY_A_MODEL, "summariser": "nobody"},
        {"name": "pipeline", "steps": [{"name": "keep_recent", "n": "x"}, BY_A_MODEL]},
    ]
    for strategy in [
        *STRATEGIES,
        *wrong,
        {"name": "pipeline", "steps": [BY_A_MODEL, {"name": "pipeline", "steps": [{"n": 1}]}]},
    ]:
        for aim in ({}, {"targetTokens": 200}, {"targetTokens": 30}):
            asked = {"operation": "COMPRESS", "strategy": strategy, **aim}
            answer = at_once(asked)
            assert run(later(asked)) == answer
            outcomes.add(answer[0].get("outcome", answer[0].get("code")))
    assert outcomes == {"compressed", "cannot_fit", "invalid_argument"}


def test_a_model_is_asked_once(endpoint: Endpoint) -> None:
    async def work() -> None:
        async with opened(endpoint, "ok") as conversation:
            await conversation.append(TALK)
            await conversation.compress(strategy=BY_A_MODEL)
            asked = await asyncio.to_thread(
                lambda: urllib.request.urlopen(endpoint.url + "/count", timeout=30).read()
            )
            assert int(asked) == 1

    run(work())


def test_what_waits_for_an_endpoint_is_cancelled_with_its_conversation(endpoint: Endpoint) -> None:
    async def work() -> None:
        async with opened(endpoint) as conversation:
            await conversation.append(TALK)
            compression = asyncio.ensure_future(conversation.compress(strategy=BY_A_MODEL))
            await endpoint.ask("/wait/1")
            await conversation.cancel_compression()
            with pytest.raises(undertext.UnavailableError):
                await compression
            compression = asyncio.ensure_future(conversation.compress(strategy=BY_A_MODEL))
            await endpoint.ask("/wait/2")
        assert conversation.closed
        with pytest.raises(undertext.UnavailableError):
            await compression
        assert conversation._sync.closed

    run(work())


def test_code_of_ones_own_keeps_its_turn_beside_an_endpoint(endpoint: Endpoint) -> None:
    async def work() -> None:
        quick = undertext.quick(lambda *asked: "they talked")
        async with opened(endpoint, summarisers={"mine": quick}) as conversation:
            await conversation.append(TALK)
            answer = await conversation.fit(
                budget={"window": 100}, strategy={**BY_A_MODEL, "summariser": "mine"}
            )
            assert answer["outcome"] == "fits_after"
            with pytest.raises(undertext.InvalidArgumentError) as caught:
                await conversation.compress(strategy={**BY_A_MODEL, "summariser": "nobody"})
            assert caught.value.field == "summariser"

    run(work())
