"""Items of the OpenAI Agents SDK as messages of Undertext, and messages of any origin as items."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Tuple

from ._errors import InvalidArgumentError
from ._foreign import answered_id, arguments_text, calls_of, is_content, json_text, parts_of, readable, without_stand_in

#: The field of a message that holds what Undertext has no word for, by what the item is: {"message": …}, {"call": …} or {"output": …}, or {"item": …} of one that is kept whole.
_SHELL = "openaiItem"
#: In the shell: the parts are those of the item. Else a part of text is called so, for the engine to see its words.
_AS_GIVEN = "asGiven"
_SPOKEN = ("user", "assistant", "system", "developer")
#: Fields that a message has without a shell: none that means something else to the engine.
_MESSAGE = frozenset(("type", "role", "content", "id", "status", "phase"))
_PHASES = (None, "commentary", "final_answer")
#: Parts that a message to the model may have, and one from it, and what their texts have.
_INPUT = ("input_text", "input_image", "input_file", "input_audio", "video_url")
_OUTPUT = ("output_text", "refusal")
_OF_TEXT = {"input_text": ("text", "prompt_cache_breakpoint"), "output_text": ("text", "annotations", "logprobs")}
#: Parts that are items of their own, or that only the provider who made them reads.
_LEFT_OUT = ("tool_use", "tool_result", "thinking", "redacted_thinking")
_CALL = {"type": "function_call"}
_RESULT = {"type": "function_call_output"}
#: Where an item that is kept whole has its words.
_TOLD = ("content", "summary", "output")


def _without(item: Mapping[str, Any], *names: str) -> Dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def _shaped(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first of the forms from which it comes back."""
    return next((shaped for shaped in _forms(item) if to_items(shaped) == [item]), None) or _kept_whole(item)


