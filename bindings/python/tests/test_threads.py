"""Many threads on one conversation, and closing under their feet."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import List

import pytest

import undertext


def say(content: str) -> dict[str, object]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize("stored", [False, True])
def test_appends_of_many_threads_all_arrive(stored: bool, tmp_path: Path) -> None:
    conversation = (
        undertext.open(f"sqlite:{tmp_path / 'store.db'}", "one") if stored else undertext.open()
    )
    heard: List[int] = []
    conversation.subscribe(
        lambda event: heard.append(event["version"]) if event["type"] == "CONTEXT_CHANGED" else None
    )
    each = 50 if stored else 2000

    def work(thread: int) -> None:
        for i in range(each):
            conversation.append(say(f"{thread}.{i}"))
            if i % 10 == 0:
                assert conversation.messages(last=1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert heard == list(range(1, 8 * each + 1))
    assert sorted(str(m["content"]) for m in conversation.messages()) == sorted(
        f"{t}.{i}" for t in range(8) for i in range(each)
    )
    conversation.close()


def test_other_python_threads_run_while_a_call_waits() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def waits(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> None:
        entered.set()
        assert go_on.wait(30)

    conversation = undertext.open(strategies={"waits": waits})
    conversation.append(say("x"))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(conversation.compress, strategy="waits")
        assert entered.wait(30)
        second = pool.submit(
            conversation.append, say("behind")
        )  # waits for its turn, in the library
        assert len(conversation.view()) == 1  # reading does not
        go_on.set()
        assert first.result(30)["version"] == 2
        assert second.result(30) == 3


def test_closing_while_others_call_is_an_error_for_them_and_nothing_worse() -> None:
    for _ in range(30):
        conversation = undertext.open()
        conversation.subscribe(lambda event: None)
        started = threading.Barrier(5)

        def work() -> int:
            started.wait()
            done = 0
            while True:
                try:
                    conversation.append(say("x"))
                    conversation.messages(last=2)
                    done += 1
                except undertext.InvalidArgumentError as error:
                    assert "closed" in str(error)
                    return done

        with ThreadPoolExecutor(4) as pool:
            results = [pool.submit(work) for _ in range(4)]
            started.wait()
            conversation.append(say("y"))
            conversation.close()
            for result in results:
                result.result(30)


def test_a_view_that_a_strategy_gave_away_can_be_read_only_until_it_is_taken_back() -> None:
    stop = threading.Event()
    readers: List[threading.Thread] = []

    def gives_away(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> None:
        def read() -> None:
            while not stop.is_set():
                try:
                    view.messages()
                    view.text(0)
                except undertext.InvalidArgumentError:
                    return

        readers.append(threading.Thread(target=read))
        readers[-1].start()

    conversation = undertext.open(strategies={"gives_away": gives_away})
    conversation.append([say("x" * 1000)] * 50)
    for _ in range(50):
        conversation.compress(strategy="gives_away")
    for reader in readers:
        reader.join(30)
    stop.set()
    assert not any(reader.is_alive() for reader in readers)
