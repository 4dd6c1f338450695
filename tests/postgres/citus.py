#!/usr/bin/env python3
"""Writers in several processes over a Citus cluster of three nodes that fails and changes, and a checker of what they left.

    citus.py RACING UNDERTEXT TEST [TIMES]

RACING is the program undertext_racing, UNDERTEXT the command. The tests, with the number of times in ctest:

    racing      8 processes race for 4 conversations for TIMES seconds (4); nothing fails
    kill        a worker or the coordinator is killed (pg_ctl -m immediate) and started again, TIMES times (4)
    cut         every connection of clients to the coordinator and of the coordinator to its workers is ended, TIMES times (10)
    move        shards move from one worker to another, TIMES times (2)
    grow        a worker is added and takes shards, TIMES times (1)
    forks       forks of TIMES conversations (12), on whatever nodes they come to lie, read and purge as their origins
    upgrade     tables of an older release that are distributed get the newer ones, distributed too

Afterwards every acknowledged operation must be there, once, and in one serial order. SEED=N plays the same chances again.
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import Cluster, skip_without_citus
from faults import Load, chance
from sql_lint import statements

NODES_OF_TABLES = "SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = 'undertext_message'::regclass"


def with_load(cluster, given, writers, change):
    """The answer of the checker, after the writers wrote while `change` happened."""
    load = Load(given.racing, cluster.distribute(given.undertext).url(), writers).make().run()
    load.wait_for(20)
    change(load)
    load.wait_for(20)
    return load.check()


def racing(given):
    with Cluster() as cluster:
        return with_load(cluster, given, 8, lambda load: load.wait_seconds(given.times))


def kill(given):
    with Cluster() as cluster:
        killed = {"worker": 0, "coordinator": 0}

        def change(load):
            for _ in range(given.times):
                load.wait_for(chance.randrange(1, 60))
                which = chance.choice(["worker", "worker", "coordinator"])
                node = chance.choice(cluster.workers) if which == "worker" else cluster.coordinator
                node.kill()
                node.start()
                killed[which] += 1

        status = with_load(cluster, given, 4, change)
        print(f"{killed['worker']} kills of workers, {killed['coordinator']} of the coordinator")
        return status


def cut(given):
    with Cluster() as cluster:

        def change(load):
            for _ in range(given.times):
                load.wait_for(chance.randrange(1, 30))
                node = chance.choice([cluster.coordinator] + cluster.workers)
                node.sql(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'undertext'"
                )

        return with_load(cluster, given, 4, change)


def move(given):
    with Cluster() as cluster:

        def change(load):
            for _ in range(given.times):
                load.wait_for(chance.randrange(1, 30))
                shard, source = chance.choice(cluster.shards())
                target = chance.choice(
                    [worker.port for worker in cluster.workers if worker.port != source]
                )
                cluster.move(shard, source, target)

        return with_load(cluster, given, 4, change)


def grow(given):
    with Cluster() as cluster:

        def change(load):
            for _ in range(given.times):
                worker = cluster.add_worker()
                # Its copy of the table of the schema's version, which every node has.
                cluster.sql("SELECT replicate_reference_tables('block_writes')")
                load.wait_for(20)
                # Shards of conversations that are being written move too, for some of them are.
                # Shards of other tables with the same conversations move along with one.
                for _ in range(2):
                    elsewhere = [each for each in cluster.shards() if each[1] != worker.port]
                    shard, source = chance.choice(elsewhere)
                    cluster.move(shard, source, worker.port)
                load.wait_for(20)

        status = with_load(cluster, given, 4, change)
        nodes = int(cluster.sql(NODES_OF_TABLES))
        print(f"the messages lie on {nodes} nodes")
        return status or (0 if nodes == 2 + given.times else 1)


def forks(given):
    with Cluster() as cluster:
        store = ["--store", cluster.distribute(given.undertext).url()]
        run = lambda *words: (
            subprocess.run(
                [given.undertext, *words, *store, "--json"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        node_of = lambda name: cluster.sql(
            f"SELECT nodeport FROM citus_shards WHERE shardid = get_shard_id_for_distribution_column('undertext_conversation', '{name}')"
        )
        across = 0
        for i in range(given.times):
            origin, fork = f"origin-{i}", f"fork-{i}"
            run("new", origin)
            run("append", origin, "--role", "user", f"question {i}")
            run("append", origin, "--role", "assistant", f"answer {i}")
            run("fork", origin, fork)
            run("append", fork, "--role", "user", "another way")
            across += node_of(origin) != node_of(fork)
            read = [json.loads(line) for line in run("show", fork).splitlines()]
            text = json.dumps(read)
            if not all(words in text for words in (f"question {i}", f"answer {i}", "another way")):
                print(f"{fork} reads {text}")
                return 1
            refused = subprocess.run(
                [given.undertext, "purge", origin, "--yes", "--why", "test", *store],
                capture_output=True,
            )
            if refused.returncode == 0:
                print(f"{origin} was purged though {fork} needs it")
                return 1
            run("purge", fork, "--yes", "--why", "test")
            run("purge", origin, "--yes", "--why", "test")
        print(f"{across} of {given.times} forks lay on another node than their origin")
        return 0 if across else 1


def upgrade(given):
    text = (pathlib.Path(__file__).resolve().parents[2] / "src/postgres/sql.hpp").read_text()
    older = [
        sql
        for part, _, sql in statements(text[: text.index("migration_2[]")])
        if part == "Set-up" and not sql.startswith(("SELECT", "UPDATE"))
    ]
    with Cluster() as cluster:
        for sql in older:
            cluster.sql(sql, "undertext")
        cluster.sql("UPDATE undertext_schema SET version = 1", "undertext")
        cluster.sql(
            "SELECT create_distributed_table('undertext_conversation', 'conversation_id')",
            "undertext",
        )
        for table in ("version", "message", "checkpoint", "page", "fork", "removal"):
            cluster.sql(
                f"SELECT create_distributed_table('undertext_{table}', 'conversation_id', colocate_with => 'undertext_conversation')",
                "undertext",
            )
        subprocess.run(
            [given.undertext, "list", "--store", cluster.url()],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        subprocess.run(
            [given.undertext, "init", "--store", cluster.url()],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        tables = set(
            cluster.sql(
                "SELECT relname FROM pg_class WHERE relname ~ '^undertext_' AND relkind = 'r'"
            ).split()
        ) - {"undertext_schema"}
        distributed = set(cluster.sql("SELECT logicalrelid::text FROM pg_dist_partition").split())
        print(f"{len(tables)} tables, not distributed: {sorted(tables - distributed) or 'none'}")
        return 0 if len(tables) > 7 and tables <= distributed else 1


TESTS = {
    "racing": (racing, 4),
    "kill": (kill, 4),
    "cut": (cut, 10),
    "move": (move, 2),
    "grow": (grow, 1),
    "forks": (forks, 12),
    "upgrade": (upgrade, 1),
}

if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[3] not in TESTS:
        sys.exit(__doc__)
    skip_without_citus()
    test, times = TESTS[sys.argv[3]]

    class Given:
        racing, undertext = sys.argv[1:3]
        times = int(sys.argv[4]) if len(sys.argv) == 5 else TESTS[sys.argv[3]][1]

    sys.exit(test(Given))
