"""Whatever is handed in: a typed error, or the same thing back; never a crash, never half of it."""

from __future__ import annotations

import enum
import sys
from array import array
from collections import ChainMap, OrderedDict, UserDict, UserList, UserString, deque
from types import MappingProxyType
from typing import Any, Dict, List

import pytest

import undertext


def cyclic_dict() -> Dict[str, Any]:
    value: Dict[str, Any] = {}
    value["self"] = value
    return value


def cyclic_list() -> List[Any]:
    value: List[Any] = []
    value.append(value)
    return value


class Raising(Dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("not today")


class LyingItems(Dict[str, Any]):
    def items(self) -> Any:
        return [("a", 1, 2)]


class Odd:
    def __str__(self) -> str:
        raise RuntimeError("no")


def deep(n: int) -> Any:
    value: Any = "end"
    for _ in range(n):
        value = [value]
    return value


REFUSED = {
    "lone surrogate": "\ud83d",
    "surrogates in two halves": "\ud83d\ude00",
    "lone surrogate as a key": {"\udfff": 1},
    "bytes": b"x",
    "bytearray": bytearray(b"x"),
    "set": {1},
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": -float("inf"),
    "complex": 1j,
    "object": object(),
    "class": dict,
    "function": len,
    "generator": (i for i in range(3)),
    "mapping of no JSON": MappingProxyType({"a": {1}}),
    "sequence of no JSON": deque([b"x"]),
    "memoryview": memoryview(b"x"),
    "array": array("i", [1]),
    "string that is no str": UserString("x"),
    "key that is no str": {1: 2},
    "key None": {None: 2},
    "cycle of dicts": cyclic_dict(),
    "cycle of lists": cyclic_list(),
    "items() raises": Raising(a=1),
    "items() lies": LyingItems(a=1),
    "odd object": Odd(),
    "nested too deeply": deep(300),
    "nested beyond what a message may be": deep(128),
    "int of too many digits": 10**200_000,
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused_wherever_it_stands_and_nothing_changes(value: Any) -> None:
    conversation = undertext.open()
    conversation.append({"role": "user", "content": "here"})
    for call in (
        lambda: conversation.append({"role": "user", "content": "x", "metadata": {"value": value}}),
        lambda: conversation.append(
            [{"role": "user", "content": "fine"}, {"role": "user", "content": "x", "y": value}]
        ),
        lambda: conversation.replace(0, {"role": "user", "content": "x", "y": value}),
        lambda: conversation.apply_all(
            [
                {"operation": "APPEND", "messages": [{"role": "user", "content": "x"}]},
                {"operation": value},
            ]
        ),
        lambda: conversation.query("messages", contains=value),
        lambda: conversation.apply(value),
    ):
        with pytest.raises(undertext.UndertextError) as caught:
            call()
        assert caught.value.code in ("invalid_argument", "too_large")
    assert conversation.version == 1
    assert conversation.messages(all=True) == [{"role": "user", "content": "here"}]


def test_an_error_says_where_it_stands_and_what_was_raised() -> None:
    conversation = undertext.open()
    with pytest.raises(undertext.InvalidArgumentError) as caught:
        conversation.append([{"role": "user", "content": [{"type": "text", "text": "\ud800"}]}])
    assert (caught.value.field, caught.value.path) == ("text", "[0].content[0].text")
    assert isinstance(caught.value.__cause__, UnicodeEncodeError)
    with pytest.raises(undertext.InvalidArgumentError) as caught:
        conversation.append({"role": "user", "content": "x", "y": Raising()})
    assert isinstance(caught.value.__cause__, RuntimeError)


class Role(str, enum.Enum):
    USER = "user"

    def __str__(self) -> str:
        raise RuntimeError("methods of a str are not asked")

    def encode(self, *_: Any) -> bytes:
        raise RuntimeError("nor this one")


class Number(enum.IntEnum):
    SEVEN = 7


class Fraction(float):
    def __repr__(self) -> str:
        raise RuntimeError("nor the spelling of a float")


def test_what_is_derived_from_str_int_float_dict_list_is_read_by_its_value() -> None:
    conversation = undertext.open()
    ordered: "OrderedDict[str, Any]" = OrderedDict(
        content="x", role=Role.USER, n=Number.SEVEN, f=Fraction(0.5), t=(1, 2)
    )
    ordered.move_to_end("content")
    conversation.append(ordered)
    assert conversation.view().text(0) == '{"role":"user","n":7,"f":0.5,"t":[1,2],"content":"x"}'


def test_other_mappings_and_sequences_are_read_as_dict_and_list() -> None:
    conversation = undertext.open()
    message: Any = MappingProxyType(
        {"role": "user", "content": "x", "metadata": ChainMap({"a": range(3)}, {"b": deque([1])})}
    )
    conversation.append(message)
    conversation.append(UserList([message, UserDict(message)]), description="two")
    assert (
        conversation.view().text(0)
        == '{"role":"user","content":"x","metadata":{"b":[1],"a":[0,1,2]}}'
    )
    assert conversation.messages(last=2) == conversation.messages(first=1) * 2
    assert conversation.delete(indices=range(2))["stats"]["currentBatchMessages"] == 1
    copy = undertext.open()
    copy.append(conversation.view())
    assert copy.messages() == conversation.messages()


NUMBERS = [
    0,
    -1,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64,
    10**400,
    -(10**400) + 7,
    10**5000 + 123456789,
    -(7**20000),
    0.1,
    1e16,
    1e300,
    5e-324,
    -0.0,
    1.7976931348623157e308,
]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: f"{type(n).__name__}{NUMBERS.index(n)}")
def test_a_number_comes_back_equal(number: Any) -> None:
    conversation = undertext.open()
    conversation.append({"role": "user", "content": "x", "n": number})
    back: Any = conversation.messages()[0]
    assert back["n"] == number and type(back["n"]) is type(number)
    if isinstance(number, float):
        assert f'"n":{number!r}' in conversation.view().text(0)


def test_a_number_that_no_double_holds_is_read_whole_as_text() -> None:
    conversation = undertext.open()
    conversation.append_text(
        '{"role":"user","content":"x","n":0.1000000000000000055511151231257827021181583404541015625}'
    )
    assert "5511151231257827" in conversation.view().text(0)


def test_an_int_has_as_many_digits_when_it_is_read_as_when_it_is_written() -> None:
    conversation = undertext.open()
    longest = 10**100_000 - 1
    for number in (longest, -longest):
        conversation.append({"role": "user", "content": "x", "n": number})
        assert conversation.messages(last=1)[0]["n"] == number  # type: ignore[typeddict-item]
    for number in (longest + 1, -longest - 1, 10**101_000):
        with pytest.raises(undertext.TooLargeError) as caught:
            conversation.append({"role": "user", "content": "x", "n": number})
        assert caught.value.field == "n"


def test_a_number_of_others_that_is_too_long_leaves_all_around_it_readable() -> None:
    conversation = undertext.open()
    conversation.append({"role": "user", "content": "before"})
    for sign in ("", "-"):
        conversation.append_text(
            '{"role":"user","content":"x","n":[' + sign + "7" * 100_001 + ",1]}"
        )
    before, long, negative = conversation.messages()
    assert before == {"role": "user", "content": "before"}
    assert long["n"] == [float("inf"), 1] and negative["n"] == [-float("inf"), 1]  # type: ignore[typeddict-item]
    assert "7" * 100_001 in conversation.view().text(1)


STRINGS = [
    "",
    "\0",
    "\x01\x1f\x7f",
    '"\\/\b\f\n\r\t',
    "é",
    "\u2028\u2029",
    "\ufffd\uffff",
    "\U0001f600\U0010ffff",
    "__proto__",
    "x" * 1_000_000,
    "é" * 300_000,
    "\ufeff",
]


@pytest.mark.parametrize("text", STRINGS, ids=range(len(STRINGS)))
def test_a_text_comes_back_equal_as_a_value_and_as_a_key(text: str) -> None:
    conversation = undertext.open()
    message: Dict[str, Any] = {
        "role": "user",
        "content": "x",
        "metadata": {text: text, "a": [text]},
    }
    conversation.append(message)
    assert conversation.messages() == [message]


def test_what_is_changed_after_the_call_changes_nothing() -> None:
    conversation = undertext.open()
    message: Dict[str, Any] = {"role": "user", "content": "x", "metadata": {"a": [1]}}
    conversation.append(message)
    message["metadata"]["a"].append(2)
    got: Any = conversation.messages()[0]
    got["content"] = "changed"
    assert conversation.messages() == [{"role": "user", "content": "x", "metadata": {"a": [1]}}]


class ChangesItsParent(Dict[str, Any]):
    parent: Dict[str, Any]

    def items(self) -> Any:
        self.parent.clear()
        for i in range(100):
            self.parent[f"new {i}"] = [i]
        return [("a", 1)]


class EmptiesItsList(Dict[str, Any]):
    parent: List[Any]

    def items(self) -> Any:
        self.parent.clear()
        return [("a", 1)]


def test_an_object_that_changes_while_it_is_read_is_refused() -> None:
    conversation = undertext.open()
    child = ChangesItsParent()
    parent: Dict[str, Any] = {"role": "user", "content": "x", "y": child, "z": "never read"}
    child.parent = parent
    with pytest.raises(undertext.InvalidArgumentError, match="changed"):
        conversation.append(parent)
    emptying = EmptiesItsList()
    emptying.parent = [emptying, 1, 2, 3]
    conversation.append({"role": "user", "content": "x", "y": emptying.parent})
    assert conversation.messages() == [{"role": "user", "content": "x", "y": [{"a": 1}]}]


def test_arguments_of_the_wrong_type_are_errors() -> None:
    conversation = undertext.open()
    wrong: Any
    for wrong in (None, 1, 1.5, "text", [], object()):
        with pytest.raises(undertext.UndertextError):
            conversation.append(wrong)
    for wrong in (None, 1, bytearray(b"{}"), ["{}"]):
        with pytest.raises(undertext.UndertextError):
            conversation.append_text(wrong)
    with pytest.raises(undertext.UndertextError):
        undertext.open("no such store:")
    with pytest.raises(undertext.UndertextError):
        undertext.open("sqlite:\ud800")
    with pytest.raises(TypeError):
        undertext.open(id="in memory")
    for wrong in (-1, 2**70, 1.5, "1"):
        for call in (
            conversation.view,
            conversation.fork,
            conversation.view().text,
            conversation.view().entry,
            lambda version: conversation.import_mark_map(
                conversation.mark_map(), expected_version=version
            ),
            lambda limit: undertext.Store("memory:").list(limit=limit),
        ):
            with pytest.raises(undertext.InvalidArgumentError):
                call(wrong)
    assert conversation.version == 0


def test_a_recursion_limit_is_no_crash() -> None:
    conversation = undertext.open()
    limit = sys.getrecursionlimit()
    value = deep(limit * 20)
    with pytest.raises(undertext.InvalidArgumentError, match="deep"):
        conversation.append({"role": "user", "content": "x", "y": value})
    while isinstance(value, list):  # let it go level by level
        value = value.pop()
