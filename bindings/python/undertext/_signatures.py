"""Keyword arguments that a TypedDict describes, one by one: for help(), inspect.signature() and notebooks.

Type checkers read `**filters: Unpack[MessageFilters]` by themselves.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, Callable, Type, TypeVar

from . import _arguments

_Kind = TypeVar("_Kind")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def explicit(kind: Type[_Kind]) -> Type[_Kind]:
    """A class whose methods show their keyword arguments."""
    for member in vars(kind).values():
        if inspect.isfunction(member):
            spelled_out(member)
    return kind


def spelled_out(function: _Function) -> _Function:
    """A function that shows its keyword arguments, in its signature and in its docstring."""
    signature = inspect.signature(function)
    parameters = [*signature.parameters.values()]
    named = re.fullmatch(r"Unpack\[(\w+)\]", str(parameters[-1].annotation)) if parameters else None
    if named is None:
        return function
    arguments = getattr(_arguments, named[1])
    spelled = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=f"{_text_of(kind)} | None",
        )
        for name, kind in arguments.__annotations__.items()
    ]
    function.__signature__ = signature.replace(parameters=[*parameters[:-1], *spelled])  # type: ignore[attr-defined]
    if function.__doc__ and arguments.__doc__:
        function.__doc__ = (
            f"{inspect.cleandoc(function.__doc__)}\n\n{_members_of(arguments.__doc__)}"
        )
    return function


def _text_of(annotation: Any) -> str:
    return str(getattr(annotation, "__forward_arg__", annotation))


def _members_of(doc: str) -> str:
    return inspect.cleandoc(doc).partition("\n\n")[2]
