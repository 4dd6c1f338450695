"""Undertext for asyncio: the names of undertext, as coroutines.

    async with undertext.aio.open("sqlite:agent.db", "support-17") as conversation:
        await conversation.append({"role": "user", "content": "Hello"})

Every call runs off the loop. Calls of one conversation run one after another, in the order in which they were made (not in which they are awaited); calls of different ones
beside each other. One that waits for slow code of yours lets those behind it go on. A call that is cancelled before its turn does not happen; one that is cancelled later comes
to its end as if nobody had cancelled it. What is handed in is read when the call is made.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import os
import threading
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Coroutine, Deque, Dict, Generator, Generic, List, Mapping, Set, Tuple, Type, TypeVar

from . import _conversation, _native, _store
from ._errors import InvalidArgumentError, UnavailableError
from .types import Event

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

__all__ = ["Conversation", "Events", "Store", "open"]

T = TypeVar("T")
_Sync = TypeVar("_Sync")
_Own = TypeVar("_Own", bound="_OffTheLoop")
_Opened = TypeVar("_Opened", bound="_OffTheLoop")


_threads: concurrent.futures.ThreadPoolExecutor


def _make_threads() -> None:
    """As many as are needed, made when they are: a call may wait for code that itself needs a thread, so a bound, as that of the loop's own executor, could be a deadlock."""
    global _threads
    _threads = concurrent.futures.ThreadPoolExecutor(1 << 20, "undertext")


_make_threads()
os.register_at_fork(after_in_child=_make_threads)  # for a child has none of its parent's


def _beside(function: Callable[[], T]) -> Coroutine[Any, Any, T]:
    """A call that waits for no other."""
    return _result(asyncio.get_running_loop().run_in_executor(_threads, function))


def _copied(value: Any) -> Any:
    """With dicts and lists of its own, however they are nested. What cannot be read stays as it is: the library meets it in its turn, and says where it stands."""
    copies: Dict[int, Any] = {}
    found: List[Any] = []

    def copy_of(part: Any) -> Any:
        if not isinstance(part, (dict, list, tuple)):
            return part
        if id(part) not in copies:
            copies[id(part)] = {} if isinstance(part, dict) else []
            found.append(part)  # and so no id is another's
        return copies[id(part)]

    copy = copy_of(value)
    try:
        for part in found:  # which grows meanwhile
            if isinstance(part, dict):
                copies[id(part)].update((name, copy_of(member)) for name, member in part.items())
            else:
                copies[id(part)].extend(map(copy_of, part))
    except Exception:
        return value
    return copy


class _Here(threading.local):
    """The call that has its turn on this thread, and whose it is."""

    turn: Tuple[_OffTheLoop, concurrent.futures.Future[Any]] | None = None


_here = _Here()


def _step_aside() -> None:
    """The calls behind the one that runs on this thread go on without it."""
    if _here.turn is None:
        return
    queue, call = _here.turn
    queue._aside.add(call)
    try:
        _threads.submit(queue._work)
    except RuntimeError:  # no more threads: then they wait
        queue._aside.discard(call)
    else:
        _here.turn = None


