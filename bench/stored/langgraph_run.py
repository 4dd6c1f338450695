"""Stores a conversation with LangGraph's SQLite checkpointer: two messages of half a kilobyte a turn.   langgraph_peer.py FILE TURN…

A graph of one node that answers; the state is the list of messages, as in LangGraph's own chat examples. Each turn is one invoke. Prints a line of JSON
with the bytes stored and the time a turn took, at each of the turns given. Messages are made before the clock starts.
"""

import json
import os
import pathlib
import sqlite3
import sys
import time

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph


def text(number):
    words = f"message {number} "
    while len(words) < 500:
        words += "lorem ipsum dolor sit amet "
    return words[:500]


def main(path, stops):
    connection = sqlite3.connect(path, check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()
    connection.execute("PRAGMA synchronous=FULL")
    number = 1

    def answer(state):
        return {"messages": [AIMessage(text(number))]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    app = graph.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "bench"}, "recursion_limit": 10}
    turn = before_turn = before_bytes = 0
    for stop in stops:
        start = time.perf_counter()
        last = start
        while turn < stop:
            last = time.perf_counter()
            app.invoke({"messages": [HumanMessage(text(2 * turn))]}, config)
            turn += 1
        end = time.perf_counter()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = sum(
            pathlib.Path(path + s).stat().st_size for s in ("", "-wal") if os.path.exists(path + s)
        )
        print(
            json.dumps(
                {
                    "turn": turn,
                    "bytes": size,
                    "bytes_a_turn": round((size - before_bytes) / (turn - before_turn), 1),
                    "ms_a_turn": round((end - start) * 1000 / (turn - before_turn), 3),
                    "ms_last_turn": round((end - last) * 1000, 3),
                }
            ),
            flush=True,
        )
        before_turn, before_bytes = turn, size


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], [int(n) for n in sys.argv[2:]])
