"""A chat message history for LangChain, kept in a conversation: `pip install undertext[langchain]`.

history = UndertextChatMessageHistory(undertext.open("sqlite:agent.db", "support-17"))
chain = RunnableWithMessageHistory(model, lambda session_id: history)
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Dict, Iterable, List, Mapping, Sequence

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.load import dumpd, load
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)

from ._conversation import Conversation
from ._errors import InvalidArgumentError, UndertextError
from ._foreign import (
    NOTHING,
    blocks_of,
    is_content,
    json_text,
    messages_of,
    readable,
    without_stand_in,
)
from ._shown import of_conversation
from .types import Block, CallBlock, ResultBlock

__all__ = ["UndertextChatMessageHistory", "from_langchain", "to_langchain", "to_langchain_messages"]

#: The field of a message that holds what Undertext has no word for.
_SHELL = "langchain"
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
#: In place of an artifact that has objects of LangChain's, such as a list of documents. Reading makes objects of these classes alone, whatever a stored message names.
_ARTIFACT = "artifact_lc"
_ARTIFACT_CLASSES = (Document, HumanMessage, AIMessage, SystemMessage, ToolMessage)
#: In the shell of a message whose calls are parts of its content as well: those that are no longer there are gone.
_CALLS_ARE_PARTS = "callsAreParts"
#: In the shell of a message that was given with parts that would be results: they stay its parts.
_RESULTS_ARE_PARTS = "resultsAreParts"


def _role(message: BaseMessage) -> str:
    kind = message.type.removesuffix("MessageChunk").lower()
    if kind == "chat":
        named = getattr(message, "role", "")
        return named if named in ("system", "user", "assistant", "developer") else "user"
    return _ROLES.get(kind, "user")


def _plain_call(call: Mapping[str, Any]) -> bool:
    return (
        set(call) == {"name", "args", "id", "type"}
        and call["type"] == "tool_call"
        and isinstance(call["id"], str)
        and call["id"] != ""
    )


def _of_content(content: Any) -> List[Block]:
    """What the parts of a content say, and nothing that stands beside them."""
    return (
        blocks_of({"role": "assistant", "content": content})
        if isinstance(content, list) and is_content(content)
        else []
    )


def _calls(blocks: List[Block]) -> List[CallBlock]:
    return [block for block in blocks if block["kind"] == "call" and not block.get("byProvider")]


def _results(blocks: List[Block]) -> List[ResultBlock]:
    return [block for block in blocks if block["kind"] == "result" and not block.get("byProvider")]


def _moved(role: str, data: Dict[str, Any]) -> Dict[str, Any]:
    """The fields that Undertext has words for, taken out of `data`."""
    moved: Dict[str, Any] = {"role": role}
    content, calls = data["content"], data.get("tool_calls") or []
    if (
        calls
        and role == "assistant"
        and not _calls(_of_content(content))
        and all(map(_plain_call, calls))
    ):
        moved["toolCalls"] = [
            {"id": call["id"], "name": call["name"], "arguments": call["args"]}
            for call in data.pop("tool_calls")
        ]
    if role == "tool" and isinstance(data.get("tool_call_id"), str):
        moved["toolCallId"] = data.pop("tool_call_id")
    if isinstance(data.get("id"), str):
        moved["id"] = data.pop("id")
    if is_content(content) or (content == "" and (role == "tool" or "toolCalls" in moved)):
        moved["content"] = data.pop("content")
    else:
        moved["content"] = readable(content)
    return moved


def _shaped(message: BaseMessage, *, slim: bool) -> str:
    told = message_to_dict(message)
    data: Dict[str, Any] = told["data"]
    data.pop("type", None)
    if "artifact" in data:
        artifact = getattr(
            message, "artifact", None
        )  # itself: the dump of a model says nothing of its class
        data["artifact"] = artifact
        try:
            json_text(artifact, "artifact")
        except InvalidArgumentError:
            del data["artifact"]
            data[_ARTIFACT] = dumpd(artifact)
    flags: Dict[str, Any] = (
        {_CALLS_ARE_PARTS: True}
        if slim and data.get("tool_calls") and _calls(_of_content(data["content"]))
        else {}
    )
    if _results(_of_content(data["content"])):
        flags[_RESULTS_ARE_PARTS] = True
    shaped = _moved(_role(message), data)
    if slim:
        data = {
            name: value
            for name, value in data.items()
            if name == "content" or (value is not None and value != {} and value != [])
        }
    shaped[_SHELL] = {"type": told["type"], "data": data, **flags}
    return json_text(shaped, "message")


def from_langchain(message: BaseMessage) -> str:
    """The message as JSON for append_text(), from which to_langchain() makes an equal one.

    InvalidArgumentError: it is a RemoveMessage, or there is something in it that would not come back: a custom class, or an object, a tuple or NaN among its values.
    """
    if not isinstance(message, BaseMessage):
        raise InvalidArgumentError(
            f"a message must be one of LangChain's, not {type(message).__name__}", field="message"
        )
    if isinstance(message, RemoveMessage):
        raise InvalidArgumentError(
            "a RemoveMessage is an instruction and no message: edit the conversation instead",
            field="type",
        )
    for slim in (True, False):
        text = _shaped(message, slim=slim)
        try:
            if to_langchain(json.loads(text)) == message:
                return text
        except UndertextError:
            raise
        except Exception:  # noqa: S112 - whatever LangChain raises, the message would not come back
            continue
    raise InvalidArgumentError(
        f"{type(message).__name__} would not come back as it is", field="message"
    )


def to_langchain(message: Mapping[str, Any]) -> BaseMessage:
    """A message of any origin for LangChain. Where the field of LangChain's is not what from_langchain() wrote, the role, the content and the calls say what it is."""
    return _made_again(message) or _told(message)


