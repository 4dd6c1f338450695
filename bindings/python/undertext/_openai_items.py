"""Items of the OpenAI Agents SDK as messages of Undertext, and messages of any origin as items.

A message of the SDK's is a message; a function's call and its output are a tool call and its result where that says all of them. Every other item is a part of the engine's own form for what only the
Responses API understands, {"type": "openai_responses" or "reasoning", "item": …}: the engine reads it, edits it in place and renders it as it is.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import groupby
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Tuple

from . import _native
from ._errors import InvalidArgumentError
from ._foreign import NOTHING, blocks_of, is_content, json_text, readable, without_stand_in
from .types import Block, CallBlock, MediaBlock, ResultBlock

#: The field of a message that holds what Undertext has no word for: {"message": …}, or {"item": …} of a message that says nothing, which is kept whole. Earlier releases wrote {"call": …} and
#: {"output": …} too, and {"item": …} of every item that is no message.
_SHELL = "openaiItem"
#: In the shell: the parts are those of the item. Else a part of text is called so, for the engine to see its words.
_AS_GIVEN = "asGiven"
_WRAPPED = ("openai_responses", "reasoning")
_SPOKEN = ("user", "assistant", "system", "developer")
#: Fields that a message has without a shell: none that means something else to the engine.
_MESSAGE = frozenset(("type", "role", "content", "id", "status", "phase"))
_PHASES = (None, "commentary", "final_answer")
#: Parts that a message to the model may have, and one from it, and what their texts have.
_INPUT = ("input_text", "input_image", "input_file", "input_audio", "video_url")
_OUTPUT = ("output_text", "refusal")
_OF_TEXT = {
    "input_text": ("text", "prompt_cache_breakpoint"),
    "output_text": ("text", "annotations", "logprobs"),
}
#: Where an item that is kept whole has its words.
_TOLD = ("content", "summary", "output")


def _without(item: Mapping[str, Any], *names: str) -> Dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


# From items


def from_item(item: Mapping[str, Any]) -> str:
    """The item as JSON for append_text(), from which to_items() makes an equal one. InvalidArgumentError: JSON would not bring it back as it is."""
    if not isinstance(item, Mapping):
        raise InvalidArgumentError(
            f"an item must be a mapping, not {type(item).__name__}", field="item"
        )
    json_text(item, "item")
    return json_text(
        next((shaped for shaped in _forms(item) if to_items(shaped) == [item]), None)
        or _kept_whole(item),
        "item",
    )


def _forms(item: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    """The first from which the item comes back is taken."""
    kind, content, output = item.get("type"), item.get("content"), item.get("output")
    if kind == "function_call" and all(
        isinstance(item.get(name), str) for name in ("call_id", "name", "arguments")
    ):
        yield {
            "role": "assistant",
            "content": "",
            "toolCalls": [
                {"id": item["call_id"], "name": item["name"], "arguments": item["arguments"]}
            ],
        }
    elif (
        kind == "function_call_output"
        and isinstance(item.get("call_id"), str)
        and (output == "" or is_content(output))
    ):
        yield {"role": "tool", "toolCallId": item["call_id"], "content": _plain(output)}
    elif item.get("role") in _SPOKEN and is_content(content):
        named = {"id": item["id"]} if isinstance(item.get("id"), str) else {}
        if _MESSAGE.issuperset(item) and (named or "id" not in item):
            yield {**item, "content": _plain(content)}
        shell = {"message": _without(item, "role", "content", *named)}
        yield {"role": item["role"], "content": _plain(content), **named, _SHELL: shell}
        yield {
            "role": item["role"],
            "content": content,
            **named,
            _SHELL: {**shell, _AS_GIVEN: True},
        }
    if isinstance(kind, str) and kind not in ("", "message"):
        with suppress(InvalidArgumentError):  # what is no item at all
            [imported] = _native.import_messages("openai_responses", [item])["messages"]
            yield {"role": imported["role"], "content": [_wrapped(item)]}


def _wrapped(item: Mapping[str, Any]) -> Dict[str, Any]:
    return {
        "type": "reasoning" if item.get("type") == "reasoning" else "openai_responses",
        "item": item,
    }


def _plain(content: Any) -> Any:
    """Parts of text as the engine calls them."""
    if isinstance(content, str):
        return content
    return [
        {**part, "type": "text"}
        if part.get("type") in _OF_TEXT and isinstance(part.get("text"), str)
        else part
        for part in content
    ]


def _as_read_back(content: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """The same where to_items() makes these very parts of it: it adds annotations to a text of the model's."""
    return [
        part
        if part.get("type") == "output_text" and "annotations" not in part
        else _plain([part])[0]
        for part in content
    ]


