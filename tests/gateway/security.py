#!/usr/bin/env python3
"""The gateway between hostile clients, hostile pages and a provider: who may use it, where requests can go, what no two hops read differently, and where keys never are.

security.py PROGRAM
"""

import asyncio
import gzip
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

from gateways import Client, Folder, Gateway
from running import Server
from upstream import Upstream, chunk, head, raw, streamed, switched, whole

CANARY = "sk-canary-5e3f"


def answers_to(gateway, data):
    """All that comes back until the gateway closes."""
    with Client(gateway.host, timeout=10) as client:
        client.send(data)
        return client.rest()


def what_two_hops_could_read_in_two_ways_is_refused(gateway, upstream):
    host = gateway.host.encode()
    start = b"POST /v1/messages HTTP/1.1\r\nHost: " + host + b"\r\n"
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"
    cases = [
        start + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
        start + b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n" + smuggled,
        start + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc" + smuggled,
        start + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc" + smuggled,
        start + b"Content-Length: +3\r\n\r\nabc" + smuggled,
        start + b"Content-Length: 3 4\r\n\r\nabc" + smuggled,
        start + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + smuggled,
        start + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggled,
        start + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + smuggled,
        start + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n" + smuggled,
        start + b"Transfer-Encoding: identity\r\n\r\n" + smuggled,
        start + b"X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
        start + b"X: a\rContent-Length: 99\r\n\r\n" + smuggled,
        start + b"X: a\nContent-Length: 99\r\n\r\n" + smuggled,
        start + b"X: a\0b\r\n\r\n" + smuggled,
        start + b"X\0: a\r\n\r\n" + smuggled,
        start + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + smuggled,
        start + b"Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n" + smuggled,
        start + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc" + smuggled,
        start + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n0\r\n\r\n" + smuggled,
        start + b"Host: other\r\nContent-Length: 0\r\n\r\n" + smuggled,
        b"POST /v1/messages\x01 HTTP/1.1\r\nHost: " + host + b"\r\n\r\n" + smuggled,
        b"POST /v1/ messages HTTP/1.1\r\nHost: " + host + b"\r\n\r\n" + smuggled,
        b"POST\t/v1/messages HTTP/1.1\r\nHost: " + host + b"\r\n\r\n" + smuggled,
        b"POST /v1/messages HTTP/1.1\nHost: " + host + b"\n\n" + smuggled,
        b"POST /v1/messages\rX: y HTTP/1.1\r\nHost: " + host + b"\r\n\r\n" + smuggled,
    ]
    for case in cases:
        before = len(upstream.requests)
        got = answers_to(gateway, case)
        assert got.startswith(b"HTTP/1.1 400 ") and got.count(b"HTTP/1.1 ") == 1, (case, got)
        assert len(upstream.requests) == before, (case, upstream.last())
    assert not upstream.broken
    print(f"{len(cases)} ways to hide a request in another: none reaches the upstream")


