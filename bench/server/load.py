#!/usr/bin/env python3
"""The server under load of wrk, both on this machine.   load.py PROGRAM FOLDER [SECONDS]

Prints one line of JSON for each case: what was asked, of which store, over how many connections, and what wrk measured. Stores of SQLite lie in FOLDER.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests/server"))
from running import Folder, Server

TEXT = "eleven more" * 18


def fill(server, names, messages):
    for name in names:
        server.make(name)
        if messages:
            reply = server.request(
                "POST",
                f"/v1/conversations/{name}/operations",
                {
                    "operation": "APPEND",
                    "messages": [
                        {"role": "user" if i % 2 == 0 else "assistant", "content": TEXT[:100]}
                        for i in range(messages)
                    ],
                },
            )
            assert reply.status == 200, reply


def measure(server, script, connections, seconds):
    """wrk takes one script: the report goes before the case."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as joined:
        joined.write((HERE / "report.lua").read_text() + (HERE / script).read_text())
        joined.flush()
        done = subprocess.run(
            [
                "wrk",
                "--threads",
                "1",
                "--connections",
                str(connections),
                "--duration",
                f"{seconds}s",
                "--timeout",
                "10s",
                "--script",
                joined.name,
                f"http://{server.host}",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    program, base, seconds = (
        sys.argv[1],
        pathlib.Path(sys.argv[2]),
        int(sys.argv[3]) if len(sys.argv) > 3 else 10,
    )
    for what, script, store in (
        ("reads of the last 50 messages", "reads.lua", "sqlite"),
        ("durable appends", "appends.lua", "sqlite"),
        ("appends in memory", "appends.lua", "memory:"),
    ):
        for connections in (64, 1000):
            folder = Folder(program)
            shutil.rmtree(folder.path)
            folder.path = pathlib.Path(tempfile.mkdtemp(dir=base))
            server = Server(folder, "--quiet", store=store)
            try:
                fill(
                    server,
                    [f"read-{i}" for i in range(64)]
                    if script == "reads.lua"
                    else [f"write-{i}" for i in range(1000)],
                    1000 if script == "reads.lua" else 0,
                )
                measure(server, script, connections, 2)
                print(
                    json.dumps(
                        {
                            "what": what,
                            "store": store,
                            "connections": connections,
                            **measure(server, script, connections, seconds),
                            "resident_mib": round(server.resident_bytes() / 2**20),
                        }
                    ),
                    flush=True,
                )
                server.stop()
            finally:
                server.close()
                folder.remove()


if __name__ == "__main__":
    main()
