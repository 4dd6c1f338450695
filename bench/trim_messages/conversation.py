#!/usr/bin/env python3
"""Writes a conversation as JSON lines, the same in every run: a system message, then turns of a user, a few tool calls with their
results, and an answer.

    conversation.py MESSAGES > FILE
"""

import json
import random
import sys

WORDS = "the build failed at step four because the header was moved and the test that reads it was not looking there".split()


def text(rng, most):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(3, most)))


def messages(rng):
    yield {"role": "system", "content": "You are a careful engineer. " + text(rng, 60)}
    calls = 0
    while True:
        yield {"role": "user", "content": text(rng, 60)}
        for _ in range(rng.randint(0, 3)):
            calls += 1
            call = {
                "id": f"call_{calls}",
                "type": "function",
                "function": {"name": "read_file", "arguments": '{"path": "src/main.cpp"}'},
            }
            yield {"role": "assistant", "content": "", "tool_calls": [call]}
            yield {"role": "tool", "tool_call_id": call["id"], "content": text(rng, 200)}
        yield {"role": "assistant", "content": text(rng, 100)}


def main():
    for _, message in zip(range(int(sys.argv[1])), messages(random.Random(1))):
        print(json.dumps(message))


if __name__ == "__main__":
    main()
