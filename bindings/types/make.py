#!/usr/bin/env python3
"""The types of other languages, made from the schema of the protocol.   make.py PROGRAM [--check]

    bindings/node/src/protocol.ts            bindings/python/undertext/_protocol.py, _arguments.py
    inspector/src/api/protocol.ts            from the OpenAPI document, with the forms of operations

With --check nothing is written: the exit status is 1 where a file is not what would be written.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(ROOT / "tests" / "server")]
import python_types
import typescript


def protocol(program):
    return json.loads(subprocess.run([program, "schema"], capture_output=True, check=True).stdout)[
        "$defs"
    ]


def openapi(program):
    """The shapes of a server; None where the program has none."""
    import running

    folder = running.Folder(program)
    try:
        server = running.Server(folder, store="memory:")
        try:
            return server.request("GET", "/openapi.json").json()["components"]["schemas"]
        finally:
            server.close()
    except AssertionError:
        return None
    finally:
        folder.remove()


def files(program):
    shapes = protocol(program)
    yield "bindings/node/src/protocol.ts", typescript.node(shapes)
    yield "bindings/python/undertext/_protocol.py", python_types.protocol(shapes)
    yield "bindings/python/undertext/_arguments.py", python_types.arguments(shapes)
    served = openapi(program)
    if served is not None:
        yield "inspector/src/api/protocol.ts", typescript.inspector(served)


def main(program, *options):
    stale = 0
    for name, text in files(program):
        path = ROOT / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if "--check" in options:
            print(f"{name} is not what the schema says; run bindings/types/make.py PROGRAM")
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return 1 if stale and "--check" in options else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
