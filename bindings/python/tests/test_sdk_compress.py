"""Strategies and summarisers that come with the call: ConversationManager.compress(strategy)."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

import undertext
from undertext.sdk import (
    Compressed,
    ContextCompressionConfig,
    ConversationManager,
    EngineStrategy,
    KeepRecentStrategy,
    PipelineStrategy,
    SmartSummaryStrategy,
)
from undertext.types import MarkMap, Message, Summary

TALK = [
    {
        "role": "user" if i % 2 == 0 else "assistant",
        "content": f"message number {i} of a long talk, with some words in it",
    }
    for i in range(12)
]
LONG = [
    {
        **message,
        "content": f"{message['content']}, and with some more of them, so that a summary is shorter",
    }
    for message in TALK
]


class KeepsLast:
    """Hides all but the last messages, and says so; remembers the aim it was given."""

    def __init__(self, kept: int, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.kept = kept
        self.meanwhile = meanwhile
        self.aims: List[float] = []

    def compress(
        self, messages: List[Message], mark_map: MarkMap, config: ContextCompressionConfig, /
    ) -> Compressed:
        self.aims.append(config["targetTokens"])
        self.meanwhile()
        summary: Message = {"role": "user", "content": f"{len(messages) - self.kept} messages"}
        return {
            "messages": [summary, *messages[-self.kept :]],
            "markMap": {
                **mark_map,
                "originalIndices": [-1, *mark_map["originalIndices"][-self.kept :]],
            },
        }


def writes(text: str, asked: List[int] | None = None) -> undertext.Summariser:
    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> Summary:
        if asked is not None:
            asked.append(len(messages))
        return {"text": text, "model": "m-1", "promptTokens": 7, "completionTokens": 3}

    return write


def contents(manager: ConversationManager) -> List[str]:
    return [str(message["content"]) for message in manager.get_messages()]


def opened(tmp_path: Path) -> Dict[str, undertext.Conversation]:
    named: Any = {"summarisers": {"another": writes("unasked")}, "settings": {"tokenLimit": 1000}}
    return {
        "in memory": undertext.open(),
        "with settings and code of its own": undertext.open(**named),
        "stored": undertext.open(f"sqlite:{tmp_path / 'store.db'}", "talk"),
        "a fork": undertext.open(**named).fork(),
    }


def test_a_strategy_of_ones_own_runs_on_whichever_conversation(tmp_path: Path) -> None:
    for conversation in opened(tmp_path).values():
        with ConversationManager(conversation=conversation, initial_messages=TALK) as manager:
            strategy = KeepsLast(2)
            answer = manager.compress(strategy, 60)
            assert (answer["outcome"], strategy.aims) == ("compressed", [60])
            assert contents(manager) == ["10 messages", *(str(m["content"]) for m in TALK[-2:])]
            manager.rollback_to_batch(0)
            assert manager.get_messages() == TALK


def test_a_summariser_of_ones_own_runs_on_whichever_conversation(tmp_path: Path) -> None:
    for conversation in opened(tmp_path).values():
        with ConversationManager(conversation=conversation, initial_messages=TALK) as manager:
            asked: List[int] = []
            receipt = manager.compress(SmartSummaryStrategy(writes("they talked", asked), keep=3))[
                "receipt"
            ]
            assert (
                asked == [9]
                and "they talked" in contents(manager)[0]
                and len(contents(manager)) == 4
            )
            assert receipt["model"] == "m-1" and receipt["cost"] == {
                "promptTokens": 7,
                "completionTokens": 3,
            }
            conversation.expand(0)
            assert manager.get_messages() == TALK


def test_the_strategy_of_the_manager_stays_what_it_was() -> None:
    known = SmartSummaryStrategy(writes("the first"), keep=2)
    manager = ConversationManager(strategy=known, initial_messages=LONG)
    manager.compress(KeepsLast(8))
    assert contents(manager)[0] == "4 messages"
    manager.compress(SmartSummaryStrategy(writes("the second"), keep=4))
    assert "the second" in contents(manager)[0]
    copy = manager.clone()
    assert copy.compress(known)["receipt"]["summariser"] == known.strategy["summariser"]
    manager.compress()
    assert "the first" in contents(manager)[0] and "the first" in contents(copy)[0]


def test_each_step_of_a_pipeline_asks_its_own_summariser() -> None:
    asked: Dict[str, List[int]] = {"early": [], "late": []}
    steps = [
        SmartSummaryStrategy(writes("early", asked["early"]), keep=8),
        SmartSummaryStrategy(writes("late", asked["late"]), keep=2),
    ]
    manager = ConversationManager(initial_messages=LONG)
    assert manager.compress(PipelineStrategy(steps))["outcome"] == "compressed"
    assert asked == {"early": [4], "late": [10]} and "late" in contents(manager)[0]

    many = {f"s{i}": writes("x") for i in range(5)}
    with pytest.raises(undertext.InvalidArgumentError, match="at most 4 summarisers"):
        manager.compress(
            EngineStrategy(
                {
                    "name": "pipeline",
                    "steps": [{"name": "smart_summary", "summariser": name} for name in many],
                },
                many,
            )
        )


class Broken(Exception):
    pass


def breaks() -> None:
    raise Broken("no model today")


def breaking(*_: object) -> str:
    raise Broken("no model today")


@pytest.mark.parametrize("strategy", [KeepsLast(2, breaks), SmartSummaryStrategy(breaking, keep=2)])
def test_what_code_raises_is_raised_as_it_is_and_changes_nothing(strategy: Any) -> None:
    manager = ConversationManager(initial_messages=TALK)
    with pytest.raises(Broken, match="^no model today$"):
        manager.compress(strategy, 60)
    assert manager.conversation.version == 1


def test_a_proposal_that_hides_what_must_stay_is_refused() -> None:
    manager = ConversationManager(initial_messages=TALK)
    manager.mark_message(3, "pinned")
    with pytest.raises(undertext.InvalidArgumentError):
        manager.compress(KeepsLast(2))
    assert manager.get_messages() == TALK
    assert manager.compress(KeepsLast(9))["outcome"] == "compressed"


@pytest.mark.parametrize("asks_a_model", [False, True])
def test_what_is_appended_meanwhile_stays(asks_a_model: bool) -> None:
    manager = ConversationManager(initial_messages=TALK)

    def meanwhile() -> None:
        manager.add_message({"role": "user", "content": "meanwhile"})

    def write(*_: object) -> str:
        meanwhile()
        return "they talked"

    assert (
        manager.compress(
            SmartSummaryStrategy(write, keep=2) if asks_a_model else KeepsLast(2, meanwhile)
        )["outcome"]
        == "compressed"
    )
    assert len(contents(manager)) == 4 and contents(manager)[-1] == "meanwhile"


def test_code_of_a_call_may_compress_with_code_of_its_own() -> None:
    inner, outer = (
        ConversationManager(initial_messages=TALK),
        ConversationManager(initial_messages=TALK),
    )
    outer.compress(KeepsLast(2, lambda: inner.compress(KeepsLast(4))))
    assert contents(inner)[0] == "8 messages" and contents(outer)[0] == "10 messages"


def test_each_thread_runs_the_code_of_its_own_call() -> None:
    manager = ConversationManager(initial_messages=TALK)
    both = threading.Barrier(2, timeout=30)
    forks = [manager.clone() for _ in range(2)]
    threads = [
        threading.Thread(target=forks[i].compress, args=(KeepsLast(i + 2, both.wait),))
        for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [contents(fork)[0] for fork in forks] == ["10 messages", "9 messages"]


@pytest.mark.parametrize(
    "strategy",
    [{"name": "of the call"}, {"name": "smart_summary", "keep": 2, "summariser": "of the call"}],
)
def test_a_call_that_brought_no_code_has_none(strategy: Dict[str, object]) -> None:
    manager = ConversationManager(initial_messages=TALK)
    manager.compress(KeepsLast(11))
    manager.compress(SmartSummaryStrategy(writes("they talked"), keep=9))
    with pytest.raises(undertext.InvalidArgumentError, match="brought no"):
        manager.compress(strategy, 60)


def test_what_is_no_json_is_refused_with_and_without_code() -> None:
    manager = ConversationManager(initial_messages=TALK)
    cycle: Dict[str, Any] = {"name": "pipeline"}
    cycle["steps"] = [cycle]
    for strategy in (
        cycle,
        EngineStrategy({"name": "smart_summary", "summariser": ["s"]}, {"s": writes("x")}),
    ):
        with pytest.raises(undertext.InvalidArgumentError):
            manager.compress(strategy)
    assert manager.conversation.version == 1


class Awaited:
    async def compress(self, *_: object) -> None:
        pass


def test_code_that_nobody_would_await_is_refused_before_it_runs() -> None:
    strategy: Any = Awaited()
    for call in (
        lambda: ConversationManager(strategy=strategy),
        lambda: ConversationManager(initial_messages=TALK).compress(strategy),
    ):
        with pytest.raises(undertext.InvalidArgumentError, match="coroutine function") as caught:
            call()
        assert (caught.value.field, caught.value.path) == ("strategy", "strategy.compress")


ANSWERS: List[Any] = [
    None,
    5,
    [],
    {"messages": []},
    {"messages": [], "markMap": None},
    {"messages": 5, "markMap": {"originalIndices": []}},
    {"messages": [], "markMap": {"originalIndices": 5}},
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_without_messages_and_mark_map_is_refused(answer: Any) -> None:
    class Answers:
        def compress(self, *_: object) -> Any:
            return answer

    manager = ConversationManager(initial_messages=TALK)
    with pytest.raises(
        undertext.InvalidArgumentError, match="answers with messages and their markMap"
    ):
        manager.compress(Answers())
    assert manager.conversation.version == 1


class Told:
    """Answers with what it was given, or what a strategy of the engine makes of it; remembers its configuration."""

    def compress(
        self, messages: List[Message], mark_map: MarkMap, config: ContextCompressionConfig, /
    ) -> Compressed:
        self.threshold, self.aim = config["threshold"], config["targetTokens"]
        return KeepRecentStrategy(3).compress(messages, mark_map, config)


def test_code_is_told_what_the_engine_takes_for_what_was_left_out() -> None:
    enabled: Any = {"enabled": True}
    cases: List[Any] = [
        ({"token_limit": 1000, "compression_config": enabled}, None, (1000, 750)),
        ({"token_limit": 1000}, None, (1000, 750)),
        (
            {"token_limit": 1000, "compression_config": {**enabled, "threshold": 401}},
            None,
            (401, 301),
        ),
        (
            {"token_limit": 1000, "compression_config": {**enabled, "targetTokens": 500}},
            None,
            (1000, 500),
        ),
        ({"token_limit": 1000, "compression_config": enabled}, 400, (1000, 400)),
        ({}, 400, (math.inf, 400)),
        ({}, None, (math.inf, math.inf)),
    ]
    for given, aim, told in cases:
        strategy = Told()
        manager = ConversationManager(**given)
        manager.add_messages(TALK)
        before = len(manager.get_messages())
        manager.compress(strategy, aim)
        assert (strategy.threshold, strategy.aim) == told
    assert len(manager.get_messages()) == 3 < before  # infinity is no aim


def test_with_progress_what_can_be_freed_is() -> None:
    manager = ConversationManager(initial_messages=TALK)
    with pytest.raises(undertext.CannotFitError):
        manager.compress(KeepRecentStrategy(4), 10)
    assert manager.compress(KeepRecentStrategy(4), 10, progress=True)["targetReached"] is False
    assert len(manager.get_messages()) == 4


def test_without_a_strategy_it_is_the_engines_default() -> None:
    manager = ConversationManager(token_limit=100, initial_messages=LONG)
    answer = manager.compress()
    assert answer["targetReached"] is True
    assert answer["receipt"]["targetTokens"] == 75
    assert set(answer["receipt"]["strategy"].split(", ")) <= {
        "clear_tool_results",
        "smart_summary",
        "sliding_window",
    }
