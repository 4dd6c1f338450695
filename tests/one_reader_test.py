#!/usr/bin/env python3
"""Only the reader looks into a message.

    one_reader_test.py ROOT

What a message says (its calls, results, reasoning, media) is read in src/message and nowhere else; everybody asks for blocks. Whoever reads a
message needs the words that formats use for calls, results and media, so no other source file may have them, but for those named below, each with
its reason: they write a format, read what is no message, or translate the items of one framework.
"""

import pathlib
import re
import sys

# The words of formats for calls, results, reasoning and media, as a program that reads them would spell them: in quotes, also escaped ones, or
# where fields are members, behind a dot. Words that mean something else as often (reasoning, refusal, is_error) are not among them.
WORDS = (
    # the engine's own, and document 000's
    "toolCalls",
    "toolCallId",
    "tool_use",
    "tool_result",
    "image_url",
    # OpenAI Chat
    "tool_calls",
    "tool_call_id",
    "function_call",
    "reasoning_content",
    "reasoning_details",
    "input_audio",
    # Responses items and parts
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "shell_call",
    "shell_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "computer_call",
    "computer_call_output",
    "computer_screenshot",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "tool_search_call",
    "hosted_tool_call",
    "call_id",
    "input_text",
    "output_text",
    "summary_text",
    "reasoning_text",
    "input_image",
    "input_file",
    "encrypted_content",
    # Anthropic
    "tool_use_id",
    "thinking",
    "redacted_thinking",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "web_search_tool_result",
    "media_type",
    # Gemini
    "functionCall",
    "function_response",
    "functionResponse",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "executableCode",
    "executable_code",
    "codeExecutionResult",
    "code_execution_result",
    "thoughtSignature",
    "thought_signature",
    # SDKs
    "tool-call",
    "tool-result",
    "toolName",
)
QUOTED = re.compile(r"""\\?["'`](%s)\\?["'`]""" % "|".join(WORDS))
MEMBER = re.compile(r"""\.(%s)\b""" % "|".join(word for word in WORDS if word.isidentifier()))

SOURCES = ("src", "include", "bindings", "inspector/src")
C_LIKE = {".cpp", ".hpp", ".h", ".ts", ".tsx"}
ENDINGS = C_LIKE | {".py", ".pyi"}
MEMBERS = {".ts", ".tsx", ".py", ".pyi"}
LEFT_OUT = ("/node_modules/", "/dist/", "/tests/", "_test.cpp", ".test.ts", "/random_")

# path, or how paths begin: why it may have the words.
ALLOWED = {
    "src/message/": "the reader, and edits of what it reads",
    "src/history/first_reader.cpp": "what the first releases read, frozen: their records are replayed by it",
    # write requests, from blocks
    "src/dialect/write_": "writes requests",
    "src/dialect/rule_table.cpp": "the words of providers' errors",
    "src/dialect/rule_turns.cpp": "writes members of requests",
    "src/dialect/rule_pairs_repair.cpp": "writes the new id of a block that it was given",
    "src/dialect/adapt.cpp": "asks a block for the member that it stood in",
    "src/dialect/rule_reasoning.cpp": "asks a block for the member that it stood in",
    "src/tokens/message_tokens.cpp": "asks a block for its type, and knows ciphertext by its member's name",
    # read what is no message
    "src/dialect/stream_": "puts the events of a response together, as the provider would have sent it whole",
    "src/dialect/render.cpp": "an option of requests",
    "src/dialect/request.cpp": "an option of requests",
    "src/client/cache_break.cpp": "an option of requests",
    "src/gateway/compaction_seal.cpp": "finds the items that it sealed itself, by their places in a request's bytes",
    "src/client/profiles.cpp": "names members that are volatile",
    "src/endpoint/failure.cpp": "the finish reason of a response",
    "src/json/answer_json.cpp": "a field of a warning",
    "inspector/src/operate/preview.tsx": "a field of a warning",
    # write messages and items
    "src/cli/demo.cpp": "writes the messages of the demo",
    "src/gateway/answer_block.cpp": "writes a block of an answer, and its events",
    "src/gateway/compaction_answer.cpp": "writes an item",
    "src/server/detach.cpp": "writes an item",
    "src/transfer/session_file.cpp": "writes items",
    "src/transfer/opencode_session.cpp": "writes messages",
    "src/transfer/session_lines.cpp": "writes messages",
    # formats that no provider has
    "src/transfer/pi_session.cpp": "the messages of pi, which calls the id of a call as this engine does",
    "bindings/node/src/sdk/message.ts": "types",
    "bindings/node/src/adapters/foreign.ts": "writes messages, and names parts",
    "bindings/node/src/adapters/langchain-messages.ts": "translates the messages of LangChain",
    "bindings/node/src/adapters/ai/model.ts": "translates the messages of the AI SDK",
    "bindings/node/src/adapters/ai/ui.ts": "translates the messages of the AI SDK's pages",
    "bindings/node/src/adapters/openai-agents.ts": "translates the items of the Agents SDK",
    "bindings/python/undertext/langchain.py": "translates the messages of LangChain",
    "bindings/python/undertext/_openai_items.py": "translates the items of the Agents SDK",
    "bindings/python/undertext/_pydantic_messages.py": "translates the messages of Pydantic AI",
    "bindings/python/undertext/google_adk.py": "spells the bytes of contents",
}

# Lines of readers, and others: whether the words are found.
EXAMPLES = {
    """part.find("custom_tool_call")""": True,
    """json.find("\\"tool_calls\\":")""": True,
    """R"({"functionCall":{"name":)" """: True,
    """if (part.inlineData) use(part)""": True,
    """call.call_id == id""": False,  # a member of a block
    """// a "tool_use" of Anthropic""": False,
    """"a tool_use without a result" """: False,
}


def spelled(line, ending):
    """The word of a format in a line of a file with this ending, if there is one."""
    code = line.split("//" if ending in C_LIKE else "#")[0]
    found = QUOTED.search(code) or (MEMBER.search(code) if ending in MEMBERS else None)
    return found and found.group(1)


def is_source(path):
    return path.suffix in ENDINGS and not any(part in "/" + path.as_posix() for part in LEFT_OUT)


def main(root):
    root = pathlib.Path(root)
    used = set()
    faults = [
        f"tests/one_reader_test.py: {line}"
        for line, found in EXAMPLES.items()
        if bool(spelled(line, ".ts" if "inlineData" in line else ".cpp")) != found
    ]
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root)
            if not path.is_file() or not is_source(name):
                continue
            reason = next(
                (allowed for allowed in ALLOWED if name.as_posix().startswith(allowed)), None
            )
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                word = spelled(line, path.suffix)
                if not word:
                    continue
                if reason:
                    used.add(reason)
                else:
                    faults.append(
                        f"{name}:{number}: `{word}`: ask for blocks (undertext/blocks.hpp) instead of reading a message"
                    )
    faults += [
        f"tests/one_reader_test.py: {allowed} needs no exception any more"
        for allowed in ALLOWED
        if allowed not in used
    ]
    print(*faults, sep="\n")
    print(f"{len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [pathlib.Path(__file__).resolve().parents[1]]))
