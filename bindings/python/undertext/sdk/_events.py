"""The events of a conversation: the document's event of 004, and the engine's others, in the same shape."""

from __future__ import annotations

import time
from enum import Enum
from typing import Protocol

from ..types import Event


class EventType(str, Enum):
    """The content of an event."""

    MESSAGE_ADDED = "MESSAGE_ADDED"
    BATCH_OPENED = "BATCH_OPENED"
    ROLLED_BACK = "ROLLED_BACK"
    CONTEXT_CHANGED = "CONTEXT_CHANGED"
    REWRITTEN = "REWRITTEN"
    TOKEN_LIMIT_EXCEEDED = "TOKEN_LIMIT_EXCEEDED"
    COMPRESSION_THRESHOLD_EXCEEDED = "COMPRESSION_THRESHOLD_EXCEEDED"
    COMPRESSED = "COMPRESSED"
    COMPRESSION_FAILED = "COMPRESSION_FAILED"
    COMPRESSION_DISCARDED = "COMPRESSION_DISCARDED"


class ConversationEvent(Event, total=False):
    """What listeners are handed."""

    timestamp: int


class EventManager(Protocol):
    """A bus of the host: it gets every event."""

    def emit(self, event: ConversationEvent) -> object:
        """Hands an event to all who listen to its type."""


def stamped(event: Event) -> ConversationEvent:
    """A copy in the documents' shape, with when it was heard of, in milliseconds since 1970."""
    return {**event, "timestamp": int(time.time() * 1000)}
