"""Documents 001 to 004: the conversation."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Dict, List, Literal, Mapping, Sequence, Type, cast

from .. import _brought
from .._conversation import Conversation, Subscription
from .._errors import InvalidArgumentError
from .._shown import of_conversation
from .._store import open
from .._wire import check_function, given
from ..types import Answer, Event, MarkMapLike, Limits, MarkMap, Message, MessageLike, Role, Stats
from ._array import MessageArrayManager, apply
from ._compression import OWN, StrategyOf, engine_choice, renamed
from ._events import EventManager, stamped
from ._indices import MessageIndexManager, TypeIndexManager, count_by, messages_by
from ._node_blocks import node_operations
from ._snapshot import contents_of, restore
from ._usage import TokenUsageTracker
from .types import ContextCompressionConfig, ConversationState, LLMUsage, TokenUsageStats


class ConversationManager:
    """A conversation, in memory or, with `conversation=undertext.open(url, id, …)`, whichever is handed in: that one has its own settings, so none are taken beside it."""

    def __init__(
        self,
        *,
        token_limit: int | None = None,
        compression_config: ContextCompressionConfig | None = None,
        strategy: StrategyOf = None,
        model: str | None = None,
        tokenizer: str | None = None,
        pairs: Literal["literal", "shrink", "grow"] | None = None,
        limits: Limits | None = None,
        initial_messages: Sequence[MessageLike] = (),
        event_manager: EventManager | None = None,
        conversation: Conversation | None = None,
    ) -> None:
        settings = given(
            {
                "token_limit": token_limit,
                "model": model,
                "tokenizer": tokenizer,
                "pairs": pairs,
                "limits": limits,
            }
        )
        wanted = {
            **given({"compression_config": compression_config, "strategy": strategy}),
            **settings,
        }
        if event_manager is not None:
            check_function("event_manager", getattr(event_manager, "emit", None))
        if conversation is not None and wanted:
            raise InvalidArgumentError(
                "a conversation that is handed in has its own settings: say this where it is opened",
                field=next(iter(wanted)),
            )
        self.token_limit = token_limit
        self.compression_config = compression_config
        self._strategy: Any = "default"
        self._code: Dict[str, Any] = {}
        if conversation is None:
            self.conversation = self._open(strategy, settings)
        else:
            self.conversation = conversation
            self._read_settings()
        if event_manager is not None:
            self.conversation.subscribe(lambda event: event_manager.emit(stamped(event)))
        if initial_messages:
            self.add_messages(initial_messages)

    def __repr__(self) -> str:
        return of_conversation(self, self.conversation)

    def _read_settings(self) -> None:
        settings = self.conversation._settings
        self.token_limit = settings.get("tokenLimit")
        self.compression_config = settings.get("compressionConfig")
        self._strategy = (self.compression_config or {}).get("strategy", self._strategy)

    def _open(self, strategy: object, settings: Dict[str, Any]) -> Conversation:
        config = self.compression_config
        if config is not None and not isinstance(config, Mapping):
            raise InvalidArgumentError("a configuration is a dict", field="compressionConfig")
        if config is not None and "strategy" in config:
            if strategy is not None:
                raise InvalidArgumentError(
                    "the configuration has a strategy already", field="strategy"
                )
            strategy = config["strategy"]
        self._strategy, summarisers, strategies = engine_choice(strategy, config, self.token_limit)
        self._code = {**summarisers, **strategies}
        if config is not None:
            settings["compressionConfig"] = {**config, "strategy": self._strategy}
        return open(settings=settings, summarisers=summarisers, strategies=strategies)

    # Changes

    def add_message(self, message: MessageLike) -> int:
        """The number of messages ever stored, this one included: one more than its ordinal."""
        return self.add_messages([message])

    def add_messages(self, messages: Sequence[MessageLike]) -> int:
        """All of them or none."""
        return self.execute({"operation": "APPEND", "messages": messages})["stats"]["totalMessages"]

    def execute(self, operation: Mapping[str, object]) -> Answer:
        """Any operation, in any of the documents' spellings.

        The blocks of a node's configuration are applied in one step: clear, filter, truncate, replace, insert; the answer is that of the last, with the name of the one
        that `operation` says.
        """
        operations = node_operations(operation)
        if len(operations) == 1:
            return apply(self.conversation, operations[0])
        results = self.conversation.apply_all(operations)
        named = next(
            place
            for place, each in enumerate(operations)
            if each["operation"] == operation["operation"]
        )
        return {**results[-1], "operation": results[named]["operation"]}

    def execute_all(self, operations: Sequence[Mapping[str, object]]) -> List[Answer]:
        """All of them or none; each block of a node's configuration is one."""
        return self.conversation.apply_all(
            [each for operation in operations for each in node_operations(operation)]
        )

    def clear_messages(self, keep_system_message: bool = True) -> None:
        """Hides all messages; system messages stay by default."""
        self.conversation.clear(keep_system_message=keep_system_message)

    def mark_message(self, index: int, mark: str) -> None:
        """MARK. `index` is the ordinal: marks belong to messages, hidden ones too."""
        self.conversation.mark(mark, ordinals=[index])

    def unmark_message(self, index: int, mark: str) -> None:
        """Takes a label from the message at this place of the log."""
        self.conversation.unmark(mark, ordinals=[index])

    def rollback_to_batch(self, target_batch: int) -> None:
        """The view as it last was in that batch, what was appended in it included."""
        self.conversation.rollback(target_batch)

    def set_original_indices(self, indices: Sequence[int]) -> None:
        """The view is these ordinals in this order; no batch is opened."""
        self.get_index_manager().set_original_indices(indices)

    def compress(
        self,
        strategy: StrategyOf = None,
        target_tokens: int | None = None,
        *,
        progress: bool | None = None,
    ) -> Answer:
        """Runs the strategy that was given when this was made, or this one. Code of yours runs here and now, on a version that stays as it is: what others append meanwhile stays.
        Without `target_tokens` a strategy that works towards a target has the conversation's. CannotFitError: it cannot be reached; with `progress`, what can be freed is."""
        aim = given({"target_tokens": target_tokens, "progress": progress})
        if strategy is None:
            return self.conversation.apply(
                {"operation": "COMPRESS", "strategy": self._strategy, **aim}
            )
        chosen, summarisers, strategies = engine_choice(
            strategy, self.compression_config, self.token_limit
        )
        unknown = {
            name: code for name, code in summarisers.items() if self._code.get(name) is not code
        }
        with _brought.brought(strategies.get(OWN), unknown) as names:
            chosen = _brought.STRATEGY if strategies else renamed(chosen, names)
            return self.conversation.apply({"operation": "COMPRESS", "strategy": chosen, **aim})

    def wait_for_compression(self) -> None:
        """Until none is under way in the background."""
        self.conversation.wait_for_compression()

    def set_mark_map(self, mark_map: MarkMapLike) -> None:
        """The view and the stack of batches become those of the map, once it has passed the engine's checks."""
        self.conversation.import_mark_map(mark_map)

    # Reading: of the view, where nothing else is said

    def get_messages(self) -> List[Message]:
        """The messages of the view."""
        return self.conversation.messages()

    def get_all_messages(self) -> List[Message]:
        """The log: all messages ever stored; a place in it is an ordinal."""
        return self.conversation.messages(all=True)

    def get_recent_messages(self, n: int, role: Role | None = None) -> List[Message]:
        """With `role`, the last `n` of that role."""
        return (
            messages_by(self.conversation, last=n)
            if role is None
            else messages_by(self.conversation, role=role, last=n)
        )

    def get_messages_by_range(self, start: int, end: int) -> List[Message]:
        """The messages from `start` up to `end`."""
        return messages_by(self.conversation, start=start, end=end)

    def get_messages_by_role(self, role: Role) -> List[Message]:
        """All messages of a role."""
        return messages_by(self.conversation, role=role)

    def get_recent_messages_by_role(self, role: Role, n: int) -> List[Message]:
        """The last `n` messages of a role."""
        return messages_by(self.conversation, role=role, last=n)

    def get_messages_by_role_range(self, role: Role, start: int, end: int) -> List[Message]:
        """`start` and `end` count the messages of the role."""
        return messages_by(self.conversation, role=role, start=start, end=end)

    def get_message_count_by_role(self, role: Role) -> int:
        """How many messages of a role there are."""
        return count_by(self.conversation, role=role)

    def get_recent_messages_by_roles(self, roles: Sequence[Role], n: int) -> List[Message]:
        """The last `n` messages of any of these roles."""
        return messages_by(self.conversation, roles=roles, last=n)

    def get_messages_by_role_and_time_range(
        self, role: Role, start_time: int, end_time: int
    ) -> List[Message]:
        """`start_time` <= t < `end_time`, in milliseconds since 1970; t is the message's timestamp, else its arrival."""
        return messages_by(self.conversation, role=role, from_=start_time, to=end_time)

    def get_marked_messages_by_role(self, role: Role, mark: str) -> List[Message]:
        """The messages of a role that have a label."""
        return messages_by(self.conversation, role=role, marked=mark)

    def filter_messages_by_role(self, role: Role) -> List[Message]:
        """get_messages_by_role() by its older name: it changes nothing."""
        return self.get_messages_by_role(role)

    def get_uncompressed_messages(self) -> List[Message]:
        """Those of the current batch."""
        return self.conversation.uncompressed()

    def get_mark_map(self) -> MarkMap:
        """Where the messages of the view stand in the log, by role and by batch."""
        return self.conversation.mark_map()

    def get_stats(self) -> Stats:
        """How many messages and batches there are."""
        return self.conversation.stats()

    def get_index_manager(self) -> MessageIndexManager:
        """The mark map, as a view of this conversation."""
        return MessageIndexManager(self.conversation)

    def get_type_index_manager(self) -> TypeIndexManager:
        """The places of each role, as a view of this conversation."""
        return TypeIndexManager(self.conversation)

    def get_message_array_manager(self) -> MessageArrayManager:
        """The same messages by the interface of document 000."""
        return MessageArrayManager(conversation=self.conversation)

    # Tokens and events

    def get_token_count(self) -> int:
        """Of the view."""
        return self.conversation.stats()["tokens"]

    def is_token_limit_exceeded(self) -> bool:
        """Whether the view has more tokens than the limit."""
        return self.token_limit is not None and self.get_token_count() > self.token_limit

    def get_token_usage_tracker(self) -> TokenUsageTracker:
        """What providers reported of requests."""
        return TokenUsageTracker(self.conversation)

    def update_token_usage(self, usage: LLMUsage) -> None:
        """What a provider reported of the request under way; takes the place of what was reported of it before."""
        self.get_token_usage_tracker().update(usage)

    def finalize_current_request(self) -> None:
        """The request under way is over. Nothing to do where there is none."""
        self.get_token_usage_tracker().finish()

    def get_token_usage(self) -> TokenUsageStats | None:
        """Of all requests, that under way included; None: there was none."""
        return self.get_token_usage_tracker().get_totals()

    def get_current_request_usage(self) -> TokenUsageStats | None:
        """None: none is under way."""
        return self.get_token_usage_tracker().get_current_request()

    def on(self, type: str, listener: Callable[[Event], object]) -> Subscription:
        """`listener` gets the events of that type; it may read the conversation, and change it later."""
        check_function("listener", listener)
        return self.conversation.subscribe(
            lambda event: listener(stamped(event)) if event["type"] == type else None
        )

    # Snapshots

    def create_snapshot(self) -> ConversationState:
        """All of the conversation, as data."""
        view = self.conversation.view()
        tracker = self.get_token_usage_tracker()
        usage = {
            "tokenUsage": tracker.get_totals(),
            "currentRequestUsage": tracker.get_current_request(),
            "usage": tracker.get_state(),
        }
        return cast(ConversationState, {**contents_of(view), "version": view.version, **usage})

    def restore_from_snapshot(self, snapshot: ConversationState) -> None:
        """The state of the snapshot as a new version, in one step: RESTORE where it is one of this conversation's. Of another conversation, its messages are appended to the log, its pins and its mark map are
        taken over. Nothing is lost either way. Usage is not restored: it was used; get_token_usage_tracker().restore(snapshot["usage"]) takes it over. ConflictError: another writer was first."""
        restore(self.conversation, snapshot)

    def clone(self) -> ConversationManager:
        """A fork, in memory: what is done to either changes nothing in the other."""
        cloned = ConversationManager(conversation=self.conversation.fork())
        cloned.token_limit, cloned.compression_config = self.token_limit, self.compression_config
        cloned._strategy, cloned._code = self._strategy, self._code
        return cloned

    def cleanup(self) -> None:
        """Hides everything, system messages too. Nothing is lost."""
        self.clear_messages(False)

    def close(self) -> None:
        """Closes the conversation."""
        self.conversation.close()

    def __enter__(self) -> ConversationManager:
        return self

    def __exit__(
        self,
        kind: Type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
