#!/usr/bin/env python3
"""Files that change under a server, backups put back, and damaged bits.   files.py PROGRAM [TEST…]

TRIES=n (3; 40 in full) tries of each change, FLIPS=n (20; 500 in full) damaged bits; SEED=n repeats a run."""

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import unittest

from running import Folder, Server

PROGRAM = sys.argv[1]
TRIES = int(os.environ.get("TRIES", "3"))
FLIPS = int(os.environ.get("FLIPS", "20"))
SEED = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 30)))
rng = random.Random(SEED)


class Appending(threading.Thread):
    """Appends one message after another, and notes which were acknowledged."""

    def __init__(self, server, conversation="a"):
        super().__init__(daemon=True)
        self.server, self.conversation = server, conversation
        self.acknowledged, self.refused, self.over = [], [], threading.Event()

    def run(self):
        k = 0
        while not self.over.is_set():
            k += 1
            try:
                reply = self.server.append(
                    self.conversation, f"text {k} " + "x" * rng.randrange(3000)
                )
            except (OSError, ConnectionError):
                return
            (self.acknowledged if reply.status == 200 else self.refused).append((k, reply))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join(60)

    def wait_for(self, what, patience=30):
        for _ in range(patience * 200):
            if what():
                return
            self.over.wait(0.005)
        raise AssertionError("it does not come to that")


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.server = Server(self.folder)
        self.server.make("a")
        self.path = self.folder.path / "store" / "undertext.db"
        self.store = f"sqlite:{self.path}"

    def tearDown(self):
        self.server.close()
        self.folder.remove()

    def beside(self, end):
        return self.path.with_name(self.path.name + end)

    def start_again(self):
        self.server.close()
        self.server.process.stdout.close()
        for end in ("", "-wal", "-shm"):
            self.beside(end).unlink(missing_ok=True)
        self.server.start()
        self.server.make("a")

    def texts(self, store):
        done = subprocess.run(
            [PROGRAM, "export", "a", "--store", store], capture_output=True, env=self.folder.env
        )
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.decode()

    def assert_sound(self, store):
        done = subprocess.run(
            [PROGRAM, "check", "--store", store], capture_output=True, env=self.folder.env
        )
        self.assertEqual(done.returncode, 0, (SEED, done))

    def assert_all_there(self, store, acknowledged):
        text = self.texts(store)
        for k, _ in acknowledged:
            self.assertIn(f"text {k} ", text, f"SEED={SEED}: acknowledged, and not there")

    def changed_underneath(self, change):
        """Whatever is acknowledged after `change` is an error of the test; returns what was acknowledged before."""
        with Appending(self.server) as appending:
            appending.wait_for(lambda: len(appending.acknowledged) >= 5 + rng.randrange(20))
            change()
            before = len(appending.acknowledged)
            appending.wait_for(lambda: len(appending.refused) >= 3)
        # One may have been stored before the change, and its answer read after it.
        self.assertLessEqual(len(appending.acknowledged) - before, 1, f"SEED={SEED}")
        for _, reply in appending.refused:
            self.assertEqual(
                (reply.status, reply.json()["error"]["code"]), (503, "unavailable"), reply
            )
        self.assertEqual(self.not_ready().status, 503)
        return appending.acknowledged

    def not_ready(self):
        for _ in range(100):
            reply = self.server.request("GET", "/readyz")
            if reply.status == 503:
                break
            threading.Event().wait(0.05)
        return reply

    def test_a_database_that_is_removed_takes_no_more_commits(self):
        for _ in range(TRIES):
            self.changed_underneath(
                lambda: [self.beside(end).unlink() for end in ("", "-wal", "-shm")]
            )
            self.start_again()

    def test_a_database_that_is_moved_away_and_back_is_used_again(self):
        away = self.path.with_name("away.db")
        for _ in range(TRIES):
            acknowledged = self.changed_underneath(lambda: self.path.rename(away))
            away.rename(self.path)
            self.assertEqual(self.server.append("a", "text 0 ").status, 200)
            self.assertEqual(self.server.stop(), 0)
            self.assert_sound(self.store)
            self.assert_all_there(self.store, acknowledged)
            self.start_again()

    def test_a_database_in_whose_place_another_is_put_takes_no_more_commits(self):
        other = self.path.with_name("other.db")
        for k in range(TRIES):
            self.folder.run("init", "--store", f"sqlite:{other}")
            self.folder.run("new", "a", "--store", f"sqlite:{other}")
            put = (
                (lambda: other.rename(self.path))
                if k % 2
                else (lambda: shutil.copyfile(other, self.path))
            )
            self.changed_underneath(put)
            other.unlink(missing_ok=True)
            self.start_again()

    def test_what_was_committed_survives_the_loss_of_the_log_of_a_running_server(self):
        for k in range(TRIES):
            end = ("-wal", "-shm")[k % 2]
            acknowledged = self.changed_underneath(lambda: self.beside(end).unlink())
            self.assertEqual(self.server.stop(), 0)
            self.assert_sound(self.store)
            self.assert_all_there(self.store, acknowledged)
            self.start_again()

    def test_a_second_name_is_refused(self):
        second = self.path.with_name("second.db")
        self.changed_underneath(lambda: os.link(self.path, second))
        done = subprocess.run(
            [PROGRAM, "list", "--store", f"sqlite:{second}"],
            capture_output=True,
            env=self.folder.env,
        )
        self.assertNotEqual(done.returncode, 0)

    def test_a_backup_is_restored_whole_and_not_under_a_running_server(self):
        backup = self.folder.path / "backup.db"
        for k in range(TRIES):
            with Appending(self.server) as appending:
                appending.wait_for(lambda: len(appending.acknowledged) >= 5)
                kept = len(appending.acknowledged)
                self.folder.run("backup", backup, "--store", self.store)
                appending.wait_for(
                    lambda: len(appending.acknowledged) >= kept + 5 + rng.randrange(200)
                )
                refused = subprocess.run(
                    [PROGRAM, "restore", backup, "--store", self.store],
                    capture_output=True,
                    env=self.folder.env,
                )
                self.assertIn(b"in use", refused.stderr)
                self.assertNotEqual(refused.returncode, 0)
                self.server.kill()
            if k % 2:  # by hand first, as people do: the old log is there still
                shutil.copyfile(backup, self.path)
                done = subprocess.run(
                    [PROGRAM, "list", "--store", self.store],
                    capture_output=True,
                    env=self.folder.env,
                )
                if self.beside("-wal").exists() and self.beside("-wal").stat().st_size > 0:
                    self.assertNotEqual(done.returncode, 0, (SEED, done))
                    self.assertIn(b"another database", done.stderr, (SEED, done))
            self.folder.run("restore", backup, "--store", self.store)
            self.assertFalse(
                self.beside("-wal").exists() and self.beside("-wal").stat().st_size > 0
            )
            self.assert_sound(self.store)
            self.assert_all_there(self.store, appending.acknowledged[:kept])
            self.assertTrue(backup.exists())
            self.server.start()
            self.assertEqual(self.server.append("a", "text 0 ").status, 200)
            self.server.kill()
            backup.unlink()
            self.start_again()

    def older_copy(self):
        """A copy of the file alone, of a server that was stopped and goes on."""
        self.assertEqual(self.server.stop(), 0)
        self.assertFalse(self.beside("-wal").exists())
        saved = self.path.with_name("saved.db")
        shutil.copyfile(self.path, saved)
        self.server.process.stdout.close()
        self.server.start()
        return saved

    def append_until_the_log_was_moved_into_the_file(self, appending):
        before = self.path.stat().st_mtime_ns
        appending.wait_for(lambda: self.path.stat().st_mtime_ns != before)
        # The commit behind it restarts the log, and the one before it may not be counted yet.
        moved = len(appending.acknowledged)
        appending.wait_for(lambda: len(appending.acknowledged) >= moved + 2)

    def test_an_older_copy_of_the_file_put_over_it_takes_no_more_commits(self):
        for _ in range(TRIES):
            saved = self.older_copy()
            newer = self.path.with_name("newer.db")
            with Appending(self.server) as appending:
                self.append_until_the_log_was_moved_into_the_file(appending)
            shutil.copyfile(self.path, newer)
            more = self.changed_underneath(lambda: shutil.copyfile(saved, self.path))
            self.server.stop()
            done = subprocess.run(
                [PROGRAM, "list", "--store", self.store],
                capture_output=True,
                env=self.folder.env,
            )
            self.assertNotEqual(done.returncode, 0, (SEED, done))
            self.assertIn(b"another state", done.stderr, (SEED, done))
            # Nothing is lost: the log is still there, and goes on from the newer file.
            shutil.copyfile(newer, self.path)
            self.assert_sound(self.store)
            self.assert_all_there(self.store, appending.acknowledged + more)
            self.start_again()

    def test_an_older_copy_of_the_file_is_refused_under_the_log_of_a_server_that_was_killed(self):
        for _ in range(TRIES):
            saved = self.older_copy()
            with Appending(self.server) as appending:
                self.append_until_the_log_was_moved_into_the_file(appending)
                self.server.kill()
            newer = self.path.read_bytes()
            shutil.copyfile(saved, self.path)
            done = subprocess.run(
                [PROGRAM, "list", "--store", self.store],
                capture_output=True,
                env=self.folder.env,
            )
            self.assertNotEqual(done.returncode, 0, (SEED, done))
            self.assertIn(b"another state", done.stderr, (SEED, done))
            self.path.write_bytes(newer)
            self.assert_all_there(self.store, appending.acknowledged)
            self.folder.run("restore", saved, "--store", self.store)
            self.assert_sound(self.store)
            self.start_again()

    def test_a_write_beyond_the_limit_of_files_is_an_error_and_not_the_end(self):
        self.server.close()
        limited = ["bash", "-c", 'ulimit -f 2000; exec "$@"', "-", PROGRAM]  # KiB
        process = subprocess.Popen(
            [*limited, "serve", "--store", self.store, "--listen", self.server.listen],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.folder.env,
        )
        try:
            process.stdout.readline()
            statuses = [
                self.server.append("a", random.randbytes(100_000).hex()).status for _ in range(40)
            ]
            self.assertIn(503, statuses)
            self.assertEqual(self.server.request("GET", "/healthz").status, 200)
            self.assertIsNone(process.poll())
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        self.assert_sound(self.store)


