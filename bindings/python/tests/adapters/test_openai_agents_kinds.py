"""undertext.openai_agents and every kind of item that the openai package has: one of each, made from its types."""

from __future__ import annotations

import asyncio
import collections.abc
import typing
from typing import Any, Dict, List

import pytest
import typing_extensions
from openai.types.responses.response_input_item_param import ResponseInputItemParam

import undertext
from undertext.openai_agents import UndertextSession

KINDS: List[Any] = list(typing.get_args(ResponseInputItemParam))
#: What blocks() says of each kind that is no message.
BLOCKS = {
    "function_call": "call",
    "custom_tool_call": "call",
    "shell_call": "call",
    "local_shell_call": "call",
    "apply_patch_call": "call",
    "computer_call": "call",
    "tool_search_call": "call",
    "program": "call",
    "mcp_approval_request": "call",
    "mcp_call": "call",
    "mcp_list_tools": "call",
    "web_search_call": "call",
    "file_search_call": "call",
    "code_interpreter_call": "call",
    "image_generation_call": "call",
    "function_call_output": "result",
    "custom_tool_call_output": "result",
    "shell_call_output": "result",
    "local_shell_call_output": "result",
    "apply_patch_call_output": "result",
    "computer_call_output": "result",
    "tool_search_output": "result",
    "program_output": "result",
    "mcp_approval_response": "result",
    "reasoning": "reasoning",
    "compaction": "opaque",
    "compaction_trigger": "opaque",
    "additional_tools": "opaque",
    "configuration_update": "opaque",
    "item_reference": "opaque",
}


def made(kind: Any, name: str) -> Any:
    """A value of a type; of a union, the first that it may be."""
    origin: Any = typing_extensions.get_origin(kind)
    arguments = typing_extensions.get_args(kind)
    if origin in (typing_extensions.Required, typing.Union):
        return made(arguments[0], name)
    if origin is typing.Literal:
        return arguments[0]
    if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping):
        return {"key": made(arguments[1], name)}
    if origin is not None:  # a list, whatever it is called
        return [made(arguments[0], name)]
    if typing_extensions.is_typeddict(kind):
        return item_of(kind)
    return {str: f"some {name}", int: 3, float: 0.5, bool: True}.get(kind, {})


def is_wanted(name: str, hint: Any) -> bool:
    return (
        name in ("type", "call_id")
        or typing_extensions.get_origin(hint) is typing_extensions.Required
    )


def item_of(kind: Any) -> Dict[str, Any]:
    """What it must have, what joins calls and results, and its type."""
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    return {name: made(hint, name) for name, hint in hints.items() if is_wanted(name, hint)}


ITEMS = [item_of(kind) for kind in KINDS]
OTHERS = [item for item in ITEMS if item.get("type", "message") != "message"]


def session_with(items: List[Any]) -> UndertextSession:
    session = UndertextSession("s", undertext.open())
    asyncio.run(session.add_items(items))
    return session


def test_every_kind_is_here() -> None:
    assert {item["type"] for item in OTHERS} == set(BLOCKS)


@pytest.mark.parametrize("item", ITEMS, ids=[kind.__name__ for kind in KINDS])
def test_an_item_of_every_kind_comes_back(item: Dict[str, Any]) -> None:
    assert asyncio.run(session_with([item]).get_items()) == [item]


@pytest.mark.parametrize("item", OTHERS, ids=lambda item: item["type"])
def test_the_engine_knows_what_an_item_of_every_kind_is(item: Dict[str, Any]) -> None:
    conversation = session_with([item]).conversation
    [message] = conversation.blocks()
    [block] = message["blocks"]
    assert block["kind"] == BLOCKS[item["type"]]
    if block["kind"] in ("call", "result") and "call_id" in item:
        assert block.get("callId") == item["call_id"]
    assert conversation.render("openai_responses", repair=False)["request"]["input"] == [item]


@pytest.mark.parametrize(
    "item",
    [item for item in OTHERS if not item["type"].startswith(("function_call", "custom_tool_call"))],
    ids=lambda item: item["type"],
)
def test_an_item_is_kept_as_an_import_would_keep_it(item: Dict[str, Any]) -> None:
    [imported] = undertext.import_messages("openai_responses", [item])["messages"]
    del imported["native"]
    assert session_with([item]).conversation.messages() == [imported]


REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "gAAA",
}
SHELL = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "s1",
    "status": "completed",
    "action": {"commands": ["ls"], "timeout_ms": 1},
}
SHELL_OUTPUT: Dict[str, Any] = {
    "type": "shell_call_output",
    "call_id": "s1",
    "output": [
        {
            "stdout": "one\ntwo\nthree",
            "stderr": "a warning",
            "outcome": {"type": "exit", "exit_code": 0},
        }
    ],
}
TURN: List[Any] = [
    {"role": "user", "content": "What is there?"},
    REASONING,
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "f",
        "arguments": '{"a":1}',
        "id": "fc_1",
        "status": "completed",
    },
    {
        "type": "function_call",
        "call_id": "c2",
        "name": "g",
        "arguments": "{}",
        "id": "fc_2",
        "status": "completed",
    },
    {"type": "function_call_output", "call_id": "c1", "output": "one"},
    {
        "type": "function_call_output",
        "call_id": "c2",
        "output": [{"type": "input_text", "text": "two"}],
    },
    {**REASONING, "id": "rs_2"},
    SHELL,
    SHELL_OUTPUT,
    {"role": "assistant", "content": "Three files."},
]


def test_the_request_for_the_responses_api_is_the_items_of_the_session() -> None:
    conversation = session_with(TURN).conversation
    rendered = conversation.render("openai_responses")
    assert rendered["request"]["input"] == TURN
    assert rendered["findings"] == [] and conversation.validate("openai_responses")["valid"]


def test_an_edit_of_a_shells_output_is_one_of_the_item() -> None:
    session = session_with(TURN)
    session.conversation.transform(indices=[8], truncate_text={"maxChars": 3})
    items: List[Any] = list(asyncio.run(session.get_items()))
    [run] = SHELL_OUTPUT["output"]
    assert items[8] == {**SHELL_OUTPUT, "output": [{**run, "stdout": "one", "stderr": "a w"}]}
    assert session.conversation.render("openai_responses")["request"]["input"] == items
    assert session.conversation.validate("openai_responses")["valid"]


def test_a_shells_output_that_was_cleared_is_still_an_output() -> None:
    session = session_with([*TURN, {"role": "user", "content": "And now?"}])
    session.conversation.compress(strategy={"name": "clear_tool_results", "keep": 0, "minGain": 0})
    items: List[Any] = list(asyncio.run(session.get_items()))
    assert [item.get("type") for item in items[:-1]] == [item.get("type") for item in TURN]
    assert "one\ntwo" not in str(items) and items[8]["output"][0]["outcome"] == {
        "type": "exit",
        "exit_code": 0,
    }
    assert session.conversation.validate("openai_responses")["valid"]


def test_one_half_of_a_pair_of_any_kind_is_not_deleted_in_silence() -> None:
    conversation = session_with(TURN).conversation
    answer = conversation.delete(indices=[7])
    warnings = [(warning["code"], warning.get("toolCallId")) for warning in answer["warnings"]]
    assert warnings == [("reasoning_without_call", None), ("tool_result_without_call", "s1")]


#: As the releases before kept items that are no message: whole, beside a text that stands for them.
def kept_before(item: Dict[str, Any], words: str) -> Dict[str, Any]:
    return {"role": "assistant", "content": words, "openaiItem": {"item": item}}


def test_a_session_of_an_earlier_release_reads_as_before() -> None:
    session = UndertextSession("s", undertext.open())
    session.conversation.append(
        [
            {"role": "user", "content": "What is there?"},
            kept_before(REASONING, "hm"),
            {
                "role": "assistant",
                "content": "",
                "toolCalls": [{"id": "c1", "name": "f", "arguments": '{"a":1}'}],
                "openaiItem": {
                    "call": {"type": "function_call", "id": "fc_1", "status": "completed"}
                },
            },
            {
                "role": "tool",
                "toolCallId": "c1",
                "content": "one",
                "openaiItem": {"output": {"type": "function_call_output", "id": "fo_1"}},
            },
            kept_before(SHELL, "shell_call"),
            kept_before(SHELL_OUTPUT, "(empty)"),
            kept_before(
                {"type": "custom_tool_call_output", "call_id": "k", "output": "said"}, "said"
            ),
            kept_before({"type": "item_reference", "id": "i"}, "item_reference"),
            {
                "role": "user",
                "content": "(empty)",
                "openaiItem": {"item": {"role": "user", "content": ""}},
            },
        ]
    )
    items: List[Any] = list(asyncio.run(session.get_items()))
    assert items == [
        TURN[0],
        REASONING,
        TURN[2],
        {**TURN[4], "id": "fo_1"},
        SHELL,
        SHELL_OUTPUT,
        {"type": "custom_tool_call_output", "call_id": "k", "output": "said"},
        {"type": "item_reference", "id": "i"},
        {"role": "user", "content": ""},
    ]
    assert [asyncio.run(session.pop_item()) for _ in items][-1] == TURN[0]


def test_a_strategy_leaves_reasoning_with_what_follows_from_it() -> None:
    for keep in range(1, len(TURN)):
        session = session_with([*TURN, {"role": "user", "content": "And now?"}])
        session.conversation.compress(strategy={"name": "keep_recent", "n": keep})
        items: List[Any] = list(asyncio.run(session.get_items()))
        for unit in (TURN[1:6], TURN[6:9]):
            assert [item for item in items if item in unit] in ([], unit), keep
