"""The shapes of what goes in and comes out, for type checkers. At run time they are plain dicts, with the names of the protocol (docs/operations.md).

_protocol.py and _arguments.py are generated from the schema of the protocol; here is what is not part of it.
"""

from __future__ import annotations

from typing import Callable, List, Literal, Sequence, TypedDict, Union

from ._arguments import *  # noqa: F401,F403
from ._message import Message as Message, MessageLike as MessageLike
from ._native import Cancel
from ._protocol import *  # noqa: F401,F403
from ._protocol import (
    GivenMarkMap,
    MarkMap,
    ModelLimits,
    ModelPrices,
    Outcome,
    Role,
    StrategyChoice,
    VersionEntry,
)

#: What an operation did.
Answer = Outcome
HistoryEntry = VersionEntry
Limits = ModelLimits
Prices = ModelPrices

#: When a call of a store returns: with "full", what it wrote is on the disk; with "normal", it will be within moments.
Durability = Literal["full", "normal"]

#: Whether a conversation is made where there is none, must be there, or must not.
Make = Literal["if_missing", "never", "always"]

#: A mark map to import: as it was exported, or without what follows from the messages.
MarkMapLike = Union[MarkMap, GivenMarkMap]

#: A strategy: its name, or an object with its name and arguments.
StrategyLike = StrategyChoice


class Count(TypedDict):
    count: int
    tokens: int


class _Derived(TypedDict):
    conversation: str
    ordinal: int
    kind: Literal["summary", "copy"]


class _Quoting(TypedDict):
    conversation: str
    version: int


class Redaction(TypedDict):
    """What a redaction found and did."""

    #: How many messages.
    redacted: int
    #: What was made from the messages that were named, here and in forks.
    derived: List[_Derived]
    #: Whose descriptions or arguments quote them.
    operations: List[_Quoting]


class Entry(TypedDict):
    """What is known of a message in a view, beside its bytes."""

    ordinal: int
    timeMs: int
    tokens: int
    role: Role


class _SummaryBase(TypedDict):
    text: str


class Summary(_SummaryBase, total=False):
    """What a summariser may answer with in place of a str: which model was asked, and what that cost."""

    model: str
    promptTokens: int
    completionTokens: int


class Replacement(TypedDict, total=False):
    """With a summary, the messages to hide stand together."""

    hide: Sequence[int]
    summary: MessageLike


class Plan(TypedDict, total=False):
    replacements: Sequence[Replacement]
    reason: str


#: Writes a text of at most so many tokens that can stand for the messages.
Summariser = Callable[[List[Message], int, Cancel], Union[str, Summary]]
