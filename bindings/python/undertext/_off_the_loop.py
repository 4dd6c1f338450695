"""Calls off the loop of asyncio, in their order: what undertext.aio stands on."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import os
import threading
from collections import deque
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Coroutine,
    Deque,
    Generator,
    Set,
    Tuple,
    Type,
    TypeVar,
)

from ._wire import copied

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")
_Sync = TypeVar("_Sync")
_Own = TypeVar("_Own", bound="OffTheLoop")


_threads: concurrent.futures.ThreadPoolExecutor


def _make_threads() -> None:
    """As many as are needed, made when they are: a call may wait for code that itself needs a thread, so a bound, as that of the loop's own executor, could be a deadlock."""
    global _threads
    _threads = concurrent.futures.ThreadPoolExecutor(1 << 20, "undertext")


_make_threads()
os.register_at_fork(after_in_child=_make_threads)  # for a child has none of its parent's


def beside(function: Callable[[], T]) -> Coroutine[Any, Any, T]:
    """A call that waits for no other."""
    return Made(_threads.submit(function), asyncio.get_running_loop())


def in_thread(
    function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs
) -> Coroutine[Any, Any, T]:
    """asyncio.to_thread() on threads of ours: those of the loop are few, and others may have taken all of them."""
    return beside(functools.partial(contextvars.copy_context().run, function, *arguments, **named))


class _Here(threading.local):
    """The call that has its turn on this thread, and whose it is."""

    turn: Tuple[OffTheLoop, concurrent.futures.Future[Any]] | None = None


_here = _Here()


def step_aside() -> None:
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


class OffTheLoop:
    """Calls in their order, on a thread of ours while there are any."""

    _sync: Any

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Deque[Tuple[concurrent.futures.Future[Any], Callable[[], Any]]] = deque()
        self._aside: Set[concurrent.futures.Future[Any]] = set()
        self._is_working = False

    def _call(
        self, function: Callable[..., T], *arguments: Any, **named: Any
    ) -> Coroutine[Any, Any, T]:
        loop = asyncio.get_running_loop()
        done: concurrent.futures.Future[T] = concurrent.futures.Future()
        call = functools.partial(function, *map(copied, arguments), **copied(named))
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
        return Made(done, loop)

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
        """After the calls that were made before; one that waits for a model or other slow code is cancelled."""
        await self._call(self._end)

    def _end(self) -> None:
        self._sync.close()

    async def __aenter__(self: _Own) -> _Own:
        return self

    async def __aexit__(
        self,
        kind: Type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


async def result_of(done: Awaitable[T]) -> T:
    return await done


class Made(Coroutine[Any, Any, T]):
    """A call that was made, to be awaited. Whoever is cancelled before the first step never comes to the await of a coroutine, and so would not tell the call: a task throws into this, closes it, or lets it go
    together with what stood around it."""

    def __init__(self, done: concurrent.futures.Future[T], loop: asyncio.AbstractEventLoop) -> None:
        self._done = done
        self._awaiting = result_of(asyncio.wrap_future(done, loop=loop))

    def send(self, value: Any, /) -> Any:
        return self._awaiting.send(value)

    def throw(self, *raised: Any) -> Any:
        self._done.cancel()
        return self._awaiting.throw(*raised)

    def close(self) -> None:
        self._done.cancel()
        self._awaiting.close()

    def __await__(self) -> Generator[Any, None, T]:
        return (yield from self._awaiting.__await__())  # which holds this until it is over

    def __del__(self) -> None:
        self._done.cancel()


def later(
    method: Callable[Concatenate[_Sync, P], T],
) -> Callable[Concatenate[OffTheLoop, P], Coroutine[Any, Any, T]]:
    """A method of the synchronous class, for its asynchronous one."""

    @functools.wraps(method)
    def call(self: OffTheLoop, /, *arguments: P.args, **named: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._call(method, self._sync, *arguments, **named)

    return call
