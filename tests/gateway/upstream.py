"""A provider on the loopback that keeps every byte it is sent, and answers as a test tells it to.

with Upstream() as upstream:
    upstream.answer = streamed([b"data: a\n\n", b"data: b\n\n"])
    …
    upstream.requests        # [Request], in order of arrival
"""

import asyncio
import dataclasses
import json
import ssl
import threading


@dataclasses.dataclass
class Request:
    method: str
    target: str
    fields: list  # [(name, value)], as they came
    body: bytes
    head: bytes  # as it came
    connection: int  # which of the connections it came on, from 0
    left: threading.Event = dataclasses.field(
        default_factory=threading.Event, repr=False
    )  # the other side has gone, while it was answered

    def get(self, name):
        return next((value for n, value in self.fields if n.lower() == name.lower()), None)

    def names(self):
        return [name for name, _ in self.fields]


def head(status="200 OK", fields=(), length=None, chunked=False):
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields)]
    if length is not None:
        lines.append(f"content-length: {length}")
    if chunked:
        lines.append("Transfer-Encoding: chunked")
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def whole(body=b"{}", status="200 OK", fields=(("content-type", "application/json"),)):
    """An answer with a length."""

    async def answer(request, reader, writer):
        writer.write(head(status, fields, len(body)) + (b"" if request.method == "HEAD" else body))

    return answer


def streamed(pieces, status="200 OK", fields=(("content-type", "text/event-stream"),), pause=0.0):
    """An answer in chunks."""

    async def answer(request, reader, writer):
        writer.write(head(status, fields, chunked=True))
        for piece in pieces:
            writer.write(chunk(piece))
            await writer.drain()
            if pause:
                await asyncio.sleep(pause)
        writer.write(b"0\r\n\r\n")

    return answer


def raw(data, close=True):
    """These bytes, whatever they are."""

    async def answer(request, reader, writer):
        writer.write(data)
        await writer.drain()
        if close:
            writer.close()

    return answer


def switched(then):
    """Changes the protocol to a WebSocket's, and then does this with the connection."""

    async def answer(request, reader, writer):
        writer.write(
            head(
                "101 Switching Protocols",
                [
                    ("Upgrade", "websocket"),
                    ("Connection", "Upgrade"),
                    ("Sec-WebSocket-Accept", "yes"),
                ],
            )
        )
        await then(reader, writer)
        writer.close()

    return answer


async def echoed(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


def echo():
    async def answer(request, reader, writer):
        body = json.dumps(
            {"method": request.method, "target": request.target, "size": len(request.body)}
        ).encode()
        await whole(body)(request, reader, writer)

    return answer


class Upstream:
    """Every connection is read request by request. `answer(request, reader, writer)` may be changed at any time."""

    def __init__(self, certificate=None):
        self.requests, self.connections, self.broken = [], 0, []
        self.answer = echo()
        self.changed = threading.Condition()
        self.certificate = certificate
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.tasks = set()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        assert self.ready.wait(30)
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)

    async def stop(self):
        self.server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def run(self):
        asyncio.set_event_loop(self.loop)
        context = None
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
        self.server = self.loop.run_until_complete(
            asyncio.start_server(
                self.serve, "127.0.0.1", 0, ssl=context, backlog=2048, limit=1 << 20
            )
        )
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.port}"
        self.ready.set()
        self.loop.run_forever()

    async def serve(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        number, self.connections = self.connections, self.connections + 1
        try:
            while (request := await self.read(reader, number)) is not None:
                with self.changed:
                    self.requests.append(request)
                    self.changed.notify_all()
                await self.answer_one(request, reader, writer)
                await writer.drain()
                if writer.is_closing():
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.tasks.discard(task)
            writer.close()

    async def answer_one(self, request, reader, writer):
        try:
            await self.answer(request, reader, writer)
        except ConnectionError:
            request.left.set()
            raise

    async def read(self, reader, number):
        try:
            text = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            if getattr(error, "partial", b""):
                self.broken.append(error.partial)
            return None
        lines = text[:-4].decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        fields = [
            (name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])
        ]
        request = Request(method, target, fields, b"", text, number)
        if (request.get("transfer-encoding") or "").lower() == "chunked":
            while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
                request.body += await reader.readexactly(size)
                await reader.readexactly(2)
            await reader.readuntil(b"\r\n")
        elif request.get("content-length"):
            request.body = await reader.readexactly(int(request.get("content-length")))
        return request

    def wait(self, count, patience=30):
        """The requests, once there are so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.requests) >= count, patience), (
                f"{len(self.requests)} requests instead of {count}"
            )
            return list(self.requests)

    def last(self):
        return self.requests[-1]
