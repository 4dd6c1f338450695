"""Messages, for type checkers."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, TypedDict


class _MessageBase(TypedDict):
    role: str
    content: Any


class Message(_MessageBase, total=False):
    """A message as it was given. It may have any other field."""

    id: str
    timestamp: int
    toolCalls: List[Dict[str, Any]]
    toolCallId: str
    metadata: Dict[str, Any]


#: A message on its way in: a Message, or any other dict.
MessageLike = Mapping[str, object]