def to_langchain_messages(message: Mapping[str, Any]) -> List[BaseMessage]:
    """The same, with each tool result that is a part of it as a message of its own."""
    shell = message.get(_SHELL)
    if not _results(_of_content(message["content"])) or (
        isinstance(shell, Mapping) and shell.get(_RESULTS_ARE_PARTS) is True
    ):
        return [to_langchain(message)]
    made = [_result(block) for block in _results(blocks_of(message))]
    rest = {
        **message,
        "content": [part for part in message["content"] if not _results(_of_content([part]))],
    }
    is_said = message["role"] != "tool" and (
        rest["content"] or _calls(blocks_of({**message, "content": NOTHING}))
    )
    return [*made, to_langchain(rest)] if is_said else made


def _made_again(message: Mapping[str, Any]) -> BaseMessage | None:
    shell = message.get(_SHELL)
    if (
        isinstance(shell, Mapping) and shell.get("type") != "remove"
    ):  # an instruction, which no message may become
        with suppress(
            Exception
        ):  # whatever LangChain raises: one message must not make all others unreadable
            return _from_shell(message, shell)
    return None


def _from_shell(message: Mapping[str, Any], shell: Mapping[str, Any]) -> BaseMessage:
    data: Dict[str, Any] = dict(shell["data"])
    content, given = message["content"], readable(data["content"]) if "content" in data else None
    if given == NOTHING:
        content = without_stand_in(content, NOTHING)
    if content != given or given is None:  # else nobody edited what stands there for it
        data["content"] = content if content is not None else ""
    if "id" in message:
        data.setdefault("id", message["id"])
    if shell["type"] in ("ai", "AIMessageChunk") or "toolCalls" in message:
        data.update(_calls_again(message, data, are_parts=shell.get(_CALLS_ARE_PARTS) is True))
    if "toolCallId" in message:
        data.setdefault("tool_call_id", message["toolCallId"])
    if _ARTIFACT in data:
        data["artifact"] = data.pop(_ARTIFACT)
        with suppress(Exception):  # what may not be made stays the data that it is
            data["artifact"] = load(data["artifact"], allowed_objects=_ARTIFACT_CLASSES)
    made = messages_from_dict([{"type": shell["type"], "data": data}])[0]
    if (
        isinstance(made, AIMessageChunk)
        and data.get("tool_call_chunks")
        and not _has_calls(made, data)
    ):
        # LangChain reads the calls from the chunks, and makes chunks from the calls where there are none.
        made = messages_from_dict(
            [{"type": shell["type"], "data": {**data, "tool_call_chunks": []}}]
        )[0]
    return made


def _has_calls(made: AIMessage, data: Mapping[str, Any]) -> bool:
    return (made.tool_calls, made.invalid_tool_calls) == (
        data.get("tool_calls", []),
        data.get("invalid_tool_calls", []),
    )


def _calls_again(
    message: Mapping[str, Any], data: Mapping[str, Any], *, are_parts: bool
) -> Dict[str, Any]:
    """The calls that the message has now: the engine may have merged it with another one, or split it."""
    kept = data.get("tool_calls", [])
    if are_parts:
        there = [call.get("callId") for call in _calls(_of_content(message["content"]))]
        kept = [call for call in kept if call["id"] in there]
    known = [call["id"] for call in kept]
    # Parts that LangChain was given as no calls are none.
    called = _called(
        message
        if message["content"] and (are_parts or "tool_calls" not in data)
        else {**message, "content": NOTHING}
    )
    calls = [*kept, *(call for call in called["tool_calls"] if call["id"] not in known)]
    invalid = [*data.get("invalid_tool_calls", []), *called["invalid_tool_calls"]]
    again: Dict[str, Any] = {
        name: value
        for name, value in (("tool_calls", calls), ("invalid_tool_calls", invalid))
        if value or name in data
    }
    raw = data.get("additional_kwargs", {})
    if (
        "tool_calls" in raw and not again
    ):  # they went with a piece that was split off; LangChain would read them here
        again["additional_kwargs"] = {
            name: value for name, value in raw.items() if name != "tool_calls"
        }
    return again


