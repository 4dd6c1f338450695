#!/usr/bin/env python3
"""Requests of one conversation at the same time, by several programs on one store.   reconcile_race_test.py UNDERTEXT [ROUNDS]

Each round two clients send lists that go on from the same beginning. They come one after the other, in either order: the view is one of the two lists and never a mixture, each
request made one version, and no message is stored twice. With expectedVersion one of them is a conflict.
The store is one of SQLite, or the PostgreSQL that UNDERTEXT_TEST_POSTGRES names. Then the same by two connections to one server.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "server"))
from running import Folder, Server


class Client:
    def __init__(self, program, url):
        self.process = subprocess.Popen(
            [program, "exec", "--store", url, "--conversation", "c"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


class HttpClient:
    """The same over HTTP, on a connection of its own."""

    def __init__(self, server):
        self.server, self.connection = server, server.connection()

    def ask(self, line):
        path = "/v1/conversations/c/" + ("operations" if "operation" in line else "query")
        return self.server.request("POST", path, line, connection=self.connection).json()

    def close(self):
        self.connection.close()


def at_once(clients, lines):
    answers, barrier = [None] * len(clients), threading.Barrier(len(clients))

    def send(i):
        barrier.wait()
        answers[i] = clients[i].ask(lines[i])

    threads = [threading.Thread(target=send, args=(i,)) for i in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return answers


def reconcile(texts, **more):
    roles = ("user", "assistant")
    return {
        "operation": "RECONCILE",
        "client": "openai_chat",
        "messages": [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)],
        **more,
    }


def race(clients, rounds, name):
    seen, version, orders = set(), 0, set()
    base = ["begin"]
    for number in range(rounds):
        lists = [base + [f"{name} {number} {i}" for i in range(3)] for name in "ab"]
        expected = {"expectedVersion": version} if number % 3 == 2 else {}
        answers = at_once(clients, [reconcile(texts, **expected) for texts in lists])
        done = [i for i, answer in enumerate(answers) if answer["ok"]]
        refused = [answer["error"]["code"] for answer in answers if not answer["ok"]]
        assert (len(done), refused) == ((1, ["conflict"]) if expected else (2, [])), answers
        version += len(done)
        assert sorted(answers[i]["version"] for i in done) == list(
            range(version - len(done) + 1, version + 1)
        ), answers
        last = max(done, key=lambda i: answers[i]["version"])
        orders.add(last)
        seen.update(text for i in done for text in lists[i])
        for client in clients:
            assert (
                client.ask(
                    {
                        "operation": "RECONCILE",
                        "client": "openai_chat",
                        "messages": reconcile(lists[last])["messages"],
                    }
                )["outcome"]
                == "same"
            )
            view = [message["content"] for message in client.ask({"query": "messages"})["messages"]]
            assert view == lists[last], (view, lists)
        stored = [
            message["content"]
            for message in clients[0].ask({"query": "messages", "all": True})["messages"]
        ]
        assert sorted(stored) == sorted(seen), "stored twice"
        base = lists[last][:2]
    for client in clients:
        client.close()
    print(
        f"{name}: {rounds} rounds, {version} versions; the last was each of them: {len(orders) == 2}"
    )


def main(program, rounds):
    with tempfile.TemporaryDirectory() as path:
        url = os.environ.get("UNDERTEXT_TEST_POSTGRES", f"sqlite:{path}/c.db")
        race([Client(program, url) for _ in range(2)], rounds, url.split(":")[0])
    if url.startswith("sqlite:"):
        folder = Folder(program)
        try:
            with contextlib.closing(Server(folder)) as server:
                assert server.request("POST", "/v1/conversations", {"id": "c"}).status == 201
                race([HttpClient(server) for _ in range(2)], rounds, "http")
        finally:
            folder.remove()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 30)
