"""A session of the Agents SDK and a graph of LangGraph whose messages are compressed: what belongs together stays together, and a target out of reach or a model that is down stops nobody."""

from __future__ import annotations

import asyncio
from typing import Any, Dict, Iterator, List, Mapping

import pytest
from checkpoints import place
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES

import undertext
from undertext.langchain import to_langchain
from undertext.langgraph import UndertextSaver
from undertext.openai_agents import UndertextSession

#: Nobody listens there.
DOWN = {
    "kind": "openai",
    "baseUrl": "http://127.0.0.1:1/v1",
    "model": "m",
    "attempts": 1,
    "timeoutMs": 2000,
}
WORDS = "lorem ipsum dolor sit amet " * 2


def session_of(items: List[Any], settings: Mapping[str, object] | None = None) -> UndertextSession:
    session = UndertextSession("s", undertext.open(settings=settings))
    asyncio.run(session.add_items(items))
    return session


def items_of(session: UndertextSession) -> List[Any]:
    return list(asyncio.run(session.get_items()))


def said(role: str, i: int) -> Dict[str, Any]:
    return {"role": role, "content": f"{i} {WORDS}"}


def call(id: str) -> Dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "job", "arguments": "{}"}


def result(id: str, text: str) -> Dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": text}


def reasoning(i: int) -> Dict[str, Any]:
    return {
        "type": "reasoning",
        "id": f"rs_{i}",
        "summary": [{"type": "summary_text", "text": f"thought {i}"}],
    }


# The Agents SDK


def test_a_call_that_waits_for_its_result_is_kept_and_the_result_finds_it() -> None:
    session = session_of(
        [said("user", 0), call("c"), said("user", 1), said("assistant", 2), said("user", 3)]
    )
    session.conversation.compress(strategy={"name": "keep_recent", "n": 2})
    asyncio.run(session.add_items([result("c", "JOB RESULT 42")]))  # type: ignore[list-item]
    items = items_of(session)
    assert items.index(call("c")) < items.index(result("c", "JOB RESULT 42"))
    assert "JOB RESULT 42" in str(session.conversation.render("openai_responses")["request"])


def test_a_session_stays_small_where_its_target_is_out_of_reach() -> None:
    config = {
        "enabled": True,
        "threshold": 300,
        "targetTokens": 100,
        "strategy": {"name": "keep_recent", "n": 10},
    }
    session = session_of([], {"compressionConfig": config})
    for i in range(60):
        asyncio.run(session.add_items([said("user" if i % 2 == 0 else "assistant", i)]))  # type: ignore[list-item]
        assert session.conversation.stats()["tokens"] <= 300 + 300 // 16
    receipts = session.conversation.receipts()
    assert len(receipts) >= 2
    assert all(receipt["targetReached"] is False for receipt in receipts)


