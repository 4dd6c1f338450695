#!/usr/bin/env python3
"""What passes the gateway is what was sent: requests as the upstream sees them, answers as the client does, byte by byte.

wire.py PROGRAM
"""

import asyncio
import gzip
import random
import re
import subprocess
import sys
import threading

from gateways import Client, Folder, Gateway
from upstream import Upstream, chunk, echoed, head, raw, streamed, switched, whole

FIELDS = [
    ("User-Agent", "test/1.0"),
    ("x-API-key", "sk-canary"),
    ("Anthropic-Version", "2023-06-01"),
    ("Content-Type", "application/json"),
    ("X-Empty", ""),
    ("x-twice", "a"),
    ("X-Twice", "b"),
    ("Accept-Encoding", "gzip, zstd"),
    ("X-Latin", "caf\xe9"),
]


def both(gateway, upstream, method, target, fields=(), body=None):
    """The same request without the gateway and with it: [(what the upstream got, what the client got)]."""
    seen = []
    for host in (f"127.0.0.1:{upstream.port}", gateway.host):
        with Client(host) as client:
            answer = client.ask(method, target, fields, body)
            seen.append((upstream.last(), answer))
    return seen


def passed_on(fields):
    return [(name, value) for name, value in fields if name.lower() != "host"]


def a_request_arrives_as_it_was_sent(gateway, upstream):
    for method, target, body in (
        ("POST", "/v1/messages?beta=true", b'{"a": [1,  2]}'),
        ("POST", "/v1/chat/completions", b"x" * 500_000),
        ("GET", "/v1/models", None),
        ("DELETE", "/v1/files/a%2Fb/../c?d=%zz&e=[]", None),
        ("PATCH", "/odd//path;v=1", b""),
        ("POST", "/v1/nothing", None),
        ("GET", "/with/body", b"why not"),
        ("HEAD", "/", None),
        ("OPTIONS", "/v1/x", None),
        ("PUT", "/v1/x", b"\0\r\n\xff"),
    ):
        (direct, first), (through, second) = both(gateway, upstream, method, target, FIELDS, body)
        assert (through.method, through.target, through.body) == (
            direct.method,
            direct.target,
            direct.body,
        ), (target, through)
        assert passed_on(through.fields) == passed_on(direct.fields), (
            target,
            through.fields,
            direct.fields,
        )
        assert (second.status_line, second.body) == (first.status_line, first.body), (first, second)
    print("a request arrives as it was sent")


def a_chunked_request_arrives_in_chunks(gateway, upstream):
    (direct, _), (through, _) = both(
        gateway,
        upstream,
        "POST",
        "/v1/responses",
        [("Transfer-Encoding", "chunked")],
        chunk(b"abc") + chunk(b"d" * 90_000) + b"0\r\n\r\n",
    )
    assert through.body == direct.body == b"abc" + b"d" * 90_000
    assert sorted(passed_on(through.fields)) == sorted(passed_on(direct.fields)), through.fields
    print("a chunked request arrives in chunks")


def fields_of_a_connection_stay_with_it(gateway, upstream):
    with Client(gateway.host) as client:
        client.ask(
            "GET",
            "/v1/x",
            [
                ("Connection", "x-mine, Keep-Alive"),
                ("X-Mine", "1"),
                ("Keep-Alive", "timeout=5"),
                ("TE", "trailers"),
                ("Proxy-Authorization", "x"),
                ("Upgrade", "h2c"),
                ("X-Undertext-Conversation", "c1"),
                ("x-undertext-token", "t"),
                ("Expect", "100-continue"),
                ("X-Kept", "1"),
            ],
        )
    assert upstream.last().names() == ["Host", "X-Kept"], upstream.last().fields
    assert upstream.last().get("host") == f"127.0.0.1:{upstream.port}"
    print("fields of a connection, and the gateway's own, stay with it")


