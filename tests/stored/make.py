#!/usr/bin/env python3
"""Makes the databases and expected answers that stored_releases_test.py holds every later release to.

    make.py BINARY [--as FOLDER] [NAME…]

Run it only with the binary whose stores are to be kept. It writes, beside this file,
RELEASE/NAME.db; RELEASE/NAME.json with all that this binary says of it; exports of some conversations.
Default: the folder of its version, and the stories that this version knows. Between releases, when records
have new tags, the folder is named after the schema and the last tag.
What is there already is the promise to those who have such stores: a later binary never makes it again.
Stories are the same each time, but for the clock.
"""

import hashlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from messages import (
    anthropic_request,
    chat_request,
    function_call,
    gemini_request,
    known_forms,
    node_agents,
    python_agents,
    responses_request,
    result,
)
from reading import conversations, one_file, read_conversation, run

HERE = Path(__file__).parent
DB_BYTES_MAX = 160_000


def say(role, text, **rest):
    return {"role": role, "content": text, **rest}


def op(operation, **arguments):
    return {"operation": operation, **arguments}


class Talk:
    """A conversation of a database, told line by line to one process after another."""

    def __init__(self, story, conversation, config=None, checkpoint=None):
        self.story, self.id = story, conversation
        self.known = story.known.setdefault(conversation, {"labels": [], "operationIds": []})
        self.command = [story.binary, "exec", "--store", f"sqlite:{story.db}", "-c", conversation]
        self.command += ["--config", json.dumps(config)] if config else []
        self.command += ["--checkpoint", str(checkpoint)] if checkpoint else []
        self.process, self.count = None, 0
        self.answer = {
            "stats": {"currentBatchMessages": 0, "totalMessages": 0, "currentBatchIndex": 0},
            "version": 0,
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, line):
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        self.process.stdin.write((json.dumps(line) + "\n").encode())
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        for each in line if isinstance(line, list) else [line]:
            for list_of, field in (("labels", "mark"), ("operationIds", "operationId")):
                value = each.get(field) if answer["ok"] else None
                if value and value not in self.known[list_of]:
                    self.known[list_of].append(value)
        if answer["ok"] and "stats" in answer:
            self.answer = answer
        return answer

    def do(self, *lines):
        """Lines that succeed; the answer to the last."""
        for line in lines:
            answer = self.send(line)
            if not answer["ok"]:
                raise SystemExit(
                    f"{self.id}: {json.dumps(line)[:300]} is refused: {answer['error']}"
                )
        return answer

    def do_with_id(self, *lines):
        """The same; each has an id and, each third, a description."""
        for line in lines:
            self.count += 1
            line = {**line, "operationId": f"op-{self.count}"}
            answer = self.do(
                {**line, "description": f"step {self.count}"} if self.count % 3 == 0 else line
            )
        return answer

    def refused(self, *lines):
        for line in lines:
            if self.send(line)["ok"]:
                raise SystemExit(f"{self.id}: {json.dumps(line)[:300]} is not refused")

    def view(self):
        return self.do({"query": "messages"})

    def close(self):
        """Ends the process as at the end of its input."""
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None

    def kill(self):
        """The process has no time to write a checkpoint."""
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Story:
    """A database in the making."""

    def __init__(self, binary, folder, name):
        self.binary, self.name, self.db, self.folder = (
            str(binary),
            name,
            Path(folder) / f"{name}.db",
            Path(folder),
        )
        self.known, self.recounted = {}, []

    def talk(self, conversation, **options):
        return Talk(self, conversation, **options)

    def cli(self, command, *arguments, code=0):
        return run(self.binary, command, "--store", f"sqlite:{self.db}", *arguments, code=code)

    def redact(self, conversation, *ordinals):
        """Of a redacted conversation all messages are counted again, and their records keep the counts of
        before."""
        self.cli(
            "redact",
            "-c",
            conversation,
            *ordinals,
            "--who",
            "officer",
            "--why",
            "asked for",
            "--yes",
        )

    def imported(self, conversation, request, dialect):
        file = self.folder / "request.json"
        file.write_text(json.dumps(request))
        self.cli("import", file, conversation, "--dialect", dialect)


def talk_of_twelve():
    """A plain conversation."""
    lines = [say("system", "Be brief.")]
    for i in range(1, 6):
        lines += [
            say("user", f"Question {i}: what about alpha {i}?", timestamp=1000 * i),
            say("assistant", f"Answer {i}: beta {i}, with more words than the question had."),
        ]
    return [
        *lines,
        say(
            "user",
            [
                {"type": "text", "text": "A picture: "},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                {"type": "text", "text": " of gamma"},
            ],
        ),
    ]


