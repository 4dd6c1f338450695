#!/usr/bin/env python3
"""The routes as /openapi.json has them, each called as it should be and in every way in which it should not.   contract.py PROGRAM [TEST…]"""

import json
import pathlib
import re
import sys
import unittest
import urllib.parse

from running import Folder, Server

try:
    import jsonschema  # tests/server/openapi.py brings it along
except ImportError:
    jsonschema = None

PROGRAM = sys.argv[1]
DOCS = pathlib.Path(__file__).parents[2] / "docs" / "server.md"
MESSAGE = {"role": "user", "content": "hello"}
APPEND = {"operation": "APPEND", "messages": [MESSAGE]}

# A good call of each operation: what stands in the places of its path, its query, its body. {} where nothing is needed.
RECORDED = {
    "client": "anthropic",
    "status": 200,
    "responseId": "msg_1",
    "answer": "{}",
    "request": '{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}',
}
GOOD = {
    "listConversations": {"query": {"limit": 5, "after": "a", "search": "c"}},
    "makeConversation": {"body": {}},
    "getConversation": {},
    "deleteConversation": {"path": {"id": "doomed"}, "query": {"why": "a test"}},
    "forkConversation": {"body": {}},
    "operate": {"body": APPEND, "headers": {"Idempotency-Key": "k", "If-Match": "*"}},
    "preview": {"body": APPEND},
    "query": {"body": {"query": "version"}},
    "getMessages": {
        "query": {
            "all": "true",
            "roles": "user,tool",
            "from": 0,
            "to": 9000000000000000,
            "contains": "h",
            "start": 0,
            "end": 9,
            "last": 3,
        }
    },
    "getBlocks": {"query": {"roles": "user,tool", "last": 1}},
    "countMessages": {"query": {"role": "user", "atVersion": 1, "first": 1}},
    "getUncompressed": {},
    "getMarkMap": {},
    "getState": {},
    "getStats": {},
    "getVersion": {},
    "getBatches": {},
    "getReceipts": {},
    "getBatchSnapshot": {"path": {"index": 0}},
    "getDiff": {"query": {"from": 0, "to": 1}},
    "getBlame": {"path": {"ordinal": 0}},
    "getTokens": {"query": {"perMessage": "true", "atVersion": 1}},
    "getModel": {"query": {"name": "gpt-4o"}},
    "getTools": {"query": {"dialect": "anthropic"}},
    "callTool": {"body": {"name": "context_status", "arguments": {}}},
    "mcp": {
        "body": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        "foreign": True,
    },  # answers in its own form: tests/mcp
    "countTools": {"body": {"tools": [{"name": "f", "description": "Does it."}]}},
    "getCost": {
        "query": {"from": 1, "to": 1, "profile": "anthropic", "overhead": 7, "cacheMarkers": "auto"}
    },
    "costOfOperations": {
        "body": {"operations": [APPEND], "dialect": "anthropic", "cacheMarkers": "auto"}
    },
    "importMessages": {
        "body": {
            "dialect": "openai_chat",
            "json": {"messages": [MESSAGE]},
            "toolNames": {"a_b": "a.b"},
        }
    },
    "fit": {"body": {"budget": {"window": 1000}}},
    "render": {
        "query": {
            "dialect": "anthropic",
            "repair": "false",
            "boundThinking": "strip",
            "cacheMarkers": "auto",
        }
    },
    "renderWithRequest": {"body": {"dialect": "gemini", "request": {}}},
    "validate": {"query": {"profile": "anthropic", "sentVersion": 1}},
    "validateWithRequest": {"body": {"dialect": "openai_chat"}},
    "getHistory": {"query": {"before": 9, "limit": 2}},
    "getTimeline": {"query": {"points": 2, "from": 0, "to": 1}},
    "getRows": {"query": {"atVersion": 1, "ordinals": "0"}},
    "getUsage": {},
    "recall": {"query": {"text": "hello", "budgetTokens": 500, "all": "true"}},
    "recallEverywhere": {"query": {"text": "hello", "role": "user", "limit": 3}},
    "getLedger": {"query": {"from": 0, "turns": "true"}},
    "getStoreLedger": {},
    "whatIf": {"body": {"policy": "tidy"}},
    "getCacheBreak": {"path": {"number": 1}},
    "getRequests": {"query": {"first": 1, "limit": 5}},
    "getRequest": {"path": {"number": 1}},
    "recordRequest": {"body": RECORDED},
    "reportUsage": {"body": {"requestId": "r", "prompt": 12}},
    "setUsage": {"body": {}},
    "compress": {"body": {"strategy": "none"}},
    "getCompression": {"path": {"job": "JOB"}},
    "cancelCompression": {"path": {"job": "JOB"}},
    "getEvents": {"query": {"after": 0}, "endless": True},
    "exportConversation": {},
    "importConversation": {"query": {"id": "imported"}, "lines": True},
    "getDialects": {},
    "getHealth": {},
    "getReady": {},
    "beginDrain": {},
    "endDrain": {},
    "getMetrics": {},
    "getOpenApi": {},
    "getDocs": {},
    "getDocsStyle": {},
    "getInspector": {},
    "getInspectorFile": {"path": {"file": "nothing.js"}, "status": 404},
    "getManual": {"status": 404},
    "getManualFile": {"path": {"file": "nothing.html"}, "status": 404},
}
WRONG = {
    "integer": ["x", "-1", "1.5", "", "1e3", "0x1", "18446744073709551616"],
    "boolean": ["yes", "1", "", "TRUE"],
    "array": ["", ",", "x,", "user,,x"],
}


