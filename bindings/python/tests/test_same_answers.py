"""Every scenario gets the same answers through the package as from `undertext exec`: as text to the byte, as objects to the value."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, List

import pytest

import undertext

SCENARIOS = Path(__file__).parents[3] / "tests" / "scenarios"
BINARY = os.environ.get("UNDERTEXT_BINARY", "")


def line_of(send: Any) -> str:
    return (
        send
        if isinstance(send, str)
        else json.dumps(send, ensure_ascii=False, separators=(",", ":"))
    )


def without_times(answer: str) -> str:
    """Arrivals differ from run to run; all other bytes may not."""
    return re.sub(r"\b1[5-9]\d{11}\b", "TIME", answer)


def answered_by_exec(lines: List[str], config: Any) -> List[str]:
    command = [BINARY, "exec", *(["--config", json.dumps(config)] if config is not None else [])]
    done = subprocess.run(
        command,
        input="".join(line + "\n" for line in lines).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode().split("\n")[:-1]


@pytest.mark.skipif(not BINARY, reason="UNDERTEXT_BINARY does not name the command")
@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.json")), ids=lambda file: file.stem)
def test_the_answers_of_a_scenario_are_those_of_exec(file: Path) -> None:
    for scenario in json.loads(file.read_text(encoding="utf-8")):
        if "doors" in scenario:
            continue
        config = scenario.get("config")
        lines = [line_of(step["send"]) for step in scenario["steps"]]
        expected = answered_by_exec(lines, config)
        with undertext.open(settings=config) as conversation:
            said = [conversation.answer_text(line) for line in lines]
        assert [*map(without_times, said)] == [*map(without_times, expected)], scenario["title"]
        with undertext.open(settings=config) as conversation:
            for line, answer in zip(lines, expected):
                assert without_times(answer_of_object(conversation, line)) == without_times(
                    spelled(json.loads(answer))
                ), line


def spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def answer_of_object(conversation: undertext.Conversation, line: str) -> str:
    """The request read by Python's json and written by the package; where that would not be the same request, the line itself."""
    try:
        request = json.loads(line)
        as_text = not isinstance(request, (dict, list)) or has_what_python_changes(line)
    except (ValueError, RecursionError):
        as_text = True
    if as_text:
        return spelled(json.loads(conversation.answer_text(line)))
    try:
        return spelled(conversation.apply(request))
    except undertext.UndertextError as error:
        return spelled({"ok": False, "error": error.error})


def has_what_python_changes(line: str) -> bool:
    """Keys twice, numbers and escapes whose spelling matters, white space that byte offsets count."""
    keys: List[str] = []

    def pairs(members: Any) -> Any:
        keys.extend("twice" for _ in range(len(members) - len(dict(members))))
        return dict(members)

    json.loads(line, object_pairs_hook=pairs)
    return bool(keys) or bool(re.search(r"\\u[dD][89a-fA-F]|\d[eE.]|\d{17}|NaN|Infinity|-0", line))