def no_request_chooses_its_host(gateway, upstream):
    """Whatever a request says, nobody but the configured upstream is called."""
    trap = socket.create_server(("127.0.0.1", 0))
    called = []

    def accept():
        try:
            while True:
                called.append(trap.accept())
        except OSError:
            pass

    threading.Thread(target=accept, daemon=True).start()
    evil = f"127.0.0.1:{trap.getsockname()[1]}"
    host = gateway.host
    lines = [
        (f"GET http://{evil}/v1/models HTTP/1.1", host),
        (f"GET http://{evil}/v1/models HTTP/1.1", evil),
        (f"GET http://{host}/v1/models HTTP/1.1", host),
        ("GET /v1/models HTTP/1.1", evil),
        (f"CONNECT {evil} HTTP/1.1", host),
        (f"GET //{evil}/v1/models HTTP/1.1", host),
        (f"GET /http://{evil}/ HTTP/1.1", host),
        (f"GET /@{evil}/ HTTP/1.1", host),
        (f"GET /openai@{evil}/v1 HTTP/1.1", host),
        (f"GET /openai/@{evil} HTTP/1.1", host),
        (f"GET /\\\\{evil}/ HTTP/1.1", host),
        (f"GET /openai/..//{evil}/ HTTP/1.1", host),
        ("OPTIONS * HTTP/1.1", host),
        (f"GET @{evil}/ HTTP/1.1", host),
        (f"GET {evil} HTTP/1.1", host),
        (f"GET ?@{evil} HTTP/1.1", host),
    ]
    for line, name in lines:
        before = len(upstream.requests)
        fields = f"Host: {name}\r\nX-Forwarded-Host: {evil}\r\nX-Undertext-Upstream: http://{evil}\r\nX-Real-IP: {evil}\r\nConnection: close\r\n\r\n"
        got = answers_to(gateway, f"{line}\r\n{fields}".encode())
        assert got.startswith(b"HTTP/1.1 "), (line, got)
        for request in upstream.requests[before:]:
            assert (
                request.target.startswith("/")
                and request.get("host") == f"127.0.0.1:{upstream.port}"
            ), request
        refused = (
            " http" in line
            or "CONNECT" in line
            or name != host
            or "*" in line
            or not line.split(" ")[1].startswith("/")
        )
        assert (len(upstream.requests) == before) == refused, (line, name, got[:100])
    upstream.answer = whole(b"", "302 Found", [("Location", f"http://{evil}/latest/meta-data")])
    with Client(host) as client:
        assert client.ask("GET", "/v1/x").get("location") == f"http://{evil}/latest/meta-data"
    upstream.answer = whole()
    assert not called, "somebody else was called"
    trap.close()
    print("no request, and no redirect, chooses the host that is called")


def a_websocket_is_told_to_use_http(gateway, upstream):
    before = len(upstream.requests)
    with Client(gateway.host) as client:
        fields = [
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Key", "x"),
            ("Sec-WebSocket-Version", "13"),
        ]
        answer = client.ask("GET", "/v1/responses", fields)
        assert answer.status == 426 and len(upstream.requests) == before, answer
        assert client.ask("POST", "/v1/responses", (), b"{}").status == 200, (
            "the connection goes on"
        )
    print("a WebSocket is answered 426")


def limits(folder, upstream):
    with Gateway(folder, upstream, "--body", 1) as gateway:
        before = len(upstream.requests)
        with Client(gateway.host) as client:
            client.request("POST", "/v1/messages", [("Content-Length", str(2 << 20))])
            answer = client.read()
            assert answer.status == 413 and answer.json()["error"]["type"] == "request_too_large", (
                answer
            )
        with Client(gateway.host) as client:
            client.request("POST", "/v1/messages", [("x-long", "y" * 40_000)])
            assert client.read().status == 431
        with Client(gateway.host) as client:
            client.request("POST", "/v1/messages?" + "y" * 20_000)
            assert client.read().status == 414
        with Client(gateway.host) as client:
            client.send(f"POST /v1/messages HTTP/9.9\r\nHost: {gateway.host}\r\n\r\n".encode())
            answer = client.read()
            assert (answer.status, answer.get("x-undertext-error")) == (505, "invalid_request"), (
                answer
            )
        assert len(upstream.requests) == before
        file = b"x" * (3 << 20)
        with Client(gateway.host) as client:
            assert (
                client.ask("POST", "/v1/files", [("Authorization", "Bearer k")], file).status == 200
            )
        assert upstream.last().body == file
    with (
        Gateway(folder, upstream, "--enforce", "traffic", "--recording", 1) as gateway,
        Client(gateway.host) as client,
    ):
        assert (
            client.ask("POST", "/v1/files", [("Authorization", "Bearer k")], file).status == 200
        ), "nothing of it would be recorded"
    with Gateway(folder, upstream, "--memory", 2) as gateway, Client(gateway.host) as client:
        client.request("POST", "/v1/files", [("Content-Length", str(len(file)))])
        assert client.read().status == 413
    print(
        "bodies and heads beyond the limits are refused, and files have the limit of the memory alone"
    )


