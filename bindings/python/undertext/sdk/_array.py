"""Document 000: the message array."""

from __future__ import annotations

from typing import List, Mapping, Sequence, cast

from .._conversation import Conversation
from .._errors import InvalidArgumentError
from .._shown import of_conversation
from .._store import open
from ..types import Answer, BatchSnapshot, Message, MessageLike, State, Stats
from .types import MessageOperationResult


def apply(conversation: Conversation, operation: Mapping[str, object]) -> Answer:
    """What is an operation, and neither a list of them nor a query, which are answered otherwise."""
    if not isinstance(operation, Mapping) or "query" in operation:
        raise InvalidArgumentError("an operation is a dict that names it", field="operation")
    return conversation.apply(operation)


class MessageArrayManager:
    """The message array of document 000, as operations of a conversation."""

    def __init__(
        self,
        initial_messages: Sequence[MessageLike] = (),
        *,
        conversation: Conversation | None = None,
    ) -> None:
        self.conversation = open() if conversation is None else conversation
        if initial_messages:
            self.conversation.append(initial_messages)

    def __repr__(self) -> str:
        return of_conversation(self, self.conversation)

    def execute(self, operation: Mapping[str, object]) -> MessageOperationResult:
        """An operation, in any of the documents' spellings; the state is that of the version it made, whatever others do meanwhile."""
        answer = apply(self.conversation, operation)
        state = self.conversation.view(answer["version"]).query("state")["result"]
        return {
            "state": cast(State, state),
            "affectedBatchIndex": answer["affectedBatchIndex"],
            "stats": answer["stats"],
        }

    def get_state(self) -> State:
        """The messages, with the snapshots of batches."""
        return self.conversation.state()

    def get_current_messages(self) -> List[Message]:
        """The messages of the view."""
        return self.conversation.messages()

    def get_stats(self) -> Stats:
        """How many messages and batches there are."""
        return self.conversation.stats()

    def rollback(self, batch_index: int) -> MessageOperationResult:
        """Returns to a batch as it last was."""
        return self.execute({"operation": "ROLLBACK", "targetBatchIndex": batch_index})

    def get_batch_snapshot(self, batch_index: int) -> BatchSnapshot | None:
        """The view as it last was in a batch that was left; None for the current one."""
        return self.conversation.batch_snapshot(batch_index)
