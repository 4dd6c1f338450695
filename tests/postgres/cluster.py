"""Throw-away Citus clusters on loopback, for tests: a coordinator and workers, each a PostgreSQL with the extension.

    with Cluster(workers=2) as cluster:
        cluster.url()                      of the coordinator's database
        cluster.workers[0].kill()          as Server's
        cluster.add_worker()               one more, which has no shards yet

Run as a program, starts one, makes the tables of a store in it, distributed by `UNDERTEXT init --distributed`, puts its URL into
UNDERTEXT_TEST_POSTGRES, and runs a command:

    cluster.py [--workers N] UNDERTEXT COMMAND…     exits as the command does; 77 where Citus is not installed

The role of the URL is like an application's: no superuser, and not above row security.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server import SKIPPED, Server, programs, skip_without_programs

SETTINGS = {
    "shared_preload_libraries": "citus",
    "max_prepared_transactions": "200",
    "citus.node_conninfo": "sslmode=disable",
    "wal_level": "logical",
    # Two processors are to carry all nodes: connections are kept, and what was left half done is looked for often.
    "citus.max_cached_conns_per_worker": "8",
    "citus.recover_2pc_interval": "1s",
    "citus.shard_count": "8",
    "shared_buffers": "32MB",
}


def has_citus():
    if programs() is None:
        return False
    found = (
        subprocess.run([programs() + "/pg_config", "--sharedir"], capture_output=True, text=True)
        if pathlib.Path(programs(), "pg_config").exists()
        else None
    )
    share = (
        pathlib.Path(found.stdout.strip())
        if found and found.returncode == 0
        else pathlib.Path("/usr/share/postgresql", pathlib.Path(programs()).parent.name)
    )
    return (share / "extension/citus.control").exists()


def skip_without_citus():
    skip_without_programs()
    if not has_citus():
        print("skipped: inapplicable: this PostgreSQL has no Citus")
        sys.exit(SKIPPED)


class Cluster:
    def __init__(self, workers=2, settings=()):
        self.settings = {**SETTINGS, **dict(settings)}
        self.stack = contextlib.ExitStack()
        self.wanted, self.workers, self.coordinator = workers, [], None

    def start_node(self):
        try:
            node = self.stack.enter_context(Server(self.settings))
        except RuntimeError as failed:
            # An extension and a server of different minor versions: nothing here can be tried with them.
            if "could not load library" not in str(failed):
                raise
            print(
                f"skipped: inapplicable: this PostgreSQL cannot load its Citus: {str(failed).splitlines()[0]}"
            )
            sys.exit(SKIPPED)
        # The same on each, before they know each other: from then on the coordinator makes them everywhere.
        node.sql("CREATE ROLE undertext LOGIN")
        node.sql("CREATE DATABASE undertext OWNER undertext")
        node.sql("CREATE EXTENSION citus", "undertext")
        return node

    def add_worker(self):
        worker = self.start_node()
        self.sql(f"SELECT citus_add_node('127.0.0.1', {worker.port})")
        self.workers.append(worker)
        return worker

    def sql(self, text, role="postgres"):
        return self.coordinator.sql(text, "undertext", role)

    def url(self, port=None):
        return self.coordinator.url("undertext", "undertext", port)

    def distribute(self, undertext):
        subprocess.run(
            [undertext, "init", "--distributed", "--store", self.url()],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return self

    def shards(self):
        """[(shard id, port of its node)] of the conversations; the other tables' shards move along."""
        rows = self.sql(
            "SELECT shardid, nodeport FROM citus_shards WHERE table_name = 'undertext_conversation'::regclass ORDER BY shardid"
        )
        return [tuple(map(int, row.split("|"))) for row in rows.splitlines()]

    def move(self, shard, source, target):
        self.sql(
            f"SELECT citus_move_shard_placement({shard}, '127.0.0.1', {source}, '127.0.0.1', {target}, 'block_writes')"
        )

    def __enter__(self):
        try:
            self.coordinator = self.start_node()
            self.sql(f"SELECT citus_set_coordinator_host('127.0.0.1', {self.coordinator.port})")
            for _ in range(self.wanted):
                self.add_worker()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("undertext")
    arguments.add_argument("command", nargs=argparse.REMAINDER)
    given = arguments.parse_args()
    skip_without_citus()
    with Cluster(given.workers) as cluster:
        cluster.distribute(given.undertext)
        done = subprocess.run(
            given.command, env={**os.environ, "UNDERTEXT_TEST_POSTGRES": cluster.url()}
        )
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
