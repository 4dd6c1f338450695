"""Conversations that follow agents: for adapters that stand between a framework's own list of
messages and its model."""

from __future__ import annotations

import contextlib
import json
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Union, cast

from ._conversation import Conversation
from ._errors import InvalidArgumentError
from ._foreign import messages_of, spelled
from ._store import Store
from ._store import open as open_conversation
from .types import Settings

#: One conversation, or a store that has one for each thread.
Where = Union[Conversation, Store]
AnySettings = Union[Settings, Mapping[str, object]]


class Followed:
    """Where the messages of an agent are kept."""

    def __init__(self, where: Where, name: str, settings: AnySettings | None) -> None:
        if isinstance(where, Conversation) and settings is not None:
            raise InvalidArgumentError(
                "a conversation has its settings already: give them to undertext.open()",
                field="settings",
            )
        self._where = where
        self._name = name
        self._settings = settings

    def tools(self) -> List[Dict[str, Any]]:
        """The `name`, `description` and `input_schema` of tools that read what was hidden, where
        the settings say that summaries name them to the model."""
        of = self._where._settings if isinstance(self._where, Conversation) else self._settings
        if cast("Mapping[str, object]", of or {}).get("contextTools") is not True:
            return []
        with open_conversation() as conversation:
            return conversation.tools("anthropic")

    @contextlib.contextmanager
    def conversation(self, thread: str | None) -> Iterator[Conversation]:
        """That of a thread, open until the end of the block. InvalidArgumentError: there is a
        store, and no thread is named."""
        if isinstance(self._where, Conversation):
            yield self._where
            return
        if not thread:
            raise InvalidArgumentError(
                "a store has a conversation for each thread, and the call names no thread",
                field="thread",
            )
        id = f"{self._name}.{spelled(thread, 80)}"
        with self._where.open(id, settings=self._settings) as conversation:
            yield conversation


def follow(conversation: Conversation, **request: Any) -> None:
    """Follows the list that an agent has now, until what this makes necessary is compressed: then
    the view is what the model is to see."""
    conversation.reconcile(**request)
    conversation.wait_for_compression()


def seen(conversation: Conversation, texts: Sequence[str]) -> List[Mapping[str, Any]]:
    """The view that follows a list of messages, each given as JSON."""
    follow(conversation, messages=json.loads(f"[{','.join(texts)}]"))
    return messages_of(conversation)
