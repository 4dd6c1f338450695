#!/usr/bin/env python3
"""Measures how fast turns are stored in PostgreSQL, and in how many bytes.   turns.py TURNS, the program undertext_turns

On a throw-away server with fsync on. Prints what docs/scaling.md quotes; bench/results/postgres-turns.txt keeps such a run.
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server import Server, skip_without_programs

OURS = "FROM pg_class WHERE relkind = 'r' AND relname LIKE 'undertext%'"


def main(turns):
    skip_without_programs()
    with Server({"shared_buffers": "512MB", "max_wal_size": "4GB"}) as server:
        print(server.sql("SELECT version()"))
        print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} before", flush=True)
        for writers, count in ((1, 1000), (8, 400), (32, 100)):
            for _ in range(2):
                subprocess.run([turns, server.url(), str(writers), str(count)], check=True)
        server.sql("VACUUM ANALYZE")
        stored = int(server.sql("SELECT count(*) FROM undertext_version"))
        size = int(server.sql(f"SELECT sum(pg_total_relation_size(oid)) {OURS}"))
        print(f"{stored} turns of 1024 bytes: {size / stored:.0f} bytes each, with indexes")
        print(
            server.sql(
                f"SELECT relname || ': ' || pg_table_size(oid) || ' and ' || pg_indexes_size(oid) || ' bytes of indexes' {OURS} ORDER BY 1"
            ),
            flush=True,
        )
        before = log_bytes(server)
        subprocess.run([turns, server.url(), "4", "500"], check=True)
        print(f"{(log_bytes(server) - before) / 2000:.0f} bytes of write-ahead log a turn")
    return 0


def log_bytes(server):
    return int(server.sql("SELECT (pg_current_wal_lsn() - '0/0')::bigint"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
