#!/usr/bin/env python3
"""Everyday load for a while, and the memory of the server must stop growing.

    [SOAK_SECONDS=n] [KEPT=n] soak.py PROGRAM [FILE]     20 seconds and 4 conversations unless told; FILE gets the resident size over time, as JSON

Clients append, read, make, fork and delete conversations, ask for what is not there, send what is no JSON, follow events and go away in the middle. The
conversations that stay are truncated now and then, as agents' are. Their histories grow all the same, and with them what the server keeps of each in memory,
up to its share; so that nothing should grow, one that has VERSIONS versions is taken out, and another begun in its place.
"""

import http.client
import json
import os
import random
import sys
import threading
import time

from running import running, verdict

CLIENTS, VERSIONS = 8, 1000


class Kept:
    """The conversations that stay, by their names of the moment."""

    def __init__(self, server, count):
        self.server, self.lock, self.begun = server, threading.Lock(), 0
        self.names = [self.begin() for _ in range(count)]

    def begin(self):
        self.begun += 1
        name = f"kept-{self.begun}"
        self.server.make(name)
        return name

    def begin_again(self, number, old):
        """Once, whoever notices first."""
        with self.lock:
            if self.names[number] != old:
                return False
            self.names[number] = self.begin()
            return True


def client(server, seed, kept, until, counts, problems):
    chance = random.Random(seed)
    connection = server.connection()
    made = 0

    def ask(method, path, body=None, good=(200, 201), **options):
        reply = server.request(method, path, body, connection=connection, **options)
        counts[seed] += 1
        if reply.status not in good:
            problems.append(f"{method} {path}: {reply}")
        return reply

    try:
        while time.monotonic() < until and not problems:
            number = chance.randrange(len(kept.names))
            name = kept.names[number]
            path = f"/v1/conversations/{name}"
            good = (200, 404)  # somebody may take it out in between
            what = chance.random()
            if what < 0.45:
                operation = {
                    "operation": "APPEND",
                    "messages": [{"role": "user", "content": "word " * chance.randrange(5, 100)}],
                }
                reply = ask("POST", path + "/operations", operation, good=good)
                if (
                    reply.status == 200
                    and reply.json()["version"] >= VERSIONS
                    and kept.begin_again(number, name)
                ):
                    ask("DELETE", path + "?why=soak")
            elif what < 0.8:
                ask("GET", path + "/messages?last=50", good=good)
            elif what < 0.85:
                ask(
                    "POST",
                    path + "/operations",
                    {"operation": "TRUNCATE", "keepLast": 200},
                    good=good,
                )
            elif what < 0.9:
                name = f"passing-{seed}-{made}"
                made += 1
                ask("POST", "/v1/conversations", {"id": name})
                ask(
                    "POST",
                    f"/v1/conversations/{name}/operations",
                    {"operation": "APPEND", "messages": [{"role": "user", "content": "short"}]},
                )
                ask("DELETE", f"/v1/conversations/{name}?why=soak", good=(200, 204))
            elif what < 0.94:
                ask("GET", f"/v1/conversations/never-{chance.randrange(1 << 40)}", good=(404,))
                ask("GET", f"/nowhere/{chance.randrange(1 << 40)}", good=(404,))
            elif what < 0.97:
                ask(
                    "POST",
                    path + "/operations",
                    '{"operation":',
                    headers={"Content-Type": "application/json"},
                    good=(400, 404),
                )
                ask("GET", path + "/history?limit=20", good=good)
            else:
                with server.connect() as other:  # goes away in the middle
                    other.sendall(
                        f"GET {path}/events HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode()
                    )
                    other.recv(100)
    except (OSError, http.client.HTTPException) as problem:
        problems.append(repr(problem))


def main():
    seconds = float(os.environ.get("SOAK_SECONDS") or 20)
    with running(sys.argv[1], "--quiet") as server:
        kept = Kept(server, int(os.environ.get("KEPT") or 4))
        counts, problems = [0] * CLIENTS, []
        began = time.monotonic()
        threads = [
            threading.Thread(
                target=client, args=(server, seed, kept, began + seconds, counts, problems)
            )
            for seed in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        samples = []
        while any(thread.is_alive() for thread in threads):
            samples.append((round(time.monotonic() - began, 1), server.resident_bytes()))
            time.sleep(min(1.0, seconds / 20))
        # The first half fills caches; from then on it may not go on growing.
        half = len(samples) // 2
        third = max(1, half // 3)
        early = sum(size for _, size in samples[half : half + third]) / third
        late = sum(size for _, size in samples[-third:]) / third
        result = {
            "seconds": seconds,
            "requests": sum(counts),
            "conversations": len(kept.names),
            "begun": kept.begun,
            "middle_mib": round(early / 2**20, 1),
            "end_mib": round(late / 2**20, 1),
            "resident_bytes": samples,
        }
        print({key: value for key, value in result.items() if key != "resident_bytes"})
        if len(sys.argv) > 2:
            with open(sys.argv[2], "w") as file:
                json.dump(result, file)
        if late > (early * 1.15 + (8 << 20) if seconds < 300 else early * 1.05 + (4 << 20)):
            problems.append("the resident size grows")
        if sum(counts) < 20 * seconds:
            problems.append("too little happened for this to prove anything")
        return verdict(server, problems)


if __name__ == "__main__":
    sys.exit(main())
