"""undertext.langgraph as a checkpointer: what LangGraph asks of one, and what is kept."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, AsyncIterator, Dict, Iterator, List

import pytest
from checkpoints import log_length, place, put, values
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

import undertext
from undertext.langgraph import UndertextSaver


@pytest.fixture
def saver(url: str) -> Iterator[UndertextSaver]:
    with UndertextSaver.from_url(url) as opened:
        yield opened


def test_from_url_takes_what_a_store_takes() -> None:
    taken = inspect.signature(UndertextSaver.from_url).parameters
    of_store = inspect.signature(undertext.Store).parameters
    assert [str(taken[name]) for name in of_store] == [
        str(parameter) for parameter in of_store.values()
    ]
    assert [*taken] == ["url", "serde", *list(of_store)[1:]]
    assert inspect.getdoc(UndertextSaver.from_url)


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
def test_the_published_conformance_suite_passes_in_every_capability(
    tmp_path: Path, kind: str
) -> None:
    numbers = itertools.count()

    @checkpointer_test(name=f"undertext {kind}")
    async def made() -> AsyncIterator[UndertextSaver]:
        with UndertextSaver.from_url(
            f"sqlite:{tmp_path / str(next(numbers))}" if kind == "sqlite" else "memory:"
        ) as opened:
            yield opened

    report = asyncio.run(validate(made))
    assert {
        name: result.failures for name, result in report.results.items() if result.failures
    } == {}
    assert {name for name, result in report.results.items() if result.passed} == {
        capability.value for capability in Capability
    }


def test_a_growing_list_stores_each_message_once_and_every_checkpoint_has_its_own(
    saver: UndertextSaver, url: str
) -> None:
    messages = [HumanMessage(f"message {i}", id=str(i)) for i in range(40)]
    configs = [place()]
    for n in range(1, 41):
        configs.append(put(saver, configs[-1], n, messages=messages[:n], step=n))
    assert log_length(url, "langgraph.t.0.messages") == 40
    for n in range(1, 41):
        assert values(saver, configs[n]) == {"messages": messages[:n], "step": n}


def test_the_messages_of_a_thread_are_a_conversation_to_look_at(
    saver: UndertextSaver, url: str
) -> None:
    call = {"name": "search", "args": {}, "id": "c", "type": "tool_call"}
    put(
        saver,
        place("order 66"),
        1,
        messages=[
            HumanMessage("Where?"),
            AIMessage("", tool_calls=[call]),
            ToolMessage("Lyon", tool_call_id="c"),
        ],
    )
    with undertext.open(url, "langgraph.order_2066.0.messages", make="never") as conversation:
        assert [message["role"] for message in conversation.messages()] == [
            "user",
            "assistant",
            "tool",
        ]
        assert conversation.count(role="tool")["tokens"] > 0


def test_lists_that_are_cut_edited_and_replaced_come_back_and_share_what_they_can(
    saver: UndertextSaver, url: str
) -> None:
    long: List[AnyMessage] = [HumanMessage(f"message {i}", id=str(i)) for i in range(20)]
    lists: List[List[AnyMessage]] = [
        long,
        [AIMessage("summary"), *long[15:]],
        [AIMessage("summary"), long[15], HumanMessage("edited", id="16"), *long[17:]],
        [*long[:3]],
        [HumanMessage("all new")],
        [*long, HumanMessage("on top")],
    ]
    configs = [place()]
    for n, messages in enumerate(lists, 1):
        configs.append(put(saver, configs[-1], n, messages=messages))
    for n, messages in enumerate(lists, 1):
        assert values(saver, configs[n])["messages"] == messages
    assert log_length(url, "langgraph.t.0.messages") == 20 + 1 + 1 + 0 + 1 + 1  # each message once


small_lists = st.lists(
    st.sampled_from([HumanMessage(word, id=word) for word in "abcde"]), max_size=8
)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 5), small_lists), max_size=8))
def test_random_branches_of_random_lists_come_back(steps: List[Any]) -> None:
    with UndertextSaver.from_url("memory:") as saver:
        configs, expected = [place()], {}
        for n, (back, messages) in enumerate(steps):
            config = put(saver, configs[max(0, len(configs) - 1 - back)], n, messages=messages)
            configs.append(config)
            expected[config["configurable"]["checkpoint_id"]] = messages
        assert {id: values(saver, place(id=id))["messages"] for id in expected} == expected


def test_a_message_changed_in_place_is_a_new_message(saver: UndertextSaver) -> None:
    message = AIMessage("before", additional_kwargs={"list": [1]})
    first = put(saver, place(), 1, messages=[message])
    message.content = "after"
    message.additional_kwargs["list"].append(2)
    second = put(saver, first, 2, messages=[message])
    assert values(saver, first)["messages"] == [
        AIMessage("before", additional_kwargs={"list": [1]})
    ]
    assert values(saver, second)["messages"] == [message]


def test_whoever_changes_what_was_read_changes_nothing_that_is_stored(
    saver: UndertextSaver,
) -> None:
    config = put(saver, place(), 1, messages=[HumanMessage("as it was")], data={"a": [1]})
    read = values(saver, config)
    read["messages"][0].content = "changed"
    read["data"]["a"].append(2)
    assert values(saver, config) == {"messages": [HumanMessage("as it was")], "data": {"a": [1]}}


def test_values_beyond_json_come_back_through_the_serializer(saver: UndertextSaver) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    odd = {
        "deep": deep,
        "tuple": (1, 2),
        "set": {1, 2},
        "bytes": b"\x00\xff",
        "infinite": float("inf"),
        "keys": {1: "a"},
        "nested": [[[{"a": (1,)}]]],
        "kwargs": [
            HumanMessage("x", additional_kwargs={"a": {"b": {3}}, "deep": deep}),
            HumanMessage("plain"),
        ],
        "broken": [HumanMessage("lone \ud83d", id="s")],
        "mixed": [HumanMessage("x"), "and a string"],
        "none": [],
    }
    memory = InMemorySaver()
    assert values(saver, put(saver, place(), 1, **odd)) == values(
        memory, put(memory, place(), 1, **odd)
    )


def test_what_the_serializer_refuses_is_refused_and_nothing_is_kept(saver: UndertextSaver) -> None:
    with pytest.raises(TypeError):
        put(saver, place(), 1, value=threading.Lock())
    assert saver.get_tuple(place()) is None
    first = put(saver, place(), 1, messages=[HumanMessage("one")])
    with pytest.raises(TypeError):
        put(
            saver,
            first,
            2,
            messages=[HumanMessage("one"), HumanMessage("lost")],
            value=threading.Lock(),
        )
    assert values(saver, place()) == {"messages": [HumanMessage("one")]}
    second = put(saver, first, 2, messages=[HumanMessage("one"), HumanMessage("two")])
    assert values(saver, second) == {"messages": [HumanMessage("one"), HumanMessage("two")]}


def test_an_encrypting_serializer_leaves_no_plain_text(tmp_path: Path) -> None:
    class Reversing:
        """Stands for a cipher: what matters here is who is asked."""

        def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
            return "reversing", plaintext[::-1]

        def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
            return ciphertext[::-1]

    with UndertextSaver.from_url(
        f"sqlite:{tmp_path / 'a.db'}", serde=EncryptedSerializer(Reversing())
    ) as saver:
        config = put(
            saver,
            place(),
            1,
            messages=[HumanMessage("attack at dawn")],
            plan="attack at noon",
            metadata={"source": "loop", "why": "attack at nine"},
        )
        saver.put_writes(config, [("messages", "attack at five")], "task")
        found = saver.get_tuple(config)
        assert found is not None and found.checkpoint["channel_values"] == {
            "messages": [HumanMessage("attack at dawn")],
            "plan": "attack at noon",
        }
        assert found.pending_writes == [("task", "messages", "attack at five")]
    assert not any(b"attack" in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "thread", ["a/b", "Ünïcode 話", "." * 3, "x" * 500, "y" * 499 + "x", "a.b", "a_2eb", "", 7]
)
def test_a_thread_may_have_any_id(saver: UndertextSaver, thread: Any) -> None:
    for other in ("a/b", "a.b", "x" * 500, "t"):
        put(saver, place(other), 1, value=f"of {other}")
    put(saver, place(thread, ns="sub:" + "n" * 300), 1, messages=[HumanMessage("sub")])
    config = put(saver, place(thread), 1, value="mine")
    assert config["configurable"]["thread_id"] == thread
    assert values(saver, place(thread)) == {"value": "mine"}
    assert values(saver, place(thread, ns="sub:" + "n" * 300)) == {
        "messages": [HumanMessage("sub")]
    }
    assert {found.config["configurable"]["thread_id"] for found in saver.list(None)} == {
        "a/b",
        "a.b",
        "x" * 500,
        "t",
        str(thread),
    }


def test_a_deleted_thread_is_gone_and_may_begin_anew(
    saver: UndertextSaver, url: str, tmp_path: Path
) -> None:
    with UndertextSaver.from_url(url) as other:
        for round in range(3):
            assert saver.get_tuple(place()) is None
            put(saver, place(), 1, messages=[HumanMessage(f"secret {round}")])
            assert values(other, place())["messages"] == [HumanMessage(f"secret {round}")]
            saver.delete_thread("t")
            assert other.get_tuple(place()) is None
            # One that had it open goes on where it begins anew.
            put(other, place(), 1, messages=[HumanMessage("again")])
            assert values(saver, place())["messages"] == [HumanMessage("again")]
            other.delete_thread("t")
    assert not list(saver.list(None))


def test_pruning_takes_bytes_away_and_leaves_what_the_latest_needs(
    saver: UndertextSaver, url: str
) -> None:
    first = put(
        saver,
        place(),
        1,
        messages=[HumanMessage("old words"), HumanMessage("kept words")],
        data="old data",
        big="big data",
    )
    saver.put_writes(first, [("data", "old write")], "task")
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {
        "messages": [HumanMessage("kept words")],
        "data": "new data",
        "big": "big data",
    }
    checkpoint["channel_versions"] = {"messages": 2, "data": 2, "big": 1}
    second = saver.put(first, checkpoint, {"source": "loop", "step": 2}, {"messages": 2, "data": 2})
    saver.prune(["t"])
    assert [found.config for found in saver.list(place())] == [second]
    assert values(saver, second) == checkpoint["channel_values"]
    with undertext.Store(url) as store:
        texts = [
            str(store.open(entry["conversation"]).query("messages", all=True)) for entry in store
        ]
    assert not any("old words" in text or "old write" in text for text in texts)
    assert values(
        saver, put(saver, second, 3, messages=[HumanMessage("kept words"), HumanMessage("more")])
    ) == {"messages": [HumanMessage("kept words"), HumanMessage("more")]}


def test_pruning_keeps_the_ancestors_that_a_delta_channel_is_put_together_from(
    saver: UndertextSaver,
) -> None:
    counters = {"counters_since_delta_snapshot": {"log": [1, 1]}}
    first = put(saver, place(), 1, other=1)
    snapshot = put(saver, first, 2, log=["a"])
    saver.put_writes(snapshot, [("log", "b")], "task")
    between = put(saver, snapshot, 3, {"source": "loop", **counters}, other=3)
    saver.put_writes(between, [("log", "c")], "task")
    latest = put(saver, between, 4, {"source": "loop", **counters}, other=4)
    saver.prune(["t"])
    assert [found.config for found in saver.list(place())] == [latest, between, snapshot]
    history = saver.get_delta_channel_history(config=latest, channels=["log"])["log"]
    assert history["seed"] == ["a"]
    assert [write[2] for write in history["writes"]] == ["b", "c"]


def test_deleting_runs_leaves_lists_that_other_runs_share(saver: UndertextSaver, url: str) -> None:
    a = put(
        saver, place(), 1, {"source": "loop", "run_id": "one"}, messages=[HumanMessage("first")]
    )
    b = put(
        saver,
        a,
        2,
        {"source": "loop", "run_id": "two"},
        messages=[HumanMessage("first"), HumanMessage("second")],
    )
    c = put(
        saver,
        b,
        3,
        {"source": "loop", "run_id": "one"},
        messages=[HumanMessage("first"), HumanMessage("second"), HumanMessage("third")],
    )
    saver.delete_for_runs(["one"])
    assert saver.get_tuple(a) is None and saver.get_tuple(c) is None
    assert values(saver, b)["messages"] == [HumanMessage("first"), HumanMessage("second")]
    with undertext.open(url, "langgraph.t.0.messages") as conversation:
        assert "third" not in str(conversation.query("messages", all=True))


def test_what_was_deleted_may_be_put_again(saver: UndertextSaver, url: str) -> None:
    messages = [HumanMessage("first"), HumanMessage("second")]
    put(saver, place(), 1, {"source": "loop", "run_id": "one"}, messages=messages)
    with UndertextSaver.from_url(url) as other:
        assert values(other, place()) == {"messages": messages}
        other.delete_for_runs(["one"])
    for each in (1, 2):  # the second shares the list of the first
        assert values(saver, put(saver, place(), each, messages=messages)) == {"messages": messages}
    assert log_length(url, "langgraph.t.0.messages") == 4


def test_a_value_that_is_given_as_new_is_stored_whatever_its_version(saver: UndertextSaver) -> None:
    first = put(saver, place(), 1, value="first")
    second = put(saver, first, 1, value="second")
    assert [values(saver, config)["value"] for config in (first, second)] == ["first", "second"]


def test_a_copy_outlives_its_source(saver: UndertextSaver, url: str) -> None:
    config = place()
    for n in range(1, 6):
        config = put(saver, config, n, messages=[HumanMessage(str(i)) for i in range(n)], data=n)
        saver.put_writes(config, [("data", n)], f"task {n}", "path")
    before = [found._replace(config={}, parent_config={}) for found in saver.list(place())]
    saver.copy_thread("t", "copy")
    saver.delete_thread("t")
    assert [
        found._replace(config={}, parent_config={}) for found in saver.list(place("copy"))
    ] == before
    assert log_length(url, "langgraph.copy.0.messages") == 5


def test_a_task_that_runs_again_writes_once_and_news_replace(saver: UndertextSaver) -> None:
    memory = InMemorySaver()
    for each in (saver, memory):
        config = put(each, place(), 1)
        for value in ("first", "second"):
            each.put_writes(
                config,
                [("channel", value), ("__error__", value), ("__interrupt__", value)],
                "task b",
                "2",
            )
        each.put_writes(config, [("channel", "other")], "task a", "3")
    mine, theirs = saver.get_tuple(place()), memory.get_tuple(place())
    assert mine is not None and theirs is not None and mine.pending_writes == theirs.pending_writes


def test_writes_may_come_before_their_checkpoint(saver: UndertextSaver) -> None:
    checkpoint = empty_checkpoint()
    saver.put_writes(place(id=checkpoint["id"]), [("channel", "early")], "task")
    assert saver.get_tuple(place()) is None
    saver.put(place(), checkpoint, {"source": "loop"}, {})
    found = saver.get_tuple(place())
    assert found is not None and found.pending_writes == [("task", "channel", "early")]


def test_a_clone_with_an_allowlist_uses_its_own_serializer(saver: UndertextSaver) -> None:
    clone = saver.with_allowlist([("decimal", "Decimal")])
    config = put(
        clone, place(), 1, value=(1, 2), messages=[HumanMessage("x", additional_kwargs={"a": (1,)})]
    )
    assert values(clone, config) == values(saver, config)


# Several writers


def test_writers_at_the_same_time_lose_nothing(url: str) -> None:
    def write(name: str, failures: List[BaseException]) -> None:
        try:
            with UndertextSaver.from_url(url) as mine:
                config = start
                for n in range(10):
                    config = put(
                        mine,
                        config,
                        n + 2,
                        messages=[
                            HumanMessage("start"),
                            *(HumanMessage(f"{name} {i}") for i in range(n + 1)),
                        ],
                    )
                    mine.put_writes(config, [("channel", name)], f"task {name}")
        except BaseException as error:  # noqa: B036 - told by the test
            failures.append(error)

    with UndertextSaver.from_url(url) as saver:
        start = put(saver, place(), 1, messages=[HumanMessage("start")])
        failures: List[BaseException] = []
        writers = [threading.Thread(target=write, args=(name, failures)) for name in "abcd"]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert failures == []
        found = list(saver.list(place()))
        assert len(found) == 41
        for name in "abcd":
            theirs = [
                each for each in found if f"{name} 0" in str(each.checkpoint["channel_values"])
            ]
            assert sorted(
                len(each.checkpoint["channel_values"]["messages"]) for each in theirs
            ) == list(range(2, 12))
            assert all(
                each.pending_writes == [(f"task {name}", "channel", name)] for each in theirs
            )
            longest = max(
                theirs, key=lambda each: len(each.checkpoint["channel_values"]["messages"])
            )
            assert [
                message.content for message in longest.checkpoint["channel_values"]["messages"]
            ] == ["start", *(f"{name} {i}" for i in range(10))]


def test_a_store_that_refuses_says_so_with_a_typed_error(url: str) -> None:
    with UndertextSaver.from_url(url) as saver:
        config = put(saver, place(), 1, value=1)
    with UndertextSaver.from_url(url, read_only=True) as reading:
        assert values(reading, config) == {"value": 1}
        with pytest.raises(undertext.UndertextError):
            put(reading, config, 2, value=2)
        assert values(reading, place()) == {"value": 1}


WRITING = """
import sys
sys.path.insert(0, sys.argv[2])
from checkpoints import place, put
from langchain_core.messages import HumanMessage
from undertext.langgraph import UndertextSaver
with UndertextSaver.from_url(sys.argv[1]) as saver:
    latest = saver.get_tuple(place())
    config, messages = (latest.config, latest.checkpoint["channel_values"]["messages"]) if latest else (place(), [])
    while True:
        messages = [*messages, HumanMessage(str(len(messages)))]
        config = put(saver, config, len(messages), messages=messages, count=len(messages))
        print(len(messages), flush=True)
