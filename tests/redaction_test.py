#!/usr/bin/env python3
"""After `redact --derived`, nothing of a message is in any byte of the store.

    SEED=1 ROUNDS=20 redaction_test.py PROGRAM

Each round makes a conversation with some messages that hold a secret of their own, edits it at
random (copies, summaries, rollbacks, forks, descriptions and
arguments that quote, searches, merged forks, a client's list, recorded requests), redacts one of
the secrets with what was derived from it, and looks for it in
all files of the store: the whole secret, and every eight bytes of it. In every other round nobody
says a secret again but operations that derive messages, and
only the message that said it first is redacted: all else is for `--derived` to find. Long messages
are stored packed, so whatever is a pack is unpacked before it is looked
into, also one that only free space of a file still has.
"""

import collections
import ctypes
import ctypes.util
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

program = sys.argv[1]
seed, rounds = (
    int(os.environ.get("SEED", random.randrange(10**6))),
    int(os.environ.get("ROUNDS", 4)),
)
print(f"SEED={seed} ROUNDS={rounds}")
random.seed(seed)
SIZE = 8


class Buffer(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


class Unpacker:
    """Texts of the packs in any bytes: as much of each as can be read, though its end may be
    gone."""

    MAGIC = b"\x28\xb5\x2f\xfd"

    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
        for name, answer, arguments in (
            ("createDCtx", ctypes.c_void_p, []),
            ("freeDCtx", ctypes.c_size_t, [ctypes.c_void_p]),
            ("isError", ctypes.c_uint, [ctypes.c_size_t]),
            ("decompressStream", ctypes.c_size_t, [ctypes.c_void_p] + 2 * [ctypes.POINTER(Buffer)]),
        ):
            function = getattr(self.library, "ZSTD_" + name)
            function.restype, function.argtypes = answer, arguments

    def unpack(self, data):
        room = ctypes.create_string_buffer(1 << 20)
        taken = Buffer(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data), 0)
        made = Buffer(ctypes.cast(room, ctypes.c_void_p), len(room), 0)
        context = self.library.ZSTD_createDCtx()
        left = 1
        while (
            left
            and not self.library.ZSTD_isError(left)
            and taken.at < taken.size
            and made.at < made.size
        ):
            left = self.library.ZSTD_decompressStream(
                context, ctypes.byref(made), ctypes.byref(taken)
            )
        self.library.ZSTD_freeDCtx(context)
        return room.raw[: made.at]

    def texts(self, data):
        at = data.find(self.MAGIC)
        while at >= 0:
            yield self.unpack(data[at : at + (1 << 16)])
            at = data.find(self.MAGIC, at + 1)


unpacker = Unpacker()
done = collections.Counter()  # operations


def run(*words, status=0, stdin=None):
    done = subprocess.run([program, *words], capture_output=True, text=True, input=stdin)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def pieces_of(secret):
    return [secret[at : at + SIZE] for at in range(len(secret) - SIZE + 1)]


