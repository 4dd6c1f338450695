"""What cannot be meant is refused where it is said, by a typed error that names it."""

from __future__ import annotations

import asyncio
import io
import pickle
from typing import Any, Callable, Dict, List, Tuple, cast

import pytest

import undertext
from undertext import aio
from undertext.sdk import (
    ConversationManager,
    EngineStrategy,
    MessageArrayManager,
    PipelineStrategy,
    SmartSummaryStrategy,
    get_current_batch_indices,
)

SAID = {"role": "user", "content": "x"}


def opened() -> undertext.Conversation:
    conversation = undertext.open()
    conversation.append([SAID, SAID])
    return conversation


async def awaited(*_: object) -> None:
    pass


class Awaited:
    async def __call__(self, *_: object) -> None:
        pass


NO_FUNCTIONS: Dict[str, Any] = {
    "a number": 5,
    "a coroutine function": awaited,
    "an object with one": Awaited(),
    "nothing": None,
}


@pytest.mark.parametrize("code", NO_FUNCTIONS.values(), ids=NO_FUNCTIONS.keys())
def test_what_is_no_function_is_refused_at_once(code: Any) -> None:
    calls: Dict[str, Callable[[], object]] = {
        "strategies": lambda: undertext.open(strategies={"mine": code}),
        "summarisers": lambda: undertext.open(summarisers={"mine": code}),
        "receive": lambda: undertext.open().subscribe(code),
        "listener": lambda: ConversationManager().on("MESSAGE_ADDED", code),
    }
    if code is not None:
        calls["summariser"] = lambda: SmartSummaryStrategy(code)
        calls["function"] = lambda: opened().transform(code, indices=[0])
    for field, call in calls.items():
        with pytest.raises(undertext.InvalidArgumentError) as caught:
            call()
        assert caught.value.field == field


@pytest.mark.parametrize(
    "code",
    [[len], [], 5, {5: len}],
    ids=["a list", "an empty list", "a number", "a name that is no str"],
)
def test_code_is_given_by_its_names(code: Any) -> None:
    for kind in ("strategies", "summarisers"):
        with pytest.raises(undertext.InvalidArgumentError) as caught:
            undertext.open(**{kind: code})
        assert caught.value.field == kind


@pytest.mark.parametrize("name", ["of the call", "of the call, number 2"])
def test_no_code_takes_the_name_of_what_a_call_brings(name: str) -> None:
    endpoint = {"kind": "openai", "baseUrl": "http://127.0.0.1:1/v1", "model": "m"}
    for call in (
        lambda: undertext.open(strategies={name: lambda *_: None}),
        lambda: undertext.open(summarisers={name: lambda *_: "x"}),
        lambda: undertext.open(settings={"summarisers": {name: endpoint}}),
        lambda: EngineStrategy(
            {"name": "smart_summary", "summariser": name}, {name: lambda *_: "x"}
        ),
    ):
        with pytest.raises(undertext.InvalidArgumentError, match="choose another name") as caught:
            call()
        assert caught.value.field == "name"


def test_a_coroutine_function_that_nobody_would_await_is_no_subscriber_of_asyncio_either() -> None:
    async def work() -> None:
        async with aio.open() as conversation:
            with pytest.raises(undertext.InvalidArgumentError) as caught:
                await conversation.subscribe(awaited)
            assert caught.value.field == "receive"
            with pytest.raises(undertext.InvalidArgumentError):
                await aio.open(strategies={"mine": 5})  # type: ignore[dict-item]
            with pytest.raises(undertext.InvalidArgumentError):
                await aio.open(summarisers=[len])  # type: ignore[arg-type]

    asyncio.run(work())


def test_an_argument_cannot_take_the_place_of_the_operation_or_query() -> None:
    conversation = opened()
    says: Any = conversation
    calls: List[Tuple[str, Callable[[], object]]] = [
        ("operation", lambda: says.truncate(operation="CLEAR")),
        ("query", lambda: says.messages(query="state")),
        ("query", lambda: says.count(query="stats")),
        ("query", lambda: conversation.query("messages", query="stats")),
        ("query", lambda: conversation.view().query("messages", query="stats")),
        ("keepLast", lambda: says.truncate(keep_last=1, keepLast=2)),
        ("requestId", lambda: says.report_usage("r", prompt=1, requestId="s")),
    ]
    for field, call in calls:
        with pytest.raises(undertext.InvalidArgumentError) as caught:
            call()
        assert caught.value.field == field
    assert conversation.version == 1


