"""Arguments of Python as members of the protocol: expected_version is expectedVersion, from_ is from, and what is None is left out."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Dict, Mapping


@lru_cache(maxsize=256)
def wire_name(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def given(arguments: Mapping[str, Any]) -> Dict[str, Any]:
    return {wire_name(name): value for name, value in arguments.items() if value is not None}


def members(kind: str, name: str, arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """{kind: name} and the arguments that were given."""
    request = {kind: name}
    for argument, value in arguments.items():
        if value is not None:
            request[wire_name(argument)] = value
    return request
