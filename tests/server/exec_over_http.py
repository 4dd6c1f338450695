#!/usr/bin/env python3
"""A command like `undertext exec`, whose every line goes over HTTP to a conversation of its own: for players of scenarios.

    UNDERTEXT_TEST_SERVER=127.0.0.1:PORT exec_over_http.py exec [--config JSON] < lines

A line with "query" is asked at …/query and, where all its arguments can be parameters, once more with GET, which must answer the same bytes; everything
else goes to …/operations. A status that does not follow from the answer's code, or an ETag that is not its version, is told instead of the answer.
"""

import http.client
import json
import os
import sys
import urllib.parse

STATUS = {
    "invalid_argument": 400,
    "denied": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "cannot_fit": 422,
    "unsupported": 501,
    "unavailable": 503,
    "corrupt": 500,
    "internal": 500,
}
PATHS = {"markMap": "mark-map"}
WITHOUT_GET = {"fit", "history", "callTool", "whatIf"}  # …/history has pages
PLAIN = (str, int, bool)


class Door:
    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=60)

    def call(self, method, path, body=None):
        headers = {} if body is None else {"Content-Type": "application/json"}
        self.connection.request(method, path, body, headers)
        reply = self.connection.getresponse()
        return reply.status, reply.headers, reply.read()


def spelled(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def get_path(line):
    """The GET that is the same query; None where there is none, such as for arguments of the wrong type."""
    try:
        query = json.loads(line)
    except ValueError:
        return None
    arguments = {name: value for name, value in query.items() if name != "query"}
    name = query["query"]
    if not isinstance(name, str) or name in WITHOUT_GET or not name.isalpha():
        return None
    parameters = {}
    for key, value in arguments.items():
        if (
            isinstance(value, list)
            and value
            and all(isinstance(one, str) and "," not in one for one in value)
        ):
            parameters[key] = ",".join(value)
        elif isinstance(value, PLAIN) and value != "" and (isinstance(value, str) or value < 2**64):
            parameters[key] = spelled(value)
        else:
            return None
    path = "/" + PATHS.get(name, name)
    for query_name, argument, prefix in (
        ("blame", "ordinal", "/blame/"),
        ("batchSnapshot", "batchIndex", "/batches/"),
    ):
        if name == query_name:
            if argument not in parameters:
                return None
            path = prefix + urllib.parse.quote(parameters.pop(argument), safe="")
    return path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")


def problem_of(status, headers, body):
    answer = json.loads(body)
    wanted = 200 if answer["ok"] else STATUS[answer["error"]["code"]]
    if status != wanted:
        return f"status {status} instead of {wanted}"
    if body.count(b"\n") or headers["Content-Type"] != "application/json":
        return f"not one line of JSON: {headers['Content-Type']}"
    version = answer.get("version") or (
        answer["results"][-1]["version"] if answer.get("results") else None
    )
    if version is not None and headers["ETag"] != f'"{version}"':
        return f"ETag {headers['ETag']} of version {version}"
    return None


def is_query(line):
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and "query" in value and "operation" not in value


def play(door, base, line):
    path = "/query" if is_query(line) else "/operations"
    status, headers, body = door.call("POST", base + path, line)
    problem = problem_of(status, headers, body)
    if problem is None and path == "/query" and (path := get_path(line)) and json.loads(body)["ok"]:
        _, _, same = door.call("GET", base + path)
        if same != body:
            problem = f"GET {path} answers {same[:300]!r}"
    return (
        body
        if problem is None
        else json.dumps({"ok": None, "problem": problem, "answer": body.decode()}).encode()
    )


def main():
    door = Door(os.environ["UNDERTEXT_TEST_SERVER"])
    made = (
        {"settings": json.loads(sys.argv[sys.argv.index("--config") + 1])}
        if "--config" in sys.argv
        else {}
    )
    status, headers, body = door.call("POST", "/v1/conversations", json.dumps(made))
    if status != 201:
        sys.exit(f"{status} {body.decode()}")
    for line in sys.stdin.buffer.read().split(b"\n")[:-1]:
        sys.stdout.buffer.write(play(door, headers["Location"], line) + b"\n")


if __name__ == "__main__":
    main()
