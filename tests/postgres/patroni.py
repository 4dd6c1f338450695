#!/usr/bin/env python3
"""A cluster as one would run it, whose leader is killed under load.   patroni.py RACING [TIMES]

Three PostgreSQL nodes under Patroni with synchronous replication, etcd to elect the leader, HAProxy in front, all on loopback; the writers of
undertext_racing know HAProxy's port only. TIMES times (1) the leader's Patroni and PostgreSQL are killed with signal 9 and, once another one
leads and the writers go on, started again. Afterwards every acknowledged operation must be there, once, in one serial order; the last line
tells the longest time in which nobody's commit was answered.

On Debian 12 it installs what it needs (as root): postgresql patroni etcd-server haproxy. Takes about a minute, and as much again for each
further time.
"""

import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from faults import Load
from server import free_port, is_alive, programs

PACKAGES = ["postgresql", "patroni", "etcd-server", "haproxy"]
TTL_S = 8  # how long a leader that says nothing stays leader


def install():
    missing = [
        p
        for p in PACKAGES
        if subprocess.run(
            ["dpkg-query", "--show", "--showformat=${db:Status-Status}", p],
            capture_output=True,
            text=True,
        ).stdout
        != "installed"
    ]
    if missing:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing],
            check=True,
            env=environment,
            stdout=sys.stderr,
        )


