"""Messages of Pydantic AI, by their own JSON form, as messages of Undertext. A request is a message
for each of its parts, since each of them has another speaker; a response is one message."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Mapping, Tuple

from ._foreign import NOTHING, blocks_of, json_text, without_stand_in
from .types import Block

#: The field of a message that holds what Undertext has no word for.
_SHELL = "pydanticAi"
_Json = Dict[str, Any]
#: Of parts of a request; what else there is says something about the request itself.
_ROLES = {
    "user-prompt": "user",
    "speech": "user",
    "tool-return": "tool",
    "retry-prompt": "user",
    "retry-feedback": "user",
}
_MEDIA = {"image-url": "image", "document-url": "document", "binary": "document"}


def stored(messages: Iterable[_Json]) -> List[str]:
    """The JSON of the messages that these are stored as."""
    return [
        json_text(piece, "message")
        for message in messages
        for piece in (_of_request(message) if message["kind"] == "request" else [_said(message)])
    ]


def _of_request(message: _Json) -> List[_Json]:
    request = {name: value for name, value in message.items() if name != "parts"}
    return [
        {**_asked(part), _SHELL: {**_asked(part)[_SHELL], **({} if place else {"of": request})}}
        for place, part in enumerate(message["parts"])
    ]


def _asked(part: _Json) -> _Json:
    """A part of a request, which is shown by its text or by its texts and media."""
    content, kept = _moved(part.get("content"))
    kind = part["part_kind"]
    answers = "tool_call_id" in part and (kind == "tool-return" or part.get("tool_name"))
    role = "tool" if answers else _ROLES.get(kind, "system")
    message: _Json = {"role": role, "content": content}
    if answers:
        message["toolCallId"] = part["tool_call_id"]
    return {**message, _SHELL: {"part": {**part, "content": kept} if "content" in part else part}}


def _moved(content: Any) -> Tuple[Any, Any]:
    """What is shown, and what is kept beside it: nothing where something was moved."""
    if isinstance(content, str):
        return (content, None) if content else (NOTHING, content)
    shown = [_shown(each) for each in content] if isinstance(content, list) else []
    if any(shown):
        kept = [_kept(each) if part else each for each, part in zip(content, shown)]
        return [part for part in shown if part], kept
    return (NOTHING if content is None else json.dumps(content, ensure_ascii=False)), content


def _shown(item: Any) -> _Json | None:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    kind = item.get("kind") if isinstance(item, dict) else None
    if kind == "binary":
        mime = str(item.get("media_type", ""))
        source = {"type": "base64", "media_type": mime, "data": item.get("data")}
        return {"type": "image" if mime.startswith("image/") else "document", "source": source}
    if kind in _MEDIA:
        return {"type": _MEDIA[kind], "source": {"type": "url", "url": item.get("url")}}
    return None


def _kept(item: Any) -> _Json | None:
    return (
        {name: value for name, value in item.items() if name not in ("data", "url")}
        if isinstance(item, dict)
        else None
    )


def _said(message: _Json) -> _Json:
    """A response."""
    shown: List[_Json] = []
    kept: List[_Json] = []
    calls: List[_Json] = []
    for part in message["parts"]:
        kind = part["part_kind"]
        if kind == "tool-call":
            calls.append(_call(part))
        if kind in ("text", "thinking") and part.get("content"):
            name = "text" if kind == "text" else "thinking"
            shown.append({"type": name, name: part["content"]})
            part = {**part, "content": None}
        kept.append(part)
    said: _Json = {"role": "assistant", "content": shown or (None if calls else NOTHING)}
    if calls:
        said["toolCalls"] = calls
    return {**said, _SHELL: {"response": {**message, "parts": kept}}}


def _call(part: _Json) -> _Json:
    arguments = part.get("args")
    return {
        "id": part["tool_call_id"],
        "name": part["tool_name"],
        "arguments": {} if arguments is None else arguments,
    }


def read(messages: Iterable[Mapping[str, Any]]) -> List[_Json]:
    """The messages of Pydantic AI that a view says."""
    found: List[_Json] = []
    names: Dict[str, str] = {}
    for message in messages:
        made, is_new = _again(message)
        for each in made or _told(message, names):
            if not is_new and found and found[-1]["kind"] == each["kind"] == "request":
                found[-1] = {**found[-1], "parts": [*found[-1]["parts"], *each["parts"]]}
            else:
                found.append(each)
            for part in each["parts"]:
                if part["part_kind"] == "tool-call":
                    names[part["tool_call_id"]] = part["tool_name"]
    return found


def _again(message: Mapping[str, Any]) -> Tuple[List[_Json], bool]:
    """What was given, with the texts that it has now; and whether that begins a message. Nothing
    where the engine made something else of it."""
    shell = message.get(_SHELL)
    try:
        if isinstance(shell, dict) and "response" in shell:
            response = _response_again(shell["response"], message["content"])
            return ([response] if _is_face(_said(response), message) else []), True
        if isinstance(shell, dict) and "part" in shell:
            part = _part_again(shell["part"], message["content"])
            request = {**shell.get("of", {"kind": "request"}), "parts": [part]}
            return ([request] if _is_face(_asked(part), message) else []), "of" in shell
    except (KeyError, TypeError, IndexError, AttributeError, StopIteration, ValueError):
        pass  # somebody else wrote the shell
    return [], False


def _is_face(made: _Json, message: Mapping[str, Any]) -> bool:
    names = ("role", "content", "toolCalls", "toolCallId")
    return all(made.get(name) == message.get(name) for name in names)


def _part_again(part: _Json, content: Any) -> _Json:
    kept = part.get("content")
    if "content" not in part or _moved(kept)[0] == content:
        return part
    if not isinstance(kept, list) or isinstance(content, str):
        return {**part, "content": without_stand_in(content, NOTHING) if kept == "" else content}
    shown = iter(content)
    return {
        **part,
        "content": [_item_again(each, next(shown)) if _is_kept(each) else each for each in kept],
    }


def _is_kept(item: Any) -> bool:
    return item is None or (isinstance(item, dict) and item.get("kind") in _MEDIA)


def _item_again(item: Any, shown: _Json) -> Any:
    if item is None:
        return shown["text"]
    source = shown["source"]
    return {**item, **{name: source[name] for name in ("data", "url") if name in source}}


def _response_again(response: _Json, content: Any) -> _Json:
    shown = iter(content if isinstance(content, list) else [])
    return {
        **response,
        "parts": [
            {**part, "content": _text(next(shown))}
            if part["part_kind"] in ("text", "thinking") and part["content"] is None
            else part
            for part in response["parts"]
        ],
    }


def _text(part: _Json) -> Any:
    return part[part["type"]]


def _told(message: Mapping[str, Any], names: Mapping[str, str]) -> List[_Json]:
    """One that was not given by Pydantic AI: a summary, or what another program appended."""
    blocks = blocks_of(message)
    if message["role"] == "assistant":
        parts = [part for block in blocks for part in _response_part(block)]
        return [{"kind": "response", "parts": parts}] if parts else []
    kind = "system-prompt" if message["role"] in ("system", "developer") else "user-prompt"
    parts = [part for block in blocks for part in _request_part(block, kind, names)]
    return [{"kind": "request", "parts": parts}] if parts else []


def _response_part(block: Block) -> List[_Json]:
    if block["kind"] == "text":
        return [{"part_kind": "text", "content": block["text"]}]
    if block["kind"] == "call" and not block.get("byProvider"):
        name, id = block.get("name", ""), block.get("callId", "")
        return [
            {
                "part_kind": "tool-call",
                "tool_name": name,
                "args": block["arguments"],
                "tool_call_id": id,
            }
        ]
    return []


def _request_part(block: Block, kind: str, names: Mapping[str, str]) -> List[_Json]:
    if block["kind"] == "text":
        return [{"part_kind": kind, "content": block["text"]}]
    if block["kind"] == "result":
        id = block.get("callId", "")
        said = [each["text"] for each in block["blocks"] if each["kind"] == "text"]
        name = block.get("name") or names.get(id, "")
        return [
            {
                "part_kind": "tool-return",
                "tool_name": name,
                "content": "\n".join(said),
                "tool_call_id": id,
            }
        ]
    return []
