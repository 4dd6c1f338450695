#!/usr/bin/env python3
"""What the gateway adds to the time to the first byte, beside a direct connection, a plain TCP relay in Python and a proxy of others, in one run on this machine.

    latency.py PROGRAM [ROUNDS [PROXIES]]      PROXIES: what scripts/peers proxies has got

One request at a time: direct, relay, http-proxy, gateway, gateway without recording, in an order that changes; a process of its own for the upstream, for each proxy and for the client. Bodies of
72 kB and 429 kB in the form of Claude Code's. Prints lines of JSON: idle memory and the time until the gateway is ready (the median of 20 starts), the ways with their p50 and p99,
what share of one core each process had, and 1,000 streams at once with bodies of three sizes. Client and upstream are the load generator. Exits with 1 where a gateway is not ready
within 60 ms (median) or has more than 30 MB then.
"""

import json
import multiprocessing
import os
import pathlib
import random
import resource
import socket
import statistics
import subprocess
import sys
import time

# What is promised of a gateway that has just started.
READY_P50_MS_MAX, IDLE_MB_MAX = 60, 30

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/gateway"))
from gateways import Client, Folder, Gateway

ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"".join(
        b"%x\r\n%s\r\n" % (len(p), p)
        for p in (
            b'event: message_start\ndata: {"type":"message_start"}\n\n',
            b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        )
    )
    + b"0\r\n\r\n"
)


def body_of(size):
    """A long conversation of text, as an agent sends it."""
    message = {
        "role": "user",
        "content": [{"type": "text", "text": "The quick brown fox jumps over the lazy dog. " * 20}],
    }
    request = {
        "model": "m",
        "max_tokens": 1000,
        "stream": True,
        "system": "Be brief.",
        "messages": [],
    }
    while len(json.dumps(request)) < size:
        request["messages"].append(
            dict(message, role="user" if len(request["messages"]) % 2 == 0 else "assistant")
        )
    return json.dumps(request).encode()


def serve(listener):
    """Reads requests and answers each at once; a thread for each connection would be more than one client needs."""
    import selectors

    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    pending = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(connection, selectors.EVENT_READ)
                pending[connection] = bytearray()
                continue
            connection = key.fileobj
            data = connection.recv(1 << 20)
            if not data:
                selector.unregister(connection)
                connection.close()
                continue
            buffer = pending[connection]
            buffer += data
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                continue
            length = int(bytes(buffer[:end]).lower().split(b"content-length:")[1].split(b"\r\n")[0])
            if len(buffer) >= end + 4 + length:
                buffer.clear()
                connection.sendall(ANSWER)


def relay(listener, port):
    import selectors

    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    other = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                pair = (listener.accept()[0], socket.create_connection(("127.0.0.1", port)))
                for end, opposite in (pair, pair[::-1]):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    other[end] = opposite
                    selector.register(end, selectors.EVENT_READ)
                continue
            data = key.fileobj.recv(1 << 20)
            if data:
                other[key.fileobj].sendall(data)
                continue
            for end in (key.fileobj, other[key.fileobj]):
                selector.unregister(end)
                end.close()


def started(target, *more):
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    process = multiprocessing.Process(target=target, args=(listener, *more), daemon=True)
    process.start()
    port = listener.getsockname()[1]
    listener.close()
    return process, port


