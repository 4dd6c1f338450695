"""Strategies, summarisers and subscribers written in Python."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any, List

import pytest

import undertext
from undertext.types import Event, Message, Plan, Summary

SETTINGS = {
    "compressionConfig": {
        "enabled": False,
        "threshold": 150,
        "targetTokens": 130,
        "strategy": {"name": "smart_summary", "keep": 1, "summariser": "mine"},
    }
}
TALK = [
    {
        "role": "user" if i % 2 == 0 else "assistant",
        "content": f"message number {i}, which is of some length, so that it can be made shorter",
    }
    for i in range(8)
]


def summarising(write: undertext.Summariser) -> undertext.Conversation:
    conversation = undertext.open(settings=SETTINGS, summarisers={"mine": write})
    conversation.append(TALK)
    return conversation


STRATEGY = {"name": "smart_summary", "keep": 1, "summariser": "mine"}


def test_a_summariser_gets_the_messages_and_its_text_takes_their_place() -> None:
    seen: List[Any] = []

    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        seen.append((messages, tokens_max, cancel.is_cancelled()))
        return "they talked"

    conversation = summarising(write)
    answer = conversation.compress(strategy=STRATEGY)
    assert answer["outcome"] == "compressed"
    assert "they talked" in str(conversation.messages()[0]["content"])
    messages, tokens_max, cancelled = seen[0]
    assert messages[0] == TALK[0] and tokens_max > 0 and cancelled is False


def test_a_summariser_may_tell_what_it_cost() -> None:
    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> Summary:
        return {"text": "short", "model": "m-1", "promptTokens": 12, "completionTokens": 3}

    conversation = summarising(write)
    receipt = conversation.compress(strategy=STRATEGY)["receipt"]
    assert "m-1" in str(receipt)


class Broken(Exception):
    pass


def raises_broken(*_: object) -> Any:
    raise Broken("no model today")


@pytest.mark.parametrize(
    ("write", "code"),
    [
        (lambda *_: 7, "invalid_argument"),
        (lambda *_: "\ud800", "invalid_argument"),
        (lambda *_: {"model": "m"}, "invalid_argument"),
    ],
)
def test_a_summariser_that_fails_changes_nothing(write: Any, code: str) -> None:
    conversation = summarising(write)
    with pytest.raises(undertext.UndertextError) as caught:
        conversation.compress(strategy=STRATEGY)
    assert caught.value.code == code
    assert conversation.version == 1
    assert len(conversation) == 8


@pytest.mark.parametrize("name", ["promptTokens", "completionTokens"])
@pytest.mark.parametrize("count", [-1, 1.5, float("nan"), "x", "12", 2**64, 2**70, True, None, []])
def test_a_cost_that_is_no_number_of_tokens_is_refused_by_its_name(name: str, count: Any) -> None:
    summary: Any = {"text": "short", name: count}
    conversation = summarising(lambda *_: summary)
    with pytest.raises(
        undertext.InvalidArgumentError, match=f"{name} must be a whole number"
    ) as caught:
        conversation.compress(strategy=STRATEGY)
    assert caught.value.field == name
    assert conversation.version == 1
    assert conversation.messages() == TALK


@pytest.mark.parametrize(
    ("summary", "field"),
    [({"model": "m"}, "text"), ({"text": 7}, "text"), ({"text": "t", "model": 7}, "model")],
)
def test_a_summary_that_is_refused_says_by_which_member(summary: Any, field: str) -> None:
    conversation = summarising(lambda *_: summary)
    with pytest.raises(undertext.InvalidArgumentError, match=field) as caught:
        conversation.compress(strategy=STRATEGY)
    assert caught.value.field == field


def test_what_a_callback_raises_is_raised_as_it_is() -> None:
    raised = undertext.InvalidArgumentError("somewhere else", field="index")

    def write(*_: object) -> str:
        raise raised

    too_few_parameters: Any = lambda: ""
    for callback, kind in (
        (write, type(raised)),
        (raises_broken, Broken),
        (too_few_parameters, TypeError),
    ):
        conversation = summarising(callback)
        with pytest.raises(kind) as caught:
            conversation.compress(strategy=STRATEGY)
        assert caught.value is raised or kind is not type(raised)
        assert conversation.version == 1 and len(conversation) == 8


def test_what_a_callback_raised_before_another_failure_is_its_cause() -> None:
    later = undertext.UnavailableError("later, please")

    def write(*_: object) -> str:
        raise later

    conversation = summarising(write)
    with pytest.raises(undertext.CannotFitError) as caught:
        conversation.compress(
            strategy=STRATEGY, target_tokens=1
        )  # the digest takes the summary's place, and is too long
    assert caught.value.__cause__ is later


def test_an_undertext_error_keeps_its_code() -> None:
    def write(*_: object) -> str:
        raise undertext.NotFoundError("no such model")

    @undertext.slow
    def plan(*_: object) -> None:
        write()

    conversation = undertext.open(strategies={"mine": plan})
    conversation.append(TALK)
    with pytest.raises(undertext.NotFoundError):
        conversation.compress(strategy="mine")


def test_a_digest_takes_the_place_of_a_summary_that_is_unavailable() -> None:
    def write(*_: object) -> str:
        raise undertext.UnavailableError("later, please")

    receipt = summarising(write).compress(strategy=STRATEGY)["receipt"]
    assert receipt["summariser"] == "digest" and "later, please" in receipt["reason"]


def test_an_interrupt_goes_through_as_it_is() -> None:
    def write(*_: object) -> str:
        raise KeyboardInterrupt

    conversation = summarising(write)
    with pytest.raises(KeyboardInterrupt):
        conversation.compress(strategy=STRATEGY)
    assert conversation.version == 1


def keeps_last_two(
    view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel
) -> Plan | None:
    hidden = [view.entry(i)["ordinal"] for i in range(len(view) - 2)]
    if not hidden:
        return None
    return {
        "replacements": [
            {"hide": hidden, "summary": {"role": "user", "content": f"{len(hidden)} messages"}}
        ],
        "reason": "old",
    }


def test_a_strategy_proposes_a_plan() -> None:
    conversation = undertext.open(strategies={"last_two": keeps_last_two})
    conversation.append(TALK)
    assert conversation.compress(strategy="last_two")["outcome"] == "compressed"
    assert [m["content"] for m in conversation.messages()] == [
        "6 messages",
        TALK[6]["content"],
        TALK[7]["content"],
    ]
    conversation.expand(0)
    assert conversation.messages() == TALK


def test_a_plan_that_is_not_allowed_is_refused() -> None:
    def hides_all(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> Plan:
        return {"replacements": [{"hide": [view.entry(i)["ordinal"] for i in range(len(view))]}]}

    conversation = undertext.open(strategies={"all": hides_all})
    conversation.append([{"role": "system", "content": "stay"}, *TALK])
    with pytest.raises(undertext.UndertextError):
        conversation.compress(strategy="all")
    assert conversation.version == 1


def test_a_lent_view_ends_with_the_call() -> None:
    kept: List[Any] = []

    def keeps(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> None:
        kept.extend([view, cancel])

    conversation = undertext.open(strategies={"keeps": keeps})
    conversation.append(TALK)
    conversation.compress(strategy="keeps")
    with pytest.raises(undertext.InvalidArgumentError, match="closed"):
        len(kept[0])
    assert kept[1].is_cancelled()


def test_code_that_runs_in_the_turn_of_a_change_may_read_and_not_change() -> None:
    lengths: List[int] = []
    unraisable: List[Any] = []
    conversation: undertext.Conversation

    def reads_and_changes(
        view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel
    ) -> None:
        lengths.append(len(conversation.view()))
        conversation.append(TALK)

    def changes(message: Message) -> Message:
        conversation.append(TALK)
        return message

    conversation = undertext.open(
        strategies={
            "quick": reads_and_changes,
            "slow": undertext.slow(lambda *given: reads_and_changes(*given)),
        }
    )
    conversation.append(TALK)
    with pytest.raises(undertext.InvalidArgumentError, match="must not change"):
        conversation.compress(strategy="quick")
    with pytest.raises(undertext.InvalidArgumentError, match="must not change"):
        conversation.transform(changes, indices=[0])
    assert (lengths, conversation.version) == ([8], 1)
    conversation.compress(strategy="slow")  # has no turn, and may
    assert conversation.version == 3

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", unraisable.append)
        with conversation.subscribe(lambda event: conversation.append(TALK)):
            conversation.append(TALK)
    assert conversation.version == 4
    assert {type(raised.exc_value) for raised in unraisable} == {undertext.InvalidArgumentError}


def test_methods_of_objects_can_be_marked_too() -> None:
    class Keeper:
        def plan(
            self, view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel
        ) -> Plan | None:
            return keeps_last_two(view, tokens_max, cancel)

    conversation = undertext.open(
        strategies={"slow": undertext.slow(Keeper().plan), "quick": undertext.quick(Keeper().plan)}
    )
    conversation.append(TALK)
    assert conversation.fit(budget={"window": 60}, strategy="quick")["outcome"] == "fits_after"
    with pytest.raises(undertext.UndertextError):
        conversation.fit(budget={"window": 60}, strategy="slow")  # a fit waits for nobody
    assert conversation.compress(strategy="slow")["outcome"] == "compressed"


def test_a_slow_summary_runs_in_the_background() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        entered.set()
        assert go_on.wait(30)
        return "they talked"

    settings = {"compressionConfig": {**SETTINGS["compressionConfig"], "enabled": True}}
    conversation = undertext.open(settings=settings, summarisers={"mine": write})
    with conversation.events() as events:
        conversation.append(TALK)
        assert entered.wait(30)
        conversation.append(
            {"role": "user", "content": "meanwhile"}
        )  # nobody waits for the summary
        go_on.set()
        conversation.wait_for_compression()
        kinds = [event["type"] for event in events.waiting()]
    assert "COMPRESSED" in kinds
    assert conversation.messages()[-1]["content"] == "meanwhile"


def test_a_summariser_that_fails_in_the_background_is_followed_by_the_digest() -> None:
    settings = {"compressionConfig": {**SETTINGS["compressionConfig"], "enabled": True}}
    conversation = undertext.open(settings=settings, summarisers={"mine": raises_broken})
    with conversation.events() as events:
        conversation.append(TALK)
        conversation.wait_for_compression()
        kinds = [event["type"] for event in events.waiting()]
    assert "COMPRESSED" in kinds and "COMPRESSION_FAILED" not in kinds
    receipt = conversation.receipts()[0]
    assert receipt["summariser"] == "digest" and "no model today" in receipt["reason"]


def test_closing_asks_a_summariser_to_stop() -> None:
    entered = threading.Event()

    def write(messages: List[Message], tokens_max: int, cancel: undertext.Cancel) -> str:
        entered.set()
        while not cancel.is_cancelled():
            threading.Event().wait(0.001)
        return "too late"

    settings = {"compressionConfig": {**SETTINGS["compressionConfig"], "enabled": True}}
    conversation = undertext.open(settings=settings, summarisers={"mine": write})
    conversation.append(TALK)
    assert entered.wait(30)
    conversation.close()
    assert conversation.closed


def test_subscribers_hear_every_event_in_order() -> None:
    heard: List[Event] = []
    conversation = undertext.open()
    with conversation.subscribe(heard.append):
        conversation.append({"role": "user", "content": "one"})
        conversation.clear(keep_system_message=False)
    conversation.append({"role": "user", "content": "unheard"})
    assert [event["type"] for event in heard] == [
        "MESSAGE_ADDED",
        "CONTEXT_CHANGED",
        "BATCH_OPENED",
        "CONTEXT_CHANGED",
    ]
    assert heard[0] == {"type": "MESSAGE_ADDED", "version": 1, "ordinal": 0}


def test_what_a_subscriber_raises_does_not_fail_the_operation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unraisable: List[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    conversation = undertext.open()
    conversation.subscribe(raises_broken)
    assert conversation.append({"role": "user", "content": "one"}) == 1
    assert {type(raised.exc_value) for raised in unraisable} == {Broken}


def test_a_subscriber_may_read_and_may_leave() -> None:
    conversation = undertext.open()
    lengths: List[int] = []

    def receive(event: Event) -> None:
        lengths.append(len(conversation.view()))
        subscription.close()

    subscription = conversation.subscribe(receive)
    conversation.append({"role": "user", "content": "one"})
    conversation.append({"role": "user", "content": "two"})
    assert lengths == [1]


def test_a_subscriber_may_close_its_conversation() -> None:
    conversation = undertext.open()
    conversation.subscribe(lambda event: conversation.close())
    assert conversation.append({"role": "user", "content": "one"}) == 1
    assert conversation.closed


def test_iterating_over_events_ends_when_the_conversation_does() -> None:
    conversation = undertext.open()
    events = conversation.events()
    heard: List[str] = []
    listener = threading.Thread(target=lambda: heard.extend(event["type"] for event in events))
    listener.start()
    conversation.append({"role": "user", "content": "one"})
    conversation.close()
    listener.join(30)
    assert heard == ["MESSAGE_ADDED", "CONTEXT_CHANGED"]
    assert list(events) == []


def test_a_forgotten_conversation_is_closed_though_its_subscriber_refers_to_it() -> None:
    conversation = undertext.open()
    conversation.subscribe(lambda event: len(conversation.view()) and None)  # noqa: F821
    conversation.append({"role": "user", "content": "one"})
    gone = weakref.ref(conversation)
    del conversation
    gc.collect()
    assert gone() is None


def test_a_forgotten_iterator_hears_no_more() -> None:
    conversation = undertext.open()
    events = conversation.events()
    gone = weakref.ref(events._queue)
    del events
    gc.collect()
    conversation.append({"role": "user", "content": "one"})
    assert gone() is None


def test_code_is_let_go_with_its_conversation() -> None:
    class Writer:
        def __call__(
            self, messages: List[Message], tokens_max: int, cancel: undertext.Cancel
        ) -> str:
            return ""

    writer = Writer()
    gone = weakref.ref(writer)
    conversation = undertext.open(summarisers={"mine": writer})
    del writer
    gc.collect()
    assert gone() is not None
    conversation.close()
    gc.collect()
    assert gone() is None


def test_settings_that_name_code_which_is_not_there_are_refused() -> None:
    with pytest.raises(undertext.InvalidArgumentError):
        undertext.open(settings=SETTINGS)
