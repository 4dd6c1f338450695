"""Objects that explain themselves: what they print, what works on them as on a list, what their errors say."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

import undertext
import undertext.sdk
from undertext import aio

USER: Dict[str, Any] = {"role": "user", "content": "Why is the <build> red?"}
ASSISTANT: Dict[str, Any] = {"role": "assistant", "content": "A test fails."}


class Model:
    """As pydantic's are, in what is asked of them."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(
        self, *, mode: str = "python", by_alias: bool = False, exclude_none: bool = False
    ) -> Dict[str, Any]:
        assert (mode, by_alias, exclude_none) == ("json", True, True)
        return {name: value for name, value in self.fields.items() if value is not None}


def talk() -> undertext.Conversation:
    conversation = undertext.open()
    conversation.append([USER, ASSISTANT])
    return conversation


def test_a_conversation_is_a_sequence_of_its_messages() -> None:
    conversation = talk()
    assert list(conversation) == [USER, ASSISTANT]
    assert conversation[0] == USER and conversation[-1] == ASSISTANT
    assert conversation[:1] == [USER] and conversation[::-1] == [ASSISTANT, USER]
    assert USER in conversation and {"role": "user", "content": "other"} not in conversation
    assert Model(**USER, name=None) in conversation
    with pytest.raises(IndexError):
        conversation[2]


def test_objects_say_what_they_are() -> None:
    conversation = talk()
    assert (
        repr(conversation)
        == f"<Conversation: a conversation in memory, version 1, 2 messages, {conversation.stats()['tokens']} tokens>"
    )
    assert repr(conversation.view()).startswith("<View: version 1, 2 messages")
    with undertext.Store("memory:") as store, store.open("support-17") as stored:
        assert repr(store) == "<Store memory:>"
        assert repr(stored).startswith("<Conversation: conversation support-17, version 0")
        assert "support-17" in store and "support-18" not in store
        stored.close()
        assert repr(stored) == "<Conversation: conversation support-17, closed>"
    assert repr(store) == "<Store memory:, closed>"
    html = conversation._repr_html_()
    assert "Why is the &lt;build&gt; red?" in html and "assistant" in html and "<build>" not in html
    assert conversation.view()._repr_html_().count("<tr>") == 2


def test_every_class_of_the_documents_names_its_conversation() -> None:
    with undertext.Store("memory:") as store, store.open("support-17") as stored:
        stored.append(USER)
        manager = undertext.sdk.ConversationManager(conversation=stored)
        said = f"conversation support-17, version 1, 1 messages, {stored.stats()['tokens']} tokens>"
        assert repr(manager) == f"<ConversationManager: {said}"
        assert repr(manager.get_type_index_manager()) == f"<TypeIndexManager: {said}"
        assert repr(manager.get_index_manager()) == f"<MessageIndexManager: {said}"
        assert repr(manager.get_token_usage_tracker()) == f"<TokenUsageTracker: {said}"
        assert (
            repr(undertext.sdk.MessageArrayManager(conversation=stored))
            == f"<MessageArrayManager: {said}"
        )
    assert (
        repr(undertext.sdk.KeepRecentStrategy(3))
        == "<KeepRecentStrategy: {'name': 'keep_recent', 'n': 3}>"
    )


def test_a_stream_says_whether_it_is_complete() -> None:
    stream = undertext.Stream("openai_chat")
    assert repr(stream) == "<Stream: openai_chat, not complete yet>"
    stream.feed(
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {"role": "assistant", "content": "Hi."},
                    "finish_reason": "stop",
                }
            ]
        }
    )
    assert repr(stream) == "<Stream: openai_chat, complete>"


def test_a_store_is_shown_by_its_conversations() -> None:
    with undertext.Store("memory:") as store:
        for number in range(21):
            store.open(f"support-{number:02}").close()
        html = store._repr_html_()
        assert (
            "support-19" in html
            and "support-20" not in html
            and "and more" in html
            and "version 0" in html
        )
    assert "closed" in store._repr_html_()


def test_a_strategy_can_print_whether_it_is_cancelled() -> None:
    said: List[str] = []

    def look(view: undertext.View, target: "int | None", cancel: undertext.Cancel) -> None:
        said.append(repr(cancel))

    conversation = undertext.open(strategies={"mine": look})
    conversation.append([USER, ASSISTANT])
    conversation.compress(strategy="mine")
    assert said == ["<Cancel: not cancelled>"]


def test_a_long_conversation_is_shown_by_its_ends() -> None:
    conversation = undertext.open()
    conversation.append([{"role": "user", "content": f"message {i}"} for i in range(100)])
    html = conversation._repr_html_()
    assert (
        "message 9<" in html
        and "message 50<" not in html
        and "message 99<" in html
        and "80 more" in html
    )


def test_a_password_is_not_shown() -> None:
    with pytest.raises(undertext.UndertextError) as caught:
        undertext.Store("postgres://me:secret@127.0.0.1:1/db?password=hidden")
    assert "secret" not in str(caught.value) and "hidden" not in str(caught.value)


