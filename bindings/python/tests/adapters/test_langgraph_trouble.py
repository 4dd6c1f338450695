"""undertext.langgraph where things go wrong: values that Python cannot tell apart, threads that are deleted while others write, versions that were pruned, a store that is busy."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Iterator, List

import pytest
from checkpoints import log_length, place, put, values
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

import undertext
from undertext.langgraph import UndertextSaver


@pytest.fixture
def saver(url: str) -> Iterator[UndertextSaver]:
    with UndertextSaver.from_url(url) as opened:
        yield opened


def names(url: str) -> List[str]:
    with undertext.Store(url) as store:
        return [entry["conversation"] for entry in store]


# What is new in a list


@pytest.mark.parametrize(
    ("before", "after"),
    [(1, True), (True, 1), (1, 1.0), (0.0, -0.0), ([0], [False]), ({"n": 1}, {"n": 1.0})],
)
def test_a_value_of_another_type_that_python_calls_equal_is_a_change(
    saver: UndertextSaver, before: Any, after: Any
) -> None:
    def said(value: Any) -> List[AnyMessage]:
        call = {"name": "set", "args": {"to": value}, "id": "c", "type": "tool_call"}
        return [
            HumanMessage("a", additional_kwargs={"to": value}),
            AIMessage("", tool_calls=[call]),
            ToolMessage("r", tool_call_id="c", artifact=value),
        ]

    first = put(saver, place(), 1, messages=said(before))
    second = put(saver, first, 2, messages=said(after))
    assert repr(values(saver, first)["messages"]) == repr(said(before))
    assert repr(values(saver, second)["messages"]) == repr(said(after))


@dataclasses.dataclass(eq=False)
class Array:
    """As numpy's arrays are: comparing gives no truth."""

    numbers: List[int]

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of an array is ambiguous")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "odd", [Array([1, 2]), {1: 2}, (1, 2)], ids=["an array", "a number as key", "a tuple"]
)
def test_a_message_that_only_the_serializer_brings_back_is_compared_as_it_is_stored(
    saver: UndertextSaver, url: str, odd: Any
) -> None:
    config, messages = place(), []  # type: ignore[var-annotated]
    for n in range(1, 4):
        messages = [
            *messages,
            ToolMessage(f"r{n}", tool_call_id="c", artifact=odd, additional_kwargs={"odd": odd}),
        ]
        config = put(saver, config, n, messages=messages)
    with UndertextSaver.from_url(url) as other:
        config = put(other, config, 4, messages=[*messages, HumanMessage("more")])
    assert [message.content for message in values(saver, config)["messages"]] == [
        "r1",
        "r2",
        "r3",
        "more",
    ]
    assert log_length(url, "langgraph.t.0.messages") == 4
    memory = InMemorySaver()
    theirs = values(memory, put(memory, place(), 1, messages=messages))["messages"]
    assert repr(values(saver, config)["messages"][:3]) == repr(theirs)


# Deleting while others write


