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
import make
import measure
import opencode_store

program = sys.argv[1]


def run(home, *words, status=0):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    made = subprocess.run(
        [program, *words], env=environment, capture_output=True, text=True, timeout=120
    )
    assert made.returncode == status, (
        words,
        made.returncode,
        made.stdout[-400:],
        made.stderr[-800:],
    )
    return made.stdout


def sessions(home, *words):
    return {
        session["id"]: session
        for session in json.loads(run(home, "open", "--json", *(words or ("--list",))))["result"][
            "sessions"
        ]
    }


def line(**members):
    return json.dumps(members, separators=(",", ":")) + "\n"


def user(text, **more):
    return line(
        parentUuid=None,
        type="user",
        message={"role": "user", "content": text},
        uuid=more.pop("uuid", "u1"),
        sessionId="s",
        cwd="/home/me/here",
        timestamp="2026-11-18T10:00:00.000Z",
        **more,
    )


def answer(text, id="m1", **more):
    message = {
        "id": id,
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
        type="assistant",
        message=message,
        uuid="u" + id,
        sessionId="s",
        timestamp="2026-11-18T10:01:00.000Z",
        **more,
    )


def digests(home):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in home.rglob("*.jsonl")}


def the_list_says_what_each_session_is(home):
    file = home / ".claude" / "projects" / "-work-here" / "aaaa-1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(
        user("Find the token bucket")
        + answer("in rate.c")
        + answer("in rate.c", id="m1")
        + answer("done", id="m2")
    )
    before = digests(home)
    found = sessions(home)["claude-code.aaaa-1"]
    assert (found["title"], found["project"], found["model"], found["client"]) == (
        "Find the token bucket",
        "/home/me/here",
        "claude-opus-4-7",
        "claude-code",
    ), found
    # Lines of one answer repeat its usage, which counts once.
    assert found["tokens"] == {"input": 14, "output": 22, "cacheRead": 26, "cacheWrite": 34}, found[
        "tokens"
    ]
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
    assert (rewritten["title"], rewritten["tokens"]["input"]) == ("Another task altogether", 7), (
        rewritten
    )


def what_did_not_change_is_not_read_again(home, file):
    status, written = file.stat(), file.read_text()
    file.write_text(written.replace("Another task", "Nobody reads"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    for words in (("--list",), ("--list", "--quick")):
        assert sessions(home, *words)["claude-code.aaaa-1"]["title"] == "Another task altogether"
    file.write_text(written)
    assert sessions(home)["claude-code.aaaa-1"]["title"] == "Another task altogether"


def codex_and_pi_are_there_too(home):
    rollout = (
        home
        / ".codex"
        / "sessions"
        / "2026"
        / "11"
        / "18"
        / "rollout-2026-11-18T10-00-00-01a1ee96-ae43-7e03-b655-aa2018ff4f4a.jsonl"
    )
    rollout.parent.mkdir(parents=True)

    def item(kind, /, **payload):
        return line(timestamp="2026-11-18T11:00:00.000Z", type=kind, payload=payload)

    usage = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 9}
    rollout.write_text(
        item("session_meta", id="x", cwd="/home/me/there")
        + item("turn_context", model="gpt-5", cwd="/home/me/there")
        + item(
            "response_item",
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "<environment_context>"}],
        )
        + item(
            "response_item",
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "Rename the füße"}],
        )
        + item("event_msg", type="token_count", info={"total_token_usage": usage}) * 2
    )
    pi = home / ".pi" / "agent" / "sessions" / "--work--" / "2026-11-18T09-00-00_0123.jsonl"
    pi.parent.mkdir(parents=True)
    pi.write_text(
        line(
            type="session",
            version=3,
            id="p",
            timestamp="2026-11-18T09:00:00.000Z",
            cwd="/home/me/pi",
        )
        + line(
            type="message",
            id="1",
            parentId=None,
            timestamp="2026-11-18T09:00:01.000Z",
            message={"role": "user", "content": "Say hello"},
        )
        + line(
            type="message",
            id="2",
            parentId="1",
            timestamp="2026-11-18T09:00:02.000Z",
            message={
                "role": "assistant",
                "model": "gpt-5",
                "content": [{"type": "text", "text": "hello"}],
                "usage": {"input": 5, "output": 6},
            },
        )
    )
    found = sessions(home)
    codex = found["codex.01a1ee96-ae43-7e03-b655-aa2018ff4f4a"]
    assert (codex["title"], codex["project"], codex["model"]) == (
        "Rename the füße",
        "/home/me/there",
        "gpt-5",
    ), codex
    assert codex["tokens"] == {"input": 60, "output": 9, "cacheRead": 40, "cacheWrite": 0}, codex[
        "tokens"
    ]
    said_hello = next(session for session in found.values() if session["client"] == "pi")
    assert (said_hello["title"], said_hello["project"], said_hello["tokens"]["output"]) == (
        "Say hello",
        "/home/me/pi",
        6,
    ), said_hello
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


