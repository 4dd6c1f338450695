"""Everything public says what it does and what it takes."""

from __future__ import annotations

import inspect
from typing import Any, Iterator, Tuple

import pytest

import undertext
import undertext.sdk
from undertext import aio

#: Arguments of any name, which the protocol knows and the method does not.
OPEN = {"undertext.Conversation.query", "undertext.View.query", "undertext.aio.Conversation.query"}


def is_typed_dict(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, dict) and hasattr(value, "__total__")


def members(kind: type) -> Iterator[Tuple[str, Any]]:
    for base in kind.__mro__:
        if base.__module__.startswith("undertext"):
            yield from (
                (name, member) for name, member in vars(base).items() if not name.startswith("_")
            )


def public() -> Iterator[Tuple[str, Any]]:
    for module in (undertext, aio, undertext.sdk):
        for name in module.__all__:
            value = getattr(module, name)
            if (
                name.startswith("_")
                or not callable(value)
                or is_typed_dict(value)
                or not getattr(value, "__module__", "").startswith("undertext")
            ):
                continue
            path = f"{module.__name__}.{name}"
            yield path, value
            if inspect.isclass(value):
                yield from (
                    (f"{path}.{member_name}", member) for member_name, member in members(value)
                )


@pytest.mark.parametrize(("path", "value"), list(public()))
def test_whatever_is_public_has_a_docstring(path: str, value: Any) -> None:
    if callable(value) or isinstance(value, property):
        assert (value.__doc__ or "").strip(), f"{path} has no docstring"


@pytest.mark.parametrize(
    ("path", "value"),
    [(path, value) for path, value in public() if inspect.isfunction(value) and path not in OPEN],
)
def test_every_argument_has_a_name_and_a_type(path: str, value: Any) -> None:
    signature = inspect.signature(value)
    for parameter in signature.parameters.values():
        assert parameter.kind is not inspect.Parameter.VAR_KEYWORD, (
            f"{path} says only **{parameter.name}"
        )
        if parameter.name != "self":
            assert parameter.annotation is not inspect.Parameter.empty, (
                f"{path}: {parameter.name} has no type"
            )
    assert signature.return_annotation is not inspect.Signature.empty, (
        f"{path} does not say what it returns"
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (path, value)
        for path, value in public()
        if inspect.isclass(value) and not getattr(value, "_is_protocol", False)
    ],
)
def test_every_object_prints_what_it_is(path: str, kind: type) -> None:
    shown: Any = kind.__repr__
    assert shown is not object.__repr__, f"{path} prints only its address"


def test_keyword_arguments_are_shown_with_what_they_mean() -> None:
    for kind in (undertext.Conversation, aio.Conversation):
        assert "keep_last" in inspect.signature(kind.truncate).parameters
        assert "keep_last: Keeps the last so many." in (inspect.getdoc(kind.truncate) or "")
        assert "role" in inspect.signature(kind.messages).parameters
    assert "durability" in inspect.signature(aio.open).parameters
    assert "make" in inspect.signature(aio.Store.open).parameters
