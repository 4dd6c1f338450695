#!/usr/bin/env python3
"""/mcp of `undertext serve`: rights, origins, fields and limits.   over_http.py PROGRAM"""

import json
import sys
import unittest

import served
from served import META, request

PROGRAM = sys.argv[1]
CALL = request("tools/call", {"name": "context_status", "arguments": {}})
FIELDS = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "context_status",
}


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = served.store(PROGRAM)
        cls.folder, cls.url, cls.project = cls.context.__enter__()
        cls.reader = cls.folder.make_token("reader", "default", "read")
        cls.writer = cls.folder.make_token("writer", "default", "read,write")
        cls.stranger = cls.folder.make_token("stranger", "acme", "read,write")
        cls.blind = cls.folder.make_token("blind", "default", "metrics")
        cls.server = served.Server(cls.folder, "--tokens", cls.folder.tokens, store=cls.url)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.context.__exit__(None, None, None)

    def post(self, body, token=None, headers=None, path="/mcp"):
        return self.server.request("POST", path, body, token=token or self.reader, headers=headers)

    def call(self, tool, arguments, token, path="/mcp"):
        fields = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        return self.post(
            request("tools/call", {"name": tool, "arguments": arguments}), token, fields, path
        )

    def test_tokens_give_rights(self):
        self.assertEqual(self.server.request("POST", "/mcp", CALL, headers=FIELDS).status, 401)
        self.assertEqual(self.post(CALL, self.blind, FIELDS).status, 403)
        self.assertEqual(self.post(CALL, self.reader, FIELDS).status, 200)
        self.assertEqual(self.post(CALL, self.reader, FIELDS, "/mcp?edits=true").status, 403)
        self.assertEqual(self.call("context_undo", {}, self.reader).json()["error"]["code"], -32602)
        self.assertEqual(self.call("context_undo", {}, self.writer).json()["error"]["code"], -32602)
        pinned = self.call(
            "context_pin", {"ordinals": [2], "conversation": "here"}, self.writer, "/mcp?edits=true"
        ).json()
        self.assertFalse(pinned["result"]["isError"], pinned)

    def test_a_tenant_sees_its_own_conversations_alone(self):
        found = self.call(
            "context_search", {"text": "tokenizer", "all": True}, self.stranger
        ).json()["result"]["content"][0]["text"]
        self.assertIn("There is no conversation", found)
        uri = "undertext://conversation/here"
        read = self.post(
            request("resources/read", {"uri": uri}),
            self.stranger,
            {**FIELDS, "Mcp-Method": "resources/read", "Mcp-Name": uri},
        ).json()
        self.assertEqual(read["error"]["code"], -32602)

    def test_the_scope_is_narrowed_by_parameters(self):
        listed = lambda path: [
            r["name"]
            for r in self.post(request("resources/list", meta=None), path=path).json()["result"][
                "resources"
            ]
        ]
        self.assertEqual(listed("/mcp"), ["here", "there"])
        self.assertEqual(listed("/mcp?conversation=there"), ["there"])
        self.assertEqual(listed(f"/mcp?project={self.project}"), ["here"])
        self.assertEqual(listed("/mcp?project=none"), [])
        self.assertEqual(self.post(CALL, headers=FIELDS, path="/mcp?nonsense=1").status, 400)

    def test_pages_of_other_sites_may_not_call_it(self):
        self.assertEqual(
            self.post(CALL, headers={**FIELDS, "Origin": "https://evil.example"}).status, 403
        )
        self.assertEqual(
            self.post(CALL, headers={**FIELDS, "Sec-Fetch-Site": "cross-site"}).status, 403
        )
        self.assertEqual(self.post(CALL, headers={**FIELDS, "Host": "evil.example"}).status, 421)
        self.assertEqual(
            self.post(CALL, headers={**FIELDS, "Origin": f"http://{self.server.host}"}).status, 200
        )
        self.assertEqual(
            self.post(json.dumps(CALL), headers={**FIELDS, "Content-Type": "text/plain"}).status,
            415,
        )

    def test_other_methods_are_not_allowed(self):
        for method in ("GET", "DELETE", "PUT"):
            reply = self.server.request(method, "/mcp", token=self.reader)
            self.assertEqual((reply.status, reply.headers.get("Allow")), (405, "POST"), method)

    def test_fields_must_say_what_the_message_says(self):
        for name in FIELDS:
            without = {key: value for key, value in FIELDS.items() if key != name}
            for fields in (
                without,
                {**FIELDS, name: "2025-11-25" if name == "MCP-Protocol-Version" else "other"},
            ):
                reply = self.post(CALL, headers=fields)
                self.assertEqual(
                    (reply.status, reply.json()["error"]["code"]), (400, -32020), fields
                )
        unknown = request(
            "tools/list", meta={**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
        )
        reply = self.post(
            unknown, headers={"MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/list"}
        )
        self.assertEqual((reply.status, reply.json()["error"]["code"]), (400, -32022))
        reply = self.post(
            request("no/such"),
            headers={"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "no/such"},
        )
        self.assertEqual((reply.status, reply.json()["error"]["code"]), (404, -32601))

    def test_notifications_have_no_answer(self):
        reply = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.assertEqual((reply.status, reply.body), (202, b""))

    def test_a_subscription_is_a_stream_that_ends(self):
        reply = self.post(
            request("subscriptions/listen", {"notifications": {}}),
            headers={"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"},
        )
        self.assertEqual(reply.headers["Content-Type"], "text/event-stream")
        messages = [
            json.loads(line[6:])
            for line in reply.body.decode().splitlines()
            if line.startswith("data: ")
        ]
        self.assertEqual(
            [m.get("method", "result") for m in messages],
            ["notifications/subscriptions/acknowledged", "result"],
        )

    def test_hostile_bodies_are_refused_and_the_next_is_served(self):
        deep = (
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":'
            + b'{"a":' * 50_000
            + b"1"
            + b"}" * 50_001
        )
        for body in (
            b"",
            b"{",
            b"\xff",
            b"[" * 100_000,
            deep,
            b"[]",
            b"null",
            json.dumps([CALL] * 33).encode(),
            b'{"id":"' + b"x" * 900_000 + b'"}',
        ):
            self.assertEqual(
                self.post(body, headers={"Content-Type": "application/json"}).status, 400, body[:50]
            )
        self.assertEqual(
            self.post(
                b'"' + b"a" * (1 << 21) + b'"', headers={"Content-Type": "application/json"}
            ).status,
            413,
        )
        self.assertEqual(self.post(CALL, headers=FIELDS).status, 200)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
