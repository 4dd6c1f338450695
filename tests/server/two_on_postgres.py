#!/usr/bin/env python3
"""Two servers on one PostgreSQL database: what is done at one is seen at the other, and neither needs the other.

UNDERTEXT_TEST_POSTGRES=URL two_on_postgres.py PROGRAM
"""

import os
import sys
import threading
import time

from running import EventStream, Folder, Server

TURNS = 30


def expect(reply, status):
    assert reply.status == status, f"{reply} instead of {status}"
    return reply


def texts(server, token):
    rows = expect(
        server.request("GET", "/v1/conversations/shared/rows?end=1000", token=token), 200
    ).json()["result"]["rows"]
    return [row["message"]["content"] for row in rows]


def reads_and_events(one, other, token):
    expect(one.request("POST", "/v1/conversations", {"id": "shared"}, token), 201)
    events = EventStream(other, "/v1/conversations/shared/events", token)
    assert events.wait_for("events of a conversation")
    expect(one.append("shared", "first", token), 200)
    assert texts(other, token) == ["first"]
    assert events.wait_for('"operation":"APPEND"'), "what one server did is told by the other"
    assert events.wait_for("id: 1")
    stale = other.append("shared", "stale", token, **{"If-Match": '"0"'})
    expect(stale, 412)
    assert texts(one, token) == ["first"]
    return events


def both_write_at_once(one, other, token):
    problems = []

    def write(server, name):
        for turn in range(TURNS):
            reply = server.append(
                "shared", f"{name} {turn}", token, **{"Idempotency-Key": f"{name}-{turn}"}
            )
            if reply.status != 200:
                problems.append(f"{name} {turn}: {reply}")

    writers = [
        threading.Thread(target=write, args=each) for each in ((one, "one"), (other, "other"))
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not problems, problems[:3]
    stored = texts(one, token)
    assert stored == texts(other, token)
    for name in ("one", "other"):
        assert [text for text in stored if text.startswith(name)] == [
            f"{name} {turn}" for turn in range(TURNS)
        ], stored


def keys_hold_at_both(one, other, token):
    key = {"Idempotency-Key": "make"}
    first = expect(one.request("POST", "/v1/conversations", {}, token, key), 201)
    assert (
        expect(other.request("POST", "/v1/conversations", {}, token, key), 201).body == first.body
    )
    expect(other.request("POST", "/v1/conversations", {"id": "another"}, token, key), 422)
    lines = expect(one.request("GET", "/v1/conversations/shared/export", token=token), 200).body
    fields = {"Content-Type": "application/x-ndjson", "Idempotency-Key": "import"}
    imported = expect(one.request("POST", "/v1/imports?id=copy", lines, token, fields), 201)
    assert (
        expect(other.request("POST", "/v1/imports?id=copy", lines, token, fields), 201).body
        == imported.body
    )
    assert (
        expect(other.request("GET", "/v1/conversations/copy/export", token=token), 200).body
        == lines
    )


def refused_soon(server, token):
    """The file of tokens is looked at four times a second."""
    until = time.monotonic() + 10
    while (
        reply := server.request("GET", "/v1/conversations/shared", token=token)
    ).status == 200 and time.monotonic() < until:
        pass
    expect(reply, 401)


def main():
    url = os.environ.get("UNDERTEXT_TEST_POSTGRES")
    if not url:
        print("skipped: postgres: UNDERTEXT_TEST_POSTGRES names no server")
        return 77
    folder = Folder(sys.argv[1])
    token, rival = folder.make_token("ci", "acme"), folder.make_token("rival", "rival")
    servers = [Server(folder, "--quiet", "--tokens", folder.tokens, store=url) for _ in range(2)]
    one, other = servers
    try:
        events = reads_and_events(one, other, token)
        both_write_at_once(one, other, token)
        keys_hold_at_both(one, other, token)
        for server in servers:
            expect(server.request("GET", "/v1/conversations/shared", token=rival), 404)
            assert (
                server.request("GET", "/v1/conversations", token=rival).json()["result"][
                    "conversations"
                ]
                == []
            )
        one.kill()
        expect(other.append("shared", "after the kill", token), 200)
        assert events.wait_for(f"id: {2 * TURNS + 2}"), events.lines[-5:]
        one.start()
        assert texts(one, token)[-1] == "after the kill"
        folder.run("token", "revoke", "ci", "--tokens", folder.tokens)
        assert events.ended.wait(30), "a revoked token's streams end"
        for server in servers:
            refused_soon(server, token)
            assert server.stop() == 0
        print(f"two servers, {2 * TURNS} appends at once, one kill")
        return 0
    finally:
        for server in servers:
            server.close()
        folder.remove()


if __name__ == "__main__":
    sys.exit(main())
