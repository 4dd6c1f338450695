"""A plugin that keeps agents of Google's ADK within their window: `pip install undertext[google-adk]`.

store = undertext.Store("sqlite:agents.db")
settings = {"model": "gemini-2.5-pro", "compressionConfig": {"enabled": True}}
app = App(name="app", root_agent=agent, plugins=[UndertextPlugin(store, settings=settings)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from ._followed import AnySettings, Followed, Where, follow
from ._off_the_loop import in_thread

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.tools.tool_context import ToolContext

__all__ = ["UndertextPlugin"]

_COMMON = str.maketrans("-_", "+/")


class UndertextPlugin(BasePlugin):
    """Models see the view of a conversation that follows their agent: what a COMPRESS, an EXPAND or any other edit there left. The session keeps all events.

    where: A conversation, for a runner with one agent and one session; or a store, which has one for each agent in each session.
    settings: Of the conversations of a store. With "contextTools" the agents have tools that read what was hidden.
    name: How the names of these conversations begin.
    """

    def __init__(
        self, where: Where, *, settings: AnySettings | None = None, name: str = "google-adk"
    ) -> None:
        super().__init__("undertext")
        self._followed = Followed(where, name, settings)
        self._tools: List[BaseTool] = [
            _Tool(self._followed, tool) for tool in self._followed.tools()
        ]
        self._asked: Dict[str, List[Dict[str, Any]]] = {}

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Puts the view in place of the contents."""
        thread = _thread_of(callback_context)
        contents = [_json_of(content) for content in llm_request.contents]
        self._asked[thread] = contents
        llm_request.contents = await in_thread(self._view, thread, contents)
        llm_request.append_tools(self._tools)

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        """Appends the answer, once it is whole."""
        content = llm_response.content
        if not content or not content.parts or llm_response.partial:
            return
        thread = _thread_of(callback_context)
        asked = self._asked.pop(thread, None)
        if asked is not None:  # else another plugin answered
            # As the next request will have it: calls without ids are known by their order.
            await in_thread(self._follow, thread, [*asked, _json_of(content)])

    def _view(self, thread: str, contents: List[Dict[str, Any]]) -> List[types.Content]:
        with self._followed.conversation(thread) as conversation:
            follow(conversation, request={"contents": contents}, client="gemini")
            rendered = conversation.render("gemini")["request"]
        return [types.Content.model_validate(content) for content in rendered["contents"]]

    def _follow(self, thread: str, contents: List[Dict[str, Any]]) -> None:
        with self._followed.conversation(thread) as conversation:
            follow(conversation, request={"contents": contents}, client="gemini")


class _Tool(BaseTool):
    """A tool that reads what was hidden."""

    def __init__(self, followed: Followed, declared: Mapping[str, Any]) -> None:
        super().__init__(name=declared["name"], description=declared["description"])
        self._followed = followed
        self._schema = declared["input_schema"]

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._schema
        )

    async def run_async(self, *, args: Dict[str, Any], tool_context: ToolContext) -> str:
        return await in_thread(self._called, _thread_of(tool_context), args)

    def _called(self, thread: str, arguments: Dict[str, Any]) -> str:
        with self._followed.conversation(thread) as conversation:
            return conversation.call_tool(self.name, arguments)["text"]


def _thread_of(context: CallbackContext) -> str:
    """An agent in a session: the contents of another agent are others."""
    session = context.session
    return "/".join((session.app_name, session.user_id, session.id, context.agent_name))


def _json_of(content: types.Content) -> Dict[str, Any]:
    """As it is sent. Bytes are Base64 in the common alphabet, as in requests of other programs."""
    told = content.model_dump(mode="json", by_alias=True, exclude_none=True)
    for part in told.get("parts", ()):
        if "data" in part.get("inlineData", {}):
            part["inlineData"]["data"] = part["inlineData"]["data"].translate(_COMMON)
    return told
