"""One version of a conversation, which stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, List, Tuple, Union, cast, overload

from . import _native
from ._typing import Unpack
from ._wire import members, number
from .types import Entry, Message, MessageFilters, Plan, Role

_ROLES: Tuple[Role, ...] = ("system", "user", "assistant", "tool")


class View(Sequence[Message]):
    """The messages of one version, in order. Reading one costs the logarithm of their number."""

    def __init__(self, native: _native.View) -> None:
        self._native = native

    def __len__(self) -> int:
        return self._native.size()

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> List[Message]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Message, List[Message]]:
        size = self._native.size()
        if isinstance(index, slice):
            return [self._native.message(i) for i in range(*index.indices(size))]
        if not -size <= index < size:
            raise IndexError(f"the view has {size} messages")
        return cast(Message, self._native.message(index % size))

    @property
    def tokens(self) -> int:
        return self._native.tokens()

    @property
    def version(self) -> int:
        return self._native.version()

    def text(self, index: int) -> str:
        """The JSON of a message, byte for byte as it was given."""
        return self._native.text(number("index", index))

    def entry(self, index: int) -> Entry:
        ordinal, time_ms, tokens, role = self._native.entry(number("index", index))
        return {"ordinal": ordinal, "timeMs": time_ms, "tokens": tokens, "role": _ROLES[role]}

    def messages(self, **filters: Unpack[MessageFilters]) -> List[Message]:
        return cast(List[Message], self.query("messages", **filters)["messages"])

    def query(self, name: str, /, **arguments: Any) -> Any:
        """Any query of the protocol, for this version, with the whole answer."""
        return self._native.answer(members("query", name, arguments))


#: Proposes what to hide in a view, so that at most so many tokens are left (None: no such aim). None: nothing to do.
Strategy = Callable[[View, "int | None", _native.Cancel], "Plan | None"]
