"""A session for the OpenAI Agents SDK, kept in a conversation: `pip install undertext[openai-agents]`.

session = UndertextSession("support-17", undertext.open("sqlite:agent.db", "support-17"))
result = await Runner.run(agent, "Hello", session=session)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, cast

from agents.memory import Session, SessionSettings

from ._conversation import Conversation
from ._errors import ConflictError, InvalidArgumentError
from ._foreign import message_at, messages_of
from ._off_the_loop import in_thread
from ._openai_items import from_item, to_items, without_last
from ._shown import of_conversation

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

__all__ = ["UndertextSession", "from_item", "to_items"]


class UndertextSession(Session):
    """The items are the view of a conversation, with whatever was hidden, summarised or appended by others. Every call runs off the loop.

    An item comes back equal to what was given, or is refused with InvalidArgumentError and nothing of the call is kept. What is popped or cleared is hidden and not lost:
    `conversation.undo()` brings it back, every earlier version stays.
    """

    def __init__(
        self,
        session_id: str,
        conversation: Conversation,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self.conversation = conversation

    def __repr__(self) -> str:
        return of_conversation(self, self.conversation)

    async def get_items(self, limit: int | None = None) -> List[TResponseInputItem]:
        """The last `limit` of them, else as many as the session's settings say, else all."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await in_thread(self._items, limit)

    def _items(self, limit: int | None) -> List[TResponseInputItem]:
        if limit is not None and limit <= 0:
            return []
        items = [
            item for message in messages_of(self.conversation, limit) for item in to_items(message)
        ]
        return cast("List[TResponseInputItem]", items if limit is None else items[-limit:])

    async def add_items(self, items: List[TResponseInputItem]) -> None:
        """All of them or none, as one APPEND."""
        if not isinstance(items, Iterable):
            raise InvalidArgumentError(
                f"items must be a list, not {type(items).__name__}", field="items"
            )
        texts = [from_item(cast("Mapping[str, Any]", item)) for item in items]
        if texts:
            await in_thread(self.conversation.append_text, f"[{','.join(texts)}]")

    async def pop_item(self) -> TResponseInputItem | None:
        """Hides the last item. Where another program's message stands for several, one that stands for the others takes its place."""
        return await in_thread(self._pop)

    def _pop(self) -> TResponseInputItem | None:
        while True:
            self.conversation.catch_up()
            view = self.conversation.view()
            if len(view) == 0:
                return None
            message = message_at(view, -1)
            *others, last = to_items(message)
            try:
                if others:
                    self.conversation.replace(
                        len(view) - 1, without_last(message), expected_version=view.version
                    )
                else:
                    self.conversation.delete(
                        indices=[len(view) - 1], pairs="literal", expected_version=view.version
                    )
            except ConflictError:  # another one is the last now
                continue
            return cast("TResponseInputItem", last)

    async def clear_session(self) -> None:
        """Hides all items; they stay in the log."""
        await in_thread(self.conversation.clear, keep_system_message=False)
