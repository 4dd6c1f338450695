"""Agents of Google's ADK with the plugin, and a model that keeps what it was sent."""

from __future__ import annotations

import asyncio
import json
from typing import Any, AsyncGenerator, List

import pytest
from google.adk.agents import Agent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import PrivateAttr

import undertext
from undertext.google_adk import UndertextPlugin

SMALL: Any = {"compressionConfig": {"enabled": True, "threshold": 600}}
FOX = "the quick brown fox jumps over the lazy dog. " * 30


def page(number: int) -> str:
    """Reads a page."""
    return f"page {number}: {FOX}"


class Reading(BaseLlm):
    """Reads ten pages, one after the other, and keeps what it was sent."""

    model: str = "reading"
    then: List[types.FunctionCall] = []
    _sent: List[str] = PrivateAttr(default_factory=list)
    _tools: List[str] = PrivateAttr(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self._sent.append(sent(llm_request.contents))
        self._tools = list(llm_request.tools_dict)
        calls = [types.FunctionCall(name="page", args={"number": n}) for n in range(10)]
        calls += self.then
        made = len(self._sent) - 1
        part = (
            types.Part(function_call=calls[made])
            if made < len(calls)
            else types.Part(text="All read.")
        )
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def sent(contents: List[types.Content]) -> str:
    return json.dumps(
        [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in contents]
    )


def runner_of(model: BaseLlm, *plugins: Any) -> InMemoryRunner:
    agent = Agent(name="reader", model=model, instruction="Be brief.", tools=[page])
    app = App(name="app", root_agent=agent, plugins=list(plugins))
    return InMemoryRunner(app=app)


def run(runner: InMemoryRunner, text: str = "Read ten pages.") -> Any:
    async def asked() -> Any:
        await runner.run_debug(text, user_id="ann", session_id="s", quiet=True)
        return await runner.session_service.get_session(
            app_name="app", user_id="ann", session_id="s"
        )

    return asyncio.run(asked())


def test_every_request_is_within_the_window_and_the_session_has_every_event() -> None:
    model = Reading()
    with undertext.open(settings=SMALL) as conversation:
        session = run(runner_of(model, UndertextPlugin(conversation)))
    assert len(session.events) == 22
    assert sum(FOX in each.model_dump_json() for each in session.events) == 10
    assert max(each.count(FOX) for each in model._sent) == 1
    assert "Read ten pages." in model._sent[-1]


def test_nothing_is_lost_and_a_compaction_can_be_expanded() -> None:
    model = Reading()
    with undertext.open(settings=SMALL) as conversation:
        runner = runner_of(model, UndertextPlugin(conversation))
        run(runner)
        log = json.dumps(conversation.messages(all=True))
        assert all(f"page {n}: {FOX}" in log for n in range(10))
        assert "page 0: " not in model._sent[-1]
        while stubs := [i for i, each in enumerate(conversation) if "EXPAND" in str(each)]:
            conversation.expand(stubs[0])
        run(runner, "And the first?")
    assert "page 0: " in model._sent[-1]


def test_without_edits_the_model_is_sent_equal_contents() -> None:
    one, other = Reading(), Reading()
    with undertext.open() as conversation:
        run(runner_of(one, UndertextPlugin(conversation)))
    run(runner_of(other))
    assert one._sent == other._sent


def test_each_message_is_stored_once() -> None:
    with undertext.open() as conversation:
        runner = runner_of(Reading(), UndertextPlugin(conversation))
        run(runner)
        session = run(runner, "Thanks.")
        stats = conversation.stats()
        assert [stats["totalMessages"], stats["totalBatches"]] == [len(session.events), 1]


def test_a_store_has_a_conversation_for_each_agent_of_a_session(url: str) -> None:
    with undertext.Store(url) as store:
        run(runner_of(Reading(), UndertextPlugin(store, settings=SMALL)))
        assert [each["conversation"] for each in store.list()] == [
            "google-adk.app_2fann_2fs_2freader"
        ]
        with store.open("google-adk.app_2fann_2fs_2freader") as conversation:
            assert "All read." in str(conversation[-1]["content"])


def test_the_model_reads_what_was_hidden_by_the_tools_of_the_conversation() -> None:
    expand = types.FunctionCall(name="context_expand", args={"ordinals": [2]})
    model = Reading(then=[expand])
    settings: Any = {**SMALL, "contextTools": True}
    with undertext.open(settings=settings) as conversation:
        session = run(runner_of(model, UndertextPlugin(conversation)))
    assert set(model._tools) == {"page", "context_search", "context_expand", "context_status"}
    assert "page 0: the quick" in session.events[-2].model_dump_json()


def test_what_the_program_edits_is_what_the_model_sees() -> None:
    model = Reading()
    with undertext.open() as conversation:
        runner = runner_of(model, UndertextPlugin(conversation))
        run(runner, "My password is 1234.")
        conversation.transform(indices=[0], replace_text={"find": "1234", "with": "****"})
        session = run(runner, "Next.")
    assert "****" in model._sent[-1] and "1234" not in model._sent[-1]
    assert "1234" in session.events[0].model_dump_json()


def test_a_request_that_fails_leaves_the_conversation_at_the_question() -> None:
    class Failing(Reading):
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            raise RuntimeError("overloaded")
            yield

    with undertext.open() as conversation:
        with pytest.raises(RuntimeError, match="overloaded"):
            run(runner_of(Failing(), UndertextPlugin(conversation)), "Hello?")
        assert len(conversation) == 1
