"""A relay on the loopback that keeps what clients send, byte by byte.

with Tap() as tap:
    tap.to("127.0.0.1:8788")
    run_client(tap.url)
    tap.requests()       # [(method, target, [(name, value)], body)]
"""

import socket
import threading


class Tap:
    def to(self, address):
        host, port = address.split(":")
        self.upstream = (host, int(port))

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.url = "http://" + self.address
        self.lock, self.sent = threading.Lock(), []
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # closed
                return
            server = socket.create_connection(self.upstream)
            kept = bytearray()
            with self.lock:
                self.sent.append(kept)
            threading.Thread(target=self.copy, args=(client, server, kept), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, None), daemon=True).start()

    def copy(self, source, target, kept):
        try:
            while data := source.recv(1 << 16):
                if kept is not None:
                    with self.lock:
                        kept += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            for each in (source, target):
                each.close()

    def requests(self):
        with self.lock:
            return [request for kept in self.sent for request in parsed(bytes(kept))]


def parsed(data):
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        method, target, _ = line.split(" ")
        fields = [tuple(part.strip() for part in field.split(":", 1)) for field in fields]
        length = next((int(value) for name, value in fields if name.lower() == "content-length"), 0)
        body, data = data[:length], data[length:]
        yield method, target, fields, body
