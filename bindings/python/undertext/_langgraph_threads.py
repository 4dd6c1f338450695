"""Threads of LangGraph in a store: what undertext.langgraph keeps, without a word of LangGraph's types.

A thread is a *journal*, a conversation that is only ever appended to, whose messages are records: checkpoints, writes and removals, in the order in which they came. Beside it each
list of chat messages is a conversation of its own, and a checkpoint names the version of it that is its list: n checkpoints of a growing list share one list. A list is edited first and
the record that names its version is appended afterwards, so whatever happens in between, no checkpoint names what is not there.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections import OrderedDict
from contextlib import suppress
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Sequence,
    Tuple,
    TypeVar,
)

from ._conversation import Conversation
from ._errors import CorruptError, NotFoundError, UnavailableError, UndertextError
from ._foreign import json_text, spelled
from ._langgraph_lists import MessageList
from ._store import Store, records_of
from ._view import View

T = TypeVar("T")
Record = Dict[str, Any]

#: The field of a journal's messages that holds the record.
_RECORD = "langgraph"
#: What a record has, by its kind.
_FIELDS = {
    "thread": {"thread"},
    "checkpoint": {"ns", "id", "parent", "rest", "metadata", "values"},
    "writes": {"ns", "id", "task", "path", "writes"},
    "removed": {"checkpoints"},
    "overwritten": set(),
}
_PREFIX = "langgraph."
_NAME = re.compile(r"langgraph\.[^.]*\.[0-9]+(\.|$)")
#: A state may be large; what a store takes is its own limit.
_SETTINGS = {"limits": {"messageBytes": 1 << 30}}
_THREADS_OPEN_MAX = 128


def _record_of(message: Mapping[str, Any], name: str) -> Record:
    """Empty where it was redacted. CorruptError: the journal of this name has what another program put there, and nothing is to be added or taken away."""
    record = message.get(_RECORD)
    if (
        isinstance(record, dict)
        and isinstance(kind := record.get("kind"), str)
        and _FIELDS.get(kind, {""}).issubset(record)
    ):
        return record
    if record is None and "redacted" in (message.get("metadata") or {}):
        return {}
    raise CorruptError(f"{name} is no thread of undertext.langgraph: a message in it is no record")


def _journal_of(store: Store, name: str) -> Conversation:
    """Made if it is missing. Opening with settings changes them, so what does not have those of a journal is looked at first."""
    with suppress(NotFoundError):
        if store.settings(name) != _SETTINGS:
            _first_record(store, name)
    return store.open(name, settings=_SETTINGS)


def _first_record(store: Store, name: str) -> Record | None:
    with store.open(name, make="never") as journal:
        return next((_record_of(first, name) for first in journal.messages(first=1)), None)


def _refuse_others(store: Store, name: str) -> None:
    """CorruptError: it is the journal of another program, for that to delete. One of ours goes, whatever others put behind its beginning."""
    there: Sequence[Mapping[str, Any]] = []
    with suppress(UndertextError):  # what cannot be read can still be deleted
        with store.open(name, make="never") as journal:
            there = journal.messages(first=1)
    for first in there:
        _record_of(first, name)


class Write(NamedTuple):
    """Where in the journal a write stands, and what orders it."""

    path: str
    task: str
    number: int
    ordinal: int
    position: int


def _purge_of(store: Store, name: str) -> Dict[str, Any] | None:
    """Who purged a conversation, when and why. None: it was not purged, whatever else of it was not found."""
    try:
        return next(
            (removal for removal in store.removals(name) if removal.get("ordinal") is None), None
        )
    except NotFoundError:  # there never was one of this name
        return None


def _purge(store: Store, name: str, *, who: str, why: str) -> None:
    """Of whatever is there. UnavailableError: it is there still."""
    try:
        store.purge(name, who=who, why=why)
    except NotFoundError:
        pass
    except UnavailableError:
        if (
            _purge_of(store, name) is None
        ):  # else others hold copies of its bytes, which whoever purged it first was told
            raise


class Thread:
    """The records of a thread and where they stand. Whoever calls holds `lock`; refresh() first shows what others appended."""

    def __init__(self, id: str, store: Store, name: str) -> None:
        self.lock = threading.RLock()
        self.id = id
        self.is_closed = False
        #: By namespace and id, the ordinal of the record.
        self.checkpoints: Dict[str, Dict[str, int]] = {}
        self.writes: Dict[Tuple[str, str], Dict[Tuple[str, int], Write]] = {}
        #: Whether bytes of what was removed may still be there.
        self._is_removing = False
        self._store = store
        self._name = name
        self._lists: Dict[str, MessageList] = {}
        self._journal = _journal_of(store, name)
        self._view: View = self._journal.view()
        self._seen = 0

    def refresh(self) -> None:
        self._journal.catch_up()
        self._view = self._journal.view()
        for ordinal in range(self._seen, len(self._view)):
            self._index(ordinal, self.record(ordinal))
            self._seen = ordinal + 1

    def record(self, ordinal: int) -> Record:
        """Empty where it was redacted."""
        return _record_of(self._view[ordinal], self._name)

    def _index(self, ordinal: int, record: Record) -> None:
        kind = record.get("kind")
        if kind == "thread":
            self.id = record["thread"]
        elif kind == "checkpoint":
            self.checkpoints.setdefault(record["ns"], {})[record["id"]] = ordinal
        elif kind == "writes":
            there = self.writes.setdefault((record["ns"], record["id"]), {})
            for position, (index, _, _) in enumerate(record["writes"]):
                # A task that runs again writes the same again; errors, interrupts and resumes (below 0) are news.
                if index < 0 or (record["task"], index) not in there:
                    there[record["task"], index] = Write(
                        record["path"], record["task"], index, ordinal, position
                    )
        elif kind == "overwritten":
            self._is_removing = False
        elif kind == "removed":
            self._is_removing = True
            for ns, id in record["checkpoints"]:
                self.checkpoints.get(ns, {}).pop(id, None)
                self.writes.pop((ns, id), None)

    def append(self, text: str, record: Record) -> None:
        records = [{"role": "system", "content": text, _RECORD: record}]
        if len(self._view) == 0:
            records.insert(
                0,
                {
                    "role": "system",
                    "content": f"thread {self.id}",
                    _RECORD: {"kind": "thread", "thread": self.id},
                },
            )
        self._journal.append_text(json_text(records, "checkpoint"))
        self.refresh()

    def message_list(self, ns: str, channel: str) -> MessageList:
        return self._list(self._list_name(ns, channel))

    def _list_name(self, ns: str, channel: str) -> str:
        # The list that people look for has a name that they can read.
        return f"{self._name}.{spelled(channel, 40) if ns == '' else spelled(json.dumps([ns, channel]), 0)}"

    def _list(self, name: str) -> MessageList:
        if name not in self._lists:
            self._lists[name] = MessageList(self._store.open(name, settings=_SETTINGS))
        return self._lists[name]

    def remove(self, dead: Sequence[Tuple[str, str]], who: str, why: str) -> None:
        """Takes checkpoints and their writes away, and the bytes of all that no other checkpoint uses. UnavailableError: not all of them yet, and the next call goes on with it."""
        again = self._is_removing
        if dead:
            self.append(
                f"removed: {len(dead)} checkpoints",
                {"kind": "removed", "checkpoints": [list(key) for key in dead]},
            )
        if not self._is_removing:
            return
        used, versions = self._used()
        busy = _redact(self._journal, used, who, why, again=again)
        for name in _names(
            self._store, f"{self._name}."
        ):  # also those that no checkpoint has any more, and nobody opened here
            each = self._list(name)
            busy = (
                _redact(
                    each.conversation,
                    each.ordinals(versions.get(name, set())),
                    who,
                    why,
                    again=again,
                )
                or busy
            )
        if busy is not None:
            raise busy
        self.append("overwritten", {"kind": "overwritten"})

    def _used(self) -> Tuple[set[int], Dict[str, set[int]]]:
        """Ordinals of the journal that checkpoints need, and the versions of each list."""
        used = {
            ordinal
            for ordinal in range(self._seen)
            if self.record(ordinal).get("kind") in ("thread", "removed", "overwritten")
        }
        used.update(write.ordinal for writes in self.writes.values() for write in writes.values())
        versions: Dict[str, set[int]] = {}
        for ns, checkpoints in self.checkpoints.items():
            for ordinal in checkpoints.values():
                used.add(ordinal)
                for channel, value in self.record(ordinal)["values"].items():
                    if "at" in value:
                        used.add(value["at"])
                    elif "version" in value:
                        versions.setdefault(self._list_name(ns, channel), set()).add(
                            value["version"]
                        )
        return used, versions

    def leave_if_purged(self) -> bool:
        """Closes a thread that was deleted elsewhere. What was put into its lists since then could not be found, and is purged too."""
        purge = _purge_of(self._store, self._name)
        if purge is None:
            return False
        for each in self._lists.values():
            _purge(self._store, each.conversation.id, who=purge["who"], why=purge["why"])
        self.close()
        return True

    def close(self) -> None:
        self.is_closed = True
        for each in self._lists.values():
            each.conversation.close()
        self._journal.close()


def _redact(
    conversation: Conversation, used: set[int], who: str, why: str, *, again: bool
) -> UnavailableError | None:
    """All but what is used; `again`, for their bytes may still be there, also what is redacted. UnavailableError: that is so, or nothing was done."""
    messages = conversation.query("messages", all=True)["messages"]
    unused = [
        ordinal
        for ordinal, message in enumerate(messages)
        if ordinal not in used and (again or "redacted" not in (message.get("metadata") or {}))
    ]
    try:
        if unused:
            conversation.redact(unused, who=who, why=why)
    except UnavailableError as error:
        return error
    return None


class Threads:
    """The threads of a store. Some are open; any number of threads and processes may use the same ones."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Thread] = OrderedDict()

    def with_thread(
        self, id: str, action: Callable[[Thread], T], *, make: bool = False
    ) -> T | None:
        """None: there is no such thread, and it was not to be made. One that is deleted meanwhile starts again."""
        while True:
            thread = self._thread(id, make)
            if thread is None:
                return None
            with thread.lock:
                if thread.is_closed:
                    continue
                try:
                    thread.refresh()
                    return action(thread)
                except NotFoundError:
                    if not thread.leave_if_purged():
                        raise
                    self._forget(id, thread)

    def _forget(self, id: str, thread: Thread) -> None:
        with self._lock:
            if self._open.get(id) is thread:
                del self._open[id]

    def ids(self) -> List[str]:
        ids: List[str] = []
        for name in filter(_is_journal, _names(self.store, _PREFIX)):
            with suppress(NotFoundError):  # deleted since it was listed
                first = _first_record(self.store, name)
                if first is not None and "thread" not in first:
                    raise CorruptError(f"{name} does not tell whose journal it is")
                ids += [str(first["thread"])] if first is not None else []
        return ids

    def delete(self, id: str, who: str, why: str) -> None:
        for name in filter(_is_journal, _names(self.store, _prefix_of(id))):
            _refuse_others(self.store, name)
        with self._lock:
            thread = self._open.pop(id, None)
        if thread is not None:
            with thread.lock:
                thread.close()
        # The journal is the first of them: without it nothing is left that could miss the others. One that is gone is purged again, for some of its bytes may have been in use.
        busy: UnavailableError | None = None
        for name in list(_names(self.store, _prefix_of(id))) or [f"{_prefix_of(id)}0"]:
            try:
                self.store.purge(name, who=who, why=why)
            except NotFoundError:
                pass
            except UnavailableError as error:
                if _purge_of(self.store, name) is None:
                    raise
                busy = error  # it is gone, and so shall be the rest
        if busy is not None:
            raise busy

    def close(self) -> None:
        with self._lock:
            threads = list(self._open.values())
            self._open.clear()
        for thread in threads:
            with thread.lock:
                thread.close()

    def _thread(self, id: str, make: bool) -> Thread | None:
        with self._lock:
            if id in self._open:
                self._open.move_to_end(id)
                return self._open[id]
            thread = self._there(id) or (self._made(id) if make else None)
            if thread is not None:
                self._open[id] = thread
            if len(self._open) > _THREADS_OPEN_MAX:
                self._open.popitem(last=False)  # it is closed when nobody uses it any more
            return thread

    def _there(self, id: str) -> Thread | None:
        threads = (
            self._unless_purged(id, name)
            for name in _names(self.store, _prefix_of(id))
            if _is_journal(name)
        )
        return next((thread for thread in threads if thread is not None), None)

    def _made(self, id: str) -> Thread:
        """The name of a purged conversation is not used again, so a thread that was deleted goes on under its next number."""
        threads = (
            self._unless_purged(id, f"{_prefix_of(id)}{number}") for number in itertools.count()
        )
        return next(thread for thread in threads if thread is not None)

    def _unless_purged(self, id: str, name: str) -> Thread | None:
        try:
            return Thread(id, self.store, name)
        except NotFoundError:
            if _purge_of(self.store, name) is None:
                raise
            return None


def _names(store: Store, prefix: str) -> Iterator[str]:
    """Of journals and lists, and of nothing else that somebody may call so."""
    for record in records_of(store, prefix):
        if _NAME.match(record["conversation"]):
            yield record["conversation"]


def _is_journal(name: str) -> bool:
    return name.count(".") == 2


def _prefix_of(id: str) -> str:
    return f"{_PREFIX}{spelled(id, 64)}."
