#!/usr/bin/env python3
"""The server with a certificate of its own: what clients see who ask properly, and who do not.

tls.py PROGRAM          exits with 77 where there is no openssl to make a certificate with
"""

import http.client
import shutil
import socket
import ssl
import subprocess
import sys

from running import EventStream, Folder, Server


class TlsServer(Server):
    context = None

    def connection(self, source="127.0.0.1", timeout=60):
        return http.client.HTTPSConnection(
            "localhost", self.port, timeout=timeout, context=self.context
        )


def make_certificate(folder):
    certificate, key = folder.path / "certificate.pem", folder.path / "key.pem"
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
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout",
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def trusting(certificate):
    return ssl.create_default_context(cafile=str(certificate))


def handshake_error(server, context):
    try:
        with server.connect() as plain, context.wrap_socket(plain, server_hostname="localhost"):
            return None
    except (ssl.SSLError, OSError) as error:
        return error


def is_served(server):
    server.make("a")
    reply = server.append("a", "over TLS")
    assert reply.status == 200, reply
    events = EventStream(server, "/v1/conversations/a/events?after=0")
    assert events.wait_for("id: 1"), events.lines
    events.close()
    body = (
        b'{"operation":"APPEND","messages":[{"role":"user","content":"' + b"x" * (3 << 20) + b'"}]}'
    )  # many records of TLS
    assert (
        server.request(
            "POST",
            "/v1/conversations/a/operations",
            body,
            headers={"Content-Type": "application/json"},
        ).status
        == 200
    )
    large = server.request("GET", "/v1/conversations/a/rows?end=2")
    assert len(large.json()["result"]["rows"]) == 2 and len(large.body) > 4 << 20


def plain_http_is_refused(server):
    answer = server.raw(f"GET /healthz HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode())
    assert b"200" not in answer and b"ok" not in answer.lower(), answer
    for garbage in (b"", b"\x16\x03\x01", b"\x00" * 600, b"\x16\x03\x01\x40\x00" + b"\xff" * 200):
        with server.connect(timeout=20) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            try:
                while connection.recv(4096):
                    pass
            except ConnectionError:
                pass
    assert server.is_up(), "it still serves who asks properly"


def old_versions_are_refused(server, certificate):
    old = trusting(certificate)
    old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("DEFAULT@SECLEVEL=0")
    assert handshake_error(server, old), "TLS 1.1"
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        good = trusting(certificate)
        good.minimum_version = good.maximum_version = version
        assert handshake_error(server, good) is None, version
    assert isinstance(
        handshake_error(server, ssl.create_default_context()), ssl.SSLCertVerificationError
    ), "who does not know the certificate"


def main():
    if shutil.which("openssl") is None:
        print("skipped: openssl: there is no openssl to make a certificate with")
        return 77
    folder = Folder(sys.argv[1])
    certificate, key = make_certificate(folder)
    TlsServer.context = trusting(certificate)
    server = TlsServer(folder, "--quiet", "--tls-certificate", certificate, "--tls-key", key)
    try:
        assert server.line.startswith("undertext: https://"), server.line
        is_served(server)
        plain_http_is_refused(server)
        old_versions_are_refused(server, certificate)
        assert server.stop() == 0
        folder.run(
            "serve",
            "--store",
            server.store,
            "--listen",
            "127.0.0.1:0",
            "--tls-certificate",
            certificate,
            "--tls-key",
            certificate,
            status=2,
        )
        print("served over TLS 1.2 and 1.3; plain HTTP and TLS 1.1 refused")
        return 0
    finally:
        server.close()
        folder.remove()


if __name__ == "__main__":
    sys.exit(main())
