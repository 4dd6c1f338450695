"""Stores, and opening conversations."""

from __future__ import annotations

import functools
import os
from types import TracebackType
from typing import (
    Any,
    BinaryIO,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
)

from . import _brought, _native
from ._conversation import Conversation
from ._errors import InvalidArgumentError, NotFoundError
from ._shown import LISTED_MAX, as_list
from ._view import Strategy, View
from ._wire import check_function, copied, given, number
from .types import Durability, Make, Message, Plan, Settings, Summariser, Summary

_Code = TypeVar("_Code", bound=Callable[..., Any])
_LIMIT_MAX = (1 << 32) - 1  # what undertext.h can be told; the library says what it takes


def _paced(code: _Code, is_slow: bool) -> _Code:
    try:
        code._undertext_is_slow = is_slow  # type: ignore[attr-defined]
    except AttributeError:  # a method of an object, which takes no attributes
        return _paced(cast(_Code, functools.partial(code)), is_slow)
    return code


def slow(code: _Code) -> _Code:
    """Marks a strategy or summariser that takes its time, as one that asks a model does: it runs on a frozen version while others go on."""
    return _paced(code, True)


def quick(code: _Code) -> _Code:
    """Marks one that runs in the turn of the one who changes the conversation."""
    return _paced(code, False)


def _proposing(
    strategy: Strategy,
) -> Callable[[_native.View, "int | None", _native.Cancel], "Plan | None"]:
    def propose(view: _native.View, tokens_max: int | None, cancel: _native.Cancel) -> Plan | None:
        return strategy(View(view), tokens_max, cancel)

    return propose


def _writing(summariser: Summariser) -> Summariser:
    # A function, for the library holds code by weak references, and a method of an object would be gone at once.
    def write(
        messages: List[Message], tokens_max: int, cancel: _native.Cancel
    ) -> Union[str, Summary]:
        return summariser(messages, tokens_max, cancel)

    return write


def named_code(kind: str, code: Mapping[str, _Code] | None) -> Iterator[Tuple[str, _Code]]:
    if code is None:
        return
    if not isinstance(code, Mapping):
        raise InvalidArgumentError(f"{kind} are a dict of functions by their names", field=kind)
    for name, function in code.items():
        if not isinstance(name, str):
            raise InvalidArgumentError(f"{kind} are known by names that are str", field=kind)
        _brought.check_name(name)
        check_function(f"{kind}.{name}", function)
        yield name, function


def make_settings(
    settings: Settings | Mapping[str, object] | None,
    summarisers: Mapping[str, Summariser] | None,
    strategies: Mapping[str, Strategy] | None,
) -> _native.Settings:
    """Code first, for the JSON may name it."""
    if settings is None and summarisers is None and strategies is None:
        return _brought.NAMES_ALONE
    made = _native.Settings()
    _brought.add_names(made)
    for name, summariser in named_code("summarisers", summarisers):
        made.add_summariser(
            name, getattr(summariser, "_undertext_is_slow", True), _writing(summariser)
        )
    for name, strategy in named_code("strategies", strategies):
        made.add_strategy(
            name, getattr(strategy, "_undertext_is_slow", False), _proposing(strategy)
        )
    if settings is not None:
        _check_endpoints(settings)
        made.read(settings)
    return made


def _check_endpoints(settings: object) -> None:
    endpoints = settings.get("summarisers") if isinstance(settings, Mapping) else None
    for name in endpoints if isinstance(endpoints, Mapping) else ():
        _brought.check_name(name)


