#!/usr/bin/env python3
"""Whether the walk over every public function of a conversation has them all.   every_function_test.py ROOT

tests/store/every_function_test.cpp calls each with a store that fails at its n-th call. Its list is held against the headers here."""
import pathlib
import re
import sys

HEADERS = {"conversation.hpp": "Conversation", "history.hpp": "History"}
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
}


def public_functions(text, name):
    """Of the class; not its constructors and operators."""
    body = re.search(rf"^class UNDERTEXT_API {name} {{\n(.*?)^}};", text, re.M | re.S)[1]
    body = re.sub(r"//.*", "", body.split(" private:")[0])
    found = set(re.findall(r"[\w>&*]\s+(\w+)\([^;{]*\)(?: const)?(?: noexcept)?\s*[;{]", body))
    return found - {name}


def main(root):
    root = pathlib.Path(root)
    walk = (root / "tests/store/every_function_test.cpp").read_text()
    faults, seen = [], set()
    for header, name in HEADERS.items():
        functions = public_functions((root / "include/undertext" / header).read_text(), name)
        assert len(functions) > 20, (header, functions)
        seen |= functions
        faults += [f"{name}::{function} is not walked" for function in sorted(functions - set(LEFT_OUT))
                   if not re.search(rf"(?:\.|::){function}\(", walk)]
    faults += [f"there is no function {function}" for function in sorted(set(LEFT_OUT) - seen)]
    print(*faults or [f"{len(seen - set(LEFT_OUT))} functions are walked"], sep="\n")
    sys.exit(1 if faults else 0)


main(sys.argv[1])