class Cluster:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="utpt", dir="/tmp"))
        self.folder.chmod(0o755)
        self.etcd_port, self.front_port, self.running = free_port(), free_port(), {}
        self.nodes = {
            f"node{i}": (free_port(), free_port()) for i in range(3)
        }  # PostgreSQL's port, Patroni's

    def spawn(self, name, command):
        """As the user postgres where we are root, in a group of its own."""
        prefix = (
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            if os.geteuid() == 0
            else []
        )
        environment = {
            "PATH": programs() + ":/usr/bin:/bin:/usr/sbin",
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.folder),
        }
        with open(self.folder / f"{name}.log", "a") as log:
            self.running[name] = subprocess.Popen(
                prefix + command,
                stdout=log,
                stderr=log,
                env=environment,
                cwd="/",
                start_new_session=True,
            )

    def own(self, path):
        path.mkdir(mode=0o700)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(path, user.pw_uid, user.pw_gid)
        return path

    def start(self):
        peer = free_port()
        self.spawn(
            "etcd",
            [
                "etcd",
                "--data-dir",
                str(self.own(self.folder / "etcd") / "data"),
                "--listen-client-urls",
                f"http://127.0.0.1:{self.etcd_port}",
                "--advertise-client-urls",
                f"http://127.0.0.1:{self.etcd_port}",
                "--listen-peer-urls",
                f"http://127.0.0.1:{peer}",
                "--initial-advertise-peer-urls",
                f"http://127.0.0.1:{peer}",
                "--initial-cluster",
                f"default=http://127.0.0.1:{peer}",
            ],
        )
        for name in self.nodes:
            self.own(self.folder / name)
            self.start_node(name)
            if name == "node0":
                self.wait("a leader", lambda: self.leader() == "node0")
        self.wait(
            "a synchronous standby",
            lambda: any(
                m.get("role") == "sync_standby" and m.get("state") == "running"
                for m in self.members()
            ),
        )
        checks = "\n".join(
            f"  server {name} 127.0.0.1:{port} check port {api}"
            for name, (port, api) in self.nodes.items()
        )
        (self.folder / "haproxy.cfg").write_text(f"""
global
  maxconn 500
defaults
  mode tcp
  timeout connect 2s
  timeout client 10m
  timeout server 10m
  timeout check 1s
listen leader
  bind 127.0.0.1:{self.front_port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
{checks}
""")
        self.spawn("haproxy", ["haproxy", "-db", "-f", str(self.folder / "haproxy.cfg")])
        self.wait("the front", lambda: self.sql("SELECT 1", self.front_port) == "1")

    def start_node(self, name):
        port, api = self.nodes[name]
        data = self.folder / name / "data"
        settings = {
            "scope": "undertext",
            "name": name,
            "restapi": {"listen": f"127.0.0.1:{api}", "connect_address": f"127.0.0.1:{api}"},
            "etcd3": {"host": f"127.0.0.1:{self.etcd_port}"},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL_S,
                    "loop_wait": 2,
                    "retry_timeout": 3,
                    "maximum_lag_on_failover": 1048576,
                    "synchronous_mode": True,
                    "postgresql": {
                        "use_pg_rewind": True,
                        "parameters": {
                            "max_connections": 100,
                            "wal_log_hints": "on",
                            "shared_buffers": "32MB",
                        },
                    },
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "no-sync"],
                "pg_hba": [
                    "local all all trust",
                    "host all all 127.0.0.1/32 trust",
                    "host replication all 127.0.0.1/32 trust",
                ],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{port}",
                "connect_address": f"127.0.0.1:{port}",
                "data_dir": str(data),
                "bin_dir": programs(),
                "authentication": {
                    "superuser": {"username": "postgres"},
                    "replication": {"username": "replicator"},
                    "rewind": {"username": "postgres"},
                },
                "pgpass": str(self.folder / name / "pgpass"),
                "parameters": {"unix_socket_directories": str(self.folder / name)},
            },
        }
        file = self.folder / f"{name}.yml"
        file.write_text(json.dumps(settings))  # JSON is YAML
        self.spawn(name, ["patroni", str(file)])

    def kill_node(self, name):
        """Patroni first, so that it does not see its PostgreSQL die."""
        pid = int((self.folder / name / "data/postmaster.pid").read_text().split()[0])
        self.running[name].kill()
        self.running[name].wait()
        os.kill(pid, signal.SIGKILL)
        while is_alive(pid):
            time.sleep(0.005)

    def members(self):
        for _, api in self.nodes.values():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{api}/cluster", timeout=2) as answer:
                    return json.load(answer)["members"]
            except (OSError, urllib.error.URLError, ValueError, KeyError):
                continue
        return []

    def leader(self):
        return next(
            (
                m["name"]
                for m in self.members()
                if m.get("role") == "leader" and m.get("state") == "running"
            ),
            None,
        )

    def sql(self, text, port):
        done = subprocess.run(
            [
                programs() + "/psql",
                "-XqAt",
                "-h",
                "127.0.0.1",
                "-p",
                str(port),
                "-U",
                "postgres",
                "-c",
                text,
            ],
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def wait(self, what, condition):
        end = time.monotonic() + 120
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"{what} did not come; logs are in {self.folder}")
            time.sleep(0.1)

    def stop(self):
        for name in self.nodes:
            try:
                pid = int((self.folder / name / "data/postmaster.pid").read_text().split()[0])
            except (OSError, ValueError):
                pid = None
            if name in self.running:
                self.running[name].kill()
            if pid and is_alive(pid):
                os.kill(pid, signal.SIGQUIT)
        for process in self.running.values():
            process.kill()
            process.wait()


def main(racing, times):
    install()
    cluster = Cluster()
    begun = time.monotonic()
    try:
        cluster.start()
        print(
            f"a leader and its synchronous standby after {time.monotonic() - begun:.1f} s",
            flush=True,
        )
        url = f"postgres://postgres@127.0.0.1:{cluster.front_port}/postgres"
        load = Load(racing, url, 4).make().run()
        for _ in range(times):
            load.wait_for(300)
            killed = cluster.leader()
            cluster.kill_node(killed)
            gone = time.monotonic()
            load.wait_for(300)
            print(
                f"{killed} was killed; 300 commits later it is {time.monotonic() - gone:.1f} s after, and {cluster.leader()} leads",
                flush=True,
            )
            cluster.start_node(killed)
            cluster.wait(
                "the old leader",
                lambda: any(
                    m["name"] == killed and m.get("state") in ("running", "streaming")
                    for m in cluster.members()
                ),
            )
            cluster.wait(
                "a synchronous standby",
                lambda: any(m.get("role") == "sync_standby" for m in cluster.members()),
            )
        status = load.check()
    finally:
        cluster.stop()
    if status == 0:
        shutil.rmtree(cluster.folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 1))
