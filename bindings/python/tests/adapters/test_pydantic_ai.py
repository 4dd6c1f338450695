"""An agent of Pydantic AI with the capability, and a model that keeps what it was sent."""

from __future__ import annotations

import json
from typing import Any, List

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_values import json_objects, json_values, texts
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

import undertext
from undertext._pydantic_messages import read, stored
from undertext.pydantic_ai import UndertextHistory

SMALL: Any = {"compressionConfig": {"enabled": True, "threshold": 600}}
FOX = "the quick brown fox jumps over the lazy dog. " * 30


class Reading:
    """A model that reads ten pages, one after the other, and keeps what it was sent."""

    def __init__(self, *then: ToolCallPart) -> None:
        self.sent: List[List[ModelMessage]] = []
        self.tools: List[str] = []
        self._calls = [*(ToolCallPart("page", {"number": n}, f"c{n}") for n in range(10)), *then]

    def __call__(self, messages: List[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(list(messages))
        self.tools = [tool.name for tool in info.function_tools]
        if len(self.sent) > len(self._calls):
            return ModelResponse([TextPart("All read.")])
        return ModelResponse([self._calls[len(self.sent) - 1]])

    def agent(self, *capabilities: Any) -> Agent[None, str]:
        agent = Agent(
            FunctionModel(self), system_prompt="Be brief.", capabilities=list(capabilities)
        )

        @agent.tool_plain
        def page(number: int) -> str:
            return f"page {number}: {FOX}"

        return agent


def text_of(messages: List[ModelMessage]) -> str:
    return ModelMessagesTypeAdapter.dump_json(messages).decode()


def test_every_request_is_within_the_window_and_the_history_has_every_message() -> None:
    model = Reading()
    with undertext.open(settings=SMALL) as conversation:
        result = model.agent(UndertextHistory(conversation)).run_sync("Read ten pages.")
    assert result.output == "All read."
    assert len(result.all_messages()) == 22
    assert text_of(result.all_messages()).count(FOX) == 10
    assert max(text_of(messages).count(FOX) for messages in model.sent) == 1
    assert "Be brief." in text_of(model.sent[-1]) and "Read ten pages." in text_of(model.sent[-1])


def test_nothing_is_lost_and_a_compaction_can_be_expanded() -> None:
    model = Reading()
    with undertext.open(settings=SMALL) as conversation:
        agent = model.agent(UndertextHistory(conversation))
        result = agent.run_sync("Read ten pages.")
        assert all(
            f"page {n}: {FOX}" in json.dumps(conversation.messages(all=True)) for n in range(10)
        )
        assert "page 0: " not in text_of(model.sent[-1])
        while stubs := [i for i, each in enumerate(conversation) if "EXPAND" in str(each)]:
            conversation.expand(stubs[0])
        agent.run_sync("And the first?", message_history=result.all_messages())
    assert "page 0: " in text_of(model.sent[-1])


def test_without_edits_the_model_is_sent_equal_messages() -> None:
    def sent(*capabilities: Any) -> Any:
        model = Reading()
        model.agent(*capabilities).run_sync("Read ten pages.")
        return [
            [
                (part.part_kind, getattr(part, "content", None), getattr(part, "args", None))
                for message in messages
                for part in message.parts
            ]
            for messages in model.sent
        ]

    with undertext.open() as conversation:
        assert sent(UndertextHistory(conversation)) == sent()


def test_each_message_is_stored_once() -> None:
    with undertext.open() as conversation:
        agent = Reading().agent(UndertextHistory(conversation))
        history = agent.run_sync("Read ten pages.").all_messages()
        history = agent.run_sync("Thanks.", message_history=history).all_messages()
        parts = [part for each in history for part in each.parts]
        stats = conversation.stats()
        assert [stats["totalMessages"], stats["totalBatches"]] == [len(parts), 1]


def test_a_store_has_a_conversation_for_each_of_pydantic_ai(url: str) -> None:
    with undertext.Store(url) as store:
        agent = Reading().agent(UndertextHistory(store, settings=SMALL))
        agent.run_sync("Read ten pages.", conversation_id="ann")
        assert [each["conversation"] for each in store.list()] == ["pydantic-ai.ann"]
        with store.open("pydantic-ai.ann") as conversation:
            assert conversation[-1]["content"] == [{"type": "text", "text": "All read."}]


def test_the_model_reads_what_was_hidden_by_the_tools_of_the_conversation() -> None:
    model = Reading(ToolCallPart("context_expand", {"ordinals": [3]}, "c10"))
    settings: Any = {**SMALL, "contextTools": True}
    with undertext.open(settings=settings) as conversation:
        result = model.agent(UndertextHistory(conversation)).run_sync("Read ten pages.")
    assert set(model.tools) == {"page", "context_search", "context_expand", "context_status"}
    assert "page 0: the quick" in str(result.all_messages()[-2].parts[0])


def test_what_the_program_edits_is_what_the_model_sees() -> None:
    model = Reading()
    with undertext.open() as conversation:
        agent = model.agent(UndertextHistory(conversation))
        result = agent.run_sync("My password is 1234.")
        conversation.transform(roles=["user"], replace_text={"find": "1234", "with": "****"})
        agent.run_sync("Next.", message_history=result.all_messages())
    assert "****" in text_of(model.sent[-1]) and "1234" not in text_of(model.sent[-1])
    assert "1234" in text_of(result.all_messages())


EVERY_KIND: List[ModelMessage] = [
    ModelRequest(
        parts=[
            SystemPromptPart("Be brief."),
            UserPromptPart(
                [
                    "Look:",
                    ImageUrl("https://example.com/a.png"),
                    BinaryContent(b"abc", media_type="image/png"),
                    CachePoint(),
                    "and say.",
                ]
            ),
        ],
        instructions="Be kind.",
        metadata={"a": 1},
    ),
    ModelResponse(
        parts=[
            ThinkingPart("hm", signature="s"),
            TextPart("Let me see."),
            ToolCallPart("look", {"at": [1]}, "c1"),
            ToolCallPart("look", '{"at":2}', "c2"),
        ],
        model_name="m",
    ),
    ModelRequest(
        parts=[
            ToolReturnPart("look", {"seen": [1, None]}, "c1"),
            ToolReturnPart("look", "Again.", "c2", outcome="retried"),
        ]
    ),
    ModelResponse(parts=[]),
    ModelRequest(parts=[UserPromptPart("")]),
]


def through(messages: List[ModelMessage]) -> List[ModelMessage]:
    with undertext.open() as conversation:
        texts = stored(ModelMessagesTypeAdapter.dump_python(messages, mode="json"))
        conversation.append_text(f"[{','.join(texts)}]")
        again: List[ModelMessage] = ModelMessagesTypeAdapter.validate_python(
            read(conversation.messages())
        )
    return again


def test_every_kind_of_message_comes_back_equal() -> None:
    again = ModelMessagesTypeAdapter.validate_json(text_of(EVERY_KIND).encode())
    assert through(EVERY_KIND) == again


def test_the_engine_sees_texts_calls_results_and_pictures() -> None:
    with undertext.open() as conversation:
        texts = stored(ModelMessagesTypeAdapter.dump_python(EVERY_KIND, mode="json"))
        conversation.append_text(f"[{','.join(texts)}]")
        kinds = [[block["kind"] for block in each["blocks"]] for each in conversation.blocks()]
        assert kinds[:3] == [
            ["text"],
            ["text", "media", "media", "text"],
            ["reasoning", "text", "call", "call"],
        ]
        assert kinds[3:5] == [["result"], ["result"]]


@given(st.lists(texts | json_values, max_size=4), json_objects)
def test_random_contents_come_back_equal(contents: List[Any], arguments: Any) -> None:
    messages: List[ModelMessage] = [
        ModelRequest(
            parts=[ToolReturnPart("t", content, f"c{n}") for n, content in enumerate(contents)]
        ),
        ModelResponse(
            parts=[
                *map(TextPart, filter(lambda c: isinstance(c, str), contents)),
                ToolCallPart("t", arguments, "d"),
            ]
        ),
    ]
    messages = [each for each in messages if each.parts]
    assert through(messages) == messages


def test_messages_of_other_programs_are_read_by_what_they_say() -> None:
    with undertext.open() as conversation:
        conversation.append(
            [
                {"role": "system", "content": "Be brief."},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "c", "content": "7"}],
                },
            ]
        )
        messages = ModelMessagesTypeAdapter.validate_python(read(conversation.messages()))
    assert [part.part_kind for each in messages for part in each.parts] == [
        "system-prompt",
        "tool-call",
        "tool-return",
    ]
    assert messages[2].parts[0].tool_name == "f"


def test_a_request_that_fails_leaves_the_conversation_at_the_question() -> None:
    def fails(messages: List[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise RuntimeError("overloaded")

    with undertext.open() as conversation:
        agent = Agent(FunctionModel(fails), capabilities=[UndertextHistory(conversation)])
        with pytest.raises(RuntimeError, match="overloaded"):
            agent.run_sync("Hello?")
        assert [each["content"] for each in conversation] == ["Hello?"]
