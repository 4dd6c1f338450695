#!/usr/bin/env python3
"""Upstreams that are dead, slow, torn or talk nonsense, and clients that leave or do not read: never a changed byte, never a client that hangs, nothing sent twice.

faults.py PROGRAM
"""

import asyncio
import hashlib
import os
import random
import socket
import sys
import threading
import time

from gateways import Client, Folder, Gateway
from upstream import Upstream, chunk, head, raw, streamed, whole

SANITIZED = bool(os.environ.get("UNDERTEXT_SANITIZED"))


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def check_error(answer, status, code, form):
    assert (answer.status, answer.get("x-undertext-error"), answer.complete) == (
        status,
        code,
        True,
    ), answer
    error = answer.json()["error"]
    assert error["message"]
    if form == "anthropic":
        assert answer.json()["type"] == "error" and error["type"] in ("api_error", "timeout_error")
    elif form == "gemini":
        assert error["code"] == status and error["status"] in ("UNAVAILABLE", "DEADLINE_EXCEEDED")
    else:
        assert error["type"] == "server_error" and error["code"] == code


CALLS = (
    ("/v1/messages", "anthropic"),
    ("/v1/chat/completions", "openai"),
    ("/v1/responses", "openai"),
    ("/v1beta/models/m:generateContent", "gemini"),
)


def a_dead_upstream_is_reported_in_the_providers_form(folder):
    with Gateway(folder, f"http://127.0.0.1:{unused_port()}") as gateway:
        for target, form in CALLS:
            with Client(gateway.host) as client:
                check_error(
                    client.ask("POST", target, (), b"{}"), 502, "upstream_unreachable", form
                )
    print("a dead upstream is reported in the form of the provider's errors")


def a_silent_upstream_times_out(folder):
    async def silent(request, reader, writer):
        await reader.read(1)

    async def half(request, reader, writer):
        writer.write(head(chunked=True) + chunk(b"half"))
        await writer.drain()
        await reader.read(1)

    with Upstream() as upstream, Gateway(folder, upstream, "--idle-seconds", 1) as gateway:
        upstream.answer = silent
        for target, form in CALLS[:2]:
            with Client(gateway.host) as client:
                check_error(client.ask("POST", target, (), b"{}"), 504, "upstream_timeout", form)
        upstream.answer = half
        with Client(gateway.host) as client:
            answer = client.ask("POST", "/v1/messages", (), b"{}")
            assert (answer.body, answer.complete) == (b"half", False), answer
    print("a silent upstream times out; an answer that had begun is torn")


def a_torn_answer_stays_torn(gateway, upstream):
    whole_text = b"data: " + bytes(random.Random(1).choices(b"abcdef", k=100_000))
    for data in (
        head(chunked=True) + chunk(whole_text),
        head(chunked=True) + chunk(whole_text)[:-500],
        head(chunked=True) + b"ffff\r\nabc",
        head(length=200_000) + whole_text,
        head(length=5),
        head(chunked=True),
    ):
        upstream.answer = raw(data)
        with Client(f"127.0.0.1:{upstream.port}") as client:
            direct = client.ask("POST", "/v1/messages", (), b"{}")
        with Client(gateway.host) as client:
            through = client.ask("POST", "/v1/messages", (), b"{}")
            assert not through.complete and through.body == direct.body, (
                data[:80],
                through,
                direct,
            )

    async def reset(request, reader, writer):
        writer.write(head(chunked=True) + chunk(b"abc"))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
        )
        writer.transport.abort()

    for answer in (reset, raw(head(chunked=True) + chunk(b"abc") + b"zz\r\n")):
        upstream.answer = answer
        with Client(gateway.host) as client:
            torn = client.ask("POST", "/v1/messages", (), b"{}")
            assert (torn.body, torn.complete) == (b"abc", False), torn
    upstream.answer = raw(head(chunked=True) + chunk(b"abc"))
    with Client(gateway.host) as client:
        client.send(f"GET /v1/x HTTP/1.0\r\nHost: {gateway.host}\r\n\r\n".encode())
        client.read_head()
        try:
            while client.more():
                pass
            raise AssertionError("the end of the connection would be the end of the answer")
        except ConnectionError:
            pass
    print("a torn answer stays torn, and loses no byte that came before")