def test_messages_of_pydantic_are_taken() -> None:
    conversation = undertext.open()
    conversation.append(Model(role="user", content="one", name=None))
    conversation.append(
        [Model(role="user", content=[Model(type="text", text="two")])], description="nested"
    )
    conversation.insert(0, Model(role="system", content="zero"))
    assert conversation.messages() == [
        {"role": "system", "content": "zero"},
        {"role": "user", "content": "one"},
        {"role": "user", "content": [{"type": "text", "text": "two"}]},
    ]


def test_a_model_that_cannot_be_dumped_is_refused_with_its_reason() -> None:
    class Broken:
        def model_dump(self, **_: Any) -> Any:
            raise ValueError("no")

    with pytest.raises(undertext.InvalidArgumentError, match=r"model_dump\(\) raised") as caught:
        undertext.open().append(Broken())
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(undertext.InvalidArgumentError, match="messages is of type object"):
        undertext.open().append(object())  # type: ignore[arg-type]


RESPONSES: List[Dict[str, Any]] = [
    {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hi."},
                "finish_reason": "stop",
            }
        ],
    },
    {
        "object": "response",
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Hi."}],
            }
        ],
    },
    {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hi."}],
        "stop_reason": "end_turn",
    },
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}}]},
]


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("settings", [None, {"model": "claude-opus-4-7"}])
def test_the_answer_of_any_provider_is_appended_by_what_it_is(
    response: Dict[str, Any], settings: Any
) -> None:
    conversation = undertext.open(settings=settings)
    conversation.append(USER)
    assert conversation.append_response(Model(**response)) == 2
    assert conversation.append_response(response, description="again") == 3
    for message in conversation.blocks(role="assistant"):
        assert [block["text"] for block in message["blocks"]] == ["Hi."]  # type: ignore[typeddict-item]


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(undertext.InvalidArgumentError):
        undertext.open().append_response({"nothing": 1})


def test_an_answer_of_several_candidates_is_refused() -> None:
    conversation = undertext.open()
    for name, response in (("choices", RESPONSES[0]), ("candidates", RESPONSES[3])):
        with pytest.raises(undertext.InvalidArgumentError, match=f"has 2 {name}") as caught:
            conversation.append_response({**response, name: response[name] * 2})
        assert caught.value.field == name
    assert len(conversation) == 0


CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}


def test_a_message_of_calls_alone_keeps_its_null_content() -> None:
    class Said(Model):
        def __getattr__(self, name: str) -> Any:
            if name not in self.__dict__.get("fields", {}):
                raise AttributeError(name)
            return self.fields[name]

    said = Said(role="assistant", content=None, refusal=None, tool_calls=[CALL])
    kept = {"role": "assistant", "tool_calls": [CALL], "content": None}
    conversation = undertext.open()
    conversation.append(said)
    conversation.append([said, USER])
    assert conversation.messages() == [kept, kept, USER]
    with pytest.raises(undertext.InvalidArgumentError, match="needs content"):
        conversation.append(Said(role="assistant", tool_calls=[CALL]))
    conversation.append_response(Model(choices=[{"message": {**kept, "content": None}}]))
    assert [block["kind"] for block in conversation.blocks(last=1)[0]["blocks"]] == ["call"]


OTHER = """
import sys, undertext
with undertext.open(sys.argv[1], "c") as conversation:
    conversation.append({"role": "user", "content": "from another process"})
"""


