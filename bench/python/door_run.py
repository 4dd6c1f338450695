"""What the package for Python takes a call, beside the engine without a door (door_run.cpp), Python's json in the place of the package's, and what one would do without an engine.

    door_run.py MESSAGE_FILE MESSAGES [--langchain]

Prints a JSON line for each: the quickest of some rounds, in microseconds of CPU time a call; what the machine does besides only adds. With --langchain, those of LangChain alone.
"""

from __future__ import annotations

import asyncio
import copy
import json
import sys
import time
from typing import Any, Callable

ROUNDS = 50


def say(what: str, by: str, taken_s: float) -> None:
    print(json.dumps({"what": what, "by": by, "microseconds": taken_s * 1e6}), flush=True)


def measure(
    what: str, by: str, calls: int, work: Callable[[], object], rounds: int = ROUNDS
) -> None:
    least = float("inf")
    for _ in range(rounds):
        begin = time.thread_time()
        for _ in range(calls):
            work()
        least = min(least, (time.thread_time() - begin) / calls)
    say(what, by, least)


def measure_langchain(text: str, count: int) -> None:
    from langchain_core.messages import AIMessage, HumanMessage, filter_messages, trim_messages

    content = json.loads(text)["content"]
    messages: Any = [
        HumanMessage(content, id=str(i)) if i % 2 else AIMessage(content, id=str(i))
        for i in range(count)
    ]
    measure(
        "messages",
        "langchain-core filter_messages",
        1,
        lambda: filter_messages(messages, include_types="human")[-3:],
        3,
    )
    measure(
        "messages",
        "langchain-core trim_messages",
        1,
        lambda: trim_messages(
            messages, max_tokens=3, token_counter=len, strategy="last", start_on="human"
        ),
        3,
    )


def measure_undertext(text: str, count: int) -> None:
    import undertext
    from undertext import aio

    message = json.loads(text)
    spelled = json.dumps(message)
    for by, append in (
        ("undertext", lambda conversation: lambda: conversation.append(message)),
        (
            "undertext, text by json.dumps",
            lambda conversation: lambda: conversation.append_text(json.dumps(message)),
        ),
        (
            "undertext, text that is there",
            lambda conversation: lambda: conversation.append_text(spelled),
        ),
        (
            "undertext, apply() with its answer",
            lambda conversation: (
                lambda: conversation.apply({"operation": "APPEND", "messages": [message]})
            ),
        ),
    ):
        with undertext.open() as conversation:
            measure("append", by, count // ROUNDS, append(conversation))
    plain: list[Any] = []
    measure(
        "append",
        "list.append(copy.deepcopy(message))",
        count // ROUNDS,
        lambda: plain.append(copy.deepcopy(message)),
    )

    with undertext.open() as conversation:
        conversation.append([message] * count)
        line = '{"query":"messages","role":"user","last":3}'
        measure("messages", "undertext", 1_000, lambda: conversation.messages(role="user", last=3))
        measure(
            "messages",
            "undertext, text by json.loads",
            1_000,
            lambda: json.loads(conversation.answer_text(line))["messages"],
        )
        plain = [dict(message) for _ in range(count)]
        measure(
            "messages",
            "[m for m in a list if …][-3:]",
            3,
            lambda: [m for m in plain if m["role"] == "user"][-3:],
        )
        other = {**message, "content": "another"}
        measure("edit", "undertext", 100, lambda: conversation.replace(count // 2, other))

        def edit_plainly() -> None:
            snapshot = copy.deepcopy(plain)
            plain[count // 2] = other
            del snapshot

        measure("edit", "a list of dicts, copy.deepcopy before each edit", 1, edit_plainly, 3)
        measure(
            "edit",
            "a list of dicts, json.loads(json.dumps()) before each edit",
            1,
            lambda: json.loads(json.dumps(plain)),
            3,
        )

    async def append_later() -> None:
        async with aio.open() as conversation:
            least = float("inf")
            for _ in range(ROUNDS):
                begin = time.process_time()
                for _ in range(100):
                    await conversation.append(message)
                least = min(least, (time.process_time() - begin) / 100)
            say("append", "undertext.aio, one awaited after another, all threads", least)

    asyncio.run(append_later())


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        given = file.read()
    (measure_langchain if "--langchain" in sys.argv else measure_undertext)(given, int(sys.argv[2]))
