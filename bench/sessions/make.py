"""Sessions as coding agents write them, made up.   make.py FOLDER MEGABYTES

Half of the bytes are sessions of Claude Code, half of Codex; most of them are results of tools. The same arguments make the same files.
"""

import json
import pathlib
import random
import sys
import uuid

WORDS = "the of and to parser token bucket retry socket buffer index cache error line test build server value thread queue lock page write read".split()


def text(chance, words):
    return " ".join(chance.choices(WORDS, k=words))


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def time_of(number):
    return f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:00.000Z"


def claude_code(chance, number, size):
    session, parent, written = str(uuid.UUID(int=chance.getrandbits(128))), None, 0
    while written < size:
        turn = [("user", {"role": "user", "content": f"Task {number}: {text(chance, 12)}"})]
        for _ in range(4):
            call = f"toolu_{chance.getrandbits(64):016x}"
            answer = {
                "id": f"msg_{chance.getrandbits(64):016x}",
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-4-7",
                "content": [
                    {"type": "text", "text": text(chance, 40)},
                    {
                        "type": "tool_use",
                        "id": call,
                        "name": "Read",
                        "input": {"file_path": f"/src/{number}.c"},
                    },
                ],
                "usage": {
                    "input_tokens": 10,
                    "output_tokens": 100,
                    "cache_read_input_tokens": 5000,
                    "cache_creation_input_tokens": 300,
                },
            }
            turn.append(("assistant", answer))
            turn.append(
                (
                    "user",
                    {
                        "role": "user",
                        "content": [
                            {
                                "tool_use_id": call,
                                "type": "tool_result",
                                "content": text(chance, chance.randrange(200, 4000)),
                            }
                        ],
                    },
                )
            )
        for type, message in turn:
            line = {
                "parentUuid": parent,
                "isSidechain": False,
                "type": type,
                "message": message,
                "uuid": str(uuid.UUID(int=chance.getrandbits(128))),
                "timestamp": time_of(number),
                "cwd": f"/home/u/project{number % 7}",
                "sessionId": session,
            }
            parent = line["uuid"]
            out = compact(line) + "\n"
            written += len(out)
            yield out


def codex(chance, number, size):
    def line(type, payload):
        return compact({"timestamp": time_of(number), "type": type, "payload": payload}) + "\n"

    session, written, total = str(uuid.UUID(int=chance.getrandbits(128))), 0, 0
    yield line(
        "session_meta",
        {"id": session, "cwd": f"/home/u/project{number % 7}", "timestamp": time_of(number)},
    )
    yield line("turn_context", {"cwd": f"/home/u/project{number % 7}", "model": "gpt-5"})
    while written < size:
        call, total = f"call_{chance.getrandbits(64):016x}", total + 1000
        for out in (
            line(
                "response_item",
                {
                    "type": "message",
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": f"Task {number}: {text(chance, 12)}"}
                    ],
                },
            ),
            line(
                "response_item",
                {
                    "type": "function_call",
                    "name": "exec_command",
                    "arguments": compact({"cmd": "ls"}),
                    "call_id": call,
                },
            ),
            line(
                "response_item",
                {
                    "type": "function_call_output",
                    "call_id": call,
                    "output": text(chance, chance.randrange(200, 4000)),
                },
            ),
            line(
                "event_msg",
                {
                    "type": "token_count",
                    "info": {
                        "total_token_usage": {
                            "input_tokens": total,
                            "cached_input_tokens": total // 2,
                            "output_tokens": total // 10,
                        }
                    },
                },
            ),
            line(
                "response_item",
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": text(chance, 60)}],
                },
            ),
        ):
            written += len(out)
            yield out


def make(folder, megabytes, file_bytes=1 << 20):
    folder = pathlib.Path(folder)
    for number in range(megabytes):
        chance = random.Random(number)
        session = str(uuid.UUID(int=chance.getrandbits(128)))
        if number % 2:
            path = (
                folder
                / ".codex"
                / "sessions"
                / "2026"
                / "01"
                / "02"
                / f"rollout-2026-01-02T03-04-05-{session}.jsonl"
            )
        else:
            path = (
                folder
                / ".claude"
                / "projects"
                / f"-home-u-project{number % 7}"
                / f"{session}.jsonl"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            file.writelines((codex if number % 2 else claude_code)(chance, number, file_bytes))


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]))