def an_upstream_does_not_speak_for_the_gateway(gateway, upstream):
    forged = [
        ("X-Undertext-Error", "invalid_compaction"),
        ("x-undertext-version", "7"),
        ("x-kept", "1"),
    ]
    for answer in (
        whole(fields=forged),
        streamed([b"data: a\n\n"], fields=forged),
        whole(b"no", "529 Overloaded", forged),
    ):
        upstream.answer = answer
        with Client(gateway.host) as client:
            got = client.ask("POST", "/v1/messages", (), b"{}")
        assert got.get("x-kept") == "1" and not [
            name for name, _ in got.fields if name.lower().startswith("x-undertext")
        ], got
    upstream.answer = whole()
    print("what an upstream says as the gateway reaches no client")


def a_page_of_another_site(folder, upstream):
    with Gateway(
        folder, upstream, "--key-env", "openai=OWN_KEY", environment={"OWN_KEY": CANARY}
    ) as gateway:
        before = len(upstream.requests)
        with Client(gateway.host) as client:
            client.send(
                f"GET /v1/models HTTP/1.1\r\nHost: evil.example:{gateway.port}\r\n\r\n".encode()
            )
            assert client.read().status == 421
        with Client(gateway.host) as client:
            assert (
                client.ask(
                    "POST", "/v1/responses", [("Origin", "https://evil.example")], b"{}"
                ).status
                == 403
            )
        assert len(upstream.requests) == before
        with Client(gateway.host) as client:
            client.ask(
                "POST",
                "/v1/responses",
                [("Authorization", "Bearer theirs"), ("x-api-key", "theirs")],
                b"{}",
            )
        assert (
            upstream.last().get("authorization") == f"Bearer {CANARY}"
            and upstream.last().get("x-api-key") is None
        )
    store = f"sqlite:{folder.path}/pages.db"
    said = b'{"model":"m","messages":[{"role":"user","content":"planted"}]}'
    with Gateway(folder, upstream, store) as gateway:
        before = len(upstream.requests)
        for origin in (
            "https://evil.example",
            "http://evil.example:8080",
            "null",
            "http://127.evil.example",
            "http://localhost.evil.example",
            "HTTPS://evil.example",
        ):
            for fields in (
                [("Content-Type", "text/plain")],
                [("X-Undertext-Conversation", "mine"), ("x-api-key", "k")],
            ):
                with Client(gateway.host) as client:
                    answer = client.ask("POST", "/v1/messages", [("Origin", origin), *fields], said)
                    assert (answer.status, answer.get("x-undertext-error")) == (
                        403,
                        "origin_refused",
                    ), (origin, answer)
            with Client(gateway.host) as client:
                preflight = client.ask(
                    "OPTIONS",
                    "/v1/messages",
                    [("Origin", origin), ("Access-Control-Request-Method", "POST")],
                )
                assert (
                    preflight.status == 403 and preflight.get("access-control-allow-origin") is None
                ), preflight
        assert len(upstream.requests) == before
        for number, origin in enumerate(
            (
                "http://localhost:3000",
                "http://127.0.0.1:5173",
                "http://[::1]:80",
                "app://obsidian.md",
                "vscode-file://vscode-app",
            )
        ):
            with Client(gateway.host) as client:
                assert (
                    client.ask(
                        "POST",
                        "/v1/messages",
                        [("Origin", origin), ("x-api-key", f"k{number}")],
                        b'{"model":"m","messages":[]}',
                    ).status
                    == 200
                ), origin
        assert gateway.stop()[0] == 0
    assert "planted" not in str(folder.run("list", "--store", store, "--json"))
    assert b"planted" not in b"".join(each.read_bytes() for each in folder.path.glob("pages.db*"))
    print("a page of another site cannot spend the operator's key, and leaves nothing in a store")


