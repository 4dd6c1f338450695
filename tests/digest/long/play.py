#!/usr/bin/env python3
"""Plays agents at work in scratch repositories and writes down what they said, ran and saw.

    play.py [NAME…]        writes NAME.json beside this file, or into the scenario's folder; without a name all of scenarios.py

A scenario is a project and a list of steps. Every command is really run, every file really read and changed, in a fresh folder; what
comes back is what stands in the transcript, with the folder's name replaced by /workspace/app. Between the steps the agent looks around,
as agents do: which files and how is chosen by the scenario's seed, also among commands ("looks") that the scenario has for that. The facts of a transcript are written by hand in scenarios.py; only
the lists of all paths and of all commands are taken from the calls that were made.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHOWN = "/workspace/app"


class Player:
    def __init__(self, scenario):
        self.scenario = scenario
        self.random = random.Random(scenario["seed"])
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="agent-"))
        self.style = scenario["style"]
        self.messages = []
        self.paths, self.commands = [], []
        self.calls = 0

    # The scratch repository ---------------------------------------------------------------------------------------------------------

    def set_up(self):
        for path, text in self.scenario["project"].items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        for command in (
            "git init -q -b main",
            "git add -A",
            "git commit -q -m 'Import the project'",
        ):
            self.run(command)

    def run(self, command):
        env = dict(
            os.environ,
            HOME=str(self.root / ".home"),
            GIT_AUTHOR_NAME="Ada",
            GIT_AUTHOR_EMAIL="ada@example.com",
            GIT_COMMITTER_NAME="Ada",
            GIT_COMMITTER_EMAIL="ada@example.com",
            GIT_AUTHOR_DATE="2026-03-01T10:00:00Z",
            GIT_COMMITTER_DATE="2026-03-01T10:00:00Z",
            LC_ALL="C.UTF-8",
            PYTHONDONTWRITEBYTECODE="1",
            NO_COLOR="1",
            GOCACHE=str(self.root / ".gocache"),
            GOFLAGS="-mod=mod",
            GOTOOLCHAIN="local",
            GO111MODULE="on",
            RUSTUP_HOME=os.environ.get("RUSTUP_HOME", str(pathlib.Path.home() / ".rustup")),
            PATH=os.environ["PATH"],
        )
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
        text = done.stdout.decode("utf-8", "replace").replace(str(self.root), SHOWN)
        text = re.sub(r"/\S*/(site-packages|lib/python3\.\d+)/", r"/usr/lib/python3/\1/", text)
        text = re.sub(r"/\S*\.pyenv/versions/[\d.]+/bin/", "/usr/bin/", text)
        return done.returncode, text[:20000]

    # Messages in the style of several agents ----------------------------------------------------------------------------------------

    def user(self, text):
        if self.style == "claude":
            parts = [{"type": "text", "text": text}]
            if self.scenario.get("reminders"):
                parts.append(
                    {
                        "type": "text",
                        "text": "<system-reminder>\n%s\n</system-reminder>"
                        % self.scenario["reminders"],
                    }
                )
            self.messages.append({"role": "user", "content": parts})
        else:
            self.messages.append({"role": "user", "content": text})

    def say(self, text):
        content = [{"type": "text", "text": text}] if self.style == "claude" else text
        self.messages.append({"role": "assistant", "content": content})

    def call(self, tool, arguments, result, failed=False, said=""):
        self.calls += 1
        if self.style == "claude":
            name = "toolu_%04d" % self.calls
            content = [{"type": "text", "text": said}] if said else []
            content.append({"type": "tool_use", "id": name, "name": tool, "input": arguments})
            self.messages.append({"role": "assistant", "content": content})
            answer = {
                "type": "tool_result",
                "tool_use_id": name,
                "content": result or "(no output)",
            }
            if failed:
                answer["is_error"] = True
            self.messages.append({"role": "user", "content": [answer]})
            return
        name = "call_%04d" % self.calls
        self.messages.append(
            {
                "role": "assistant",
                "content": said or None,
                "toolCalls": [
                    {
                        "id": name,
                        "type": "function",
                        "function": {
                            "name": tool,
                            "arguments": json.dumps(arguments, ensure_ascii=False),
                        },
                    }
                ],
            }
        )
        self.messages.append({"role": "tool", "toolCallId": name, "content": result})

    # Steps ---------------------------------------------------------------------------------------------------------------------------

    def sh(self, command, said=""):
        code, output = self.run(command)
        self.commands.append(command)
        if self.style == "claude":
            text = ("Exit code %d\n" % code if code else "") + output
            self.call(
                "Bash",
                {"command": command, "description": command.split()[0]},
                text,
                code != 0,
                said,
            )
        elif self.style == "opencode":
            self.call(
                "bash",
                {"command": command, "description": "Runs " + command.split()[0]},
                output or "(no output)",
                said=said,
            )
        elif self.style == "codex_exec":
            text = (
                "Chunk ID: %06x\nWall time: 0.0521 seconds\nProcess exited with code %d\nOutput:\n%s"
                % (self.calls, code, output)
            )
            self.call(
                "exec_command",
                {"cmd": command, "workdir": SHOWN, "yield_time_ms": 1000},
                text,
                said=said,
            )
        elif self.style == "notebook":
            self.call(
                "execute_cell", {"code": "!" + command, "kernel": "python3"}, output, said=said
            )
        elif self.style == "codex":
            text = json.dumps(
                {"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.1}}
            )
            self.call(
                "shell", {"command": ["bash", "-lc", command], "workdir": SHOWN}, text, said=said
            )
        else:
            self.call(
                "run_terminal_cmd",
                {"command": command},
                output + ("\n[exit code %d]" % code if code else ""),
                said=said,
            )

    # What cannot be run here, with an answer that was written by hand.
    def shown(self, command, output):
        run, self.run = self.run, lambda _: (0, output)
        self.sh(command)
        self.run = run

    def read(self, path, said=""):
        self.paths.append(path)
        text = (self.root / path).read_text()
        if self.style == "codex":
            return self.sh("cat " + path, said)
        if self.style == "codex_exec":
            return self.sh("sed -n '1,200p' " + path, said)
        if self.style == "notebook":
            return self.sh("cat " + path, said)
        numbered = "".join("%6d\t%s\n" % (i, line) for i, line in enumerate(text.splitlines(), 1))
        if self.style == "claude":
            return self.call("Read", {"file_path": SHOWN + "/" + path}, numbered, said=said)
        if self.style == "opencode":
            numbered = "".join(
                "%05d| %s\n" % (i, line) for i, line in enumerate(text.splitlines(), 1)
            )
            return self.call(
                "read",
                {"filePath": SHOWN + "/" + path},
                "<file>\n%s\n(End of file)\n</file>" % numbered,
                said=said,
            )
        return self.call("read_file", {"path": path}, text, said=said)

    def edit(self, path, old, new, said=""):
        self.paths.append(path)
        file = self.root / path
        text = file.read_text()
        if old not in text:
            if self.style == "claude":
                return self.call(
                    "Edit",
                    {"file_path": SHOWN + "/" + path, "old_string": old, "new_string": new},
                    "String to replace not found in file.\nString: " + old,
                    True,
                    said,
                )
            return self.call(
                "edit_file",
                {"path": path, "old_text": old, "new_text": new},
                "Error: old_text not found in " + path,
                said=said,
            )
        file.write_text(text.replace(old, new, 1))
        if self.style == "claude":
            return self.call(
                "Edit",
                {"file_path": SHOWN + "/" + path, "old_string": old, "new_string": new},
                "The file %s/%s has been updated." % (SHOWN, path),
                said=said,
            )
        if self.style == "opencode":
            return self.call(
                "edit",
                {"filePath": SHOWN + "/" + path, "oldString": old, "newString": new},
                "",
                said=said,
            )
        if self.style in ("codex", "codex_exec"):
            lines = ["*** Begin Patch", "*** Update File: " + path, "@@"]
            lines += (
                ["-" + line for line in old.splitlines()]
                + ["+" + line for line in new.splitlines()]
                + ["*** End Patch"]
            )
            if self.style == "codex_exec":
                return self.patch(lines, "M " + path, said)
            return self.call(
                "apply_patch",
                {"input": "\n".join(lines)},
                "Success. Updated the following files:\nM " + path,
                said=said,
            )
        return self.call(
            "edit_file", {"path": path, "old_text": old, "new_text": new}, "ok", said=said
        )

    # A patch that is fed to a program, as agents do that have nothing but a shell.
    def patch(self, lines, changed, said):
        text = (
            "Process exited with code 0\nOutput:\nSuccess. Updated the following files:\n%s\n"
            % changed
        )
        return self.call(
            "exec_command",
            {"cmd": "apply_patch <<'EOF'\n%s\nEOF" % "\n".join(lines), "workdir": SHOWN},
            text,
            said=said,
        )

    def python(self, code, said=""):
        """A cell of a notebook; every cell runs alone."""
        file = self.root / ".cell.py"
        file.write_text(code)
        _, output = self.run("python3 .cell.py; rm .cell.py")
        self.call(
            "execute_cell",
            {"code": code, "kernel": "python3"},
            output.replace(SHOWN + "/.cell.py", "<ipython-input>"),
            said=said,
        )

    def write(self, path, text, said=""):
        self.paths.append(path)
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        existed = file.exists()
        file.write_text(text)
        if self.style == "claude":
            what = "updated" if existed else "created"
            return self.call(
                "Write",
                {"file_path": SHOWN + "/" + path, "content": text},
                "File %s successfully at: %s/%s" % (what, SHOWN, path),
                said=said,
            )
        if self.style == "opencode":
            return self.call(
                "write", {"filePath": SHOWN + "/" + path, "content": text}, "", said=said
            )
        if self.style == "codex_exec":
            return self.patch(
                ["*** Begin Patch", "*** Add File: " + path]
                + ["+" + line for line in text.splitlines()]
                + ["*** End Patch"],
                "A " + path,
                said,
            )
        if self.style == "codex":
            lines = (
                ["*** Begin Patch", "*** Add File: " + path]
                + ["+" + line for line in text.splitlines()]
                + ["*** End Patch"]
            )
            return self.call(
                "apply_patch",
                {"input": "\n".join(lines)},
                "Success. Updated the following files:\nA " + path,
                said=said,
            )
        return self.call(
            "write_file",
            {"path": path, "content": text},
            "written: %d bytes" % len(text),
            said=said,
        )

    def plan(self, *items):
        """Each item is a pair of a state (x, > or space) and a text."""
        states = {"x": "completed", ">": "in_progress", " ": "pending"}
        if self.style == "claude":
            todos = [
                {"content": text, "status": states[state], "activeForm": text}
                for state, text in items
            ]
            return self.call(
                "TodoWrite", {"todos": todos}, "Todos have been modified successfully."
            )
        if self.style == "opencode":
            todos = [
                {"id": str(i), "content": text, "status": states[state], "priority": "medium"}
                for i, (state, text) in enumerate(items, 1)
            ]
            return self.call("todowrite", {"todos": todos}, json.dumps(todos, ensure_ascii=False))
        if self.style in ("codex", "codex_exec"):
            return self.call(
                "update_plan",
                {"plan": [{"step": text, "status": states[state]} for state, text in items]},
                "Plan updated",
            )
        return self.say(
            "Where we are:\n"
            + "\n".join(
                "- [%s] %s" % (state if state == "x" else " ", text) for state, text in items
            )
        )

    # Looks around, as agents do before and after everything.
    def explore(self, count):
        looks = self.scenario.get("looks")
        for _ in range(count):
            if looks and self.random.random() < 0.6:
                self.sh(self.random.choice(looks))
                continue
            files = [p for p in self.run("git ls-files")[1].split() if not p.endswith(".lock")]
            path = self.random.choice(files)
            if not (self.root / path).exists():
                continue
            kind = self.random.randrange(9)
            words = re.findall(r"[A-Za-z_]{5,}", (self.root / path).read_text()) or ["import"]
            word = self.random.choice(words)
            said = self.random.choice(
                [
                    "",
                    "",
                    "",
                    "Let me look at %s." % path,
                    "Checking how `%s` is used." % word,
                    "I need more context.",
                ]
            )
            if kind <= 2:
                self.read(path, said)
            elif kind == 3:
                first = 1 + self.random.randrange(20)
                self.paths.append(path)
                self.sh("sed -n '%d,%dp' %s" % (first, first + 30, path), said)
            elif kind == 4:
                self.sh(
                    "grep -rn \"%s\" --include='*%s' . | head -20"
                    % (word, pathlib.Path(path).suffix or path),
                    said,
                )
            elif kind == 5:
                self.sh("git log --oneline -5 -- " + path, said)
                self.paths.append(path)
            elif kind == 6:
                self.sh("ls -la " + (str(pathlib.Path(path).parent)), said)
            elif kind == 7:
                self.sh("git diff --stat", said)
            else:
                self.paths.append(path)
                self.sh("wc -l %s && head -15 %s" % (path, path), said)

    def play(self):
        self.set_up()
        try:
            for step in self.scenario["steps"]:
                getattr(self, step[0])(*step[1:])
        finally:
            shutil.rmtree(self.root, ignore_errors=True)
        facts = {name: list(values) for name, values in self.scenario["facts"].items()}
        facts["paths"] = sorted(set(self.paths))
        facts["commands"] = sorted(set(self.commands))
        return {"about": self.scenario["about"], "facts": facts, "messages": self.messages}


def main():
    sys.path.insert(0, str(HERE))
    import held_out  # noqa: F401  adds its own to those of scenarios
    import held_out_chores  # noqa: F401
    import held_out_fields  # noqa: F401
    import held_out_services  # noqa: F401
    import scenarios

    wanted = sys.argv[1:] or sorted(scenarios.SCENARIOS)
    for name in wanted:
        made = Player(scenarios.SCENARIOS[name]).play()
        file = HERE / scenarios.SCENARIOS[name].get("folder", "") / (name + ".json")
        with open(file, "w") as out:
            out.write('{"about": %s,\n"facts": {' % json.dumps(made["about"], ensure_ascii=False))
            out.write(
                ",".join(
                    "\n %s: %s" % (json.dumps(kind), json.dumps(facts, ensure_ascii=False))
                    for kind, facts in made["facts"].items()
                )
            )
            out.write('},\n"messages": [\n')
            out.write(
                ",\n".join(json.dumps(message, ensure_ascii=False) for message in made["messages"])
            )
            out.write("\n]}\n")
        print("%s: %d messages, %d kB" % (name, len(made["messages"]), file.stat().st_size // 1024))


if __name__ == "__main__":
    main()