class Store:
    """Where conversations last: "sqlite:PATH", "postgres://…" or "memory:". What was opened from it lives on without it.

    create: False where the store must be there already.
    read_only: True where nothing may be written.
    durability: "full" (default): on the disk when a call returns; "normal": within moments.
    tenant: Whose conversations, in a store of several.
    patience_ms: How long a call waits for others.
    """

    def __init__(
        self,
        url: str,
        *,
        create: bool | None = None,
        read_only: bool | None = None,
        durability: Durability | None = None,
        tenant: str | None = None,
        patience_ms: int | None = None,
    ) -> None:
        options = {
            "create": create,
            "read_only": read_only,
            "durability": durability,
            "tenant": tenant,
            "patience_ms": patience_ms,
        }
        self._native = _native.open_store(url, given(options))

    def open(
        self,
        id: str,
        *,
        settings: Settings | Mapping[str, object] | None = None,
        summarisers: Mapping[str, Summariser] | None = None,
        strategies: Mapping[str, Strategy] | None = None,
        make: Make | None = None,
        cache_bytes: int | None = None,
        rebase_appends: bool | None = None,
        checkpoint_versions: int | None = None,
    ) -> Conversation:
        """The conversation of this name. Settings are kept with it; code is not, and is given each time.

        settings: The model, limits, automatic compression: docs/operations.md.
        summarisers: Functions that write summaries, by name.
        strategies: Functions that choose what to hide, by name.
        make: "if_missing" (default), "never" or "always".
        cache_bytes: How much of it is kept in memory.
        rebase_appends: False where an append fails after another writer's commit, instead of going behind it.
        checkpoint_versions: After how many versions a checkpoint is stored.
        """
        options = {
            "make": make,
            "cache_bytes": cache_bytes,
            "rebase_appends": rebase_appends,
            "checkpoint_versions": checkpoint_versions,
        }
        opened = self._native.open(
            id, make_settings(settings, summarisers, strategies), given(options)
        )
        return Conversation(
            opened, self._native.settings(id) if settings is None else copied(settings)
        )

    def list(self, *, after: str = "", limit: int = 1000) -> List[Dict[str, Any]]:
        """Conversations by id, beyond `after`; `limit` 1 to 1000."""
        return cast(
            "List[Dict[str, Any]]",
            self._native.list(after, min(number("limit", limit), _LIMIT_MAX)),
        )

    def __repr__(self) -> str:
        return f"<Store {self._native.name()}{', closed' if self.closed else ''}>"

    def _repr_html_(self) -> str:
        return as_list(repr(self)[1:-1], [] if self.closed else self.list(limit=LISTED_MAX + 1))

    def __contains__(self, id: object) -> bool:
        try:
            self._native.settings(id)  # type: ignore[arg-type]
        except InvalidArgumentError:
            if self.closed:
                raise
            return False
        except NotFoundError:
            return False
        return True

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        page = self.list()
        while page:
            yield from page
            page = self.list(after=page[-1]["conversation"])

    def purge(self, id: str, *, who: str, why: str = "") -> None:
        """Deletes a conversation permanently; who, when and why stays. ConflictError: it has forks."""
        self._native.purge(id, who, why)

    def check(self, id: str = "") -> Dict[str, Any]:
        """Reads all records of a conversation, or of all: {"conversations":…,"versions":…,"messages":…,"damage":[…]}."""
        return cast("Dict[str, Any]", self._native.check(id))

    def backup(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a copy of the whole store to a new file, while others go on writing."""
        self._native.backup(os.fsencode(path))

    def settings(self, id: str) -> Settings | None:
        """Those that are kept with a conversation."""
        return cast("Settings | None", self._native.settings(id))

    def removals(self, id: str) -> List[Dict[str, Any]]:
        """What was redacted in a conversation, or that it was purged: [{"conversation":…,"ordinal":…,"who":…,"at":…,"why":…,"digest":…}], without ordinal for the whole of it."""
        return cast("List[Dict[str, Any]]", self._native.removals(id))

    def compact(self) -> None:
        """Gives free space back."""
        self._native.compact()

    def export(self, id: str, file: BinaryIO) -> None:
        """Writes a conversation with its whole history to a binary file, as JSON lines."""
        self._native.export(id, lambda line: file.write(line + b"\n"))

    def import_(
        self,
        id: str,
        file: Iterable[bytes],
        *,
        settings: Settings | None = None,
        trust_settings: bool | None = None,
    ) -> Dict[str, Any]:
        """Reads such a file, under a name that is not taken: {"versions":…,"messages":…}. Settings that may name files and endpoints are refused unless they are trusted."""
        lines = (line.rstrip(b"\n") for line in file)
        options = given({"settings": settings, "trust_settings": trust_settings})
        return cast("Dict[str, Any]", self._native.import_(id, lambda: next(lines, None), options))

    def close(self) -> None:
        """Conversations that were opened from it stay open."""
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._native.is_closed()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: Type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def restore_store(url: str, backup: Union[str, os.PathLike[str]]) -> None:
    """Replaces the store at `url` by a backup, in one step. The backup is checked first. UnavailableError: something has the store open. What fails has left the store as it was."""
    _native.restore_store(url, os.fsencode(backup))


def records_of(store: Store, prefix: str) -> Iterator[Dict[str, Any]]:
    """Conversations whose names begin so, by name."""
    after = prefix
    while page := store.list(after=after):
        for record in page:
            if not record["conversation"].startswith(prefix):
                return
            yield record
        after = page[-1]["conversation"]


def open(  # noqa: A001 - undertext.open() is how one says it
    url: str | None = None,
    id: str | None = None,
    *,
    settings: Settings | Mapping[str, object] | None = None,
    summarisers: Mapping[str, Summariser] | None = None,
    strategies: Mapping[str, Strategy] | None = None,
    create: bool | None = None,
    read_only: bool | None = None,
    durability: Durability | None = None,
    tenant: str | None = None,
    patience_ms: int | None = None,
    make: Make | None = None,
    cache_bytes: int | None = None,
    rebase_appends: bool | None = None,
    checkpoint_versions: int | None = None,
) -> Conversation:
    """A conversation: in memory without a url; else the one called `id` ("default") in the store at that url.

    The options are those of Store() and Store.open().
    """
    of_store = {
        "create": create,
        "read_only": read_only,
        "durability": durability,
        "tenant": tenant,
        "patience_ms": patience_ms,
    }
    opening = {
        "make": make,
        "cache_bytes": cache_bytes,
        "rebase_appends": rebase_appends,
        "checkpoint_versions": checkpoint_versions,
    }
    if url is None:
        if id is not None or given({**of_store, **opening}):
            raise TypeError(
                "a conversation in memory has no id and no options of a store: open(url, id)"
            )
        return Conversation(
            _native.open_in_memory(make_settings(settings, summarisers, strategies)),
            copied(settings),
        )
    with Store(url, **cast("Dict[str, Any]", of_store)) as store:
        return store.open(
            "default" if id is None else id,
            settings=settings,
            summarisers=summarisers,
            strategies=strategies,
            **cast("Dict[str, Any]", opening),
        )
