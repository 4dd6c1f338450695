#!/usr/bin/env python3
"""Words of a redacted message are in no byte of PostgreSQL's tables, once these were compacted.
redacted_words.py UNDERTEXT

A message of many words has a row of the index for itself; pieces of that row are hashes of its
words, which no other row has.
They are looked for in all files of the tables, before and after. The write-ahead log keeps bytes
for longer: docs/postgres.md.
"""

import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server import Server, skip_without_programs

PIECE = 12


def run(*words, given=""):
    done = subprocess.run(words, input=given, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def say(text):
    return json.dumps({"operation": "APPEND", "messages": [{"role": "user", "content": text}]})


def random_words(rng, count):
    return " ".join("".join(rng.choices("bcdfghjklmnpqrtvwxz", k=9)) for _ in range(count))


def main(program):
    skip_without_programs()
    rng = random.Random(23)
    with Server({"autovacuum": "off"}) as server:
        store = ("--store", server.url())

        def rows():
            found = server.sql(
                "SELECT encode(bytes, 'hex') FROM undertext_words ORDER BY first_ordinal"
            )
            return [bytes.fromhex(row) for row in found.splitlines()]

        def is_in_tables(pieces):
            server.sql("CHECKPOINT")
            files = (server.data / "base").glob("*/*")
            return any(
                piece in data for data in map(pathlib.Path.read_bytes, files) for piece in pieces
            )

        run(program, "init", *store)
        run(program, "new", "c", *store)
        run(program, "exec", "c", *store, given=say(random_words(rng, 2000)))
        (secret,) = rows()
        middle = secret[len(secret) // 4 : -len(secret) // 4]
        # Some of them: all files are searched for each.
        pieces = [
            middle[at : at + PIECE] for at in range(0, len(middle) - PIECE, len(middle) // 64)
        ]
        assert is_in_tables(pieces), "else the test proves nothing"
        run(
            program,
            "exec",
            "c",
            *store,
            given="\n".join(say(random_words(rng, 2000)) for _ in range(9)),
        )
        whole = b"".join(rows())
        run(program, "redact", "c", "0", "--why", "a test", "--yes", *store)
        assert rows(), "the other messages keep their words"
        assert len(b"".join(rows())) < len(whole)
        assert not any(piece in row for row in rows() for piece in pieces)
        run(program, "gc", *store)
        assert not is_in_tables(pieces)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
