"""An agent of LangChain with the middleware, and a model that says what it was sent."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Iterable, List, Sequence

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import undertext
from undertext.langchain import from_langchain
from undertext.langchain_agents import UndertextMiddleware

SMALL: Any = {"compressionConfig": {"enabled": True, "threshold": 600}}


class Scripted(BaseChatModel):
    """Says what its script says, and keeps what it was sent."""

    script: List[AIMessage]
    sent: List[List[BaseMessage]] = []
    tools: List[str] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        self.tools[:] = [each.name for each in tools]
        return self

    def _generate(self, messages: List[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.sent.append(messages)
        answer = self.script[min(len(self.sent), len(self.script)) - 1]
        return ChatResult(generations=[ChatGeneration(message=answer)])


def calling(number: int, name: str = "read", **arguments: Any) -> AIMessage:
    call = {"name": name, "args": arguments or {"page": number}, "id": f"c{number}"}
    return AIMessage("", tool_calls=[call])


@tool
def read(page: int) -> str:
    """Reads a page."""
    return f"page {page}: " + "the quick brown fox jumps over the lazy dog. " * 30


def said(messages: Iterable[BaseMessage]) -> List[str]:
    return [str(message.content) for message in messages]


def tokens_of(messages: Iterable[BaseMessage]) -> int:
    with undertext.open() as conversation:
        conversation.append_text(f"[{','.join(map(from_langchain, messages))}]")
        return conversation.stats()["tokens"]


def read_ten(model: Scripted, where: Any, **named: Any) -> Any:
    return create_agent(
        model,
        [read],
        system_prompt="Be brief.",
        middleware=[UndertextMiddleware(where, **named)],
        checkpointer=InMemorySaver(),
    )


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}, "recursion_limit": 100}


def ten_pages() -> Scripted:
    return Scripted(script=[*map(calling, range(10)), AIMessage("All read.")])


ASK: Any = {"messages": [HumanMessage("Read ten pages.")]}


def test_every_call_is_within_the_window_and_the_state_has_every_message() -> None:
    model = ten_pages()
    with undertext.open(settings=SMALL) as conversation:
        state = read_ten(model, conversation).invoke(ASK, thread("t"))
        assert len(state["messages"]) == 22
        assert all("fox" in text for text in said(state["messages"])[2::2])
        assert max(map(tokens_of, model.sent)) < 900 < 3000 < tokens_of(state["messages"])
        assert said(model.sent[-1])[:2] == ["Be brief.", "Read ten pages."]


def test_nothing_is_lost_and_a_compaction_can_be_expanded() -> None:
    model = ten_pages()
    with undertext.open(settings=SMALL) as conversation:
        agent = read_ten(model, conversation)
        state = agent.invoke(ASK, thread("t"))
        log = conversation.messages(all=True)
        for message in state["messages"]:
            assert any(message.text in str(each["content"]) for each in log)

        hidden = str(state["messages"][2].content)
        assert hidden not in said(model.sent[-1])
        while stubs := [i for i, each in enumerate(conversation) if "EXPAND" in str(each)]:
            conversation.expand(stubs[0])
        assert hidden in [each["content"] for each in conversation]
        agent.invoke({"messages": [HumanMessage("And the first?")]}, thread("t"))
        assert hidden in said(model.sent[-1])


def test_without_edits_the_model_is_sent_equal_messages() -> None:
    def sent(middleware: Sequence[Any]) -> List[List[BaseMessage]]:
        model = ten_pages()
        agent = create_agent(model, [read], system_prompt="Be brief.", middleware=middleware)
        question = HumanMessage("Read ten pages.", id="q")
        agent.invoke({"messages": [question]}, {"recursion_limit": 100})
        return [
            [each.model_copy(update={"id": None}) for each in messages] for messages in model.sent
        ]

    with undertext.open() as conversation:
        assert sent([UndertextMiddleware(conversation)]) == sent([])


def test_an_asynchronous_agent_does_the_same() -> None:
    one, other = ten_pages(), ten_pages()
    with undertext.open(settings=SMALL) as conversation:
        read_ten(one, conversation).invoke(ASK, thread("t"))
    with undertext.open(settings=SMALL) as conversation:
        asyncio.run(read_ten(other, conversation).ainvoke(ASK, thread("t")))
    assert list(map(said, one.sent)) == list(map(said, other.sent))


def test_a_store_has_a_conversation_for_each_thread(url: str) -> None:
    with undertext.Store(url) as store:
        for name in ("a", "b/c"):
            read_ten(ten_pages(), store, settings=SMALL).invoke(ASK, thread(name))
        assert [each["conversation"] for each in store.list()] == [
            "langchain.a",
            "langchain.b_2fc",
        ]
        with store.open("langchain.a") as conversation:
            assert conversation[-1]["content"] == "All read."


def test_a_store_without_a_thread_is_refused() -> None:
    with undertext.Store("memory:") as store:
        agent = create_agent(ten_pages(), [read], middleware=[UndertextMiddleware(store)])
        with pytest.raises(undertext.InvalidArgumentError, match="thread"):
            agent.invoke(ASK)


def test_a_conversation_with_settings_beside_it_is_refused() -> None:
    with undertext.open() as conversation:
        with pytest.raises(undertext.InvalidArgumentError, match="settings"):
            UndertextMiddleware(conversation, settings=SMALL)


def test_the_model_reads_what_was_hidden_by_the_tools_of_the_conversation() -> None:
    expand = calling(10, "context_expand", ordinals=[3])
    model = Scripted(script=[*map(calling, range(10)), expand, AIMessage("All read.")])
    settings: Any = {**SMALL, "contextTools": True}
    with undertext.open(settings=settings) as conversation:
        state = read_ten(model, conversation).invoke(ASK, thread("t"))
    assert set(model.tools) == {"read", "context_search", "context_expand", "context_status"}
    assert "page 0: the quick brown fox" in said(state["messages"])[-2]


def test_what_the_program_edits_is_what_the_model_sees() -> None:
    model = Scripted(script=[AIMessage("One."), AIMessage("Two.")])
    with undertext.open() as conversation:
        agent = read_ten(model, conversation)
        agent.invoke({"messages": [HumanMessage("My password is 1234.")]}, thread("t"))
        conversation.transform(indices=[1], replace_text={"find": "1234", "with": "****"})
        state = agent.invoke({"messages": [HumanMessage("Next.")]}, thread("t"))
    assert said(model.sent[-1]) == ["Be brief.", "My password is ****.", "One.", "Next."]
    assert said(state["messages"])[0] == "My password is 1234."


def test_an_artifact_that_is_not_json_stays_in_the_state() -> None:
    class Frame:
        pass

    @tool(response_format="content_and_artifact")
    def read(page: int) -> Any:
        """Reads a page."""
        return "a page", Frame()

    model = Scripted(script=[calling(1), AIMessage("Read.")])
    with undertext.open() as conversation:
        agent = create_agent(model, [read], middleware=[UndertextMiddleware(conversation)])
        state = agent.invoke(ASK)
    result = state["messages"][2]
    assert isinstance(result, ToolMessage) and isinstance(result.artifact, Frame)
    assert said(model.sent[-1])[-1] == "a page"


def test_a_call_that_fails_leaves_the_conversation_at_the_question() -> None:
    class Failing(Scripted):
        def _generate(self, *_: Any, **__: Any) -> ChatResult:
            raise RuntimeError("overloaded")

    with undertext.open() as conversation:
        agent: Callable[..., Any] = read_ten(Failing(script=[]), conversation).invoke
        with pytest.raises(RuntimeError, match="overloaded"):
            agent(ASK, thread("t"))
        assert [each["content"] for each in conversation] == ["Be brief.", "Read ten pages."]