def two_files_of_one_name_are_two_sessions(home):
    projects = home / ".claude" / "projects"
    for folder in ("-moved", "-zz-moved-again"):
        (projects / folder).mkdir()
        (projects / folder / "twin-1.jsonl").write_text(user(f"In {folder}") + answer("yes"))
    found = {id: each for id, each in sessions(home).items() if "twin-1" in id}
    assert {each["title"] for each in found.values()} == {"In -moved", "In -zz-moved-again"}, found
    assert found["claude-code.twin-1"]["title"] == "In -moved", found
    assert {id: each for id, each in sessions(home).items() if "twin-1" in id} == found
    # Each keeps its id, whichever of the others come and go.
    other = next(id for id in found if id != "claude-code.twin-1")
    (projects / "-first").mkdir()
    (projects / "-first" / "twin-1.jsonl").write_text(user("In -first") + answer("yes"))
    assert {id: sessions(home)[id]["title"] for id in found} == {
        id: each["title"] for id, each in found.items()
    }
    (projects / "-moved" / "twin-1.jsonl").unlink()
    left = sessions(home)
    assert left[other]["title"] == "In -zz-moved-again", left
    assert "claude-code.twin-1" not in left, left
    (projects / "-zz-moved-again" / "twin-1.jsonl").unlink()
    (projects / "-first" / "twin-1.jsonl").unlink()


def a_file_that_is_moved_keeps_its_session(home):
    projects = home / ".claude" / "projects"
    for folder in ("-one", "-two", "-three"):
        (projects / folder).mkdir()
    for folder in ("-one", "-two"):
        (projects / folder / "mover.jsonl").write_text(user(f"Begun in {folder}") + answer("yes"))
    before = {id: each["title"] for id, each in sessions(home).items() if "mover" in id}
    moved = projects / "-three" / "mover.jsonl"
    (projects / "-two" / "mover.jsonl").rename(moved)
    with moved.open("a") as out:
        out.write(answer("more", id="m5"))
    after = {id: each["title"] for id, each in sessions(home).items() if "mover" in id}
    assert after == before, (before, after)
    # Its old place is free for a session of its own.
    (projects / "-two" / "mover.jsonl").write_text(user("Begun later") + answer("yes"))
    titles = {id: each["title"] for id, each in sessions(home).items() if "mover" in id}
    assert len(titles) == 3 and titles.items() > before.items(), titles
    for path in projects.rglob("mover.jsonl"):
        path.unlink()


