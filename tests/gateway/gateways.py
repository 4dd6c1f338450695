"""A gateway of a test's own, and a client that sends and reads bytes."""

import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from running import Folder

__all__ = ["Folder", "Gateway", "Client", "Answer"]


class Gateway:
    def __init__(self, folder, upstream, *options, environment=None, file_bytes_max=None):
        self.folder = folder
        self.log_path = folder.path / "gateway.log"
        urls = (
            upstream
            if isinstance(upstream, dict)
            else dict.fromkeys(
                ("anthropic", "openai", "gemini"), getattr(upstream, "url", upstream)
            )
        )
        words = [
            folder.program,
            "gateway",
            "--listen",
            "127.0.0.1:0",
            *(f"--{name}={url}" for name, url in urls.items()),
            *map(str, options),
        ]
        began = time.monotonic()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                words,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**folder.env, **(environment or {})},
                umask=0o022,
                preexec_fn=file_bytes_max
                and (
                    lambda: resource.setrlimit(
                        resource.RLIMIT_FSIZE, (file_bytes_max, resource.RLIM_INFINITY)
                    )
                ),
            )
        self.line = self.process.stdout.readline().decode()
        self.ready_s = time.monotonic() - began
        found = re.search(r"(https?)://(.*):(\d+)", self.line)
        if not found:
            self.process.wait(30)
            raise AssertionError(
                f"no address: {self.line!r}, exit {self.process.returncode}: {self.log()[-1000:]}"
            )
        self.url, self.port = found[0], int(found[3])
        self.host = f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        self.process.stdout.close()

    def log(self):
        return self.log_path.read_text(errors="surrogateescape")

    def log_with(self, text, patience=30):
        deadline = time.monotonic() + patience
        while text not in (log := self.log()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return log

    def stop(self, wait=15):
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(wait)
        return status, time.monotonic() - began

    def resident_bytes(self):
        return int(
            pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        ) * os.sysconf("SC_PAGE_SIZE")

    def connect(self, timeout=30):
        return Client(self.host, timeout)


class Answer:
    def __init__(self, status_line, fields, body, complete):
        self.status_line, self.fields, self.body, self.complete = (
            status_line,
            fields,
            body,
            complete,
        )
        self.status = int(status_line.split(" ")[1])

    def get(self, name):
        return next((value for n, value in self.fields if n.lower() == name.lower()), None)

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status_line} {self.fields} {self.body[:300]!r} {'' if self.complete else 'TORN'}"


class Client:
    """One connection."""

    def __init__(self, host, timeout=30):
        address, port = host.rsplit(":", 1)
        self.host = host
        self.socket = socket.create_connection((address, int(port)), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def request(self, method, target, fields=(), body=None):
        """Sends one, with Host and a length where there is a body."""
        lines = [
            f"{method} {target} HTTP/1.1",
            f"Host: {self.host}",
            *(f"{name}: {value}" for name, value in fields),
        ]
        if body is not None and not any(name.lower() == "transfer-encoding" for name, _ in fields):
            lines.append(f"Content-Length: {len(body)}")
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b""))

    def more(self):
        data = self.socket.recv(1 << 16)
        self.buffer += data
        return bool(data)

    def until(self, mark):
        while mark not in self.buffer:
            if not self.more():
                raise EOFError(self.buffer)
        text, _, self.buffer = self.buffer.partition(mark)
        return text

    def exactly(self, size):
        while len(self.buffer) < size:
            if not self.more():
                raise EOFError(self.buffer)
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def read_head(self):
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        fields = [
            (name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])
        ]
        return Answer(lines[0], fields, b"", False)

    def read(self, method="GET"):
        """A whole answer; or as much as there was of it."""
        answer = self.read_head()
        if method == "HEAD" or answer.status in (204, 304):
            answer.complete = True
            return answer
        try:
            if answer.get("content-length") is not None:
                answer.body = self.exactly(int(answer.get("content-length")))
            elif (answer.get("transfer-encoding") or "").lower() == "chunked":
                while size := int(self.until(b"\r\n"), 16):
                    answer.body += self.exactly(size)
                    self.exactly(2)
                self.exactly(2)
            else:
                while self.more():
                    pass
                answer.body, self.buffer = self.buffer, b""
            answer.complete = True
        except EOFError as torn:
            answer.body += torn.args[0]
        except ConnectionError:
            answer.body += self.buffer
        return answer

    def ask(self, method, target, fields=(), body=None):
        self.request(method, target, fields, body)
        return self.read(method)

    def rest(self):
        """All that comes until the connection ends."""
        try:
            while self.more():
                pass
        except ConnectionError:
            pass
        return self.buffer

    def is_closed(self):
        """Whether the other side ends it, which is waited for."""
        try:
            return not self.more()
        except ConnectionError:
            return True
