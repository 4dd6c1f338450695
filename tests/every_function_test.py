#!/usr/bin/env python3
"""Whether the walk over every public function of a conversation has them all.   every_function_test.py ROOT

tests/store/every_function_test.cpp calls each with a store that fails at its n-th call. Its list is held against the headers here.
Nor does a public function answer an optional error, which is true where it failed: they answer a Result."""

import pathlib
import re
import sys

HEADERS = {
    "conversation.hpp": "Conversation",
    "history.hpp": "History",
    "store_recall.hpp": "StoreRecall",
}
# Functions of no class that have a store, or what was read from one.
READING = re.compile(
    r"^UNDERTEXT_API [^;=]*?\b(\w+)\((?:[^;]*[ (<])?(?:Store|Conversation|History|View)>?&", re.M
)
# Those that read nothing from a store, each with the reason.
LEFT_OUT = {
    "history": "a copy of what is in memory",
    "settings": "a copy of what is in memory",
    "usage": "a copy of what is in memory",
    "id": "a copy of what is in memory",
    "tokenizer": "a copy of what is in memory",
    "counting": "a copy of what is in memory",
    "cancel_compression": "asks a thread to end",
    "wait_for_compression": "waits for a thread",
    "version": "the number of the head",
    "first_version": "a number",
    "subscribe": "delivers, and reads nothing",
    "limited": "the same history",
    "recounted_where_replaced": "as recounted",
    "rep": "internal",
    "call_context_tool": "a door to functions that are walked",
}

# Some of each, in different spellings: a walk that reads too few functions would find none missing.
KNOWN = {
    "Conversation": {
        "apply",
        "compress",
        "messages",
        "requests",
        "ledger",
        "what_if",
        "cache_break",
        "redact",
        "catch_up",
        "stats",
    },
    "History": {"apply", "messages", "view_at", "log", "limited"},
    "StoreRecall": {"search"},
}


def public_functions(text, name):
    """Of the class; not its constructors and operators. A default value may hold braces."""
    body = re.search(rf"^class UNDERTEXT_API {name} {{\n(.*?)^}};", text, re.M | re.S)[1]
    body = re.sub(r"//.*", "", body.split(" private:")[0]).replace("= {}", "")
    found = set(re.findall(r"[\w>&*]\s+(\w+)\([^;{]*\)(?: const)?(?: noexcept)?\s*[;{]", body))
    return found - {name}


def main(root):
    root = pathlib.Path(root)
    walk = (root / "tests/store/every_function_test.cpp").read_text()
    faults, seen = [], set()
    for header, name in HEADERS.items():
        functions = public_functions((root / "include/undertext" / header).read_text(), name)
        assert functions >= KNOWN[name], (header, functions)
        seen |= functions
        faults += [
            f"{name}::{function} is not walked"
            for function in sorted(functions - set(LEFT_OUT))
            if not re.search(rf"(?:\.|->|::){function}\(", walk)
        ]
    for header in sorted((root / "include/undertext").glob("*.hpp")):
        text = re.sub(r"//.*", "", header.read_text())
        functions = set(READING.findall(text))
        seen |= functions
        faults += [
            f"{function} of {header.name} is not walked"
            for function in sorted(functions - set(LEFT_OUT))
            if not re.search(rf"[^.>:\w]{function}\(", walk)
        ]
    faults += [f"there is no function {function}" for function in sorted(set(LEFT_OUT) - seen)]
    for header in sorted((root / "include/undertext").glob("*.hpp")):
        text = header.read_text()
        if header.name == "error.hpp":  # Result<void> holds one
            text = text.split("class [[nodiscard]] Result<void>")[0]
        faults += [
            f"{header.name} answers an optional error" for _ in re.finditer("optional<Error>", text)
        ]
    print(*faults or [f"{len(seen - set(LEFT_OUT))} functions are walked"], sep="\n")
    sys.exit(1 if faults else 0)


main(sys.argv[1])
