"""Messages, for type checkers."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Protocol, TypedDict, Union


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


class Dumped(Protocol):
    """An object of pydantic's, as SDKs return them: it is what model_dump() says."""

    def model_dump(self, *, mode: Any = ..., by_alias: Any = ..., exclude_none: Any = ...) -> Any:
        """Its members, by alias and without what is None."""


#: A message on its way in: a Message, any other dict, or an object of pydantic's.
MessageLike = Union[Mapping[str, object], Dumped]
