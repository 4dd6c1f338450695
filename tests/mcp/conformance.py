#!/usr/bin/env python3
"""The published conformance suite of the Model Context Protocol, against /mcp.   conformance.py PROGRAM NODE_PEER

Played are the scenarios of what this server offers; the others need tools and prompts of a server made for the suite. Exits with 77, which means skipped, where the suite or a
Node for it is not to be had.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import served

SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "dns-rebinding-protection",
]
REPOSITORY = pathlib.Path(__file__).parents[2]


def skip(reason):
    print("skipped: mcp-node: " + reason)
    sys.exit(77)


def node_22():
    for node in (REPOSITORY / "build" / "node" / "bin" / "node", shutil.which("node")):
        if node and os.access(node, os.X_OK):
            version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
            if int(version.strip().lstrip("v").split(".")[0]) >= 22:
                return str(node)
    return skip("there is no Node 22")


def main(program, peer_folder):
    suite = (
        pathlib.Path(peer_folder)
        / "node_modules"
        / "@modelcontextprotocol"
        / "conformance"
        / "dist"
        / "index.js"
    )
    if not suite.exists():
        skip("scripts/peers could not get the conformance suite")
    node = node_22()
    with served.store(program) as (folder, url, _), tempfile.TemporaryDirectory() as results:
        server = served.Server(folder, store=url)
        try:
            for scenario in SCENARIOS:
                done = subprocess.run(
                    [
                        node,
                        str(suite.resolve()),
                        "server",
                        "--url",
                        f"http://{server.host}/mcp",
                        "--scenario",
                        scenario,
                    ],
                    cwd=results,
                    capture_output=True,
                    text=True,
                    timeout=120,
                )
                assert done.returncode == 0, done.stdout + done.stderr
                print(scenario, "passed")
        finally:
            server.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
