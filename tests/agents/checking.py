"""What must hold when the requests of a client are followed, whoever it is."""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clients"))
import spelling

BILLING = "x-anthropic-billing-header"  # a line that Claude Code rewrites; the newest recorded request has it


class Conversation:
    """One `undertext exec`."""

    def __init__(self, program, *options):
        self.process = subprocess.Popen(
            [program, "exec", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask_raw(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def ask(self, line):
        answer = json.loads(self.ask_raw(line))
        assert answer["ok"], (str(line)[:300], answer)
        return answer

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


def conversations(requests):
    """By session and sub-agent: each is a conversation of its own."""
    found = collections.OrderedDict()
    for request in requests:
        headers = {name.lower(): value for name, value in request.headers.items()}
        key = (
            headers.get("x-claude-code-session-id") or headers.get("thread-id"),
            headers.get("x-claude-code-agent-id"),
        )
        found.setdefault(key, []).append(request)
    return found


def follow(program, client, dialect, requests, *options):
    """Sends each request twice; answers the outcomes. The view, rendered, has the request's messages; nothing is stored twice."""
    conversation = Conversation(program, *options)
    outcomes, most, moved, before = [], collections.Counter(), set(), collections.Counter()
    for request in requests:
        answer = conversation.ask(
            {"operation": "RECONCILE", "client": client, "request": request.body}
        )
        outcomes.append(answer["outcome"])
        again = conversation.ask(
            {"operation": "RECONCILE", "client": client, "request": request.body}
        )
        assert (again["outcome"], again["version"]) == ("same", answer["version"]), again
        rendered = conversation.ask({"query": "render", "dialect": dialect})["result"]["request"]
        back = conversation.ask({"operation": "RECONCILE", "client": client, "request": rendered})
        assert back["outcome"] == "same", (back, differing(request.body, rendered))
        check_said(dialect, request.body, rendered)
        view = collections.Counter(map(said, conversation.ask({"query": "messages"})["messages"]))
        most |= view
        if (
            answer["outcome"] == "compacted"
        ):  # what a client writes again at another place is a new message
            moved |= (before & view).keys()
            check_compaction(conversation, before - view, request, client)
        before = view
    stored = collections.Counter(
        map(said, conversation.ask({"query": "messages", "all": True})["messages"])
    )
    twice = (stored - most).keys() - moved
    assert not twice, twice
    # A client that goes back and does it all once more says nothing new.
    for request in requests:
        conversation.ask({"operation": "RECONCILE", "client": client, "request": request.body})
    again = len(conversation.ask({"query": "messages", "all": True})["messages"])
    assert again == sum(stored.values()), (again, sum(stored.values()))
    conversation.close()
    return outcomes


SUMMARIES = ('"compaction"', "This session is being continued", "Another language model")


def check_compaction(conversation, dropped, request, client):
    """The client's own summary stands for what it dropped: EXPAND brings all of it back, and UNDO takes it back."""
    view = conversation.ask({"query": "messages"})["messages"]
    index = next(
        i
        for i, message in enumerate(view)
        if any(text in json.dumps(message) for text in SUMMARIES)
    )
    conversation.ask({"operation": "EXPAND", "index": index})
    expanded = collections.Counter(map(said, conversation.ask({"query": "messages"})["messages"]))
    assert not dropped - expanded, dropped - expanded
    conversation.ask({"operation": "UNDO"})
    assert (
        conversation.ask({"operation": "RECONCILE", "client": client, "request": request.body})[
            "outcome"
        ]
        == "same"
    )


def wire(dialect, body):
    """What a request says to a reader that knows nothing of the engine, without what the client's profile calls volatile."""
    found = spelling.said(dialect, body)
    return [
        entry
        for entry in found
        if not (isinstance(entry[1], tuple) and entry[1][1].startswith(BILLING))
    ]


def check_said(dialect, sent, rendered):
    expected, got = wire(dialect, sent), wire(dialect, rendered)
    for index, (a, b) in enumerate(zip(expected, got)):
        assert a == b, f"entry {index}: sent {str(a)[:400]}, rendered {str(b)[:400]}"
    assert len(expected) == len(got), (len(expected), len(got))


def rendered_list(conversation, dialect):
    """The bytes of the list that a model would be sent, up to its closing bracket."""
    line = conversation.ask_raw({"query": "render", "dialect": dialect})
    decoder = json.JSONDecoder()
    at = line.index('"request":') + len('"request":') + 1
    while True:
        name, at = decoder.raw_decode(line, at)
        _, end = decoder.raw_decode(line, at + 1)
        if name == spelling.LISTS[dialect]:
            return line[at + 1 : end - 1]
        assert line[end] == ",", line[end : end + 20]
        at = end + 1


def follow_compressed(program, client, dialect, requests):
    """A stretch is compressed between requests: what stands before the new messages stays the same to the byte, until the client edits."""
    conversation = Conversation(program)
    kept = compressed = 0
    before = None
    for request in requests:
        answer = conversation.ask(
            {"operation": "RECONCILE", "client": client, "request": request.body}
        )
        now = rendered_list(conversation, dialect)
        if before is not None and answer["outcome"] in ("same", "appended"):
            assert now.startswith(before), [(a, b) for a, b in zip(now, before) if a != b][:1]
            kept += 1
        view = conversation.ask({"query": "messages"})["messages"]
        asked = [
            index
            for index, message in enumerate(view)
            if message["role"] == "user" and '"tool_result"' not in json.dumps(message)
        ]
        if answer["outcome"] != "same" and len(asked) > 2 and asked[-1] - asked[0] > 2:
            summary = {
                "role": "user",
                "content": f"What was done so far, told for the time {compressed}.",
            }
            # From the first question to the newest: whole units.
            hidden = conversation.ask(
                {
                    "operation": "COMPRESS",
                    "indices": list(range(asked[0], asked[-1])),
                    "summary": summary,
                }
            )
            assert "warnings" not in hidden, hidden
            compressed += 1
            now = rendered_list(conversation, dialect)
            assert "What was done so far" in now
        before = now
    conversation.close()
    return compressed, kept


def import_after(program, client, dialect, requests):
    """The same requests by the command, each from a file: only what is new is stored, and the export says what was sent."""
    with tempfile.TemporaryDirectory() as folder:
        where = ["c", "--store", f"sqlite:{folder}/c.db"]
        file = pathlib.Path(folder) / "request.json"

        def run(*words):
            made = subprocess.run([program, *words], capture_output=True, text=True, timeout=60)
            assert made.returncode == 0, (words, made.stderr[-1000:])
            return json.loads(made.stdout)

        for number, request in enumerate(requests):
            file.write_text(json.dumps(request.body))
            words = ["import", str(file), *where, "--dialect", dialect, "--json"]
            after = ["--append", "--after", "--client", client]
            run(*words, *(after if number else []))
            again = run(*words, *after)["result"]
            assert (again["versions"] > 0) == (number == 0) and again["messages"] == 0, (
                again
            )  # the first one begins the list
            check_said(dialect, request.body, run("export", *where, "--dialect", dialect))


def said(message):
    return json.dumps(
        {key: value for key, value in message.items() if key != "native"}, sort_keys=True
    )


def differing(sent, rendered):
    for field in ("system", "instructions", "messages", "input"):
        a, b = sent.get(field), rendered.get(field)
        if a != b and isinstance(a, list) and isinstance(b, list):
            for index, (x, y) in enumerate(zip(a, b)):
                if x != y:
                    print(field, index, json.dumps(x)[:500], "\n   ", json.dumps(y)[:500])
            print(field, len(a), len(b))
    return "see above"


def follow_stored(program, client, requests):
    """The same with a store, each request by a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        store = ["--store", f"sqlite:{folder}/c.db", "--conversation", "c"]
        outcomes = []
        for request in requests:
            conversation = Conversation(program, *store)
            answer = conversation.ask(
                {"operation": "RECONCILE", "client": client, "request": request.body}
            )
            outcomes.append(answer["outcome"])
            assert (
                conversation.ask(
                    {"operation": "RECONCILE", "client": client, "request": request.body}
                )["outcome"]
                == "same"
            )
            conversation.close()
        return outcomes