@pytest.mark.parametrize("operation", [{"query": "stats"}, [{"operation": "CLEAR"}], None, "CLEAR"])
def test_what_is_no_operation_is_refused_by_the_documents_classes(operation: Any) -> None:
    for manager in (MessageArrayManager([SAID]), ConversationManager(initial_messages=[SAID])):
        with pytest.raises(undertext.InvalidArgumentError) as caught:
            manager.execute(operation)
        assert caught.value.field == "operation"
        assert manager.conversation.version == 1


@pytest.mark.parametrize("operations", [None, {"operation": "CLEAR"}, 5])
def test_a_list_of_operations_is_one(operations: Any) -> None:
    with pytest.raises(undertext.InvalidArgumentError) as caught:
        opened().apply_all(operations)
    assert caught.value.field == "operations"


def cycle() -> Dict[str, Any]:
    value: Dict[str, Any] = {}
    value["a"] = value
    return value


def deep() -> Any:
    value: Any = {}
    for _ in range(5000):
        value = {"a": value}
    return value


PAYLOADS = {
    "NaN": {"a": float("nan")},
    "a set": {"a": {1}},
    "a cycle": cycle(),
    "deep nesting": deep(),
    "a lone surrogate": {"messages": [{"role": "user", "content": "\ud800"}]},
    "nothing": None,
}


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_a_payload_that_is_no_json_is_refused(payload: Any) -> None:
    for call in (
        lambda: undertext.import_messages("anthropic", payload),
        lambda: undertext.validate_request(payload, "anthropic"),
        lambda: undertext.import_after(opened().view(), payload, "anthropic"),
        lambda: undertext.Stream("openai_chat").feed(payload),
    ):
        with pytest.raises(undertext.InvalidArgumentError):
            call()


def test_a_payload_is_text_or_what_it_was_read_into() -> None:
    payload: Dict[str, Any] = {"messages": [{"role": "user", "content": "ü"}]}
    for given in (
        payload,
        '{"messages":[{"role":"user","content":"ü"}]}',
        '{"messages":[{"role":"user","content":"ü"}]}'.encode(),
    ):
        assert undertext.import_messages("openai_chat", given)["messages"] == [
            {"role": "user", "content": "ü"}
        ]


def test_an_error_is_the_same_when_it_was_pickled() -> None:
    for error in (
        undertext.InvalidArgumentError("made here", field="a", path="b.a"),
        raised(lambda: opened().append({**SAID, "n": [{1}]})),
        raised(lambda: opened().append({"role": "nobody"})),
    ):
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is type(error)
        assert (back.message, back.code, back.field, back.path, back.error) == (
            error.message,
            error.code,
            error.field,
            error.path,
            error.error,
        )
        assert back.field is not None


def raised(call: Callable[[], object]) -> undertext.UndertextError:
    with pytest.raises(undertext.UndertextError) as caught:
        call()
    return caught.value


def test_the_steps_of_a_pipeline_are_strategies() -> None:
    steps: Any = ["sliding_window"]
    with pytest.raises(undertext.InvalidArgumentError) as caught:
        PipelineStrategy(steps)
    assert caught.value.field == "steps"


def test_none_in_the_place_of_a_text_is_refused() -> None:
    store, no, conversation = undertext.Store("memory:"), cast(Any, None), opened()
    for call in (
        lambda: undertext.Store(no),
        lambda: store.open(no),
        lambda: store.list(after=no),
        lambda: store.purge(no, who="me"),
        lambda: store.check(no),
        lambda: store.settings(no),
        lambda: store.export(no, io.BytesIO()),
        lambda: store.import_(no, io.BytesIO()),
        lambda: conversation.set_tokenizer(no),
        lambda: conversation.fork(id=no),
        lambda: conversation.import_mark_map(no),
        lambda: undertext.count_tokens(no, "x"),
        lambda: undertext.Stream(no),
    ):
        with pytest.raises(undertext.InvalidArgumentError):
            call()


def test_a_page_of_conversations_has_at_most_a_thousand() -> None:
    for limit in (0, 1001, 1 << 40):
        assert raised(lambda: undertext.Store("memory:").list(limit=limit)).field == "limit"


@pytest.mark.parametrize("indices", [None, 5, ["a"], "ab"])
def test_the_indices_of_a_mark_map_are_numbers(indices: Any) -> None:
    mark_map: Any = {**opened().mark_map(), "originalIndices": indices}
    assert raised(lambda: get_current_batch_indices(mark_map)).field == "originalIndices"
    del mark_map["originalIndices"]
    assert raised(lambda: get_current_batch_indices(mark_map)).field == "originalIndices"
