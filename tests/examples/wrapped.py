#!/usr/bin/env python3
"""What a page shows of `undertext wrap claude` is true, but for numbers, times, names and the token.   wrapped.py PROGRAM PAGE

`claude` is a client that knows nothing of Undertext and asks the model of model.py three questions.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from model import environment, model

CLIENT = pathlib.Path(__file__).with_name("client.py")


def sessions(page):
    """Commands and what they print, of the first block that wraps something."""
    block = re.search(
        r"(?:^    .*\n)*^    \$ undertext wrap.*\n(?:^    .*\n)*", page.read_text(), re.MULTILINE
    )[0]
    lines = [line[4:] for line in block.splitlines()]
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def alike(text):
    text = re.sub(r"sqlite:\S+?/undertext/undertext\.db", "STORE", text)
    text = re.sub(r"ut_\S+", "TOKEN", text)
    text = re.sub(r"\b(claude_code|anthropic)-[\w-]+", "ID", text)
    return re.sub(r"\d+", "0", re.sub(r" +", " ", text))


def main(program, page):
    with model() as upstream, tempfile.TemporaryDirectory(prefix="undertext-wrapped-") as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/undertext").symlink_to(pathlib.Path(program).resolve())
        (folder / "bin/claude").write_text(f"#!/bin/sh\nexec '{sys.executable}' '{CLIENT}'\n")
        (folder / "bin/claude").chmod(0o755)
        env = {
            **os.environ,
            **environment(upstream.url),
            "HOME": name,
            "XDG_DATA_HOME": f"{name}/data",
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
        }
        conversation = None
        for command, shown in sessions(pathlib.Path(page)):
            if conversation:
                command = re.sub(r"\bclaude_code-[\w-]+", conversation, command)
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env=env,
                capture_output=True,
                text=True,
                timeout=60,
            )
            printed = (done.stderr + done.stdout).splitlines()
            assert done.returncode == 0 and [*map(alike, printed)] == [*map(alike, shown)], (
                command,
                printed,
                shown,
            )
            conversation = conversation or next(
                (found[0] for line in printed if (found := re.search(r"\banthropic-[\w-]+", line))),
                None,
            )
        assert len(upstream.requests) == 3 and conversation
    print(f"{page}: what it shows of wrapping is so")


main(*sys.argv[1:])