def tokens(folder, upstream):
    good, read_only = folder.make_token("app", "acme"), folder.make_token("reader", "acme", "read")
    options = ["--tokens", folder.tokens, "--key-env", "anthropic=A", "--key-env", "gemini=G"]
    with Gateway(
        folder, upstream, *options, environment={"A": CANARY + "a", "G": CANARY + "g"}
    ) as gateway:

        def ask(target, *fields):
            with Client(gateway.host) as client:
                return client.ask("POST", target, fields, b"{}").status

        before = len(upstream.requests)
        for fields in (
            (),
            [("x-api-key", "wrong")],
            [("Authorization", "Bearer " + good[:-1])],
            [("x-api-key", read_only)],
            [("x-undertext-token", "x")],
        ):
            assert ask("/v1/messages", *fields) == 401
        assert ask("/v1/responses", ("Authorization", "Bearer " + good)) == 403, (
            "there is no key for openai"
        )
        assert len(upstream.requests) == before
        for target, field, key in (
            ("/v1/messages", ("x-api-key", good), ("x-api-key", CANARY + "a")),
            ("/v1/messages", ("authorization", "Bearer " + good), ("x-api-key", CANARY + "a")),
            (
                "/v1beta/models/m:generateContent",
                ("x-goog-api-key", good),
                ("x-goog-api-key", CANARY + "g"),
            ),
        ):
            assert ask(target, field) == 200
            assert (
                upstream.last().get(key[0]) == key[1] and good.encode() not in upstream.last().head
            ), upstream.last().fields
        assert ask(f"/v1beta/models/m:generateContent?key={good}&alt=sse") == 200
        assert (
            upstream.last().target == "/v1beta/models/m:generateContent?alt=sse"
            and upstream.last().get("x-goog-api-key") == CANARY + "g"
        )
        assert (
            ask("/v1/responses", ("X-Undertext-Token", good), ("Authorization", "Bearer own"))
            == 200
        )
        assert (
            upstream.last().get("authorization") == "Bearer own"
            and good.encode() not in upstream.last().head
        )
        folder.run("token", "revoke", "app", "--tokens", folder.tokens)
        deadline = 200
        while ask("/v1/messages", ("x-api-key", good)) == 200 and deadline:
            deadline -= 1
            threading.Event().wait(0.02)
        assert ask("/v1/messages", ("x-api-key", good)) == 401, "a revoked token"
        log = gateway.log()
        assert good not in log and CANARY not in log and '"token":"app"' in log
    print("tokens let clients in, keys go to providers, and neither goes the other way")


def whoever_tries_tokens_has_to_wait(folder, upstream):
    good = folder.make_token("patient", "acme")
    with Gateway(
        folder,
        upstream,
        "--tokens",
        folder.tokens,
        "--key-env",
        "anthropic=A",
        environment={"A": CANARY},
    ) as gateway:

        def ask(token):
            with Client(gateway.host) as client:
                return client.ask("POST", "/v1/messages", [("x-api-key", token)], b"{}")

        answers = [ask(f"guess-{i}") for i in range(40)]
        statuses = [answer.status for answer in answers]
        assert (
            statuses[:20] == [401] * 20
            and statuses.count(429) >= 10
            and set(statuses) == {401, 429}
        ), statuses
        refused = next(answer for answer in answers if answer.status == 429)
        assert (
            int(refused.get("retry-after")) >= 1 and refused.get("x-undertext-error") == "too_often"
        ), refused
        assert ask(good).status == 200, "a good token is let in all the same"
    print("whoever tries one token after another has to wait")