def what_cannot_be_read_is_not_deleted(home):
    projects = home / ".claude" / "projects"
    expected = sessions(home)
    assert expected and any(id.startswith("claude-code.") for id in expected), expected
    # A link to itself: a folder that is there, and cannot be read by anybody, root included.
    aside = projects.with_name("aside")
    projects.rename(aside)
    projects.symlink_to(projects)
    kept = sessions(home)
    (projects).unlink()
    aside.rename(projects)
    assert kept == expected
    # The same of one file, with others beside it that are read.
    file = next(iter(sorted(projects.rglob("*.jsonl"))))
    file.rename(file.with_name("aside"))
    file.symlink_to(file)
    kept = sessions(home)
    file.unlink()
    assert kept == expected
    assert set(sessions(home)) < set(expected), "a file that is gone leaves the list"
    file.with_name("aside").rename(file)
    assert sessions(home) == expected


def a_file_without_a_whole_line_says_nothing_new(home):
    folder = home / ".claude" / "projects" / "-work-here"
    (folder / "empty.jsonl").write_text("")
    (folder / "begun.jsonl").write_text('{"type":"user","mess')
    assert "claude-code.empty" in sessions(home)
    index = home / ".cache" / "undertext" / "sessions"
    before = index.stat()
    sessions(home)
    after = index.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns), (
        "the index was written though nothing is different"
    )
    (folder / "empty.jsonl").unlink()
    (folder / "begun.jsonl").unlink()


def a_folder_may_have_any_name(home):
    folder = os.path.join(os.fsencode(home), b".claude", b"projects", b"-caf\xe9")
    os.mkdir(folder)
    path = os.path.join(folder, b"odd.jsonl")
    with open(path, "w") as out:
        out.write(user("In a folder of another encoding"))
    found = sessions(home)["claude-code.odd"]
    assert found["path"].endswith("/-caf\ufffd/odd.jsonl"), found
    assert set(sessions(home, "--search", "another encoding")) == {"claude-code.odd"}
    os.remove(path)
    os.rmdir(folder)


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


