#!/usr/bin/env python3
"""`undertext open` on sessions of this machine.   sessions_test.py PROGRAM

Made-up sessions in a home folder of the test's own: the list, what it goes on from, torn lines, files that are rewritten or deleted, words, the index and
its mode, and that nothing of the agents' is ever written. The figures of docs/sessions.md are measured by bench/sessions/measure.py; here a small form of it runs.
"""
import hashlib
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench" / "sessions"))
sys.dont_write_bytecode = True
import make  # noqa: E402
import measure  # noqa: E402

program = sys.argv[1]


def run(home, *words, status=0):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    made = subprocess.run([program, *words], env=environment, capture_output=True, text=True, timeout=120)
    assert made.returncode == status, (words, made.returncode, made.stdout[-400:], made.stderr[-800:])
    return made.stdout


def sessions(home, *words):
    return {session["id"]: session for session in json.loads(run(home, "open", "--json", *(words or ("--list",))))["result"]["sessions"]}


def line(**members):
    return json.dumps(members, separators=(",", ":")) + "\n"


def user(text, **more):
    return line(parentUuid=None, type="user", message={"role": "user", "content": text}, uuid=more.pop("uuid", "u1"), sessionId="s",
                cwd="/home/me/here", timestamp="2026-11-18T10:00:00.000Z", **more)


def answer(text, id="m1", **more):
    message = {"id": id, "role": "assistant", "model": "claude-opus-4-7", "content": [{"type": "text", "text": text}],
               "usage": {"input_tokens": 7, "output_tokens": 11, "cache_read_input_tokens": 13, "cache_creation_input_tokens": 17}}
    return line(type="assistant", message=message, uuid="u" + id, sessionId="s", timestamp="2026-11-18T10:01:00.000Z", **more)


def digests(home):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in home.rglob("*.jsonl")}


def the_list_says_what_each_session_is(home):
    file = home / ".claude" / "projects" / "-work-here" / "aaaa-1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(user("Find the token bucket") + answer("in rate.c") + answer("in rate.c", id="m1") + answer("done", id="m2"))
    before = digests(home)
    found = sessions(home)["claude-code.aaaa-1"]
    assert (found["title"], found["project"], found["model"], found["client"]) == ("Find the token bucket", "/home/me/here", "claude-opus-4-7", "claude-code"), found
    # Lines of one answer repeat its usage, which counts once.
    assert found["tokens"] == {"input": 14, "output": 22, "cacheRead": 26, "cacheWrite": 34}, found["tokens"]
    assert found["cost"] > 0 and found["messages"] == 3 and found["isRead"], found
    index = home / ".cache" / "undertext" / "sessions"
    assert stat.S_IMODE(index.stat().st_mode) == 0o600, oct(index.stat().st_mode)
    assert digests(home) == before
    return file


def reading_goes_on_where_it_ended(home, file):
    with file.open("a") as out:
        out.write(answer("more", id="m3")[:-20])  # a line that is being written
    assert sessions(home)["claude-code.aaaa-1"]["tokens"]["input"] == 14
    with file.open("a") as out:
        out.write(answer("more", id="m3")[-20:])
    assert sessions(home)["claude-code.aaaa-1"]["tokens"]["input"] == 21
    file.write_text(user("Another task altogether") + answer("yes", id="m9"))
    rewritten = sessions(home)["claude-code.aaaa-1"]
    assert (rewritten["title"], rewritten["tokens"]["input"]) == ("Another task altogether", 7), rewritten


