#!/usr/bin/env python3
"""Many streams at once: all are open before any of them ends, and every one arrives whole.

    many.py PROGRAM [STREAMS]

Each has less than 64 kB in the gateway besides its request, however large that is.
"""

import asyncio
import os
import resource
import sys
import time

from gateways import Folder, Gateway
from upstream import Upstream, chunk, head

SANITIZED = bool(os.environ.get("UNDERTEXT_SANITIZED"))
EACH_BYTES_MAX = 64 << 10
BODY_SIZES = (20_000, 72_000, 429_000)
BODIES_MIB = 1024  # what all bodies may have, in memory and while they wait to be recorded
PIECES = [b"data: %d\n\n" % i for i in range(20)]


def body_of(size):
    return b'{"messages":[' + b" " * (size - 15) + b"]}"


async def stream(gateway, number, body_sent):
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(
        f"POST /v1/messages?n={number} HTTP/1.1\r\nHost: {gateway.host}\r\nContent-Length: {len(body_sent)}\r\n\r\n".encode()
        + body_sent
    )
    answer = await reader.readuntil(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    writer.close()
    return body == b"".join(PIECES) + b"%d" % number


async def run(gateway, streams, upstream, state, body, most):
    tasks = [asyncio.create_task(stream(gateway, i, body)) for i in range(streams)]
    while state["open"] < streams:
        assert not any(task.done() and task.exception() for task in tasks), next(
            task.exception() for task in tasks if task.done() and task.exception()
        )
        await asyncio.sleep(0.02)
    # Once all is quiet: what the last streams took while they began goes back to the system.
    until = time.monotonic() + 20
    while (resident := gateway.resident_bytes()) >= most and time.monotonic() < until:
        await asyncio.sleep(0.1)
    state["resident"] = resident
    upstream.loop.call_soon_threadsafe(state["go"].set)
    return await asyncio.gather(*tasks)


def main(program, streams=1000):
    streams = int(streams)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 3 * streams + 500)), hard))
    for size in BODY_SIZES:
        measure(program, streams, body_of(size))


def measure(program, streams, body):
    folder = Folder(program)
    try:
        with Upstream() as upstream:
            state = {"open": 0, "go": asyncio.Event()}

            async def answer(request, reader, writer):
                request.body = b""
                writer.write(
                    head(fields=[("content-type", "text/event-stream")], chunked=True)
                    + chunk(PIECES[0])
                )
                state["open"] += 1
                await state["go"].wait()
                for piece in PIECES[1:]:
                    writer.write(chunk(piece))
                    await asyncio.sleep(0)
                writer.write(chunk(request.target.split("=")[1].encode()) + b"0\r\n\r\n")

            upstream.answer = answer
            with Gateway(
                folder, upstream, "--quiet", "--memory", BODIES_MIB, "--recording", BODIES_MIB
            ) as gateway:
                idle = gateway.resident_bytes()
                most = idle + streams * (len(body) + EACH_BYTES_MAX)
                results = asyncio.run(run(gateway, streams, upstream, state, body, most))
                each = (state["resident"] - idle) / streams - len(
                    body
                )  # which waits to be recorded
                assert all(results) and len(results) == streams
                assert SANITIZED or each < EACH_BYTES_MAX, (
                    f"{each:.0f} bytes for each stream with {len(body)} bytes of body"
                )
                status, _ = gateway.stop()
                assert status == 0
                print(
                    f"{streams} streams at once with bodies of {len(body) // 1000} kB: none failed, "
                    f"{each / 1024:.1f} kB each beside its request, and {idle / 1e6:.1f} MB idle",
                    flush=True,
                )
    finally:
        folder.remove()


main(*sys.argv[1:])
