#!/usr/bin/env python3
"""Times LangChain's trim_messages on the first n messages of a conversation, for each n until one call takes too long.

langchain_run.py FILE SECONDS_MAX N…
"""

import json
import statistics
import sys
import time

from langchain_core import __version__
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)


def made(message):
    content = message["content"]
    if message["role"] == "system":
        return SystemMessage(content)
    if message["role"] == "user":
        return HumanMessage(content)
    if message["role"] == "tool":
        return ToolMessage(content, tool_call_id=message["tool_call_id"])
    calls = [
        {
            "id": c["id"],
            "name": c["function"]["name"],
            "args": json.loads(c["function"]["arguments"]),
        }
        for c in message.get("tool_calls", [])
    ]
    return AIMessage(content, tool_calls=calls)


def count(messages):
    return sum(len(m.content) // 4 for m in messages)


def main():
    path, seconds_max, *sizes = sys.argv[1:]
    with open(path, encoding="utf-8") as lines:
        everything = [made(json.loads(line)) for line in lines]
    for n in map(int, sizes):
        messages = everything[:n]
        tokens_max = count(messages) // 2
        times = []
        while len(times) < 5 and sum(times) < 3:
            start = time.perf_counter()
            kept = trim_messages(
                messages,
                max_tokens=tokens_max,
                token_counter=count,
                strategy="last",
                include_system=True,
                start_on="human",
            )
            times.append(time.perf_counter() - start)
        print(
            json.dumps(
                {
                    "by": "langchain-core (Python)",
                    "version": __version__,
                    "n": n,
                    "seconds": statistics.median(times),
                    "kept": len(kept),
                    "tokens": count(kept),
                    "tokens_max": tokens_max,
                }
            ),
            flush=True,
        )
        if times[-1] > float(seconds_max):
            break


if __name__ == "__main__":
    main()