def _kept_whole(item: Mapping[str, Any]) -> Dict[str, Any]:
    role = item.get("role") if item.get("role") in _SPOKEN else "assistant"
    return {
        "role": role,
        "content": readable(item.get(_told_in(item), item.get("type"))),
        _SHELL: {"item": item},
    }


def _told_in(item: Mapping[str, Any]) -> str:
    return next((name for name in _TOLD if item.get(name)), "")


# To items


def to_items(message: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """A message of any origin as items: one, or several where it has several tool calls or results. What the engine made of its content and its calls is what they say."""
    return [item for _, item in _items(message)]


def _items(message: Mapping[str, Any]) -> List[Tuple[bool, Dict[str, Any]]]:
    """Each with whether it is a message."""
    shell = _shell_of(message)
    message = _without_stand_in(message, shell)
    if "item" in shell and (whole := _whole(message, shell["item"])) is not None:
        return [(True, whole)]
    if message["role"] == "tool":
        return [(False, item) for item in _outputs(message, shell)]
    calls = [
        (False, _call_item(call, {} if index else shell.get("call", {})))
        for index, call in enumerate(_listed_calls(message))
    ]
    return [*_said(message, shell), *calls] or [
        (True, _spoken({"role": message["role"], "content": ""}))
    ]


def _shell_of(message: Mapping[str, Any]) -> Dict[str, Any]:
    """Without what from_item() does not write there."""
    shell = message.get(_SHELL)
    return (
        {
            name: value
            for name, value in shell.items()
            if isinstance(value, Mapping) or name == _AS_GIVEN
        }
        if isinstance(shell, Mapping)
        else {}
    )


def _parts_are_given(message: Mapping[str, Any]) -> bool:
    """Whether parts that would be calls and results are those of an item that the SDK gave, and so none."""
    shell = _shell_of(message)
    return "message" in shell and shell.get(_AS_GIVEN) is True


def _listed_calls(message: Mapping[str, Any]) -> List[CallBlock]:
    """The model's that stand beside the content. The reader has them behind those of the content."""
    if message["role"] != "assistant":
        return []
    content = message["content"]
    if not isinstance(content, list) or not content or _parts_are_given(message):
        return _calls({**_without(message, _SHELL), "content": NOTHING})
    return _calls(message)[len(_calls({"role": "assistant", "content": content})) :]


def _calls(message: Mapping[str, Any]) -> List[CallBlock]:
    return [
        block
        for block in blocks_of(message)
        if block["kind"] == "call" and not block.get("byProvider")
    ]


def _said(
    message: Mapping[str, Any], shell: Mapping[str, Any]
) -> List[Tuple[bool, Dict[str, Any]]]:
    """The items of the content, results first. What else the message has is of the first item that is a message."""
    if not isinstance(message["content"], list):
        item = _message_item(message, shell, message["content"] or "")
        return [(True, item)] if item["content"] else []
    results: List[Tuple[bool, Dict[str, Any]]] = []
    others: List[Tuple[bool, Dict[str, Any]]] = []
    for is_part, pieces in groupby(_pieces(message), key=lambda piece: piece[0]):
        run = [piece for _, piece in pieces]
        if is_part:
            others.append((True, _message_item(message, shell, run)))
            message, shell = {"role": message["role"]}, {}
        else:
            for item in run:
                (results if item.get("type") == "function_call_output" else others).append(
                    (False, item)
                )
    return [*results, *others]


def _pieces(message: Mapping[str, Any]) -> Iterator[Tuple[bool, Dict[str, Any]]]:
    """Items, and parts, which are marked: those of the SDK's kinds as they are, of others what the reader says of them."""
    own = _OUTPUT if message["role"] == "assistant" else _INPUT
    for part in message["content"]:
        if _is_wrapped(part):
            yield False, dict(part["item"])
        elif _parts_are_given(message) or _is_own(part, own):
            yield True, part
        else:
            yield from _told(blocks_of({"role": "assistant", "content": [part]}))


def _is_wrapped(part: Mapping[str, Any]) -> bool:
    return part.get("type") in _WRAPPED and isinstance(part.get("item"), Mapping)


def _is_own(part: Mapping[str, Any], kinds: Tuple[str, ...]) -> bool:
    return part.get("type") in kinds or (
        part.get("type") == "text" and isinstance(part.get("text"), str)
    )


def _told(blocks: Iterable[Block]) -> Iterator[Tuple[bool, Dict[str, Any]]]:
    """What another program said, as items and parts. Reasoning is left out: only the provider who made it reads it."""
    for block in blocks:
        if block["kind"] == "call" and not block.get("byProvider"):
            yield False, _call_item(block, {})
        elif block["kind"] == "result" and not block.get("byProvider"):
            yield False, _output_item(block, {})
        elif block["kind"] != "reasoning":
            yield True, _part(block)


def _part(block: Block) -> Dict[str, Any]:
    """A part of the SDK's, or a text in the place of what it has no part for."""
    if block["kind"] == "text":
        return {"type": "text", "text": block["text"]}
    if block["kind"] == "media":
        if block["media"] == "image":
            return {
                "type": "input_image",
                **_source(block, "image_url"),
                "detail": block.get("detail", "auto"),
            }
        if block["media"] == "file" and block["source"] != "text":
            return {
                "type": "input_file",
                **_source(block, "file_url"),
                **({"filename": block["filename"]} if "filename" in block else {}),
            }
        return {
            "type": "text",
            "text": block["data"] if block["source"] == "text" else f"[{block['media']}]",
        }
    return {"type": "text", "text": f"[{block.get('type') or 'part'}]"}


def _source(block: MediaBlock, address: str) -> Dict[str, str]:
    if block["source"] == "base64":
        return {
            "file_data"
            if address == "file_url"
            else address: f"data:{block.get('mime', '')};base64,{block['data']}"
        }
    return {address if block["source"] == "url" else "file_id": block["data"]}


def _call_item(call: CallBlock, rest: Mapping[str, Any]) -> Dict[str, Any]:
    arguments = (
        call["arguments"] if isinstance(call["arguments"], str) else json.dumps(call["arguments"])
    )
    return {
        "type": "function_call",
        **rest,
        "call_id": call.get("callId", ""),
        "name": call.get("name", ""),
        "arguments": arguments,
    }


def _output_item(result: ResultBlock, rest: Mapping[str, Any]) -> Dict[str, Any]:
    parts = _parts(
        [_part(block) for block in result["blocks"] if block["kind"] != "reasoning"],
        _INPUT,
        "input_text",
    )
    is_text = all(part["type"] == "input_text" for part in parts)
    return {
        "type": "function_call_output",
        **rest,
        "call_id": result.get("callId", ""),
        "output": "\n".join(part["text"] for part in parts) if is_text else parts,
    }


def _outputs(message: Mapping[str, Any], shell: Mapping[str, Any]) -> List[Dict[str, Any]]:
    content = message["content"]
    parts: List[Dict[str, Any]] = content if isinstance(content, list) else []
    others = [part for part in parts if not _is_wrapped(part)]
    items = [dict(part["item"]) for part in parts if _is_wrapped(part)]
    if items and not others:
        return items
    told = {**_without(message, _SHELL), "content": others if items else content}
    results = [block for block in blocks_of(told) if block["kind"] == "result"]
    if len(results) == 1 and (
        shell.get(_AS_GIVEN) is True or all(_is_own(part, _INPUT) for part in parts)
    ):
        return [
            {
                **_output_item(results[0], shell.get("output", {})),
                "output": _given(message["role"], content, shell),
            }
        ]
    return [*items, *(_output_item(result, shell.get("output", {})) for result in results)]


def _given(role: str, content: Any, shell: Mapping[str, Any]) -> Any:
    """The reverse of _plain(), for an item that came from the SDK."""
    if not isinstance(content, list) or shell.get(_AS_GIVEN) is True:
        return content
    text = "output_text" if role == "assistant" else "input_text"
    return [{**part, "type": text} if part.get("type") == "text" else part for part in content]


def _without_stand_in(message: Mapping[str, Any], shell: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message of the SDK's that says nothing adds nothing to one that it was merged with."""
    item = shell.get("item", {})
    if _told_in(item) or item.get("role") not in _SPOKEN:
        return message
    return {
        **message,
        "content": without_stand_in(message["content"], _kept_whole(item)["content"]),
    }


def _whole(message: Mapping[str, Any], item: Mapping[str, Any]) -> Dict[str, Any] | None:
    """The item, if the message still stands for it and nothing else; with its text, if that is all that was edited."""
    if not isinstance(message["content"], str) or _listed_calls(message):
        return None
    # Of these the engine reads and edits the item itself.
    is_read = any(
        block["kind"] in ("call", "result", "reasoning")
        for block in blocks_of({**message, "content": message["content"] or NOTHING})
    )
    if is_read or message["content"] == _kept_whole(item)["content"]:
        return dict(item)
    name = _told_in(item)
    return {**item, name: message["content"]} if isinstance(item.get(name), str) else None


def _message_item(
    message: Mapping[str, Any], shell: Mapping[str, Any], content: Any
) -> Dict[str, Any]:
    if "message" not in shell:
        return _spoken({**message, "content": content})
    named = {"id": message["id"]} if "id" in message else {}
    return {
        **shell["message"],
        "role": message["role"],
        "content": _given(message["role"], content, shell),
        **named,
    }


def _spoken(message: Mapping[str, Any]) -> Dict[str, Any]:
    """What a message says, in a form that the SDK takes: its own, as from_item() leaves it, or one of its easy ones."""
    role: str = message["role"]
    content: Any = message["content"]
    item: Dict[str, Any] = {"role": role, "content": content}
    if message.get("type") == "message":
        item["type"] = "message"
    if message.get("phase", "") in _PHASES:
        item["phase"] = message["phase"]
    is_models = (
        role == "assistant" and "type" in item and "id" in message and isinstance(content, list)
    )
    if "type" in item and (is_models or role != "assistant"):
        item.update({name: message[name] for name in ("id", "status") if name in message})
    if is_models:
        item["content"] = _parts(content, _OUTPUT, "output_text")
    elif isinstance(content, list) and role == "assistant":
        item["content"] = "\n".join(part["text"] for part in _parts(content, (), "output_text"))
    elif isinstance(content, list):
        item["content"] = _parts(content, _INPUT, "input_text")
    elif not content.strip():  # the seam of what was merged
        item["content"] = ""
    return item


def _parts(
    content: List[Dict[str, Any]], known: Tuple[str, ...], text: str
) -> List[Dict[str, Any]]:
    """Those of the kinds that are known as they are, of others the words as parts of the kind `text`."""
    parts: List[Dict[str, Any]] = []
    for part in content:
        kind = part.get("type", "")
        if kind in known:
            parts.append(part)
        else:
            words = next(
                (part[name] for name in ("text", "refusal") if isinstance(part.get(name), str)),
                f"[{kind or 'part'}]",
            )
            rest = {name: part[name] for name in _OF_TEXT[text] if name in part}
            parts.append(
                {
                    **({"annotations": []} if text == "output_text" else {}),
                    **rest,
                    "type": text,
                    "text": words,
                }
            )
    return parts


def without_last(message: Mapping[str, Any]) -> Dict[str, Any]:
    """A message that stands for several items, without the last of them."""
    shell, others = _shell_of(message), _items(message)[:-1]
    fields = (
        *_MESSAGE,
        "name",
        "timestamp",
        "metadata",
        *([_SHELL] if "message" in shell or "call" in shell else []),
    )
    without = {
        name: value for name, value in _without_stand_in(message, shell).items() if name in fields
    }
    if not isinstance(without["content"], list):  # then the others are what it says, and calls
        calls = [
            {"id": item["call_id"], "name": item["name"], "arguments": item["arguments"]}
            for is_message, item in others
            if not is_message
        ]
        return {**without, "toolCalls": calls} if calls else without
    without["content"] = []
    for is_message, item in others:
        if not is_message:
            without["content"].append(_wrapped(item))
        elif isinstance(item["content"], str):
            without["content"].append({"type": "text", "text": item["content"]})
        else:
            without["content"] += (
                item["content"] if shell.get(_AS_GIVEN) is True else _as_read_back(item["content"])
            )
    return without
