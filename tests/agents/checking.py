"""What must hold when the requests of a client are followed, whoever it is."""
import collections
import json
import subprocess
import tempfile


class Conversation:
    """One `undertext exec`."""

    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, "exec", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
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
        key = (headers.get("x-claude-code-session-id") or headers.get("thread-id"), headers.get("x-claude-code-agent-id"))
        found.setdefault(key, []).append(request)
    return found


def follow(program, client, dialect, requests, *options):
    """Sends each request twice; answers the outcomes. The view, rendered, has the request's messages; nothing is stored twice."""
    conversation = Conversation(program, *options)
    outcomes, most, moved, before = [], collections.Counter(), set(), collections.Counter()
    for request in requests:
        answer = conversation.ask({"operation": "RECONCILE", "client": client, "request": request.body})
        outcomes.append(answer["outcome"])
        again = conversation.ask({"operation": "RECONCILE", "client": client, "request": request.body})
        assert (again["outcome"], again["version"]) == ("same", answer["version"]), again
        rendered = conversation.ask({"query": "render", "dialect": dialect})["result"]["request"]
        back = conversation.ask({"operation": "RECONCILE", "client": client, "request": rendered})
        assert back["outcome"] == "same", (back, differing(request.body, rendered))
        view = collections.Counter(map(said, conversation.ask({"query": "messages"})["messages"]))
        most |= view
        if answer["outcome"] == "compacted":  # what a client writes again at another place is a new message
            moved |= (before & view).keys()
            check_compaction(conversation, before - view, request, client)
        before = view
    stored = collections.Counter(map(said, conversation.ask({"query": "messages", "all": True})["messages"]))
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
    index = next(i for i, message in enumerate(view) if any(text in json.dumps(message) for text in SUMMARIES))
    conversation.ask({"operation": "EXPAND", "index": index})
    expanded = collections.Counter(map(said, conversation.ask({"query": "messages"})["messages"]))
    assert not dropped - expanded, dropped - expanded
    conversation.ask({"operation": "UNDO"})
    assert conversation.ask({"operation": "RECONCILE", "client": client, "request": request.body})["outcome"] == "same"


def said(message):
    return json.dumps({key: value for key, value in message.items() if key != "native"}, sort_keys=True)


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
            answer = conversation.ask({"operation": "RECONCILE", "client": client, "request": request.body})
            outcomes.append(answer["outcome"])
            assert conversation.ask({"operation": "RECONCILE", "client": client, "request": request.body})["outcome"] == "same"
            conversation.close()
        return outcomes