def a_revoked_token_ends_what_it_began(folder, upstream):
    async def slowly(request, reader, writer):
        writer.write(head(chunked=True))
        while not writer.is_closing():
            writer.write(chunk(b"data: x\n\n"))
            await writer.drain()
            await asyncio.sleep(0.05)

    async def told(reader, writer):
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)

    tokens = {name: folder.make_token(name, "acme") for name in ("streaming", "tunnelling")}
    options = ["--tokens", folder.tokens, "--key-env", "openai=O", "--relay-upgrades"]
    upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "a2V5"),
        ("Sec-WebSocket-Version", "13"),
    ]
    with Gateway(folder, upstream, *options, environment={"O": CANARY}) as gateway:
        for name, method, fields, answer in (
            ("streaming", "POST", [], slowly),
            ("tunnelling", "GET", upgrade, switched(told)),
        ):
            upstream.answer = answer
            with Client(gateway.host) as client:
                client.request(
                    method,
                    "/v1/responses",
                    [("Authorization", "Bearer " + tokens[name]), *fields],
                    b"{}" if method == "POST" else None,
                )
                assert client.read_head().status in (200, 101)
                folder.run("token", "revoke", name, "--tokens", folder.tokens)
                began = time.monotonic()
                assert not client.rest().endswith(b"0\r\n\r\n")
                took = time.monotonic() - began
                assert took < 10, took
        assert "not good any more" in gateway.log_with("not good any more")
    upstream.answer = whole()
    print(f"a revoked token ends what it began: {took:.1f} s")


def it_listens_on_this_machine_alone(folder, upstream):
    done = subprocess.run(
        [folder.program, "gateway", "--listen", "0.0.0.0:0", "--openai", upstream.url],
        capture_output=True,
        env=folder.env,
        timeout=30,
    )
    assert done.returncode == 2 and b"tokens" in done.stderr, done
    for options in (
        ["--key-env", "openai=NOT_SET"],
        ["--key-env", "nobody=HOME"],
        ["--openai", "file:///etc/passwd"],
        ["--openai", "http://u:p@h/"],
        ["--record", "some"],
    ):
        done = subprocess.run(
            [folder.program, "gateway", "--listen", "127.0.0.1:0", *options],
            capture_output=True,
            env=folder.env,
            timeout=30,
        )
        assert done.returncode == 2, (options, done)
    print("without tokens it listens on this machine alone")


def keys_are_nowhere(folder, upstream):
    secrets = [f"{CANARY}-{i}" for i in range(6)]
    with Gateway(folder, upstream) as gateway:
        with Client(gateway.host) as client:
            client.ask(
                "POST",
                "/v1/messages",
                [("x-api-key", secrets[0]), ("Cookie", secrets[1])],
                b'{"m":"message-canary"}',
            )
            client.ask("POST", f"/v1beta/models/m:generateContent?key={secrets[2]}", (), b"{}")
            client.ask("POST", "/v1/responses", [("Authorization", "Bearer " + secrets[3])], b"{}")
            client.ask("GET", f"/v1/{secrets[4]}?token={secrets[5]}")
        with Client(gateway.host) as client:
            client.send(f"GET /v1/x?key={secrets[2]} HTTP/9.9\r\n\r\n".encode())
            client.read()
        gateway.stop()
    with Gateway(folder, "http://127.0.0.1:1") as gateway, Client(gateway.host) as client:
        client.ask(
            "POST",
            f"/v1beta/models/m:generateContent?key={secrets[2]}",
            [("Authorization", secrets[3])],
            b"{}",
        )
        gateway.stop()
    for file in pathlib.Path(folder.path).rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert CANARY.encode() not in data, file
            assert file.suffix != ".log" or b"message-canary" not in data, file
    for line in (folder.path / "gateway.log").read_text().splitlines():
        json.loads(line)
    print("keys are in no log and in no file, messages in no log")


def repeating(coded, *fields):
    """An error that says what it was asked with."""

    async def answer(request, reader, writer):
        what = f"may not: {request.target} {request.fields}"
        body = coded(json.dumps({"error": {"message": what}}).encode())
        writer.write(head("403 Forbidden", fields, len(body)) + body)

    return answer


