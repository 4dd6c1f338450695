"""What is not used is not imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

FOREIGN = (
    "langchain_core",
    "langchain",
    "langgraph",
    "agents",
    "openai",
    "pydantic",
    "pydantic_ai",
    "google.adk",
    "claude_agent_sdk",
)


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        ("undertext", set()),
        ("undertext.langchain", {"langchain_core", "pydantic"}),
        (
            "undertext.langchain_agents",
            {"langchain_core", "langchain", "langgraph", "pydantic"},
        ),
        ("undertext.langgraph", {"langchain_core", "langgraph", "pydantic"}),
        ("undertext.openai_agents", {"agents", "openai", "pydantic"}),
        ("undertext.pydantic_ai", {"pydantic", "pydantic_ai"}),
        ("undertext.google_adk", {"pydantic", "google.adk"}),
        ("undertext.claude_agent_sdk", {"pydantic", "claude_agent_sdk"}),
    ],
)
def test_a_module_imports_what_it_is_for_and_nothing_else(module: str, wanted: set[str]) -> None:
    program = f"import {module}, sys; print(*(name for name in {FOREIGN} if name in sys.modules))"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert set(printed.split()) == wanted
