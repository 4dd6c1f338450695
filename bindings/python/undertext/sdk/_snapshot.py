"""A conversation's state as a host of the documents saves it."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

from .._conversation import Conversation
from .._errors import InvalidArgumentError, NotFoundError
from .._view import View
from .._wire import copied, number
from .types import ConversationState


def contents_of(view: View) -> Dict[str, Any]:
    return {
        "messages": view.messages(all=True),
        "markMap": view.query("markMap")["result"],
        "pinned": view.query("messages", all=True, marked="pinned")["ordinals"],
    }


def restore(conversation: Conversation, snapshot: ConversationState) -> None:
    wanted = _checked(snapshot)
    head = conversation.version
    if _is_own(conversation, wanted, head):
        conversation.restore(wanted["version"], expected_version=head)
    else:
        _take_over(conversation, wanted, head)


_LISTS = ("originalIndices", "batchBoundaries", "boundaryToBatch")


def _checked(snapshot: object) -> Dict[str, Any]:
    """A copy, checked as far as it is read here; the rest is for the engine to judge."""
    if not isinstance(snapshot, Mapping):
        raise InvalidArgumentError("a snapshot is a dict", field="snapshot")
    wanted: Dict[str, Any] = copied(snapshot)
    mark_map = wanted.get("markMap")
    if not isinstance(mark_map, Mapping):
        raise InvalidArgumentError("a snapshot has a markMap", field="markMap")
    if not isinstance(wanted.get("messages"), list):
        raise InvalidArgumentError("messages must be a list", field="messages")
    number("version", wanted.get("version"))
    for name, ordinals in [
        ("pinned", wanted.get("pinned")),
        *((name, mark_map.get(name)) for name in _LISTS),
    ]:
        if not isinstance(ordinals, list):
            raise InvalidArgumentError(f"{name} must be a list", field=name)
        for ordinal in ordinals:
            number(name, ordinal)
    return wanted


def _is_own(conversation: Conversation, wanted: Mapping[str, Any], head: int) -> bool:
    if wanted["version"] > head:
        return False
    try:
        contents = contents_of(conversation.view(wanted["version"]))
    except NotFoundError:  # that version was pruned
        return False
    return contents == {name: wanted[name] for name in contents}


def _take_over(conversation: Conversation, wanted: Mapping[str, Any], head: int) -> None:
    """After what is there already, so all ordinals move by that much, in one step."""
    already = conversation.stats()["totalMessages"]

    def moved(ordinals: Sequence[int]) -> List[int]:
        return [ordinal + already for ordinal in ordinals]

    mark_map = wanted["markMap"]
    operations: List[Dict[str, object]] = []
    if wanted["messages"]:
        operations.append({"operation": "APPEND", "messages": wanted["messages"]})
    if wanted["pinned"]:
        operations.append(
            {"operation": "MARK", "mark": "pinned", "ordinals": moved(wanted["pinned"])}
        )
    moved_map = {
        **{name: value for name, value in mark_map.items() if name != "typeIndices"},
        "originalIndices": moved(mark_map["originalIndices"]),
        "batchBoundaries": mark_map["batchBoundaries"][:1] + moved(mark_map["batchBoundaries"][1:]),
    }
    operations.append({"operation": "IMPORT_MARK_MAP", "markMap": moved_map})
    operations[0]["expectedVersion"] = head
    conversation.apply_all(operations)
