"""The documents' classes on a conversation that is handed in, on another one's snapshot, and on arguments that are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, cast

import pytest

import undertext
from undertext.sdk import (
    ConversationManager,
    ConversationState,
    KeepRecentStrategy,
    get_batch_index,
    get_current_batch_indices,
    is_modified,
)

KEEP_ONE = {"name": "keep_recent", "n": 1}
SETTINGS: Dict[str, Any] = {
    "tokenLimit": 5,
    "compressionConfig": {
        "enabled": False,
        "threshold": 100,
        "targetTokens": 12,
        "strategy": KEEP_ONE,
    },
}


def say(content: str, role: str = "user") -> Dict[str, object]:
    return {"role": role, "content": content}


def check_settings(manager: ConversationManager) -> None:
    manager.add_messages([say("hello hello hello") for _ in range(5)])
    assert (manager.token_limit, manager.is_token_limit_exceeded()) == (5, True)
    assert manager.compression_config == SETTINGS["compressionConfig"]
    manager.compress()
    assert len(manager.get_messages()) == 1


def test_a_conversation_that_is_handed_in_has_its_own_settings() -> None:
    conversation = undertext.open(settings=SETTINGS)
    check_settings(ConversationManager(conversation=conversation.fork()))
    check_settings(ConversationManager(conversation=conversation))


def test_a_stored_conversation_has_the_settings_that_were_kept_with_it(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'store.db'}"
    undertext.open(url, "one", settings=SETTINGS).close()
    with undertext.open(url, "one") as conversation:
        check_settings(ConversationManager(conversation=conversation))
    with undertext.open(url, "two") as conversation:
        manager = ConversationManager(conversation=conversation)
        assert (manager.token_limit, manager.compression_config) == (None, None)


def test_settings_that_are_changed_after_the_call_change_nothing() -> None:
    settings: Dict[str, Any] = {"tokenLimit": 5}
    conversation = undertext.open(settings=settings)
    settings["tokenLimit"] = 6
    assert ConversationManager(conversation=conversation).token_limit == 5


def test_a_configuration_without_an_aim_has_that_of_the_engine() -> None:
    config: Any = {"enabled": False, "threshold": 20}
    manager = ConversationManager(
        compression_config=config, initial_messages=[say("hello hello hello") for _ in range(10)]
    )
    manager.compress()
    assert 0 < manager.get_token_count() <= 20
    strategy = KeepRecentStrategy(1)
    without: Any = {"enabled": True}
    kept = strategy.compress(manager.get_messages(), manager.get_mark_map(), without)
    assert len(kept["messages"]) == 1
    with pytest.raises(undertext.InvalidArgumentError) as caught:
        ConversationManager(compression_config=5)  # type: ignore[arg-type]
    assert caught.value.field == "compressionConfig"


def test_a_strategy_of_ones_own_is_told_an_aim_though_the_configuration_has_none() -> None:
    told: List[int] = []

    class Mine:
        def compress(self, messages: Any, mark_map: Any, config: Any) -> Any:
            told.append(config["targetTokens"])
            return {"messages": messages, "markMap": mark_map}

    config: Any = {"enabled": False, "threshold": 20}
    ConversationManager(
        compression_config=config, strategy=Mine(), initial_messages=[say("x")]
    ).compress()
    assert told == [15]


def test_pins_of_another_conversations_snapshot_are_taken_over() -> None:
    one, other = (
        ConversationManager(initial_messages=[say("same")]),
        ConversationManager(initial_messages=[say("same")]),
    )
    one.mark_message(0, "pinned")
    other.mark_message(0, "other")
    other.restore_from_snapshot(one.create_snapshot())
    other.clear_messages()
    assert other.get_messages() == [say("same")]


def test_a_foreign_snapshot_is_taken_over_after_what_is_there() -> None:
    one, other = (
        ConversationManager(initial_messages=[say("a"), say("b")]),
        ConversationManager(initial_messages=[say("c")]),
    )
    one.mark_message(1, "pinned")
    one.get_index_manager().start_new_batch(1)
    other.restore_from_snapshot(one.create_snapshot())
    assert other.get_messages() == one.get_messages()
    assert other.conversation.ordinals(all=True, marked="pinned") == [2]
    assert other.get_mark_map()["batchBoundaries"] == [0, 2]
    assert other.get_all_messages() == [say("c"), say("a"), say("b")]


@pytest.mark.parametrize(
    "part, value",
    [
        ("pinned", [5]),
        (
            "markMap",
            {
                "originalIndices": [7],
                "batchBoundaries": [0],
                "boundaryToBatch": [0],
                "currentBatch": 0,
            },
        ),
        ("version", True),
        ("messages", [1]),
    ],
)
def test_a_snapshot_that_cannot_be_changes_nothing(part: str, value: Any) -> None:
    snapshot: Any = ConversationManager(initial_messages=[say("a")]).create_snapshot()
    manager = ConversationManager(initial_messages=[say("b")])
    with pytest.raises(undertext.InvalidArgumentError):
        manager.restore_from_snapshot(cast(ConversationState, {**snapshot, part: value}))
    assert (manager.conversation.version, manager.get_all_messages()) == (1, [say("b")])


def test_a_mark_map_without_indices_per_role_is_enough() -> None:
    snapshot: Any = ConversationManager(initial_messages=[say("a")]).create_snapshot()
    del snapshot["markMap"]["typeIndices"]
    manager = ConversationManager()
    manager.restore_from_snapshot(snapshot)
    assert manager.get_messages() == [say("a")]


def test_a_snapshot_of_a_version_that_was_pruned_is_taken_over(tmp_path: Path) -> None:
    with undertext.open(f"sqlite:{tmp_path / 'store.db'}", "one") as conversation:
        manager = ConversationManager(conversation=conversation, initial_messages=[say("a")])
        snapshot = manager.create_snapshot()
        manager.clear_messages()
        for i in range(3):
            manager.add_message(say(f"later {i}"))
        conversation.prune_versions(versions=1)
        manager.restore_from_snapshot(snapshot)
        assert manager.get_messages() == [say("a")]


def test_an_index_of_a_role_is_added_where_the_message_has_it() -> None:
    manager = ConversationManager(initial_messages=[say("a"), say("b", "assistant"), say("c")])
    indices = manager.get_type_index_manager()
    indices.remove_indices([0])
    indices.add_index("user", 0)
    assert manager.get_mark_map()["originalIndices"] == [1, 2, 0]
    version = manager.conversation.version
    indices.add_index("user", 0)  # it is visible
    indices.remove_indices([2])
    wrong: List[Any] = [
        ("assistant", 2),
        ("assistant", 0),
        ("nobody", 2),
        (None, 2),
        ([], 2),
        ("user", None),
        ("user", 9),
        ("user", -1),
    ]
    for role, index in wrong:
        with pytest.raises(undertext.InvalidArgumentError):
            indices.add_index(role, index)
    assert manager.conversation.version == version + 1


def test_what_document_004_reads_from_a_mark_map() -> None:
    manager = ConversationManager(initial_messages=[say("a"), say("b")])
    index_manager = manager.get_index_manager()
    index_manager.start_new_batch(1)
    manager.add_message(say("c"))
    mark_map = manager.get_mark_map()
    assert (
        get_current_batch_indices(mark_map) == index_manager.get_current_batch_indices() == [1, 2]
    )
    assert (
        [is_modified(i, mark_map) for i in range(3)]
        == [index_manager.is_modified(i) for i in range(3)]
        == [True, False, False]
    )
    assert (
        [get_batch_index(i, mark_map) for i in range(3)]
        == [index_manager.get_batch_index(i) for i in range(3)]
        == [-1, 0, 1]
    )
    broken: List[Any] = [
        {},
        None,
        {**mark_map, "currentBatch": 9},
        {**mark_map, "batchBoundaries": []},
    ]
    for no_map in broken:
        with pytest.raises(undertext.InvalidArgumentError):
            get_current_batch_indices(no_map)
    nothing: Any = None
    with pytest.raises(undertext.InvalidArgumentError):
        is_modified(nothing, mark_map)


def test_a_mark_map_is_set() -> None:
    manager = ConversationManager(initial_messages=[say("a"), say("b")])
    before = manager.get_mark_map()
    manager.clear_messages()
    manager.set_mark_map(before)
    assert manager.get_messages() == [say("a"), say("b")]


def test_the_request_under_way_is_known_until_it_is_over() -> None:
    manager = ConversationManager(initial_messages=[say("a")])
    assert manager.get_current_request_usage() is None
    manager.finalize_current_request()
    manager.update_token_usage({"promptTokens": 5, "completionTokens": 1})
    manager.update_token_usage({"promptTokens": 5, "completionTokens": 2})
    assert manager.get_current_request_usage() == {
        "promptTokens": 5,
        "completionTokens": 2,
        "totalTokens": 7,
    }
    manager.finalize_current_request()
    assert manager.get_current_request_usage() is None
    assert manager.get_token_usage() == {"promptTokens": 5, "completionTokens": 2, "totalTokens": 7}


def test_compressions_are_waited_for() -> None:
    strategy = {"name": "smart_summary", "keep": 1, "summariser": "slow"}
    settings = {
        "compressionConfig": {
            "enabled": True,
            "threshold": 60,
            "targetTokens": 50,
            "strategy": strategy,
        }
    }
    manager = ConversationManager(
        conversation=undertext.open(settings=settings, summarisers={"slow": lambda *_: "short"})
    )
    manager.add_messages([say(f"a message of some length, number {i}") for i in range(9)])
    manager.wait_for_compression()
    assert "short" in str(manager.get_messages()[0]["content"])


def test_a_filter_that_is_missing_is_refused() -> None:
    manager = ConversationManager(initial_messages=[say("a"), say("b")])
    types, indices = manager.get_type_index_manager(), manager.get_index_manager()
    no: Any = None
    for call in (
        lambda: manager.get_messages_by_role(no),
        lambda: manager.filter_messages_by_role(no),
        lambda: manager.get_recent_messages(no),
        lambda: manager.get_messages_by_range(no, 1),
        lambda: manager.get_messages_by_range(0, no),
        lambda: manager.get_recent_messages_by_role("user", no),
        lambda: manager.get_messages_by_role_range(no, 0, 1),
        lambda: manager.get_message_count_by_role(no),
        lambda: manager.get_recent_messages_by_roles(no, 1),
        lambda: manager.get_messages_by_role_and_time_range("user", no, 1),
        lambda: manager.get_marked_messages_by_role("user", no),
        lambda: types.get_indices_by_role(no),
        lambda: types.get_recent_indices_by_role("user", no),
        lambda: types.get_range_indices_by_role("user", no, 1),
        lambda: types.remove_indices(no),
        lambda: indices.start_new_batch(no),
        lambda: indices.end_batch(no),
        lambda: indices.rollback_to_batch(no),
        lambda: indices.mark_compressed(no),
        lambda: indices.set_original_indices(no),
        lambda: indices.add_index(no),
        lambda: manager.add_messages(no),
        lambda: manager.mark_message(no, "pinned"),
        lambda: manager.mark_message(0, no),
        lambda: manager.set_mark_map(no),
    ):
        with pytest.raises(undertext.InvalidArgumentError):
            call()
    assert manager.conversation.version == 1
