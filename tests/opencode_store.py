"""Sessions as opencode keeps them: rows of a database, and, before, files of JSON.

store = Database(home)                     # in WAL mode and open, as by a program that runs
store.session("ses_1", title="Rename it", directory="/work")
store.message("ses_1", "msg_1", {"role": "user"}, [{"type": "text", "text": "hello"}])
files(home, "ses_2", {...}, [({...}, [...])])
"""

import json
import pathlib
import sqlite3
import subprocess


def can_be_read(program):
    """Not by one that is built without SQLite."""
    return (
        "unsupported"
        not in subprocess.run(
            [program, "list", "--store", "sqlite:/nowhere/at.db"], capture_output=True, text=True
        ).stderr
    )


BEGAN_MS = 1_795_000_000_000


def data_folder(home):
    folder = pathlib.Path(home) / ".local" / "share" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Database:
    def __init__(self, home, name="opencode.db"):
        self.path = data_folder(home) / name
        self.rows = sqlite3.connect(self.path, isolation_level=None)
        self.rows.executescript("""
            PRAGMA journal_mode = WAL;
            CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL, title text NOT NULL,
              version text NOT NULL, revert text, time_created integer NOT NULL, time_updated integer NOT NULL);
            CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session ON DELETE CASCADE, time_created integer NOT NULL,
              time_updated integer NOT NULL, data text NOT NULL);
            CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL REFERENCES message ON DELETE CASCADE, session_id text NOT NULL,
              time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
            CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
            CREATE INDEX part_message_id_id_idx ON part (message_id, id);
            CREATE INDEX part_session_idx ON part (session_id);
            PRAGMA foreign_keys = ON;""")
        self.clock = BEGAN_MS

    def tick(self):
        self.clock += 1000
        return self.clock

    def session(self, id, title, directory, revert=None):
        now = self.tick()
        self.rows.execute(
            "INSERT OR REPLACE INTO session VALUES (?, 'global', NULL, 'x', ?, ?, '1.18.33', ?, ?, ?)",
            (id, directory, title, revert, now, now),
        )

    def message(self, session, id, info, parts):
        now = self.tick()
        data = dict(info, time={"created": now})
        self.rows.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (id, session, now, now, compact(data))
        )
        for number, part in enumerate(parts):
            self.part(session, id, f"prt_{id[4:]}_{number}", part)

    def part(self, session, message, id, part):
        now = self.tick()
        self.rows.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
            (id, message, session, now, now, compact(part)),
        )

    def update(self, id, info):
        now = self.tick()
        self.rows.execute(
            "UPDATE message SET data = ?, time_updated = ? WHERE id = ?",
            (compact(dict(info, time={"created": now})), now, id),
        )

    def delete(self, session):
        self.rows.execute("DELETE FROM session WHERE id = ?", (session,))

    def close(self):
        self.rows.close()


def answer(model="claude-opus-4-7", cost=0.25, **more):
    """The data of an assistant's row."""
    tokens = {"input": 7, "output": 11, "reasoning": 2, "cache": {"read": 13, "write": 17}}
    return dict(
        {
            "role": "assistant",
            "parentID": "msg_0",
            "modelID": model,
            "providerID": "anthropic",
            "mode": "build",
            "agent": "build",
            "cost": cost,
            "path": {"cwd": "/work", "root": "/"},
            "tokens": tokens,
            "finish": "stop",
        },
        **more,
    )


def user():
    return {
        "role": "user",
        "agent": "build",
        "model": {"providerID": "anthropic", "modelID": "claude-opus-4-7"},
    }


def text(said):
    return {"type": "text", "text": said}


def tool(call, output, status="completed"):
    state = {
        "status": status,
        "input": {"filePath": "/home/me/a.c"},
        "time": {"start": 1, "end": 2},
    }
    state.update(
        {
            "completed": {"output": output, "title": "a.c", "metadata": {}},
            "error": {"error": output},
        }.get(status, {})
    )
    return {"type": "tool", "tool": "read", "callID": call, "state": state}


def files(home, id, title, directory, messages):
    """As versions before the database wrote them. Messages are (id, info, parts)."""
    storage = data_folder(home) / "storage"

    def write(path, value):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=2, ensure_ascii=False))

    now = BEGAN_MS
    for message, info, parts in messages:
        now += 1000
        write(
            storage / "message" / id / f"{message}.json",
            dict(info, id=message, sessionID=id, time={"created": now}),
        )
        for number, part in enumerate(parts):
            write(
                storage / "part" / message / f"prt_{number}.json",
                dict(part, id=f"prt_{number}", messageID=message, sessionID=id),
            )
    path = storage / "session" / "global" / f"{id}.json"
    write(
        path,
        {
            "id": id,
            "version": "0.9.0",
            "projectID": "global",
            "directory": directory,
            "title": title,
            "time": {"created": BEGAN_MS, "updated": now},
        },
    )
    return path
