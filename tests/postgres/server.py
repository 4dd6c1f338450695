"""Throw-away PostgreSQL servers on loopback, for tests.

    with Server() as server:
        server.url("postgres")        a libpq URL over TCP
        server.kill(); server.start() as after a crash

Run as a program, starts one, puts its URL into UNDERTEXT_TEST_POSTGRES, runs a command, and stops it again:

    server.py COMMAND…          exits as the command does; 77 where PostgreSQL is not installed

PostgreSQL refuses to run as root, so root becomes the user postgres for it.
"""

import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
USER = (
    ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    if os.geteuid() == 0
    else []
)


def programs():
    """The folder of initdb, pg_ctl and the others; None where there is none."""
    found = sorted(
        glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda p: int(p.split("/")[4])
    )
    if found:
        return str(pathlib.Path(found[-1]).parent)
    path = shutil.which("initdb")
    return str(pathlib.Path(path).resolve().parent) if path else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def as_server(command, **more):
    """Runs one of PostgreSQL's programs, as a user it accepts."""
    return subprocess.run(
        USER + command, env=environment(), cwd="/", check=True, stdout=subprocess.DEVNULL, **more
    )


def start_as_server(command):
    return subprocess.Popen(
        USER + command,
        env=environment(),
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def environment():
    return {"PATH": programs() + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


class Server:
    """fsync is on unless told: what is tested is what lasts."""

    def __init__(self, settings=(), copy_of=None):
        # Short, for the path of a socket has at most 107 bytes; and not in a home that another user may not enter.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="utpg", dir="/tmp"))
        self.data, self.log = self.folder / "data", self.folder / "log"
        self.port = free_port()
        self.settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.folder),
            "max_connections": "200",
            "shared_buffers": "64MB",
            "max_prepared_transactions": "0",
            **dict(settings),
        }
        if os.geteuid() == 0:
            os.chown(self.folder, pwd.getpwnam("postgres").pw_uid, pwd.getpwnam("postgres").pw_gid)
        if copy_of is None:
            as_server(
                [
                    "initdb",
                    "-D",
                    str(self.data),
                    "-U",
                    "postgres",
                    "-A",
                    "trust",
                    "-E",
                    "UTF8",
                    "--locale=C.UTF-8",
                    "--no-sync",
                ]
            )
        else:
            as_server(
                [
                    "pg_basebackup",
                    "-D",
                    str(self.data),
                    "-R",
                    "-X",
                    "stream",
                    "-c",
                    "fast",
                    "--no-sync",
                    "-d",
                    f"host=127.0.0.1 port={copy_of.port} user=postgres application_name=standby",
                ]
            )

    def start(self):
        options = " ".join(f"-c {name}={value}" for name, value in self.settings.items())
        try:
            as_server(
                [
                    "pg_ctl",
                    "-D",
                    str(self.data),
                    "-w",
                    "-t",
                    "60",
                    "-l",
                    str(self.log),
                    "-o",
                    f"-p {self.port} {options}",
                    "start",
                ]
            )
        except subprocess.CalledProcessError as failed:
            raise RuntimeError(
                f"PostgreSQL did not start: {self.log.read_text() if self.log.exists() else failed}"
            ) from None
        return self

    def stop(self):
        as_server(["pg_ctl", "-D", str(self.data), "-w", "-m", "fast", "stop"])

    def kill(self):
        """Without a word to anybody, as a crash does."""
        as_server(["pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop"])

    def kill_nine(self):
        """The postmaster by signal 9; its children notice and end."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        while is_alive(pid):
            time.sleep(0.005)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def promote(self):
        as_server(["pg_ctl", "-D", str(self.data), "-w", "promote"])

    def sql(self, text, database="postgres", role="postgres"):
        done = subprocess.run(
            [
                programs() + "/psql",
                "-X",
                "-q",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                "127.0.0.1",
                "-p",
                str(self.port),
                "-U",
                role,
                "-d",
                database,
                "-c",
                text,
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def url(self, database="postgres", role="postgres", port=None):
        return f"postgres://{role}@127.0.0.1:{port or self.port}/{database}"

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        try:
            as_server(
                ["pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop"],
                stderr=subprocess.DEVNULL,
            )
        except subprocess.CalledProcessError:
            pass  # it is down already
        shutil.rmtree(self.folder, ignore_errors=True)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def skip_without_programs():
    if programs() is None:
        print("skipped: postgres: PostgreSQL's server is not installed (Debian: postgresql)")
        sys.exit(SKIPPED)


def main(command):
    skip_without_programs()
    # A role like that of an application: neither a superuser, nor above row security.
    with Server() as server:
        server.sql("CREATE ROLE undertext LOGIN CREATEROLE")
        server.sql("CREATE DATABASE undertext OWNER undertext")
        environment = {
            **os.environ,
            "UNDERTEXT_TEST_POSTGRES": server.url("undertext", "undertext"),
        }
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
