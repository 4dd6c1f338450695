"""Undertext for asyncio: the names of undertext, as coroutines.

    async with undertext.aio.open("sqlite:agent.db", "support-17") as conversation:
        await conversation.append({"role": "user", "content": "Hello"})

Every call runs off the loop. Calls of one conversation run one after another, in the order in which they were made (not in which they are awaited); calls of different ones
beside each other. One that waits for a model, or for other slow code of yours, lets those behind it go on. A call that is cancelled before its turn does not happen; one that is cancelled later comes
to its end as if nobody had cancelled it. What is handed in is read when the call is made.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import inspect
import os
import re
from types import TracebackType
from typing import (
    Any,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Dict,
    Generator,
    Generic,
    Mapping,
    Type,
    TypeVar,
    cast,
)

from . import _brought, _conversation, _native, _store
from ._errors import CannotFitError, InvalidArgumentError, UnavailableError, UndertextError
from ._off_the_loop import OffTheLoop, beside, later, result_of, step_aside
from ._signatures import explicit
from ._typing import Unpack
from ._wire import copied, in_callers_words, is_coroutine_function, members
from .types import Answer, CompressArguments, Durability, Event, Make, Message, Settings

__all__ = ["Conversation", "Events", "Store", "open", "restore_store"]

_Opened = TypeVar("_Opened", bound=OffTheLoop)

#: Summarisers or strategies by their names: functions, or coroutine functions.
Code = Mapping[str, Callable[..., Any]]


class Events(AsyncIterator[Event]):
    """The events since it was made, as they come. Ends when it or the conversation is closed; buffers unread events, so close it."""

    def __init__(self, conversation: Conversation) -> None:
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        # Knows the queue alone, so that one who is forgotten can go.
        def receive(event: Event | None) -> None:
            try:
                loop.call_soon_threadsafe(events.put_nowait, event)
            except RuntimeError:  # the loop is closed, and nobody listens any more
                pass

        self._queue = events
        self._end = functools.partial(receive, None)
        self._conversation = conversation
        conversation._sync._listeners.add(self)
        self._subscribed = asyncio.ensure_future(
            conversation._call(conversation._sync.subscribe, receive)
        )

    async def __anext__(self) -> Event:
        await asyncio.shield(self._subscribed)
        event = await self._queue.get()
        if event is None:
            self._queue.put_nowait(None)  # for whoever asks once more
            raise StopAsyncIteration
        return event

    async def close(self) -> None:
        """Ends the iteration, once those that wait were asked for."""
        subscription = await asyncio.shield(self._subscribed)
        await self._conversation._call(subscription.close)
        self._end()

    def __repr__(self) -> str:
        return f"<Events: {self._queue.qsize()} waiting>"

    def __del__(self) -> None:
        subscribed = getattr(self, "_subscribed", None)
        if (
            subscribed is not None
            and subscribed.done()
            and not subscribed.cancelled()
            and subscribed.exception() is None
        ):
            subscribed.result().close()

    async def __aenter__(self) -> Events:
        await asyncio.shield(self._subscribed)
        return self

    async def __aexit__(
        self,
        kind: Type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


@explicit
class Conversation(OffTheLoop):
    """Made by undertext.aio.open() or Store.open(); its methods are those of undertext.Conversation.

    `async for message in conversation` reads the messages of the newest version.
    """

    _sync: _conversation.Conversation

    def __init__(self, sync: _conversation.Conversation, summarisers: Collection[str]) -> None:
        super().__init__()
        self._sync = sync
        self._summarisers = summarisers  # those that are code of yours, by their names

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._sync.closed

    @property
    def id(self) -> str:
        """Its name in its store; empty in memory."""
        return self._sync.id

    @property
    def version(self) -> int:
        """The newest version known here. It waits for nothing: `(await conversation.view()).version` is the newest of all."""
        return self._sync._native.version()

    async def __aiter__(self) -> AsyncIterator[Message]:
        for message in await self.view():
            yield message

    def __repr__(self) -> str:
        # Of what is known here: a debugger or a log that prints it must not hold the loop up.
        return f"<Conversation: {self._sync._named()}>"

    def _repr_html_(self) -> str:
        return self._sync._repr_html_()

    append = later(_conversation.Conversation.append)
    append_text = later(_conversation.Conversation.append_text)
    append_response = later(_conversation.Conversation.append_response)
    apply_all = later(_conversation.Conversation.apply_all)
    insert = later(_conversation.Conversation.insert)
    replace = later(_conversation.Conversation.replace)
    truncate = later(_conversation.Conversation.truncate)
    clear = later(_conversation.Conversation.clear)
    filter = later(_conversation.Conversation.filter)
    delete = later(_conversation.Conversation.delete)
    expand = later(_conversation.Conversation.expand)
    show = later(_conversation.Conversation.show)
    reconcile = later(_conversation.Conversation.reconcile)
    merge = later(_conversation.Conversation.merge)
    split = later(_conversation.Conversation.split)
    transform = later(_conversation.Conversation.transform)
    start_batch = later(_conversation.Conversation.start_batch)
    end_batch = later(_conversation.Conversation.end_batch)
    rollback = later(_conversation.Conversation.rollback)
    mark = later(_conversation.Conversation.mark)
    unmark = later(_conversation.Conversation.unmark)
    undo = later(_conversation.Conversation.undo)
    redo = later(_conversation.Conversation.redo)
    restore = later(_conversation.Conversation.restore)
    import_mark_map = later(_conversation.Conversation.import_mark_map)
    messages = later(_conversation.Conversation.messages)
    ordinals = later(_conversation.Conversation.ordinals)
    blocks = later(_conversation.Conversation.blocks)
    count = later(_conversation.Conversation.count)
    query = later(_conversation.Conversation.query)
    view = later(_conversation.Conversation.view)
    uncompressed = later(_conversation.Conversation.uncompressed)
    state = later(_conversation.Conversation.state)
    stats = later(_conversation.Conversation.stats)
    tokens = later(_conversation.Conversation.tokens)
    mark_map = later(_conversation.Conversation.mark_map)
    batches = later(_conversation.Conversation.batches)
    batch_snapshot = later(_conversation.Conversation.batch_snapshot)
    history = later(_conversation.Conversation.history)
    diff = later(_conversation.Conversation.diff)
    blame = later(_conversation.Conversation.blame)
    fit = later(_conversation.Conversation.fit)
    receipts = later(_conversation.Conversation.receipts)
    recall = later(_conversation.Conversation.recall)
    append_recalled = later(_conversation.Conversation.append_recalled)
    merge_fork = later(_conversation.Conversation.merge_fork)
    requests = later(_conversation.Conversation.requests)
    cache_break = later(_conversation.Conversation.cache_break)
    ledger = later(_conversation.Conversation.ledger)
    what_if = later(_conversation.Conversation.what_if)
    request = later(_conversation.Conversation.request)
    render = later(_conversation.Conversation.render)
    validate = later(_conversation.Conversation.validate)
    cost = later(_conversation.Conversation.cost)
    model = later(_conversation.Conversation.model)
    count_tools = later(_conversation.Conversation.count_tools)
    tools = later(_conversation.Conversation.tools)
    call_tool = later(_conversation.Conversation.call_tool)
    import_messages = later(_conversation.Conversation.import_messages)
    answer_text = later(_conversation.Conversation.answer_text)
    subscribe = later(_conversation.Conversation.subscribe)
    set_tokenizer = later(_conversation.Conversation.set_tokenizer)
    report_usage = later(_conversation.Conversation.report_usage)
    usage = later(_conversation.Conversation.usage)
    set_usage = later(_conversation.Conversation.set_usage)
    record_request = later(_conversation.Conversation.record_request)
    catch_up = later(_conversation.Conversation.catch_up)
    checkpoint = later(_conversation.Conversation.checkpoint)
    redact = later(_conversation.Conversation.redact)
    prune_versions = later(_conversation.Conversation.prune_versions)

    def apply(self, operation: Mapping[str, object]) -> Coroutine[Any, Any, Answer]:
        """An operation of the protocol, in any of its spellings. Calls that are made later do not wait for a model."""
        return self._call(_applied, self._sync, self._summarisers, operation)

    def compress(self, **arguments: Unpack[CompressArguments]) -> Coroutine[Any, Any, Answer]:
        """Hides messages that are named, or those that a strategy chooses. Calls that are made later do not wait for a model."""
        return self._call(_compressed, self._sync, self._summarisers, arguments)

    def fork(
        self, version: int | None = None, *, id: str = ""
    ) -> Coroutine[Any, Any, Conversation]:
        """Another conversation that goes on from a version; with an id it is stored."""
        return self._call(lambda: Conversation(self._sync.fork(version, id=id), self._summarisers))

    def wait_for_compression(self) -> Coroutine[Any, Any, None]:
        """Begins in its turn; calls that are made later do not wait for it."""
        part_of = _running.get()

        def wait() -> None:
            step_aside()
            self._sync._native.wait_for_compression(part_of and part_of.code)

        return self._call(wait)

    def cancel_compression(self) -> Coroutine[Any, Any, None]:
        """Waits for no other call."""
        return beside(self._sync.cancel_compression)

    def _end(self) -> None:
        aside = self._aside.copy()
        if aside and not self.closed:
            self._sync.cancel_compression()
            concurrent.futures.wait(aside)
        super()._end()

    def events(self) -> Events:
        """The events of calls that are made from here on, to iterate over."""
        return Events(self)


def _applied(
    conversation: _conversation.Conversation, own: Collection[str], operation: Mapping[str, object]
) -> Answer:
    """Code of yours is seen when it is asked, and steps aside then. An endpoint is asked by the library itself, which tells nobody; so a step before it does, that proposes nothing."""
    strategy = operation.get("strategy") if isinstance(operation, Mapping) else None
    pipeline = (
        strategy
        if isinstance(strategy, Mapping) and strategy.get("name") == "pipeline"
        else {"name": "pipeline", "steps": [strategy]}
    )
    steps = pipeline.get("steps")
    if not isinstance(steps, list) or not any(_asks_an_endpoint(step, own) for step in steps):
        return conversation.apply(operation)
    with _brought.brought(lambda view, tokens_max, cancel: step_aside(), {}):
        try:
            return conversation.apply(
                {
                    **operation,
                    "strategy": {**pipeline, "steps": [{"name": _brought.STRATEGY}, *steps]},
                }
            )
        except UndertextError as error:
            raise _without_the_step(
                error, None if pipeline is strategy else strategy
            ) from error.__cause__


def _compressed(
    conversation: _conversation.Conversation, own: Collection[str], arguments: Mapping[str, Any]
) -> Answer:
    try:
        return _applied(conversation, own, members("operation", "COMPRESS", arguments))
    except UndertextError as error:
        in_callers_words(error, arguments)
        raise


_STEP = re.compile(r"strategy\.steps\[(\d+)\]")


def _without_the_step(error: UndertextError, alone: Any) -> UndertextError:
    """In the words for what was asked: a pipeline whose steps begin one later, or `alone`, which was none."""
    message, path = error.message, error.path
    if path is not None:
        path = _STEP.sub(
            lambda found: "strategy" if alone else f"strategy.steps[{int(found[1]) - 1}]",
            path,
            count=1,
        )
        message = message.replace(str(error.path), path, 1)
    elif alone and isinstance(error, CannotFitError):
        message = message.replace("pipeline", str(alone["name"]), 1)
    told = {
        name: {"message": message, "path": path}.get(name, value)
        for name, value in error.error.items()
    }
    return type(error)(message, field=error.field, path=path, error=told)


def _asks_an_endpoint(step: object, own: Collection[str]) -> bool:
    summariser = (
        step.get("summariser", "digest")
        if isinstance(step, Mapping) and step.get("name") == "smart_summary"
        else "digest"
    )
    return isinstance(summariser, str) and summariser != "digest" and summariser not in own


class _Opening(Generic[_Opened]):
    """Awaited, or entered by `async with`, which closes at its end what was opened."""

    def __init__(self, opening: Coroutine[Any, Any, _Opened]) -> None:
        self._opening = opening

    def __await__(self) -> Generator[Any, None, _Opened]:
        return self._opening.__await__()

    async def __aenter__(self) -> _Opened:
        self._opened = await self._opening
        return self._opened

    async def __aexit__(
        self,
        kind: Type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._opened.close()


class Store(OffTheLoop):
    """`async with Store(url) as store`, or `store = await Store(url)`: its arguments and methods are those of undertext.Store."""

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
        super().__init__()
        self._wanted = functools.partial(
            _store.Store,
            url,
            create=create,
            read_only=read_only,
            durability=durability,
            tenant=tenant,
            patience_ms=patience_ms,
        )
        self._opened: _store.Store | None = None

    def __repr__(self) -> str:
        return "<Store, not open yet>" if self._opened is None else repr(self._opened)

    def _repr_html_(self) -> str | None:
        return None if self._opened is None else self._opened._repr_html_()

    async def __aiter__(self) -> AsyncIterator[Dict[str, Any]]:
        page = await self.list()
        while page:
            for record in page:
                yield record
            page = await self.list(after=page[-1]["conversation"])

    @property
    def _sync(self) -> _store.Store:
        if self._opened is None:
            raise InvalidArgumentError(
                "the store is not open yet: `async with Store(url) as store`", field="store"
            )
        return self._opened

    async def _open(self) -> Store:
        if self._opened is None:
            self._opened = await self._call(self._wanted)
        return self

    def __await__(self) -> Generator[Any, None, Store]:
        return self._open().__await__()

    async def __aenter__(self) -> Store:
        return await self._open()

    def open(
        self,
        id: str,
        *,
        settings: Settings | Mapping[str, object] | None = None,
        summarisers: Code | None = None,
        strategies: Code | None = None,
        make: Make | None = None,
        cache_bytes: int | None = None,
        rebase_appends: bool | None = None,
        checkpoint_versions: int | None = None,
    ) -> _Opening[Conversation]:
        """undertext.Store.open(), awaited or entered."""
        own = _named(locals())

        async def opened() -> Conversation:
            given = _on_the_loop(own, asyncio.get_running_loop())
            return Conversation(
                await self._call(_store.Store.open, self._sync, id, **given), _names_of(own)
            )

        return _Opening(opened())

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._sync.closed

    list = later(_store.Store.list)
    purge = later(_store.Store.purge)
    check = later(_store.Store.check)
    backup = later(_store.Store.backup)
    settings = later(_store.Store.settings)
    removals = later(_store.Store.removals)
    compact = later(_store.Store.compact)
    export = later(_store.Store.export)
    import_ = later(_store.Store.import_)


async def restore_store(url: str, backup: str | os.PathLike[str]) -> None:
    """undertext.restore_store(), off the loop."""
    await beside(functools.partial(_store.restore_store, url, backup))


def open(  # noqa: A001
    url: str | None = None,
    id: str | None = None,
    *,
    settings: Settings | Mapping[str, object] | None = None,
    summarisers: Code | None = None,
    strategies: Code | None = None,
    create: bool | None = None,
    read_only: bool | None = None,
    durability: Durability | None = None,
    tenant: str | None = None,
    patience_ms: int | None = None,
    make: Make | None = None,
    cache_bytes: int | None = None,
    rebase_appends: bool | None = None,
    checkpoint_versions: int | None = None,
) -> _Opening[Conversation]:
    """undertext.open(), awaited or entered. Summarisers and strategies may answer with something to await, as coroutine functions do: that runs on this loop."""
    own = _named(locals())

    async def opened() -> Conversation:
        given = _on_the_loop(own, asyncio.get_running_loop())
        return Conversation(
            await beside(functools.partial(_store.open, url, id, **given)), _names_of(own)
        )

    return _Opening(opened())


def _named(arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """Those that were given by name, as they are now."""
    named = {
        name: value
        for name, value in arguments.items()
        if value is not None and name not in ("self", "url", "id")
    }
    return cast("Dict[str, Any]", copied(named))


def _names_of(arguments: Mapping[str, Any]) -> Collection[str]:
    summarisers = arguments.get("summarisers")
    return frozenset(summarisers) if isinstance(summarisers, Mapping) else ()


def _on_the_loop(arguments: Mapping[str, Any], loop: asyncio.AbstractEventLoop) -> Dict[str, Any]:
    given = dict(arguments)
    for kind, is_slow in (("summarisers", True), ("strategies", False)):
        if isinstance(given.get(kind), Mapping):
            given[kind] = {
                name: _awaited(code, is_slow, loop) for name, code in given[kind].items()
            }
    return given


class _Running:
    """Code that the library has called, until that is over."""

    def __init__(self) -> None:
        self.code: object = _native.code_in_background()


#: What a task is part of: the thread that the library has called on is not the loop's, but gives its context to what runs there.
_running: contextvars.ContextVar[_Running | None] = contextvars.ContextVar(
    "undertext code", default=None
)


def _awaited(
    code: Callable[..., Any], is_slow: bool, loop: asyncio.AbstractEventLoop
) -> Callable[..., Any]:
    """Code as the library can call it, on a thread of its own or on one that has a turn, which slow code gives up."""
    if not callable(code):
        return code
    is_slow = is_coroutine_function(code) or getattr(code, "_undertext_is_slow", is_slow)

    def call(about: Any, tokens_max: int | None, cancel: _native.Cancel) -> Any:
        if is_slow:
            step_aside()
        running = _Running()
        before = _running.set(running)
        try:
            answer = code(about, tokens_max, cancel)
            return _wait_for(answer, cancel, loop) if inspect.isawaitable(answer) else answer
        finally:
            running.code = None
            _running.reset(before)

    return _store.slow(call) if is_slow else _store.quick(call)


def _wait_for(
    answer: Awaitable[Any], cancel: _native.Cancel, loop: asyncio.AbstractEventLoop
) -> Any:
    running = asyncio.run_coroutine_threadsafe(result_of(answer), loop)
    while True:
        done, _ = concurrent.futures.wait([running], timeout=0.05)
        if done:
            return running.result()
        if cancel.is_cancelled() or not loop.is_running():
            running.cancel()
            raise UnavailableError("the caller cancelled this")