def keys_of_recorded_calls_are_nowhere(folder, upstream):
    turn = {"model": "m", "messages": [{"role": "user", "content": "message-canary"}]}
    contents = {"contents": [{"role": "user", "parts": [{"text": "message-canary"}]}]}
    keys = {
        name: f"{CANARY}-recorded-{name}"
        for name in ("anthropic", "bearer", "chat", "azure", "google", "parameter")
    }
    calls = (
        ("/v1/messages", ("x-api-key", keys["anthropic"]), dict(turn, max_tokens=9)),
        ("/v1/messages", ("Authorization", "Bearer " + keys["bearer"]), dict(turn, max_tokens=9)),
        ("/v1/chat/completions", ("Authorization", "Bearer " + keys["chat"]), turn),
        ("/openai/deployments/m/chat/completions?api-version=1", ("api-key", keys["azure"]), turn),
        ("/v1beta/models/m:generateContent", ("x-goog-api-key", keys["google"]), contents),
        (f"/v1beta/models/m:generateContent?key={keys['parameter']}", None, contents),
    )
    store = f"sqlite:{folder.path}/keys.db"
    server = Server(
        folder,
        "--gateway",
        "127.0.0.1:0",
        *(f"--{name}={upstream.url}" for name in ("anthropic", "openai", "gemini")),
        store=store,
    )
    try:
        gateway = re.search(r"gateway: http://(\S+)", server.process.stdout.readline().decode())[1]
        said = []
        for answer in (
            whole(b'{"error":{"message":"no"}}', "401 Unauthorized"),
            raw(b"nonsense\r\n\r\n"),
            whole(b"{}"),
            repeating(lambda body: body),
            repeating(gzip.compress, ("content-encoding", "gzip")),
        ):
            upstream.answer = answer
            for target, field, body in calls:
                with Client(gateway) as client:
                    said.append(
                        client.ask(
                            "POST", target, [field] if field else [], json.dumps(body).encode()
                        )
                    )
                sent = upstream.last()
                assert any(
                    key in value
                    for key in keys.values()
                    for value in [sent.target, *(value for _, value in sent.fields)]
                ), sent
        assert {answer.status for answer in said} == {401, 403, 502, 200}, said
        repeated = [answer for answer in said if answer.status == 403]
        assert all(CANARY.encode() in answer.body for answer in repeated[: len(calls)]), repeated
        said = [answer for answer in said if answer.status != 403]
        metrics = server.request("GET", "/metrics").body.decode()
        assert re.search(r"^undertext_gateway_requests_total \d+", metrics, re.MULTILINE), metrics
        shown = [repr((answer.status_line, answer.fields, answer.body)) for answer in said]
        assert server.stop() == 0
    finally:
        server.close()
    records, blacked_out = 0, 0
    for line in folder.run("list", "--store", store, "--json").splitlines():
        conversation = json.loads(line)["conversation"]
        count = len(folder.run("requests", conversation, "--store", store).splitlines())
        records += count
        for number in range(1, count + 1):
            answer = folder.run(
                "request", conversation, number, "--answer", "--store", store, status=None
            )
            assert CANARY not in answer, answer
            blacked_out += "[key]" in answer
    assert records >= 5 * len(calls), records
    assert blacked_out == 2 * len(calls), blacked_out
    assert CANARY not in metrics and not [answer for answer in shown if CANARY in answer]
    for file in pathlib.Path(folder.path).rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file
    upstream.answer = whole()
    print(f"keys of {len(calls)} kinds of recorded calls are in no file, no metric and no answer")


def main(program):
    os.environ.pop("OWN_KEY", None)
    folder = Folder(program)
    try:
        with Upstream() as upstream:
            upstream.answer = whole()
            keys_are_nowhere(folder, upstream)
            keys_of_recorded_calls_are_nowhere(folder, upstream)
            with Gateway(folder, upstream) as gateway:
                what_two_hops_could_read_in_two_ways_is_refused(gateway, upstream)
                no_request_chooses_its_host(gateway, upstream)
                a_websocket_is_told_to_use_http(gateway, upstream)
                an_upstream_does_not_speak_for_the_gateway(gateway, upstream)
            limits(folder, upstream)
            a_page_of_another_site(folder, upstream)
            tokens(folder, upstream)
            whoever_tries_tokens_has_to_wait(folder, upstream)
            a_revoked_token_ends_what_it_began(folder, upstream)
            it_listens_on_this_machine_alone(folder, upstream)
    finally:
        folder.remove()


main(*sys.argv[1:])
