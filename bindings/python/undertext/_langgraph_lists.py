"""Lists of chat messages in a thread of LangGraph, each a conversation of which a checkpoint names a version."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Callable, Iterable, List, Mapping, Sequence, Tuple

from ._conversation import Conversation
from ._errors import ConflictError, NotFoundError, _make
from ._fingerprint import fingerprint
from ._view import View

#: Makes a message of a list from what was stored.
Read = Callable[[Mapping[str, Any]], Any]
#: The JSON of a message, as it is stored.
Shape = Callable[[Any], str]


class MessageList:
    """The versions of one list of messages. The newest list that was given or read here is remembered, to find what is new in the next one."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._version = 0
        #: Each message as it is stored, and the fingerprint of what was given or read.
        self._kept: List[Tuple[str, bytes | None]] = []

    def view(self, version: int) -> View:
        self.conversation.catch_up()
        try:
            return self.conversation.view(version)
        except NotFoundError as error:
            raise NotFoundError(f"a checkpoint's messages are not in {self.conversation.id} any more: {error.message}", error=error.error) from error

    def messages(self, version: int, read: Read) -> List[Any]:
        """Made anew at each call: whoever gets them may change them. NotFoundError: the version was given up."""
        return [read(message) for message in self.view(version)]

    def ordinals(self, versions: Iterable[int]) -> set[int]:
        """Of all messages that these versions have."""
        ordinals: set[int] = set()
        for version in versions:
            with suppress(NotFoundError):  # a version that was given up needs nothing
                view = self.view(version)
                ordinals.update(view.entry(index)["ordinal"] for index in range(len(view)))
        return ordinals

    def keep(self, base: int, messages: Sequence[Any], read: Read, shape: Shape) -> int:
        """The version that has these messages, made by editing version `base`."""
        if base != self._version:
            view = self.view(base)
            self._version, self._kept = base, [(view.text(index), fingerprint(read(message))) for index, message in enumerate(view)]
        old = self._kept
        first = _common(old, messages, shape)
        last = _common(old[first:][::-1], messages[first:][::-1], shape)
        if first == len(old) == len(messages):
            return base
        shaped = [(shape(message), fingerprint(message)) for message in messages[first : len(messages) - last]]
        self._version = self._edit(base, (first, len(old) - last), [text for text, _ in shaped], is_end=last == 0)
        self._kept = [*old[:first], *shaped, *old[len(old) - last :]]
        return self._version

    def _edit(self, base: int, gone: Tuple[int, int], texts: List[str], *, is_end: bool) -> int:
        """Puts `texts` in the place of what is gone, all or nothing, whatever version is the newest."""
        steps: List[str] = []
        if gone[0] < gone[1]:
            steps.append(json.dumps({"operation": "DELETE", "indices": list(range(*gone)), "pairs": "literal"}))
        if texts:
            where = '"operation":"APPEND"' if is_end else f'"operation":"INSERT","position":{gone[0]}'
            steps.append(f'{{{where},"messages":[{",".join(texts)}]}}')
        while True:
            self.conversation.catch_up()
            newest = self.conversation.version
            back = [] if newest == base else [json.dumps({"operation": "RESTORE", "version": base})]
            first, *others = back + steps
            line = f'[{first[:-1]},"expectedVersion":{newest}}}{"".join("," + step for step in others)}]'
            answer = json.loads(self.conversation.answer_text(line))
            if answer["ok"]:
                return int(answer["results"][-1]["version"])
            error = _make(answer["error"]["code"], answer["error"])
            if not isinstance(error, ConflictError):
                raise error


def _common(old: Sequence[Tuple[str, bytes | None]], new: Sequence[Any], shape: Shape) -> int:
    """How many are the same from the first on: what is stored decides, and is made only where the fingerprint does not tell."""
    count = 0
    for (text, seen), message in zip(old, new):
        if (seen is None or seen != fingerprint(message)) and shape(message) != text:
            break
        count += 1
    return count
