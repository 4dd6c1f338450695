"""Documents 001 to 004: the indices of the visible messages, which are ordinals. Views of the engine's state: nothing is kept here, so nothing can fall out of step."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Sequence, cast

from .._conversation import Conversation
from .._errors import InvalidArgumentError, UndertextError
from .._shown import of_conversation
from .._wire import number, wire_name
from ..types import MarkMapLike, MarkMap, Message, Role


def _found(conversation: Conversation, query: str, filters: Mapping[str, object]) -> Any:
    """The methods of a conversation leave out what is None; here a filter that is None is refused."""
    return conversation.apply(
        {"query": query, **{wire_name(name): value for name, value in filters.items()}}
    )


def messages_by(conversation: Conversation, **filters: object) -> List[Message]:
    return cast(List[Message], _found(conversation, "messages", filters)["messages"])


def ordinals_by(conversation: Conversation, **filters: object) -> List[int]:
    return cast(List[int], _found(conversation, "messages", filters)["ordinals"])


def count_by(conversation: Conversation, **filters: object) -> int:
    return cast(int, _found(conversation, "count", filters)["count"])


_ROLES = ("system", "user", "assistant", "tool")


def _boundary(mark_map: MarkMapLike) -> int:
    try:
        return number(
            "boundary",
            mark_map["batchBoundaries"][
                mark_map["boundaryToBatch"].index(mark_map["currentBatch"])
            ],
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        raise InvalidArgumentError(
            "a mark map tells where its current batch begins", field="markMap"
        ) from None


def get_current_batch_indices(mark_map: MarkMapLike) -> List[int]:
    """The ordinals of the view that belong to the current batch."""
    boundary = _boundary(mark_map)
    try:
        return [index for index in mark_map["originalIndices"] if index >= boundary]
    except (LookupError, TypeError):
        raise InvalidArgumentError(
            "originalIndices are a list of numbers", field="originalIndices"
        ) from None


def is_modified(original_index: int, mark_map: MarkMapLike) -> bool:
    """Whether a message is from before the current batch."""
    return number("original_index", original_index) < _boundary(mark_map)


def get_batch_index(original_index: int, mark_map: MarkMapLike) -> int:
    """How far a message is from the beginning of the current batch; below 0: it is from before."""
    return number("original_index", original_index) - _boundary(mark_map)


def edit_mark_map(conversation: Conversation, edit: Callable[[MarkMap], None]) -> None:
    """Reads the mark map and takes over what `edit` makes of it; ConflictError: another writer was first."""
    view = conversation.view()
    mark_map: MarkMap = view.query("markMap")["result"]
    edit(mark_map)
    # Without indices per role, which the engine then derives without comparing.
    given: Dict[str, Any] = {
        name: value for name, value in mark_map.items() if name != "typeIndices"
    }
    conversation.import_mark_map(cast(MarkMapLike, given), expected_version=view.version)


def conversation_of(conversation: object, name: str, given: str) -> Conversation:
    """Of the class `name`, which is made by the method `given` of a manager."""
    if not isinstance(conversation, Conversation):
        raise InvalidArgumentError(
            f"a {name} is a view of a conversation: ConversationManager.{given}() gives one",
            field="conversation",
        )
    return conversation


class TypeIndexManager:
    """Where the messages of each role stand in the log: a view of a conversation."""

    def __init__(self, conversation: Conversation | None = None) -> None:
        self.conversation = conversation_of(
            conversation, "TypeIndexManager", "get_type_index_manager"
        )

    def __repr__(self) -> str:
        return of_conversation(self, self.conversation)

    def get_indices_by_role(self, role: Role) -> List[int]:
        """The places of all messages of a role."""
        return ordinals_by(self.conversation, role=role)

    def get_recent_indices_by_role(self, role: Role, n: int) -> List[int]:
        """The places of the last `n` messages of a role."""
        return ordinals_by(self.conversation, role=role, last=n)

    def get_range_indices_by_role(self, role: Role, start: int, end: int) -> List[int]:
        """`start` and `end` count the messages of the role."""
        return ordinals_by(self.conversation, role=role, start=start, end=end)

    def get_all_type_indices(self) -> Dict[str, List[int]]:
        """The places of all messages, by role."""
        return self.conversation.mark_map()["typeIndices"]

    def add_index(self, role: Role, index: int) -> None:
        """The message with this ordinal, which must have that role, stands at the end of the view. Nothing to do where it is visible."""
        view = self.conversation.view()
        mark_map: MarkMap = view.query("markMap")["result"]
        of_role = mark_map["typeIndices"].get(role) if isinstance(role, str) else None
        if of_role is None:
            raise InvalidArgumentError("role is one of " + ", ".join(_ROLES), field="role")
        if number("index", index) not in mark_map["originalIndices"]:
            mark_map["originalIndices"].append(index)
            of_role.append(index)  # which the engine compares with the message
            self.conversation.import_mark_map(mark_map, expected_version=view.version)
        elif index not in of_role:
            raise InvalidArgumentError(f"message {index} has another role", field="role")

    def remove_indices(self, indices: Sequence[int]) -> None:
        """DELETE."""
        self.conversation.delete(ordinals=indices)

    def clone(self) -> TypeIndexManager:
        """Of a fork: what is done to either changes nothing in the other."""
        return TypeIndexManager(self.conversation.fork())

    def reset(self) -> None:
        """Hides everything; the batches stay."""
        edit_mark_map(self.conversation, lambda mark_map: mark_map["originalIndices"].clear())


class MessageIndexManager:
    """The mark map of a conversation: which messages of the log are visible, and which batch they belong to."""

    def __init__(self, conversation: Conversation | None = None) -> None:
        self.conversation = conversation_of(
            conversation, "MessageIndexManager", "get_index_manager"
        )

    def __repr__(self) -> str:
        return of_conversation(self, self.conversation)

    def get_mark_map(self) -> MarkMap:
        """Where the messages of the view stand in the log, by role and by batch."""
        return self.conversation.mark_map()

    def add_index(self, index: int) -> None:
        """The message with this ordinal stands at the end of the view. Nothing to do where it is visible."""
        if number("index", index) not in self.get_mark_map()["originalIndices"]:
            edit_mark_map(
                self.conversation, lambda mark_map: mark_map["originalIndices"].append(index)
            )

    def set_original_indices(self, indices: Sequence[int]) -> None:
        """The view is these ordinals in this order; no batch is opened."""

        def edit(mark_map: MarkMap) -> None:
            mark_map["originalIndices"] = cast(List[int], indices)

        edit_mark_map(self.conversation, edit)

    def start_new_batch(self, boundary_index: int) -> None:
        """START_BATCH: ordinals from the boundary on belong to the new batch."""
        self.conversation.apply({"operation": "START_BATCH", "boundary": boundary_index})

    def end_batch(self, target_batch: int) -> None:
        """Returns to a batch below."""
        self.conversation.apply({"operation": "END_BATCH", "targetBatch": target_batch})

    def rollback_to_batch(self, target_batch: int) -> None:
        """Returns to a batch as it last was."""
        self.conversation.rollback(target_batch)

    def mark_compressed(self, indices: Sequence[int]) -> None:
        """COMPRESS: hides these ordinals, in a separate batch."""
        self.conversation.compress(ordinals=indices)

    def is_modified(self, original_index: int) -> bool:
        """Whether a message is from before the current batch."""
        return is_modified(original_index, self.get_mark_map())

    def get_batch_index(self, original_index: int) -> int:
        """How far a message is from the beginning of the current batch; below 0: it is from before."""
        return get_batch_index(original_index, self.get_mark_map())

    def get_current_batch_indices(self) -> List[int]:
        """The places of the messages that belong to the current batch."""
        return get_current_batch_indices(self.get_mark_map())

    def get_current_batch(self) -> int:
        """The number of the current batch."""
        return self.get_mark_map()["currentBatch"]

    def find_boundary_index(self, batch: int) -> int:
        """The place of a batch in the stack; -1: it is not there."""
        batches = self.get_mark_map()["boundaryToBatch"]
        return batches.index(batch) if batch in batches else -1

    def check_consistency(self) -> bool:
        """Whether the mark map passes the checks of an import, which recount it: it always does, since it is derived."""
        with self.conversation.fork() as fork:
            try:
                fork.import_mark_map(fork.mark_map())
            except UndertextError:
                return False
        return True

    def clone(self) -> MessageIndexManager:
        """Of a fork: what is done to either changes nothing in the other."""
        return MessageIndexManager(self.conversation.fork())

    def reset(self) -> None:
        """Hides everything, and goes back to batch 0 alone."""

        def edit(mark_map: MarkMap) -> None:
            mark_map.update(
                {
                    "originalIndices": [],
                    "batchBoundaries": [0],
                    "boundaryToBatch": [0],
                    "currentBatch": 0,
                }
            )

        edit_mark_map(self.conversation, edit)
