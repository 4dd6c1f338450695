#!/usr/bin/env python3
"""Stores that released binaries wrote keep their meaning.

    stored_releases_test.py BINARY [RELEASE/NAME…]

Each database of tests/stored/RELEASE is copied and read at every version. What is said must be what its
release said: NAME.json, made by make.py.

  as it is               Opened with its checkpoints.
  replayed               Opened without checkpoints: every operation is carried out again, from the first.
                         A pruned conversation has no first operation and keeps its checkpoint.
  after further writing  One APPEND and one DELETE with `pairs: shrink`, the latter with a checkpoint. Read
                         with checkpoints, and replayed. `check` finds nothing.
  imported               Exported after that, and imported into a fresh store. The export of a pruned
                         conversation is `unsupported`.
  its own export         The file NAME.CONVERSATION.jsonl that the release exported, imported.

Token counts are compared too, but not where they are counted anew: an import counts by the rules of the
binary that runs it; a redaction, or another tokenizer, stores new counts in the checkpoint only, so that a
replay has the old ones (`recounted` in NAME.json).
"""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
sys.dont_write_bytecode = True
sys.path.insert(1, str(HERE.parent))
from play_scenarios import differences
from reading import Session, conversations, read_conversation, run, without_checkpoints

UNSUPPORTED = 8  # exit status
OF_VERSIONS = (
    "first",
    "log",
    "views",
    "history",
    "counts",
    "marks",
    "diffs",
)  # later operations keep it


def uncounted(value):
    """Without counts of tokens."""
    if isinstance(value, dict):
        return {
            key: uncounted(each)
            for key, each in value.items()
            if key not in ("tokens", "counts", "tokensBefore", "tokensAfter")
        }
    return [uncounted(each) for each in value] if isinstance(value, list) else value


class Database:
    def __init__(self, binary, path):
        self.binary, self.db, self.name = binary, path, f"{path.parent.name}/{path.stem}"
        expected = json.loads(path.with_suffix(".json").read_text())
        self.conversations, self.recounted = expected["conversations"], set(expected["recounted"])
        self.failures = []

    def fail(self, conversation, step, what):
        self.failures.append(f"{self.name}, {conversation}, {step}: {what}")

    def compare(self, conversation, step, db, end=None, counted=True, view=None):
        """What is read now with what was said then. `end` where later operations follow, which lead to
        `view`."""
        expected = self.conversations[conversation]
        keys = OF_VERSIONS if end is not None else [key for key in expected if key != "known"]
        try:
            got = read_conversation(self.binary, db, conversation, expected["known"], end)
            if view and self.view(conversation, db) != view:
                self.fail(conversation, step, "the head's view is another")
        except AssertionError as error:
            return self.fail(conversation, step, error)
        expected, got = ({key: each.get(key) for key in keys} for each in (expected, got))
        if not counted:
            expected, got = uncounted(expected), uncounted(got)
        found = list(differences(expected, got)) or list(differences(got, expected))
        if found:
            self.fail(conversation, step, "\n    ".join([f"{len(found)} differences", *found[:6]]))

    def head(self, conversation):
        return self.conversations[conversation]["history"][-1]["version"]

    def test(self, folder):
        opened, replayed, written, fresh = (
            folder / f"{step}.db" for step in ("opened", "replayed", "written", "fresh")
        )
        for copy in (opened, replayed, written):
            shutil.copyfile(self.db, copy)
        pruned = without_checkpoints(replayed)
        if sorted(conversations(self.db)) != sorted(self.conversations):
            self.fail("*", "as it is", f"there are {conversations(self.db)}")
        for conversation in self.conversations:
            self.compare(conversation, "as it is", opened)
            self.compare(
                conversation, "replayed", replayed, counted=conversation not in self.recounted
            )
        for conversation in self.conversations:
            self.write_on(conversation, written)
        run(self.binary, "check", "--store", f"sqlite:{written}")
        views = {c: self.view(c, written) for c in self.conversations}
        for conversation in self.conversations:
            self.compare(
                conversation, "after further writing", written, end=self.head(conversation)
            )
            self.import_copy(
                conversation, written, fresh, conversation in pruned, views[conversation]
            )
        for file in self.db.parent.glob(f"{self.db.stem}.*.jsonl"):
            conversation, store = file.name.split(".")[-2], folder / "export.db"
            run(self.binary, "import", "--store", f"sqlite:{store}", file, conversation)
            self.compare(
                conversation, "its own export", store, end=self.head(conversation), counted=False
            )
        without_checkpoints(written)
        for conversation in self.conversations:
            self.compare(
                conversation,
                "after further writing, replayed",
                written,
                end=self.head(conversation),
                counted=conversation not in self.recounted,
                view=views[conversation],
            )
        return self.failures

    def view(self, conversation, db):
        with Session(self.binary, db, conversation) as session:
            return session.told({"query": "messages"})

    def write_on(self, conversation, db):
        """An APPEND, and a DELETE of half a pair where there is one in the view."""
        with Session(self.binary, db, conversation) as session:
            session.told(
                {"operation": "APPEND", "messages": [{"role": "user", "content": "one more"}]}
            )
            view, pinned = session.told(
                {"query": "messages"}, {"query": "messages", "marked": "pinned"}
            )
        free = [
            i for i, ordinal in enumerate(view["ordinals"]) if ordinal not in pinned["ordinals"]
        ]
        halves = [i for i in free if re.search("call|tool", json.dumps(view["messages"][i]))]
        with Session(self.binary, db, conversation, "--checkpoint", "1") as session:
            session.told(
                {"operation": "DELETE", "indices": [(halves or free)[0]], "pairs": "shrink"}
            )

    def import_copy(self, conversation, db, fresh, is_pruned, view):
        file = db.with_name(f"{conversation}.jsonl")
        export = ["export", "--store", f"sqlite:{db}", conversation, "-o", file]
        if is_pruned:
            run(self.binary, *export, code=UNSUPPORTED)
            return
        run(self.binary, *export)
        try:
            run(self.binary, "import", "--store", f"sqlite:{fresh}", file, conversation)
        except AssertionError as error:
            self.fail(conversation, "imported", error)
            return
        self.compare(
            conversation, "imported", fresh, end=self.head(conversation), counted=False, view=view
        )


