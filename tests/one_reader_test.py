#!/usr/bin/env python3
"""Only the reader looks into a message.

    one_reader_test.py ROOT

What a message says (its calls, results, reasoning, media) is read in src/message and nowhere else; everybody asks for blocks. Whoever reads a
message needs the words that formats use for calls and results, so no other source file may have them, but for those named below: they write a
format, or translate the items of one framework.
"""
import pathlib
import re
import sys

# The words of formats for calls, results and reasoning, as a program that reads them would spell them: in quotes, or as a member.
WORDS = ("tool_use", "tool_result", "toolCalls", "tool_calls", "toolCallId", "tool_call_id", "tool_use_id", "function_call", "function_call_output", "shell_call",
         "reasoning_content", "functionCall", "functionResponse")
SPELLED = re.compile(r"""["'`.](%s)["'`\]):,= ]""" % "|".join(WORDS))

SOURCES = ("src", "include", "bindings", "inspector/src")
ENDINGS = {".cpp", ".hpp", ".h", ".ts", ".tsx", ".py", ".pyi"}
LEFT_OUT = ("/node_modules/", "/dist/", "/tests/", "_test.cpp", ".test.ts", "/random_")

# path: why it may have the words.
ALLOWED = {
    "src/message/": "the reader",
    "src/history/first_reader.cpp": "what the first releases read, frozen: their records are replayed by it",
    "src/dialect/write_": "writes requests",
    "src/dialect/stream_": "puts the events of a response together, as the provider would have sent it whole",
    "src/dialect/rule_table.cpp": "the words of providers' errors",
    "src/dialect/rule_turns.cpp": "writes members of requests",
    "src/dialect/adapt.cpp": "asks a block for the member that it stood in",
    "src/dialect/rule_reasoning.cpp": "asks a block for the member that it stood in",
    "src/engine/outcome_bytes.cpp": "a member of a warning",
    "src/json/answer_json.cpp": "a field of a warning",
    "src/endpoint/failure.cpp": "the finish reason of a response",
    "src/client/profiles.cpp": "names members that are volatile",
    "src/transfer/": "reads the session files of other programs, and writes messages",
    "src/cli/": "writes messages: the demo, and options",
    "inspector/src/operate/preview.tsx": "a field of a warning",
    "bindings/node/src/sdk/message.ts": "types",
    "bindings/node/src/adapters/": "translates the items of one framework",
    "bindings/python/undertext/langchain.py": "translates the messages of LangChain",
    "bindings/python/undertext/_openai_items.py": "translates the items of the Agents SDK",
}


def is_source(path):
    return path.suffix in ENDINGS and not any(part in "/" + path.as_posix() for part in LEFT_OUT)


def main(root):
    root = pathlib.Path(root)
    used = set()
    faults = []
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root)
            if not path.is_file() or not is_source(name):
                continue
            reason = next((allowed for allowed in ALLOWED if name.as_posix().startswith(allowed)), None)
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                code = line.split("//")[0] if path.suffix in {".cpp", ".hpp", ".h", ".ts", ".tsx"} else line.split("#")[0]
                found = SPELLED.search(code)
                if not found:
                    continue
                if reason:
                    used.add(reason)
                else:
                    faults.append(f"{name}:{number}: `{found.group(1)}`: ask for blocks (undertext/blocks.hpp) instead of reading a message")
    faults += [f"tests/one_reader_test.py: {allowed} needs no exception any more" for allowed in ALLOWED if allowed not in used]
    print(*faults, sep="\n")
    print(f"{len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [pathlib.Path(__file__).resolve().parents[1]]))
