"""The design documents' names, and their examples."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

import undertext
from undertext.sdk import (
    Compressed,
    ContextCompressionConfig,
    ContextModificationConfig,
    ContextProcessorNodeConfig,
    ContextProcessorNodeHandler,
    ConversationManager,
    EventType,
    KeepRecentStrategy,
    MessageArrayManager,
    MessageIndexManager,
    NoOpCompressionStrategy,
    PipelineStrategy,
    SlidingWindowStrategy,
    SmartSummaryStrategy,
    TokenUsageStats,
    TokenUsageTracker,
    TypeIndexManager,
    ValidationError,
    transform_context_processor_node_config,
    validate_context_processor_node_config,
)
from undertext.sdk._events import ConversationEvent
from undertext.types import MarkMap, Message


def say(role: str, content: str) -> Dict[str, object]:
    return {"role": role, "content": content}


def filled(n: int = 10) -> ConversationManager:
    roles = ["system", "user", "assistant", "user", "assistant"]
    return ConversationManager(initial_messages=[say(roles[i % 5], f"{i}") for i in range(n)])


def texts(messages: List[Message]) -> List[object]:
    return [message["content"] for message in messages]


def test_000_the_message_array_and_its_batches() -> None:
    manager = MessageArrayManager([say("system", "s"), say("user", "a"), say("assistant", "b")])
    appended = manager.execute({"operation": "APPEND", "messages": [say("user", "c")]})
    assert (appended["affectedBatchIndex"], appended["stats"]["totalBatches"]) == (0, 1)
    inserted = manager.execute(
        {"operation": "INSERT", "position": 1, "messages": [say("user", "between")]}
    )
    assert inserted["affectedBatchIndex"] == 1
    assert inserted["state"]["totalMessageCount"] == 5
    assert inserted["state"]["batchSnapshots"][0]["messageCount"] == 4
    manager.execute({"operation": "CLEAR"})
    assert texts(manager.get_current_messages()) == ["s"]
    snapshot = manager.get_batch_snapshot(1)
    assert snapshot is not None and snapshot["messageCount"] == 5  # nothing is lost by a CLEAR
    assert manager.get_batch_snapshot(2) is None
    back = manager.rollback(0)
    assert texts(back["state"]["messages"]) == [
        "s",
        "a",
        "b",
        "c",
    ]  # with what was appended in that batch
    assert manager.get_stats()["currentBatchIndex"] == 0
    assert manager.get_state() == back["state"]
    with pytest.raises(undertext.InvalidArgumentError):
        manager.execute({"operation": "INSERT", "position": -1, "messages": [say("user", "x")]})


def test_001_messages_by_role() -> None:
    manager = filled()
    assert texts(manager.get_recent_messages_by_role("user", 3)) == ["3", "6", "8"]
    assert texts(manager.get_messages_by_role("system")) == ["0", "5"]
    assert texts(manager.get_messages_by_role_range("assistant", 1, 5)) == ["4", "7", "9"]
    assert manager.get_message_count_by_role("tool") == 0
    assert texts(manager.get_recent_messages_by_roles(["user", "assistant"], 3)) == ["7", "8", "9"]
    assert texts(manager.get_recent_messages(2)) == ["8", "9"]
    assert texts(manager.get_messages_by_range(1, 3)) == ["1", "2"]
    assert manager.filter_messages_by_role("user") == manager.get_messages_by_role("user")
    assert manager.add_message({**say("user", "timed"), "timestamp": 1000}) == 11
    assert texts(manager.get_messages_by_role_and_time_range("user", 1000, 1001)) == ["timed"]
    manager.mark_message(3, "important")
    assert texts(manager.get_marked_messages_by_role("user", "important")) == ["3"]
    manager.unmark_message(3, "important")
    assert manager.get_marked_messages_by_role("user", "important") == []


def test_001_a_node_keeps_the_last_five_user_messages() -> None:
    manager, handler = filled(20), ContextProcessorNodeHandler()
    result = handler.execute(
        manager, {"operation": "truncate", "truncate": {"role": "user", "keepLast": 5}}
    )
    assert (result["operation"], result["messageCount"], result["stats"]["currentBatchIndex"]) == (
        "TRUNCATE",
        5,
        1,
    )
    assert result["executionTime"] > 0
    assert (
        handler.execute(
            manager,
            {"operation": "insert", "insert": {"position": -1, "messages": [say("user", "end")]}},
        )["operation"]
        == "APPEND"
    )
    assert handler.execute(manager, {"operation": "clear"})["messageCount"] == 0
    handler.rollback_context_operation(manager, 0)
    assert len(manager.get_messages()) == 20


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"operation": "truncate"}, "truncate"),
        ({"operation": "explode"}, "operation"),
        ({"operation": "truncate", "truncate": {"keepLast": -1}}, "keepLast"),
        ({"operation": "filter", "filter": {}}, None),
        (
            {
                "operation": "insert",
                "insert": {"position": 0, "messages": [{"role": "nobody", "content": "x"}]},
            },
            "role",
        ),
        ({"operation": "replace", "replace": {"index": 0}}, "message"),
        ({"operation": "clear", "more": 1}, "more"),
        ("truncate", "config"),
    ],
)
def test_a_node_configuration_is_checked_and_names_the_field(
    config: Any, field: str | None
) -> None:
    assert not validate_context_processor_node_config(config)
    with pytest.raises(undertext.InvalidArgumentError) as caught:
        transform_context_processor_node_config(config)
    assert field is None or caught.value.field == field
    manager = filled(2)
    with pytest.raises(undertext.InvalidArgumentError):
        ContextProcessorNodeHandler().execute(manager, config)
    assert manager.conversation.version == 1


def test_a_good_node_configuration_depends_on_no_conversation() -> None:
    config = {"operation": "replace", "replace": {"index": 99, "message": say("user", "x")}}
    assert validate_context_processor_node_config(config)
    assert transform_context_processor_node_config(config) == config


def test_003_the_whole_workflow() -> None:
    handler = ContextProcessorNodeHandler()
    manager = ConversationManager(
        token_limit=8000,
        compression_config={"enabled": True, "threshold": 6000, "targetTokens": 4000},
    )
    manager.add_message({"role": "user", "content": "Hello"})
    manager.add_message({"role": "assistant", "content": "Hi there!"})
    handler.handle_context_operation(manager, "batch_start", [2])
    handler.handle_context_operation(
        manager, "insert", [], {"role": "system", "content": "请专注于当前任务"}
    )
    assert len(manager.get_messages()) == 3
    handler.handle_context_operation(manager, "batch_end", [0])
    assert texts(manager.get_messages()) == ["Hello", "Hi there!"]
    handler.handle_context_operation(manager, "compress", [0, 1])
    assert manager.get_messages() == []
    handler.rollback_context_operation(manager, 0)
    assert texts(manager.get_messages()) == ["Hello", "Hi there!"]
    assert len(manager.get_all_messages()) == 3


def test_003_several_operations_are_all_or_nothing() -> None:
    handler, manager = ContextProcessorNodeHandler(), filled(6)
    operations: List[ContextModificationConfig] = [
        {"operation": "batch_start", "indices": [5]},
        {"operation": "insert", "indices": [], "data": {"role": "system", "content": "临时提示"}},
        {"operation": "compress", "indices": [0, 1, 2]},
        {"operation": "batch_end", "indices": [0]},
    ]
    handler.handle_batch_operations(manager, operations)
    assert texts(manager.get_messages()) == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]  # 5 belonged to the batch that was left
    version = manager.conversation.version
    with pytest.raises(undertext.UndertextError):
        handler.handle_batch_operations(
            manager, [operations[1], {"operation": "delete", "indices": [99]}]
        )
    assert manager.conversation.version == version
    handler.validate_operation(manager, "delete", [0])
    with pytest.raises(undertext.InvalidArgumentError):
        handler.validate_operation(manager, "delete", [99])
    assert manager.conversation.version == version


def test_004_the_mark_map_and_its_managers() -> None:
    manager = filled(10)
    indices = manager.get_index_manager()
    assert manager.get_mark_map()["batchBoundaries"] == [0]
    indices.start_new_batch(5)
    assert manager.get_mark_map()["boundaryToBatch"] == [0, 1]
    assert indices.is_modified(4) and not indices.is_modified(5)
    assert (
        indices.get_batch_index(7),
        indices.get_current_batch(),
        indices.find_boundary_index(1),
        indices.find_boundary_index(7),
    ) == (2, 1, 1, -1)
    assert indices.get_current_batch_indices() == [5, 6, 7, 8, 9]
    assert texts(manager.get_uncompressed_messages()) == ["5", "6", "7", "8", "9"]
    indices.end_batch(0)
    indices.mark_compressed([0, 1])
    indices.rollback_to_batch(0)
    manager.set_original_indices([4, 2])
    assert texts(manager.get_messages()) == ["4", "2"]
    indices.add_index(9)
    indices.add_index(9)
    assert manager.get_type_index_manager().get_all_type_indices() == {
        "system": [],
        "user": [],
        "assistant": [4, 2, 9],
        "tool": [],
    }
    for wrong in ([1, 1], [99], [-1]):
        with pytest.raises(undertext.UndertextError):
            manager.set_original_indices(wrong)
    clone = indices.clone()
    clone.reset()
    assert clone.get_mark_map()["originalIndices"] == [] and indices.get_mark_map()[
        "originalIndices"
    ] == [4, 2, 9]
    by_role = manager.get_type_index_manager()
    by_role.remove_indices([2])
    assert by_role.get_recent_indices_by_role("assistant", 1) == [9]
    assert by_role.get_range_indices_by_role("assistant", 0, 1) == [4]
    by_role.clone().reset()
    assert by_role.get_indices_by_role("assistant") == [4, 9]


CONFIG: ContextCompressionConfig = {"enabled": True, "threshold": 60, "targetTokens": 50}
LONG = [
    say("user" if i % 2 == 0 else "assistant", f"message number {i} of a long talk")
    for i in range(12)
]


class Halving:
    """A strategy of document 004."""

    def compress(
        self, messages: List[Message], mark_map: MarkMap, config: ContextCompressionConfig
    ) -> Compressed:
        half = len(messages) // 2
        summary: Message = {"role": "user", "content": f"{half} messages"}
        mark_map["originalIndices"] = [-1, *mark_map["originalIndices"][half:]]
        return {"messages": [summary, *messages[half:]], "markMap": mark_map}


def test_004_a_strategy_of_ones_own_is_applied_by_the_engine() -> None:
    manager = ConversationManager(
        compression_config={**CONFIG, "threshold": 100_000},
        strategy=Halving(),
        initial_messages=LONG,
    )
    answer = manager.compress(target_tokens=80)
    assert answer["outcome"] == "compressed"
    assert texts(manager.get_messages())[0] == "6 messages" and len(manager.get_messages()) == 7
    manager.rollback_to_batch(0)
    assert manager.get_messages() == LONG


def test_004_compression_runs_by_itself_and_is_told() -> None:
    manager = ConversationManager(
        token_limit=70, compression_config=CONFIG, strategy=SlidingWindowStrategy()
    )
    heard: List[str] = []
    for kind in ("TOKEN_LIMIT_EXCEEDED", "COMPRESSED"):
        manager.on(kind, lambda event: heard.append(event["type"]))
    manager.add_messages(LONG)
    manager.conversation.wait_for_compression()
    assert heard == ["TOKEN_LIMIT_EXCEEDED", "COMPRESSED"]
    assert manager.get_token_count() <= 50 and not manager.is_token_limit_exceeded()
    assert len(manager.get_all_messages()) == 12


@pytest.mark.parametrize(
    "strategy",
    [
        KeepRecentStrategy(2),
        SmartSummaryStrategy(keep=2),
        PipelineStrategy([KeepRecentStrategy(6), KeepRecentStrategy(2)]),
    ],
)
def test_004_shipped_strategies_compress_lists_too(strategy: Any) -> None:
    talk = [{**message, "content": str(message["content"]) * 10} for message in LONG]
    manager = ConversationManager(initial_messages=talk)
    done = strategy.compress(
        manager.get_messages(), manager.get_mark_map(), {**CONFIG, "targetTokens": 600}
    )
    assert len(done["messages"]) < 12 and done["messages"][-1] == talk[-1]
    assert len(done["messages"]) == len(done["markMap"]["originalIndices"])
    assert done["markMap"]["currentBatch"] == 1
    assert (
        strategy.compress([], {**manager.get_mark_map(), "originalIndices": []}, CONFIG)["messages"]
        == []
    )


def test_004_no_strategy_changes_nothing() -> None:
    manager = ConversationManager(initial_messages=LONG)
    given = manager.get_mark_map()
    assert NoOpCompressionStrategy().compress(
        manager.get_messages(), given, {**CONFIG, "targetTokens": 10_000}
    ) == {"messages": LONG, "markMap": given}


def test_a_strategy_that_answers_nonsense_changes_nothing() -> None:
    class Nonsense:
        answers: List[Any] = [
            None,
            {},
            {"messages": [], "markMap": {"originalIndices": []}},
            {"messages": LONG[::-1], "markMap": {"originalIndices": list(range(11, -1, -1))}},
        ]

        def compress(
            self, messages: List[Message], mark_map: MarkMap, config: ContextCompressionConfig
        ) -> Compressed:
            done: Compressed = self.answers.pop()
            return done

    manager = ConversationManager(
        compression_config={**CONFIG, "threshold": 100_000},
        strategy=Nonsense(),
        initial_messages=LONG,
    )
    while Nonsense.answers:
        with pytest.raises(undertext.UndertextError):
            manager.compress()
    assert manager.conversation.version == 1


class Remembering:
    """Keeps the last two messages, and the configuration it was asked with."""

    def __init__(self) -> None:
        self.targets: List[float] = []

    def compress(
        self, messages: List[Message], mark_map: MarkMap, config: ContextCompressionConfig
    ) -> Compressed:
        self.targets.append(config["targetTokens"])
        return {
            "messages": messages[-2:],
            "markMap": {**mark_map, "originalIndices": mark_map["originalIndices"][-2:]},
        }


def test_a_strategy_may_be_part_of_the_configuration() -> None:
    strategy = Remembering()
    with ConversationManager(
        compression_config={**CONFIG, "strategy": strategy}, initial_messages=LONG
    ) as manager:
        manager.conversation.wait_for_compression()
        assert strategy.targets and manager.get_messages() == LONG[-2:]
    with pytest.raises(undertext.InvalidArgumentError):
        ConversationManager(compression_config={**CONFIG, "strategy": strategy}, strategy=strategy)


def test_a_strategy_needs_no_configuration() -> None:
    strategy = Remembering()
    manager = ConversationManager(strategy=strategy, initial_messages=LONG)
    assert manager.compress(target_tokens=40)["outcome"] == "compressed"
    assert strategy.targets == [40] and manager.get_messages() == LONG[-2:]


@pytest.mark.parametrize("strategy", ["banana", 5, float("nan"), object()])
def test_what_is_no_strategy_is_refused(strategy: Any) -> None:
    with pytest.raises(undertext.InvalidArgumentError):
        ConversationManager(compression_config={**CONFIG, "strategy": strategy})
    with pytest.raises(undertext.InvalidArgumentError):
        ConversationManager(compression_config=CONFIG, strategy=strategy)
    with pytest.raises(undertext.InvalidArgumentError):
        filled().compress(strategy, 50)


def test_settings_beside_a_conversation_are_refused() -> None:
    settings: List[Dict[str, Any]] = [
        {"token_limit": 5},
        {"compression_config": CONFIG},
        {"strategy": Halving()},
        {"tokenizer": "none"},
    ]
    for setting in settings:
        with pytest.raises(undertext.InvalidArgumentError):
            ConversationManager(conversation=undertext.open(), **setting)


def test_what_is_no_snapshot_is_refused() -> None:
    snapshot: Dict[str, Any] = {**filled().create_snapshot()}
    manager = filled(3)
    without = [
        {name: value for name, value in snapshot.items() if name != left}
        for left in ("messages", "markMap", "pinned", "version")
    ]
    maps: List[Any] = [
        {},
        5,
        {**snapshot["markMap"], "originalIndices": ["0"]},
        {**snapshot["markMap"], "batchBoundaries": None},
    ]
    wrong: List[Any] = [
        {},
        None,
        [],
        *without,
        {**snapshot, "version": -1},
        {**snapshot, "pinned": [-1]},
        *({**snapshot, "markMap": mark_map} for mark_map in maps),
    ]
    for each in wrong:
        with pytest.raises(undertext.InvalidArgumentError):
            manager.restore_from_snapshot(each)
    assert manager.conversation.version == 1


def test_snapshots_restore_here_and_elsewhere() -> None:
    manager = filled(6)
    manager.mark_message(1, "pinned")
    manager.conversation.truncate(keep_last=3)
    snapshot = json.loads(json.dumps(manager.create_snapshot()))
    manager.cleanup()
    manager.restore_from_snapshot(snapshot)
    assert texts(manager.get_messages()) == ["1", "3", "4", "5"]
    other = ConversationManager(initial_messages=[say("user", "before")])
    other.restore_from_snapshot(snapshot)
    assert texts(other.get_messages()) == ["1", "3", "4", "5"]
    assert texts(other.get_marked_messages_by_role("user", "pinned")) == ["1"]
    assert len(other.get_all_messages()) == 7
    version = other.conversation.version
    broken: Any = {**snapshot, "markMap": {**snapshot["markMap"], "currentBatch": 9}}
    with pytest.raises(undertext.UndertextError):
        other.restore_from_snapshot(broken)
    assert other.conversation.version == version


def test_a_clone_goes_its_own_way() -> None:
    manager = filled(3)
    clone = manager.clone()
    clone.add_message(say("user", "mine"))
    assert (len(clone.get_messages()), len(manager.get_messages())) == (4, 3)
    assert clone.get_message_array_manager().get_stats()["totalMessages"] == 4


def test_usage_is_kept(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/usage.db"
    manager = ConversationManager(conversation=undertext.open(url, "c"))
    assert manager.get_token_usage() is None and manager.get_current_request_usage() is None
    manager.update_token_usage({"promptTokens": 10, "completionTokens": 1})
    manager.update_token_usage({"promptTokens": 10, "completionTokens": 2, "model": "m"})
    assert manager.get_current_request_usage() == {
        "promptTokens": 10,
        "completionTokens": 2,
        "totalTokens": 12,
    }
    manager.finalize_current_request()
    manager.update_token_usage({"promptTokens": 20, "completionTokens": 4, "model": "m"})
    snapshot = manager.create_snapshot()
    manager.close()

    again = ConversationManager(conversation=undertext.open(url, "c"))
    tracker = again.get_token_usage_tracker()
    both: TokenUsageStats = {"promptTokens": 30, "completionTokens": 6, "totalTokens": 36}
    statistics = {
        "requests": 2,
        "averagePromptTokens": 15,
        "averageCompletionTokens": 3,
        "maxPromptTokens": 20,
        "maxCompletionTokens": 4,
    }
    assert tracker.get_statistics() == {**both, **statistics, "byModel": {"m": both}}
    assert len(tracker.get_history()) == 1
    tracker.reset()
    assert again.get_token_usage() is None
    with ConversationManager() as other:
        other.get_token_usage_tracker().restore(snapshot["usage"])
        assert other.get_token_usage() == both
        tracker.restore(other.get_token_usage_tracker().get_state())
    assert again.get_token_usage() == both
    for nonsense in (7, {}, {"promptTokens": -1, "completionTokens": 0}):
        with pytest.raises(ValidationError):
            again.update_token_usage(nonsense)  # type: ignore[arg-type]
    with pytest.raises(ValidationError):
        tracker.restore({"models": 1})
    again.close()


def test_several_blocks_of_a_node_are_one_step() -> None:
    manager = ConversationManager(
        initial_messages=[
            {"role": role, "content": role} for role in ("system", "user", "assistant")
        ]
    )
    config: ContextProcessorNodeConfig = {
        "operation": "truncate",
        "insert": {"position": 0, "messages": [{"role": "user", "content": "first"}]},
        "replace": {"index": 0, "message": {"role": "user", "content": "last"}},
        "truncate": {"keepLast": 1},
        "filter": {"roles": ["user"]},
    }
    assert transform_context_processor_node_config(config) == config
    done = ContextProcessorNodeHandler().execute(manager, config)
    assert (done["operation"], done["messageCount"]) == ("TRUNCATE", 2)
    assert [message["content"] for message in manager.get_messages()] == ["first", "last"]
    with pytest.raises(ValidationError):
        manager.execute(
            {
                "operation": "truncate",
                "truncate": {"keepLast": 1},
                "replace": {"index": 7, "message": {"role": "user", "content": "x"}},
            }
        )
    assert [message["content"] for message in manager.get_messages()] == ["first", "last"]
    assert not validate_context_processor_node_config({**config, "nonsense": 1})


def test_managers_of_indices_say_where_they_come_from() -> None:
    for kind in (TypeIndexManager, MessageIndexManager, TokenUsageTracker):
        with pytest.raises(ValidationError, match=r"ConversationManager\.get_\w+\(\)"):
            kind()


def test_a_mark_map_of_document_004_has_no_indices_per_role() -> None:
    manager = ConversationManager(
        initial_messages=[
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
        ]
    )
    assert [message["content"] for message in manager.get_recent_messages(1, "assistant")] == ["b"]
    manager.set_mark_map(
        {"originalIndices": [1], "batchBoundaries": [0], "boundaryToBatch": [0], "currentBatch": 0}
    )
    assert manager.get_mark_map()["typeIndices"]["assistant"] == [1]


def test_an_event_manager_gets_every_event() -> None:
    heard: List[ConversationEvent] = []

    class Bus:
        def emit(self, event: ConversationEvent) -> None:
            heard.append(event)

    manager = ConversationManager(event_manager=Bus(), pairs="shrink")
    manager.add_message({"role": "user", "content": "hello"})
    assert [event["type"] for event in heard] == [
        EventType.MESSAGE_ADDED,
        EventType.CONTEXT_CHANGED,
    ]
    assert heard[0]["timestamp"] > 0
    with pytest.raises(ValidationError):
        ConversationManager(event_manager=object())  # type: ignore[arg-type]


def test_it_works_on_a_stored_conversation(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'store.db'}"
    with ConversationManager(
        conversation=undertext.open(url, "one"), initial_messages=[say("user", "kept")]
    ):
        pass
    with ConversationManager(conversation=undertext.open(url, "one")) as again:
        assert texts(again.get_messages()) == ["kept"]


def test_what_is_handed_out_is_a_copy() -> None:
    manager = filled(3)
    got: Any = manager.get_messages()
    got[0]["content"] = "changed"
    manager.get_mark_map()["originalIndices"].clear()
    manager.get_type_index_manager().get_all_type_indices()["user"].clear()
    assert texts(manager.get_messages()) == ["0", "1", "2"]


def test_indices_always_equal_a_recount() -> None:
    seed = random.randrange(1 << 30)
    dice = random.Random(seed)
    manager = ConversationManager()
    for step in range(300):
        length = len(manager.conversation)
        try:
            changes: List[Callable[[], object]] = [
                lambda: manager.add_message(
                    say(dice.choice(["system", "user", "assistant"]), str(step))
                ),
                lambda: manager.conversation.insert(
                    dice.randrange(length + 1), say("user", str(step))
                ),
                lambda: manager.conversation.truncate(keep_last=dice.randrange(length + 1)),
                lambda: manager.conversation.delete(indices=[dice.randrange(length)]),
                lambda: manager.rollback_to_batch(
                    dice.randrange(manager.get_index_manager().get_current_batch() + 1)
                ),
                lambda: manager.conversation.undo(),
                lambda: manager.get_index_manager().start_new_batch(
                    manager.get_stats()["totalMessages"]
                ),
            ]
            dice.choice(changes)()
        except (undertext.UndertextError, ValueError):
            pass
        log, marks = manager.get_all_messages(), manager.get_mark_map()
        assert [log[i] for i in marks["originalIndices"]] == manager.get_messages(), seed
        for role, indices in marks["typeIndices"].items():
            assert indices == [i for i in marks["originalIndices"] if log[i]["role"] == role], seed
        assert manager.get_index_manager().check_consistency(), seed
