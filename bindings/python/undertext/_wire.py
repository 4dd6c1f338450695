"""Arguments of Python as members of the protocol: expected_version is expectedVersion, from_ is from, and what is None is left out."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Dict, Mapping

from ._errors import InvalidArgumentError


@lru_cache(maxsize=256)
def wire_name(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def number(name: str, value: Any) -> Any:
    """A number as undertext.h takes it."""
    if not isinstance(value, int) or not 0 <= value < 1 << 64:
        raise InvalidArgumentError(f"{wire_name(name)} must be a whole number that is not negative", field=wire_name(name))
    return value


def version_number(name: str, value: Any) -> Any:
    """The same, or None for the newest."""
    return None if value is None else number(name, value)


def given(arguments: Mapping[str, Any]) -> Dict[str, Any]:
    return {wire_name(name): value for name, value in arguments.items() if value is not None}


def members(kind: str, name: str, arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """{kind: name} and the arguments that were given."""
    request = {kind: name}
    for argument, value in arguments.items():
        if value is not None:
            request[wire_name(argument)] = value
    return request