def test_every_read_sees_what_another_process_committed(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/s.db"

    def append_elsewhere() -> None:
        subprocess.run([sys.executable, "-c", OTHER, url], check=True, timeout=60)

    with undertext.open(url, "c") as conversation:
        reads: List[Callable[[], int]] = [
            lambda: len(conversation),
            lambda: conversation.version,
            lambda: conversation.stats()["totalMessages"],
            lambda: len(conversation.view()),
            lambda: len(list(conversation)),
            lambda: len(conversation.messages()),
            lambda: conversation.count()["count"],
            lambda: sum(1 for message in conversation if message in conversation),
            lambda: int(repr(conversation).split("version ")[1].split(",")[0]),
            lambda: conversation._repr_html_().count("<tr>"),
            lambda: len(conversation.mark_map()["originalIndices"]),
            lambda: len(conversation.fork()),
        ]
        for number, read in enumerate(reads, 1):
            append_elsewhere()
            assert read() == number
        append_elsewhere()
        assert conversation[len(reads)]["content"] == "from another process"


def test_a_subscriber_reads_what_it_hears_of(tmp_path: Path) -> None:
    with undertext.open(f"sqlite:{tmp_path}/s.db", "c") as conversation:
        read: List[int] = []
        conversation.subscribe(lambda event: read.append(len(conversation)))
        conversation.append(USER)
        assert set(read) == {1}


def test_messages_and_conversations_can_be_iterated_over_by_asyncio() -> None:
    async def main() -> None:
        async with aio.Store("memory:") as store:
            async with store.open("support-17") as conversation:
                await conversation.append(Model(**USER))
                assert [message async for message in conversation] == [USER]
                assert repr(conversation) == "<Conversation: conversation support-17, version 1>"
                assert "Why is the" in conversation._repr_html_()
                async with conversation.events() as events:
                    assert repr(events) == "<Events: 0 waiting>"
            assert [record["conversation"] async for record in store] == ["support-17"]
            assert "support-17" in (store._repr_html_() or "")

    asyncio.run(main())


def test_printing_a_conversation_of_asyncio_does_not_ask_its_store(tmp_path: Path) -> None:
    async def main() -> None:
        url = f"sqlite:{tmp_path}/s.db"
        async with aio.open(url, "c") as conversation:
            with undertext.open(url, "c") as other:
                other.append(USER)
            assert repr(conversation) == "<Conversation: conversation c, version 0>"
            assert len(await conversation.messages()) == 1
            assert repr(conversation) == "<Conversation: conversation c, version 1>"
        assert repr(conversation) == "<Conversation: conversation c, closed>"

    asyncio.run(main())


def test_errors_name_arguments_as_the_caller_spells_them() -> None:
    conversation = talk()
    with pytest.raises(undertext.InvalidArgumentError, match="keep_last") as caught:
        conversation.truncate(keep_last=-1)
    assert caught.value.field == "keep_last" and caught.value.error["field"] == "keepLast"
    with pytest.raises(undertext.ConflictError) as conflict:
        conversation.append(USER, expected_version=7)
    assert conflict.value.field == "expected_version"
    # What the caller spells as the protocol does is named so.
    with pytest.raises(undertext.InvalidArgumentError) as applied:
        conversation.apply({"operation": "TRUNCATE", "keepLast": -1})
    assert applied.value.field == "keepLast"
    with pytest.raises(undertext.InvalidArgumentError) as nested:
        conversation.compress(strategy={"name": "smart_summary", "summaryTokens": "x"})
    assert nested.value.field == "summaryTokens" and "summaryTokens" in nested.value.message
    with pytest.raises(undertext.InvalidArgumentError, match="at_version") as read:
        conversation.view().messages(at_version=-1)
    assert read.value.field == "at_version"


def test_what_the_manual_calls_is_there() -> None:
    page = (Path(__file__).parents[3] / "docs/coming-from.md").read_text(encoding="utf-8")
    called = set(re.findall(r"`(?:\*\*)?chat\.(\w+)\(", page))
    called |= set(re.findall(r"`(\w+)\([a-z]*\)`", page)) - {"add", "search"}  # mem0's
    assert {"append", "compress", "fork", "history", "blame"} <= called
    for name in called:
        assert callable(getattr(undertext.Conversation, name, None)), name


def test_a_closed_store_has_no_answer_to_what_is_in_it() -> None:
    store = undertext.Store("memory:")
    store.open("here")
    assert "here" in store and "there" not in store and 7 not in store and "\0" not in store
    store.close()
    with pytest.raises(undertext.InvalidArgumentError, match="closed"):
        assert "here" not in store


def test_errors_name_arguments_in_the_words_of_python_and_leave_what_is_quoted() -> None:
    conversation = talk()
    with pytest.raises(undertext.InvalidArgumentError, match="target_tokens") as caught:
        conversation.compress(target_tokens="targetTokens")  # type: ignore[arg-type]
    assert '"targetTokens"' in caught.value.message
    assert caught.value.field == "target_tokens"


def test_errors_name_what_is_closed() -> None:
    with undertext.Store("memory:") as store:
        conversation = store.open("support-17")
        conversation.close()
        with pytest.raises(
            undertext.InvalidArgumentError, match="conversation support-17 is closed"
        ):
            conversation.messages()
        assert conversation.id == "support-17"
    with pytest.raises(undertext.InvalidArgumentError, match="store memory: is closed"):
        store.list()


class Mine(Exception):
    pass


def test_an_exception_of_a_strategy_keeps_its_type_and_traceback() -> None:
    def chooses_badly(*_: object) -> None:
        raise Mine("no plan today")

    conversation = undertext.open(strategies={"mine": chooses_badly})
    conversation.append([USER, ASSISTANT])
    with pytest.raises(Mine, match="^no plan today$") as caught:
        conversation.compress(strategy="mine")
    assert "chooses_badly" in [
        frame.name for frame in traceback.extract_tb(caught.value.__traceback__)
    ]
    assert conversation.version == 1


def test_a_mistyped_path_makes_no_folders(tmp_path: Path) -> None:
    with pytest.raises(undertext.NotFoundError, match="there is no folder"):
        undertext.open(f"sqlite:{tmp_path}/mistyped/deep/agent.db", "c")
    assert list(tmp_path.iterdir()) == []
