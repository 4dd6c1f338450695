#!/usr/bin/env python3
"""Appends from several clients while the server is killed and started again and again: what was acknowledged is there, and nothing is there twice.

    [SEED=n] [KILLS=n] kill.py PROGRAM

Each client writes to conversations of its own and to one that all share. An append that was not answered is sent again with the same Idempotency-Key until
it is: it may have happened the first time.
"""

import http.client
import os
import random
import sys
import threading
import time

from running import running, texts_in, verdict

CLIENTS, CONVERSATIONS = 6, 3


class Client(threading.Thread):
    def __init__(self, server, number, stop):
        super().__init__()
        self.server, self.number, self.stop = server, number, stop
        self.acknowledged, self.again, self.problems, self.sent = {}, 0, [], 0

    def run(self):
        connection = None
        while not self.stop.is_set():
            conversation = (
                "shared" if self.sent % 5 == 0 else f"c{self.number}-{self.sent % CONVERSATIONS}"
            )
            text = f"client {self.number} append {self.sent}"
            self.sent += 1
            tries = 0
            while True:
                tries += 1
                try:
                    connection = connection or self.server.connection(timeout=10)
                    reply = self.server.request(
                        "POST",
                        f"/v1/conversations/{conversation}/operations",
                        {"operation": "APPEND", "messages": [{"role": "user", "content": text}]},
                        headers={"Idempotency-Key": text.replace(" ", "-")},
                        connection=connection,
                    )
                except (OSError, http.client.HTTPException):
                    # Killed, or not up yet.
                    if connection:
                        connection.close()
                    connection = None
                    time.sleep(0.01)
                    continue
                if reply.status == 200:
                    self.acknowledged.setdefault(conversation, []).append(text)
                    self.again += tries > 1
                    break
                if reply.status == 503:
                    continue
                self.problems.append(f"{text}: {reply}")
                return


def main():
    seed = int(os.environ.get("SEED") or random.randrange(1 << 30))
    kills = int(os.environ.get("KILLS") or 8)
    print(f"SEED={seed} KILLS={kills}")
    chance = random.Random(seed)
    with running(sys.argv[1], "--quiet") as server:
        for name in [
            "shared",
            *(f"c{i}-{k}" for i in range(CLIENTS) for k in range(CONVERSATIONS)),
        ]:
            server.make(name)
        stop = threading.Event()
        clients = [Client(server, number, stop) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        for _ in range(kills):
            time.sleep(0.1 + chance.random() * 0.5)
            server.kill()
            server.start()
        time.sleep(0.3)
        stop.set()
        for client in clients:
            client.join()
        problems = [problem for client in clients for problem in client.problems]
        total = 0
        for client in clients:
            for conversation, texts in client.acknowledged.items():
                total += len(texts)
                if conversation != "shared":
                    stored = texts_in(server, conversation)
                    if stored != texts:
                        problems.append(
                            f"{conversation}: acknowledged {len(texts)}, stored {len(stored)}"
                        )
        stored = texts_in(server, "shared")
        expected = sorted(
            text for client in clients for text in client.acknowledged.get("shared", [])
        )
        if sorted(stored) != expected:
            problems.append(
                f"shared: acknowledged {len(expected)}, stored {len(stored)}, {len(set(stored))} different"
            )
        for client in clients:
            own = [text for text in stored if text.startswith(f"client {client.number} ")]
            if own != client.acknowledged.get("shared", []):
                problems.append(f"shared: those of client {client.number} are in another order")
        again = sum(client.again for client in clients)
        print(f"{total} appends acknowledged, {again} of them sent more than once, {kills} kills")
        if total < 10 * kills or again == 0:
            problems.append("too little happened for this to prove anything")
        status = verdict(server, problems)
        print(server.folder.run("check", "--store", server.store).strip())
        return status


if __name__ == "__main__":
    sys.exit(main())
