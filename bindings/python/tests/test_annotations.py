"""Annotations can be evaluated, as programs do that make tools or schemas of functions."""

from __future__ import annotations

import inspect
import sys
import typing
from typing import Any, Callable, Iterator

import pytest

import undertext
import undertext.sdk
from undertext import aio


def functions() -> Iterator[Callable[..., Any]]:
    for module in (undertext, aio, undertext.sdk):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                yield value
            elif (
                inspect.isclass(value)
                and value.__module__.startswith("undertext.")
                and not typing.is_typeddict(value)
            ):
                yield from (member for member in vars(value).values() if inspect.isfunction(member))


@pytest.mark.skipif(sys.version_info < (3, 10), reason="annotations have the types of Python 3.10")
def test_the_types_of_every_function_can_be_asked_for() -> None:
    asked = 0
    for function in functions():
        typing.get_type_hints(function)
        asked += 1
    assert asked > 200


def test_the_filters_of_a_query_are_named_by_their_type() -> None:
    assert "MessageFilters" in str(
        typing.get_type_hints(undertext.Conversation.messages)["filters"]
    )