class Round:
    def __init__(self, folder, repeats):
        self.folder = pathlib.Path(folder)
        self.repeats = repeats  # whether users and assistants say secrets again
        self.store = f"sqlite:{folder}/s.db"
        self.conversations = ["c0"]
        self.origins = {}
        self.requests = {}  # how many were recorded of a conversation
        self.secrets = [
            "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=24)) for _ in range(3)
        ]
        self.operations = 0
        self.refused = 0
        run("new", "c0", "--store", self.store)
        # Told at the beginning, so that every fork shares them: an operation quotes what its
        # conversation knows.
        self.send(
            "c0",
            {
                "operation": "APPEND",
                "messages": [
                    {"role": "user", "content": f"note: {secret}!"} for secret in self.secrets
                ],
            },
        )

    def send(self, conversation, *lines):
        text = "\n".join(json.dumps(line) for line in lines)
        checkpoint = str(random.choice([1, 2, 5, 512]))
        answers = run(
            "exec", conversation, "--store", self.store, "--checkpoint", checkpoint, stdin=text
        ).splitlines()
        assert len(answers) == len(lines), answers
        answers = [json.loads(answer) for answer in answers]
        self.refused += sum(not answer["ok"] for answer in answers)
        done.update(line.get("operation") for line, answer in zip(lines, answers) if answer["ok"])
        return answers

    def quote(self):
        secret = random.choice(self.secrets)
        begin = random.randrange(len(secret) - SIZE)
        return (
            secret
            if random.random() < 0.5
            else secret[begin : begin + random.randint(SIZE, len(secret) - begin)]
        )

    def message(self):
        role = random.choice(["user", "user", "assistant"])
        if random.random() < 0.3:  # it is stored packed
            lines = ["nothing to hide on this line "] * random.randint(60, 600)
            if self.repeats and random.random() < 0.7:
                lines[random.randrange(len(lines))] = f"but {random.choice(self.secrets)} "
            return {"role": role, "content": "".join(lines)}
        if self.repeats and random.random() < 0.3:
            text = f"I was told {random.choice(self.secrets)} in confidence, on line {random.randrange(100)} of src/a.cpp"
        else:
            text = "nothing to hide " * random.randint(1, 40)
        return {
            "role": role,
            "content": text if random.random() < 0.7 else [{"type": "text", "text": text}],
        }

    def client_list(self, messages):
        """What a client sends next: its list goes on, or it left some out."""
        kept = [
            message
            for message in messages
            if message["role"] in ("user", "assistant") and isinstance(message["content"], str)
        ]
        if kept and random.random() < 0.3:
            kept.pop(random.randrange(len(kept)))
        return [{"role": message["role"], "content": message["content"]} for message in kept] + [
            self.message() | {"role": "user"}
        ]

    def operation(self, messages, conversation):
        size = len(messages)

        def index():
            return random.randrange(size) if size else 0

        repeated = self.quote() if self.repeats else "others say"
        what = random.choice(
            [
                {"operation": "APPEND", "messages": [self.message()]},
                {"operation": "APPEND", "messages": [self.message(), self.message()]},
                {"operation": "INSERT", "position": index(), "messages": [self.message()]},
                {
                    "operation": "REPLACE",
                    "index": index(),
                    "message": {"role": "user", "content": "the same as " + repeated},
                },
                {"operation": "MERGE", "indices": sorted({index(), index()})},
                {"operation": "SPLIT", "index": index(), "at": [random.randint(1, 30)]},
                {
                    "operation": "TRANSFORM",
                    "roles": ["user"],
                    "replaceText": {"find": self.quote(), "with": "XXX"},
                },
                {"operation": "TRANSFORM", "indices": [index()], "truncateText": {"maxChars": 40}},
                {
                    "operation": "TRANSFORM",
                    "indices": [index()],
                    "setMetadata": {"was": repeated},
                },
                {"operation": "FILTER", "contentExcludes": [self.quote()]},
                {"operation": "TRUNCATE", "keepLast": random.randint(1, 10)},
                {"operation": "DELETE", "indices": [index()]},
                {"operation": "COMPRESS", "strategy": {"name": "smart_summary", "keep": 1}},
                {
                    "operation": "COMPRESS",
                    "indices": [index()],
                    "summary": {"role": "assistant", "content": "they said " + repeated},
                },
                {"operation": "EXPAND", "index": index()},
                {"operation": "UNDO"},
                {"operation": "ROLLBACK", "targetBatchIndex": 0},
                {"operation": "START_BATCH"},
                {
                    "operation": "RECALL",
                    "text": random.choice([self.quote(), "hide line told confidence"]),
                },
                {
                    "operation": "RECONCILE",
                    "client": "anthropic",
                    "messages": self.client_list(
                        [m for m in messages if self.repeats or not self.is_told_in(m)]
                    ),
                },
            ]
            + [
                {"operation": "MERGE_FORK", "from": fork, "mode": mode}
                for fork, origin in self.origins.items()
                if origin == conversation
                for mode in ("messages", "summary")
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
        self.send(
            conversation,
            *(self.operation(state["messages"], conversation) for _ in range(random.randint(1, 6))),
        )

    def record(self):
        """A request as the client sent it, whose bytes are kept beside the messages."""
        conversation = random.choice(self.conversations)
        messages = self.client_list(self.send(conversation, {"query": "messages"})[0]["messages"])
        request = json.dumps(
            {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages}
        )
        run(
            "record",
            conversation,
            "--request",
            "-",
            "--client",
            "anthropic",
            "--status",
            "200",
            "--store",
            self.store,
            stdin=request,
        )
        self.requests[conversation] = self.requests.get(conversation, 0) + 1

    def fork(self):
        origin = random.choice(self.conversations)
        head = self.send(origin, {"query": "stats"}, {"query": "history"})[1]["result"][-1][
            "version"
        ]
        name = f"c{len(self.conversations)}"
        run(
            "fork",
            origin,
            name,
            "--at-version",
            str(random.randint(1, head)),
            "--store",
            self.store,
        )
        self.conversations.append(name)
        self.origins[name] = origin

    def is_told_in(self, message):
        text = json.dumps(message)
        return any(piece in text for secret in self.secrets for piece in pieces_of(secret))

    def told(self, conversation, secret):
        """The ordinals of messages that have a piece of it."""
        log = json.loads(run("show", conversation, "--all", "--json", "--store", self.store))
        pieces = pieces_of(secret)
        return [
            o
            for o, message in zip(log["ordinals"], log["messages"])
            if any(piece in json.dumps(message) for piece in pieces)
        ]

    def everything(self):
        views = {}
        for conversation in self.conversations:
            head = self.send(conversation, {"query": "history"})[0]["result"][-1]["version"]
            answers = self.send(
                conversation,
                *({"query": "messages", "atVersion": version} for version in range(head + 1)),
            )
            views[conversation] = [answer["ordinals"] for answer in answers]
        return views

    def pieces_left(self, secret):
        """In which file, and whether it is packed there."""
        pieces = [piece.encode() for piece in pieces_of(secret)]
        found = set()
        for file in self.folder.iterdir():
            data = file.read_bytes()
            found |= {(file.name, False, piece) for piece in pieces if piece in data}
            found |= {
                (file.name, True, piece)
                for text in unpacker.texts(data)
                for piece in pieces
                if piece in text
            }
        return found

    def told_in_requests(self, secret):
        """The recorded requests that have a piece of it: most of their bytes are those of messages,
        so that a file tells nothing."""
        pieces = pieces_of(secret)
        found = []
        for conversation, count in self.requests.items():
            for number in range(1, count + 1):
                words = [program, "request", conversation, str(number), "--store", self.store]
                text = subprocess.run(words, capture_output=True, text=True).stdout
                found += [(conversation, number)] * any(piece in text for piece in pieces)
        return found

    def redact(self, conversation, ordinals):
        if not ordinals:
            return
        words = ["redact", conversation, *map(str, ordinals), "--derived", "--why", "test"]
        run(*words, "--yes", "--store", self.store)

    def play(self):
        for _ in range(random.randint(4, 14)):
            random.choices([self.edit, self.fork, self.record], [7, 2, 2])[0]()
        secret = random.choice(self.secrets)
        there = self.pieces_left(secret)
        assert there
        self.was_packed = any(is_packed for _, is_packed, _ in there)
        self.was_recorded = bool(self.told_in_requests(secret))
        before = self.everything()
        if self.repeats:
            for conversation in self.conversations:  # what one shares with another goes from both
                self.redact(conversation, self.told(conversation, secret))
        else:
            self.redact(random.choice(self.conversations), [self.secrets.index(secret)])
        assert not self.pieces_left(secret), self.pieces_left(secret)
        assert not self.told_in_requests(secret), self.told_in_requests(secret)
        run("check", "--store", self.store)
        assert self.everything() == before, "a version shows other messages"
        for number, conversation in enumerate(self.conversations):  # and all of it can be replayed
            run(
                "export", conversation, "-o", f"{self.folder}/{number}.jsonl", "--store", self.store
            )
            run("import", f"{self.folder}/{number}.jsonl", f"again{number}", "--store", self.store)


def main():
    refused = packed = recorded = 0
    for number in range(rounds):
        folder = tempfile.mkdtemp()
        try:
            one = Round(folder, repeats=number % 2 == 0)
            one.play()
            refused, packed, recorded = (
                refused + one.refused,
                packed + one.was_packed,
                recorded + one.was_recorded,
            )
        except BaseException:
            print(f"in round {number}", file=sys.stderr)
            raise
        finally:
            shutil.rmtree(folder)
    print(
        f"{rounds} secrets are gone, {packed} of them were in packs too and {recorded} in recorded requests; "
        f"{refused} operations were refused on the way"
    )
    if rounds >= 20:
        assert packed and recorded, "nothing was packed, or recorded"
        assert all(done[name] for name in ("RECALL", "RECONCILE", "MERGE_FORK", "EXPAND")), done


main()
