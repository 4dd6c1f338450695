#!/usr/bin/env python3
"""What the server says of its routes is valid OpenAPI 3.1, and its answers are as it says, by somebody else's judgement.   openapi.py PROGRAM PYTHON

PYTHON has the validator that scripts/peers gets. Status 77, for ctest: it is not there.
"""

import json
import pathlib
import subprocess
import sys

from running import EventStream, Folder, Server

# Of events that a stream has.
SHAPES = {"version": "VersionEntry", "event": "Event", "compression": "Compression"}


def events_of(server):
    """Events of a conversation, as their lines."""
    server.request("POST", "/v1/conversations", {"id": "c", "settings": {"tokenLimit": 40}})
    stream = EventStream(server, "/v1/conversations/c/events?after=0")
    path = "/v1/conversations/c/operations"
    # Once the stream has reported this version, it hears what follows. Only then is the limit crossed: an event of a crossing
    # is not repeated for those who listen later.
    assert (
        server.request(
            "POST",
            path,
            {"operation": "APPEND", "messages": [{"role": "user", "content": "first"}]},
        ).status
        == 200
    )
    assert stream.wait_for('"version":1'), stream.lines
    for operation in (
        {"operation": "APPEND", "messages": [{"role": "user", "content": "word " * 30}] * 3},
        {"operation": "DELETE", "indices": [0]},
        {"operation": "ROLLBACK", "targetBatchIndex": 0},
    ):
        assert server.request("POST", path, operation).status == 200
    assert (
        server.request(
            "POST",
            "/v1/conversations/c/compressions",
            {"strategy": {"name": "keep_recent", "n": 1}},
        ).status
        == 202
    )
    assert stream.wait_for('"state":"done"'), stream.lines
    stream.close()
    return [line for line in stream.lines if line.startswith(("event:", "data:"))]


def check_events(document, lines):
    """Every event is as the document says."""
    import jsonschema

    schemas = json.loads(pathlib.Path(document).read_text())["components"]["schemas"]
    closed = {
        name: {"additionalProperties": False, **shape} if "properties" in shape else shape
        for name, shape in schemas.items()
    }
    kinds = []
    for line in pathlib.Path(lines).read_text().splitlines():
        if line.startswith("event:"):
            kinds.append(line.split(":", 1)[1].strip())
            continue
        schema = {
            "$ref": f"#/components/schemas/{SHAPES[kinds[-1]]}",
            "components": {"schemas": closed},
        }
        jsonschema.Draft202012Validator(schema).validate(json.loads(line.split(":", 1)[1]))
    assert set(kinds) == set(SHAPES), kinds
    print(f"{len(kinds)} events")
    return 0


def main(program, python):
    if not pathlib.Path(python).exists():
        print("skipped: openapi: scripts/peers has not got the validator")
        return 77
    place = Folder(program)
    server = Server(place, store="memory:")
    try:
        document = place.path / "openapi.json"
        document.write_bytes(server.request("GET", "/openapi.json").body)
        subprocess.run(
            [python, "-m", "openapi_spec_validator", "--schema", "3.1.0", str(document)], check=True
        )
        lines = place.path / "events"
        lines.write_text("\n".join(events_of(server)))
        subprocess.run([python, __file__, "--events", str(document), str(lines)], check=True)
    finally:
        server.close()
        place.remove()
    contract = pathlib.Path(__file__).parent / "contract.py"
    return subprocess.run(
        [python, contract, program, "Contract.test_2_every_route_answers_a_good_call_as_it_says"]
    ).returncode


if __name__ == "__main__":
    sys.exit(check_events(*sys.argv[2:]) if sys.argv[1] == "--events" else main(*sys.argv[1:]))
