#!/usr/bin/env python3
"""The inspector's server over sessions of this machine, as `undertext open` starts it.   open_sessions_test.py PROGRAM

Made-up sessions in a home folder of the test's own, asked for over HTTP: listed, searched, opened, followed, deleted.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
import opencode_store

program = sys.argv[1]
DEADLINE_S = 30


def line(**members):
    return json.dumps(members, separators=(",", ":")) + "\n"


def behind(parent):
    """A line without a parent says nothing; one whose parent is null begins the session anew."""
    return {"parentUuid": parent} if parent else {}


def claude_user(text, uuid, minute=0, parent=None):
    return line(
        **behind(parent),
        type="user",
        message={"role": "user", "content": text},
        uuid=uuid,
        sessionId="s",
        cwd="/home/me/here",
        timestamp=f"2026-11-18T10:{minute:02}:00.000Z",
    )


def claude_answer(text, uuid, minute=1, parent=None):
    message = {
        "id": f"msg_{uuid}",
        "role": "assistant",
        "model": "claude-opus-4-7",
        "content": [{"type": "text", "text": text}],
        "usage": {
            "input_tokens": 7,
            "output_tokens": 11,
            "cache_read_input_tokens": 13,
            "cache_creation_input_tokens": 17,
        },
    }
    return line(
        **behind(parent),
        type="assistant",
        message=message,
        uuid=uuid,
        sessionId="s",
        timestamp=f"2026-11-18T10:{minute:02}:00.000Z",
    )


def codex_item(kind, /, **payload):
    return line(timestamp="2026-11-18T09:00:00.000Z", type=kind, payload=payload)


class Opened:
    """`undertext open --no-browser` with this home."""

    def __init__(self, home):
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(
            [program, "open", "--no-browser"], env=environment, stdout=subprocess.PIPE, text=True
        )
        said = self.process.stdout.readline()
        found = re.match(r"(http://[^/]+)/#token=([\w-]+)$", said.strip())
        assert found, said
        self.url, self.token = found[1], found[2]

    def get(self, path, status=200, **parameters):
        asked = self.url + path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")
        request = urllib.request.Request(asked, headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_S) as reply:
                code, body = reply.status, reply.read()
        except urllib.error.HTTPError as error:
            code, body = error.code, error.read()
        assert code == status, (path, code, body[:300])
        answer = json.loads(body)
        return answer.get("result", answer)

    def listed(self, **parameters):
        return {
            each["id"]: each
            for each in self.get("/v1/conversations", **parameters)["conversations"]
        }

    def texts(self, id):
        def text(message):
            content = message["content"]
            return content if isinstance(content, str) else content[0]["text"]

        return [
            text(message) for message in self.get(f"/v1/conversations/{id}/messages")["messages"]
        ]

    def until(self, what, holds):
        """Changes of files are seen after a moment."""
        began = time.monotonic()
        while not holds():
            assert time.monotonic() - began < DEADLINE_S, what
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(DEADLINE_S) == 0


def make_sessions(home):
    claude = home / ".claude" / "projects" / "-here"
    claude.mkdir(parents=True)
    (claude / "bucket.jsonl").write_text(
        claude_user("Find the token bucket", "u1") + claude_answer("It is in rate.c", "a1")
    )
    # Longer than what the two ends of a file are looked at for: its messages are counted by the whole read alone.
    (claude / "long.jsonl").write_text(
        "".join(
            claude_user(f"Question {i} " + "x" * 2000, f"u{i}")
            + claude_answer(f"Answer {i}" + (" with a marmalade" if i == 50 else ""), f"a{i}")
            for i in range(100)
        )
    )
    (claude / "broken.jsonl").write_text(
        claude_user("A broken zebra", "u1") + '{"type":"user",broken\n' + claude_answer("no", "a1")
    )
    codex = home / ".codex" / "sessions" / "2026" / "11" / "18"
    codex.mkdir(parents=True)
    rollout = codex / "rollout-2026-11-18T10-00-00-01a1ee96-ae43-7e03-b655-aa2018ff4f4a.jsonl"
    rollout.write_text(
        codex_item("session_meta", id="x", cwd="/home/me/there")
        + codex_item("turn_context", model="gpt-5", cwd="/home/me/there")
        + codex_item(
            "response_item",
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "Rename the füße"}],
        )
        + codex_item(
            "response_item",
            type="message",
            role="assistant",
            content=[{"type": "output_text", "text": "renamed"}],
        )
    )
    return claude, rollout


BUCKET, LONG, BROKEN = "claude-code.bucket", "claude-code.long", "claude-code.broken"
RENAME = "codex.01a1ee96-ae43-7e03-b655-aa2018ff4f4a"


def every_session_is_listed_and_none_is_read_for_it(opened):
    listed = opened.listed()
    assert set(listed) == {BUCKET, LONG, BROKEN, RENAME}, listed
    # A conversation that was read has the version of its import.
    assert all(each["version"] == 0 for each in listed.values()), listed


def what_is_searched_is_found_in_sessions_that_nobody_opened(opened):
    def found(text):
        return [each["conversation"] for each in opened.get("/v1/recall", text=text)["unread"]]

    assert found("token BUCKET") == [BUCKET]
    assert found("marmalade") == [LONG]
    assert found("füße") == [RENAME]
    assert found("zebra") == [BROKEN], "also in one that cannot be read whole"
    assert found("nowhere-at-all") == []
    assert "marmalade" in opened.get("/v1/recall", text="marmalade")["unread"][0]["excerpt"]
    every_session_is_listed_and_none_is_read_for_it(opened)
    assert opened.get("/v1/ledger") == []


def a_session_is_opened_whole(opened):
    assert opened.texts(BUCKET) == ["Find the token bucket", "It is in rate.c"]
    assert len(opened.get(f"/v1/conversations/{LONG}/messages", last=500)["messages"]) == 200

    # What was opened is found by its message, and not twice.
    def places():
        return [
            (each["conversation"], each["ordinal"])
            for each in opened.get("/v1/recall", text="token bucket")["found"]
        ]

    opened.until("the message", lambda: places()[:1] == [(BUCKET, 0)])
    assert opened.get("/v1/recall", text="token bucket")["unread"] == []
    opened.get(f"/v1/conversations/{BROKEN}", status=400)
    assert set(opened.listed()) == {BUCKET, LONG, BROKEN, RENAME}


def the_list_says_what_sessions_are(opened):
    opened.until(
        "all lines are read", lambda: opened.listed()[LONG]["about"]["tokens"]["input"] == 700
    )
    about = opened.listed()[LONG]["about"]
    assert about["tokens"] == {
        "input": 700,
        "output": 1100,
        "cacheRead": 1300,
        "cacheWrite": 1700,
    }, about
    assert (
        about["title"].startswith("Question 0 xxx")
        and about["client"] == "claude-code"
        and about["model"] == "claude-opus-4-7"
    ), about
    assert about["project"] == "/home/me/here" and about["cost"] > 0, about
    newest = list(opened.listed(order="newest"))
    assert newest[-1] == RENAME, newest
    assert sorted(newest) == list(opened.listed()), newest
    pages, after = [], {}
    while True:
        page = opened.get("/v1/conversations", order="newest", limit=1, **after)
        pages += [each["id"] for each in page["conversations"]]
        if "next" not in page:
            break
        after = {"after": page["next"]}
    assert pages == newest, pages
    # Ids, titles and folders are searched.
    assert set(opened.listed(search="long")) == {LONG}
    assert set(opened.listed(search="TOKEN bucket")) == {BUCKET}
    assert set(opened.listed(search="me/there")) == {RENAME}


def a_session_that_grows_is_followed(opened, file):
    with file.open("a") as out:
        out.write(claude_user("And now?", "u2", 2, "a1"))
        whole = claude_answer("Now it is done", "a2", 3, "u2")
        out.write(whole[:-30])
        out.flush()
        opened.until("a whole line", lambda: opened.texts(BUCKET)[2:] == ["And now?"])
        out.write(whole[-30:])
    opened.until("the rest of a line", lambda: opened.texts(BUCKET)[3:] == ["Now it is done"])
    # Parts of one answer are lines of their own, also where the first of them was read already.
    part = json.loads(whole)
    part["message"]["content"][0]["text"] = "And tested"
    part["uuid"] = "a2b"
    with file.open("a") as out:
        out.write(line(**part))

    def parts():
        return [
            block["text"]
            for block in opened.get(f"/v1/conversations/{BUCKET}/messages")["messages"][-1][
                "content"
            ]
        ]

    opened.until("the next part of an answer", lambda: parts() == ["Now it is done", "And tested"])
    assert len(opened.texts(BUCKET)) == 4


def a_session_rewritten_at_the_same_size_is_read_again(opened, file):
    written = file.read_text()
    rewritten = written.replace("token bucket", "bucket token")
    assert len(rewritten) == len(written) and rewritten != written
    file.write_text(rewritten)
    opened.until("the new text", lambda: opened.texts(BUCKET)[0] == "Find the bucket token")


def sessions_come_and_go(opened, claude, rollout):
    (claude / "begun.jsonl").write_text(claude_user("Begun meanwhile", "u1", 30))
    opened.until("a new session", lambda: "claude-code.begun" in opened.listed())
    assert opened.texts("claude-code.begun") == ["Begun meanwhile"]
    rollout.unlink()
    (claude / "begun.jsonl").unlink()
    opened.until(
        "deleted ones are gone", lambda: not {RENAME, "claude-code.begun"} & set(opened.listed())
    )
    opened.get(f"/v1/conversations/{RENAME}", status=404)
    opened.get("/v1/conversations/claude-code.begun", status=404)
    assert opened.get("/v1/recall", text="füße")["unread"] == []
    opened.until(
        "nothing is found in it", lambda: opened.get("/v1/recall", text="meanwhile")["found"] == []
    )


def an_open_session_keeps_its_id(opened, claude):
    """Another file of its name appears, by path before it, and goes again; then its own goes."""
    ours, other = claude.parent / "-b", claude.parent / "-a"
    id = "claude-code.same"
    ours.mkdir()
    other.mkdir()
    (ours / "same.jsonl").write_text(claude_user("Ours", "u1", 40))
    opened.until("it is listed", lambda: id in opened.listed())
    assert opened.texts(id) == ["Ours"]
    before = opened.get(f"/v1/conversations/{id}")

    def others():
        return [each for each in opened.listed() if each.startswith(id + ".")]

    (other / "same.jsonl").write_text(claude_user("Another's", "u1", 41))
    opened.until("the other one is listed", lambda: len(others()) == 1)
    assert opened.texts(others()[0]) == ["Another's"]
    assert opened.texts(id) == ["Ours"]
    assert opened.get(f"/v1/conversations/{id}") == before
    theirs = others()[0]
    (ours / "same.jsonl").unlink()
    opened.until("it is gone", lambda: id not in opened.listed())
    assert opened.texts(theirs) == ["Another's"]
    opened.get(f"/v1/conversations/{id}", status=404)
    # A third file takes neither the id of the first, which was open, nor that of the second.
    third = claude.parent / "-c"
    third.mkdir()
    (third / "same.jsonl").write_text(claude_user("A third", "u1", 42))
    opened.until("the third one is listed", lambda: len(others()) == 2)
    assert id not in opened.listed()
    assert opened.texts(theirs) == ["Another's"]
    for folder in (other, third):
        (folder / "same.jsonl").unlink()
    opened.until("they are gone", lambda: others() == [])


def opencode_that_cannot_be_read_is_not_deleted(opened, home, claude):
    store = opencode_store.Database(home, "opencode-next.db")
    store.session("ses_kept", "Keep it", "/home/me/open")
    store.message("ses_kept", "msg_k1", opencode_store.user(), [opencode_store.text("Keep it")])
    store.close()
    id, path = "opencode.ses_kept", store.path
    opened.until("it is listed", lambda: id in opened.listed())
    assert opened.get(f"/v1/conversations/{id}")["totalMessages"] == 1
    journal = path.with_name(path.name + "-journal")
    journal.touch()
    # A session that appears is the sign of another look.
    (claude / "look.jsonl").write_text(claude_user("Look", "u1", 50))
    opened.until("another look", lambda: "claude-code.look" in opened.listed())
    assert id in opened.listed()
    assert opened.get(f"/v1/conversations/{id}")["totalMessages"] == 1
    journal.unlink()
    path.unlink()
    opened.until("a deleted one is gone", lambda: id not in opened.listed())
    opened.get(f"/v1/conversations/{id}", status=404)


def opencode_is_opened_and_followed(opened, home):
    store = opencode_store.Database(home)
    store.session("ses_aa", "Rename it", "/home/me/open")
    store.message(
        "ses_aa", "msg_1", opencode_store.user(), [opencode_store.text("Please rename it")]
    )
    store.message(
        "ses_aa",
        "msg_2",
        opencode_store.answer(),
        [{"type": "step-start"}, opencode_store.tool("call_1", "", "running")],
    )
    id = "opencode.ses_aa"
    opened.until("it is listed", lambda: id in opened.listed())
    about = opened.listed()[id]["about"]
    assert (about["client"], about["title"], about["project"], about["model"]) == (
        "opencode",
        "Rename it",
        "/home/me/open",
        "claude-opus-4-7",
    ), about
    # What can be no cost is none: 1e300 has no spelling that fits.
    store.update("msg_2", opencode_store.answer(cost=1e300))
    opened.until("the new cost", lambda: opened.listed()[id]["about"]["cost"] != 0.25)
    assert 0 < opened.listed()[id]["about"]["cost"] < 0.25, opened.listed()[id]

    def roles():
        return [
            message["role"]
            for message in opened.get(f"/v1/conversations/{id}/messages")["messages"]
        ]

    opened.until("a call that runs", lambda: roles() == ["user", "assistant"])
    # Rows that are there already change.
    store.part("ses_aa", "msg_2", "prt_2_1", opencode_store.tool("call_1", "It is renamed"))
    opened.until("its result", lambda: roles() == ["user", "assistant", "tool"])
    store.message("ses_aa", "msg_3", opencode_store.answer(), [opencode_store.text("Done")])
    opened.until("the next message", lambda: roles() == ["user", "assistant", "tool", "assistant"])
    store.delete("ses_aa")
    opened.until("a deleted one is gone", lambda: id not in opened.listed())
    opened.get(f"/v1/conversations/{id}", status=404)
    store.close()


def sessions_are_read_beside_each_other(opened, claude):
    for number in range(6):
        (claude / f"many{number}.jsonl").write_text(
            "".join(claude_user(f"Line {i} of {number}", f"u{i}") for i in range(300))
        )
    ids = [f"claude-code.many{number}" for number in range(6)]
    opened.until("all are listed", lambda: set(ids) <= set(opened.listed()))
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        lengths = list(
            pool.map(lambda id: opened.get(f"/v1/conversations/{id}")["totalMessages"], ids * 4)
        )
    assert lengths == [300] * 24, lengths


def digests(home):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in home.rglob("*.jsonl")}


with tempfile.TemporaryDirectory() as folder:
    home = pathlib.Path(folder)
    claude, rollout = make_sessions(home)
    before = digests(home)
    opened = Opened(home)
    try:
        every_session_is_listed_and_none_is_read_for_it(opened)
        what_is_searched_is_found_in_sessions_that_nobody_opened(opened)
        a_session_is_opened_whole(opened)
        the_list_says_what_sessions_are(opened)
        assert digests(home) == before
        a_session_that_grows_is_followed(opened, claude / "bucket.jsonl")
        a_session_rewritten_at_the_same_size_is_read_again(opened, claude / "bucket.jsonl")
        sessions_come_and_go(opened, claude, rollout)
        sessions_are_read_beside_each_other(opened, claude)
        an_open_session_keeps_its_id(opened, claude)
        if opencode_store.can_be_read(program):
            opencode_is_opened_and_followed(opened, home)
            opencode_that_cannot_be_read_is_not_deleted(opened, home, claude)
    finally:
        opened.stop()
print("11 passed, 0 failed")
