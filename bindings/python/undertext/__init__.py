"""Undertext keeps the message array that an LLM agent sends to its model: every edit is an operation, no edit loses anything, and every earlier state can be read and restored.

with undertext.open("sqlite:agent.db", "support-17") as conversation:
    conversation.append({"role": "user", "content": "Hello"})
    conversation.messages(role="user", last=3)
"""

from __future__ import annotations

import atexit
import json
import os
from typing import Any, Dict, Mapping, Sequence, Union, cast

from . import _native
from ._blocks import read_blocks
from ._conversation import Conversation, Events, Subscription
from ._errors import (
    CannotFitError,
    ConflictError,
    CorruptError,
    DeniedError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfMemoryError,
    TooLargeError,
    UnavailableError,
    UndertextError,
    UnsupportedError,
)
from ._native import Cancel
from ._store import Store, open, quick, restore_store, slow
from ._view import Strategy, View
from ._wire import given
from .types import Block, Message, Model, Settings, Summariser, ToolsCount, Validated

__version__ = _native.library_version

__all__ = [
    "Block",
    "Cancel",
    "CannotFitError",
    "ConflictError",
    "Conversation",
    "CorruptError",
    "DeniedError",
    "Events",
    "InternalError",
    "InvalidArgumentError",
    "Message",
    "Model",
    "NotFoundError",
    "OutOfMemoryError",
    "Settings",
    "Store",
    "Strategy",
    "Stream",
    "Subscription",
    "Summariser",
    "TooLargeError",
    "ToolsCount",
    "UnavailableError",
    "UndertextError",
    "UnsupportedError",
    "View",
    "__version__",
    "add_models",
    "count_tokens",
    "count_tools",
    "find_model",
    "import_after",
    "import_messages",
    "open",
    "quick",
    "read_blocks",
    "restore_store",
    "slow",
    "validate_request",
]

# Conversations that are still open are closed while Python can still be called back.
atexit.register(_native.end)
# A child has none of the library's threads, and no right to the parent's files: what was open is closed there.
os.register_at_fork(after_in_child=_native.forget)


def _asked_by(dialect: str, tool_names: Mapping[str, str] | None) -> str:
    """How an answer was asked for: by the dialect alone, or with the names of tools that were sent."""
    return (
        dialect
        if tool_names is None
        else json.dumps({"dialect": dialect, "toolNames": dict(tool_names)})
    )


def import_messages(
    dialect: str,
    payload: Union[str, bytes, Mapping[str, object], list[Any]],
    *,
    tool_names: Mapping[str, str] | None = None,
) -> Dict[str, Any]:
    """A request or response of a provider, as JSON text or what it was read into, as {"messages":[…],"rest":{…}}.

    Calls get the caller's names again by `tool_names`, the "toolNames" of render().
    """
    return cast(Dict[str, Any], _native.import_messages(_asked_by(dialect, tool_names), payload))


def import_after(
    view: View,
    payload: Union[str, bytes, Mapping[str, object], list[Any]],
    dialect: str | None = None,
    *,
    profile: Any = None,
    tool_names: Mapping[str, str] | None = None,
) -> Dict[str, Any]:
    """import_messages() of a client that sends back what it was given, and more: what equals the rendering of `view` is left out, and counted as "known"."""
    return cast(
        Dict[str, Any],
        view._native.import_after(
            given({"dialect": dialect, "profile": profile, "tool_names": tool_names}), payload
        ),
    )


def validate_request(
    payload: Union[str, bytes, Mapping[str, object], list[Any]],
    dialect: str | None = None,
    *,
    profile: Any = None,
) -> Validated:
    """Whether a provider would take a request (a body, or a list of messages) as it stands."""
    return cast(
        Validated,
        _native.validate_request(given({"dialect": dialect, "profile": profile}), payload),
    )


def count_tokens(tokenizer: str, text: str) -> int:
    """By any name that a conversation's tokenizer may have, such as "o200k_base" or "estimate"."""
    return _native.count_tokens(tokenizer, text)


def count_tools(model: str, tools: Union[str, bytes, Sequence[Mapping[str, object]]]) -> ToolsCount:
    """What the `tools` of a request cost, in the form of any provider. By a model's name, or any that a conversation's tokenizer may have."""
    return cast(
        ToolsCount,
        _native.count_tools(model, tools if isinstance(tools, (str, bytes)) else list(tools)),
    )


def find_model(name: str) -> Model:
    """What is known of a model by its name, in any spelling; what is unknown is absent."""
    return cast(Model, _native.find_model(name))


def add_models(models: Union[str, bytes, Mapping[str, object]]) -> None:
    """Lays rows over the table of models, for the whole process: the JSON of docs/models.md, as text or what it was read into."""
    _native.add_models(models)


class Stream:
    """Puts the events of a streamed answer together: feed it the data of each. For one thread at a time."""

    def __init__(self, dialect: str, *, tool_names: Mapping[str, str] | None = None) -> None:
        self._native = _native.Stream(_asked_by(dialect, tool_names))
        self._dialect = dialect

    def __repr__(self) -> str:
        return f"<Stream: {self._dialect}, {'complete' if self.result()['complete'] else 'not complete yet'}>"

    def feed(self, data: Union[str, bytes, Mapping[str, object]]) -> None:
        """The data of one event, as JSON text or what it was read into."""
        self._native.feed(data)

    def result(self) -> Dict[str, Any]:
        """What is there so far: `complete`, and with it `message`, `finishReason`, `usage`, `error` where there is one."""
        return cast(Dict[str, Any], self._native.result())