def operations(story):
    """Every operation with every argument, in three spellings, one by one and in lists, with refused ones
    between."""
    with story.talk("canonical") as talk:
        talk.do_with_id(op("APPEND", messages=talk_of_twelve()))
        talk.refused(
            op("APPEND", messages=[]),
            op("INSERT", position=99, messages=[say("user", "x")]),
            op("NOTHING"),
            op("EXPAND", index=0),
        )
        talk.do_with_id(
            op("INSERT", position=0, messages=[say("system", "First of all")]),
            op(
                "INSERT", position=13, messages=[say("user", "at the end"), say("assistant", "yes")]
            ),
            op(
                "REPLACE",
                index=3,
                message=say("assistant", "Answer 1, edited", id="m3", metadata={"edited": True}),
            ),
            op("APPEND", messages=[say("user", "again", extra=[1, None])]),
            op("MARK", indices=[1, 4], mark="pinned"),
            op("MARK", ordinals=[4, 6], mark="important"),
            op("UNMARK", ordinals=[4], mark="important"),
        )
        for arguments in (
            {"keepFirst": 9},
            {"keepLast": 8},
            {"removeFirst": 2},
            {"removeLast": 3},
            {"range": {"start": 2, "end": 9}},
            {"role": "user", "removeFirst": 0},
            {"role": "assistant", "keepLast": 2},
            {
                "keepFirst": 12,
                "keepLast": 9,
                "removeFirst": 1,
                "removeLast": 1,
                "range": {"start": 1, "end": 5},
            },
            {"keepLast": 10**6},
        ):
            talk.do_with_id(op("TRUNCATE", **arguments), op("UNDO"))
        talk.refused(
            op("TRUNCATE", range={"start": 5, "end": 2}),
            op("TRUNCATE", keepFirst=-1),
            op("DELETE", indices=[1000]),
            op("DELETE", indices=[0], expectedVersion=1),
        )
        for arguments in ({}, {"keepSystemMessage": True}, {"keepSystemMessage": False}):
            talk.do_with_id(op("CLEAR", **arguments), op("UNDO"))
        for arguments in (
            {"roles": ["user"]},
            {"contentContains": ["alpha 2", "gamma"]},
            {"contentExcludes": ["beta"]},
            {"roles": ["user", "system"], "contentContains": ["alpha"], "contentExcludes": ["3"]},
        ):
            talk.do_with_id(op("FILTER", **arguments), op("UNDO"))
        talk.do_with_id(
            op("REDO"),
            op("UNDO"),
            op("DELETE", indices=[5, 3]),
            op("DELETE", ordinals=[9]),
            op("RESTORE", version=3),
            op("RESTORE", version=0),
            op("RESTORE", version=8),
        )
        talk.do_with_id(
            op("COMPRESS", indices=[2, 3], summary=say("user", "Summary of two")),
            op("COMPRESS", ordinals=[7, 8, 9]),
            op("COMPRESS", indices=[1, 2, 6], summary=say("assistant", "Summary of three")),
        )
        talk.do_with_id(
            op("EXPAND", index=1),
            op("EXPAND", index=2),
            op("UNDO"),
            op("UNDO"),
            op("UNDO"),
            op("REDO"),
            op("REDO"),
        )
        talk.refused(op("EXPAND", index=9))
        talk.do_with_id(
            op("RESTORE", version=5),
            op("MERGE", indices=[2, 4]),
            op("MERGE", indices=[5, 7], separator=" — "),
            op("SPLIT", index=2, at=[3, 8]),
        )
        parts = next(
            i for i, m in enumerate(talk.view()["messages"]) if isinstance(m["content"], list)
        )
        talk.do_with_id(op("SPLIT", index=parts, at=[1, 2]))
        talk.do_with_id(
            op("TRANSFORM", indices=[2, 3], replaceText={"find": "Question", "with": "Q"}),
            op(
                "TRANSFORM",
                ordinals=[0],
                truncateText={"maxChars": 4, "keep": "head", "marker": "…"},
            ),
            op("TRANSFORM", roles=["assistant"], truncateText={"maxChars": 9, "keep": "tail"}),
            op(
                "TRANSFORM",
                roles=["user", "assistant"],
                truncateText={"maxChars": 7, "keep": "both", "marker": "<>"},
            ),
            op("TRANSFORM", indices=[1], setMetadata={"a": 1, "b": {"c": None}}),
            op("TRANSFORM", roles=["user"], setMetadata={"a": 2}),
            op("UNDO"),
        )
        talk.do_with_id(
            op("START_BATCH"),
            op(
                "APPEND",
                messages=[
                    say("system", "a hint"),
                    say("user", "with a hint"),
                    say("assistant", "thanks"),
                ],
            ),
            op("END_BATCH", targetBatch=talk.answer["stats"]["currentBatchIndex"]),
        )
        batch = talk.answer["stats"]["currentBatchIndex"]
        talk.do_with_id(
            op("START_BATCH", hidePrior=True),
            op("APPEND", messages=[say("user", "in a batch"), say("assistant", "carried")]),
            op("END_BATCH", targetBatch=batch, carry=["assistant"]),
        )
        talk.do_with_id(
            op("START_BATCH", boundary=talk.answer["stats"]["totalMessages"]),
            op("APPEND", messages=[say("tool", "of no call", toolCallId="none")]),
            op("END_BATCH", targetBatch=batch, carry=["user", "tool"]),
        )
        talk.refused(
            op("START_BATCH", boundary=10**6),
            op("ROLLBACK", targetBatchIndex=10**6),
            op("END_BATCH", targetBatch=10**6),
        )
        talk.do_with_id(
            op("ROLLBACK", targetBatchIndex=max(0, batch - 2)),
            op("ROLLBACK", targetBatchIndex=0),
            op("UNDO"),
            op("UNDO"),
            op("REDO"),
        )
        mark_map = talk.do({"query": "markMap"})["result"]
        talk.do_with_id(
            op("APPEND", messages=[say("user", "after the map")]),
            op("IMPORT_MARK_MAP", markMap=mark_map),
            op("UNDO"),
        )
        talk.do_with_id(
            op(
                "IMPORT_MARK_MAP",
                markMap={
                    "originalIndices": [3, 0, 5],
                    "typeIndices": {"system": [0], "user": [3, 5], "assistant": [], "tool": []},
                    "batchBoundaries": [0, 2, 6],
                    "boundaryToBatch": [0, 1, 2],
                    "currentBatch": 1,
                },
            )
        )
        talk.do_with_id(
            op(
                "APPEND",
                messages=[
                    say("developer", "a developer's"),
                    say("user", "lone surrogate \ud83d and 😀"),
                ],
            ),
            op("TRUNCATE", keepLast=3),
        )
    function_applied(story)
    with story.talk("node") as talk:
        talk.do(
            op("insert", insert={"position": -1, "messages": talk_of_twelve()}),
            op("insert", insert={"position": 2, "messages": [say("user", "two")]}),
            op("replace", replace={"index": 1, "message": say("user", "one")}),
            op("truncate", truncate={"keepLast": 9}),
            op("truncate", truncate={"range": {"start": 1, "end": 8}, "role": "user"}),
            op("UNDO"),
            op("filter", filter={"roles": ["user", "assistant"]}),
            op("clear", clear={"keepSystemMessage": False}),
            op("UNDO"),
            op("filter", filter={"contentContains": ["alpha"]}),
        )
        talk.refused(
            op("truncate", truncate={"keepLast": "9"}),
            op("insert", insert={"position": -2, "messages": [say("user", "x")]}),
        )
    with story.talk("modification") as talk:
        talk.do(
            op("insert", indices=[], data=talk_of_twelve()),
            op("insert", data=say("user", "one more")),
            op("batch_start", indices=[13]),
            op("insert", indices=[0], data=say("system", "focus")),
            op("compress", indices=[3, 1], data=say("assistant", "sum")),
            op("compress", indices=[5, 6]),
            op("delete", indices=[8]),
            op(
                "replace",
                indices=[9, 10],
                data=[say("user", "x"), say("user", "y"), say("user", "z")],
            ),
            op("batch_end", indices=[0]),
            op("UNDO"),
        )
        talk.refused(op("delete", indices=[1000]), op("insert", data=[]))
    with story.talk("lists", checkpoint=3) as talk:
        talk.do(
            [
                op("APPEND", messages=talk_of_twelve(), operationId="l1"),
                op("DELETE", indices=[1], operationId="l2"),
                op("START_BATCH"),
                op("APPEND", messages=[say("user", "listed")]),
            ]
        )
        talk.refused([op("APPEND", messages=[say("user", "lost")]), op("DELETE", indices=[99])])
        talk.do(
            [op("UNDO"), op("UNDO"), op("REDO"), op("MARK", indices=[0], mark="m")],
            [op("CLEAR", description="all at once"), op("RESTORE", version=2)],
            op("APPEND", messages=[say("user", "end")], expectedVersion=10),
        )


