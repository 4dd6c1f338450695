"""undertext.operations says what the engine takes: every operation, and of each the fields it knows and no others."""

from __future__ import annotations

import re
from typing import Any, List, get_args, get_type_hints

import pytest

import undertext
from undertext import operations

KINDS = [kind for kind in get_args(operations.Operation)]


def name_of(kind: Any) -> str:
    return str(get_args(get_type_hints(kind)["operation"])[0])


def test_there_is_a_type_for_each_operation_of_the_engine() -> None:
    with undertext.open() as conversation:
        with pytest.raises(undertext.InvalidArgumentError):
            conversation.apply({"operation": "NOBODY"})
        methods = {re.sub(r"_", "", name).upper() for name in dir(conversation)}
        assert all(name_of(kind).replace("_", "") in methods for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_the_engine_knows_every_field_of_it(kind: Any) -> None:
    """An unknown field is refused before anything else is looked at; so a field that is known is refused, if at all, for its value."""
    unknown: List[str] = []
    with undertext.open() as conversation:
        for field in get_type_hints(kind):
            if field == "operation":
                continue
            beside = (
                {"strategy": "none"}
                if field in ("targetTokens", "budget", "progress", "survival")
                else {}
            )  # where alone these mean something
            try:
                conversation.apply(
                    {"operation": name_of(kind), field: {"no": "value of it"}, **beside}
                )
            except undertext.UndertextError as error:
                if "has no field" in str(error) and error.field == field:
                    unknown.append(field)
        assert unknown == []
        with pytest.raises(undertext.InvalidArgumentError, match="has no field"):
            conversation.apply({"operation": name_of(kind), "nothingOfTheKind": 1})


def test_an_operation_with_a_type_is_applied() -> None:
    append: operations.Append = {
        "operation": "APPEND",
        "messages": [{"role": "user", "content": "x"}],
    }
    truncate: operations.Truncate = {"operation": "TRUNCATE", "keepLast": 0, "description": "all"}
    with undertext.open() as conversation:
        assert conversation.apply(append)["version"] == 1
        assert [answer["operation"] for answer in conversation.apply_all([append, truncate])] == [
            "APPEND",
            "TRUNCATE",
        ]
