"""A session for the OpenAI Agents SDK, kept in a conversation: `pip install undertext[openai-agents]`.

    session = UndertextSession("support-17", undertext.open("sqlite:agent.db", "support-17"))
    result = await Runner.run(agent, "Hello", session=session)
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, cast

from agents.memory import Session, SessionSettings

from ._conversation import Conversation
from ._errors import ConflictError
from ._foreign import arguments_text, calls_of, is_content, json_text, readable

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

__all__ = ["UndertextSession", "from_item", "to_items"]

#: The field of a message that holds what Undertext has no word for.
_SHELL = "openaiItem"
#: An item with these fields alone is a message of Undertext as it stands.
_MESSAGE = frozenset(("type", "role", "content", "id", "status", "phase"))
_SPOKEN = ("user", "assistant", "system", "developer")


def _is_message(item: Mapping[str, Any]) -> bool:
    return (
        _MESSAGE.issuperset(item)
        and item.get("role") in _SPOKEN
        and item.get("type", "message") == "message"
        and is_content(item.get("content"))
        and isinstance(item.get("id", ""), str)
    )


def _without(item: Mapping[str, Any], *names: str) -> Dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def _shaped(item: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = item.get("type")
    if _is_message(item):
        return item
    is_whole = "item" in item  # a field of this name would be taken for the whole
    if kind == "function_call" and not is_whole and all(isinstance(item.get(name), str) for name in ("call_id", "name", "arguments")):
        call = {"id": item["call_id"], "name": item["name"], "arguments": item["arguments"]}
        return {"role": "assistant", "content": "", "toolCalls": [call], _SHELL: _without(item, "call_id", "name", "arguments")}
    output = item.get("output")
    if kind == "function_call_output" and not is_whole and isinstance(item.get("call_id"), str) and (output == "" or is_content(output)):
        return {"role": "tool", "toolCallId": item["call_id"], "content": output, _SHELL: _without(item, "call_id", "output")}
    # Anything else is kept whole, beside words that stand for it.
    role = item.get("role") if item.get("role") in _SPOKEN else "assistant"
    told = next((item[name] for name in ("content", "summary", "output") if item.get(name)), kind)
    return {"role": role, "content": readable(told), _SHELL: {"item": item}}


def from_item(item: Mapping[str, Any]) -> str:
    """The item as JSON for append_text(), from which to_items() makes an equal one. InvalidArgumentError: JSON would not bring it back as it is."""
    return json_text(_shaped(item), "item")


def to_items(message: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """A message of any origin as items: one, or several where another program made it with several tool calls."""
    shell = message.get(_SHELL)
    if isinstance(shell, Mapping):  # else, and where from_item() did not write it, the role, the content and the calls say what it is
        if isinstance(shell.get("item"), Mapping):
            return [dict(shell["item"])]
        if shell.get("type") == "function_call_output" and "toolCallId" in message:
            return [{**shell, "call_id": message["toolCallId"], "output": message["content"]}]
        if shell.get("type") == "function_call" and (calls := calls_of(message)):
            return [_call_item(calls[0], shell), *(_call_item(call, {"type": "function_call"}) for call in calls[1:])]
    if _is_message(message):
        return [dict(message)]
    return _told(message)


def _told(message: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """One that was not given by the SDK: a summary, or what another program appended."""
    if message["role"] == "tool":
        call_id = message.get("toolCallId") or message.get("tool_call_id") or ""
        return [{"type": "function_call_output", "call_id": call_id, "output": message["content"]}]
    items: List[Dict[str, Any]] = []
    if message["content"]:
        items.append({"role": message["role"], "content": message["content"]})
    for call in calls_of(message):
        items.append(_call_item(call, {"type": "function_call"}))
    return items


def _call_item(call: Mapping[str, Any], shell: Mapping[str, Any]) -> Dict[str, Any]:
    return {**shell, "call_id": call["id"] or "", "name": call["name"], "arguments": arguments_text(call)}


def _without_last_call(message: Mapping[str, Any]) -> Dict[str, Any]:
    spelling = "toolCalls" if message.get("toolCalls") else "tool_calls"
    return {**_without(message, "toolCalls", "tool_calls"), spelling: message[spelling][:-1]}


class UndertextSession(Session):
    """The items are the view of a conversation, with whatever was hidden, summarised or appended by others. Every call runs off the loop.

    An item comes back equal to what was given, or is refused with InvalidArgumentError and nothing of the call is kept. What is popped or cleared is hidden and not lost:
    `conversation.undo()` brings it back, every earlier version stays.
    """

    def __init__(self, session_id: str, conversation: Conversation, session_settings: SessionSettings | None = None) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self.conversation = conversation

    async def get_items(self, limit: int | None = None) -> List[TResponseInputItem]:
        """The last `limit` of them, else as many as the session's settings say, else all."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await asyncio.to_thread(self._items, limit)

    def _items(self, limit: int | None) -> List[TResponseInputItem]:
        self.conversation.catch_up()
        if limit is not None and limit <= 0:
            return []
        messages = self.conversation.messages() if limit is None else self.conversation.messages(last=limit)
        items = [item for message in messages for item in to_items(message)]
        return cast("List[TResponseInputItem]", items if limit is None else items[-limit:])

    async def add_items(self, items: List[TResponseInputItem]) -> None:
        """All of them or none, as one APPEND."""
        texts = [from_item(cast("Mapping[str, Any]", item)) for item in items]
        if texts:
            await asyncio.to_thread(self.conversation.append_text, f"[{','.join(texts)}]")

    async def pop_item(self) -> TResponseInputItem | None:
        """Hides the last item. Where another program's message stands for several, the last is a call, and the message stays without it."""
        return await asyncio.to_thread(self._pop)

    def _pop(self) -> TResponseInputItem | None:
        while True:
            self.conversation.catch_up()
            view = self.conversation.view()
            if len(view) == 0:
                return None
            *others, last = to_items(view[-1])
            try:
                if others:
                    self.conversation.replace(len(view) - 1, _without_last_call(view[-1]), expected_version=view.version)
                else:
                    self.conversation.delete(indices=[len(view) - 1], expected_version=view.version)
            except ConflictError:  # another one is the last now
                continue
            return cast("TResponseInputItem", last)

    async def clear_session(self) -> None:
        await asyncio.to_thread(self.conversation.clear, keep_system_message=False)
