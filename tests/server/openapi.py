#!/usr/bin/env python3
"""What the server says of its routes is valid OpenAPI 3.1, and its answers are as it says, by somebody else's judgement.   openapi.py PROGRAM PYTHON

PYTHON has the validator that scripts/peers gets. Status 77, for ctest: it is not there.
"""
import pathlib
import subprocess
import sys

from running import Folder, Server

def main(program, python):
    if not pathlib.Path(python).exists():
        print("skipped: openapi: scripts/peers has not got the validator")
        return 77
    place = Folder(program)
    server = Server(place, store="memory:")
    try:
        document = place.path / "openapi.json"
        document.write_bytes(server.request("GET", "/openapi.json").body)
        subprocess.run([python, "-m", "openapi_spec_validator", "--schema", "3.1.0", str(document)], check=True)
    finally:
        server.close()
        place.remove()
    contract = pathlib.Path(__file__).parent / "contract.py"
    return subprocess.run([python, contract, program, "Contract.test_2_every_route_answers_a_good_call_as_it_says"]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
