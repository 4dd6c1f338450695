"""All that the command says of a stored conversation, as one value: make.py writes it down, the test
compares it."""

import json
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from pathlib import Path

# At most so many versions of a conversation, from the first to the last, …
RESTORED = 40  # … are restored, to read their stack of batches;
MARKED = 60  # … have their marks read;
COUNTED = 25  # … have the tokens of each message read;
RECORDED = 40  # requests are read, the last ones;
SAMPLES = 12  # … are compared by diff; and so many messages are asked who hid them.


def run(binary, *arguments, given="", code=0):
    """The command's output; its exit status must be `code`."""
    done = subprocess.run(
        [str(binary), *map(str, arguments)], input=given.encode(), capture_output=True, timeout=300
    )
    if done.returncode != code:
        raise AssertionError(
            f"{' '.join(map(str, arguments))}: exit status {done.returncode}, not {code}: "
            f"{done.stderr.decode()[-500:]}"
        )
    return done.stdout.decode()


class Session:
    """A process that answers lines of JSON about one conversation."""

    def __init__(self, binary, db, conversation, *options):
        self.id = conversation
        command = [str(binary), "exec", "--store", f"sqlite:{db}", "-c", conversation, *options]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def ask(self, *lines):
        text = "".join(json.dumps(line) + "\n" for line in lines).encode()
        feeding = threading.Thread(target=self.feed, args=(text,))
        feeding.start()
        answers = [self.process.stdout.readline() for _ in lines]
        feeding.join()
        if not all(answers):
            raise AssertionError(
                f"{self.id}: no answer: {self.process.communicate()[1].decode()[-500:]}"
            )
        return [json.loads(answer) for answer in answers]

    def feed(self, text):
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing answers tell

    def told(self, *lines):
        """The answers to lines that must succeed."""
        answers = self.ask(*lines)
        for line, answer in zip(lines, answers):
            if not answer["ok"]:
                self.fail(f"{json.dumps(line)[:200]} is refused: {json.dumps(answer)[:400]}")
        return answers

    def results(self, *lines):
        return [answer.get("result", answer) for answer in self.told(*lines)]

    def version(self):
        return self.results({"query": "version"})[0]

    def fail(self, what):
        raise AssertionError(f"{self.id}: {what}")


def ranges(ordinals):
    """[0,1,2,5] as "0-2,5"."""
    parts = []
    for ordinal in ordinals:
        if parts and ordinal == parts[-1][1] + 1:
            parts[-1][1] = ordinal
        else:
            parts.append([ordinal, ordinal])
    return ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in parts)


def without_repeats(values):
    """A list in which a value equal to the one before is None."""
    return [value if i == 0 or value != values[i - 1] else None for i, value in enumerate(values)]


