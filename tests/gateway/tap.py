"""A wire between a client and a server on the loopback that keeps what passes, in both directions.

    with Tap(port) as tap:
        …
        tap.exchanges()      # [Exchange(request, answer)], of all connections, each as bytes on the wire
"""
import dataclasses
import selectors
import socket
import threading


@dataclasses.dataclass
class Part:
    first: str  # the line
    fields: list
    body: bytes

    def get(self, name):
        return next((value for n, value in self.fields if n.lower() == name), None)


@dataclasses.dataclass
class Exchange:
    request: Part
    answer: Part  # None where there is none


def read_part(data, without_body=False):
    """A message from the front of what was seen, and what is left; None where it is not whole."""
    text, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        return None, data
    lines = text.decode("latin-1").split("\r\n")
    part = Part(lines[0], [(n, v.strip()) for n, _, v in (line.partition(":") for line in lines[1:])], b"")
    if without_body:
        return part, rest
    if (part.get("transfer-encoding") or "").lower() == "chunked":
        while True:
            line, found, rest = rest.partition(b"\r\n")
            size = int(line, 16) if found else 0
            part.body, rest = part.body + rest[:size], rest[size + 2:]
            if size == 0:
                return part, rest
    size = int(part.get("content-length") or 0)
    part.body = rest[:size]
    return part, rest[size:]


class Tap:
    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.seen = []  # [[bytes to the server, bytes to the client]]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        try:
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.relay, args=(client,), daemon=True).start()
        except OSError:
            pass

    def relay(self, client):
        server = socket.create_connection(self.target)
        kept = [bytearray(), bytearray()]
        self.seen.append(kept)
        other = {client: server, server: client}
        with selectors.DefaultSelector() as selector, client, server:
            for end in other:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(end, selectors.EVENT_READ)
            try:
                while True:
                    for key, _ in selector.select():
                        data = key.fileobj.recv(1 << 16)
                        if not data:
                            return
                        kept[0 if key.fileobj is client else 1].extend(data)
                        other[key.fileobj].sendall(data)
            except OSError:
                pass

    def exchanges(self):
        found = []
        for sent, answered in self.seen:
            sent, answered = bytes(sent), bytes(answered)
            while sent:
                request, sent = read_part(sent)
                if request is None:
                    break
                answer, answered = read_part(answered, request.first.startswith("HEAD ")) if answered else (None, b"")
                found.append(Exchange(request, answer))
        return found
