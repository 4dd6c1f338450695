"""Lists of chat messages in a thread of LangGraph, each a conversation of which a checkpoint names a version."""

from __future__ import annotations

import itertools
import json
from contextlib import suppress
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Tuple

from ._conversation import Conversation
from ._errors import ConflictError, NotFoundError, _make
from ._fingerprint import fingerprint
from ._view import View

#: Makes a message of a list from what was stored.
Read = Callable[[Mapping[str, Any]], Any]
#: The JSON of a message, as it is stored.
Shape = Callable[[Any], str]


class _Kept(NamedTuple):
    """A message of a list: where it is stored, as what, and the fingerprint of what was given or read."""

    ordinal: int
    text: str
    seen: bytes | None


def _is_same(one: _Kept, other: _Kept) -> bool:
    return one.ordinal == other.ordinal


class _Known:
    """Finds messages among those of a list: in their own places first, then anywhere. Each is found once."""

    def __init__(self, kept: Sequence[_Kept], shape: Shape) -> None:
        self._kept = kept
        self._shape = shape
        self._taken: set[int] = set()
        self._elsewhere: Dict[str | bytes, List[_Kept]] | None = None

    def find(self, place: int, message: Any, seen: bytes | None) -> Tuple[_Kept | None, str]:
        """With its text, where that had to be made. What is stored decides; a fingerprint only saves making it."""
        text = ""
        if place < len(self._kept):
            own = self._kept[place]
            if seen is None or seen != own.seen:
                text = self._shape(message)
            if own.ordinal not in self._taken and text in ("", own.text):
                return self._take(own), text
        return (
            (None, text)
            if len(self._taken) == len(self._kept)
            else self._find_elsewhere(message, seen, text)
        )

    def _find_elsewhere(
        self, message: Any, seen: bytes | None, text: str
    ) -> Tuple[_Kept | None, str]:
        if self._elsewhere is None:
            self._elsewhere = {}
            for kept in self._kept:
                self._elsewhere.setdefault(kept.text, []).append(kept)
                self._elsewhere.setdefault(kept.seen or b"", []).append(kept)
        for kept in self._elsewhere.get(seen, ()) if seen else ():
            if kept.ordinal not in self._taken:
                return self._take(kept), text
        text = text or self._shape(message)
        for kept in self._elsewhere.get(text, ()):
            if kept.ordinal not in self._taken:
                return self._take(kept), text
        return None, text

    def _take(self, kept: _Kept) -> _Kept:
        self._taken.add(kept.ordinal)
        return kept


class MessageList:
    """The versions of one list of messages. The newest list that was given or read here is remembered: its messages are named by their ordinals and not sent again."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._version: int | None = 0
        self._kept: List[_Kept] = []

    def view(self, version: int) -> View:
        self.conversation.catch_up()
        try:
            return self.conversation.view(version)
        except NotFoundError as error:
            raise NotFoundError(
                f"a checkpoint's messages are not in {self.conversation.id} any more: {error.message}",
                error=error.error,
            ) from error

    def messages(self, version: int, read: Read) -> List[Any]:
        """A new list at each call, which the caller may change. NotFoundError: the version was pruned."""
        return [read(message) for message in self.view(version)]

    def ordinals(self, versions: Iterable[int]) -> set[int]:
        """Of all messages that these versions have."""
        ordinals: set[int] = set()
        for version in versions:
            with suppress(NotFoundError):  # a pruned version needs nothing
                view = self.view(version)
                ordinals.update(view.entry(index)["ordinal"] for index in range(len(view)))
        return ordinals

    def keep(self, base: int, messages: Sequence[Any], read: Read, shape: Shape) -> int:
        """The version that has these messages: they take the place of those of version `base`, all or nothing, whatever version is the newest."""
        if base != self._version:
            view = self.view(base)
            self._version, self._kept = (
                base,
                [
                    _Kept(
                        view.entry(index)["ordinal"], view.text(index), fingerprint(read(message))
                    )
                    for index, message in enumerate(view)
                ],
            )
        known = _Known(self._kept, shape)
        after: List[_Kept] = []
        for place, message in enumerate(messages):
            seen = fingerprint(message)
            found, text = known.find(place, message, seen)
            if found is None:
                found = _Kept(-1, text or shape(message), seen)
            after.append(found if found.seen == seen else found._replace(seen=seen))
        is_grown = len(after) >= len(self._kept) and all(map(_is_same, after, self._kept))
        if is_grown and len(after) == len(self._kept):
            self._kept = after
            return base
        version, first_new = self._save(base, after)
        # Else it is not known what was stored: some may have returned, others that moved are stored again.
        self._version = version if is_grown and first_new is not None else None
        ordinals = itertools.count(first_new or 0)
        self._kept = [
            kept if kept.ordinal >= 0 else kept._replace(ordinal=next(ordinals)) for kept in after
        ]
        return version

    def _save(self, base: int, after: Sequence[_Kept]) -> Tuple[int, int | None]:
        """The version that was made, and the ordinal of the first message that was new. None: some of them were there, hidden."""
        entries = ",".join(
            f'{{"ordinal":{kept.ordinal}}}' if kept.ordinal >= 0 else kept.text for kept in after
        )
        saving = f'{{"operation":"RECONCILE","client":"framework","messages":[{entries}]}}'
        while True:
            self.conversation.catch_up()
            newest, stored = self.conversation.version, self.conversation.stats()["totalMessages"]
            back = [] if newest == base else [json.dumps({"operation": "RESTORE", "version": base})]
            first, *others = [*back, saving]
            line = f'[{first[:-1]},"expectedVersion":{newest}}}{"".join("," + step for step in others)}]'
            answer = json.loads(self.conversation.answer_text(line))
            if answer["ok"]:
                last = answer["results"][-1]
                is_new = last["stats"]["totalMessages"] - stored == sum(
                    kept.ordinal < 0 for kept in after
                )
                return int(last["version"]), stored if is_new else None
            error = _make(answer["error"]["code"], answer["error"])
            if not isinstance(error, ConflictError):
                raise error
