#!/usr/bin/env python3
"""Upstreams behind TLS: checked, and spoken to in HTTP/2 where they can.

tls.py PROGRAM        exits with 77 where there is no openssl, or no node for HTTP/2
"""

import hashlib
import os
import random
import shutil
import subprocess
import sys
import threading
import time

from gateways import Client, Folder, Gateway
from upstream import Upstream, echoed, switched, whole

WEBSOCKET = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Key", "a2V5"),
    ("Sec-WebSocket-Version", "13"),
]
SANITIZED = bool(os.environ.get("UNDERTEXT_SANITIZED"))


def make_certificate(folder, name):
    certificate, key = folder.path / f"{name}.pem", folder.path / f"{name}.key"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            f"subjectAltName=DNS:{name}.example,IP:{'127.0.0.1' if name == 'right' else '127.0.0.9'}",
            "-keyout",
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def certificates_are_checked(folder, right, other):
    with Upstream(right) as upstream, Upstream(other) as wrong_name:
        upstream.answer = wrong_name.answer = whole(b"secret")
        with (
            Gateway(folder, upstream, "--upstream-ca", right[0]) as gateway,
            Client(gateway.host) as client,
        ):
            assert client.ask("POST", "/v1/messages", (), b"{}").body == b"secret"
            assert upstream.last().body == b"{}"
        for url, options in (
            (upstream, ()),
            (wrong_name, ("--upstream-ca", other[0])),
            (upstream, ("--upstream-ca", other[0])),
        ):
            before = len(upstream.requests) + len(wrong_name.requests)
            with Gateway(folder, url, *options) as gateway, Client(gateway.host) as client:
                answer = client.ask("POST", "/v1/messages", (), b"{}")
                assert (answer.status, answer.get("x-undertext-error")) == (
                    502,
                    "upstream_untrusted",
                ), answer
            assert len(upstream.requests) + len(wrong_name.requests) == before
    print("an upstream whose certificate cannot be verified gets nothing")


def websockets(folder, right, other):
    with Upstream(right) as upstream:
        upstream.answer = switched(echoed)
        much = random.Random(7).randbytes(3_000_000)
        with (
            Gateway(folder, upstream, "--upstream-ca", right[0], "--relay-upgrades") as gateway,
            Client(gateway.host) as client,
        ):
            client.request("GET", "/v1/responses", WEBSOCKET)
            assert client.read_head().status == 101
            sending = threading.Thread(target=client.send, args=(much,))
            sending.start()
            assert client.exactly(len(much)) == much
            sending.join()
        before = len(upstream.requests)
        with (
            Gateway(folder, upstream, "--upstream-ca", other[0], "--relay-upgrades") as gateway,
            Client(gateway.host) as client,
        ):
            answer = client.ask("GET", "/v1/responses", WEBSOCKET)
            assert (answer.status, answer.get("x-undertext-error")) == (
                502,
                "upstream_untrusted",
            ), answer
        assert len(upstream.requests) == before
    print("a WebSocket is relayed over TLS, to an upstream whose certificate is verified")


def http2(folder, right):
    node = subprocess.Popen(
        [
            "node",
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "http2_upstream.mjs"),
            *map(str, right),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = f"https://127.0.0.1:{int(node.stdout.readline())}"
        with Gateway(folder, url, "--upstream-ca", right[0]) as gateway:
            with Client(gateway.host) as client:
                answer = client.ask(
                    "POST",
                    "/v1/messages?x=1",
                    [("X-Mixed-Case", "v"), ("x-api-key", "k")],
                    b"y" * 200_000,
                )
                told = answer.json()
                assert (answer.status, answer.get("x-kept"), told["size"]) == (
                    200,
                    "yes",
                    200_000,
                ), answer
                names = {name for name in told["headers"] if not name.startswith(":")}
                assert (
                    names == {"x-mixed-case", "x-api-key", "content-length"}
                    and told["headers"][":path"] == "/v1/messages?x=1"
                ), told
                assert client.ask("POST", "/v1/x", (), b"").json()["session"] == told["session"], (
                    "the connection is kept"
                )
            for target in ("/reset", "/cut"):
                with Client(gateway.host) as client:
                    answer = client.ask("POST", target, (), b"{}")
                    assert not answer.complete and answer.body == b"half", answer
            with Client(gateway.host) as client:
                assert client.ask("POST", "/refused", (), b"{}").status == 502
            before = gateway.resident_bytes()
            with Client(gateway.host, timeout=60) as slow, Client(gateway.host) as other:
                slow.request("POST", "/much", (), b"{}")
                slow.read_head()
                time.sleep(1)  # as much as may come has come
                assert other.ask("POST", "/v1/x", (), b"").status == 200, (
                    "a client that does not read holds up nobody else"
                )
                rise = gateway.resident_bytes() - before

                digest, left = hashlib.sha256(), 64 << 20
                while left > 0:
                    size = int(slow.until(b"\r\n"), 16)
                    digest.update(slow.exactly(size))
                    slow.exactly(2)
                    left -= size
                expected = hashlib.sha256(
                    b"".join(bytes([97 + i % 26]) * (1 << 20) for i in range(64))
                )
                assert digest.hexdigest() == expected.hexdigest()
                assert slow.exactly(5) == b"0\r\n\r\n"
            assert SANITIZED or rise < 8 << 20, f"{rise} bytes more"
    finally:
        node.kill()
        node.wait()
        node.stdout.close()
    print(
        f"HTTP/2: the same fields, a reset stream is torn, {rise >> 10} kB more in memory for a client that does not read"
    )


def main(program):
    if not shutil.which("openssl"):
        print("skipped: openssl: there is no openssl to make a certificate with")
        return 77
    folder = Folder(program)
    try:
        right, other = make_certificate(folder, "right"), make_certificate(folder, "other")
        certificates_are_checked(folder, right, other)
        websockets(folder, right, other)
        if not shutil.which("node"):
            print("skipped: node: there is no node for an upstream that speaks HTTP/2")
            return 77
        http2(folder, right)
    finally:
        folder.remove()
    return 0


sys.exit(main(*sys.argv[1:]))