def nonsense_is_no_answer(gateway, upstream):
    for data in (
        b"",
        b"hello\r\n\r\n",
        b"\0" * 100,
        b"HTTP/1.1 abc\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n"
        + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 1000) for i in range(400))
        + b"\r\n",
    ):
        upstream.answer = raw(data)
        with Client(gateway.host) as client:
            answer = client.ask("POST", "/v1/messages", (), b"{}")
            assert answer.status == 502 and answer.get("x-undertext-error") in (
                "upstream_invalid",
                "upstream_torn",
            ), (data[:80], answer)
            assert "b" != answer.get("set-cookie")
    print("what is no proper answer is a 502")


def nothing_is_sent_twice(gateway, upstream):
    for method, body in (("POST", b"{}"), ("GET", None), ("POST", b"x" * 300_000)):
        upstream.answer = whole(b"first")
        with Client(gateway.host) as client:
            assert client.ask(method, "/v1/first", (), body).body == b"first"
            upstream.answer = raw(b"")
            before = len(upstream.requests)
            answer = client.ask(method, "/v1/second", (), body)
            assert answer.status == 502, answer
            assert [r.target for r in upstream.requests[before:]] == ["/v1/second"], (
                "it was sent again"
            )
            assert (
                upstream.requests[before].connection == upstream.requests[before - 1].connection
            ), "on the kept connection"
    print("a request that an upstream has read is not sent again")


