"""A server of a test's own: started on a free port of this machine, with a folder for all it writes, and gone with the test."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time


class Folder:
    """Where a server keeps everything: its store, its tokens, its log, the home of its user."""

    def __init__(self, program):
        self.program = program
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="undertext-server-"))
        os.chmod(self.path, 0o700)
        (self.path / "store").mkdir(mode=0o700)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("UNDERTEXT_")}
        self.env = {
            **kept,
            "HOME": str(self.path / "home"),
            "XDG_DATA_HOME": str(self.path / "data"),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        self.tokens = self.path / "tokens"

    def run(self, *words, status=0):
        done = subprocess.run(
            [self.program, *map(str, words)],
            capture_output=True,
            env=self.env,
            timeout=120,
            umask=0o022,
        )
        if status is not None and done.returncode != status:
            raise AssertionError(
                f"{words}: {done.returncode} instead of {status}: {done.stdout[-500:]} {done.stderr[-500:]}"
            )
        return done.stdout.decode()

    def make_token(self, name, tenant, rights="read,write"):
        return self.run(
            "token", "make", name, "--tenant", tenant, "--rights", rights, "--tokens", self.tokens
        ).strip()

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Server:
    def __init__(self, folder, *options, store="sqlite", listen="127.0.0.1:0"):
        self.folder = folder
        self.store = (
            "sqlite:" + str(folder.path / "store" / "undertext.db") if store == "sqlite" else store
        )
        self.options = [str(option) for option in options]
        self.listen = listen
        self.log_path = folder.path / "log"
        self.start()

    def start(self):
        """Also again, after stop() or kill(), at the same port."""
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [
                    self.folder.program,
                    "serve",
                    "--store",
                    self.store,
                    "--listen",
                    self.listen,
                    *self.options,
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.folder.env,
                umask=0o022,
            )
        self.line = self.process.stdout.readline().decode()
        found = re.search(r"(https?)://(.*):(\d+) ", self.line)
        if not found:
            self.process.wait(30)
            raise AssertionError(
                f"no address: {self.line!r}, exit {self.process.returncode}: {self.log()[-1000:]}"
            )
        self.address, self.port = found[2].strip("[]"), int(found[3])
        self.listen = f"{found[2]}:{self.port}"
        self.host = f"{found[2]}:{self.port}"

    def log(self):
        return self.log_path.read_text(errors="surrogateescape")

    def log_with(self, text, patience=30):
        """The log once `text` is in it: lines are written by a thread of their own."""
        deadline = time.monotonic() + patience
        while text not in (log := self.log()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return log

    def stop(self, wait=30):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(wait)
        self.process.stdout.close()
        return status

    def kill(self):
        self.process.kill()
        self.process.wait(30)
        self.process.stdout.close()

    def close(self):
        if self.process.poll() is None:
            self.kill()

    def is_up(self):
        return self.process.poll() is None and self.request("GET", "/healthz").status == 200

    def resident_bytes(self):
        return int(
            pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        ) * os.sysconf("SC_PAGE_SIZE")

    def connect(self, source="127.0.0.1", timeout=30):
        return socket.create_connection(
            (self.address, self.port), timeout=timeout, source_address=(source, 0)
        )

    def connection(self, source="127.0.0.1", timeout=60):
        return http.client.HTTPConnection(
            self.address, self.port, timeout=timeout, source_address=(source, 0)
        )

    def request(
        self, method, path, body=None, token=None, headers=None, source="127.0.0.1", connection=None
    ):
        """A body that is no text or bytes goes as JSON."""
        own = connection is None
        connection = connection or self.connection(source)
        fields = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            fields.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        if token:
            fields.setdefault("Authorization", "Bearer " + token)
        try:
            try:
                connection.request(method, path, body, fields)
            except (BrokenPipeError, ConnectionResetError):
                pass  # a body that is too large is refused by its head: the answer is there before all of it was sent
            got = connection.getresponse()
            return Reply(got.status, got.headers, got.read())
        finally:
            if own:
                connection.close()

    def raw(self, data, source="127.0.0.1", timeout=30):
        """What is answered to these bytes until the server closes, or says nothing more for `timeout` seconds."""
        with self.connect(source, timeout) as connection:
            answer = b""
            try:
                connection.sendall(data)
                while some := connection.recv(65536):
                    answer += some
            except (TimeoutError, ConnectionError):
                pass
            return answer

    def status_of(self, data, **options):
        """The status of the first answer to these bytes, without waiting for the connection's end."""
        with self.connect(timeout=30, **options) as connection:
            try:
                connection.sendall(data)
            except ConnectionError:
                pass  # refused before all of it was read; the answer is there all the same
            answer = b""
            try:
                while b"\r\n" not in answer and (some := connection.recv(65536)):
                    answer += some
            except ConnectionError:
                pass
        found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
        return int(found[1]) if found else None

    def append(self, conversation, text, token=None, **headers):
        operation = {"operation": "APPEND", "messages": [{"role": "user", "content": text}]}
        return self.request(
            "POST", f"/v1/conversations/{conversation}/operations", operation, token, headers
        )

    def make(self, conversation, token=None):
        reply = self.request("POST", "/v1/conversations", {"id": conversation}, token)
        assert reply.status == 201, reply
        return reply


def texts_in(server, conversation):
    """Of all messages of its view."""
    texts, start = [], 0
    while True:
        some = server.request(
            "GET", f"/v1/conversations/{conversation}/rows?start={start}&end={start + 1000}"
        ).json()["result"]["rows"]
        texts += [row["message"]["content"] for row in some]
        if len(some) < 1000:
            return texts
        start += 1000


class EventStream:
    """Server-sent events, read by a thread of their own."""

    def __init__(self, server, path, token=None, headers=None):
        self.connection = server.connection(timeout=60)
        fields = {"Accept": "text/event-stream", **(headers or {})}
        if token:
            fields["Authorization"] = "Bearer " + token
        self.connection.request("GET", path, headers=fields)
        self.socket = self.connection.sock
        self.reply = self.connection.getresponse()
        self.lines, self.some, self.ended = [], threading.Condition(), threading.Event()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            while line := self.reply.readline():
                with self.some:
                    self.lines.append(line.decode().rstrip("\n"))
                    self.some.notify_all()
        except (
            OSError,
            ValueError,
            AttributeError,
            http.client.HTTPException,
        ):  # closed by this side, in the middle
            pass
        self.ended.set()
        with self.some:
            self.some.notify_all()

    def wait_for(self, text, timeout=30):
        with self.some:
            return self.some.wait_for(lambda: any(text in line for line in self.lines), timeout)

    def close(self):
        # The reading thread holds on to the connection until something comes, or it ends.
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server was first
        self.thread.join(30)
        self.connection.close()


@contextlib.contextmanager
def running(program, *options):
    """A server with a folder of its own, for as long as the block runs."""
    folder = Folder(program)
    try:
        server = Server(folder, *options)
        try:
            yield server
        finally:
            server.close()
    finally:
        folder.remove()


def verdict(server, problems):
    """Stops the server, prints what went wrong, and answers the exit status of the test."""
    if server.stop() != 0:
        problems.append("the server did not stop well")
    for problem in problems[:20]:
        print(problem)
    return 1 if problems else 0