def ask(client, body, number):
    """The time from the first byte out to the first byte back."""
    head = (
        f"POST /v1/messages HTTP/1.1\r\nHost: {client.host}\r\nContent-Type: application/json\r\nX-Claude-Code-Session-Id: bench-{number % 8}\r\n"
        f"x-api-key: none\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    began = time.perf_counter()
    client.send(head + body)
    client.more()
    took = time.perf_counter() - began
    client.until(b"0\r\n\r\n")
    return took * 1000


def started_proxy(url, packages):
    """http-proxy of npm: (process, port). None where it is not there."""
    if not packages or not (pathlib.Path(packages) / "node_modules/http-proxy").exists():
        return None
    process = subprocess.Popen(
        ["node", str(ROOT / "bench/gateway/proxy/proxy.cjs"), url, packages],
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, int(process.stdout.readline())


def starts(folder, url, count=20):
    """Times until the gateway takes requests, and its memory then."""
    times, resident = [], []
    for number in range(count):
        with Gateway(
            folder, url, "--quiet", f"sqlite:{folder.path}/start{number % 2}.db"
        ) as gateway:
            times.append(gateway.ready_s * 1000)
            resident.append(gateway.resident_bytes() / 1e6)
    return {
        "starts": count,
        "ready_p50_ms": round(statistics.median(times), 1),
        "ready_max_ms": round(max(times), 1),
        "idle_MB": round(statistics.median(resident), 1),
    }


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(program, rounds, packages):
    folder = Folder(program)
    upstream, port = started(serve)
    relaying, relay_port = started(relay, port)
    url = f"http://127.0.0.1:{port}"
    proxy = started_proxy(url, packages)
    if proxy is None:
        print("skipped: http-proxy: scripts/peers proxies has not got it", file=sys.stderr)
    try:
        begun = starts(folder, url)
        print(json.dumps(begun), flush=True)
        missed = [
            f"{what} is {begun[what]}, over {most}"
            for what, most in (("ready_p50_ms", READY_P50_MS_MAX), ("idle_MB", IDLE_MB_MAX))
            if begun[what] > most
        ]
        for each in missed:
            print(f"MISSED: {each}", file=sys.stderr, flush=True)
        with (
            Gateway(folder, url, "--quiet", "sqlite:" + str(folder.path / "bench.db")) as gateway,
            Gateway(folder, url, "--quiet", "--record", "none") as plain,
        ):
            hosts = {
                "direct": f"127.0.0.1:{port}",
                "relay": f"127.0.0.1:{relay_port}",
                "gateway": gateway.host,
                "gateway, not recording": plain.host,
            }
            if proxy:
                hosts["http-proxy"] = f"127.0.0.1:{proxy[1]}"
            clients = {way: Client(host) for way, host in hosts.items()}
            for size in (72_000, 429_000):
                body = body_of(size)
                for client in clients.values():
                    for number in range(20):
                        ask(client, body, number)
                began, cpu = (
                    time.perf_counter(),
                    {
                        "client": sum(resource.getrusage(resource.RUSAGE_SELF)[:2]),
                        "upstream": cpu_seconds(upstream.pid),
                        "gateway": cpu_seconds(gateway.process.pid),
                    },
                )
                times = {way: [] for way in clients}
                for number in range(rounds):
                    # In another order each time: while one way is measured, the gateway records what it was asked before.
                    for way in random.Random(number).sample(sorted(clients), len(clients)):
                        times[way].append(ask(clients[way], body, number))
                wall = time.perf_counter() - began
                shares = {
                    "client": sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - cpu["client"],
                    "upstream": cpu_seconds(upstream.pid) - cpu["upstream"],
                    "gateway": cpu_seconds(gateway.process.pid) - cpu["gateway"],
                }
                direct = {share: quantile(times["direct"], share) for share in (0.5, 0.99)}
                for way, values in times.items():
                    row = {
                        "body": size,
                        "way": way,
                        "p50_ms": round(quantile(values, 0.5), 3),
                        "p99_ms": round(quantile(values, 0.99), 3),
                    }
                    row |= {
                        "added_p50_ms": round(row["p50_ms"] - direct[0.5], 3),
                        "added_p99_ms": round(row["p99_ms"] - direct[0.99], 3),
                    }
                    print(json.dumps(row), flush=True)
                print(
                    json.dumps(
                        {
                            "body": size,
                            "cores": os.cpu_count(),
                            "load": os.getloadavg()[0],
                            "share_of_one_core": {
                                who: round(s / wall, 2) for who, s in shares.items()
                            },
                            "load_generator_share_of_all_cores": round(
                                (shares["client"] + shares["upstream"]) / wall / os.cpu_count(), 2
                            ),
                        }
                    ),
                    flush=True,
                )
            for client in clients.values():
                client.close()
            print(
                json.dumps(
                    {
                        "after_MB": round(gateway.resident_bytes() / 1e6, 1),
                        "mean_gateway_ms": round(statistics.mean(times["gateway"]), 3),
                    }
                ),
                flush=True,
            )
    finally:
        for process in (upstream, relaying, *(proxy or ())[:1]):
            process.kill()
        folder.remove()
    many = subprocess.run(
        [sys.executable, str(ROOT / "tests/gateway/many.py"), program],
        capture_output=True,
        text=True,
    )
    print(json.dumps({"many": many.stdout.strip() or many.stderr.strip()[-300:]}), flush=True)
    if missed:
        sys.exit("MISSED: " + "; ".join(missed))


if __name__ == "__main__":
    measure(
        os.path.abspath(sys.argv[1]),
        int(sys.argv[2]) if len(sys.argv) > 2 else 300,
        sys.argv[3] if len(sys.argv) > 3 else None,
    )