def _forms(item: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    kind, content, output = item.get("type"), item.get("content"), item.get("output")
    if kind == "function_call" and all(isinstance(item.get(name), str) for name in ("call_id", "name", "arguments")):
        call = {"id": item["call_id"], "name": item["name"], "arguments": item["arguments"]}
        yield {"role": "assistant", "content": "", "toolCalls": [call], _SHELL: {"call": _without(item, "call_id", "name", "arguments")}}
    elif kind == "function_call_output" and isinstance(item.get("call_id"), str) and (output == "" or is_content(output)):
        shell = {"output": _without(item, "call_id", "output")}
        yield {"role": "tool", "toolCallId": item["call_id"], "content": _plain(output), _SHELL: shell}
        yield {"role": "tool", "toolCallId": item["call_id"], "content": output, _SHELL: {**shell, _AS_GIVEN: True}}
    elif item.get("role") in _SPOKEN and is_content(content):
        named = {"id": item["id"]} if isinstance(item.get("id"), str) else {}
        if _MESSAGE.issuperset(item) and (named or "id" not in item):
            yield {**item, "content": _plain(content)}
        shell = {"message": _without(item, "role", "content", *named)}
        yield {"role": item["role"], "content": _plain(content), **named, _SHELL: shell}
        yield {"role": item["role"], "content": content, **named, _SHELL: {**shell, _AS_GIVEN: True}}


def _plain(content: Any) -> Any:
    """Parts of text as the engine calls them."""
    if isinstance(content, str):
        return content
    return [{**part, "type": "text"} if part.get("type") in _OF_TEXT else part for part in content]


def _given(message: Mapping[str, Any], shell: Mapping[str, Any]) -> Any:
    """The reverse of it, for an item that came from the SDK."""
    content = message["content"]
    if not isinstance(content, list) or shell.get(_AS_GIVEN) is True:
        return content
    text = "output_text" if message["role"] == "assistant" else "input_text"
    return [{**part, "type": text} if part.get("type") == "text" else part for part in content]


def _kept_whole(item: Mapping[str, Any]) -> Dict[str, Any]:
    role = item.get("role") if item.get("role") in _SPOKEN else "assistant"
    return {"role": role, "content": readable(item.get(_told_in(item), item.get("type"))), _SHELL: {"item": item}}


def _told_in(item: Mapping[str, Any]) -> str:
    return next((name for name in _TOLD if item.get(name)), "")


def from_item(item: Mapping[str, Any]) -> str:
    """The item as JSON for append_text(), from which to_items() makes an equal one. InvalidArgumentError: JSON would not bring it back as it is."""
    if not isinstance(item, Mapping):
        raise InvalidArgumentError(f"an item must be a mapping, not {type(item).__name__}", field="item")
    return json_text(_shaped(item), "item")


def to_items(message: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """A message of any origin as items: one, or several where it has several tool calls or results. What the engine made of its content and its calls is what they say."""
    shell, calls = _shell_of(message), _calls(message)
    if "item" in shell:
        message = _without_stand_in(message, shell["item"])
        if (whole := _whole(message, shell["item"])) is not None:
            return [whole]
    if "message" in shell:
        named = {"id": message["id"]} if "id" in message else {}
        items = [] if _parts_are_given(message) else _results(message, shell)
        item = {**shell["message"], "role": message["role"], "content": _given_words(message, shell), **named}
        if item["content"] or not (items or calls):
            items.append(item)
    else:
        items = _results(message, shell)
        if message["role"] != "tool" and ((spoken := _spoken(message))["content"] or not (items or calls)):
            items.append(spoken)
    first = shell.get("call", _CALL)
    return [*items, *(_call_item(call, _CALL if index else first) for index, call in enumerate(calls))]


def _shell_of(message: Mapping[str, Any]) -> Dict[str, Any]:
    """Without what from_item() does not write there."""
    shell = message.get(_SHELL)
    return {name: value for name, value in shell.items() if isinstance(value, Mapping) or name == _AS_GIVEN} if isinstance(shell, Mapping) else {}


def _parts_are_given(message: Mapping[str, Any]) -> bool:
    """Whether parts that would be calls and results are those of an item that the SDK gave, and so none."""
    shell = _shell_of(message)
    return "message" in shell and (shell.get(_AS_GIVEN) is True or message["role"] == "tool")


def _given_words(message: Mapping[str, Any], shell: Mapping[str, Any]) -> Any:
    """The content of an item of the SDK's, without the calls and results that others merged with it."""
    content = _given(message, shell)
    if not isinstance(content, list) or _parts_are_given(message):
        return content
    others = ("tool_use", "tool_result") if message["role"] == "assistant" else ("tool_result",)
    return [part for part in content if part.get("type") not in others]


def _calls(message: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """The model's."""
    if message["role"] != "assistant":
        return []
    return calls_of({**message, "content": ""} if _parts_are_given(message) else message)


def _results(message: Mapping[str, Any], shell: Mapping[str, Any]) -> List[Dict[str, Any]]:
    if message["role"] == "tool" and "output" in shell:
        return [{**shell["output"], "call_id": answered_id(message), "output": _given(message, shell)}]
    results: List[Mapping[str, Any]] = [*parts_of(message, "tool_result")]
    if message["role"] == "tool" and not results:
        results = [message]
    return [{**_RESULT, "call_id": answered_id(result), "output": _output(result.get("content"))} for result in results]


def _call_item(call: Mapping[str, Any], rest: Mapping[str, Any]) -> Dict[str, Any]:
    return {**rest, "call_id": call["id"] or "", "name": call["name"], "arguments": arguments_text(call)}


def _without_stand_in(message: Mapping[str, Any], item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message of the SDK's that says nothing adds nothing to one that it was merged with."""
    if _told_in(item) or item.get("role") not in _SPOKEN:
        return message
    return {**message, "content": without_stand_in(message["content"], _kept_whole(item)["content"])}


def _whole(message: Mapping[str, Any], item: Mapping[str, Any]) -> Dict[str, Any] | None:
    """The item, if the message still stands for it and nothing else; with its text, if that is all that was edited."""
    if message.get("toolCalls") or not isinstance(message["content"], str):
        return None
    if message["content"] == _kept_whole(item)["content"]:
        return dict(item)
    name = _told_in(item)
    return {**item, name: message["content"]} if isinstance(item.get(name), str) else None


def _spoken(message: Mapping[str, Any]) -> Dict[str, Any]:
    """What a message says, in a form that the SDK takes: its own, as from_item() leaves it, or one of its easy ones."""
    role: str = message["role"]
    content: Any = message["content"] or ""
    item: Dict[str, Any] = {"role": role, "content": content}
    if message.get("type") == "message":
        item["type"] = "message"
    if message.get("phase", "") in _PHASES:
        item["phase"] = message["phase"]
    is_models = role == "assistant" and "type" in item and "id" in message and isinstance(content, list)
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


def _parts(content: List[Any], known: Tuple[str, ...], text: str) -> List[Any]:
    """Those of the kinds that are known as they are, images as what the SDK calls so, of others the words as parts of the kind `text`."""
    parts: List[Any] = []
    for part in content:
        kind = part.get("type", "")
        if kind in known:
            parts.append(part)
        elif "input_image" in known and (url := _image_url(part)):
            parts.append({"type": "input_image", "image_url": url, "detail": "auto"})
        elif kind not in _LEFT_OUT:
            words = next((part[name] for name in ("text", "refusal") if isinstance(part.get(name), str)), f"[{kind or 'part'}]")
            rest = {name: part[name] for name in _OF_TEXT[text] if name in part}
            parts.append({**({"annotations": []} if text == "output_text" else {}), **rest, "type": text, "text": words})
    return parts


def _image_url(part: Mapping[str, Any]) -> str | None:
    """Of an image as Chat Completions or Anthropic have it."""
    image = part.get("image_url") if part.get("type") == "image_url" else part.get("source") if part.get("type") == "image" else None
    if isinstance(image, Mapping) and isinstance(image.get("data"), str):
        return f"data:{image.get('media_type')};base64,{image['data']}"
    url = image.get("url") if isinstance(image, Mapping) else image
    return url if isinstance(url, str) else None


def _output(content: Any) -> Any:
    """The output of a call that another program told."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = _parts([part for part in content if isinstance(part, dict)], _INPUT, "input_text")
    is_text = all(part["type"] == "input_text" and isinstance(part.get("text"), str) for part in parts)
    return "\n".join(part["text"] for part in parts) if is_text else parts


def without_last(message: Mapping[str, Any]) -> Dict[str, Any]:
    """A message that stands for several items, without the last of them: results, what is said, calls."""
    calls, results = _calls(message), parts_of(message, "tool_result")
    if not calls:
        is_said = len(to_items(message)) > len(results)
        return {**message, "content": results if is_said else results[:-1]}
    without = _without(message, "toolCalls", "tool_calls")
    if _parts_are_given(message) or not parts_of(message, "tool_use"):
        spelling = "toolCalls" if message.get("toolCalls") else "tool_calls"
        return {**without, spelling: message[spelling][:-1]}
    said = [part for part in message["content"] if part.get("type") != "tool_use"]
    return {**without, "content": said or "", "toolCalls": [{**call, "id": call["id"] or ""} for call in calls[:-1]]}
