#!/usr/bin/env python3
"""Writers in several processes over a PostgreSQL that fails, and a checker of what they left.   faults.py RACING TEST [TIMES]

RACING is the program undertext_racing. The tests, with the number of times in ctest:

    racing      8 processes race for 4 conversations; nothing fails
    crash       the server is killed (pg_ctl -m immediate) and started again, TIMES times (5)
    cut         every connection is ended by pg_terminate_backend, TIMES times (40)
    proxy       every connection runs through a proxy that cuts it at a random byte, or between a COMMIT and its answer, for TIMES seconds (8)
    failover    the primary is killed with signal 9 and its synchronous standby promoted, TIMES times (1), each with a new standby
    standby     the synchronous standby goes, and connections are ended: what waits for it must not be answered before it is back
    pooler      all go through PgBouncer, which hands out another connection for each transaction, for TIMES seconds (5)

Afterwards every acknowledged operation must be there, once, and in one serial order. SEED=N plays the same chances again.
"""

import atexit
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server import SKIPPED, Server, free_port, skip_without_programs, start_as_server

CONVERSATIONS = 4
seed = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 32)))
chance = random.Random(seed)


class Load:
    """Writers that run until they are told to stop, and the check of what they say."""

    def __init__(self, racing, url, writers, check_url=None, first=0):
        self.racing, self.url, self.check_url, self.writers, self.first = (
            racing,
            url,
            check_url or url,
            writers,
            first,
        )
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="undertext-racing"))
        self.files, self.running = [], []
        atexit.register(self.kill)

    def kill(self):
        """Whatever way a test ends, no writer outlives it."""
        for p in self.running:
            p.kill()

    def make(self):
        subprocess.run([self.racing, "make", self.check_url, str(CONVERSATIONS)], check=True)
        return self

    def run(self):
        for i in range(self.writers):
            self.files.append(self.folder / f"w{i}")
            with open(self.files[-1], "w") as out:
                self.running.append(
                    subprocess.Popen(
                        [self.racing, "write", self.url, str(CONVERSATIONS), f"w{i}"], stdout=out
                    )
                )
        return self

    def acknowledged(self):
        return sum(f.read_text().count("done ") for f in self.files)

    def wait_for(self, more):
        """Until so many more operations are acknowledged."""
        target, end = self.acknowledged() + more, time.monotonic() + 60
        while self.acknowledged() < target:
            if time.monotonic() > end:
                raise SystemExit("the writers make no progress")
            time.sleep(0.01)

    def wait_seconds(self, seconds):
        """For as long as they should have, however much they do."""
        time.sleep(seconds)
        return self

    def check(self, url=None):
        """Ends the writers, each after what it has begun. 0: all is well."""
        for p in self.running:
            p.terminate()
        failed = [p.args[4] for p in self.running if p.wait() != 0]
        files = [str(f) for f in self.files]
        done = subprocess.run(
            [self.racing, "check", url or self.check_url, str(CONVERSATIONS)] + files
        )
        if failed:
            print("these writers failed:", *failed)
        if done.returncode == 0 and not failed:
            self.show_teeth(url or self.check_url)
            shutil.rmtree(self.folder)
            return 0
        print(f"SEED={seed}; what the writers said is in {self.folder}")
        return 1

    def show_teeth(self, url):
        """The checker must see an operation that was acknowledged and is not there."""
        forged = self.folder / "forged"
        forged.write_text("done c0 forged-1 1 1 2\n")
        seen = subprocess.run(
            [self.racing, "check", url, str(CONVERSATIONS), str(forged)]
            + [str(f) for f in self.files],
            capture_output=True,
            text=True,
        )
        if seen.returncode != 1 or "forged-1 was acknowledged and is lost" not in seen.stdout:
            raise SystemExit("the checker does not see a lost operation")


def racing(program, times):
    with Server() as server:
        return Load(program, server.url(), 8).make().run().wait_seconds(times).check()


def crash(program, times):
    with Server() as server:
        load = Load(program, server.url(), 4).make().run()
        for _ in range(times):
            load.wait_for(chance.randrange(1, 60))
            server.kill()
            server.start()
        load.wait_for(20)
        print(f"{times} crashes")
        return load.check()


def cut(program, times):
    with Server() as server:
        load = Load(program, server.url(), 4).make().run()
        for _ in range(times):
            load.wait_for(chance.randrange(1, 30))
            server.sql(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'undertext'"
            )
        print(f"every connection was ended {times} times")
        return load.check()


