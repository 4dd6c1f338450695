#!/usr/bin/env python3
"""Whether every file that a build joins with others compiles by itself too.   compiles_alone.py BUILD_FOLDER

A joined file may use what only the files before it include or define, and the preset dev, which joins nothing, then fails.
Checks the syntax with the options of that build, which takes less than half the time of compiling."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

# What only joined files need (undertext_unity in cmake/compile.cmake).
OF_JOINED_FILES = {"-Wno-shadow", "-Wno-subobject-linkage"}


def joined(folder):
    """Each source that another file includes, with the command that compiles it; once, though tests may join it otherwise."""
    seen = set()
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        if "/Unity/unity_" not in entry["file"]:
            continue
        words = [word for word in shlex.split(entry["command"]) if word not in OF_JOINED_FILES]
        if os.path.basename(words[0]) == "ccache":  # it does not keep what is only checked
            del words[0]
        at = words.index("-o")
        del words[at : at + 2]
        for source in re.findall(
            r'^#include "(.*\.cpp)"$', pathlib.Path(entry["file"]).read_text(), re.M
        ):
            if source not in seen:
                yield (
                    source,
                    entry["directory"],
                    [source if word == entry["file"] else word for word in words]
                    + ["-fsyntax-only"],
                )
            seen.add(source)


def fault(source, directory, words):
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True)
    return f"{source} does not compile by itself:\n{done.stderr}" if done.returncode != 0 else ""


def main():
    sources = list(joined(pathlib.Path(sys.argv[1])))
    if not sources:
        sys.exit(f"{sys.argv[1]} joins no files")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [text for text in pool.map(lambda each: fault(*each), sources) if text]
    print(
        *faults,
        f"{len(sources)} files, {len(faults)} of them do not compile by themselves",
        sep="\n",
    )
    sys.exit(1 if faults else 0)


main()
