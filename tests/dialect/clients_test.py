#!/usr/bin/env python3
"""What Undertext renders, given to the official clients.   clients_test.py UNDERTEXT WORK_FOLDER

Renders conversations for every dialect, type-checks them against the request types of the official packages (openai, @anthropic-ai/sdk,
@google/genai) and sends them through those packages to a server on the loopback. Responses in the shape of their types are checked likewise;
dialect/responses_test.cpp imports the same ones. Exits with 77, which means skipped, where node or npm or the packages are not to be had.
"""

import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
DIALECTS = ["openai_chat", "openai_responses", "anthropic", "gemini"]
TYPES = {
    "openai_chat": (
        "OpenAI.ChatCompletionCreateParamsNonStreaming",
        'model: "m", ',
        "OpenAI.ChatCompletion",
    ),
    "openai_responses": (
        "OpenAI.Responses.ResponseCreateParamsNonStreaming",
        'model: "m", ',
        "OpenAI.Responses.Response",
    ),
    "anthropic": (
        "Anthropic.MessageCreateParamsNonStreaming",
        'model: "m", max_tokens: 9, ',
        "Anthropic.Message",
    ),
    "gemini": (
        "{ contents: Content[]; systemInstruction?: Content }",
        "",
        "GenerateContentResponse",
    ),
}

PNG = "iVBORw0KGgo="
CONVERSATIONS = [
    [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "ls", "arguments": '{"p":"/"}'},
                },
                {"id": "b", "type": "custom", "custom": {"name": "py", "input": "1+1"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "bin"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
    ],
    [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64," + PNG, "detail": "low"},
                },
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
                },
            ],
        }
    ],
    [
        {"role": "user", "content": "shot"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "now"},
                {"type": "tool_use", "id": "t1", "name": "snap", "input": {"w": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "late"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                        },
                    ],
                },
                {"type": "text", "text": "and now?"},
            ],
        },
    ],
    [
        {"role": "tool", "tool_call_id": "lost", "content": "orphan"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "w", "type": "function", "function": {"name": "f", "arguments": "oops"}}
            ],
        },
        {"role": "system", "content": "later"},
        {"role": "user", "content": "still there?"},
    ],
]


def skip(reason):
    print("skipped: clients: " + reason)
    sys.exit(77)


def rendered(undertext):
    requests = []
    for messages in CONVERSATIONS:
        lines = [{"operation": "APPEND", "messages": messages}] + [
            {"query": "render", "dialect": d} for d in DIALECTS
        ]
        out = subprocess.run(
            [undertext, "exec"],
            input="\n".join(map(json.dumps, lines)),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        answers = [json.loads(line) for line in out.splitlines()]
        assert all(a["ok"] for a in answers), out
        requests += [
            {"dialect": d, "request": a["result"]["request"]} for d, a in zip(DIALECTS, answers[1:])
        ]
    return requests


def typescript(requests, responses):
    lines = [
        'import OpenAI from "openai";',
        'import Anthropic from "@anthropic-ai/sdk";',
        'import type { Content, GenerateContentResponse } from "@google/genai";',
    ]
    for i, r in enumerate(requests):
        kind, extra, _ = TYPES[r["dialect"]]
        lines.append(
            f"export const request{i}: {kind} = {{ {extra}...({json.dumps(r['request'])} satisfies Partial<{kind}>) }};"
        )
    for dialect, response in responses.items():
        kind = TYPES[dialect][2]
        # A response may have more fields than a test spells out; those it has must be of their types.
        lines.append(f"export const {dialect} = {json.dumps(response)} satisfies Deep<{kind}>;")
    lines.append(
        "type Deep<T> = T extends (infer U)[] ? Deep<U>[] : T extends object ? { [K in keyof T]?: Deep<T[K]> } : T;"
    )
    return "\n".join(lines) + "\n"


def main(undertext, work):
    if not shutil.which("node") or not shutil.which("npm"):
        skip("node and npm are not installed")
    if not (work / "node_modules/@google/genai").exists():
        skip("scripts/peers has not got them")
    shutil.copy(HERE / "clients/send.mjs", work)
    requests = rendered(undertext)
    responses = json.loads((HERE / "responses.json").read_text())
    (work / "requests.json").write_text(json.dumps(requests))
    (work / "requests.ts").write_text(typescript(requests, responses))
    check = subprocess.run(
        [
            "npx",
            "--no-install",
            "tsc",
            "--noEmit",
            "--strict",
            "--skipLibCheck",
            "--target",
            "es2022",
            "--module",
            "nodenext",
            "--moduleResolution",
            "nodenext",
            "requests.ts",
        ],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=300,
    )
    print(check.stdout[-3000:], end="")
    if check.returncode != 0:
        return 1
    print(f"{len(requests)} requests and {len(responses)} responses are of the clients' types")
    return subprocess.run(
        ["node", "send.mjs", "requests.json", str(HERE / "responses.json")], cwd=work, timeout=120
    ).returncode


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