class Proxy:
    """Passes bytes on, and cuts each connection once: after a random number of bytes, or where a COMMIT has gone to the server and before its
    answer goes back."""

    def __init__(self, port):
        self.target, self.cuts, self.cuts_at_commit = port, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            client.close()
            return
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        state = {
            "commits": chance.randrange(2, 40) if chance.random() < 0.5 else None,
            "left": chance.randrange(2_000, 120_000),
            "cut": False,
        }
        threads = [
            threading.Thread(target=self.pump, args=(client, server, state, True), daemon=True),
            threading.Thread(target=self.pump, args=(server, client, state, False), daemon=True),
        ]
        for thread in threads:
            thread.start()

    def pump(self, source, target, state, is_client):
        try:
            while data := source.recv(65536):
                if state["cut"]:
                    break
                if state["commits"] is not None:
                    # The names of the statements: share is in commits only. Once enough were sent, the answer is lost, all of it or a part.
                    if is_client and b"share" in data:
                        state["commits"] -= 1
                    elif not is_client and state["commits"] <= 0:
                        state["cut"] = True
                        target.sendall(data[: chance.randrange(len(data))])
                        self.cuts_at_commit += 1
                        break
                elif len(data) >= state["left"]:
                    state["cut"] = True
                    target.sendall(data[: state["left"]])
                    self.cuts += 1
                    break
                else:
                    state["left"] -= len(data)
                target.sendall(data)
        except OSError:
            pass
        # The commit may still be on its way in the server: its side is closed as a broken network would.
        for s in (source, target):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()


def proxy(program, times):
    with Server() as server:
        between = Proxy(server.port)
        load = (
            Load(program, server.url(port=between.port), 4, check_url=server.url())
            .make()
            .run()
            .wait_seconds(times)
        )
        status = load.check()
        print(
            f"{between.cuts} connections were cut at a random byte, {between.cuts_at_commit} between a COMMIT and its answer"
        )
        return status or (0 if between.cuts_at_commit > 0 and between.cuts > 0 else 1)


SYNCHRONOUS = {"synchronous_standby_names": "standby", "synchronous_commit": "on"}


def wait_for_standby(primary):
    while primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1":
        time.sleep(0.05)


def failover(program, times):
    failures = 0
    for _ in range(times):
        with Server(SYNCHRONOUS) as primary:
            # A standby whose primary is gone must not wait for one of its own.
            with Server({"synchronous_standby_names": ""}, copy_of=primary) as standby:
                wait_for_standby(primary)
                url = f"postgres://postgres@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/postgres?target_session_attrs=read-write"
                load = Load(program, url, 4).make().run()
                load.wait_for(chance.randrange(100, 400))
                primary.kill_nine()
                standby.promote()
                load.wait_for(100)
                failures += load.check(standby.url())
    return 1 if failures else 0


def standby(program, times):
    with (
        Server(SYNCHRONOUS) as primary,
        Server({"synchronous_standby_names": ""}, copy_of=primary) as second,
    ):
        wait_for_standby(primary)
        load = Load(program, primary.url(), 4).make().run()
        for _ in range(times):
            load.wait_for(100)
            second.stop()
            time.sleep(0.2)  # for answers that are on their way
            before = load.acknowledged()
            for _ in range(10):
                primary.sql(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'undertext'"
                )
                time.sleep(0.2)
            if load.acknowledged() != before:
                print(
                    f"{load.acknowledged() - before} commits were acknowledged without their standby"
                )
                return 1
            second.start()
        load.wait_for(100)
        primary.kill_nine()
        second.promote()
        return load.check(second.url())


def refused_with_a_hint(program, url):
    """Statements that one process prepared are in the way of the next: the error names the option that helps."""
    for _ in range(20):
        tried = subprocess.run([program, "make", url, "0"], capture_output=True, text=True)
        if tried.returncode != 0:
            assert "undertext_prepare=off" in tried.stderr, tried.stderr
            return
    raise SystemExit("the pooler carries statements over: nothing was tested")


def pooler(program, times):
    if shutil.which("pgbouncer", path="/usr/sbin:/usr/bin") is None:
        print("skipped: postgres: pgbouncer is not installed")
        return SKIPPED
    with Server() as server:
        port, settings = free_port(), server.folder / "pgbouncer.ini"
        settings.write_text(f"""[databases]
* = host=127.0.0.1 port={server.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = 3
unix_socket_dir =
""")
        between = start_as_server(["/usr/sbin/pgbouncer", "-q", str(settings)])
        try:
            refused_with_a_hint(program, server.url(port=port))
            url = server.url(port=port) + "?undertext_prepare=off"
            return (
                Load(program, url, 8, check_url=server.url())
                .make()
                .run()
                .wait_seconds(times)
                .check()
            )
        finally:
            between.kill()


TESTS = {
    "racing": (racing, 5),
    "crash": (crash, 5),
    "cut": (cut, 40),
    "proxy": (proxy, 8),
    "failover": (failover, 1),
    "standby": (standby, 1),
    "pooler": (pooler, 5),
}

if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in TESTS:
        sys.exit(__doc__)
    skip_without_programs()
    test, times = TESTS[sys.argv[2]]
    sys.exit(test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) == 4 else times))