def an_answer_comes_back_as_it_was_given(gateway, upstream):
    plain = [
        ("Content-Type", "application/json"),
        ("x-Request-ID", "r1"),
        ("Set-Cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("Retry-After", "7"),
        ("X-Empty", ""),
    ]
    for answer in (
        whole(b'{"ok":1}', fields=plain),
        whole(b"", fields=plain),
        whole(b"no", "429 Too Many Requests", plain),
        whole(b"busy", "529 Overloaded", plain),
        whole(b"moved", "302 Found", [("Location", "http://169.254.169.254/")]),
        whole(gzip.compress(b"x" * 9999), fields=[("Content-Encoding", "gzip")]),
        streamed([b"event: a\ndata: 1\n\n", b"data: " + b"y" * 300_000 + b"\n\n"]),
        raw(head("204 No Content", plain), close=False),
        raw(head("304 Not Modified", plain, length=17), close=False),
        whole(b"x", "499 Odd Reason  Here"),
    ):
        upstream.answer = answer
        (_, direct), (_, through) = both(gateway, upstream, "GET", "/v1/x")
        assert (through.status_line, through.fields, through.body) == (
            direct.status_line,
            direct.fields,
            direct.body,
        ), (direct, through)
        assert direct.complete and through.complete
    print("an answer comes back as it was given")


def a_head_without_a_body_keeps_its_length(gateway, upstream):
    upstream.answer = whole(b"x" * 33)
    (_, direct), (_, through) = both(gateway, upstream, "HEAD", "/")
    assert through.fields == direct.fields and through.get("content-length") == "33", through
    print("an answer to HEAD keeps its length")


def an_answer_up_to_the_end_of_the_connection(gateway, upstream):
    upstream.answer = raw(b"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nabc")
    with Client(gateway.host) as client:
        answer = client.ask("GET", "/v1/x")
        assert (answer.body, answer.complete, answer.get("transfer-encoding")) == (
            b"abc",
            True,
            "chunked",
        ), answer
    upstream.answer = raw(
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        + head(length=2)
        + b"ok",
        close=False,
    )
    with Client(gateway.host) as client:
        answer = client.ask("GET", "/v1/x")
        assert (answer.status, answer.body, answer.get("link")) == (200, b"ok", None), answer
    print(
        "an answer without a length ends where the upstream's does; interim answers are not passed on"
    )


def a_connection_serves_many_requests(gateway, upstream):
    upstream.answer = whole(b"one")
    before = upstream.connections
    with Client(gateway.host) as client:
        for _ in range(20):
            assert client.ask("POST", "/v1/messages", (), b"{}").body == b"one"
        client.send(
            b"".join(
                b"GET /v1/%d HTTP/1.1\r\nHost: %s\r\n\r\n" % (i, gateway.host.encode())
                for i in range(5)
            )
        )
        assert [client.read().status for _ in range(5)] == [200] * 5
    assert [r.target for r in upstream.requests[-5:]] == [f"/v1/{i}" for i in range(5)]
    assert upstream.connections - before <= 1, "a connection is kept"
    print("connections are kept on both sides")


def old_clients_are_served(gateway, upstream):
    upstream.answer = streamed([b"a", b"b"])
    with Client(gateway.host) as client:
        client.send(f"GET /v1/x HTTP/1.0\r\nHost: {gateway.host}\r\n\r\n".encode())
        answer = client.read()
        assert answer.body == b"ab" and answer.get("transfer-encoding") is None, answer
    print("HTTP/1.0 gets no chunks")


def every_byte_arrives_at_once(gateway, upstream):
    """Each piece is awaited before the next one is given."""
    go = threading.Semaphore(0)

    async def answer(request, reader, writer):
        writer.write(head(fields=[("content-type", "text/event-stream")], chunked=True))
        for i in range(5):
            writer.write(chunk(b"data: %d\n\n" % i))
            await writer.drain()
            while not go.acquire(blocking=False):
                await asyncio.sleep(0.001)
        writer.write(b"0\r\n\r\n")

    upstream.answer = answer
    with Client(gateway.host) as client:
        client.request("POST", "/v1/messages", (), b"{}")
        assert client.read_head().status == 200
        for i in range(5):
            size = int(client.until(b"\r\n"), 16)
            assert client.exactly(size) == b"data: %d\n\n" % i
            client.exactly(2)
            go.release()
        assert client.until(b"0\r\n\r\n") == b""
    print("every piece arrives before the next one is given")


def routes(gateway, upstreams):
    anthropic, openai, gemini = upstreams
    for target, fields, to, got in (
        ("/v1/messages", (), anthropic, "/v1/messages"),
        ("/v1/messages/count_tokens", (), anthropic, None),
        ("/anthropic/v1/models", (), anthropic, "/v1/models"),
        ("/v1/models", (), openai, None),
        ("/v1/models", [("x-goog-api-key", "k")], gemini, None),
        ("/v1/models", [("anthropic-version", "x")], anthropic, None),
        ("/v1/models/m:generateContent", (), gemini, None),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", (), gemini, None),
        ("/v1/responses", (), openai, None),
        ("/openai/v1/messages", (), openai, "/v1/messages"),
        ("/gemini", (), gemini, "/"),
        ("/gemini?x=1", (), gemini, "/?x=1"),
        ("/", (), anthropic, "/"),
        ("/v1/embeddings", (), openai, None),
        ("/v1/responses/compact", (), openai, None),
        ("//169.254.169.254/x", (), openai, None),
    ):
        before = len(to.requests)
        with Client(gateway.host) as client:
            assert client.ask("POST", target, fields, b"{}").status == 200
        assert len(to.requests) == before + 1 and to.last().target == (got or target), (
            target,
            to.last(),
        )
    print("each call goes to its provider")


def random_messages(gateway, upstream, seed, count):
    chance = random.Random(seed)

    def text(low, high):
        return "".join(chance.choice("abcXYZ019-_.~") for _ in range(chance.randint(low, high)))

    for _ in range(count):
        fields = [("X-" + text(1, 12), text(0, 40)) for _ in range(chance.randint(0, 20))]
        body = (
            chance.randbytes(chance.choice((0, 1, 100, 16_384, 65_536, 200_001)))
            if chance.random() < 0.8
            else None
        )
        given = [
            (name, value) for name, value in fields if not name.lower().startswith("x-undertext")
        ]
        pieces = [chance.randbytes(chance.randint(1, 40_000)) for _ in range(chance.randint(0, 12))]
        upstream.answer = (
            streamed(pieces, fields=given)
            if chance.random() < 0.5
            else whole(b"".join(pieces), fields=given)
        )
        (direct, first), (through, second) = both(
            gateway,
            upstream,
            chance.choice(("POST", "PUT", "GET", "DELETE")),
            "/" + text(1, 30) + "?" + text(0, 30),
            fields,
            body,
        )
        assert (through.target, through.body, passed_on(through.fields)) == (
            direct.target,
            direct.body,
            passed_on(direct.fields),
        ), f"SEED={seed}"
        assert (second.status_line, second.fields, second.body, second.complete) == (
            first.status_line,
            first.fields,
            first.body,
            True,
        ), f"SEED={seed}"
    print(f"{count} random exchanges are the same with the gateway and without it (SEED={seed})")


def beside_a_server(folder, upstream):
    words = [
        "serve",
        "--store",
        "memory:",
        "--listen",
        "127.0.0.1:0",
        "--gateway",
        "127.0.0.1:0",
        "--anthropic",
        upstream.url,
    ]
    process = subprocess.Popen(
        [folder.program, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=folder.env,
    )
    try:
        server, gateway = (
            re.search(r"http://(127\.0\.0\.1:\d+)", process.stdout.readline())[1] for _ in range(2)
        )
        upstream.answer = whole(b"one")
        with Client(gateway) as client:
            assert client.ask("POST", "/v1/messages", (), b"{}").body == b"one"
        with Client(server) as client:
            assert b"\nundertext_gateway_requests_total 1\n" in client.ask("GET", "/metrics").body
        process.terminate()
        assert process.wait(15) == 0
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()
    print("a gateway beside a server, with its numbers among the metrics")


WEBSOCKET = [
    ("Connection", "keep-alive, Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Key", "a2V5"),
    ("Sec-WebSocket-Version", "13"),
    ("x-api-key", "k"),
]


def numbers_of_its_own(folder, upstream):
    upstream.answer = whole()
    with Gateway(folder, upstream, "--metrics", "127.0.0.1:0") as gateway:
        where = re.search(
            r"metrics: http://(\S+)/metrics", gateway.process.stdout.readline().decode()
        )[1]
        with Client(gateway.host) as client:
            assert client.ask("POST", "/v1/messages", (), b"{}").status == 200
        with Client(where) as client:
            answer = client.ask("GET", "/metrics")
            assert answer.status == 200 and re.search(
                rb"^undertext_gateway_requests_total 1$", answer.body, re.MULTILINE
            ), answer
            assert (
                client.ask("GET", "/").status == 404
                and client.ask("POST", "/metrics").status == 404
            )
        with Client(where) as client:
            client.send(b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            assert client.read().status == 421
        assert gateway.stop()[0] == 0
    done = subprocess.run(
        [folder.program, "gateway", "--listen", "127.0.0.1:0", "--metrics", "0.0.0.0:0"],
        capture_output=True,
        env=folder.env,
        timeout=30,
    )
    assert done.returncode == 2, done
    print("a gateway of its own tells its numbers to this machine")


def websockets_are_relayed(folder, upstream):
    """With --relay-upgrades: bytes both ways, however many; what an upstream refuses is refused; either end ends both. Nothing is recorded."""
    store = f"sqlite:{folder.path}/tunnels.db"
    with Gateway(folder, upstream, store, "--relay-upgrades") as gateway:
        upstream.answer = switched(echoed)
        with Client(gateway.host) as client:
            client.request("GET", "/v1/responses?x=1", WEBSOCKET)
            client.send(b"sent at once")  # before the answer is there
            answer = client.read_head()
            assert answer.status == 101 and answer.get("sec-websocket-accept") == "yes", answer
            assert (answer.get("upgrade"), answer.get("connection").lower()) == (
                "websocket",
                "upgrade",
            ), answer
            assert client.exactly(12) == b"sent at once"
            assert (
                upstream.last().target == "/v1/responses?x=1"
                and upstream.last().get("upgrade") == "websocket"
            )
            assert passed_on(upstream.last().fields)[:3] == WEBSOCKET[2:], upstream.last().fields
            much = random.Random(3).randbytes(5_000_000)
            sending = threading.Thread(target=client.send, args=(much,))
            sending.start()
            assert client.exactly(len(much)) == much
            sending.join()
        left = threading.Event()

        async def until_the_end(reader, writer):
            await reader.read()
            left.set()

        upstream.answer = switched(until_the_end)
        with Client(gateway.host) as client:
            client.request("GET", "/v1/responses", WEBSOCKET)
            assert client.read_head().status == 101
        assert left.wait(30), "the upstream was not told that the client has gone"

        async def farewell(reader, writer):
            writer.write(b"bye")

        upstream.answer = switched(farewell)
        with Client(gateway.host) as client:
            client.request("GET", "/v1/responses", WEBSOCKET)
            assert client.read_head().status == 101 and client.rest() == b"bye"
        for refusal in (
            whole(b"no", "401 Unauthorized"),
            streamed([b"n", b"o"], "426 Upgrade Required"),
            raw(head("503 Busy") + b"no"),
        ):
            upstream.answer = refusal
            with Client(gateway.host) as client:
                answer = client.ask("GET", "/v1/responses", WEBSOCKET)
                assert (
                    answer.status in (401, 426, 503) and answer.body == b"no" and answer.complete
                ), answer
        for broken in (
            b"",
            b"nonsense\r\n\r\n",
            head("101 Switching Protocols", [("Upgrade", "other")]),
            b"HTTP/1.1 101 x\nUpgrade: websocket\n\n",
        ):
            upstream.answer = raw(broken)
            with Client(gateway.host) as client:
                assert client.ask("GET", "/v1/responses", WEBSOCKET).status == 502, broken
        with Client(gateway.host) as client:
            assert client.ask("POST", "/v1/responses", WEBSOCKET, b"{}").status == 400
        upstream.answer = switched(echoed)
        with Client(gateway.host) as client:
            client.request("GET", "/v1/responses", WEBSOCKET)
            assert client.read_head().status == 101
            status, took = gateway.stop()
            assert status == 0 and took < 5 and client.is_closed(), took
    assert folder.run("list", "--store", store).strip() in ("", b""), "a tunnel is not recorded"
    print("WebSockets are relayed where that is asked for")


def main(program, seed=None, count=60):
    seed = int(seed if seed is not None else random.randrange(1 << 30))
    folder = Folder(program)
    try:
        with Upstream() as upstream, Gateway(folder, upstream) as gateway:
            a_request_arrives_as_it_was_sent(gateway, upstream)
            a_chunked_request_arrives_in_chunks(gateway, upstream)
            fields_of_a_connection_stay_with_it(gateway, upstream)
            an_answer_comes_back_as_it_was_given(gateway, upstream)
            a_head_without_a_body_keeps_its_length(gateway, upstream)
            an_answer_up_to_the_end_of_the_connection(gateway, upstream)
            a_connection_serves_many_requests(gateway, upstream)
            old_clients_are_served(gateway, upstream)
            every_byte_arrives_at_once(gateway, upstream)
            random_messages(gateway, upstream, seed, int(count))
            beside_a_server(folder, upstream)
        with Upstream() as upstream:
            websockets_are_relayed(folder, upstream)
            numbers_of_its_own(folder, upstream)
        with Upstream() as anthropic, Upstream() as openai, Upstream() as gemini:
            with Gateway(
                folder, {"anthropic": anthropic.url, "openai": openai.url, "gemini": gemini.url}
            ) as gateway:
                routes(gateway, (anthropic, openai, gemini))
    finally:
        folder.remove()


main(*sys.argv[1:])
