#!/usr/bin/env python3
"""Plays scenarios over HTTP, on a server of its own.   scenarios.py PROGRAM PLAYER [FILE…]

The player is one for `undertext exec`; it is given exec_over_http.py for the command. Status 77, for ctest: there is no such player here.
"""

import os
import pathlib
import subprocess
import sys

from running import Folder, Server


def main(program, player, *files):
    if not pathlib.Path(player).exists():
        print(f"skipped: inapplicable: there is no {player}")
        return 77
    folder = Folder(program)
    server = Server(folder, "--rate", "1000000", store="memory:")
    try:
        door = pathlib.Path(__file__).parent / "exec_over_http.py"
        environment = {**os.environ, "UNDERTEXT_TEST_SERVER": server.host, "UNDERTEXT_DOOR": "http"}
        return subprocess.run(
            [sys.executable, player, str(door), *files], env=environment
        ).returncode
    finally:
        server.close()
        folder.remove()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
