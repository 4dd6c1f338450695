#!/usr/bin/env python3
"""Runs a command on tables that are split by the hash of conversation_id.   partitioned.py COMMAND…

No distributed engine is needed to see that keys and statements allow for it: PostgreSQL itself asks of partitioned tables what such engines ask
of distributed ones, that every key holds the column they are split by. The tables are those of the store, each in four parts.
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server import Server, skip_without_programs
from sql_lint import statements

PARTS = 4


def main(command):
    skip_without_programs()
    text = (pathlib.Path(__file__).resolve().parents[2] / "src/postgres/sql.hpp").read_text()
    setup = [sql for part, _, sql in statements(text) if part == "Set-up"]
    tables = []
    with Server() as server:
        server.sql("CREATE ROLE undertext LOGIN")
        server.sql("CREATE DATABASE undertext OWNER undertext")
        run = lambda sql: server.sql(sql, "undertext", "undertext")
        for sql in setup:
            if sql.startswith("CREATE TABLE undertext_"):
                table = sql.split()[2]
                tables.append(table)
                run(sql + " PARTITION BY HASH (conversation_id)")
                for part in range(PARTS):
                    run(
                        f"CREATE TABLE {table}_{part} PARTITION OF {table} FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {part})"
                    )
            elif not sql.startswith(("SELECT", "UPDATE")):
                run(sql)
        run(
            f"UPDATE undertext_schema SET version = {text.count('inline constexpr Statement migration_')}"
        )
        done = subprocess.run(
            command,
            env={**os.environ, "UNDERTEXT_TEST_POSTGRES": server.url("undertext", "undertext")},
        )
        used = server.sql(
            "SELECT count(*) FROM pg_stat_user_tables WHERE relname ~ '^undertext_(conversation|message)_[0-9]$' AND n_tup_ins > 0",
            "undertext",
        )
        print(
            f"{len(tables)} tables in {PARTS} parts each; rows came to {used} of {2 * PARTS} parts of conversations and messages"
        )
        return done.returncode or (0 if used == str(2 * PARTS) else 1)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
