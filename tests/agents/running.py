"""Runs the real coding agents against an upstream of ours, each in a folder of its own that goes afterwards. Nothing of what they send is kept."""

import json
import os
import pathlib
import subprocess

import upstream as upstream_module

SECONDS_MAX = 120


def run(command, folder, environment):
    made = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        stdin=subprocess.DEVNULL,
    )
    return made


def plain_environment(home):
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8"}


class ClaudeCode:
    """The binary of @anthropic-ai/claude-code-linux-x64."""

    def __init__(self, binary, upstream, folder):
        self.binary, self.folder = binary, pathlib.Path(folder)
        (self.folder / "notes.txt").write_text("one\ntwo\n")
        upstream_module.FILE["path"] = str(self.folder / "notes.txt")
        self.environment = dict(
            plain_environment(self.folder),
            ANTHROPIC_BASE_URL=upstream.url,
            ANTHROPIC_API_KEY="none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            DISABLE_AUTOUPDATER="1",
        )
        self.session = None
        self.printed = []

    def say(self, text, *options):
        resume = ["--resume", self.session] if self.session else []
        made = run(
            [self.binary, "-p", text, "--output-format", "json", *resume, *options],
            self.folder,
            self.environment,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        self.session = json.loads(made.stdout)["session_id"]
        self.printed.append(made.stdout)


class Codex:
    """The binary of @openai/codex. A provider that is not OpenAI's does not compact: Codex then asks for a summary itself."""

    def __init__(self, binary, upstream, folder, provider="OpenAI"):
        self.binary, self.folder = binary, pathlib.Path(folder)
        home = self.folder / ".codex"
        home.mkdir()
        (home / "config.toml").write_text(f'''model = "gpt-5"
model_provider = "x"
model_context_window = 100000
model_auto_compact_token_limit = 50000
[model_providers.x]
name = "{provider}"
base_url = "{upstream.url}/v1"
env_key = "KEY"
wire_api = "responses"
''')
        self.environment = dict(plain_environment(self.folder), CODEX_HOME=str(home), KEY="none")
        self.session = None
        self.printed = []

    def say(self, text):
        resume = ["resume", self.session] if self.session else []
        made = run(
            [self.binary, "exec", "--skip-git-repo-check", "--json", *resume, text],
            self.folder,
            self.environment,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        self.printed.append(made.stdout)
        for line in made.stdout.splitlines():
            event = json.loads(line) if line.startswith("{") else {}
            self.session = self.session or event.get("thread_id")
