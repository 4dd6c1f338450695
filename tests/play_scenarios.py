#!/usr/bin/env python3
"""Plays scenarios through `undertext exec`.

    play_scenarios.py BINARY FILE.json…

A scenario file is a list of {"title", "config"?, "doors"?, "steps": [{"send", "expect"}]}. `doors` are those it is about, where it is not all; which one
BINARY is tells the variable UNDERTEXT_DOOR, "exec" unless set. `send` is a request, or a string that is sent as
it stands, for lines that are no JSON. `expect` is a pattern: an object matches when each of its keys matches, a list element by
element, anything else when equal and of the same type. Keys with a meaning of their own:

    "$texts": […]       the contents of "messages"            "$exact": true      no keys beyond those of the pattern
    "$count": n         how many "messages" there are         "$type": "integer"  any value of this JSON type
    "$absent": […]      keys that must not be there           "$bytes": "…"       the answer contains this text (top level only)

The last line printed is 'N passed, M failed'; the exit status is 0 when none failed.
"""

import json
import os
import pathlib
import subprocess
import sys

SECONDS_MAX = 60
TYPES = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shortened(text, length=300):
    return text if len(text) <= length else text[:length] + "…"


def differences(pattern, value, path=""):
    """Every place where the value does not match the pattern, as sentences."""
    where = path or "answer"
    if isinstance(pattern, dict):
        if "$type" in pattern:
            if TYPES[type(value)] != pattern["$type"]:
                yield f"{where}: expected {pattern['$type']}, got {shortened(compact(value))}"
            return
        if not isinstance(value, dict):
            yield f"{where}: expected an object, got {shortened(compact(value))}"
            return
        for key, wanted in pattern.items():
            messages = value.get("messages", [])
            if key == "$texts":
                yield from differences(
                    wanted, [message.get("content") for message in messages], f"{where} texts"
                )
            elif key == "$count":
                if len(messages) != wanted:
                    yield f"{where}: expected {wanted} messages, got {len(messages)}"
            elif key == "$absent":
                yield from (
                    f"{where}: unexpected {name!r}: {shortened(compact(value[name]))}"
                    for name in wanted
                    if name in value
                )
            elif key == "$exact":
                yield from (
                    f"{where}: {name!r} is one too many" for name in value if name not in pattern
                )
            elif key == "$bytes":
                continue
            elif key not in value:
                yield f"{where}: no {key!r} in {shortened(compact(value))}"
            else:
                yield from differences(wanted, value[key], f"{path}.{key}".lstrip("."))
    elif isinstance(pattern, list):
        if not isinstance(value, list) or len(value) != len(pattern):
            yield f"{where}: expected {shortened(compact(pattern))}, got {shortened(compact(value))}"
            return
        for index, (wanted, got) in enumerate(zip(pattern, value)):
            yield from differences(wanted, got, f"{where}[{index}]")
    elif type(pattern) is not type(value) or pattern != value:
        yield f"{where}: expected {shortened(compact(pattern))}, got {shortened(compact(value))}"


def line_of(step):
    return step["send"] if isinstance(step["send"], str) else compact(step["send"])


def play(binary, scenario):
    """What went wrong, as lines; nothing when all went well."""
    command = [binary, "exec"] + (
        ["--config", compact(scenario["config"])] if "config" in scenario else []
    )
    steps = scenario["steps"]
    try:
        done = subprocess.run(
            command,
            input="".join(line_of(step) + "\n" for step in steps).encode(),
            capture_output=True,
            timeout=SECONDS_MAX,
        )
    except subprocess.TimeoutExpired:
        return [f"no end within {SECONDS_MAX} s"]
    answers = done.stdout.split(b"\n")[:-1]
    problems = []
    if done.returncode != 0:
        problems.append(
            f"exit status {done.returncode}: {done.stderr.decode(errors='replace')[-400:]}"
        )
    if len(answers) != len(steps):
        problems.append(f"{len(steps)} requests, {len(answers)} answers")
    for number, (step, raw) in enumerate(zip(steps, answers), 1):
        expected = step.get("expect", {})
        try:
            found = list(differences(expected, json.loads(raw)))
        except ValueError:
            found = [f"no JSON: {shortened(raw.decode(errors='replace'))}"]
        if expected.get("$bytes", "").encode() not in raw:
            found.append(
                f"expected the bytes {expected['$bytes']}, got {shortened(raw.decode(errors='replace'))}"
            )
        if found:
            problems += [f"step {number}: {shortened(line_of(step), 200)}"] + [
                "  " + line for line in found
            ]
            if raw.startswith(b'{"ok":false'):
                problems.append("  " + shortened(raw.decode(errors="replace")))
    return problems


def main(binary, *files):
    door = os.environ.get("UNDERTEXT_DOOR", "exec")
    passed = failed = 0
    for file in map(pathlib.Path, files):
        for scenario in json.loads(file.read_text(encoding="utf-8")):
            if door not in scenario.get("doors", [door]):
                continue
            problems = play(binary, scenario)
            passed, failed = passed + (not problems), failed + bool(problems)
            if problems:
                print(f"FAIL {file.name}: {scenario['title']}")
                print(*("     " + line for line in problems), sep="\n")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