# What a newer release may have written, and how it is made of a store of this one.
NEWER = {
    "a checkpoint": "UPDATE checkpoints SET root = :unknown",
    "the schema": "PRAGMA user_version = 99",
    "an operation": "UPDATE versions SET arguments = :unknown WHERE operation = x'44454C455445'",
    "an answer": "UPDATE versions SET answer = :unknown WHERE operation_id = x'6C32'",
    "the settings": "UPDATE conversations SET settings = :unknown",
}


def test_newer(binary, folder):
    """What a newer release wrote is `unsupported`, never `corrupt`: users are told to take the newer
    program, not that their data are lost."""
    for what, sql in NEWER.items():
        db = folder / "newer.db"
        shutil.copyfile(HERE / "0.1.0" / "operations.db", db)
        if what == "an operation":
            without_checkpoints(db)
        file = sqlite3.connect(db, isolation_level=None)
        file.execute(sql, {"unknown": b"\x78\0\0\0"} if ":" in sql else {})
        file.close()
        # A repeated operation: what its answer was is read, and before that everything else.
        done = subprocess.run(
            [binary, "exec", "--store", f"sqlite:{db}", "-c", "lists"],
            input=b'{"operation":"UNDO","operationId":"l2"}\n',
            capture_output=True,
            timeout=60,
        )
        answer = (done.stdout or done.stderr).decode().strip()
        if '"code":"unsupported"' not in answer:
            yield f"{what} of a newer release: expected unsupported, got {answer or done.returncode}"


def main(binary, *names):
    started = time.monotonic()
    paths = [HERE / f"{name}.db" for name in names] or sorted(HERE.glob("*/*.db"))
    failures = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:

        def test(path):
            place = Path(folder) / path.parent.name / path.stem
            place.mkdir(parents=True)
            try:
                return Database(binary, path).test(place)
            except AssertionError as error:
                return [f"{path.parent.name}/{path.stem}: {error}"]

        for found in pool.map(test, paths):
            failures += found
        if not names:
            failures += test_newer(binary, Path(folder))
    print("\n".join(map(str, failures)))
    print(f"{len(paths)} stores, {len(failures)} failures, {time.monotonic() - started:.1f} s")
    return 1 if failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
