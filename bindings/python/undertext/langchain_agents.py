"""Middleware that keeps an agent of LangChain within its window: `pip install undertext[langchain-agents]`.

conversation = undertext.open(settings={"model": "gpt-5", "compressionConfig": {"enabled": True}})
agent = create_agent(model, tools, middleware=[UndertextMiddleware(conversation)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Awaitable, Callable, List, Mapping, Sequence

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from ._errors import InvalidArgumentError
from ._followed import AnySettings, Followed, Where, seen
from ._off_the_loop import in_thread
from .langchain import from_langchain, to_langchain_messages

if TYPE_CHECKING:
    from langchain.agents.middleware import ModelRequest, ModelResponse

__all__ = ["UndertextMiddleware"]


class UndertextMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """The model sees the view of a conversation that follows the agent: what a COMPRESS, an EXPAND or any other edit there left. The agent's state keeps all messages.

    where: A conversation, or a store, which then has one for each thread: `NAME.THREAD`.
    settings: Of the conversations of a store. With "contextTools" the agent has tools that read what was hidden.
    name: Of this agent, in the names of its conversations. Agents that share a store and threads need names of their own.
    """

    def __init__(
        self, where: Where, *, settings: AnySettings | None = None, name: str = "langchain"
    ) -> None:
        super().__init__()
        self._followed = Followed(where, name, settings)
        self.tools: Sequence[BaseTool] = [self._tool(**tool) for tool in self._followed.tools()]

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """The call, with the view in place of the agent's messages. Its answer is appended at once."""
        thread = _thread_of(request)
        response = handler(self._edited(request, thread))
        self._answered(thread, response.result)
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The same; the conversation's work is done off the loop."""
        thread = _thread_of(request)
        response = await handler(await in_thread(self._edited, request, thread))
        await in_thread(self._answered, thread, response.result)
        return response

    def _edited(self, request: ModelRequest[Any], thread: str | None) -> ModelRequest[Any]:
        given = [*([request.system_message] if request.system_message else []), *request.messages]
        with self._followed.conversation(thread) as conversation:
            messages: List[Any] = [
                each
                for message in seen(conversation, [_stored(each) for each in given])
                for each in to_langchain_messages(message)
            ]
        is_led = bool(messages) and isinstance(messages[0], SystemMessage)
        return request.override(
            system_message=messages[0] if is_led else None, messages=messages[is_led:]
        )

    def _answered(self, thread: str | None, answer: Sequence[BaseMessage]) -> None:
        with self._followed.conversation(thread) as conversation:
            conversation.append_text(f"[{','.join(map(_stored, answer))}]")

    def _tool(self, name: str, description: str, input_schema: Mapping[str, Any]) -> BaseTool:
        def call(config: RunnableConfig, **arguments: Any) -> str:
            thread = config.get("configurable", {}).get("thread_id")
            with self._followed.conversation(thread) as conversation:
                return conversation.call_tool(name, arguments)["text"]

        return StructuredTool(
            name=name, description=description, args_schema=dict(input_schema), func=call
        )


def _thread_of(request: ModelRequest[Any]) -> str | None:
    info = request.runtime.execution_info
    return None if info is None else info.thread_id


def _stored(message: BaseMessage) -> str:
    """The message as the conversation has it. An artifact that is not JSON is for the program, and no model reads it: the agent's state has it."""
    try:
        return from_langchain(message)
    except InvalidArgumentError:
        if getattr(message, "artifact", None) is None:
            raise
        return from_langchain(message.model_copy(update={"artifact": None}))