def function_applied(story):
    """A TRANSFORM by a function of a C++ program, of which only the results are stored: such records come
    through an export as well."""
    with story.talk("to_export") as talk:
        talk.do(
            op("APPEND", messages=talk_of_twelve()[:5]),
            op("TRANSFORM", indices=[1, 3], replaceText={"find": "Question", "with": "Q"}),
            op("TRANSFORM", roles=["assistant"], replaceText={"find": "Answer", "with": "A"}),
        )
    *lines, end = story.cli("export", "to_export").splitlines()
    lines = [
        line.replace('"replaceText":{"find":"Question","with":"Q"}', '"function":true').replace(
            '"replaceText":{"find":"Answer","with":"A"}', '"function":true'
        )
        for line in lines
    ]
    digest = b""
    for line in lines:
        digest = hashlib.sha256(digest + line.encode()).digest()
    file = story.folder / "function.jsonl"
    file.write_text(
        "\n".join(
            [*lines, json.dumps({**json.loads(end), "digest": digest.hex()}, separators=(",", ":"))]
        )
        + "\n"
    )
    story.cli("import", file, "function")
    with story.talk("function") as talk:
        talk.do(op("UNDO"), op("REDO"), op("DELETE", indices=[2]))


def every_pair(talk, pairs, cut_at=(4, 9, 17)):
    """Each message of a view deleted by itself, and cuts through it, each undone."""
    given = [{"pairs": p} if p else {} for p in pairs]
    size = talk.answer["stats"]["currentBatchMessages"]
    for index in range(size):
        talk.do(op("DELETE", indices=[index], **given[index % len(given)]), op("UNDO"))
    for i, count in enumerate(cut_at):
        for how in given:
            talk.do(
                op("TRUNCATE", **{["keepLast", "keepFirst", "removeFirst"][i % 3]: count}, **how),
                op("UNDO"),
            )
    for how in given:
        talk.do(
            op("FILTER", roles=["user", "assistant", "system"], **how),
            op("UNDO"),
            op("FILTER", roles=["user", "tool"], **how),
            op("UNDO"),
            op("FILTER", contentExcludes=["look", "done"], **how),
            op("UNDO"),
        )


def pairs(story):
    """Tool calls in every form, and operations that hide one half, with `pairs` as argument and setting."""
    everything = [message for messages in known_forms("").values() for message in messages]
    with story.talk("arguments", checkpoint=100) as talk:
        talk.do(
            op("APPEND", messages=[say("system", "s"), say("user", "go")]),
            *[op("APPEND", messages=messages) for messages in known_forms("").values()],
        )
        every_pair(talk, ["literal", "shrink", "grow"])
        talk.do(op("MARK", indices=[3, 8], mark="pinned"))
        talk.do(
            op("DELETE", indices=[2, 9, 12], pairs="shrink"),
            op("TRUNCATE", keepLast=20, pairs="grow"),
            op("REPLACE", index=3, message=result("a", "another result")),
            op("DELETE", indices=[5], pairs="grow"),
        )
        talk.do_with_id(
            op("UNDO"),
            op("TRUNCATE", removeFirst=4),
            op("DELETE", indices=[6], pairs="shrink"),
            op("ROLLBACK", targetBatchIndex=0),
            op("DELETE", indices=[4], pairs="literal"),
        )
    for setting, other in (("shrink", "grow"), ("grow", "literal"), ("literal", "shrink")):
        with story.talk(f"setting_{setting}", config={"pairs": setting}) as talk:
            talk.do(
                op("APPEND", messages=[say("user", "go"), *everything[:24]]),
                op("APPEND", messages=everything[24:]),
            )
            every_pair(talk, [None], cut_at=(11, 13))
            talk.do(
                op("DELETE", indices=[1]),
                op("DELETE", indices=[4], pairs=other),
                op("FILTER", roles=["user", "tool"]),
                op("APPEND", messages=[say("assistant", "x", toolCalls=[function_call("new")])]),
            )
            talk.do(op("UNDO"), op("UNDO"), op("TRUNCATE", keepLast=7))


def edited(talk):
    """What programs do to a conversation that they imported."""
    for strategy in (
        {"name": "keep_recent", "n": 5},
        {"name": "clear_tool_results", "keep": 1},
        {"name": "smart_summary", "keep": 4, "summaryTokens": 200},
    ):
        if talk.send(op("COMPRESS", strategy=strategy))["ok"]:
            talk.do(op("UNDO"))
    view = talk.view()["messages"]
    for i in range(len(view) - 1, 0, -1):
        for j in range(i):
            if view[i]["role"] == view[j]["role"] and talk.send(op("MERGE", indices=[j, i]))["ok"]:
                return talk.do(
                    op("SPLIT", index=j, at=[1])
                    if isinstance(talk.view()["messages"][j]["content"], list)
                    else op("UNDO"),
                    op("TRUNCATE", keepLast=6, pairs="grow"),
                )


def foreign(story):
    """Messages of providers and frameworks, with calls that the engine does not know as such."""
    for name, request, dialect in (
        ("responses", responses_request(), "openai_responses"),
        ("anthropic", anthropic_request(), "anthropic"),
        ("gemini", gemini_request(), "gemini"),
        ("chat", chat_request(), "openai_chat"),
    ):
        story.imported(name, request, dialect)
        with story.talk(name) as talk:
            talk.do(op("MARK", indices=[1], mark="m"))
            every_pair(
                talk,
                ["shrink", "grow"] if name != "responses" else ["shrink", "shrink", "grow"],
                cut_at=(3, 5, 4),
            )
            edited(talk)
    for name, messages in (("python_agents", python_agents()), ("node_agents", node_agents())):
        with story.talk(name) as talk:
            talk.do(op("APPEND", messages=messages[:6]), op("APPEND", messages=messages[6:]))
            every_pair(talk, ["shrink", "grow"], cut_at=(3, 5, 4))
            edited(talk)