class Bits(unittest.TestCase):
    """A bit of the file flips: every answer is the right one, or an error."""

    def setUp(self):
        self.folder = Folder(PROGRAM)
        self.path = self.folder.path / "store.db"
        self.store = f"sqlite:{self.path}"

    def tearDown(self):
        self.folder.remove()

    def exec(self, lines, conversation):
        subprocess.run(
            [PROGRAM, "exec", "--store", self.store, "-c", conversation],
            input="\n".join(map(json.dumps, lines)).encode(),
            capture_output=True,
            env=self.folder.env,
            check=True,
        )

    def answers(self, store):
        found = []
        for words in (
            ["list", "--json"],
            ["export", "a"],
            ["export", "b"],
            ["log", "a", "--json"],
            ["show", "b", "--json"],
        ):
            done = subprocess.run(
                [PROGRAM, *words, "--store", store],
                capture_output=True,
                env=self.folder.env,
                timeout=60,
            )
            found.append((words, done.returncode, done.stdout))
        return found

    def test_no_answer_is_wrong_and_says_ok(self):
        print(f"\n  SEED={SEED} FLIPS={FLIPS}", file=sys.stderr)
        for name in "ab":
            lines = [
                {
                    "operation": "APPEND",
                    "messages": [
                        {"role": "user", "content": f"{k} " + "word " * rng.randrange(400)}
                    ],
                }
                for k in range(120)
            ]
            lines += [
                {"operation": "DELETE", "indices": [3]},
                {"operation": "TRANSFORM", "indices": [5], "setMetadata": {"a": 1}},
            ]
            self.exec(lines, name)
        right = self.answers(self.store)
        self.assertEqual([code for _, code, _ in right], [0] * len(right), right)
        self.assertFalse(self.path.with_name("store.db-wal").exists())
        sound = self.path.read_bytes()
        wrong, refused = [], 0
        damaged_path = self.folder.path / "damaged.db"
        for _ in range(FLIPS):
            at, bit = rng.randrange(len(sound)), rng.randrange(8)
            damaged = bytearray(sound)
            damaged[at] ^= 1 << bit
            damaged_path.write_bytes(damaged)
            got = self.answers(f"sqlite:{damaged_path}")
            refused += any(code != 0 for _, code, _ in got)
            wrong += [
                (at, bit, words)
                for (words, code, out), (_, _, expected) in zip(got, right)
                if code == 0 and out != expected
            ]
            backup = self.folder.path / "backup.db"
            done = subprocess.run(
                [PROGRAM, "backup", str(backup), "--store", f"sqlite:{damaged_path}"],
                capture_output=True,
                env=self.folder.env,
            )
            if done.returncode == 0:
                wrong += [
                    (at, bit, "backup", words)
                    for (words, code, out), (_, _, expected) in zip(
                        self.answers(f"sqlite:{backup}"), right
                    )
                    if (code, out) != (0, expected)
                ]
            backup.unlink(missing_ok=True)
            for end in ("-wal", "-shm"):
                damaged_path.with_name("damaged.db" + end).unlink(missing_ok=True)
        print(f"  {len(sound)} bytes, {refused} of {FLIPS} refused", file=sys.stderr)
        self.assertEqual(wrong, [], f"SEED={SEED}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[1:], verbosity=2)
