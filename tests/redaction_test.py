#!/usr/bin/env python3
"""After `redact --derived`, nothing of a message is in any byte of the store.

    SEED=1 ROUNDS=20 redaction_test.py PROGRAM

Each round makes a conversation with some messages that hold a secret of their own, edits it at random (copies, summaries, rollbacks, forks, descriptions and
arguments that quote), redacts one of the secrets with what was derived from it, and looks for it in all files of the store: the whole secret, and every eight
bytes of it.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

program = sys.argv[1]
seed, rounds = int(os.environ.get("SEED", random.randrange(10**6))), int(os.environ.get("ROUNDS", 4))
print(f"SEED={seed} ROUNDS={rounds}")
random.seed(seed)
SIZE = 8


def run(*words, status=0, stdin=None):
    done = subprocess.run([program, *words], capture_output=True, text=True, input=stdin)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


class Round:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.store = f"sqlite:{folder}/s.db"
        self.conversations = ["c0"]
        self.secrets = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=24)) for _ in range(3)]
        self.operations = 0
        self.refused = 0
        run("new", "c0", "--store", self.store)
        # Told at the beginning, so that every fork shares them: an operation quotes what its conversation knows.
        self.send("c0", {"operation": "APPEND", "messages": [{"role": "user", "content": f"note: {secret}!"} for secret in self.secrets]})

    def send(self, conversation, *lines):
        text = "\n".join(json.dumps(line) for line in lines)
        checkpoint = str(random.choice([1, 2, 5, 512]))
        answers = run("exec", conversation, "--store", self.store, "--checkpoint", checkpoint, stdin=text).splitlines()
        assert len(answers) == len(lines), answers
        answers = [json.loads(answer) for answer in answers]
        self.refused += sum(not answer["ok"] for answer in answers)
        return answers

    def quote(self):
        secret = random.choice(self.secrets)
        begin = random.randrange(len(secret) - SIZE)
        return secret if random.random() < 0.5 else secret[begin : begin + random.randint(SIZE, len(secret) - begin)]

    def message(self):
        role = random.choice(["user", "user", "assistant"])
        if random.random() < 0.3:
            text = f"I was told {random.choice(self.secrets)} in confidence, on line {random.randrange(100)} of src/a.cpp"
        else:
            text = "nothing to hide " * random.randint(1, 40)
        return {"role": role, "content": text if random.random() < 0.7 else [{"type": "text", "text": text}]}

    def operation(self, size):
        def index():
            return random.randrange(size) if size else 0

        what = random.choice(
            [
                {"operation": "APPEND", "messages": [self.message()]},
                {"operation": "APPEND", "messages": [self.message(), self.message()]},
                {"operation": "INSERT", "position": index(), "messages": [self.message()]},
                {"operation": "REPLACE", "index": index(), "message": {"role": "user", "content": "the same as " + self.quote()}},
                {"operation": "MERGE", "indices": sorted({index(), index()})},
                {"operation": "SPLIT", "index": index(), "at": [random.randint(1, 30)]},
                {"operation": "TRANSFORM", "roles": ["user"], "replaceText": {"find": self.quote(), "with": "XXX"}},
                {"operation": "TRANSFORM", "indices": [index()], "truncateText": {"maxChars": 40}},
                {"operation": "TRANSFORM", "indices": [index()], "setMetadata": {"was": self.quote()}},
                {"operation": "FILTER", "contentExcludes": [self.quote()]},
                {"operation": "TRUNCATE", "keepLast": random.randint(1, 10)},
                {"operation": "DELETE", "indices": [index()]},
                {"operation": "COMPRESS", "strategy": {"name": "smart_summary", "keep": 1}},
                {"operation": "COMPRESS", "indices": [index()], "summary": {"role": "assistant", "content": "they said " + self.quote()}},
                {"operation": "UNDO"},
                {"operation": "ROLLBACK", "targetBatchIndex": 0},
                {"operation": "START_BATCH"},
            ]
        )
        if random.random() < 0.3:
            what["description"] = "because of " + self.quote() + " we do this"
        if random.random() < 0.3:
            self.operations += 1
            what["operationId"] = f"op{self.operations}"
        return what

    def edit(self):
        conversation = random.choice(self.conversations)
        state = self.send(conversation, {"query": "messages"})[0]
        self.send(conversation, *(self.operation(len(state["messages"])) for _ in range(random.randint(1, 6))))

    def fork(self):
        origin = random.choice(self.conversations)
        head = self.send(origin, {"query": "stats"}, {"query": "history"})[1]["result"][-1]["version"]
        name = f"c{len(self.conversations)}"
        run("fork", origin, name, "--at-version", str(random.randint(1, head)), "--store", self.store)
        self.conversations.append(name)

    def told(self, conversation, secret):
        """The ordinals of messages that have a piece of it."""
        log = json.loads(run("show", conversation, "--all", "--json", "--store", self.store))
        pieces = [secret[at : at + SIZE] for at in range(len(secret) - SIZE + 1)]
        return [o for o, message in zip(log["ordinals"], log["messages"]) if any(piece in json.dumps(message) for piece in pieces)]

    def everything(self):
        views = {}
        for conversation in self.conversations:
            head = self.send(conversation, {"query": "history"})[0]["result"][-1]["version"]
            answers = self.send(conversation, *({"query": "messages", "atVersion": version} for version in range(head + 1)))
            views[conversation] = [answer["ordinals"] for answer in answers]
        return views

    def pieces_left(self, secret):
        pieces = [secret[at : at + SIZE].encode() for at in range(len(secret) - SIZE + 1)]
        return [(file.name, piece) for file in self.folder.iterdir() for piece in pieces if piece in file.read_bytes()]

    def play(self):
        for _ in range(random.randint(4, 14)):
            self.edit() if random.random() < 0.8 else self.fork()
        secret = random.choice(self.secrets)
        assert self.pieces_left(secret)
        before = self.everything()
        for conversation in self.conversations:  # what one shares with another is gone from both
            told = self.told(conversation, secret)
            if told:
                run("redact", conversation, *map(str, told), "--derived", "--why", "test", "--yes", "--store", self.store)
        assert not self.pieces_left(secret), self.pieces_left(secret)
        run("check", "--store", self.store)
        assert self.everything() == before, "a version shows other messages"
        for number, conversation in enumerate(self.conversations):  # and all of it can be replayed
            run("export", conversation, "-o", f"{self.folder}/{number}.jsonl", "--store", self.store)
            run("import", f"{self.folder}/{number}.jsonl", f"again{number}", "--store", self.store)
        return self.refused


def main():
    refused = 0
    for number in range(rounds):
        folder = tempfile.mkdtemp()
        try:
            refused += Round(folder).play()
        except BaseException:
            print(f"in round {number}", file=sys.stderr)
            raise
        finally:
            shutil.rmtree(folder)
    print(f"{rounds} secrets are gone; {refused} operations were refused on the way")


main()
