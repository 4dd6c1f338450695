"""One version of a conversation, which stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, List, Tuple, Union, cast, overload

from . import _native
from ._errors import UndertextError
from ._shown import as_table
from ._signatures import explicit
from ._typing import Unpack
from ._wire import in_callers_words, is_model, members, number
from .types import Entry, Message, MessageFilters, Plan, Role

_ROLES: Tuple[Role, ...] = ("system", "user", "assistant", "tool")


@explicit
class View(Sequence[Message]):
    """The messages of one version, in order: a sequence that stays as it is, whatever is done to the conversation.

    Reading a message costs the logarithm of their number.
    """

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

    def __contains__(self, message: object) -> bool:
        return super().__contains__(_native.plain(message) if is_model(message) else message)

    def __repr__(self) -> str:
        return f"<View: version {self.version}, {len(self)} messages, {self.tokens} tokens>"

    def _repr_html_(self) -> str:
        return as_table(repr(self)[1:-1], self)

    @property
    def tokens(self) -> int:
        """The tokens of all messages."""
        return self._native.tokens()

    @property
    def version(self) -> int:
        """Which version it shows."""
        return self._native.version()

    def text(self, index: int) -> str:
        """The JSON of a message, byte for byte as it was given."""
        return self._native.text(number("index", index))

    def entry(self, index: int) -> Entry:
        """What is known of a message beside its bytes: its place in the log, its arrival, its tokens, its role."""
        ordinal, time_ms, tokens, role = self._native.entry(number("index", index))
        return {"ordinal": ordinal, "timeMs": time_ms, "tokens": tokens, "role": _ROLES[role]}

    def messages(self, **filters: Unpack[MessageFilters]) -> List[Message]:
        """Conversation.messages(), of this version."""
        return cast(List[Message], self.query("messages", **filters)["messages"])

    def query(self, name: str, /, **arguments: Any) -> Any:
        """Any query of the protocol, for this version, with the whole answer."""
        request = members("query", name, arguments)
        try:
            return self._native.answer(request)
        except UndertextError as error:
            in_callers_words(error, arguments)
            raise


#: Proposes what to hide in a view, so that at most so many tokens are left (None: no such aim). None: nothing to do.
Strategy = Callable[[View, "int | None", _native.Cancel], "Plan | None"]