def _told(message: Mapping[str, Any]) -> BaseMessage:
    """One that was not given by LangChain: a summary, or what another program appended."""
    role, content = message["role"], _parts(message["content"])
    named = {name: message[name] for name in ("id", "name") if isinstance(message.get(name), str)}
    if role == "assistant":
        return AIMessage(content=content, **named, **_called(message))
    if role == "tool":
        answered = next((result.get("callId", "") for result in _results(blocks_of(message))), "")
        return ToolMessage(content=content, tool_call_id=answered, **named)
    return (
        SystemMessage(content=content, **named)
        if role in ("system", "developer")
        else HumanMessage(content=content, **named)
    )


def _result(result: ResultBlock) -> BaseMessage:
    said = result["blocks"]
    content: Any = (
        said[0]["text"]
        if len(said) == 1 and said[0]["kind"] == "text"
        else [_part_of(block) for block in said]
    )
    return ToolMessage(
        content=content or "",
        tool_call_id=result.get("callId", ""),
        status="error" if result.get("isError") else "success",
    )


def _part_of(block: Block) -> Dict[str, Any]:
    """As LangChain's standard content blocks have it."""
    if block["kind"] == "text":
        return {"type": "text", "text": block["text"]}
    if block["kind"] == "media":
        kind = "text-plain" if block["source"] == "text" else block["media"]
        return {
            "type": kind,
            block["source"]: block["data"],
            **({"mime_type": block["mime"]} if "mime" in block else {}),
        }
    return {"type": "non_standard", "value": dict(block)}


def _parts(content: Any) -> Any:
    """Content as LangChain calls its parts: those of the Responses API are texts and images like any other."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return [
        _part(part)
        for part in content
        if isinstance(part, (str, dict)) and not (_is_wrapped(part) and _calls(_of_content([part])))
    ]


def _is_wrapped(part: Any) -> bool:
    """An item of the Responses API, in the engine's form for what only one dialect understands."""
    return (
        isinstance(part, dict)
        and part.get("type") in ("openai_responses", "reasoning")
        and isinstance(part.get("item"), dict)
    )


def _part(part: Any) -> Any:
    if _is_wrapped(part):
        return part["item"]  # as LangChain has it among the parts
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("text", "input_text", "output_text") and isinstance(part.get("text"), str):
        # What a model's answer has beside its text is nothing to send to one.
        return {
            **{
                name: value
                for name, value in part.items()
                if name != "logprobs" and (name != "annotations" or value)
            },
            "type": "text",
        }
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    return part


def _called(message: Mapping[str, Any]) -> Dict[str, List[Dict[str, Any]]]:
    calls: Dict[str, List[Dict[str, Any]]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call in _calls(blocks_of(message)):
        arguments, error = call["arguments"], None
        told = {"name": call.get("name", ""), "id": call.get("callId")}
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError) as wrong:
                error = str(wrong)
        if isinstance(arguments, dict):
            calls["tool_calls"].append({**told, "args": arguments, "type": "tool_call"})
        else:
            text = (
                call["arguments"] if isinstance(call["arguments"], str) else json.dumps(arguments)
            )
            calls["invalid_tool_calls"].append(
                {**told, "args": text, "error": error, "type": "invalid_tool_call"}
            )
    return calls


class UndertextChatMessageHistory(BaseChatMessageHistory):
    """The messages are the view of a conversation, with whatever was hidden, summarised or appended by others; its asynchronous methods run on LangChain's executor.

    Lossless: a message comes back equal to what was given, or is refused with InvalidArgumentError and nothing of the call is kept.
    """

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self.conversation = conversation

    def __repr__(self) -> str:
        return of_conversation(self, self.conversation)

    @property
    def messages(self) -> List[BaseMessage]:  # type: ignore[override]  # LangChain's own histories do it so too
        """The messages of the view, as LangChain has them."""
        return [
            each
            for message in messages_of(self.conversation)
            for each in to_langchain_messages(message)
        ]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """All of them or none, as one APPEND."""
        if not isinstance(messages, Iterable):
            raise InvalidArgumentError(
                f"messages must be a list, not {type(messages).__name__}", field="messages"
            )
        texts = [from_langchain(message) for message in messages]
        if texts:
            self.conversation.append_text(f"[{','.join(texts)}]")

    def clear(self) -> None:
        """Hides all messages, system messages too. Nothing is lost: `conversation.undo()` brings them back, every earlier version stays."""
        self.conversation.clear(keep_system_message=False)
