"""Arguments of Python as members of the protocol: expected_version is expectedVersion, from_ is from, and what is None is left out."""

from __future__ import annotations

import base64
import inspect
import re
from collections.abc import Mapping as AnyMapping, Sequence as AnySequence
from functools import lru_cache
from typing import Any, Dict, List, Mapping, Tuple, cast

from . import _arguments, _native
from ._errors import InvalidArgumentError, UndertextError


@lru_cache(maxsize=256)
def wire_name(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def check_function(name: str, function: object) -> None:
    """One that is called without being awaited."""
    field = name.partition(".")[0]
    if not callable(function):
        raise InvalidArgumentError(f"{name} must be a function", field=field, path=name)
    if is_coroutine_function(function):
        raise InvalidArgumentError(
            f"{name} is a coroutine function, which nobody would await here", field=field, path=name
        )


def is_coroutine_function(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )


def number(name: str, value: object) -> int:
    """A number as undertext.h takes it."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 64:
        raise InvalidArgumentError(
            f"{name} must be a whole number that is not negative", field=name
        )
    return value


def version_number(name: str, value: object) -> int | None:
    """The same, or None for the newest."""
    return None if value is None else number(name, value)


def given(arguments: Mapping[str, Any]) -> Dict[str, Any]:
    return _added({}, arguments)


def raw_text(name: str, text: object) -> Dict[str, str]:
    """A raw text as a member; bytes that are no UTF-8 in base64."""
    if not isinstance(text, bytes):
        return {name: cast(str, text)}
    try:
        return {name: text.decode()}
    except UnicodeDecodeError:
        return {f"{name}Base64": base64.b64encode(text).decode()}


def members(kind: str, name: str, arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """{kind: name} and the arguments that were given."""
    return _added({kind: name}, arguments)


def _added(request: Dict[str, Any], arguments: Mapping[str, Any]) -> Dict[str, Any]:
    for argument, value in arguments.items():
        if value is None:
            continue
        name = wire_name(argument)
        if name in request:
            raise InvalidArgumentError(f"{argument} is said already", field=argument)
        request[name] = value
    return request


def _python_names() -> Dict[str, str]:
    """Arguments that Python spells in another way than the protocol, by the protocol's names."""
    names = [
        name for group in _arguments.__all__ for name in getattr(_arguments, group).__annotations__
    ]
    return {wire_name(name): name for name in names if wire_name(name) != name}


_PYTHON_NAMES = _python_names()
_NAME = re.compile(r"[A-Za-z]+")
_NAME_OR_QUOTED = re.compile(r'"[^"]*"|[A-Za-z]+')
_FIRST_STEP = re.compile(r"([^.\[]*)(.*)", re.DOTALL)


def in_callers_words(error: UndertextError, arguments: Mapping[str, Any]) -> UndertextError:
    """The error of a call with named arguments, in which these have the names that the caller gave them. What stands inside of an argument keeps its name, and so does what is quoted: it is the caller's own text."""
    names = {**_PYTHON_NAMES, **{wire_name(name): name for name in arguments}}
    first, inner = _FIRST_STEP.fullmatch(error.path or error.field or "").groups()  # type: ignore[union-attr]
    if not inner and error.field is not None:
        error.field = names.get(error.field, error.field)
    if error.path is not None:
        error.path = names.get(first, first) + inner
    kept = {*_NAME.findall(inner), "from"}  # which is a word of prose, too
    error.message = _NAME_OR_QUOTED.sub(
        lambda found: found[0] if found[0] in kept else names.get(found[0], found[0]), error.message
    )
    error.args = (error.message, *error.args[1:])
    return error


_PLAIN = frozenset((str, int, float, bool, type(None), bytes))
#: More than the library reads. A cycle is no depth, but what makes its parts anew whenever it is asked, as a UserString does, has no end.
_DEPTH_MAX = 200


def _empty_copy(part: Any) -> Any:
    """A dict or a list to be filled; None for what is neither."""
    if isinstance(part, dict):
        return {}
    if isinstance(part, (list, tuple)):
        return []
    if isinstance(part, str) or callable(part) or is_model(part):
        return None
    if isinstance(part, AnyMapping):
        return {}
    if not isinstance(part, AnySequence):
        return None
    try:
        memoryview(cast(Any, part))  # bytes and the like are none
    except TypeError:
        return []
    return None


def is_model(value: Any) -> bool:
    """Whether it is an object of pydantic's, as the messages and answers of SDKs are."""
    return not isinstance(value, type) and hasattr(type(value), "model_dump")


def copied(value: Any) -> Any:
    """With dicts and lists of its own, however they are nested. What cannot be read stays as it is: the library meets it in its turn, and says where it stands."""
    copies: Dict[int, Any] = {}
    found: List[Tuple[Any, int]] = []

    def copy_of(part: Any, depth: int) -> Any:
        if type(part) in _PLAIN:
            return part
        if is_model(part):
            return _native.plain(part)
        if id(part) in copies:
            return copies[id(part)]
        empty = _empty_copy(part)
        if empty is None:
            return part
        if depth > _DEPTH_MAX:
            raise RecursionError
        copies[id(part)] = empty
        found.append((part, depth))  # and so no id is another's
        return empty

    try:
        copy = copy_of(value, 0)
        for part, depth in found:  # which grows meanwhile
            filled = copies[id(part)]
            if isinstance(filled, dict):
                filled.update((name, copy_of(member, depth + 1)) for name, member in part.items())
            else:
                filled.extend(copy_of(member, depth + 1) for member in part)
    except Exception:
        return value
    return copy
