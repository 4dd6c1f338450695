#!/usr/bin/env python3
"""What Undertext and other systems keep of the transcripts in tests/digest/long and its folders, at the same budget.

    peers.py TEST        TEST is undertext_compression_test, which measures Undertext

Writes bench/results/survival/peers.json and peers.md, and the tables of docs/compression-benchmarks.md.

Needs langchain, llama-index-core and autogen-core (PyPI). A token is four characters of JSON on every side. The model that summarises is a stub that answers
one sentence: what is measured is what the systems keep by themselves.
"""

import importlib.metadata
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "digest" / "long"
RESULTS = ROOT / "bench" / "results" / "survival"
PAGE = ROOT / "docs" / "compression-benchmarks.md"
PERCENTS = (15, 4)
# The folders of transcripts, with the test that measures Undertext on each.
SETS = {".": "LongTranscripts", "chores": "ChoreTranscripts", "fields": "FieldTranscripts"}
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

HEADINGS = [
    "constraints",
    "decisions",
    "request",
    "plan",
    "changed files",
    "next step",
    "errors not fixed",
    "failed attempts",
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
    "LlamaIndex `ChatSummaryMemoryBuffer`": llama_index,
    "AutoGen `HeadAndTailChatCompletionContext`": autogen,
    "LangChain `SummarizationMiddleware`": summarization,
    "LangChain `trim_messages`": trimmed,
    "LangChain `ClearToolUsesEdit`": cleared,
}


def is_said(fact, texts):
    """An answer with its question, `"2" (asked:`, is there too where the answer stands as a message of its own."""
    if fact.endswith("(asked:"):
        return any(text.split(" <system-reminder>")[0] == fact.split('"')[1] for text in texts)
    return fact in " ".join(texts)


def measured(system, percent):
    """What a system keeps, by folder and kind, with its tokens and its time."""
    by_set = {}
    for folder in SETS:
        kept, facts, before, after, took = {}, {}, 0, 0, 0.0
        files = sorted((FOLDER / folder).glob("*.json"))
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
            for kind, values in data["facts"].items():
                kept[kind] = kept.get(kind, 0) + sum(
                    is_said(" ".join(fact.split()), texts) for fact in values
                )
                facts[kind] = facts.get(kind, 0) + len(values)
        by_set[folder] = {
            "transcripts": len(files),
            "before": before,
            "after": after,
            "ms": 1000 * took,
            "kept": kept,
            "facts": facts,
        }
    return by_set


def measured_undertext(test):
    """The same of Undertext, by percent, from what its test prints."""
    by_percent = {percent: {} for percent in PERCENTS}
    for folder, name in SETS.items():
        command = [test, "--gtest_filter=%s.At*" % name]
        # its files are named from the folder it was built in
        output = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, cwd=os.path.dirname(test)
        ).stdout
        for part in re.split(r"^budget ", output, flags=re.MULTILINE)[1:]:
            rows = re.findall(r"^(\w+) +(\d+) +-> (\d+) ", part, re.MULTILINE)
            counts = re.findall(r"^(\w+) +(\d+) of (\d+)$", part, re.MULTILINE)
            mean_ms = float(re.search(r"^a plan takes ([\d.]+) ms", part, re.MULTILINE).group(1))
            by_percent[int(part.split()[0])][folder] = {
                "transcripts": len(rows),
                "before": sum(int(row[1]) for row in rows),
                "after": sum(int(row[2]) for row in rows),
                "ms": mean_ms * len(rows),
                "kept": {kind: int(kept) for kind, kept, _ in counts},
                "facts": {kind: int(facts) for kind, _, facts in counts},
            }
    return by_percent


def total(by_set, folders):
    sums = {"kept": {}, "facts": {}}
    for field in ("transcripts", "before", "after", "ms"):
        sums[field] = sum(by_set[folder][field] for folder in folders)
    for field in ("kept", "facts"):
        for kind in KINDS:
            sums[field][kind] = sum(by_set[folder][field].get(kind, 0) for folder in folders)
    return sums


def table(percent, systems, folders):
    lines = [
        "| at %d %% | " % percent + " | ".join(HEADINGS) + " | tokens left | ms |",
        "| --- |" + " ---: |" * (len(KINDS) + 2),
    ]
    for name, by_percent in systems.items():
        sums = total(by_percent[percent], folders)
        cells = ["%d of %d" % (sums["kept"][kind], sums["facts"][kind]) for kind in KINDS]
        part = 100 * sums["after"] / sums["before"]
        cells.append("%.1f %%" % part + (": the budget is missed" if part > percent + 1 else ""))
        cells.append("%.1f" % (sums["ms"] / sums["transcripts"]))
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    return "\n".join(lines) + "\n"


def setup():
    packages = ("langchain", "langchain-core", "llama-index-core", "autogen-core")
    versions = ", ".join("%s %s" % (name, importlib.metadata.version(name)) for name in packages)
    return "Python %s, %s; %d cores, load %.0f when it ended. Times are of the processor." % (
        platform.python_version(),
        versions,
        os.cpu_count(),
        os.getloadavg()[0],
    )


def main():
    systems = {"Undertext, `default`": measured_undertext(os.path.abspath(sys.argv[1]))}
    for name, system in SYSTEMS.items():
        systems[name] = {percent: measured(system, percent) for percent in PERCENTS}
    RESULTS.mkdir(parents=True, exist_ok=True)
    raw = {"setup": setup(), "systems": systems}
    (RESULTS / "peers.json").write_text(json.dumps(raw, ensure_ascii=False, indent=1) + "\n")
    text = "# What survives, beside other systems\n\nMade by `bench/survival/peers.py`.\n"
    text += raw["setup"] + "\nms are the mean of a transcript.\n"
    for folder in ("all", *SETS):
        text += "\n## %s\n" % (
            ("tests/digest/long/" + folder).removesuffix("/.") if folder in SETS else folder
        )
        for percent in PERCENTS:
            text += "\n" + table(percent, systems, SETS if folder == "all" else [folder])
    (RESULTS / "peers.md").write_text(text)
    page = PAGE.read_text()
    for percent in PERCENTS:
        old = re.compile(r"^\| at %d %% \|.*\n(\|.*\n)+" % percent, re.MULTILINE)
        page = old.sub(lambda _, percent=percent: table(percent, systems, SETS), page)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