class Operation:
    def __init__(self, method, path, about, components):
        self.method, self.path, self.about = method.upper(), path, about
        self.name = about["operationId"]
        self.components = components
        self.parameters = about["parameters"]
        self.good = GOOD[self.name]

    def schema(self, parameter):
        schema = parameter["schema"]
        return (
            self.components["schemas"][schema["$ref"].rsplit("/", 1)[1]]
            if "$ref" in schema
            else schema
        )

    def target(self, path=None, query=None, more=""):
        values = {"id": "c", **self.good.get("path", {}), **(path or {})}
        target = re.sub(
            r"\{(\w+)\}",
            lambda found: urllib.parse.quote(str(values[found[1]]), safe=""),
            self.path,
        )
        query = urllib.parse.urlencode(self.good.get("query", {}) if query is None else query)
        query = "&".join(filter(None, [query, more]))
        return target + ("?" + query if query else "")

    def status(self):
        return self.good.get("status") or int(
            next(status for status in self.about["responses"] if status != "default")
        )


class Contract(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder(PROGRAM)
        cls.token = cls.folder.make_token("all", "acme", "read,write,metrics,operate")
        cls.server = Server(cls.folder, "--tokens", cls.folder.tokens, "--rate", "1000000")
        cls.document = cls.server.request("GET", "/openapi.json").json()
        cls.connection = cls.server.connection()
        for name in ("c", "doomed", "exported"):
            cls.server.make(name, cls.token)
        for name in ("c", "exported"):
            cls.server.append(name, "hello", cls.token)
        cls.lines = cls.call("GET", "/v1/conversations/exported/export").body
        assert cls.call("POST", "/v1/conversations/c/requests", RECORDED).status == 200
        job = cls.call("POST", "/v1/conversations/c/compressions", {"strategy": "none"}).json()[
            "result"
        ]["job"]
        for name in ("getCompression", "cancelCompression"):
            GOOD[name]["path"]["job"] = job
        cls.operations = [
            Operation(method, path, about, cls.document["components"])
            for path, methods in cls.document["paths"].items()
            for method, about in methods.items()
        ]

    @classmethod
    def tearDownClass(cls):
        cls.connection.close()
        cls.server.close()
        cls.folder.remove()

    @classmethod
    def call(cls, method, target, body=None, headers=None, own=False):
        return cls.server.request(
            method, target, body, cls.token, headers, connection=None if own else cls.connection
        )

    def body_of(self, operation):
        """The good body, and the fields that go with it."""
        if operation.good.get("lines"):
            return self.lines, {"Content-Type": "application/x-ndjson"}
        body = operation.good.get("body")
        return (
            (None, {}) if body is None else (json.dumps(body), {"Content-Type": "application/json"})
        )

    def refused(self, operation, reply, field, status=400):
        self.assertEqual(reply.status, status, f"{operation.name} {field}: {reply}")
        error = reply.json()["error"]
        self.assertEqual(error["code"], "invalid_argument", reply)
        if field is not None:
            self.assertEqual(error.get("field"), field, f"{operation.name}: {reply}")

    def test_1_the_documents_and_the_server_have_the_same_routes(self):
        described = set()
        for methods, paths in re.findall(
            r"^\| ((?:GET|POST|PUT|DELETE)(?:, \w+)*) (`/[^|]*) \|", DOCS.read_text(), re.M
        ):
            first = None
            for path in re.findall(r"`([^`]+)`", paths):
                path = (
                    path.replace("…", first.rsplit("/", 1)[0])
                    if first and path.startswith("…")
                    else path
                )
                first = first or path
                described |= {(method, path) for method in methods.split(", ")}
        served = {(operation.method, operation.path) for operation in self.operations}
        self.assertEqual(described, served)

    def test_1_every_operation_has_a_good_call_here(self):
        self.assertEqual({operation.name for operation in self.operations}, set(GOOD))

    def test_2_every_route_answers_a_good_call_as_it_says(self):
        order = sorted(self.operations, key=lambda operation: operation.method == "DELETE")
        for operation in order:
            if operation.good.get("endless"):
                continue
            with self.subTest(operation.name):
                body, fields = self.body_of(operation)
                reply = self.call(
                    operation.method,
                    operation.target(),
                    body,
                    {**fields, **operation.good.get("headers", {})},
                )
                self.assertEqual(reply.status, operation.status(), reply)
                content_type = (
                    next(
                        iter(operation.about["responses"][str(int(operation.status()))]["content"])
                    )
                    if reply.status < 300
                    else "application/json"
                )
                self.assertTrue(
                    reply.headers["Content-Type"].startswith(content_type),
                    f"{reply.headers['Content-Type']} {content_type}",
                )
                if (
                    content_type == "application/json"
                    and operation.name != "getOpenApi"
                    and not operation.good.get("foreign")
                ):
                    self.assertEqual(reply.json()["ok"], reply.status < 300)
                    self.assertNotIn(b"\n", reply.body)
                    self.check_schema(operation, reply)
                declared = (
                    operation.about["responses"][str(operation.status())].get("headers", {})
                    if reply.status < 300
                    else {}
                )
                self.assertEqual(
                    {name for name in ("ETag", "Location") if name in reply.headers}, set(declared)
                )

    def check_schema(self, operation, reply):
        if jsonschema is None or reply.status >= 300:
            return
        schema = operation.about["responses"][str(reply.status)]["content"]["application/json"][
            "schema"
        ]
        # A member that the schema does not have is an error here; to clients it is none.
        closed = {
            name: {"additionalProperties": False, **shape} if "properties" in shape else shape
            for name, shape in self.document["components"]["schemas"].items()
        }
        jsonschema.Draft202012Validator({**schema, "components": {"schemas": closed}}).validate(
            reply.json()
        )

    def test_1_every_body_and_every_answer_of_json_is_a_shape_with_members(self):
        shapes = self.document["components"]["schemas"]
        for operation in self.operations:
            bodies = [
                operation.about.get("requestBody", {}),
                *(
                    reply
                    for status, reply in operation.about["responses"].items()
                    if status != "default"
                ),
            ]
            for body in bodies:
                schema = body.get("content", {}).get("application/json", {}).get("schema")
                self.assertTrue(schema is None or "$ref" in schema, f"{operation.name}: {schema}")
            self.assertEqual(len(operation.about["tags"]), 1)
        of_anything = (None, True, {"$ref": "#/components/schemas/Json"})
        bare = {
            name
            for name, shape in shapes.items()
            if shape.get("type") == "object"
            and not shape.get("properties")
            and shape.get("additionalProperties") in of_anything
        }
        self.assertEqual(bare, {"JsonObject"})

    def test_1_every_operation_is_a_shape_of_its_own_that_its_name_tells(self):
        shapes = self.document["components"]["schemas"]
        mapping = shapes["Operation"]["discriminator"]["mapping"]
        self.assertGreater(len(mapping), 20)
        for name, reference in mapping.items():
            shape = shapes[reference.rsplit("/", 1)[1]]
            for each in shape.get("anyOf", [{"$ref": reference}]):
                named = shapes[each["$ref"].rsplit("/", 1)[1]]
                self.assertEqual(named["properties"]["operation"]["const"], name)
                self.assertTrue(named["examples"] and named["description"])
                for member, about in named["properties"].items():
                    self.assertTrue(about.get("description"), f"{name} {member}")

    def test_2_head_answers_as_get_does_without_the_body(self):
        for operation in self.operations:
            if operation.method != "GET":
                continue
            with self.subTest(operation.name):
                head = self.call(
                    "HEAD", operation.target(), headers=operation.good.get("headers"), own=True
                )
                self.assertEqual((head.status, head.body), (operation.status(), b""))
                if operation.good.get("endless"):
                    continue
                get = self.call(
                    "GET", operation.target(), headers=operation.good.get("headers"), own=True
                )
                for name in ("Content-Type", "ETag"):
                    self.assertEqual(head.headers[name], get.headers[name])
        self.assertEqual(self.call("HEAD", "/v1/conversations/nothere").status, 404)

    def test_2_only_the_version_that_if_match_names_fails_the_precondition(self):
        self.server.make("matched", self.token)
        path = "/v1/conversations/matched/operations"
        self.assertEqual(self.call("POST", path, APPEND, {"If-Match": '"0"'}).status, 200)
        for body in (APPEND, [APPEND, APPEND]):
            self.assertEqual(self.call("POST", path, body, {"If-Match": '"0"'}).status, 412)
        later = self.call(
            "POST", path, [APPEND, {**APPEND, "expectedVersion": 0}], {"If-Match": '"1"'}
        )
        self.assertEqual((later.status, later.json()["error"]["operationIndex"]), (409, 1))

    def test_3_parameters_that_are_missing_unknown_twice_or_wrong_are_refused_by_name(self):
        tried = 0
        for operation in self.operations:
            body, fields = self.body_of(operation)
            given = operation.good.get("query", {})
            if operation.about["x-right"] != "none" or operation.parameters:
                self.refused(
                    operation,
                    self.call(operation.method, operation.target(more="nope=1"), body, fields),
                    "nope",
                )
            for parameter in operation.parameters:
                name, place, schema = (
                    parameter["name"],
                    parameter["in"],
                    operation.schema(parameter),
                )
                # Of two that exclude each other, the wrong one is told.
                others = {
                    key: value
                    for key, value in given.items()
                    if key != name and {key, name} != {"dialect", "profile"}
                }
                wrong = list(WRONG.get(schema.get("type"), []))
                if "pattern" in schema:
                    wrong += [".dot", "a b", "é", "x" * 129]
                if "enum" in schema:
                    wrong += ["developer", "", "user,tool"]
                wrong += [
                    str(schema[bound] + step)
                    for bound, step in (("minimum", -1), ("maximum", 1))
                    if bound in schema and schema.get("minimum") != 0
                ]
                if "maxLength" in schema:
                    wrong.append("x" * (schema["maxLength"] + 1))
                if "minimum" not in schema and schema.get("type") == "integer":
                    wrong.remove("-1")  # a time
                for value in wrong:
                    tried += 1
                    with self.subTest(operation.name, parameter=name, value=value[:40]):
                        if place == "query":
                            self.refused(
                                operation,
                                self.call(
                                    operation.method,
                                    operation.target(query={**others, name: value}),
                                    body,
                                    fields,
                                ),
                                name,
                            )
                        elif place == "header":
                            self.refused(
                                operation,
                                self.call(
                                    operation.method,
                                    operation.target(),
                                    body,
                                    {**fields, name: value},
                                ),
                                name,
                            )
                        elif value not in ("", ",") and "/" not in value:
                            self.refused(
                                operation,
                                self.call(
                                    operation.method,
                                    operation.target(path={name: value}),
                                    body,
                                    fields,
                                ),
                                name,
                            )
                if place == "query":
                    sample = str(given.get(name, "1"))
                    twice = urllib.parse.urlencode([(name, sample), (name, sample)])
                    self.refused(
                        operation,
                        self.call(
                            operation.method,
                            operation.target(query=others, more=twice),
                            body,
                            fields,
                        ),
                        name,
                    )
                    if parameter.get("required"):
                        self.refused(
                            operation,
                            self.call(
                                operation.method, operation.target(query=others), body, fields
                            ),
                            name,
                        )
        self.assertGreater(tried, 200)

    def test_4_bodies_that_are_missing_no_json_or_of_another_type_are_refused(self):
        for operation in self.operations:
            about = operation.about.get("requestBody")
            if about is None or operation.good.get("foreign"):
                continue
            target = operation.target(
                query={"id": "refused"} if operation.good.get("lines") else None
            )
            with self.subTest(operation.name):
                fields = {"Content-Type": next(iter(about["content"]))}
                wrong = [b"{", b"\xff", b"7", b"null", b'"x"'] + (
                    [b""] if about["required"] else []
                )
                if operation.name not in ("operate", "preview"):
                    wrong.append(b"[]")
                for body in wrong:
                    self.refused(operation, self.call(operation.method, target, body, fields), None)
                other = self.call(
                    operation.method, target, b"{}", {"Content-Type": "text/plain"}, own=True
                )
                self.assertEqual(other.status, 415, f"{operation.name}: {other}")
                if fields["Content-Type"] == "application/json":
                    schema = about["content"]["application/json"]["schema"]
                    schema = self.document["components"]["schemas"][
                        schema["$ref"].rsplit("/", 1)[1]
                    ]
                    if schema.get("additionalProperties") is False:
                        self.refused(
                            operation,
                            self.call(
                                operation.method, target, {**operation.good["body"], "nope": 1}
                            ),
                            "nope",
                        )
                    for member in schema.get("required", []):
                        rest = {
                            key: value
                            for key, value in operation.good["body"].items()
                            if key != member
                        }
                        self.refused(operation, self.call(operation.method, target, rest), member)

    def test_5_what_is_not_there_is_not_found_and_other_methods_are_not_allowed(self):
        for operation in self.operations:
            if "{id}" in operation.path:
                body, fields = self.body_of(operation)
                reply = self.call(
                    operation.method, operation.target(path={"id": "nothere"}), body, fields
                )
                self.assertEqual(
                    (reply.status, reply.json()["error"]["code"]),
                    (404, "not_found"),
                    f"{operation.name}: {reply}",
                )
            allowed = {other.method for other in self.operations if other.path == operation.path}
            for method in {"GET", "POST", "PUT", "DELETE", "PATCH"} - allowed:
                reply = self.call(method, operation.target(), own=True)
                self.assertEqual(reply.status, 405, f"{method} {operation.path}: {reply}")
                self.assertEqual(
                    {word.strip() for word in reply.headers["Allow"].split(",")}
                    - {"HEAD", "OPTIONS"},
                    allowed,
                )
        for path in (
            "/v1",
            "/v1/",
            "/v1/conversations/",
            "/v1/conversations/c/nope",
            "/nope",
            "/v1/conversations/c/messages/",
            "//",
        ):
            self.assertEqual(self.call("GET", path).status, 404, path)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