def codex_and_pi_are_there_too(home):
    rollout = home / ".codex" / "sessions" / "2026" / "11" / "18" / "rollout-2026-11-18T10-00-00-01a1ee96-ae43-7e03-b655-aa2018ff4f4a.jsonl"
    rollout.parent.mkdir(parents=True)

    def item(kind, /, **payload):
        return line(timestamp="2026-11-18T11:00:00.000Z", type=kind, payload=payload)

    usage = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 9}
    rollout.write_text(item("session_meta", id="x", cwd="/home/me/there") + item("turn_context", model="gpt-5", cwd="/home/me/there")
                       + item("response_item", type="message", role="user", content=[{"type": "input_text", "text": "<environment_context>"}])
                       + item("response_item", type="message", role="user", content=[{"type": "input_text", "text": "Rename the füße"}])
                       + item("event_msg", type="token_count", info={"total_token_usage": usage}) * 2)
    pi = home / ".pi" / "agent" / "sessions" / "--work--" / "2026-11-18T09-00-00_0123.jsonl"
    pi.parent.mkdir(parents=True)
    pi.write_text(line(type="session", version=3, id="p", timestamp="2026-11-18T09:00:00.000Z", cwd="/home/me/pi")
                  + line(type="message", id="1", parentId=None, timestamp="2026-11-18T09:00:01.000Z", message={"role": "user", "content": "Say hello"})
                  + line(type="message", id="2", parentId="1", timestamp="2026-11-18T09:00:02.000Z",
                         message={"role": "assistant", "model": "gpt-5", "content": [{"type": "text", "text": "hello"}], "usage": {"input": 5, "output": 6}}))
    found = sessions(home)
    codex = found["codex.01a1ee96-ae43-7e03-b655-aa2018ff4f4a"]
    assert (codex["title"], codex["project"], codex["model"]) == ("Rename the füße", "/home/me/there", "gpt-5"), codex
    assert codex["tokens"] == {"input": 60, "output": 9, "cacheRead": 40, "cacheWrite": 0}, codex["tokens"]
    said_hello = next(session for session in found.values() if session["client"] == "pi")
    assert (said_hello["title"], said_hello["project"], said_hello["tokens"]["output"]) == ("Say hello", "/home/me/pi", 6), said_hello
    return rollout


def words_are_found_in_what_was_said_and_not_in_keys(home):
    def hits(*words):
        return set(sessions(home, "--search", *words))
    assert hits("ANOTHER task") == {"claude-code.aaaa-1"}
    assert hits("füße") == {"codex.01a1ee96-ae43-7e03-b655-aa2018ff4f4a"}
    assert hits("another hello") == set(), "words of two sessions"
    assert hits("parentUuid") == set() and hits("") == set()


def what_the_agent_deletes_leaves_the_index(home, rollout):
    rollout.unlink()
    assert not any(id.startswith("codex.") for id in sessions(home))
    assert b"Rename" not in (home / ".cache" / "undertext" / "sessions").read_bytes()


def forget_removes_the_index_and_nothing_else(home):
    before = digests(home)
    assert "removed" in run(home, "forget")
    assert not (home / ".cache" / "undertext" / "sessions").exists() and digests(home) == before
    assert "no index" in run(home, "forget")


def a_damaged_index_is_made_again(home):
    expected = sessions(home)
    index = home / ".cache" / "undertext" / "sessions"
    for bytes in (b"", b"\x01\xff\xff\xff\xff", index.read_bytes()[:-3], os.urandom(500)):
        index.write_bytes(bytes)
        assert sessions(home) == expected


def many_sessions(folder):
    make.make(folder, 12)
    for what, seconds in measure.measure(program, folder).items():
        print(f"12 MB: {what}: {seconds * 1000:.0f} ms")


with tempfile.TemporaryDirectory() as folder:
    home = pathlib.Path(folder) / "home"
    home.mkdir()
    assert sessions(home) == {}
    file = the_list_says_what_each_session_is(home)
    reading_goes_on_where_it_ended(home, file)
    rollout = codex_and_pi_are_there_too(home)
    words_are_found_in_what_was_said_and_not_in_keys(home)
    what_the_agent_deletes_leaves_the_index(home, rollout)
    a_damaged_index_is_made_again(home)
    forget_removes_the_index_and_nothing_else(home)
    many_sessions(pathlib.Path(folder) / "many")
print("9 passed, 0 failed")