def tool_turns(count, words=30):
    lines = [say("system", "You are a coding agent.")]
    for i in range(count):
        lines += [
            say("user", f"Task {i}: edit src/file_{i}.cpp and run the tests"),
            say(
                "assistant",
                None,
                toolCalls=[
                    function_call(f"t{i}", "shell", json.dumps({"command": f"make test_{i}"}))
                ],
            ),
            result(
                f"t{i}",
                f"src/file_{i}.cpp:{i}: error: " + "expected something else " * (words // 3),
            ),
            say(
                "assistant",
                f"Task {i} is done: the error in src/file_{i}.cpp was a missing bracket.",
            ),
        ]
    return lines


STRATEGIES = [
    {"name": "none"},
    {"name": "keep_recent", "n": 6},
    {"name": "keep_system_and_recent", "n": 5},
    {"name": "sliding_window"},
    {"name": "clear_tool_results", "keep": 1},
    {"name": "clear_tool_results", "keep": 2, "exclude": ["read"], "minGain": 5, "late": True},
    {"name": "smart_summary", "keep": 4, "summaryTokens": 150},
    {"name": "smart_summary"},
    {
        "name": "pipeline",
        "steps": [
            {"name": "clear_tool_results", "keep": 1},
            {"name": "smart_summary", "summaryTokens": 100},
            {"name": "sliding_window"},
        ],
    },
    {
        "name": "prefer_cache",
        "dialect": "anthropic",
        "steps": [{"name": "clear_tool_results", "keep": 1}, {"name": "keep_recent", "n": 8}],
    },
]


def compression(story):
    """COMPRESS by every strategy, by hand and by itself; plans with several ranges, since pinned and system
    messages stand between; EXPAND of each summary."""
    with story.talk("strategies", checkpoint=50) as talk:
        lines = tool_turns(8)
        lines.insert(12, say("system", "A reminder in the middle."))
        talk.do(
            op("APPEND", messages=lines),
            op("MARK", indices=[6, 19], mark="pinned"),
            op("MARK", indices=[7], mark="important"),
        )
        for i, strategy in enumerate(STRATEGIES):
            by_target = [{"name": "smart_summary"}, *(s for s in STRATEGIES if "steps" in s)]
            how = {"targetTokens": 500} if strategy in by_target else {}
            if strategy["name"] == "sliding_window":
                how = {"budget": {"window": 900, "reserve": 100, "overhead": 50, "safety": 20}}
            before = talk.do({"query": "version"})["result"]
            talk.do_with_id(op("COMPRESS", strategy=strategy, **how))
            expand_all(talk)
            if i % 2:
                talk.do_with_id(
                    op("APPEND", messages=[say("user", f"and then {i}"), say("assistant", "yes")]),
                    op("DELETE", indices=[1], pairs="shrink"),
                )
            talk.do_with_id(op("RESTORE", version=before))
        talk.refused(
            op("COMPRESS", strategy={"name": "sliding_window"}, targetTokens=1),
            op("COMPRESS", strategy="unknown"),
        )
        talk.do_with_id(
            op("COMPRESS", strategy={"name": "smart_summary", "keep": 12}),
            op("APPEND", messages=tool_turns(2)[1:]),
            op("COMPRESS", strategy={"name": "smart_summary", "keep": 4, "summaryTokens": 120}),
        )
        expand_all(talk, 2)
    with story.talk("by_names") as talk:
        talk.do(
            op("APPEND", messages=tool_turns(4)),
            op("COMPRESS", indices=[1, 2, 3, 4], summary=say("user", "Task 0")),
            op("COMPRESS", indices=[1, 3, 5], summary=say("user", "of a summary and others")),
            op("COMPRESS", ordinals=[9, 16]),
            op("EXPAND", index=1),
            op("EXPAND", index=1),
            op("UNDO"),
            op("ROLLBACK", targetBatchIndex=2),
            op("EXPAND", index=1),
            op("UNDO"),
        )
    automatic = {
        "tokenLimit": 500,
        "compressionConfig": {
            "enabled": True,
            "threshold": 400,
            "targetTokens": 300,
            "strategy": {"name": "smart_summary", "summaryTokens": 100},
        },
    }
    with story.talk("automatic", config=automatic, checkpoint=5) as talk:
        for i, message in enumerate(tool_turns(7)):
            talk.do(op("APPEND", messages=[message], operationId=f"a{i}"))
        talk.do(op("UNDO"), op("APPEND", messages=[say("user", "go on " * 40)]))
    with story.talk(
        "automatic_window", config={"tokenLimit": 200, "compressionConfig": {"enabled": True}}
    ) as talk:
        for message in tool_turns(5, words=12):
            talk.do(op("APPEND", messages=[message]))


def expand_all(talk, most=4):
    """Summaries of the view, each expanded."""
    for index in range(talk.answer["stats"]["currentBatchMessages"] - 1, -1, -1):
        if most and talk.send(op("EXPAND", index=index))["ok"]:
            most -= 1


def filter_redacted(story):
    """FILTER by text, and then redaction of what it matched: the record says what was kept."""
    for name, arguments in (
        ("contains", {"contentContains": ["secret"]}),
        ("excludes", {"contentExcludes": ["secret"]}),
        ("contains_shrink", {"contentContains": ["secret", "go"], "pairs": "shrink"}),
    ):
        with story.talk(name) as talk:
            talk.do(
                op(
                    "APPEND",
                    messages=[
                        say("system", "s"),
                        say("user", "go: the secret is 42"),
                        say("assistant", "noted, no secret", toolCalls=[function_call("f1")]),
                        result("f1", "fine"),
                        say("user", "another secret"),
                        say("assistant", "ok"),
                    ],
                ),
                op("FILTER", **arguments),
                op("APPEND", messages=[say("user", "after")]),
                op("UNDO"),
                op("UNDO"),
                op("TRUNCATE", keepLast=5),
            )
        story.redact(name, 1, 4)
        story.recounted.append(name)


def redaction(story):
    """Redaction of messages of every kind, of those that forks share, after compression; a purged
    conversation."""
    with story.talk("plain", checkpoint=4) as talk:
        talk.do(
            op("APPEND", messages=tool_turns(3)),
            op("APPEND", messages=known_forms("r")["parts"] + known_forms("r")["parallel calls"]),
            op("MARK", indices=[1], mark="pinned"),
            op("COMPRESS", indices=[2, 3, 4], summary=say("user", "what was secret")),
            op("TRANSFORM", roles=["user"], replaceText={"find": "Task", "with": "Job"}),
            op("DELETE", indices=[5], pairs="shrink"),
        )
    story.redact("plain", 1, 2, 3)
    with story.talk("plain") as talk:
        talk.do(
            op("UNDO"),
            op("UNDO"),
            op("EXPAND", index=2),
            op("DELETE", indices=[2], pairs="grow"),
            op("UNDO"),
            op("APPEND", messages=[say("user", "after the redaction")]),
        )
    story.redact("plain", 13, 15, 16)
    story.cli("fork", "-c", "plain", "fork", "--at-version", 3)
    with story.talk("fork") as talk:
        talk.do(
            op("APPEND", messages=[say("user", "in the fork")]),
            op("DELETE", indices=[3], pairs="shrink"),
        )
    story.redact("fork", 4, 5)
    with story.talk("purged") as talk:
        talk.do(op("APPEND", messages=[say("user", "gone")]))
    story.cli("purge", "purged", "--who", "officer", "--why", "asked for", "--yes")
    del story.known["purged"]
    story.known["fork"]["labels"] = story.known["plain"]["labels"]
    story.recounted += ["plain", "fork"]


def forks(story):
    """Forks at several versions, of forks too, all of which go on."""
    with story.talk("origin", checkpoint=6) as talk:
        for i in range(9):
            talk.do(
                op(
                    "APPEND",
                    messages=[say("user", f"Question {i}"), say("assistant", f"Answer {i}")],
                    operationId=f"o{i}",
                )
            )
        talk.do(
            op("DELETE", indices=[3]),
            op("MARK", indices=[2], mark="important"),
            op("COMPRESS", indices=[4, 5, 6], summary=say("user", "S")),
            op("START_BATCH"),
            op("APPEND", messages=known_forms("o")["parallel calls"]),
        )
    for name, at in (
        ("from_0", 0),
        ("from_1", 1),
        ("from_7", 7),
        ("from_12", 12),
        ("from_head", None),
    ):
        story.cli("fork", "-c", "origin", name, *(["--at-version", at] if at is not None else []))
        with story.talk(name, checkpoint=2 if at == 7 else None) as talk:
            talk.do(
                op("APPEND", messages=[say("user", f"another way from {at}")]),
                op("INSERT", position=0, messages=[say("system", name)]),
                op("UNDO"),
                op("MARK", indices=[0], mark="important"),
            )
    with story.talk("origin") as talk:
        talk.do(
            op("UNDO"),
            op("APPEND", messages=[say("user", "the origin goes on")]),
            op("RESTORE", version=9),
        )
        talk.kill()
    for name, at in (("of_a_fork", 8), ("of_a_fork_below", 3)):
        story.cli("fork", "-c", "from_7", name, "--at-version", at)
        with story.talk(name) as talk:
            talk.do(
                op("ROLLBACK", targetBatchIndex=0),
                op("APPEND", messages=[say("user", "deep")]),
                op("TRUNCATE", keepLast=4),
            )
    for known in story.known.values():
        known["labels"] = ["important"]


def pruned(story):
    """Conversations whose first versions were pruned, and that went on."""
    for name, kept in (
        ("versions", ["--keep-versions", 6]),
        ("batches", ["--keep-batches", 2]),
        ("twice", ["--keep-versions", 12]),
    ):
        with story.talk(name, checkpoint=5) as talk:
            talk.do(op("APPEND", messages=tool_turns(2)), op("MARK", indices=[2], mark="pinned"))
            for i in range(6):
                talk.do(
                    op("APPEND", messages=tool_turns(1, words=6)[1:], operationId=f"p{i}"),
                    op("DELETE", indices=[1 + i], pairs="shrink"),
                    op("COMPRESS", indices=[1, 2], summary=say("user", f"S{i}")),
                )
            talk.do(op("REPLACE", index=0, message=say("system", "anew")), op("UNDO"))
            if name == "twice":  # so that nothing needs the messages of the batches above
                talk.do(
                    op("ROLLBACK", targetBatchIndex=0),
                    *[op("APPEND", messages=[say("user", f"q{i}")]) for i in range(12)],
                )
        story.cli("gc", name, *kept, "--yes")
        with story.talk(name) as talk:
            talk.do(
                op("APPEND", messages=[say("user", "after")]),
                op(
                    "ROLLBACK",
                    targetBatchIndex=max(0, talk.answer["stats"]["currentBatchIndex"] - 1),
                ),
                op("UNDO"),
            )
            talk.kill()
    story.cli("gc", "twice", "--keep-versions", 5, "--yes")


def long(story):
    """Hundreds of versions and messages, so that trees have several levels and checkpoints share pages; the
    newest versions are in no checkpoint."""
    with story.talk("appended", checkpoint=64) as talk:
        for i in range(300):
            talk.do(
                op(
                    "APPEND",
                    messages=[say("user" if i % 2 else "assistant", f"{i} " + "word " * (i % 5))],
                )
            )
        talk.do(
            op("TRUNCATE", keepLast=150),
            op("MARK", indices=[70], mark="pinned"),
            op("INSERT", position=75, messages=[say("system", "in the middle")]),
            op("DELETE", indices=list(range(20, 60, 3))),
        )
        talk.do(
            op("APPEND", messages=known_forms("l")["an id used again"]),
            op("TRUNCATE", keepLast=3, pairs="shrink"),
            op("UNDO"),
            op("COMPRESS", indices=list(range(0, 100, 2)), summary=say("user", "S")),
        )
        talk.kill()
    with story.talk("at_once", checkpoint=8) as talk:
        talk.do(
            op(
                "APPEND",
                messages=[
                    message
                    for i in range(40)
                    for message in (
                        say("user", f"q{i}"),
                        say("assistant", None, toolCalls=[function_call(f"x{i % 7}", "f", "{}")]),
                        result(f"x{i % 7}", "r"),
                    )
                ],
            )
        )
        for i in range(20):
            talk.do(op("DELETE", indices=[3 * i + 1], pairs=["shrink", "literal", "grow"][i % 3]))
        talk.kill()
    with story.talk("no_checkpoint") as talk:
        for message in tool_turns(4, words=6):
            talk.do(op("APPEND", messages=[message]))
        talk.do(
            op("DELETE", indices=[2], pairs="shrink"),
            op("FILTER", contentExcludes=["Task 2"], pairs="grow"),
            op("START_BATCH", hidePrior=True),
            op("APPEND", messages=[say("user", "last")]),
        )
        talk.kill()


def settings(story):
    """Tokenizers and limits that are kept with the conversation; one that was counted by another tokenizer
    later."""
    for name, config in (
        ("claude", {"tokenizer": "claude-opus-4-7"}),
        ("gpt", {"tokenizer": "gpt-4o"}),
        ("gemini", {"tokenizer": "gemini-2.5-pro", "tokenLimit": 1000}),
        ("estimate", {"tokenizer": "estimate", "pairs": "grow"}),
        ("limited", {"limits": {"messageBytes": 400}, "tokenLimit": 50}),
    ):
        with story.talk(name, config=config) as talk:
            talk.do(
                op("APPEND", messages=talk_of_twelve()),
                op("TRUNCATE", keepLast=9),
                op("COMPRESS", strategy={"name": "keep_recent", "n": 4}),
            )
            talk.refused(op("APPEND", messages=[say("user", "")]))
            if name == "limited":
                talk.refused(op("APPEND", messages=[say("user", "x" * 500)]))
    with story.talk("counted_again", config={"tokenizer": "estimate"}) as talk:
        talk.do(
            op("APPEND", messages=talk_of_twelve() + known_forms("c")["parts"]),
            op("DELETE", indices=[2], pairs="shrink"),
        )
    with story.talk("counted_again", config={"tokenizer": "claude-opus-4-7"}) as talk:
        talk.do(
            op("APPEND", messages=[say("user", "counted by another")]),
            op("REPLACE", index=1, message=say("user", "as well")),
        )
    story.recounted.append("counted_again")


class Player(random.Random):
    """Random operations; a good part of them is refused."""

    def words(self):
        return " ".join(
            self.choices(
                ["alpha", "beta", "gamma", "δέλτα", "😀", "src/a.cpp", "error:", "done", '"q"'],
                k=self.randint(1, 6),
            )
        )

    def messages(self, step):
        if self.random() < 0.45:
            return self.choice(
                list(known_forms(f"s{step}-" if self.random() < 0.8 else "").values())
            )
        if self.random() < 0.2:
            pool = self.choice([python_agents(), node_agents()])
            start = self.randrange(len(pool))
            return pool[start : start + self.randint(1, 4)]
        return [
            say(self.choice(["system", "user", "user", "assistant", "assistant"]), self.words())
            for _ in range(self.randint(1, 3))
        ]

    def indices(self, size, most=4):
        return sorted(self.sample(range(size), min(size, self.randint(1, most)))) if size else [0]

    def operation(self, step, stats, version):
        size, log, batch = (
            stats["currentBatchMessages"],
            stats["totalMessages"],
            stats["currentBatchIndex"],
        )
        pairs = {"pairs": self.choice(["literal", "shrink", "grow"])} if self.random() < 0.7 else {}
        names = (
            {"indices": self.indices(size)}
            if self.random() < 0.7
            else {"ordinals": self.indices(log)}
        )
        place = self.randrange(size + 1)
        summary = (
            {"summary": say("user", f"[S{step}] " + self.words())} if self.random() < 0.7 else {}
        )
        target = {"targetTokens": self.choice([60, 150, 300, 800])} if self.random() < 0.6 else {}
        cut = {self.choice(["keepFirst", "keepLast"]): self.randint(size // 2, size + 1)}
        if self.random() < 0.4:
            cut = {self.choice(["removeFirst", "removeLast"]): self.randint(0, 4)}
        change = self.choice(
            [
                {"replaceText": {"find": "a", "with": self.choice(["", "A"])}},
                {
                    "truncateText": {
                        "maxChars": self.randint(1, 9),
                        "keep": self.choice(["head", "tail", "both"]),
                        "marker": "…",
                    }
                },
                {"setMetadata": {"n": step}},
            ]
        )
        choices = [
            (9, lambda: op("APPEND", messages=self.messages(step))),
            (2, lambda: op("INSERT", position=place, messages=self.messages(step))),
            (2, lambda: op("REPLACE", index=place, message=self.messages(step)[0])),
            (2, lambda: op("TRUNCATE", **cut, **pairs)),
            (0.5, lambda: op("CLEAR", keepSystemMessage=self.random() < 0.7)),
            (
                1.5,
                lambda: op(
                    "FILTER",
                    **self.choice(
                        [
                            {"roles": self.sample(["system", "user", "assistant", "tool"], 3)},
                            {"contentExcludes": [self.choice(["gamma", "error"])]},
                        ]
                    ),
                    **pairs,
                ),
            ),
            (4, lambda: op("DELETE", **names, **pairs)),
            (2, lambda: op("COMPRESS", **names, **summary)),
            (2, lambda: op("COMPRESS", strategy=self.choice(STRATEGIES[:-1]), **target)),
            (3, lambda: op("EXPAND", index=place)),
            (1, lambda: op("MERGE", indices=self.indices(size, 2))),
            (1, lambda: op("SPLIT", index=place, at=[1])),
            (1, lambda: op("TRANSFORM", **names, **change)),
            (1, lambda: op("START_BATCH", hidePrior=self.random() < 0.3)),
            (
                1,
                lambda: op(
                    "END_BATCH",
                    targetBatch=self.randint(0, batch),
                    carry=self.sample(["user", "assistant", "tool"], 2),
                ),
            ),
            (1, lambda: op("ROLLBACK", targetBatchIndex=self.randint(0, batch))),
            (
                2,
                lambda: op(
                    self.choice(["MARK", "MARK", "UNMARK"]),
                    **names,
                    mark=self.choice(["pinned", "important"]),
                ),
            ),
            (3, lambda: op("UNDO")),
            (2, lambda: op("REDO")),
            (1, lambda: op("RESTORE", version=self.randint(max(0, version - 60), version))),
        ]
        if size > 30:
            choices = [
                (3, lambda: op("TRUNCATE", keepLast=self.randint(8, 20), **pairs)),
                (
                    2,
                    lambda: op(
                        "COMPRESS",
                        strategy={"name": "smart_summary", "keep": 6, "summaryTokens": 80},
                    ),
                ),
                (1, lambda: op("ROLLBACK", targetBatchIndex=max(0, batch - 1))),
            ]
        return self.choices([make for _, make in choices], [weight for weight, _ in choices])[0]()


def random_story(seed, pairs):
    """A story of random steps; every 40 of them the process ends, or is killed."""

    def play(story):
        player, marks = Player(seed), ["pinned", "important"]
        talk = story.talk("random", config={"pairs": pairs}, checkpoint=40)
        for step in range(360):
            line = player.operation(step, talk.answer["stats"], talk.answer["version"])
            if step % 9 == 0:
                line["operationId"] = f"r{step}"
            if step % 17 == 0:
                line["description"] = player.words()
            talk.send(line)
            if step % 40 == 39:
                player.choice([talk.kill, talk.close])()
        talk.kill()
        story.cli("fork", "-c", "random", "fork", "--at-version", 120)
        with story.talk("fork") as fork:
            stats = fork.do({"query": "stats"})["result"]
            for step in range(15):
                fork.send(player.operation(1000 + step, stats, 120))
        talk.known["labels"] = fork.known["labels"] = marks

    return play


def followed(story):
    """Clients that keep their own list, in four dialects: requests that go on, change, go back, drop and come
    again, beside edits of the view; requests and answers that were recorded."""
    asked = [say("user", f"Question {i}: what about alpha {i}?") for i in range(6)]
    answered = [say("assistant", f"Answer {i}: beta {i}.") for i in range(6)]
    turns = [message for pair in zip(asked, answered) for message in pair]
    changed = [*turns[:2], say("user", "Question 1, put otherwise"), *turns[3:5]]
    lists = [
        turns[:1],
        turns[:3],
        turns[:3],
        turns[:5],
        changed,
        [*changed[:1], *turns[4:7]],
        turns[:5],
    ]
    with story.talk("chat", checkpoint=4) as talk:
        for i, messages in enumerate(lists):
            body = {"model": "gpt-4o", "messages": messages}
            # The third is like the second and makes no version, so there is nothing to repeat.
            of = {"operationId": f"c{i}"} if i != 2 else {}
            talk.do(op("RECONCILE", dialect="openai_chat", request=body, **of))
            if i == 3:
                talk.do(
                    op("COMPRESS", indices=[1, 2], summary=say("user", "Sum")),
                    op("MARK", indices=[0], mark="pinned"),
                )
            if i == 5:
                talk.do(op("UNDO"), op("REDO"))
            talk.close()
            record(story, "chat", "openai_chat", body, answer=say("assistant", "noted"))
        talk.do(
            op("APPEND", messages=[say("assistant", "the last answer")]),
            op("ROLLBACK", targetBatchIndex=0),
        )
        talk.kill()
    for conversation, dialect, request in (
        ("anthropic", "anthropic", anthropic_request()),
        ("gemini", "gemini", gemini_request()),
        ("responses", "openai_responses", responses_request()),
    ):
        members = {"gemini": "contents", "openai_responses": "input"}.get(dialect, "messages")
        whole = request[members]
        with story.talk(conversation) as talk:
            for end in (1, 3, len(whole), 3, len(whole)):
                talk.do(op("RECONCILE", dialect=dialect, request={**request, members: whole[:end]}))
            talk.send(op("DELETE", indices=[2], pairs="shrink"))
            talk.send(op("RECONCILE", dialect=dialect, request=request))
        record(story, conversation, dialect, request)
    with story.talk("compacted") as talk:
        talk.do(op("RECONCILE", client="claude_code", request={"messages": turns[:5]}))
        summary = "This session is being continued from a previous conversation that ran out of context. Alpha."
        talk.do(
            op(
                "RECONCILE",
                client="claude_code",
                request={"messages": [say("user", summary), *turns[4:7]]},
            )
        )
        talk.send(op("EXPAND", index=0))
        talk.kill()


def record(story, conversation, dialect, request, answer=None):
    """The raw request, and what it was answered."""
    file, of = story.folder / "request.json", ["--dialect", dialect]
    file.write_text(json.dumps(request))
    if answer:
        said = story.folder / "answer.json"
        said.write_text(
            json.dumps(
                {
                    "id": "r1",
                    "object": "chat.completion",
                    "model": request["model"],
                    "choices": [{"index": 0, "message": answer, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 40, "completion_tokens": 3},
                }
            )
        )
        of += ["--answer", said, "--status", 200, "--response-id", "r1"]
    story.cli("record", "-c", conversation, "--request", file, *of)


def brought_back(story):
    """SHOW, EXPAND by the order of the log, RECALL, plans with a target, summaries of summaries, stubs;
    redaction of what was quoted; a head that was pruned."""
    for name in ("shown", "redacted", "pruned"):
        with story.talk(name, checkpoint=6) as talk:
            talk.do_with_id(
                op("APPEND", messages=tool_turns(3)),
                op("INSERT", position=3, messages=[say("system", "put between")]),
                op("DELETE", indices=[1, 2]),
                op("DELETE", ordinals=[5], pairs="grow"),
                op("MARK", ordinals=[1], mark="important"),
            )
            talk.do_with_id(
                op("SHOW", ordinals=[1]),
                op("UNDO"),
                op("REDO"),
                op("DELETE", indices=[4], pairs="shrink"),
            )
            hidden = sorted(
                set(range(talk.answer["stats"]["totalMessages"])) - set(talk.view()["ordinals"])
            )
            talk.do_with_id(op("SHOW", ordinals=hidden[-2:]))
            talk.refused(
                op("SHOW", ordinals=[talk.view()["ordinals"][0]]), op("SHOW", ordinals=[10**6])
            )
            talk.do_with_id(
                op("COMPRESS", indices=[2, 3, 4, 5], summary=say("user", "Summary of four")),
                op("INSERT", position=3, messages=[say("user", "behind the summary")]),
                op("COMPRESS", indices=[2, 3], summary=say("user", "Summary of a summary")),
            )
            talk.do_with_id(
                op("EXPAND", index=2),
                op("EXPAND", index=2),
                op("SPLIT", index=0, at=[2]),
                op("EXPAND", index=0),
                op("UNDO"),
            )
            talk.do_with_id(
                op(
                    "COMPRESS",
                    strategy={"name": "smart_summary", "keep": 3},
                    targetTokens=200,
                    progress=True,
                ),
                op("RECALL", text="Task file error", budgetTokens=300),
                op("APPEND", messages=tool_turns(1)[1:]),
                op("COMPRESS", strategy={"name": "clear_tool_results", "keep": 0}),
                op("TRANSFORM", roles=["user"], replaceText={"find": "Task", "with": "Job"}),
            )
            talk.refused(op("RECALL", text="of nothing anywhere zzz"))
            talk.do_with_id(
                op("START_BATCH", hidePrior=True),
                op("APPEND", messages=[say("assistant", "carried")]),
                op("END_BATCH", targetBatch=1, carry=["assistant"]),
                op("TRUNCATE", keepLast=4, pairs="grow"),
                op("FILTER", roles=["user"], pairs="shrink"),
                op("ROLLBACK", targetBatchIndex=0),
                op("RESTORE", version=9),
            )
            talk.kill()
    story.redact("redacted", 1, 4)
    story.recounted.append("redacted")
    story.cli("gc", "pruned", "--keep-versions", 8, "--yes")
    with story.talk("pruned") as talk:
        talk.do(op("APPEND", messages=[say("user", "after")]), op("UNDO"))
        talk.kill()


def merged_forks(story):
    """MERGE_FORK in each mode, EXPAND of what was merged, forks of a conversation that merged."""
    with story.talk("origin", checkpoint=5) as talk:
        talk.do(
            op("APPEND", messages=tool_turns(1)),
            op("APPEND", messages=[say("user", "look into it")]),
        )
    for name in ("summarised", "whole", "picked"):
        story.cli("fork", "-c", "origin", name)
        with story.talk(name) as talk:
            talk.do(
                op("APPEND", messages=known_forms(name)["parallel calls"]),
                op("APPEND", messages=[say("assistant", f"{name}: it was the cache")]),
                op("DELETE", indices=[1], pairs="shrink"),
            )
            stored = talk.answer["stats"]["totalMessages"]
    with story.talk("origin") as talk:
        talk.do_with_id(
            op("MERGE_FORK", **{"from": "summarised"}),
            op("APPEND", messages=[say("user", "go on")]),
            op("MERGE_FORK", **{"from": "whole", "mode": "messages"}),
            op("MERGE_FORK", **{"from": "picked", "mode": "pick", "ordinals": [stored - 1]}),
            op("MERGE_FORK", **{"from": "whole", "summary": say("user", "the fork said so")}),
        )
        last = talk.answer["stats"]["currentBatchMessages"] - 1
        talk.do_with_id(
            op("EXPAND", index=last),
            op("UNDO"),
            op("REDO"),
            op("EXPAND", index=last),
            op("COMPRESS", indices=[0, 1], summary=say("user", "S")),
        )
        talk.refused(op("MERGE_FORK", **{"from": "nobody"}))
        talk.kill()
    story.cli("fork", "-c", "origin", "of_what_merged")
    with story.talk("of_what_merged") as talk:
        talk.do(op("APPEND", messages=[say("user", "deep")]), op("DELETE", indices=[0]))


# Since 0.1.0: every operation in the schema of later stores, and what 0.1.0 has no records of.
LATER = {
    "operations": operations,
    "followed": followed,
    "brought_back": brought_back,
    "merged_forks": merged_forks,
}

STORIES = {
    "operations": operations,
    "pairs": pairs,
    "foreign": foreign,
    "compression": compression,
    "filter_redacted": filter_redacted,
    "redaction": redaction,
    "forks": forks,
    "pruned": pruned,
    "long": long,
    "settings": settings,
    "random_literal": random_story(7, "literal"),
    "random_shrink": random_story(11, "shrink"),
}

# Conversations whose export is kept as well: an import finds the other half of a pair again.
EXPORTED = {
    "pairs": ["arguments", "setting_shrink"],
    "foreign": ["responses", "python_agents"],
    "random_shrink": ["random"],
}


def write(path, value):
    """One line for each thing that is said of a conversation, and for each message and version."""

    def lines(thing, depth):
        if depth and isinstance(thing, dict) and thing:
            return (
                "{\n"
                + ",\n".join(
                    f"{json.dumps(key)}:{lines(each, depth - 1)}" for key, each in thing.items()
                )
                + "}"
            )
        if isinstance(thing, list) and any(isinstance(each, (dict, list)) for each in thing):
            return (
                "[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in thing) + "]"
            )
        return json.dumps(thing, separators=(",", ":"))

    path.write_text(lines(value, 3) + "\n")


def make(binary, release, name):
    if (HERE / release / f"{name}.db").exists():
        raise SystemExit(f"{release}/{name}.db is there already")
    with tempfile.TemporaryDirectory() as folder:
        story = Story(binary, folder, name)
        {**STORIES, **LATER}[name](story)
        one_file(story.db)
        if story.db.stat().st_size > DB_BYTES_MAX:
            raise SystemExit(f"{name}.db has {story.db.stat().st_size} bytes")
        (HERE / release).mkdir(exist_ok=True)
        shutil.copyfile(story.db, HERE / release / f"{name}.db")
        expected = {"recounted": story.recounted, "conversations": {}}
        for conversation in conversations(story.db):
            known = story.known[conversation]
            copy = Path(folder) / "copy.db"
            shutil.copyfile(story.db, copy)
            expected["conversations"][conversation] = {
                "known": known,
                **read_conversation(binary, copy, conversation, known),
            }
        write(HERE / release / f"{name}.json", expected)
        for conversation in EXPORTED.get(name, []):
            file = HERE / release / f"{name}.{conversation}.jsonl"
            file.write_text(story.cli("export", conversation))
        said = [f"{c}: {len(e['views'])} versions" for c, e in expected["conversations"].items()]
        print(f"{name}: {story.db.stat().st_size} bytes; {', '.join(said)}", flush=True)


def main(binary, *names):
    release = run(binary, "--version").split()[-1]
    if names and names[0] == "--as":
        _, release, *names = names
    for name in names or (LATER if release != "0.1.0" else STORIES):
        make(binary, release, name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
