#!/usr/bin/env python3
"""The examples with `curl -s` in docs/server.md, one after the other on a server of its own: what is said to come out does.   examples.py PROGRAM

An ellipsis stands for anything. Status 77, for ctest: there is no curl.
"""

import pathlib
import re
import shutil
import subprocess
import sys

from running import Folder, Server

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "server.md"


def examples(text):
    """Commands and what they print. An example is indented; it ends with the next one, or with text that is not."""
    command, expected = None, []
    for line in text.splitlines() + ["end"]:
        is_example = line.startswith("    ") or not line
        if command is not None and (not is_example or line.startswith("    $ ")):
            yield command, "\n".join(expected).strip()
            command = None
        if line.startswith("    $ curl -s "):
            command, expected = line[6:], []
        elif command is not None and command.endswith("\\"):
            command = command[:-1] + line.strip()
        elif command is not None:
            expected.append(line[4:])


def wait_for_job(server, answer):
    """What works in the background would be told by the events of a later example."""
    job = re.search(rb'"job":"(\w+)"', answer)
    while (
        job
        and b'"state":"running"'
        in server.request(
            "GET", f"/v1/conversations/support-17/compressions/{job[1].decode()}"
        ).body
    ):
        pass


def main(program):
    if shutil.which("curl") is None:
        print("skipped: curl: it is not installed")
        return 77
    folder = Folder(program)
    server = Server(folder)
    failed = played = 0
    try:
        for command, expected in examples(DOCS.read_text()):
            done = subprocess.run(
                command.replace("127.0.0.1:8777", server.host),
                shell=True,
                capture_output=True,
                timeout=60,
            )
            wait_for_job(server, done.stdout)
            pattern = ".*?".join(re.escape(piece) for piece in expected.split("…"))
            played += 1
            if not re.fullmatch(pattern, done.stdout.decode().strip(), re.S):
                failed += 1
                print(
                    f"$ {command}\n  expected {expected}\n  got      {done.stdout.decode()} {done.stderr.decode()}"
                )
    finally:
        server.close()
        folder.remove()
    print(f"{played} examples, {failed} failed")
    return failed > 0 or played == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