def spread(first, last, most):
    """At most so many numbers from first to last, both among them."""
    step = max(1, -(-(last - first + 1) // most))
    return sorted({*range(first, last + 1, step), last})


def conversations(db):
    file = sqlite3.connect(db)
    try:
        return [row[0] for row in file.execute("SELECT id FROM conversations ORDER BY number")]
    finally:
        file.close()


def one_file(db):
    """What lies in the log file goes into the database, and free pages go."""
    file = sqlite3.connect(db, isolation_level=None)
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.execute("VACUUM")
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    for end in ("-wal", "-shm"):
        Path(f"{db}{end}").unlink(missing_ok=True)


def without_checkpoints(db):
    """Takes every checkpoint away, so that a conversation is replayed from its first operation when it is
    opened. A pruned one has none, and keeps its checkpoint: returns these."""
    file = sqlite3.connect(db, isolation_level=None)
    pruned = dict(file.execute("SELECT number, id FROM conversations WHERE first_version > 0"))
    kept = ",".join(map(str, pruned)) or "-1"
    file.execute(f"DELETE FROM checkpoints WHERE conversation NOT IN ({kept})")
    file.execute(f"DELETE FROM pages WHERE key >> 35 NOT IN ({kept})")
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    without_checksums(db)
    return set(pruned.values())


def without_checksums(db):
    """Takes the checksums from the ends of pages, which are wrong where another program than Undertext has
    written."""
    pages = bytearray(Path(db).read_bytes())
    size = int.from_bytes(pages[16:18], "big")
    if pages[20] == 0:
        return
    for end in range(size, len(pages) + 1, size):
        pages[end - 8 : end] = bytes(8)
    Path(db).write_bytes(pages)


def read_conversation(binary, db, conversation, known=None, end=None):
    """What is read of the versions up to `end`; default: all, and the head. `known` has the marks and the
    operation ids to ask for."""
    with Session(binary, db, conversation) as session:
        last = session.version() if end is None else end
        found = read_versions(session, last, (known or {}).get("labels", []))
        if end is None:
            found.update(read_head(session, found, (known or {}).get("operationIds", [])))
    if end is None:
        found["stacks"] = read_stacks(binary, db, conversation, found)
    return found


def read_versions(session, last, labels):
    one = {"query": "messages"}
    history, log = session.told({"query": "history"}, {**one, "all": True, "atVersion": last})
    history, log = (
        [entry for entry in history["result"] if entry["version"] <= last],
        log["messages"],
    )
    first = history[0]["version"]
    versions = range(first, last + 1)
    views, counts = [], [None] * len(log)
    for version, answer in zip(
        versions, session.told(*[{**one, "atVersion": v} for v in versions])
    ):
        if answer["messages"] != [log[ordinal] for ordinal in answer["ordinals"]]:
            session.fail(f"the view of version {version} is not made of the log's messages")
        views.append(ranges(answer["ordinals"]))
    for answer in session.results(
        *[
            {"query": "tokens", "atVersion": v, "perMessage": True}
            for v in spread(first, last, COUNTED)
        ]
    ):
        if answer["total"] != sum(message["tokens"] for message in answer["messages"]):
            session.fail("the sum of tokens is none")
        for message in answer["messages"]:
            counts[message["ordinal"]] = message["tokens"]
    marks, sampled = {}, spread(first, last, MARKED)
    for label in labels:
        answers = session.told(*[{**one, "atVersion": v, "marked": label} for v in sampled])
        marks[label] = [[v, ranges(answer["ordinals"])] for v, answer in zip(sampled, answers)]
    ends = spread(first, last, SAMPLES)
    pairs = [*zip(ends, ends[1:]), (last, first)]
    diffs = session.results(*[{"query": "diff", "from": a, "to": b} for a, b in pairs])
    return {
        "first": first,
        "log": log,
        "views": without_repeats(views),
        "history": history,
        "counts": counts,
        "marks": marks,
        "diffs": [[a, b, diff] for (a, b), diff in zip(pairs, diffs)],
    }


def read_head(session, found, operation_ids):
    """What is said of the head, and what was answered to operations that have an id."""
    names, log = ["batches", "markMap", "stats", "receipts", "uncompressed"], found["log"]
    head = dict(zip(names, session.results(*[{"query": name} for name in names])))
    head["uncompressed"] = ranges(head["uncompressed"]["ordinals"])
    head["snapshots"] = []
    for batch in head["batches"]:
        seen, snapshot = session.results(
            {"query": "messages", "atBatch": batch["index"]},
            {"query": "batchSnapshot", "batchIndex": batch["index"]},
        )
        if snapshot is not None and snapshot.pop("messages") != [
            log[ordinal] for ordinal in seen["ordinals"]
        ]:
            session.fail("a snapshot is not made of the messages of its batch")
        head["snapshots"].append([ranges(seen["ordinals"]), snapshot])
    ordinals = spread(0, len(log) - 1, SAMPLES) if log else []
    head["blames"] = session.results(
        *[{"query": "blame", "ordinal": ordinal} for ordinal in ordinals]
    )
    head["requests"] = read_requests(session)
    times = sorted({entry["timestamp"] for entry in found["history"]})[-4:]
    arrived = session.told(
        *[{"query": "messages", "all": True, "from": at, "to": at} for at in times]
    )
    head["arrived"] = [[at, ranges(answer["ordinals"])] for at, answer in zip(times, arrived)]
    head["answers"] = session.ask(*[{"operation": "UNDO", "operationId": i} for i in operation_ids])
    if session.version() != found["history"][-1]["version"]:
        session.fail("a repeated operation made a version")
    return head


def read_requests(session):
    """The recorded requests of clients, and their texts."""
    records = session.results({"query": "requests", "last": RECORDED})[0]
    return [
        [record, session.results({"query": "request", "number": record["number"]})[0]]
        for record in records
    ]


def read_stacks(binary, db, conversation, found):
    """The mark map and the batches of versions, each brought back by RESTORE in a copy."""
    versions = spread(found["first"], found["history"][-1]["version"], RESTORED)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(db, copy)
        with Session(binary, copy, conversation) as session:
            restored = [
                [{"operation": "RESTORE", "version": v}, {"query": "markMap"}, {"query": "batches"}]
                for v in versions
            ]
            answers = session.told(*[line for three in restored for line in three])
    stacks = []
    for version, mark_map, batches in zip(versions, answers[1::3], answers[2::3]):
        mark_map = mark_map["result"]
        indices, by_type = mark_map.pop("originalIndices"), mark_map.pop("typeIndices")
        if sorted(indices) != sorted(ordinal for kind in by_type.values() for ordinal in kind):
            session.fail(f"the mark map of version {version} has other messages by type")
        stacks.append(
            [
                version,
                ranges(indices),
                mark_map,
                [[b["openedBy"], b["openedAt"], b["messageCount"]] for b in batches["result"]],
            ]
        )
    return stacks
