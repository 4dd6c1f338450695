"""A capability that keeps an agent of Pydantic AI within its window: `pip install undertext[pydantic-ai]`.

conversation = undertext.open(settings={"model": "gpt-5", "compressionConfig": {"enabled": True}})
agent = Agent("openai:gpt-5", capabilities=[UndertextHistory(conversation)])
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, List, Mapping

from pydantic_ai import FunctionToolset, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse

from ._followed import AnySettings, Followed, Where, seen
from ._off_the_loop import in_thread
from ._pydantic_messages import read, stored

if TYPE_CHECKING:
    from pydantic_ai.models import ModelRequestContext

__all__ = ["UndertextHistory"]


class UndertextHistory(AbstractCapability[Any]):
    """The model sees the view of a conversation that follows the agent: what a COMPRESS, an EXPAND or any other edit there left. The run's message history keeps all messages.

    where: A conversation, or a store, which then has one for each conversation of Pydantic AI: `NAME.CONVERSATION_ID`.
    settings: Of the conversations of a store. With "contextTools" the agent has tools that read what was hidden.
    name: Of this agent, in the names of its conversations. Agents that share a store and conversation ids need names of their own.
    """

    def __init__(
        self, where: Where, *, settings: AnySettings | None = None, name: str = "pydantic-ai"
    ) -> None:
        self._followed = Followed(where, name, settings)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """The request, with the view in place of the messages."""
        view = await in_thread(self._view, ctx.conversation_id, request_context.messages)
        return dataclasses.replace(request_context, messages=view)

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """Appends the answer at once."""
        await in_thread(self._answered, ctx.conversation_id, response)
        return response

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """With "contextTools", the tools that read what was hidden."""
        tools = self._followed.tools()
        return FunctionToolset([self._tool(**tool) for tool in tools]) if tools else None

    def _view(self, thread: str | None, messages: List[ModelMessage]) -> List[ModelMessage]:
        texts = stored(ModelMessagesTypeAdapter.dump_python(messages, mode="json"))
        with self._followed.conversation(thread) as conversation:
            view = read(seen(conversation, texts))
        made: List[ModelMessage] = ModelMessagesTypeAdapter.validate_python(view)
        return made

    def _answered(self, thread: str | None, response: ModelResponse) -> None:
        texts = stored(ModelMessagesTypeAdapter.dump_python([response], mode="json"))
        with self._followed.conversation(thread) as conversation:
            conversation.append_text(f"[{','.join(texts)}]")

    def _tool(self, name: str, description: str, input_schema: Mapping[str, Any]) -> Tool[Any]:
        def call(ctx: RunContext[Any], **arguments: Any) -> str:
            with self._followed.conversation(ctx.conversation_id) as conversation:
                return conversation.call_tool(name, arguments)["text"]

        return Tool.from_schema(call, name, description, dict(input_schema), takes_ctx=True)
