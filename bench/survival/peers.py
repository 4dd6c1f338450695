#!/usr/bin/env python3
"""What other systems keep of the transcripts in tests/digest/long, at the same budget.   peers.py [PERCENT] > table.md

Needs langchain, llama-index-core and autogen-core (PyPI). A token is four characters of JSON on every side. The model that summarises is a stub that answers
one sentence: what is measured is what the systems keep by themselves. `undertext eval` gives the figures of Undertext.
"""

import json
import pathlib
import sys
import time

from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "digest" / "long"
KINDS = [
    "constraints",
    "decisions",
    "request",
    "plan",
    "changedFiles",
    "nextStep",
    "errors",
    "attempts",
    "paths",
    "commands",
]


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if part.get("type") == "text")


def langchain_messages(messages):
    out = []
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        results = [part for part in parts if part["type"] == "tool_result"]
        if message["role"] == "assistant":
            calls = [
                {"id": p["id"], "name": p["name"], "args": p["input"]}
                for p in parts
                if p["type"] == "tool_use"
            ]
            calls += [
                {
                    "id": c["id"],
                    "name": c["function"]["name"],
                    "args": json.loads(c["function"]["arguments"]),
                }
                for c in message.get("toolCalls", [])
            ]
            out.append(AIMessage(content=text_of(content), tool_calls=calls))
        elif message["role"] == "tool":
            out.append(ToolMessage(content=content, tool_call_id=message["toolCallId"]))
        elif results:
            out += [
                ToolMessage(content=part["content"], tool_call_id=part["tool_use_id"])
                for part in results
            ]
        else:
            out.append(HumanMessage(content=text_of(content)))
    return out


def said(message):
    calls = " ".join(
        json.dumps(call["args"], ensure_ascii=False) for call in getattr(message, "tool_calls", [])
    )
    return (text_of(message.content) + " " + calls).replace("\\n", " ").replace('\\"', '"')


def tokens(messages):
    return sum(len(said(message)) + 80 for message in messages) // 4


def summarization(messages, budget):
    model = FakeListChatModel(responses=["The work so far was summarised."])
    middleware = SummarizationMiddleware(
        model=model, trigger=("tokens", 1), keep=("tokens", budget), token_counter=tokens
    )
    for i, message in enumerate(messages):
        message.id = str(i)
    update = middleware.before_model({"messages": messages}, None)
    return update["messages"][1:] if update else messages


def trimmed(messages, budget):
    return trim_messages(
        messages,
        max_tokens=budget,
        token_counter=tokens,
        strategy="last",
        start_on="human",
        include_system=True,
        allow_partial=False,
    )


def cleared(messages, budget):
    edited = list(messages)
    ClearToolUsesEdit(trigger=budget, keep=3).apply(edited, count_tokens=tokens)
    return edited


def chat_messages(messages):
    """Calls as text, since these two know no tools here."""
    names = {HumanMessage: "user", AIMessage: "assistant", ToolMessage: "tool"}
    return [(names[type(message)], said(message)) for message in messages]


class Said:
    tool_calls = ()

    def __init__(self, content):
        self.content = content


def llama_index(messages, budget):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.llms import MockLLM
    from llama_index.core.memory import ChatSummaryMemoryBuffer

    memory = ChatSummaryMemoryBuffer(
        llm=MockLLM(max_tokens=8),
        token_limit=budget,
        tokenizer_fn=lambda text: range((len(text) + 80) // 4),
        count_initial_tokens=False,
    )
    memory.set([ChatMessage(role=role, content=text) for role, text in chat_messages(messages)])
    return [Said(message.content or "") for message in memory.get()]


def autogen(messages, budget):
    import asyncio
    from autogen_core.model_context import HeadAndTailChatCompletionContext
    from autogen_core.models import UserMessage

    texts = [text for _, text in chat_messages(messages)]
    tail = 1
    while (
        tail + 2 < len(texts)
        and tokens([Said(text) for text in texts[:1] + texts[-tail - 1 :]]) <= budget
    ):
        tail += 1
    context = HeadAndTailChatCompletionContext(head_size=1, tail_size=tail)

    async def run():
        for text in texts:
            await context.add_message(UserMessage(content=text, source="x"))
        return await context.get_messages()

    return [Said(message.content) for message in asyncio.run(run())]


SYSTEMS = {
    "LlamaIndex ChatSummaryMemoryBuffer": llama_index,
    "AutoGen HeadAndTailChatCompletionContext": autogen,
    "LangChain SummarizationMiddleware": summarization,
    "LangChain trim_messages": trimmed,
    "LangChain ClearToolUsesEdit": cleared,
}


def is_said(fact, texts):
    """An answer with its question, `"2" (asked:`, is there too where the answer stands as a message of its own."""
    if fact.endswith("(asked:"):
        return any(text.split(" <system-reminder>")[0] == fact.split('"')[1] for text in texts)
    return fact in " ".join(texts)


def main():
    percent = float(sys.argv[1]) if len(sys.argv) > 1 else 15
    files = sorted(FOLDER.glob("*.json"))
    print("| system | " + " | ".join(KINDS) + " | tokens | ms |")
    print("| --- |" + " ---: |" * (len(KINDS) + 2))
    for name, system in SYSTEMS.items():
        kept, all_of, before, after, took = {}, {}, 0, 0, 0.0
        for file in files:
            data = json.loads(file.read_text())
            messages = langchain_messages(data["messages"])
            size = tokens(messages)
            begin = time.process_time()
            left = system(messages, int(size * percent / 100))
            took += time.process_time() - begin
            before += size
            after += tokens(left)
            texts = [" ".join(said(message).split()) for message in left]
            for kind, facts in data["facts"].items():
                kept[kind] = kept.get(kind, 0) + sum(
                    is_said(" ".join(fact.split()), texts) for fact in facts
                )
                all_of[kind] = all_of.get(kind, 0) + len(facts)
        cells = ["%d of %d" % (kept[kind], all_of[kind]) for kind in KINDS]
        print(
            "| %s | %s | %.1f %% | %.1f |"
            % (name, " | ".join(cells), 100 * after / before, 1000 * took / len(files))
        )


if __name__ == "__main__":
    main()
