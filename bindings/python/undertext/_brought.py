"""Code that comes with one call. The engine knows code by its name, from the time a conversation is opened: so every conversation is opened with a few names that stand for whatever the call of
this thread has brought. A COMPRESS that names a strategy runs it on the thread that calls, so no other call can meet that code."""

from __future__ import annotations

import contextlib
import threading
from typing import Dict, Iterator, List, Mapping, Tuple, Union

from . import _native
from ._errors import InvalidArgumentError
from ._view import Strategy, View
from .types import Message, Plan, Summariser, Summary

#: As they stand in errors and receipts: "the strategy of the call".
STRATEGY = "of the call"
SUMMARISERS = ("of the call", *(f"of the call, number {i}" for i in range(2, 5)))


class _Here(threading.local):
    strategy: Strategy | None = None
    summarisers: Tuple[Summariser, ...] = ()


_here = _Here()


def check_name(name: object) -> None:
    """Code of that name would take the place of what a call brings."""
    if name == STRATEGY or name in SUMMARISERS:
        raise InvalidArgumentError(
            f'"{name}" is one of the package\'s own; choose another name', field="name"
        )


def add_names(settings: _native.Settings) -> None:
    settings.add_strategy(STRATEGY, True, _plan)
    for summariser, name in zip(_summarising, SUMMARISERS):
        settings.add_summariser(name, True, summariser)


def _plan(view: _native.View, tokens_max: int | None, cancel: _native.Cancel) -> Plan | None:
    if _here.strategy is None:
        raise InvalidArgumentError("the call has brought no strategy", field="strategy")
    return _here.strategy(View(view), tokens_max, cancel)


def _summarises(place: int) -> Summariser:
    def summarise(
        messages: List[Message], tokens_max: int, cancel: _native.Cancel
    ) -> Union[str, Summary]:
        if place >= len(_here.summarisers):
            raise InvalidArgumentError(
                "the call has brought no such summariser", field="summariser"
            )
        return _here.summarisers[place](messages, tokens_max, cancel)

    return summarise


_summarising = [_summarises(place) for place in range(len(SUMMARISERS))]


#: Those of every conversation that is opened without any: they are copied, so one is enough.
NAMES_ALONE = _native.Settings()
add_names(NAMES_ALONE)


@contextlib.contextmanager
def brought(
    strategy: Strategy | None, summarisers: Mapping[str, Summariser]
) -> Iterator[Dict[str, str]]:
    """Until its end a COMPRESS of this thread may name STRATEGY, and the summarisers by the names that each is given here."""
    if len(summarisers) > len(SUMMARISERS):
        raise InvalidArgumentError(
            f"a call brings at most {len(SUMMARISERS)} summarisers", field="strategy"
        )
    outer = _here.strategy, _here.summarisers  # code that was brought may call with code of its own
    _here.strategy, _here.summarisers = strategy, tuple(summarisers.values())
    try:
        yield dict(zip(summarisers, SUMMARISERS))
    finally:
        _here.strategy, _here.summarisers = outer
