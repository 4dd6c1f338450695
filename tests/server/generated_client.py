#!/usr/bin/env python3
"""A client that somebody else's generator makes out of /openapi.json works.   generated_client.py PROGRAM FOLDER

FOLDER has the generator openapi-typescript and its client openapi-fetch, which scripts/peers gets. generated/client.ts is compiled against the
generated types and run. Status 77, for ctest: they are not there.
"""

import pathlib
import shutil
import subprocess
import sys

from running import Folder, Server

HERE = pathlib.Path(__file__).parent / "generated"


def main(program, packages):
    packages = pathlib.Path(packages).resolve()
    tools = packages / "node_modules" / ".bin"
    node = shutil.which("node")
    if node is None or not (tools / "openapi-typescript").exists():
        print("skipped: generators: scripts/peers has not got them")
        return 77
    place = Folder(program)
    server = Server(place, store="memory:")
    try:
        work = place.path / "client"
        shutil.copytree(HERE, work)
        (work / "node_modules").symlink_to(packages / "node_modules")
        (work / "openapi.json").write_bytes(server.request("GET", "/openapi.json").body)
        said = subprocess.run(
            [
                tools / "openapi-typescript",
                "openapi.json",
                "--default-non-nullable",
                "false",
                "-o",
                "api.d.ts",
            ],
            cwd=work,
            capture_output=True,
            text=True,
        )
        if said.returncode != 0 or "⚠" in said.stdout + said.stderr:
            print(said.stdout, said.stderr)
            return 1
        subprocess.run([tools / "tsc", "-p", "."], cwd=work, check=True)
        return subprocess.run(
            [node, "built/client.js", f"http://{server.host}"], cwd=work
        ).returncode
    finally:
        server.close()
        place.remove()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