def test_a_put_that_meets_a_deletion_in_its_own_process_begins_the_thread_anew(
    saver: UndertextSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(saver, place(), 1, value="old")
    fetch = saver._threads._thread

    def fetched(id: str, make: bool) -> Any:
        thread = fetch(id, make)
        monkeypatch.undo()
        saver.delete_thread("t")
        return thread

    monkeypatch.setattr(saver._threads, "_thread", fetched)
    put(saver, place(), 1, value="new")
    assert [found.checkpoint["channel_values"] for found in saver.list(place())] == [
        {"value": "new"}
    ]


def test_nothing_stays_of_what_was_put_into_a_list_after_its_thread_was_deleted(
    saver: UndertextSaver, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = put(saver, place(), 1, value="old")
    keep = saver._kept

    def kept(*arguments: Any) -> int:
        monkeypatch.undo()
        with UndertextSaver.from_url(url) as other:
            other.delete_thread("t")
        return keep(*arguments)

    monkeypatch.setattr(saver, "_kept", kept)
    put(saver, first, 2, messages=[HumanMessage("new")])
    assert [found.checkpoint["channel_values"] for found in saver.list(place())] == [
        {"messages": [HumanMessage("new")]}
    ]
    assert names(url) == ["langgraph.t.1", "langgraph.t.1.messages"]


def test_writers_and_deleters_of_one_thread_do_not_fail(saver: UndertextSaver, url: str) -> None:
    failures: List[BaseException] = []

    def try_to(action: Any) -> None:
        try:
            for n in range(1, 21):
                action(n)
        except BaseException as error:  # noqa: B036 - told by the test
            failures.append(error)

    def delete(by: UndertextSaver) -> None:
        while True:
            try:
                return by.delete_thread("t")
            except undertext.UnavailableError:  # others read what is to be overwritten
                continue

    with UndertextSaver.from_url(url) as other:
        actions = [
            lambda n: put(saver, place(), n, messages=[HumanMessage("m")] * n),
            lambda n: put(saver, place(), n, **{f"list{n}": [HumanMessage("m")]}),
            lambda n: put(other, place(), n, messages=[HumanMessage("o")] * n),
            lambda n: saver.get_tuple(place()),
            lambda n: list(saver.list(None)),
            lambda n: delete(saver),
            lambda n: delete(other),
        ]
        threads = [threading.Thread(target=try_to, args=(action,)) for action in actions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    saver.delete_thread("t")
    assert names(url) == []


# What is not there any more


def test_a_checkpoint_whose_messages_were_pruned_says_so_and_the_thread_goes_on_where_it_is(
    saver: UndertextSaver, url: str
) -> None:
    messages = [HumanMessage(str(n)) for n in range(6)]
    configs = [place()]
    for n in range(1, 6):
        configs.append(put(saver, configs[-1], n, messages=messages[:n]))
    with undertext.open(url, "langgraph.t.0.messages", make="never") as conversation:
        conversation.prune_versions(versions=1)
    with UndertextSaver.from_url(url) as other:
        for each in (saver, other):
            with pytest.raises(undertext.NotFoundError, match="pruned"):
                each.get_tuple(configs[1])
            with pytest.raises(undertext.NotFoundError, match="pruned"):
                put(each, configs[1], 2, messages=[*messages[:1], HumanMessage("a branch")])
            assert values(each, place())["messages"] == messages[:5]
        configs.append(put(other, configs[-1], 6, messages=messages))
        assert values(saver, place())["messages"] == messages
        assert names(url) == ["langgraph.t.0", "langgraph.t.0.messages"]
        saver.prune(["t"])
        assert values(other, place())["messages"] == messages
        saver.delete_thread("t")
    assert names(url) == []


HOLDING = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_store_that_was_busy_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with UndertextSaver.from_url(f"sqlite:{path}", patience_ms=1) as saver:
        put(saver, place("other"), 1, value=1)
        for n in (1, 2):
            with subprocess.Popen(
                [sys.executable, "-c", HOLDING, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            ) as other:
                assert other.stdout is not None and other.stdout.readline() == b"held\n"
                with pytest.raises(undertext.UnavailableError):
                    put(saver, place(), n, messages=[HumanMessage(str(n))])
                with pytest.raises(undertext.UnavailableError):
                    saver.delete_thread("other")
                other.communicate()
            assert values(saver, put(saver, place(), n, messages=[HumanMessage(str(n))])) == {
                "messages": [HumanMessage(str(n))]
            }
            assert values(saver, place("other")) == {"value": 1}
        saver.delete_thread("other")
        assert saver.get_tuple(place("other")) is None


# What another program put there


def foreign_records() -> List[Any]:
    """Such as the saver for another language, or a person, may put under the name of a journal."""
    return [
        {
            "role": "system",
            "content": "checkpoint 1",
            "record": {"kind": "checkpoint", "id": "1", "namespace": ""},
        },
        {
            "role": "system",
            "content": "checkpoint 1",
            "langgraph": {"kind": "checkpoint", "id": "1"},
        },
        {"role": "system", "content": "of another day", "langgraph": {"kind": "of another day"}},
        {"role": "user", "content": "hello", "langgraph": "hello"},
        {"role": "user", "content": "hello"},
    ]


@pytest.mark.parametrize("record", foreign_records(), ids=str)
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "later"])
def test_a_journal_with_what_is_no_record_is_refused_and_stays_as_it_is(
    saver: UndertextSaver, url: str, record: Any, is_first: bool
) -> None:
    if not is_first:
        put(saver, place(), 1, {"run_id": "r"}, messages=[HumanMessage("mine")])
    with undertext.Store(url) as store:
        with store.open("langgraph.t.0", settings={"pairs": "grow"}) as journal:
            journal.append(record)

        def state() -> Any:
            return [
                (entry["conversation"], entry["version"], store.settings(entry["conversation"]))
                for entry in store
            ]

        there = state()
        with UndertextSaver.from_url(url) as other:
            for each in (saver, other) if not is_first else (other,):
                for attempt in (
                    lambda: put(each, place(), 1, messages=[HumanMessage("new")]),
                    lambda: each.put_writes(place(id="1"), [("a", 1)], "task"),
                    lambda: each.get_tuple(place()),
                    lambda: list(each.list(None)),
                    lambda: each.delete_for_runs(["r"]),
                    lambda: each.prune(["t"]),
                    lambda: each.copy_thread("t", "copy"),
                ):
                    with pytest.raises(
                        undertext.CorruptError, match=r"langgraph\.t\.0 is no thread"
                    ):
                        attempt()
        if is_first:
            with pytest.raises(undertext.CorruptError, match=r"langgraph\.t\.0 is no thread"):
                saver.delete_thread("t")
            assert state() == there
        else:
            assert [each[:2] for each in state()] == [each[:2] for each in there]
            saver.delete_thread("t")
            assert state() == []


def test_conversations_of_others_whose_names_are_no_threads_are_left_alone(
    saver: UndertextSaver, url: str
) -> None:
    others = ["langgraph.t", "langgraph.t.notes", "langgraph.t.notes.messages", "langgraph.u.plan"]
    with undertext.Store(url) as store:
        for name in others:
            with store.open(name) as conversation:
                conversation.append({"role": "user", "content": "mine"})
    put(saver, place(), 1, {"run_id": "r"}, value=1)
    assert len(list(saver.list(None))) == 1
    saver.delete_for_runs(["r"])
    saver.delete_thread("t")
    assert saver.get_tuple(place("u")) is None
    assert names(url) == others


# What is deleted


def told(url: str) -> List[Any]:
    """All that stands in the list of the thread."""
    with undertext.open(url, "langgraph.t.0.messages", make="never") as conversation:
        return [message["content"] for message in conversation.messages(all=True)]


def test_the_messages_of_deleted_runs_go_also_where_nobody_opened_their_list(
    saver: UndertextSaver, url: str
) -> None:
    put(saver, place(), 1, {"run_id": "r"}, messages=[HumanMessage("secret")])
    put(saver, place(ns="sub"), 1, {"run_id": "r"}, messages=[HumanMessage("secret")])
    with UndertextSaver.from_url(url) as other:
        other.delete_for_runs(["r"])
    with undertext.Store(url) as store:
        lists = [name for name in names(url) if name.count(".") == 3]
        assert len(lists) == 2
        for name in lists:
            with store.open(name, make="never") as conversation:
                assert [message["content"] for message in conversation.messages(all=True)] == [
                    "[redacted]"
                ]


def test_pruning_takes_the_messages_also_where_the_latest_checkpoint_has_none(
    saver: UndertextSaver, url: str
) -> None:
    first = put(saver, place(), 1, messages=[HumanMessage("secret")])
    put(saver, first, 2, value=1)
    with UndertextSaver.from_url(url) as other:
        other.prune(["t"])
    assert told(url) == ["[redacted]"]
    assert values(saver, place()) == {"value": 1}


READING = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN")
other.execute("SELECT count(*) FROM sqlite_master").fetchall()
print("held", flush=True)
sys.stdin.read()
"""


def delete_runs(saver: UndertextSaver) -> None:
    saver.delete_for_runs(["r"])


def prune(saver: UndertextSaver) -> None:
    saver.prune(["t"])


@pytest.mark.parametrize("delete", [delete_runs, prune])
def test_a_deletion_that_others_were_in_the_way_of_is_ended_by_doing_it_again(
    tmp_path: Path, delete: Any
) -> None:
    path = tmp_path / "a.db"

    def is_there() -> bool:
        # In another process: closing a file here would take away the locks that SQLite has on it.
        look = "import pathlib, sys; sys.exit(any(b'secret' in file.read_bytes() for file in pathlib.Path(sys.argv[1]).iterdir()))"
        return subprocess.run([sys.executable, "-c", look, tmp_path], check=False).returncode == 1

    with UndertextSaver.from_url(f"sqlite:{path}", patience_ms=1) as saver:
        first = put(
            saver, place(), 1, {"run_id": "r"}, value="secret", messages=[HumanMessage("secret")]
        )
        latest = put(saver, first, 2, value="kept", messages=[HumanMessage("kept")])
        with subprocess.Popen(
            [sys.executable, "-c", READING, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as other:
            assert other.stdout is not None and other.stdout.readline() == b"held\n"
            with pytest.raises(undertext.UnavailableError):
                delete(saver)
            assert saver.get_tuple(first) is None
            assert told(f"sqlite:{path}") == ["[redacted]", "kept"] and is_there()
            other.communicate()
        with UndertextSaver.from_url(f"sqlite:{path}") as again:
            delete(again)
        assert not is_there()
        assert values(saver, latest) == {"value": "kept", "messages": [HumanMessage("kept")]}
        length = log_length(f"sqlite:{path}", "langgraph.t.0")
        delete(saver)
        assert log_length(f"sqlite:{path}", "langgraph.t.0") == length
