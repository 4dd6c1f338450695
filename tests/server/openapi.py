#!/usr/bin/env python3
"""What the server says of its routes is valid OpenAPI 3.1, and its answers are as it says, by somebody else's judgement.   openapi.py PROGRAM FOLDER

The validator comes from PyPI, into FOLDER. Status 77, for ctest: it cannot be had.
"""
import pathlib
import subprocess
import sys
import venv

from running import Folder, Server

VALIDATOR = "openapi-spec-validator==0.7.1"


def validator(folder):
    """The Python that has it, or None."""
    python = pathlib.Path(folder) / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", "import openapi_spec_validator"], capture_output=True).returncode == 0:
        return python
    installed = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", VALIDATOR], capture_output=True, timeout=300)
    return python if installed.returncode == 0 else None


def main(program, folder):
    python = validator(folder)
    if python is None:
        print(f"skipped: {VALIDATOR} cannot be installed")
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