def tree(folder):
    """Every file below, byte by byte."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def opencode_is_read_from_its_database(home):
    store = opencode_store.Database(home)
    store.session("ses_aa", "Rename the marzipan", "/home/me/open")
    store.message(
        "ses_aa", "msg_1", opencode_store.user(), [opencode_store.text("Please rename it")]
    )
    store.message(
        "ses_aa",
        "msg_2",
        opencode_store.answer(),
        [{"type": "step-start"}, opencode_store.text("Renamed to praline")],
    )
    data = opencode_store.data_folder(home)
    before = tree(data)
    found = sessions(home)["opencode.ses_aa"]
    assert (found["title"], found["project"], found["model"], found["messages"]) == (
        "Rename the marzipan",
        "/home/me/open",
        "claude-opus-4-7",
        2,
    ), found
    assert (
        found["tokens"] == {"input": 7, "output": 13, "cacheRead": 13, "cacheWrite": 17}
        and found["cost"] == 0.25
    ), found
    assert set(sessions(home, "--search", "praline")) == {"opencode.ses_aa"}
    # What the program writes next, while it has the database open.
    store.message("ses_aa", "msg_3", opencode_store.answer(), [opencode_store.text("And tested")])
    assert sessions(home)["opencode.ses_aa"]["tokens"]["input"] == 14
    store.update("msg_3", opencode_store.answer(cost=1))
    assert sessions(home, "--list", "--quick")["opencode.ses_aa"]["cost"] == 1.25
    # A file may say anything: what can be no cost is none.
    store.update("msg_3", opencode_store.answer(cost=1e300))
    assert 0.25 < sessions(home, "--list", "--quick")["opencode.ses_aa"]["cost"] < 1
    store.update("msg_3", opencode_store.answer(cost=1))
    assert {path.name for path in tree(data)} == {path.name for path in before}, (
        "a file was made beside the database"
    )
    locked = tree(data)
    sessions(home)
    assert tree(data) == locked, "a file of the program was written to"
    # And when nobody has it open: there is no log, and none is made.
    store.close()
    closed = tree(data)
    assert [path.name for path in closed] == ["opencode.db"], closed.keys()
    assert set(sessions(home, "--search", "tested")) == {"opencode.ses_aa"}
    assert sessions(home)["opencode.ses_aa"]["messages"] == 3
    assert tree(data) == closed


def opencode_is_read_from_its_older_files(home):
    path = opencode_store.files(
        home,
        "ses_bb",
        "An old one",
        "/home/me/old",
        [
            ("msg_1", opencode_store.user(), [opencode_store.text("Where is the nougat?")]),
            ("msg_2", opencode_store.answer(cost=0), [opencode_store.text("In the jar")]),
        ],
    )
    # Both were written by a version that moved its files into the database.
    opencode_store.files(home, "ses_aa", "Moved since", "/home/me/open", [])
    found = sessions(home)
    assert (
        found["opencode.ses_bb"]["title"],
        found["opencode.ses_bb"]["messages"],
        found["opencode.ses_bb"]["tokens"]["cacheRead"],
    ) == ("An old one", 2, 13), found
    assert found["opencode.ses_bb"]["cost"] > 0, "by the table, where the program says nothing"
    assert found["opencode.ses_aa"]["title"] == "Rename the marzipan"
    assert set(sessions(home, "--search", "nougat")) == {"opencode.ses_bb"}
    (path.parents[2] / "part" / "msg_2" / "prt_9.json").write_text('{"type":"te')  # being written
    assert "opencode.ses_bb" in sessions(home, "--search", "jar")
    path.unlink()
    assert "opencode.ses_bb" not in sessions(home)


def a_database_that_is_being_written_is_not_gone(home):
    data = opencode_store.data_folder(home)
    # Of a version that moved its files into the database, and left them.
    opencode_store.files(home, "ses_aa", "Moved since", "/home/me/open", [])
    expected = sessions(home)
    assert "opencode.ses_aa" in expected
    (data / "opencode.db-journal").touch()
    assert sessions(home) == expected
    (data / "opencode.db-journal").unlink()
    assert sessions(home) == expected
    written = (data / "opencode.db").read_bytes()
    (data / "opencode.db").write_bytes(b"x" * 5000)
    assert set(sessions(home)) == set(expected), "a database that is damaged at this moment"
    (data / "opencode.db").unlink()
    titles = {id: each["title"] for id, each in sessions(home).items()}
    assert titles["opencode.ses_aa"] == "Moved since", "the older files are left"
    (data / "opencode.db").write_bytes(written)
    assert sessions(home) == expected


def what_is_no_database_of_opencode_is_passed_over(home):
    data = opencode_store.data_folder(home)
    expected = sessions(home)
    for bytes in (b"", os.urandom(5000), (data / "opencode.db").read_bytes()[:5000]):
        (data / "opencode-other.db").write_bytes(bytes)
        assert sessions(home) == expected
    (data / "opencode-other.db").unlink()


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
    what_did_not_change_is_not_read_again(home, file)
    rollout = codex_and_pi_are_there_too(home)
    words_are_found_in_what_was_said_and_not_in_keys(home)
    what_the_agent_deletes_leaves_the_index(home, rollout)
    a_damaged_index_is_made_again(home)
    two_files_of_one_name_are_two_sessions(home)
    a_file_that_is_moved_keeps_its_session(home)
    what_cannot_be_read_is_not_deleted(home)
    a_file_without_a_whole_line_says_nothing_new(home)
    a_folder_may_have_any_name(home)
    if opencode_store.can_be_read(program):
        opencode_is_read_from_its_database(home)
        opencode_is_read_from_its_older_files(home)
        a_database_that_is_being_written_is_not_gone(home)
        what_is_no_database_of_opencode_is_passed_over(home)
    a_damaged_index_is_made_again(home)
    forget_removes_the_index_and_nothing_else(home)
    many_sessions(pathlib.Path(folder) / "many")
print("20 passed, 0 failed")