class _OffTheLoop:
    """Calls in their order, on a thread of ours while there are any."""

    _sync: Any

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Deque[Tuple[concurrent.futures.Future[Any], Callable[[], Any]]] = deque()
        self._aside: Set[concurrent.futures.Future[Any]] = set()
        self._is_working = False

    def _call(self, function: Callable[..., T], *arguments: Any, **named: Any) -> Coroutine[Any, Any, T]:
        loop = asyncio.get_running_loop()
        done: concurrent.futures.Future[T] = concurrent.futures.Future()
        call = functools.partial(function, *map(_copied, arguments), **_copied(named))
        with self._lock:
            self._waiting.append((done, call))
            starts, self._is_working = not self._is_working, True
        if starts:
            try:
                _threads.submit(self._work)
            except BaseException:
                with self._lock:
                    self._is_working = False
                    self._waiting.clear()
                raise
        return _result(asyncio.wrap_future(done, loop=loop))

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._is_working = False
                    return
                done, call = self._waiting.popleft()
            if not done.set_running_or_notify_cancel():
                continue
            _here.turn = (self, done)
            try:
                done.set_result(call())
            except BaseException as error:  # noqa: B036 - it belongs to whoever awaits
                done.set_exception(error)
            if _here.turn is None:  # another thread has taken over
                self._aside.discard(done)
                return
            _here.turn = None

    async def close(self) -> None:
        """After the calls that were made before; one that waits for slow code of yours is cancelled."""
        await self._call(self._end)

    def _end(self) -> None:
        self._sync.close()

    async def __aenter__(self: _Own) -> _Own:
        return self

    async def __aexit__(self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


async def _result(done: Awaitable[T]) -> T:
    return await done


def _later(method: Callable[Concatenate[_Sync, P], T]) -> Callable[Concatenate[_OffTheLoop, P], Coroutine[Any, Any, T]]:
    """A method of the synchronous class, for its asynchronous one."""

    @functools.wraps(method)
    def call(self: _OffTheLoop, /, *arguments: P.args, **named: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._call(method, self._sync, *arguments, **named)

    return call


class Events(AsyncIterator[Event]):
    """The events since it was made, as they come. Ends when it or the conversation is closed; keeps what nobody has asked for yet, so close it."""

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
        self._subscribed = asyncio.ensure_future(conversation._call(conversation._sync.subscribe, receive))

    async def __anext__(self) -> Event:
        await asyncio.shield(self._subscribed)
        event = await self._queue.get()
        if event is None:
            self._queue.put_nowait(None)  # for whoever asks once more
            raise StopAsyncIteration
        return event

    async def close(self) -> None:
        subscription = await asyncio.shield(self._subscribed)
        await self._conversation._call(subscription.close)
        self._end()

    def __del__(self) -> None:
        subscribed = getattr(self, "_subscribed", None)
        if subscribed is not None and subscribed.done() and not subscribed.cancelled() and subscribed.exception() is None:
            subscribed.result().close()

    async def __aenter__(self) -> Events:
        await asyncio.shield(self._subscribed)
        return self

    async def __aexit__(self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


class Conversation(_OffTheLoop):
    """Made by undertext.aio.open() or Store.open(); its methods are those of undertext.Conversation."""

    _sync: _conversation.Conversation

    def __init__(self, sync: _conversation.Conversation) -> None:
        super().__init__()
        self._sync = sync

    @property
    def closed(self) -> bool:
        return self._sync.closed

    @property
    def id(self) -> str:
        return self._sync.id

    @property
    def version(self) -> int:
        return self._sync.version

    append = _later(_conversation.Conversation.append)
    append_text = _later(_conversation.Conversation.append_text)
    apply = _later(_conversation.Conversation.apply)
    apply_all = _later(_conversation.Conversation.apply_all)
    insert = _later(_conversation.Conversation.insert)
    replace = _later(_conversation.Conversation.replace)
    truncate = _later(_conversation.Conversation.truncate)
    clear = _later(_conversation.Conversation.clear)
    filter = _later(_conversation.Conversation.filter)
    delete = _later(_conversation.Conversation.delete)
    compress = _later(_conversation.Conversation.compress)
    expand = _later(_conversation.Conversation.expand)
    merge = _later(_conversation.Conversation.merge)
    split = _later(_conversation.Conversation.split)
    transform = _later(_conversation.Conversation.transform)
    start_batch = _later(_conversation.Conversation.start_batch)
    end_batch = _later(_conversation.Conversation.end_batch)
    rollback = _later(_conversation.Conversation.rollback)
    mark = _later(_conversation.Conversation.mark)
    unmark = _later(_conversation.Conversation.unmark)
    undo = _later(_conversation.Conversation.undo)
    redo = _later(_conversation.Conversation.redo)
    restore = _later(_conversation.Conversation.restore)
    import_mark_map = _later(_conversation.Conversation.import_mark_map)
    messages = _later(_conversation.Conversation.messages)
    ordinals = _later(_conversation.Conversation.ordinals)
    count = _later(_conversation.Conversation.count)
    query = _later(_conversation.Conversation.query)
    view = _later(_conversation.Conversation.view)
    uncompressed = _later(_conversation.Conversation.uncompressed)
    state = _later(_conversation.Conversation.state)
    stats = _later(_conversation.Conversation.stats)
    tokens = _later(_conversation.Conversation.tokens)
    mark_map = _later(_conversation.Conversation.mark_map)
    batches = _later(_conversation.Conversation.batches)
    batch_snapshot = _later(_conversation.Conversation.batch_snapshot)
    history = _later(_conversation.Conversation.history)
    diff = _later(_conversation.Conversation.diff)
    blame = _later(_conversation.Conversation.blame)
    fit = _later(_conversation.Conversation.fit)
    receipts = _later(_conversation.Conversation.receipts)
    render = _later(_conversation.Conversation.render)
    validate = _later(_conversation.Conversation.validate)
    cost = _later(_conversation.Conversation.cost)
    answer_text = _later(_conversation.Conversation.answer_text)
    subscribe = _later(_conversation.Conversation.subscribe)
    set_tokenizer = _later(_conversation.Conversation.set_tokenizer)
    report_usage = _later(_conversation.Conversation.report_usage)
    usage = _later(_conversation.Conversation.usage)
    catch_up = _later(_conversation.Conversation.catch_up)
    checkpoint = _later(_conversation.Conversation.checkpoint)
    redact = _later(_conversation.Conversation.redact)
    give_up_versions = _later(_conversation.Conversation.give_up_versions)

    def fork(self, version: int | None = None, *, id: str = "") -> Coroutine[Any, Any, Conversation]:
        return self._call(lambda: Conversation(self._sync.fork(version, id=id)))

    def wait_for_compression(self) -> Coroutine[Any, Any, None]:
        """Begins in its turn; calls that are made later do not wait for it."""

        def wait() -> None:
            _step_aside()
            self._sync.wait_for_compression()

        return self._call(wait)

    def cancel_compression(self) -> Coroutine[Any, Any, None]:
        """Waits for no other call."""
        return _beside(self._sync.cancel_compression)

    def _end(self) -> None:
        aside = self._aside.copy()
        if aside and not self.closed:
            self._sync.cancel_compression()
            concurrent.futures.wait(aside)
        super()._end()

    def events(self) -> Events:
        """The events of calls that are made from here on, to iterate over."""
        return Events(self)


class _Opening(Generic[_Opened]):
    """Awaited, or entered by `async with`, which closes at its end what was opened."""

    def __init__(self, opening: Coroutine[Any, Any, _Opened]) -> None:
        self._opening = opening

    def __await__(self) -> Generator[Any, None, _Opened]:
        return self._opening.__await__()

    async def __aenter__(self) -> _Opened:
        self._opened = await self._opening
        return self._opened

    async def __aexit__(self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._opened.close()


class Store(_OffTheLoop):
    """`async with Store(url) as store`, or `store = await Store(url)`: its arguments and methods are those of undertext.Store."""

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__()
        self._wanted = functools.partial(_store.Store, url, **options)
        self._opened: _store.Store | None = None

    @property
    def _sync(self) -> _store.Store:
        if self._opened is None:
            raise InvalidArgumentError("the store is not open yet: `async with Store(url) as store`", field="store")
        return self._opened

    async def _open(self) -> Store:
        if self._opened is None:
            self._opened = await self._call(self._wanted)
        return self

    def __await__(self) -> Generator[Any, None, Store]:
        return self._open().__await__()

    async def __aenter__(self) -> Store:
        return await self._open()

    def open(self, id: str, **arguments: Any) -> _Opening[Conversation]:
        copied: Dict[str, Any] = _copied(arguments)

        async def opened() -> Conversation:
            given = _on_the_loop(copied, asyncio.get_running_loop())
            return Conversation(await self._call(_store.Store.open, self._sync, id, **given))

        return _Opening(opened())

    @property
    def closed(self) -> bool:
        return self._sync.closed

    list = _later(_store.Store.list)
    purge = _later(_store.Store.purge)
    check = _later(_store.Store.check)
    backup = _later(_store.Store.backup)
    settings = _later(_store.Store.settings)
    removals = _later(_store.Store.removals)
    compact = _later(_store.Store.compact)
    export = _later(_store.Store.export)
    import_ = _later(_store.Store.import_)


def open(url: str | None = None, id: str | None = None, **arguments: Any) -> _Opening[Conversation]:  # noqa: A001
    """undertext.open(), awaited or entered. Summarisers and strategies may answer with something to await, as coroutine functions do: that runs on this loop."""
    copied: Dict[str, Any] = _copied(arguments)

    async def opened() -> Conversation:
        given = _on_the_loop(copied, asyncio.get_running_loop())
        return Conversation(await _beside(functools.partial(_store.open, url, id, **given)))

    return _Opening(opened())


def _on_the_loop(arguments: Mapping[str, Any], loop: asyncio.AbstractEventLoop) -> Dict[str, Any]:
    given = dict(arguments)
    for kind, is_slow in (("summarisers", True), ("strategies", False)):
        if given.get(kind):
            given[kind] = {name: _awaited(code, is_slow, loop) for name, code in given[kind].items()}
    return given


def _is_coroutine_function(code: Any) -> bool:
    return inspect.iscoroutinefunction(code) or inspect.iscoroutinefunction(getattr(code, "__call__", None))


def _awaited(code: Callable[..., Any], is_slow: bool, loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    """Code as the library can call it, on a thread of its own or on one that has a turn, which slow code gives up."""
    if not callable(code):
        return code
    is_slow = _is_coroutine_function(code) or getattr(code, "_undertext_is_slow", is_slow)

    def call(about: Any, tokens_max: int | None, cancel: _native.Cancel) -> Any:
        if is_slow:
            _step_aside()
        answer = code(about, tokens_max, cancel)
        return _wait_for(answer, cancel, loop) if inspect.isawaitable(answer) else answer

    return _store.slow(call) if is_slow else _store.quick(call)


def _wait_for(answer: Awaitable[Any], cancel: _native.Cancel, loop: asyncio.AbstractEventLoop) -> Any:
    running = asyncio.run_coroutine_threadsafe(_result(answer), loop)
    while True:
        done, _ = concurrent.futures.wait([running], timeout=0.05)
        if done:
            return running.result()
        if cancel.is_cancelled() or not loop.is_running():
            running.cancel()
            raise UnavailableError("nobody waits for this any more")