@pytest.mark.parametrize(
    "strategy",
    ["default", "sliding_window", "smart_summary", {"name": "keep_recent", "n": 4}],
    ids=str,
)
def test_reasoning_stays_with_all_the_calls_that_follow_from_it(strategy: Any) -> None:
    turns: List[List[Any]] = []
    for i in range(6):
        unit = [
            reasoning(i),
            call(f"a{i}"),
            call(f"b{i}"),
            result(f"a{i}", f"A {WORDS}"),
            result(f"b{i}", f"B {WORDS}"),
        ]
        turns.append([said("user", i), *unit, said("assistant", i)])
    whole = [item for turn in turns for item in turn]
    tokens = session_of(whole).conversation.stats()["tokens"]
    for target in range(tokens // 4, tokens, tokens // 12):
        session = session_of([*whole, said("user", 9)])
        session.conversation.compress(strategy=strategy, target_tokens=target, progress=True)
        items = items_of(session)
        for i in range(6):
            has = [item in items for item in (reasoning(i), call(f"a{i}"), call(f"b{i}"))]
            has += [
                any(item.get("call_id") == id and "output" in item for item in items)
                for id in (f"a{i}", f"b{i}")
            ]
            assert all(has) or not any(has), (target, i)
        assert session.conversation.validate("openai_responses")["valid"], target


def test_a_session_whose_model_is_down_is_summarised_by_the_digest() -> None:
    config = {
        "enabled": True,
        "threshold": 400,
        "targetTokens": 250,
        "strategy": {"name": "default", "summariser": "down", "fallbacks": ["down too"]},
    }
    session = session_of(
        [], {"summarisers": {"down": DOWN, "down too": DOWN}, "compressionConfig": config}
    )
    for i in range(40):
        asyncio.run(session.add_items([said("user" if i % 2 == 0 else "assistant", i)]))  # type: ignore[list-item]
        session.conversation.wait_for_compression()
        assert session.conversation.stats()["tokens"] <= 400 + 400 // 16
    receipt = session.conversation.receipts()[0]
    assert receipt["summariser"] == "digest"
    assert receipt["reason"].count("cannot be reached") == 2


# LangGraph


def speak(state: MessagesState) -> MessagesState:
    return {"messages": [AIMessage(f"answer {len(state['messages'])} {WORDS}")]}


class Thread:
    """A graph whose thread is compressed through the conversation of its channel."""

    def __init__(self, store: undertext.Store) -> None:
        builder = StateGraph(MessagesState)
        builder.add_node("speak", speak)
        builder.add_edge(START, "speak")
        self.store, self.config = store, place()
        self.graph: Any = builder.compile(checkpointer=UndertextSaver(store))

    @property
    def messages(self) -> List[BaseMessage]:
        return list(self.graph.get_state(self.config).values["messages"])

    def say(self, *messages: BaseMessage) -> None:
        self.graph.invoke({"messages": list(messages)}, self.config)

    def put(self, *messages: BaseMessage) -> None:
        self.graph.update_state(self.config, {"messages": list(messages)}, as_node="speak")

    def compress(self, **arguments: Any) -> Mapping[str, Any]:
        """By a fork, whose view becomes the state of the graph."""
        settings = {"summarisers": {"down": DOWN}}
        with (
            self.store.open("langgraph.t.0.messages", settings=settings) as conversation,
            conversation.fork() as fork,
        ):
            answer = fork.compress(**arguments)
            self.put(RemoveMessage(id=REMOVE_ALL_MESSAGES), *map(to_langchain, fork.messages()))
        return answer


@pytest.fixture
def thread(url: str) -> Iterator[Thread]:
    with undertext.Store(url) as store:
        yield Thread(store)


def test_a_graph_keeps_a_call_that_waits_for_its_result(thread: Thread) -> None:
    waiting = {"name": "job", "args": {}, "id": "c", "type": "tool_call"}
    thread.put(HumanMessage("start the job"), AIMessage("", tool_calls=[waiting]))
    for i in range(3):
        thread.say(HumanMessage(f"meanwhile {i}"))
    thread.compress(strategy={"name": "keep_recent", "n": 2})
    thread.put(ToolMessage("JOB RESULT 42", tool_call_id="c"))
    calls = [
        message.tool_calls
        for message in thread.messages
        if isinstance(message, AIMessage) and message.tool_calls
    ]
    assert calls == [[waiting]]
    assert thread.messages[-1].content == "JOB RESULT 42"
    assert len(thread.messages) < 9


def test_a_graph_makes_the_progress_that_can_be_made(thread: Thread) -> None:
    for i in range(12):
        thread.say(HumanMessage(f"{i} {WORDS}"))
    with pytest.raises(undertext.CannotFitError):
        thread.compress(strategy={"name": "keep_recent", "n": 10}, target_tokens=20)
    assert len(thread.messages) == 24
    answer = thread.compress(
        strategy={"name": "keep_recent", "n": 10}, target_tokens=20, progress=True
    )
    assert answer["targetReached"] is False
    assert len(thread.messages) == 10


def test_a_graph_keeps_thinking_with_the_calls_that_follow_from_it(thread: Thread) -> None:
    for i in range(4):
        thought = {"type": "thinking", "thinking": f"thought {i}", "signature": "s"}
        calls = [
            {"name": "job", "args": {}, "id": f"{name}{i}", "type": "tool_call"} for name in "ab"
        ]
        results = [ToolMessage(f"{name} {WORDS}", tool_call_id=f"{name}{i}") for name in "ab"]
        thread.say(HumanMessage(f"{i} {WORDS}"), AIMessage([thought], tool_calls=calls), *results)
    thread.put(HumanMessage("and now?"))
    for n in range(12, 2, -1):
        thread.compress(strategy={"name": "keep_recent", "n": n})
        for i in range(4):
            has = [any(f"thought {i}" in str(message.content) for message in thread.messages)]
            has += [
                any(
                    isinstance(message, ToolMessage) and message.tool_call_id == f"{name}{i}"
                    for message in thread.messages
                )
                for name in "ab"
            ]
            assert all(has) or not any(has), (n, i)


def test_a_graph_whose_model_is_down_is_summarised_by_the_digest(thread: Thread) -> None:
    for i in range(12):
        thread.say(HumanMessage(f"{i} {WORDS}"))
    answer = thread.compress(
        strategy={"name": "smart_summary", "summariser": "down"}, target_tokens=300
    )
    assert answer["receipt"]["summariser"] == "digest"
    assert "cannot be reached" in answer["receipt"]["reason"]
    assert len(thread.messages) < 24