"""


def test_a_process_that_is_killed_leaves_whole_checkpoints_and_all_that_it_told(url: str) -> None:
    told = 0
    for steps in (1, 2, 3, 5, 8):
        with subprocess.Popen(
            [sys.executable, "-c", WRITING, url, os.path.dirname(__file__)],
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdout is not None
            for _ in range(steps):
                told = int(writer.stdout.readline())
            writer.kill()
        with UndertextSaver.from_url(url) as saver:
            found = [each.checkpoint["channel_values"] for each in saver.list(place())]
        assert len(found) >= told
        for count, each in enumerate(reversed(found), 1):
            assert each == {
                "messages": [HumanMessage(str(i)) for i in range(count)],
                "count": count,
            }


def size_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_growing_thread_takes_a_fraction_of_the_space(tmp_path: Path) -> None:
    def grow(saver: BaseCheckpointSaver[Any], messages: int) -> None:
        config, so_far = place(), []  # type: ignore[var-annotated]
        for n in range(messages):
            so_far = [*so_far, HumanMessage(f"{n} " + "words " * 100, id=str(n))]
            config = put(saver, config, n + 1, messages=so_far)

    sizes: Dict[int, List[int]] = {}
    for messages in (50, 200):
        mine, theirs = tmp_path / f"mine{messages}", tmp_path / f"theirs{messages}"
        mine.mkdir()
        theirs.mkdir()
        with UndertextSaver.from_url(f"sqlite:{mine / 'a.db'}") as saver:
            grow(saver, messages)
        with SqliteSaver.from_conn_string(str(theirs / "a.db")) as other:
            grow(other, messages)
        sizes[messages] = [size_bytes(mine), size_bytes(theirs)]
    assert sizes[200][0] * 10 < sizes[200][1], sizes
    assert sizes[200][0] < sizes[50][0] * 6, sizes  # four times as many checkpoints
