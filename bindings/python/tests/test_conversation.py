"""Conversations as a user of the package sees them."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any, Dict

import pytest

import undertext


def say(role: str, content: str) -> dict[str, object]:
    return {"role": role, "content": content}


def filled(n: int = 6) -> undertext.Conversation:
    conversation = undertext.open()
    for i in range(n):
        conversation.append(say("user" if i % 2 == 0 else "assistant", f"message {i}"))
    return conversation


def contents(conversation: undertext.Conversation) -> list[object]:
    return [message["content"] for message in conversation.messages()]


def test_a_message_comes_back_as_it_was_given() -> None:
    message = {
        "role": "user",
        "content": [{"type": "text", "text": 'a\u00e9\U0001f600\n"\\\x01'}],
        "x": [1, -2.5, 1e300, True, None, {"": []}],
        "big": 9007199254740993,
    }
    with undertext.open() as conversation:
        assert conversation.append(message) == 1
        assert conversation.messages() == [message]
        assert list(conversation.messages()[0]) == list(message)


def test_append_takes_one_message_or_several_and_answers_the_version() -> None:
    conversation = undertext.open()
    assert conversation.append(say("user", "one")) == 1
    assert conversation.append([say("user", "two"), say("user", "three")]) == 2
    assert (
        conversation.append(
            say("user", "four"), expected_version=2, description="d", operation_id="o"
        )
        == 3
    )
    assert conversation.version == 3
    assert len(conversation) == 4
    assert conversation.history()[-1]["description"] == "d"


def test_filters_compose() -> None:
    conversation = filled()
    assert [m["content"] for m in conversation.messages(role="user", last=2)] == [
        "message 2",
        "message 4",
    ]
    assert conversation.ordinals(roles=["assistant"], start=1) == [3, 5]
    assert conversation.count(contains="message 1")["count"] == 1
    assert conversation.messages(at_version=1, last=0) == []


def test_every_operation_has_a_method() -> None:
    conversation = filled()
    assert conversation.insert(1, say("user", "in between"))["affectedBatchIndex"] == 1
    conversation.replace(0, say("user", "first"))
    conversation.mark("pinned", indices=[0])
    assert conversation.messages(marked="pinned") == [say("user", "first")]
    conversation.unmark("pinned", indices=[0])
    conversation.delete(ordinals=[5])
    conversation.truncate(keep_last=4)
    conversation.filter(roles=["user"])
    conversation.undo()
    conversation.redo()
    conversation.restore(6)
    conversation.rollback(0)
    assert contents(conversation) == [f"message {i}" for i in range(6)]
    conversation.compress(indices=[0, 1], summary=say("user", "both"))
    assert contents(conversation)[0] == "both"
    conversation.expand(0)
    conversation.merge([0, 2], separator=" + ")
    assert contents(conversation)[0] == "message 0 + message 2"
    conversation.split(0, [9])
    conversation.transform(indices=[0], replace_text={"find": "message", "with": "word"})
    assert contents(conversation)[:2] == ["word 0", " + message 2"]
    batch = conversation.start_batch()["affectedBatchIndex"]
    conversation.append([say("system", "a hint"), say("assistant", "an answer")])
    conversation.end_batch(batch - 1, carry=["assistant"])
    assert contents(conversation)[-1] == "an answer"
    conversation.clear()
    assert contents(conversation) == []
    assert (
        conversation.apply({"operation": "truncate", "truncate": {"keepLast": 1}})["operation"]
        == "TRUNCATE"
    )


def test_a_list_of_operations_is_all_or_nothing() -> None:
    conversation = filled(2)
    with pytest.raises(undertext.InvalidArgumentError) as caught:
        conversation.apply_all(
            [
                {"operation": "UNDO"},
                {"operation": "INSERT", "position": 99, "messages": [say("user", "x")]},
            ]
        )
    assert caught.value.error["operationIndex"] == 1
    assert conversation.version == 2
    assert [
        a["version"] for a in conversation.apply_all([{"operation": "UNDO"}, {"operation": "REDO"}])
    ] == [3, 4]


def test_queries_have_methods() -> None:
    conversation = filled()
    conversation.truncate(keep_last=2)
    assert conversation.state()["currentBatchIndex"] == 1
    assert conversation.stats()["currentBatchMessages"] == 2
    assert conversation.mark_map()["originalIndices"] == [4, 5]
    assert [b["openedBy"] for b in conversation.batches()] == [None, "TRUNCATE"]
    snapshot = conversation.batch_snapshot(0)
    assert snapshot is not None and snapshot["messageCount"] == 6
    assert conversation.batch_snapshot(1) is None
    assert conversation.diff(6, 7)["removed"] == [0, 1, 2, 3]
    assert conversation.blame(0)["visible"] is False
    assert conversation.uncompressed() == []
    assert conversation.tokens()["total"] == conversation.stats()["tokens"]
    assert conversation.fit(budget={"window": 10000})["outcome"] == "fits"
    assert conversation.receipts() == []
    assert conversation.render("openai_chat")["request"]["messages"][-1]["role"] == "assistant"
    assert conversation.validate("openai_chat")["valid"] is True
    assert "result" in conversation.query("cost", from_=6, dialect="anthropic")
    tried = conversation.cost(
        operations=[{"operation": "CLEAR"}], dialect="anthropic", cache_markers="auto"
    )
    assert tried["brokenThinking"] == 0 and tried["savedPerTurn"] > 0
    assert "cache_control" in str(conversation.render("anthropic", cache_markers="auto")["request"])
    conversation.report_usage("r", prompt=10, completion=2)
    kept = conversation.usage()
    conversation.set_usage()
    assert conversation.usage()["totals"]["requests"] == 0
    conversation.set_usage(kept)
    assert conversation.usage() == kept


def test_errors_have_a_class_a_code_and_a_field() -> None:
    conversation = filled(2)
    with pytest.raises(undertext.InvalidArgumentError) as caught:
        conversation.append({"role": "nobody", "content": "x"})
    assert (caught.value.code, caught.value.field) == ("invalid_argument", "role")
    assert isinstance(caught.value, ValueError)
    with pytest.raises(undertext.ConflictError):
        conversation.append(say("user", "x"), expected_version=7)
    with pytest.raises(undertext.NotFoundError):
        conversation.restore(77)
    with pytest.raises(undertext.CannotFitError) as cannot:
        conversation.compress(strategy="sliding_window", target_tokens=1)
    assert cannot.value.error["minimum"] > 1
    with pytest.raises(undertext.InvalidArgumentError) as unknown:
        conversation.messages(rolle="user")  # type: ignore[call-arg]
    assert unknown.value.field == "rolle"
    assert conversation.version == 2
    copied = pickle.loads(pickle.dumps(cannot.value))
    assert (type(copied), copied.error) == (undertext.CannotFitError, cannot.value.error)


def test_a_view_stays_as_it_is() -> None:
    conversation = filled(3)
    view = conversation.view()
    conversation.clear()
    assert len(view) == 3 and view.version == 3 and view[-1]["content"] == "message 2"
    assert [m["content"] for m in view[1:]] == ["message 1", "message 2"]
    assert view.entry(1)["role"] == "assistant"
    assert view.messages(role="user", last=1) == [view[2]]
    with pytest.raises(IndexError):
        view[3]


def test_text_survives_byte_for_byte() -> None:
    conversation = undertext.open()
    text = '{"role" : "user","content":"\\u00e9","n":1.50e+00,"big":123456789012345678901234567890, "cut":"\\ud83d"}'
    conversation.append_text(text)
    assert conversation.view().text(0) == text
    assert conversation.messages()[0]["cut"] == "\ud83d"  # type: ignore[typeddict-item]
    assert conversation.answer_text('{"query":"version"}') == '{"ok":true,"result":1}'
    assert conversation.answer_text(b"\xff").startswith('{"ok":false')


def test_a_fork_goes_its_own_way() -> None:
    conversation = filled(3)
    fork = conversation.fork(2)
    fork.append(say("user", "elsewhere"))
    assert contents(fork) == ["message 0", "message 1", "elsewhere"]
    assert len(conversation) == 3


def test_a_stored_conversation_is_there_again(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'store.db'}"
    with undertext.open(url, "one") as conversation:
        conversation.append(say("user", "kept"))
        assert conversation.id == "one"
        fork = conversation.fork(id="two")
        fork.close()
    with undertext.Store(url) as store:
        assert [c["conversation"] for c in store] == ["one", "two"]
        assert store.check()["damage"] == []
        store.backup(tmp_path / "backup.db")
        with store.open("one", make="never") as again:
            assert contents(again) == ["kept"]
            again.redact([0], who="me", why="a test")
            again.checkpoint()
        with pytest.raises(undertext.NotFoundError):
            store.open("three", make="never")
        store.purge("two", who="me")
        assert [c["conversation"] for c in store.list()] == ["one"]
    with pytest.raises(undertext.InvalidArgumentError):
        store.list()
    with undertext.open(f"sqlite:{tmp_path / 'backup.db'}", "one", read_only=True) as copy:
        assert contents(copy) == ["kept"]
    with undertext.open(url, "one") as conversation:
        with pytest.raises(undertext.UnavailableError):
            undertext.restore_store(url, tmp_path / "backup.db")
        conversation.append(say("user", "later"))
    undertext.restore_store(url, tmp_path / "backup.db")
    with undertext.open(url, "one") as conversation:
        assert contents(conversation) == ["kept"]
    with pytest.raises(undertext.NotFoundError):
        undertext.restore_store(url, tmp_path / "none.db")


def test_a_conversation_goes_out_with_its_history_and_comes_back(tmp_path: Path) -> None:
    with undertext.Store("memory:") as store:
        with store.open("one", settings={"tokenLimit": 1000}) as conversation:
            conversation.append([say("user", "kept"), say("user", "secret")])
            conversation.undo()
            assert conversation.redact([1], who="me", why="a test", derived=True) == {
                "redacted": 1,
                "derived": [],
                "operations": [],
            }
        first, second = io.BytesIO(), io.BytesIO()
        store.export("one", first)
        first.seek(0)
        assert store.import_("two", first)["versions"] == 2
        store.export("two", second)
        assert first.getvalue() == second.getvalue()
        assert store.settings("two") == {"tokenLimit": 1000}
        assert [(r["ordinal"], r["who"]) for r in store.removals("one")] == [(1, "me")]
        store.compact()
        with pytest.raises(undertext.UndertextError) as caught:
            store.import_("three", ["no bytes"])  # type: ignore[list-item]
        assert isinstance(caught.value.__cause__, TypeError)

        def full(data: bytes) -> int:
            raise OSError("the disk is full")

        first.write = full  # type: ignore[assignment]
        with pytest.raises(undertext.InternalError) as failed:
            store.export("one", first)
        assert isinstance(failed.value.__cause__, OSError)


def test_a_function_transforms_messages() -> None:
    conversation = filled(4)

    def shout(message: undertext.Message) -> dict[str, object]:
        return {**message, "content": str(message["content"]).upper()}

    assert (
        conversation.transform(shout, roles=["assistant"], description="loud")["operation"]
        == "TRANSFORM"
    )
    assert contents(conversation) == ["message 0", "MESSAGE 1", "message 2", "MESSAGE 3"]
    broken: Any
    for broken in (
        lambda message: None,
        lambda message: {"role": "user"},
        lambda message: {**message, "x": b""},
    ):
        with pytest.raises(undertext.UndertextError):
            conversation.transform(broken, indices=[0])
    with pytest.raises(ZeroDivisionError):
        conversation.transform(lambda message: {"x": 1 / 0}, indices=[0])
    assert conversation.version == 5


def test_what_is_closed_says_so() -> None:
    conversation = filled(1)
    conversation.close()
    conversation.close()
    assert conversation.closed
    for use in (
        lambda: conversation.append(say("user", "x")),
        lambda: conversation.messages(),
        lambda: conversation.version,
        lambda: conversation.view(),
    ):
        with pytest.raises(undertext.InvalidArgumentError, match="closed"):
            use()


def test_providers_payloads_streams_and_tokens() -> None:
    imported = undertext.import_messages(
        "openai_chat", {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    )
    assert imported["messages"] == [{"role": "user", "content": "hi"}]
    conversation = filled(2)
    rendered = conversation.render("openai_chat")["request"]["messages"]
    after = undertext.import_after(
        conversation.view(),
        {"messages": [*rendered, {"role": "user", "content": "new"}]},
        "openai_chat",
    )
    assert (after["known"], after["messages"]) == (2, [{"role": "user", "content": "new"}])
    assert undertext.validate_request({"messages": rendered}, "openai_chat")["valid"] is True
    assert (
        undertext.validate_request(
            [{"role": "tool", "content": "x", "tool_call_id": "c"}], "openai_chat"
        )["findings"]
        != []
    )
    stream = undertext.Stream("openai_chat")
    stream.feed({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "he"}}]})
    stream.feed('{"choices":[{"index":0,"delta":{"content":"llo"},"finish_reason":"stop"}]}')
    assert stream.result()["message"]["content"] == "hello"
    assert undertext.count_tokens("estimate", "hello world") > 0


def test_a_tool_is_called_by_the_names_that_the_caller_gave() -> None:
    conversation = undertext.open()
    conversation.append([{"role": "user", "content": "go"}])
    tools = [{"type": "function", "function": {"name": "my.tool"}}]
    rendered = conversation.render("openai_chat", request={"tools": tools})
    names = rendered["toolNames"]
    sent = rendered["request"]["tools"][0]["function"]["name"]
    assert names == {sent: "my.tool"}
    answer: Dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": sent, "arguments": "{}"}}
        ],
    }
    stream = undertext.Stream("openai_chat", tool_names=names)
    stream.feed(
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "role": "assistant",
                        "tool_calls": [{"index": 0, **answer["tool_calls"][0]}],
                    },
                }
            ]
        }
    )
    for message in (
        undertext.import_messages("openai_chat", answer, tool_names=names)["messages"][0],
        conversation.import_messages(answer, "openai_chat", tool_names=names)["messages"][0],
        undertext.import_after(
            conversation.view(),
            [{"role": "user", "content": "go"}, answer],
            "openai_chat",
            tool_names=names,
        )["messages"][0],
        stream.result()["message"],
    ):
        assert message["tool_calls"][0]["function"]["name"] == "my.tool"


def test_a_model_looks_into_its_conversation_by_tools() -> None:
    conversation = undertext.open()
    conversation.append(
        [
            {"role": "user", "content": "Where is the token bucket?"},
            {"role": "assistant", "content": "In limiter.cpp."},
        ]
    )
    conversation.delete(ordinals=[0])
    assert [tool["name"] for tool in conversation.tools("anthropic")] == [
        "context_search",
        "context_expand",
        "context_status",
    ]
    assert conversation.tools("gemini")[0]["functionDeclarations"][0]["name"] == "context_search"
    for arguments in ('{"ordinals":[0]}', {"ordinals": [0]}):
        result = conversation.call_tool("context_expand", arguments)
        assert "Where is the token bucket?" in result["text"] and not result["isError"]
    assert "token bucket" in conversation.call_tool("context_search", {"text": "bucket"})["text"]
    assert "Hidden: 1 message;" in conversation.call_tool("context_status")["text"]
    assert conversation.call_tool("context_undo")["isError"]
    assert conversation.version == 2


def test_a_model_brings_tokenizer_costs_profile_and_window() -> None:
    conversation = undertext.open(settings={"model": "Anthropic/Claude-Opus-4.7"})
    model = conversation.model()
    assert (model["known"], model["row"], model["tokenizer"], model["limits"]["window"]) == (
        True,
        "claude-opus-4-7",
        "estimate:claude-4.7",
        1000000,
    )
    assert conversation.fit()["tokensMax"] == 1000000
    assert list(conversation.render()["request"]) == ["messages"]
    assert conversation.model("GPT-5.5") == {**undertext.find_model("gpt-5.5"), "name": "GPT-5.5"}
    assert undertext.find_model("parrot")["known"] is False
    tools = [
        {
            "name": "f",
            "description": "Does it.",
            "input_schema": {"type": "object", "properties": {}},
        }
    ]
    assert (
        conversation.count_tools(tools)
        == undertext.count_tools("claude-opus-4-7", tools)
        == conversation.count_tools(tools, model="claude-opus-4.7")
    )
    undertext.add_models(
        {"models": [{"names": ["magpie-1"], "tokenizer": "estimate", "limits": {"window": 77}}]}
    )
    assert undertext.open(settings={"model": "Magpie-1-latest"}).fit()["tokensMax"] == 77
    with pytest.raises(undertext.InvalidArgumentError, match="line 1, models"):
        undertext.add_models('{"models":[{"names":["a"],"costs":"none"}]}')
