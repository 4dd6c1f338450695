#!/usr/bin/env python3
"""Two servers on one store behind HAProxy are stopped and started again in turn, while clients go on: no request fails, and nothing is
lost or there twice.

    [ROUNDS=n] rolling.py PROGRAM

Clients try nothing again: what is refused or torn is a failure. A server is drained through POST /v1/drain and then stopped, and the next
time stopped with --drain-seconds.
"""

import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

from running import Folder, Server, texts_in

CLIENTS = 6
HAPROXY = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
CONFIGURATION = """
global
  stats socket {folder}/haproxy.sock mode 600 level operator
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 10s
frontend all
  bind 127.0.0.1:{port}
  default_backend servers
backend servers
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host 127.0.0.1:{port}
  server a {a} check inter 100ms fall 1 rise 1
  server b {b} check inter 100ms fall 1 rise 1
"""


class Client(threading.Thread):
    def __init__(self, port, number, stop):
        super().__init__()
        self.port, self.number, self.stop = port, number, stop
        self.acknowledged, self.problems = [], []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self.stop.is_set():
            text = f"client {self.number} append {len(self.acknowledged)}"
            body = {"operation": "APPEND", "messages": [{"role": "user", "content": text}]}
            try:
                connection.request(
                    "POST",
                    f"/v1/conversations/c{self.number}/operations",
                    json.dumps(body),
                    {"Content-Type": "application/json"},
                )
                reply = connection.getresponse()
                answer = reply.read()
            except (OSError, http.client.HTTPException) as error:
                self.problems.append(f"{text}: {error!r}")
                return
            if reply.status != 200:
                self.problems.append(f"{text}: {reply.status} {answer[:200]}")
                return
            self.acknowledged.append(text)


def go_on(clients, appends=20):
    """Until each of them has so many more, or has failed."""
    goals = [len(client.acknowledged) + appends for client in clients]
    return until(
        lambda: all(
            len(client.acknowledged) >= goal or client.problems
            for client, goal in zip(clients, goals)
        )
    )


class Balancer:
    def __init__(self, folder, port, a, b):
        self.socket = str(folder / "haproxy.sock")
        settings = folder / "haproxy.cfg"
        settings.write_text(CONFIGURATION.format(folder=folder, port=port, a=a.host, b=b.host))
        self.process = subprocess.Popen(
            [HAPROXY, "-db", "-f", str(settings)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def status(self, name):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.socket)
            connection.sendall(b"show stat\n")
            answer = b""
            while some := connection.recv(65536):
                answer += some
        for line in answer.decode().splitlines():
            fields = line.split(",")
            if fields[:2] == ["servers", name]:
                return fields[17]
        return ""

    def wait_for(self, name, status):
        return until(lambda: self.status(name) == status)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def until(condition, patience=60):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            if condition():
                return True
        except OSError:
            pass
        time.sleep(0.01)
    return False


def main(program, rounds):
    problems = []
    folder = Folder(program)
    other = Folder(program)  # the same store, with a log of its own
    port = free_port()
    servers = {}
    try:
        store = "sqlite:" + str(folder.path / "store" / "undertext.db")
        for name, where in (("a", folder), ("b", other)):
            servers[name] = Server(
                where, "--host", f"127.0.0.1:{port}", "--drain-seconds", 1, store=store
            )
        balancer = Balancer(folder.path, port, servers["a"], servers["b"])
        stop = threading.Event()
        try:
            clients = [Client(port, number, stop) for number in range(CLIENTS)]
            if not all(balancer.wait_for(name, "UP") for name in servers):
                problems.append("the servers do not come up")
            for client in clients:
                servers["a"].make(f"c{client.number}")
                client.start()
            go_on(clients)
            for turn in range(rounds):
                for name, server in servers.items():
                    if turn % 2 == 0:
                        reply = server.request("POST", "/v1/drain")
                        if reply.status != 200 or not reply.json()["result"]["draining"]:
                            problems.append(f"drain: {reply}")
                        if server.request("GET", "/readyz").status != 503:
                            problems.append("a server that drains is ready")
                        if not balancer.wait_for(name, "DOWN"):
                            problems.append(f"{name} is not left out")
                        if not until(
                            lambda: (
                                server.request("POST", "/v1/drain").json()["result"]["requests"]
                                == 0
                            )
                        ):
                            problems.append(f"{name} is never without requests")
                    status = server.stop()
                    if status != 0:
                        problems.append(f"{name} ended with {status}")
                    if not go_on(clients):
                        problems.append(f"without {name} the clients do not get on")
                    server.start()
                    if not balancer.wait_for(name, "UP"):
                        problems.append(f"{name} does not come up again")
            stop.set()
            for client in clients:
                client.join()
                problems += client.problems
                stored = texts_in(servers["a"], f"c{client.number}")
                if stored != client.acknowledged:
                    problems.append(
                        f"client {client.number}: {len(client.acknowledged)} acknowledged, "
                        f"{len(stored)} stored"
                    )
            sent = sum(len(client.acknowledged) for client in clients)
            print(f"{2 * rounds} restarts, {sent} appends, {len(problems)} problems")
        finally:
            stop.set()
            balancer.process.terminate()
            balancer.process.wait(30)
    finally:
        for server in servers.values():
            server.close()
        folder.remove()
        other.remove()
    return problems


if __name__ == "__main__":
    if HAPROXY is None:
        print("skipped: haproxy: haproxy is not installed")
        sys.exit(77)
    found = main(pathlib.Path(sys.argv[1]), int(os.environ.get("ROUNDS", "2")))
    print("\n".join(found[:20]))
    sys.exit(1 if found else 0)
