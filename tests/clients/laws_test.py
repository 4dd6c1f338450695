#!/usr/bin/env python3
"""The laws of RECONCILE (docs/clients.md), seen from outside: random clients in four dialects through `undertext exec`.

    [SEED=n] [RUNS=n] laws_test.py BINARY

A client appends, retries, rewinds, changes its tail or any message, drops the middle, inserts and compacts; it spells every request anew. Between
its requests the conversation is edited. Some conversations are kept in a store and opened again. src/history has the same laws against the values;
here the dialects, the profiles and the protocol take part. A failure prints its SEED, and the lines that lead to it.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from spelling import LISTS, Speller, said

CLIENTS = {
    "anthropic": ["anthropic", "claude_code"],
    "openai_chat": ["openai_chat"],
    "openai_responses": ["openai_responses", "codex"],
    "gemini": ["gemini", "gemini_cli"],
}
# By which a request that holds only what is new says what it goes on with.
REFERENCES = {
    "gemini": [{"cachedContent": "c"}, {"cached_content": "c"}],
    "openai_responses": [
        {"previous_response_id": "r"},
        {"conversation": "conv_1"},
        {"conversation": {"id": "conv_1"}},
    ],
}
SUMMARIES = {
    "claude_code": "This session is being continued from a previous conversation ",
    "codex": "Another language model started to solve this problem ",
    "gemini_cli": "<state_snapshot> ",
}


class Engine:
    def __init__(self, program, *options):
        self.command, self.lines = [program, "exec", *options], []
        self.open()

    def open(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0

    def try_to(self, line):
        self.lines.append(json.dumps(line))
        self.process.stdin.write(self.lines[-1] + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, query, **more):
        answer = self.try_to({"query": query, **more})
        assert answer["ok"], answer
        return answer.get("result", answer)

    def apply(self, operation, **more):
        answer = self.try_to({"operation": operation, **more})
        assert answer["ok"], answer
        return answer


class State:
    """All that an answer of the engine can tell."""

    def __init__(self, engine, dialect):
        view = engine.ask("messages")
        self.view, self.messages = view["ordinals"], view["messages"]
        self.visible = set(self.view)
        self.log = [
            json.dumps(each, ensure_ascii=False)
            for each in engine.ask("messages", all=True)["messages"]
        ]
        self.version = engine.ask("version")
        self.batches = engine.ask("stats")["totalBatches"]
        self.marks = [
            engine.ask("messages", all=True, marked=mark)["ordinals"] for mark in ("pinned", "m")
        ]
        self.rendered = engine.ask("render", dialect=dialect, repair=False)["request"]


class Story:
    def __init__(self, program, seed, folder):
        self.chance = chance = random.Random(seed)
        self.dialect = list(CLIENTS)[seed % 4]
        self.clients = (
            [chance.choice(CLIENTS[self.dialect])]
            if chance.random() < 0.7
            else CLIENTS[self.dialect]
        )
        self.speller = Speller(chance, self.dialect)
        self.is_stored = seed % 5 == 0
        self.engine = Engine(
            program,
            *(
                ["--store", f"sqlite:{folder}/{seed}.db", "--conversation", "c"]
                if self.is_stored
                else []
            ),
        )
        self.is_unique = chance.random() < 0.6  # no text twice
        self.is_edited_by_others = chance.random() < 0.65
        self.is_edited = False  # whether anything but RECONCILE happened yet
        self.has_unsent = False  # whether others added messages since the client's list changed
        self.made = {}  # ordinals of messages that edits made, and of those that they stand for
        self.next = 0
        self.list = [{"kind": "system", "text": self.token("S")}] if chance.random() < 0.8 else []
        self.sent, self.earlier = None, [list(self.list)]
        self.left_out = []  # answers that the client does not send, each with what stood before it
        self.summary = None  # the text of its newest one

    def token(self, what):
        self.next += 1
        return f"{what} <{self.next}>"

    # The client

    def fresh(self):
        if not self.is_unique and self.chance.random() < 0.35:
            return [
                {
                    "kind": self.chance.choice(["user", "assistant"]),
                    "text": self.chance.choice(["yes", "go on"]),
                }
            ]
        kind = self.chance.choices(
            ["user", "image", "assistant", "thought", "system", "call"], [8, 2, 8, 2, 1, 5]
        )[0]
        if kind == "system" and (self.dialect == "gemini" or not self.list):
            kind = "user"
        if kind == "image":
            return [{"kind": "user", "text": self.token("t"), "image": str(self.next)}]
        if kind != "call":
            return [{"kind": kind, "text": self.token("t")}]
        calls = []
        for _ in range(1 if self.dialect == "openai_responses" else self.chance.randint(1, 2)):
            id = f"call_{self.next}" if self.is_unique or self.chance.random() < 0.7 else "again"
            calls.append(
                {
                    "id": id,
                    "arguments": {
                        "n": self.chance.randrange(9),
                        "of": [1, 2.5, True, None],
                        "q": self.token('é "'),
                    },
                }
            )
        results = [{"kind": "result", "id": call["id"], "text": self.token("r")} for call in calls]
        return [
            {
                "kind": "call",
                "text": self.token("t") if self.dialect in ("anthropic", "gemini") else "",
                "calls": calls,
            },
            *results,
        ]

    def change_list(self):
        chance, messages = self.chance, self.list
        self.is_compacted = False
        what = chance.choice(
            "retry rewind earlier replace tail drop insert compact compact swap prompt append append append".split()
        )
        place = chance.randrange(len(messages) + 1)
        if chance.random() < 0.3:
            self.take_left_out()
        if what == "rewind":
            del messages[place:]
        elif what == "earlier":
            self.list = messages = list(chance.choice(self.earlier))
        elif what == "replace" and place < len(messages):
            messages[place : place + 1] = self.fresh()[:1]
        elif what == "tail":
            messages[-1:] = self.fresh()
        elif what == "drop":
            del messages[place : place + chance.randint(1, 5)]
        elif what == "insert":
            messages[place:place] = self.fresh()
        elif what == "compact":
            self.compact()
        elif what == "swap" and not self.is_unique and messages:
            messages.insert(place, messages.pop())
        elif what == "prompt" and messages and messages[0]["kind"] == "system":
            messages[0] = {"kind": "system", "text": self.token("S")}
        if what != "retry":
            for _ in range(chance.randrange(4)):
                self.list += self.fresh()
        if self.dialect == "gemini":  # which has no system messages in the middle
            self.list = [
                each for i, each in enumerate(self.list) if i == 0 or each["kind"] != "system"
            ]

    def take_left_out(self):
        """An answer that was left out turns up where it was given."""
        if self.left_out:
            before, answer = self.left_out.pop(self.chance.randrange(len(self.left_out)))
            place = self.list.index(before) + 1 if before in self.list else 0
            behind = self.list[place:]
            # Older messages may have come back there, or another answer took its place.
            is_newest = all(self.number(each) > self.number(answer) for each in behind)
            if place and is_newest and (not behind or behind[0]["kind"] == "user"):
                self.list.insert(place, answer)

    @staticmethod
    def number(message):
        found = re.search(r"<(\d+)>", message["text"])
        return int(found.group(1)) if found else 0

    def answer(self):
        """The conversation gets an answer, and mostly the client has it too."""
        if not self.sent:
            return
        message = {"kind": "assistant", "text": self.token("answer")}
        self.engine.apply("APPEND", messages=[{"role": "assistant", "content": message["text"]}])
        self.has_unsent = True
        if self.chance.random() < 0.7:
            self.list.append(message)
        elif self.sent:
            self.left_out.append((self.sent[-1], message))

    def compact_by_answer(self):
        """The provider's answer is a compaction of what was sent last, and comes back behind what that keeps."""
        if not self.sent or self.dialect not in ("anthropic", "openai_responses"):
            return
        messages = self.sent
        first = 1 if messages[0]["kind"] == "system" else 0
        if len(messages) < first + 3:
            return
        summary = {"kind": "compaction", "text": self.token("C")}
        item = self.speller.message(summary)
        content = (
            item["content"]
            if self.dialect == "anthropic"
            else [{"type": "openai_responses", "item": item}]
        )
        self.engine.apply("APPEND", messages=[{"role": "assistant", "content": content}])
        self.has_unsent = True
        kept = [
            each
            for each in messages[first:]
            if each["kind"] == "user" and self.dialect == "openai_responses"
        ]
        self.list = messages[:first] + kept + [summary]
        self.is_compacted = len(kept) < len(messages) - first
        self.summary, self.left_out = summary["text"], []
        if self.chance.random() < 0.5:
            self.list.append({"kind": "user", "text": self.token("t")})

    def compact(self):
        texts = SUMMARIES.get(self.client)
        first = 1 if self.list and self.list[0]["kind"] == "system" else 0
        if len(self.list) < first + 3 or not (
            texts or self.dialect in ("anthropic", "openai_responses")
        ):
            return
        by_text = texts and (self.client != "codex" or self.chance.random() < 0.5)
        summary = (
            {"kind": "summary", "text": texts + self.token("C")}
            if by_text
            else {"kind": "compaction", "text": self.token("C")}
        )
        end = self.chance.randint(first + 1, len(self.list))
        kept = (
            [each for each in self.list[first:end] if each["kind"] == "user"]
            if self.chance.random() < 0.5
            else []
        )
        self.is_compacted = len(kept) < end - first
        self.summary, self.left_out = summary["text"], []
        self.list = self.list[:first] + kept + [summary] + self.list[end:]

    # Others

    def edit(self):
        engine, chance = self.engine, self.chance
        for _ in range(chance.randrange(3)):
            view, stats = engine.ask("messages")["ordinals"], engine.ask("stats")
            index, ordinal = (
                chance.randrange(max(1, len(view))),
                chance.randrange(max(1, stats["totalMessages"])),
            )
            summary = {"role": "user", "content": self.token("made")}
            if chance.random() < 0.07:
                self.answer()
                continue
            operation, more = chance.choice(
                [
                    (
                        "COMPRESS",
                        {
                            "indices": list(
                                range(index, min(len(view), index + chance.randint(1, 5)))
                            ),
                            "summary": summary,
                        },
                    ),
                    (
                        "COMPRESS",
                        {
                            "indices": list(
                                range(index, min(len(view), index + chance.randint(1, 5)))
                            ),
                            "summary": summary,
                        },
                    ),
                    ("SHOW", {"ordinals": [ordinal]}),
                    ("DELETE", {"indices": [index]}),
                    ("EXPAND", {"index": index}),
                    ("MARK", {"ordinals": [ordinal], "mark": chance.choice(["pinned", "m"])}),
                    ("UNMARK", {"ordinals": [ordinal], "mark": "m"}),
                    ("TRANSFORM", {"indices": [index], "replaceText": {"find": "t", "with": "T"}}),
                    ("REPLACE", {"index": index, "message": summary}),
                    ("TRUNCATE", {"keepLast": chance.randint(1, 8)}),
                    ("RECALL", {"text": "t", "budgetTokens": 60}),
                    ("UNDO", {}),
                    ("REDO", {}),
                    ("ROLLBACK", {"targetBatchIndex": chance.randrange(stats["totalBatches"])}),
                    ("RESTORE", {"version": chance.randrange(engine.ask("version") + 1)}),
                ]
            )
            done = engine.try_to({"operation": operation, **more})
            if not done["ok"]:
                continue
            self.is_edited = True
            after = engine.ask("messages")["ordinals"]
            if operation in ("COMPRESS", "TRANSFORM", "REPLACE"):
                gone = [each for each in view if each not in after]
                self.made.update({each: gone for each in after if each >= stats["totalMessages"]})
            if operation == "RECALL":
                self.has_unsent = True
            if operation == "RECALL":  # it quotes others, and stands for none
                self.made.update({each: [] for each in after if each >= stats["totalMessages"]})

    # The laws

    def reconcile(self, body):
        return self.engine.apply("RECONCILE", client=self.client, request=body)

    def send(self):
        engine, before = self.engine, State(self.engine, self.dialect)
        body = self.speller.body(self.list)
        answer = self.reconcile(body)
        after, outcome = State(engine, self.dialect), answer["outcome"]
        self.has_unsent &= outcome == "same"
        assert after.version == answer["version"] == before.version + (outcome != "same"), (
            "law 2: one version"
        )
        assert after.batches == before.batches + (outcome in ("edited", "compacted")), (
            "a batch for anything but appends"
        )
        assert outcome != "same" or after.view == before.view, (
            "law 2: the same request changes nothing"
        )
        for again in (body, self.speller.body(self.list)):
            done = self.reconcile(again)
            assert (done["outcome"], done["version"]) == ("same", after.version), (
                "laws 2 and 4: the same in another spelling",
                done,
            )
        if not self.is_edited:
            assert said(self.dialect, after.rendered) == said(self.dialect, body), (
                "law 1",
                said(self.dialect, after.rendered),
                said(self.dialect, body),
            )
        assert len(after.log) - len(before.log) <= answer["added"], (
            "law 3: no more is stored than is new"
        )
        assert after.log[: len(before.log)] == before.log, "law 3: nothing is lost"
        assert after.marks == before.marks, "law 3: marks stay"
        if outcome == "appended":
            self.check_prefix(before, after)
        if self.is_unique:
            self.check_messages(before, after, outcome)
        if outcome == "compacted":
            self.check_expand(before, after)
        if outcome != "same" and self.chance.random() < 0.4:
            self.check_undo(before, after, body)
        if self.is_stored and self.chance.random() < 0.3:
            then = State(engine, self.dialect)
            engine.close()
            engine.open()
            assert vars(State(engine, self.dialect)) == vars(then), (
                "a conversation that is opened again is as it was"
            )
            assert self.reconcile(body)["outcome"] == "same", "and so is the client list"
        self.sent = list(self.list)
        self.earlier.append(self.sent)

    def check_prefix(self, before, after):
        assert after.view[: len(before.view)] == before.view, "law 6: new messages go to the end"
        then, now = before.rendered[LISTS[self.dialect]], after.rendered[LISTS[self.dialect]]
        # The last one may go on: turns of one role are one turn in some dialects.
        assert list(map(json.dumps, now[: max(0, len(then) - 1)])) == list(
            map(json.dumps, then[:-1])
        ), "law 6: the rendered prefix"

    def ordinals(self, state, message):
        """Where the log has what the client says, and not what edits made of it."""
        if message["kind"] == "call":
            wanted, role = f'"{message["calls"][0]["id"]}"', '{"role": "assistant"'
        else:
            wanted, role = re.search(r"<\d+>", message["text"]).group(0), "{"
        return [
            i
            for i, text in enumerate(state.log)
            if wanted in text and text.startswith(role) and i not in self.made
        ]

    def check_messages(self, before, after, outcome):
        def key(message):
            return json.dumps(message, sort_keys=True)

        places = {each: place for place, each in enumerate(after.view)}
        kept = {key(each) for each in self.sent or []}
        here = {key(each): self.ordinals(after, each) for each in self.list}
        for message, found in here.items():
            assert len(found) == 1, ("laws 3 and 7: each message is stored once", message, found)
        shown = [places[found[0]] for found in here.values() if found[0] in places]
        assert shown == sorted(shown), "the view has the client's messages in the client's order"
        dropped = {
            ordinal
            for each in self.sent or []
            if key(each) not in here
            for ordinal in self.ordinals(after, each)
        }
        assert not dropped & after.visible, (
            "law 3: a dropped message leaves the view",
            dropped & after.visible,
        )
        expanded = set()

        def stands_for_dropped(ordinal):
            return any(
                each in dropped or stands_for_dropped(each) for each in self.made.get(ordinal, ())
            )

        def add_below(ordinal):
            for each in self.made.get(ordinal, ()):
                expanded.add(each)
                add_below(each)

        def stands_for_unlisted(ordinal):
            """For what the client dropped earlier, and may once have written in the place of something that it drops now."""
            return any(
                stands_for_unlisted(each) if each in self.made else [each] not in here.values()
                for each in self.made[ordinal]
            )

        for ordinal in before.view if outcome != "same" else ():
            if ordinal in self.made:
                is_expanded = ordinal not in after.visible
                is_right = (
                    is_expanded
                    if stands_for_dropped(ordinal)
                    else not is_expanded or stands_for_unlisted(ordinal)
                )
                assert is_right, ("law 3: edits stay in force", ordinal, self.made[ordinal])
                if is_expanded:
                    add_below(ordinal)
        # A summary of the client's own that an edit brought back may be expanded, too.
        left = [before.log[each] for each in before.view if each not in after.visible]
        is_own_expanded = any(re.search(r"C <\d+>", text) for text in left)
        for message, (ordinal,) in here.items():
            if ordinal >= len(before.log) or (message not in kept and not self.is_edited):
                assert ordinal in after.visible, (
                    "law 3: what is new or returns is visible",
                    message,
                )
            elif message in kept and ordinal not in expanded and not is_own_expanded:
                assert (ordinal in after.visible) == (ordinal in before.visible), (
                    "law 3: what is kept stays as visible as it was",
                    message,
                )
        # System prompts alone are not summarised.
        instructions = ('{"role": "system"', '{"role": "developer"')
        told = [each for each in dropped if not before.log[each].startswith(instructions)]
        if self.is_compacted and not self.is_edited and told and len(self.clients) == 1:
            assert outcome == "compacted", "law 5: the client's own compaction is one"

    def check_expand(self, before, after):
        """Law 5: EXPAND of the client's summary brings back what it dropped."""
        answers = []
        for index, ordinal in enumerate(after.view):
            if not re.search(r"C <\d+>", after.log[ordinal]):
                continue
            is_new = self.is_compacted and self.summary in after.log[ordinal]
            answers.append(self.engine.try_to({"operation": "EXPAND", "index": index}))
            if answers[-1]["ok"]:
                back = set(self.engine.ask("messages")["ordinals"])
                if self.is_unique and not self.is_edited and is_new:
                    now = [json.dumps(each, sort_keys=True) for each in self.list]
                    dropped = [
                        i
                        for each in self.sent
                        if json.dumps(each, sort_keys=True) not in now
                        for i in self.ordinals(after, each)
                    ]
                    assert back.issuperset(dropped), ("law 5: all of it", dropped, back)
                self.engine.apply("UNDO")
        # Where others edit, it may be hidden, or stand for what others tell.
        assert self.is_edited or any(each["ok"] for each in answers), ("law 5", answers)

    def check_undo(self, before, after, body):
        self.engine.apply("UNDO")
        assert State(self.engine, self.dialect).messages == before.messages, (
            "law 2: one UNDO takes back one request"
        )
        assert self.reconcile(body)["outcome"] == "same", "UNDO leaves the client list"
        self.engine.apply("REDO")
        assert State(self.engine, self.dialect).view == after.view

    def send_delta(self):
        """Law 9: a request that holds only what is new appends, and drops nothing."""
        fresh = [{"kind": "user", "text": self.token("t")}]
        fresh += [
            each
            for _ in range(self.chance.randrange(3))
            for each in self.fresh()
            if each["kind"] != "system"
        ]
        # Instructions stand in each request, and are new once.
        known = [each for each in self.sent if each["kind"] == "system"]
        instructions = []
        if self.dialect == "openai_responses" and self.chance.random() < 0.3:
            instructions = [{"kind": "system", "text": self.token("S")}]
        elif known and self.chance.random() < 0.5:
            instructions = [self.chance.choice(known)]
        before = State(self.engine, self.dialect)
        body = self.speller.body(instructions + fresh)
        delta = {**body, **self.chance.choice(REFERENCES[self.dialect])}
        if instructions and instructions[0] not in known:
            fresh = instructions + fresh
        for outcome in ("appended", "same"):
            assert self.reconcile(delta)["outcome"] == outcome, ("law 9", outcome)
        after = State(self.engine, self.dialect)
        assert after.view == before.view + list(
            range(len(before.log), len(before.log) + len(fresh))
        ), "law 9: it appends"
        assert after.log[: len(before.log)] == before.log and after.marks == before.marks, (
            "law 9: and drops nothing"
        )
        assert (after.version, after.batches) == (before.version + 1, before.batches), (
            "law 2: one version"
        )
        self.check_prefix(before, after)
        self.list = self.sent + fresh
        assert self.reconcile(self.speller.body(self.list))["outcome"] == "same", (
            "law 9: the list goes on with it"
        )
        self.sent = list(self.list)
        self.earlier.append(self.sent)

    def run(self):
        for _ in range(self.chance.randint(3, 16)):
            self.client = self.chance.choice(self.clients)
            self.change_list()
            if self.chance.random() < 0.1:
                self.compact_by_answer()
            elif self.is_edited_by_others:
                self.edit()
            elif self.chance.random() < 0.5:
                self.answer()
            self.send()
            while self.is_unique and self.dialect in REFERENCES and self.chance.random() < 0.2:
                if self.is_edited_by_others:
                    self.list = list(self.sent)
                    self.edit()
                # An answer that others appended would be part of what the client goes on with.
                if self.has_unsent:
                    break
                self.send_delta()
        self.engine.close()


def main(program):
    seed, runs = (
        int(os.environ.get("SEED", random.randrange(1 << 30))),
        int(os.environ.get("RUNS", 60)),
    )
    print(f"SEED={seed} RUNS={runs}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for run in range(seed, seed + runs):
            story = Story(program, run, folder)
            try:
                story.run()
            except AssertionError:
                print(
                    "\n".join(
                        line for line in story.engine.lines if line.startswith('{"operation"')
                    )
                )
                print(f"SEED={run} RUNS=1: {story.dialect}, {story.client}")
                story.engine.process.kill()
                raise
    print(f"{runs} clients were followed")


if __name__ == "__main__":
    main(sys.argv[1])
