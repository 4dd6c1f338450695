#!/usr/bin/env python3
"""What a server that drains says of itself.   drain.py PROGRAM [TEST…]"""

import http.client
import http.server
import re
import signal
import sys
import threading
import unittest

from running import Folder, Server

PROGRAM = sys.argv[1]
PATIENCE = 30


class Upstream(http.server.ThreadingHTTPServer):
    """Answers the first half of a body, and the rest when it may."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Half)
        self.began, self.may_end = threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.may_end.set()
        self.shutdown()
        self.server_close()


class Half(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"1")
        self.server.began.set()
        self.server.may_end.wait(PATIENCE)
        self.wfile.write(b"2")

    def log_message(self, *_):
        pass


class Draining(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.addCleanup(self.folder.remove)

    def serve(self, *options):
        server = Server(self.folder, *options)
        self.addCleanup(server.process.stdout.close)
        self.addCleanup(server.close)
        return server

    def drain(self, server, method="POST"):
        reply = server.request(method, "/v1/drain")
        self.assertEqual(reply.status, 200, reply)
        return reply.json()["result"]

    def test_a_request_under_way_in_the_gateway_is_counted(self):
        upstream = Upstream()
        self.addCleanup(upstream.close)
        url = f"http://127.0.0.1:{upstream.server_port}"
        server = self.serve("--gateway", "127.0.0.1:0", "--anthropic", url)
        gateway = re.search(r"http://(\S+)", server.process.stdout.readline().decode())[1]
        client = http.client.HTTPConnection(gateway, timeout=PATIENCE)
        self.addCleanup(client.close)
        client.request("POST", "/v1/messages", b"{}")
        self.assertTrue(upstream.began.wait(PATIENCE))
        self.assertEqual(self.drain(server)["requests"], 1)
        upstream.may_end.set()
        self.assertEqual(client.getresponse().read(), b"12")
        for _ in range(1000):
            if self.drain(server)["requests"] == 0:
                return
        self.fail("it is never without requests")

    def test_a_server_that_was_told_to_end_does_not_become_ready_again(self):
        server = self.serve("--drain-seconds", "5")
        self.assertTrue(self.drain(server)["draining"])
        self.assertFalse(self.drain(server, "DELETE")["draining"])
        server.process.send_signal(signal.SIGTERM)
        for _ in range(1000):
            if server.request("GET", "/readyz").status == 503:
                break
        self.assertTrue(self.drain(server, "DELETE")["draining"])
        self.assertEqual(server.request("GET", "/readyz").status, 503)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(PATIENCE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[1:], verbosity=2)
