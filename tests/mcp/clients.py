#!/usr/bin/env python3
"""The official clients of the Model Context Protocol, of both eras, over stdio and HTTP.   clients.py PROGRAM PYTHON_PEER NODE_PEER

Every one lists the tools and calls each of them, lists the resources and reads one. Exits with 77, which means skipped, where scripts/peers could not get a client.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import served

HERE = pathlib.Path(__file__).parent


def play(command, mode, target, revision):
    calls = [[tool, arguments] for tool, arguments, _ in served.CALLS]
    done = subprocess.run(
        [*command, mode, json.dumps(target), json.dumps(calls)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["version"] in (revision, None), told["version"]
    assert told["tools"] == served.READING + served.EDITING, told["tools"]
    for (tool, _, expected), (is_error, text) in zip(served.CALLS, told["calls"], strict=True):
        assert not is_error and expected in text, (tool, text)
    assert told["resources"][0] == "undertext://conversation/here", told["resources"]
    assert told["templates"] == ["undertext://conversation/{id}"], told["templates"]
    assert "Thank you." in told["read"], told["read"]


def clients(python, node):
    yield [python, str(HERE / "peer_python.py")], "legacy", "2025-11-25"
    yield [python, str(HERE / "peer_python.py")], "auto", "2026-07-28"
    yield [python, str(HERE / "peer_python.py")], "2026-07-28", "2026-07-28"
    yield ["node", str(node / "peer_typescript.mjs")], "legacy", "2025-11-25"
    yield ["node", str(node / "peer_typescript_v2.mjs")], "legacy", "2025-11-25"
    yield ["node", str(node / "peer_typescript_v2.mjs")], "auto", "2026-07-28"
    yield ["node", str(node / "peer_typescript_v2.mjs")], "2026-07-28", "2026-07-28"


def main(program, python_folder, node_folder):
    python = pathlib.Path(python_folder) / "bin" / "python"
    # Node looks for packages beside the script.
    node = pathlib.Path(node_folder).resolve()
    if not python.exists():
        print("skipped: mcp: scripts/peers could not get the client for Python")
        sys.exit(77)
    if not all(
        (node / "node_modules" / "@modelcontextprotocol" / package).exists()
        for package in ("sdk", "client")
    ):
        print("skipped: mcp-node: scripts/peers could not get the client for TypeScript")
        sys.exit(77)
    for script in (HERE / "clients").glob("*.mjs"):
        shutil.copy(script, node / script.name)
    for command, mode, revision in clients(str(python), node):
        with served.store(program) as (folder, url, project):
            stdio = {
                "command": [program, "mcp", "--store", url, "--allow-edits"],
                "cwd": str(project),
                "env": {"PATH": os.environ["PATH"], **folder.env},
            }
            play(command, mode, stdio, revision)
        with served.store(program) as (folder, url, project):
            token = folder.make_token("agent", "default")
            server = served.Server(folder, "--tokens", folder.tokens, store=url)
            try:
                play(
                    command,
                    mode,
                    {
                        "url": f"http://{server.host}/mcp?edits=true&conversation=here",
                        "token": token,
                    },
                    revision,
                )
            finally:
                server.close()
        print(pathlib.Path(command[-1]).name, mode, "over stdio and HTTP")


if __name__ == "__main__":
    main(*sys.argv[1:4])