def a_connection_that_was_closed_while_nobody_used_it(gateway, upstream):
    async def and_close(request, reader, writer):
        await whole(b"ok")(request, reader, writer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        closed.release()

    closed = threading.Semaphore(0)
    upstream.answer = and_close
    for _ in range(30):
        with Client(gateway.host) as client:
            answer = client.ask("POST", "/v1/messages", (), b"{}")
            assert answer.status == 200, answer
            assert closed.acquire(timeout=30)
    print("a kept connection that the upstream has closed is replaced")


def what_nobody_asked_for_is_nobodys_answer(gateway, upstream):
    """An upstream sends more on a connection that is kept and not used, such as a 408 before it closes."""
    forged = head(fields=[("x-forged", "1")], length=6) + b"forged"
    for stray in (
        forged,
        forged + forged,
        head("408 Request Timeout", length=0),
        b"\0",
        b"HTTP/1.1 200 OK\r\n",
    ):
        for closes in (False, True):
            received, strayed = asyncio.Event(), threading.Event()

            async def and_more(
                request,
                reader,
                writer,
                stray=stray,
                closes=closes,
                received=received,
                strayed=strayed,
            ):
                await whole(b"first")(request, reader, writer)
                await received.wait()
                writer.write(stray)
                await writer.drain()
                if closes:
                    writer.close()
                strayed.set()

            upstream.answer = and_more
            with Client(gateway.host) as client:
                assert client.ask("POST", "/v1/messages", (), b"{}").body == b"first"
            upstream.loop.call_soon_threadsafe(received.set)
            assert strayed.wait(30)
            upstream.answer = whole(b"second")
            before = len(upstream.requests)
            with Client(gateway.host) as client:
                answer = client.ask("POST", "/v1/messages", (), b"{}" * 100_000)
                assert (answer.status, answer.body, answer.complete) == (200, b"second", True), (
                    stray,
                    closes,
                    answer,
                )
            assert [request.body for request in upstream.requests[before:]] == [b"{}" * 100_000], (
                "it was not sent, or twice"
            )
    print("what an upstream sends unasked is nobody's answer")


def more_than_an_answer_is_nobodys_either(gateway, upstream):
    """Bytes behind the end of an answer, whichever way it ends."""
    forged = head(fields=[("x-forged", "1")], length=6) + b"forged"
    for method, data, body in (
        ("GET", head(length=2) + b"ok" + forged, b"ok"),
        ("GET", head(chunked=True) + chunk(b"ok") + b"0\r\n\r\n" + forged, b"ok"),
        ("GET", head("204 No Content") + forged, b""),
        ("GET", head("204 No Content", length=len(forged)) + forged, b""),
        ("GET", head("304 Not Modified", length=len(forged)) + forged, b""),
        ("HEAD", head(length=len(forged)) + forged, b""),
        ("HEAD", head(chunked=True) + chunk(forged) + b"0\r\n\r\n", b""),
    ):
        upstream.answer = raw(data, close=False)
        with Client(gateway.host) as client:
            answer = client.ask(method, "/v1/x")
            assert (answer.body, answer.complete) == (body, True), (data, answer)
        upstream.answer = whole(b"second")
        for _ in range(2):
            with Client(gateway.host) as client:
                answer = client.ask("GET", "/v1/x")
                assert (answer.status, answer.body) == (200, b"second"), (data, answer)
    print("nor is what comes behind the end of one")


def endless_heads_and_trailers_have_an_end(gateway, upstream):
    def endless(begin, again):
        async def answer(request, reader, writer):
            writer.write(begin)
            try:
                for _ in range(100_000):
                    writer.write(again)
                    await writer.drain()
            except ConnectionError:
                pass

        return answer

    for begin, again, is_torn in (
        (b"", b"HTTP/1.1 102 Processing\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n", False),
        (b"HTTP/1.1 200 OK\r\nx: ", b"y" * 4096, False),
        (head(chunked=True) + b"0\r\n", b"x-a: %s\r\n" % (b"y" * 1000), True),
    ):
        upstream.answer = endless(begin, again)
        with Client(gateway.host) as client:
            answer = client.ask("POST", "/v1/messages", (), b"{}")
            assert (answer.status, answer.complete) == ((200, False) if is_torn else (502, True)), (
                begin,
                answer,
            )
    upstream.answer = raw(
        head(chunked=True)
        + b'3;why="not"\r\nabc\r\n0\r\nx-trailer: 1\r\nX-Undertext-Error: no\r\n\r\n',
        close=False,
    )
    with Client(gateway.host) as client:
        answer = client.ask("POST", "/v1/messages", (), b"{}")
        assert (answer.body, answer.complete, answer.get("x-undertext-error")) == (
            b"abc",
            True,
            None,
        ), answer
    print("heads and trailers without an end are cut off")


def a_torn_request_reaches_nobody(gateway, upstream):
    upstream.answer = whole(b"ok")
    host = f"POST /v1/messages HTTP/1.1\r\nHost: {gateway.host}\r\n".encode()
    before = len(upstream.requests)
    for data in (
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nx: y",
        b"Content-Length: 5\r\n\r\nab",
        b"Content-Length: 5\r\n\r\n",
        b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    ):
        for leave in (Client.close, Client.reset):
            client = Client(gateway.host)
            client.send(host + data)
            leave(client)
        with Client(gateway.host) as client:
            client.send(host + data)
            client.socket.shutdown(socket.SHUT_WR)
            assert b"HTTP/1.1 400 " in client.rest(), data
    assert len(upstream.requests) == before, upstream.last()
    with Client(gateway.host) as client:
        client.send(host + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert client.read_head().status == 100
        client.send(
            b"{}"
            + host
            + b"Trailer: x-api-key\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-api-key: k\r\nContent-Length: 9\r\n\r\n"
        )
        assert [client.read().body, client.read().body] == [b"ok", b"ok"]
    assert [
        (request.body, request.get("expect"), request.get("x-api-key"), request.get("trailer"))
        for request in upstream.requests[before:]
    ] == [(b"{}", None, None, None)] * 2
    with Client(gateway.host) as client:
        client.send(host + b"Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n")
        assert client.rest().startswith(b"HTTP/1.1 413 ")
    print("a request that is torn reaches nobody")


def a_client_that_leaves_cancels_its_call(gateway, upstream):
    for begun in (False, True):
        gone = []

        async def wait_for_the_end(request, reader, writer, begun=begun, gone=gone):
            if begun:
                writer.write(head(chunked=True) + chunk(b"abc"))
                await writer.drain()
            gone.append(await reader.read(1))

        upstream.answer = wait_for_the_end
        for leave in (Client.close, Client.reset):
            count, client = len(gone), Client(gateway.host)
            before = len(upstream.requests)
            client.request("POST", "/v1/messages", (), b"{}")
            upstream.wait(before + 1)
            if begun:
                client.read_head()
            leave(client)
            deadline = time.monotonic() + 20
            while len(gone) == count:
                assert time.monotonic() < deadline, f"the upstream was not told (begun: {begun})"
                time.sleep(0.005)
            assert gone[-1] == b""
    print("a client that leaves cancels its call, also while the upstream is silent")


def a_client_that_does_not_read_holds_the_upstream_up(gateway, upstream):
    size = 64 << 20
    piece = random.Random(5).randbytes(1 << 20)
    given = []

    async def much(request, reader, writer):
        writer.write(head(length=size))
        for i in range(size // len(piece)):
            writer.write(piece)
            await writer.drain()
            given.append(i)

    upstream.answer = much
    with Client(gateway.host) as other:
        upstream.answer = whole(b"x")
        other.ask("GET", "/v1/x")
    upstream.answer = much
    before = gateway.resident_bytes()
    with Client(gateway.host, timeout=60) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        client.request("POST", "/v1/messages", (), b"{}")
        answer = client.read_head()
        seen = -1
        while seen != len(given):  # until nothing moves any more
            seen = len(given)
            time.sleep(0.5)
        assert seen < 40, f"{seen} MiB were taken from the upstream for a client that reads nothing"
        rise = gateway.resident_bytes() - before
        assert SANITIZED or rise < 4 << 20, f"{rise} bytes more"
        upstream_last = upstream.answer
        upstream.answer = whole(b"beside")
        with Client(gateway.host) as other:
            assert other.ask("GET", "/v1/x").body == b"beside", "others are served meanwhile"
        upstream.answer = upstream_last
        digest, left = hashlib.sha256(), size
        digest.update(client.buffer)
        left -= len(client.buffer)
        while left > 0:
            data = client.socket.recv(min(left, 1 << 20))
            assert data
            digest.update(data)
            left -= len(data)
        assert digest.hexdigest() == hashlib.sha256(piece * (size // len(piece))).hexdigest()
        assert answer.status == 200
    print(
        f"a client that does not read holds the upstream up: {seen} MiB of 64 were on their way, {rise >> 10} kB more in memory"
    )


def one_byte_a_second(gateway, upstream):
    """Three seconds of it: longer than nothing, shorter than a coffee."""
    upstream.answer = streamed([b"data: %d\n\n" % i for i in range(2000)])
    with Client(gateway.host) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.request("POST", "/v1/messages", (), b"{}")
        for _ in range(3):
            client.buffer += client.socket.recv(1)
            time.sleep(1)
        answer = client.read()
        assert answer.complete and answer.body == b"".join(b"data: %d\n\n" % i for i in range(2000))
    print("a client that reads a byte a second gets what it asked for")


def an_answer_before_the_body_was_read(gateway, upstream):
    async def refuse_early(request, reader, writer):
        writer.write(head("413 Too Large", [("Connection", "close")], 3) + b"big")
        await writer.drain()
        writer.close()

    read = upstream.read

    async def head_only(reader, number):
        text = await reader.readuntil(b"\r\n\r\n")
        from upstream import Request

        return Request("POST", "/v1/messages", [], b"", text, number)

    upstream.read, upstream.answer = head_only, refuse_early
    try:
        with Client(gateway.host) as client:
            answer = client.ask("POST", "/v1/messages", (), b"x" * (8 << 20))
            assert answer.status in (413, 502) and answer.complete, answer
    finally:
        upstream.read = read
    print(f"an upstream that answers before it has read: {answer.status}")


def nobody_reads_what_is_anothers(gateway, upstream, seed):
    """Many clients at once, a third of which leave at any byte: kept connections carry nothing over to whoever comes next."""

    async def marked(request, reader, writer):
        mark = request.get("x-mark").encode()
        writer.write(head(fields=[("x-mark", mark.decode())], chunked=True))
        for _ in range(int(request.get("x-pieces"))):
            writer.write(chunk(mark + b";"))
            await writer.drain()
        writer.write(chunk(request.body) + b"0\r\n\r\n")

    upstream.answer = marked
    before, wrong, whole_ones, left = upstream.connections, [], [], []

    def work(number):
        chance = random.Random(seed * 1000 + number)
        client = Client(gateway.host)
        for turn in range(25):
            mark, pieces = f"tenant-{number}-{turn}", chance.randint(1, 200)
            body = f"<{mark}>".encode() * chance.randint(1, 3000)
            client.request(
                "POST",
                "/v1/messages",
                [("x-mark", mark), ("x-pieces", pieces), ("x-api-key", f"k{number}")],
                body,
            )
            if chance.random() < 0.33:
                wanted = chance.randint(
                    0, len(body) + pieces * len(mark)
                )  # of an answer that is longer
                while len(client.buffer) < wanted and client.more():
                    pass
                if any(
                    b"tenant-%d-" % other in client.buffer for other in range(16) if other != number
                ):
                    wrong.append((mark, client.buffer))
                chance.choice((Client.close, Client.reset))(client)
                left.append(mark)
                client = Client(gateway.host)
                continue
            answer = client.read()
            whole_ones.append(mark)
            if (answer.status, answer.get("x-mark"), answer.body) != (
                200,
                mark,
                (mark.encode() + b";") * pieces + body,
            ):
                wrong.append((mark, answer))
        client.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), f"SEED={seed}"
    assert not wrong, f"SEED={seed}: {wrong[:1]}"
    assert len(whole_ones) + len(left) == 16 * 25 and left, f"SEED={seed}"
    connections = upstream.connections - before
    assert connections < len(whole_ones) + len(left), "no connection was kept"
    print(
        f"{len(whole_ones)} answers were the client's own, {len(left)} clients left, over {connections} connections (SEED={seed})"
    )


def sigterm_ends_it_within_ten_seconds(folder, upstream):
    async def for_ever(request, reader, writer):
        writer.write(head(chunked=True))
        while True:
            writer.write(chunk(b"data: x\n\n"))
            await writer.drain()
            await asyncio.sleep(0.05)

    async def a_second(request, reader, writer):
        writer.write(head(chunked=True) + chunk(b"begun"))
        await writer.drain()
        await asyncio.sleep(1)
        writer.write(chunk(b"done") + b"0\r\n\r\n")

    with Gateway(folder, upstream) as gateway:
        upstream.answer = a_second
        with Client(gateway.host) as short:
            short.request("POST", "/v1/messages", (), b"{}")
            short.read_head()
            upstream.answer = for_ever
            with Client(gateway.host) as client, Client(gateway.host) as idle:
                client.request("POST", "/v1/messages", (), b"{}")
                client.read_head()
                gateway.process.terminate()
                short.buffer = (
                    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + short.buffer
                )
                ended = short.read()
                assert ended.complete and ended.body == b"begundone", ended
                began = time.monotonic()
                assert gateway.process.wait(12) == 0
                took = time.monotonic() - began
                assert idle.is_closed()
                assert not client.rest().endswith(b"0\r\n\r\n")
        print(
            f"SIGTERM: answers that end soon end whole, others are torn; {took:.1f} s later it has ended"
        )


def a_store_that_fails_stops_no_traffic(folder, upstream):
    # A full disk, as far as a process can tell; and a store whose files are taken away.
    upstream.answer = whole(b'{"ok":1}')
    body = b'{"model":"m","messages":[{"role":"user","content":"%s"}]}'
    path = folder.path / "full.db"
    folder.run("init", "--store", f"sqlite:{path}")
    with (
        Gateway(
            folder, upstream, f"sqlite:{path}", file_bytes_max=path.stat().st_size + (64 << 10)
        ) as gateway,
        Client(gateway.host) as client,
    ):
        for i in range(60):
            assert (
                client.ask(
                    "POST",
                    "/v1/messages",
                    (),
                    body % random.Random(i).randbytes(10_000).hex().encode(),
                ).body
                == b'{"ok":1}'
            )
        assert "not recorded" in gateway.log_with("not recorded")
        status, _ = gateway.stop()
        assert status == 0
    path = folder.path / "gone" / "gone.db"
    path.parent.mkdir()
    with Gateway(folder, upstream, f"sqlite:{path}") as gateway, Client(gateway.host) as client:
        assert client.ask("POST", "/v1/messages", (), body % b"one").body == b'{"ok":1}'
        for file in path.parent.iterdir():
            file.unlink()
        path.parent.rmdir()
        for _ in range(5):
            assert client.ask("POST", "/v1/messages", (), body % b"two").body == b'{"ok":1}'
    print("a store that fails stops no traffic")


def main(program):
    folder = Folder(program)
    try:
        a_dead_upstream_is_reported_in_the_providers_form(folder)
        a_silent_upstream_times_out(folder)
        with Upstream() as upstream:
            with Gateway(folder, upstream) as gateway:
                a_torn_answer_stays_torn(gateway, upstream)
                nonsense_is_no_answer(gateway, upstream)
                nothing_is_sent_twice(gateway, upstream)
                a_connection_that_was_closed_while_nobody_used_it(gateway, upstream)
                what_nobody_asked_for_is_nobodys_answer(gateway, upstream)
                more_than_an_answer_is_nobodys_either(gateway, upstream)
                endless_heads_and_trailers_have_an_end(gateway, upstream)
                a_torn_request_reaches_nobody(gateway, upstream)
                a_client_that_leaves_cancels_its_call(gateway, upstream)
                a_client_that_does_not_read_holds_the_upstream_up(gateway, upstream)
                one_byte_a_second(gateway, upstream)
                an_answer_before_the_body_was_read(gateway, upstream)
                nobody_reads_what_is_anothers(
                    gateway, upstream, int(os.environ.get("SEED", random.randrange(1 << 20)))
                )
            a_store_that_fails_stops_no_traffic(folder, upstream)
            sigterm_ends_it_within_ten_seconds(folder, upstream)
    finally:
        folder.remove()


main(*sys.argv[1:])
