#!/usr/bin/env python3
"""Processes that are killed in the middle of an import: nobody sees any of it, and the next import under the same id succeeds.

    import_kill.py PROGRAM

The store's file is watched, so that each kill comes when some of the import is written, and not all.
"""

import http.client
import sqlite3
import subprocess
import sys
import threading
import time

from running import running, verdict

VERSIONS, KILLS = 20_000, 3


def staged_versions(path):
    """How many versions of a conversation that nobody sees are written."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5) as file:
            return file.execute(
                "SELECT count(*) FROM versions WHERE key >> 35 IN (SELECT number FROM conversations WHERE id LIKE '.%')"
            ).fetchone()[0]
    except sqlite3.Error:
        return 0


def wait_until_some(path, is_over):
    before = staged_versions(path)
    while staged_versions(path) <= before:
        assert not is_over(), "the import was over before it could be killed: make it longer"
        time.sleep(0.002)


def expect_unseen(server, what):
    reply = server.request("GET", "/v1/conversations/copy")
    assert reply.status == 404, f"{what}: {reply}"
    ids = [
        each["id"]
        for each in server.request("GET", "/v1/conversations").json()["result"]["conversations"]
    ]
    assert ids == ["original"], f"{what}: {ids}"


def kill_the_server(server, path, lines):
    def send():
        try:
            server.request(
                "POST",
                "/v1/imports?id=copy",
                lines,
                headers={"Content-Type": "application/x-ndjson"},
            )
        except (OSError, http.client.HTTPException):
            pass  # killed

    sender = threading.Thread(target=send)
    sender.start()
    wait_until_some(path, lambda: not sender.is_alive())
    expect_unseen(server, "while it is imported")
    server.kill()
    sender.join()
    server.start()
    expect_unseen(server, "after the kill")


def kill_the_command(server, path, file):
    folder = server.folder
    process = subprocess.Popen(
        [folder.program, "import", file, "copy", "--store", server.store],
        env=folder.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until_some(path, lambda: process.poll() is not None)
    process.kill()
    process.wait()
    expect_unseen(server, "after the command was killed")


def main():
    with running(sys.argv[1], "--quiet") as server:
        path = server.store.removeprefix("sqlite:")
        server.make("original")
        for first in range(0, VERSIONS, 500):
            operations = [
                {
                    "operation": "APPEND",
                    "messages": [{"role": "user", "content": f"message {i} " + "x" * 400}],
                }
                for i in range(first, first + 500)
            ]
            assert (
                server.request("POST", "/v1/conversations/original/operations", operations).status
                == 200
            )
        lines = server.request("GET", "/v1/conversations/original/export").body
        file = server.folder.path / "original.jsonl"
        file.write_bytes(lines)
        for _ in range(KILLS):
            kill_the_server(server, path, lines)
            kill_the_command(server, path, str(file))
        reply = server.request(
            "POST", "/v1/imports?id=copy", lines, headers={"Content-Type": "application/x-ndjson"}
        )
        assert reply.status == 201, reply
        assert server.request("GET", "/v1/conversations/copy/export").body == lines
        again = server.request(
            "POST", "/v1/imports?id=copy", lines, headers={"Content-Type": "application/x-ndjson"}
        )
        assert again.status == 409, again
        print(f"{2 * KILLS} imports killed in the middle")
        status = verdict(server, [])
        print(server.folder.run("check", "--store", server.store).strip())
        return status


if __name__ == "__main__":
    sys.exit(main())
