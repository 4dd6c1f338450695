"""undertext.langgraph under real graphs."""

from __future__ import annotations

import asyncio
import operator
import os
import subprocess
import sys
from typing import Annotated, Any, Dict, Iterator, List, TypedDict

import pytest
from checkpoints import log_length, place
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

from undertext.langgraph import UndertextSaver


@pytest.fixture
def saver(url: str) -> Iterator[UndertextSaver]:
    with UndertextSaver.from_url(url) as opened:
        yield opened


class State(TypedDict):
    messages: Annotated[List[AnyMessage], add_messages]
    total: Annotated[int, operator.add]


def ask(state: State) -> Dict[str, Any]:
    answer = interrupt({"question": "go on?", "so far": len(state["messages"])})
    return {"messages": [HumanMessage(f"human says {answer}")], "total": 1}


def speak(state: State) -> Dict[str, Any]:
    return {"messages": [AIMessage(f"answer {len(state['messages'])}")], "total": 10}


def graph(saver: BaseCheckpointSaver[Any]) -> Any:
    builder = StateGraph(State)
    builder.add_node("speak", speak)
    builder.add_node("ask", ask)
    builder.add_edge(START, "speak")
    builder.add_edge("speak", "ask")
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=saver)


def contents(state: Any) -> List[str]:
    return [message.content for message in state["messages"]]


def test_a_graph_is_interrupted_and_resumed(saver: UndertextSaver) -> None:
    config = place()
    stopped = graph(saver).invoke({"messages": [HumanMessage("hi")], "total": 0}, config)
    assert stopped["__interrupt__"][0].value == {"question": "go on?", "so far": 2}
    done = graph(saver).invoke(Command(resume="yes"), config)
    assert contents(done) == ["hi", "answer 1", "human says yes"] and done["total"] == 11


def test_a_graph_goes_back_in_time_and_on_along_another_branch(saver: UndertextSaver) -> None:
    def play(each: BaseCheckpointSaver[Any]) -> List[Any]:
        config, app = place(), graph(each)
        app.invoke({"messages": [HumanMessage("hi", id="h")], "total": 0}, config)
        app.invoke(Command(resume="yes"), config)
        past = next(state for state in app.get_state_history(config) if state.next == ("ask",))
        app.invoke(None, past.config)
        other = contents(app.invoke(Command(resume="no"), config))
        edited = app.update_state(
            past.config, {"messages": [RemoveMessage(id="h"), AIMessage("put in")]}
        )
        states = [
            contents(state.values)
            for state in app.get_state_history(config)
            if "messages" in state.values
        ]
        return [other, contents(app.get_state(edited).values), states]

    other, edited, states = play(saver)
    assert other == ["hi", "answer 1", "human says no"]
    assert edited == ["answer 1", "put in"]
    assert ["hi", "answer 1", "human says yes"] in states
    assert [other, edited, states] == play(InMemorySaver())


class Deltas(TypedDict):
    log: Annotated[
        List[str],
        DeltaChannel(
            lambda log, batches: [*log, *(line for batch in batches for line in batch)],
            snapshot_frequency=3,
        ),
    ]


def test_a_delta_channel_is_put_together_from_its_writes(saver: UndertextSaver) -> None:
    def play(each: BaseCheckpointSaver[Any]) -> List[List[str]]:
        builder = StateGraph(Deltas)
        builder.add_node("left", lambda state: {"log": [f"left {len(state['log'])}"]})
        builder.add_node("right", lambda state: {"log": [f"right {len(state['log'])}"]})
        builder.add_edge(START, "left")
        builder.add_edge(START, "right")
        app: Any = builder.compile(checkpointer=each)
        config = place()
        for turn in range(5):
            app.invoke({"log": [f"turn {turn}"]}, config)
        each_state = [list(state.values.get("log", [])) for state in app.get_state_history(config)]
        if isinstance(each, UndertextSaver):
            each.prune(["t"])
            assert app.get_state(config).values["log"] == each_state[0]
        return each_state

    states = play(saver)
    assert len(states[0]) == 15
    assert states == play(InMemorySaver())


@pytest.mark.parametrize("durability", ["exit", "async", "sync"])
def test_turns_of_any_durability_store_each_message_once(
    saver: UndertextSaver, url: str, durability: str
) -> None:
    def play(each: BaseCheckpointSaver[Any]) -> List[Any]:
        app, config = graph(each), place()
        for turn in range(4):
            app.invoke(
                {"messages": [HumanMessage(f"turn {turn}")], "total": 0},
                config,
                durability=durability,
            )
            app.invoke(Command(resume="yes"), config, durability=durability)
        return [
            (state.next, contents(state.values) if "messages" in state.values else [])
            for state in app.get_state_history(config)
        ]

    states = play(saver)
    assert states == play(InMemorySaver())
    assert log_length(url, "langgraph.t.0.messages") == len(states[0][1]) == 12


def test_an_asynchronous_graph_says_the_same_as_with_the_saver_in_memory(
    saver: UndertextSaver,
) -> None:
    async def play(each: BaseCheckpointSaver[Any]) -> List[Any]:
        app, config = graph(each), place()
        await app.ainvoke({"messages": [HumanMessage("hi", id="h")], "total": 0}, config)
        await app.ainvoke(Command(resume="yes"), config)
        return [
            (
                state.next,
                state.metadata,
                contents(state.values) if "messages" in state.values else [],
                state.values.get("total"),
            )
            async for state in app.aget_state_history(config)
        ]

    assert asyncio.run(play(saver)) == asyncio.run(play(InMemorySaver()))


def test_a_graph_with_a_subgraph_keeps_both(saver: UndertextSaver) -> None:
    builder = StateGraph(State)
    builder.add_node("inner", graph(True))  # type: ignore[arg-type]
    builder.add_edge(START, "inner")
    app: Any = builder.compile(checkpointer=saver)
    config = place()
    app.invoke({"messages": [HumanMessage("hi")], "total": 0}, config)
    inside = app.get_state(config, subgraphs=True).tasks[0].state
    assert contents(inside.values) == ["hi", "answer 1"]
    assert contents(app.invoke(Command(resume="yes"), config)) == [
        "hi",
        "answer 1",
        "human says yes",
    ]


RESUME = """
import sys
sys.path.insert(0, sys.argv[2])
from test_langgraph_graphs import Command, UndertextSaver, contents, graph, place
with UndertextSaver.from_url(sys.argv[1]) as saver:
    print(contents(graph(saver).invoke(Command(resume="from elsewhere"), place())))
"""


def test_an_interrupted_graph_is_resumed_by_another_process(url: str) -> None:
    with UndertextSaver.from_url(url) as saver:
        graph(saver).invoke({"messages": [HumanMessage("hi")], "total": 0}, place())
    here = os.path.dirname(__file__)
    done = subprocess.run(
        [sys.executable, "-c", RESUME, url, here], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['hi', 'answer 1', 'human says from elsewhere']"
