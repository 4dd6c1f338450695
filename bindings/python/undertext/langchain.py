"""A chat message history for LangChain, kept in a conversation: `pip install undertext[langchain]`.

    history = UndertextChatMessageHistory(undertext.open("sqlite:agent.db", "support-17"))
    chain = RunnableWithMessageHistory(model, lambda session_id: history)
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.load import dumpd, load
from langchain_core.messages import (
    AIMessage,
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
from ._foreign import arguments_text, calls_of, is_content, json_text, readable

__all__ = ["UndertextChatMessageHistory", "from_langchain", "to_langchain"]

#: The field of a message that holds what Undertext has no word for.
_SHELL = "langchain"
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
#: In place of an artifact that has objects of LangChain's, such as a list of documents. Reading makes objects of these classes alone, whatever a stored message names.
_ARTIFACT = "artifact_lc"
_ARTIFACT_CLASSES = (Document, HumanMessage, AIMessage, SystemMessage, ToolMessage)


def _role(message: BaseMessage) -> str:
    kind = message.type.removesuffix("MessageChunk").lower()
    if kind == "chat":
        named = getattr(message, "role", "")
        return named if named in ("system", "user", "assistant", "developer") else "user"
    return _ROLES.get(kind, "user")


def _plain_call(call: Mapping[str, Any]) -> bool:
    return set(call) == {"name", "args", "id", "type"} and call["type"] == "tool_call" and isinstance(call["id"], str)


def _moved(role: str, data: Dict[str, Any]) -> Dict[str, Any]:
    """The fields that Undertext has words for, taken out of `data`."""
    moved: Dict[str, Any] = {"role": role}
    content, calls = data["content"], data.get("tool_calls") or []
    # A call that is also a part of the content would be counted and sent twice.
    is_told_in_parts = isinstance(content, list) and any(isinstance(part, dict) and part.get("type") == "tool_use" for part in content)
    if calls and role == "assistant" and not is_told_in_parts and all(map(_plain_call, calls)):
        moved["toolCalls"] = [{"id": call["id"], "name": call["name"], "arguments": call["args"]} for call in data.pop("tool_calls")]
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
        artifact = getattr(message, "artifact", None)  # itself: the dump of a model says nothing of its class
        data["artifact"] = artifact
        try:
            json_text(artifact, "artifact")
        except InvalidArgumentError:
            del data["artifact"]
            data[_ARTIFACT] = dumpd(artifact)
    shaped = _moved(_role(message), data)
    if slim:
        data = {name: value for name, value in data.items() if name == "content" or (value is not None and value != {} and value != [])}
    shaped[_SHELL] = {"type": told["type"], "data": data}
    return json_text(shaped, "message")


def from_langchain(message: BaseMessage) -> str:
    """The message as JSON for append_text(), from which to_langchain() makes an equal one.

    InvalidArgumentError: it is a RemoveMessage, or there is something in it that would not come back: a class of your own, or an object, a tuple or NaN among its values.
    """
    return text_and_copy(message)[0]


def text_and_copy(message: BaseMessage) -> Tuple[str, BaseMessage]:
    """What from_langchain() answers, and the message that it was tried with."""
    if isinstance(message, RemoveMessage):
        raise InvalidArgumentError("a RemoveMessage is an instruction and no message: edit the conversation instead", field="type")
    for slim in (True, False):
        text = _shaped(message, slim=slim)
        try:
            copy = to_langchain(json.loads(text))
            if copy == message:
                return text, copy
        except UndertextError:
            raise
        except Exception:  # noqa: S112 - whatever LangChain raises, the message would not come back
            continue
    raise InvalidArgumentError(f"{type(message).__name__} would not come back as it is", field="message")


def to_langchain(message: Mapping[str, Any]) -> BaseMessage:
    """A message of any origin for LangChain. Where the field of LangChain's is not what from_langchain() wrote, the role, the content and the calls say what it is."""
    shell = message.get(_SHELL)
    if isinstance(shell, Mapping) and shell.get("type") != "remove":  # an instruction, which no message may become
        with suppress(Exception):  # whatever LangChain raises: one message must not make all others unreadable
            return _made_again(message, shell)
    return _told(message)


def _made_again(message: Mapping[str, Any], shell: Mapping[str, Any]) -> BaseMessage:
    data: Dict[str, Any] = dict(shell["data"])
    if "content" not in data or message["content"] != readable(data["content"]):  # else nobody edited what stands there for it
        data["content"] = message["content"] if message["content"] is not None else ""
    if "id" in message:
        data.setdefault("id", message["id"])
    if "toolCalls" in message and "tool_calls" not in data:
        called = _called(message)
        data["tool_calls"] = called["tool_calls"]
        data["invalid_tool_calls"] = [*data.get("invalid_tool_calls", ()), *called["invalid_tool_calls"]]
    if "toolCallId" in message:
        data.setdefault("tool_call_id", message["toolCallId"])
    if _ARTIFACT in data:
        data["artifact"] = data.pop(_ARTIFACT)
        with suppress(Exception):  # what may not be made stays the data that it is
            data["artifact"] = load(data["artifact"], allowed_objects=_ARTIFACT_CLASSES)
    return messages_from_dict([{"type": shell["type"], "data": data}])[0]


def _told(message: Mapping[str, Any]) -> BaseMessage:
    """One that was not given by LangChain: a summary, or what another program appended."""
    role, content = message["role"], message["content"] if message["content"] is not None else ""
    named = {name: message[name] for name in ("id", "name") if isinstance(message.get(name), str)}
    if role == "assistant":
        return AIMessage(content=content, **named, **_called(message))
    if role == "tool":
        return ToolMessage(content=content, tool_call_id=message.get("toolCallId") or message.get("tool_call_id") or "", **named)
    return SystemMessage(content=content, **named) if role in ("system", "developer") else HumanMessage(content=content, **named)


def _called(message: Mapping[str, Any]) -> Dict[str, List[Dict[str, Any]]]:
    calls: Dict[str, List[Dict[str, Any]]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call in calls_of(message):
        arguments, error = call["arguments"], None
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except (ValueError, RecursionError) as wrong:
                error = str(wrong)
        if isinstance(arguments, dict):
            calls["tool_calls"].append({"name": call["name"], "args": arguments, "id": call["id"], "type": "tool_call"})
        else:
            text = arguments_text(call)
            calls["invalid_tool_calls"].append({"name": call["name"], "args": text, "id": call["id"], "error": error, "type": "invalid_tool_call"})
    return calls


class UndertextChatMessageHistory(BaseChatMessageHistory):
    """The messages are the view of a conversation, with whatever was hidden, summarised or appended by others; its asynchronous methods run on LangChain's executor.

    Lossless: a message comes back equal to what was given, or is refused with InvalidArgumentError and nothing of the call is kept.
    """

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self.conversation = conversation

    @property
    def messages(self) -> List[BaseMessage]:  # type: ignore[override]  # LangChain's own histories do it so too
        self.conversation.catch_up()
        return [to_langchain(message) for message in self.conversation.messages()]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """All of them or none, as one APPEND."""
        texts = [from_langchain(message) for message in messages]
        if texts:
            self.conversation.append_text(f"[{','.join(texts)}]")

    def clear(self) -> None:
        """Hides all messages, system messages too. Nothing is lost: `conversation.undo()` brings them back, every earlier version stays."""
        self.conversation.clear(keep_system_message=False)
