"""Runs the real coding agents against an upstream of ours, each in a folder of its own that goes
afterwards. Nothing of what they send is kept."""

import atexit
import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.request

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
    """The binary of @openai/codex. A provider that is not OpenAI's does not compact: Codex then
    asks for a summary itself."""

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


def node_of(folder):
    """A Node of 20 or later: of the path, or the one that scripts have got (scripts/lib.sh)."""
    for node in (shutil.which("node"), folder.parent.parent / "node" / "bin" / "node"):
        if node and pathlib.Path(node).exists():
            version = run([node, "--version"], None, None).stdout
            if int(version.lstrip("v").split(".")[0]) >= 20:
                return str(node)
    return None


def pi_command(folder):
    folder = pathlib.Path(folder).resolve()
    program = folder / "node_modules/@mariozechner/pi-coding-agent/dist/cli.js"
    node = node_of(folder)
    return [node, str(program)] if node and program.exists() else None


class Pi:
    """The program of @mariozechner/pi-coding-agent, which is Node's."""

    def __init__(self, command, upstream, folder, api="openai-completions", path="/v1"):
        self.command, self.folder, self.printed = command, pathlib.Path(folder), []
        (self.folder / "notes.txt").write_text("one\ntwo\n")
        upstream_module.FILE["path"] = str(self.folder / "notes.txt")
        provider = {
            "baseUrl": upstream.url + path,
            "api": api,
            "apiKey": "none",
            "models": [{"id": "m"}],
        }
        settings = self.folder / ".pi" / "agent"
        settings.mkdir(parents=True)
        (settings / "models.json").write_text(json.dumps({"providers": {"x": provider}}))
        self.environment = dict(plain_environment(self.folder), PI_OFFLINE="1")

    def say(self, text):
        resume = ["--continue"] if self.printed else []
        words = ["--provider", "x", "--model", "m", *resume, "--print", text]
        made = run([*self.command, *words], self.folder, self.environment)
        assert made.returncode == 0, made.stdout + made.stderr
        assert re.search(r"_[0-9a-f]{20}", made.stdout), made.stdout + made.stderr  # an answer
        self.printed.append(made.stdout.replace(str(self.folder), "FOLDER"))


MODEL = {"providerID": "x", "modelID": "m"}


class OpenCode:
    """The binary of opencode-linux-x64-baseline. Its window and its `run` are clients of a server
    of its own, which is asked here; `close` ends it, and what is said then resumes the session."""

    def __init__(self, binary, upstream, folder, api="openai-compatible", **compaction):
        self.binary, self.folder = binary, pathlib.Path(folder)
        (self.folder / "notes.txt").write_text("one\ntwo\n")
        upstream_module.FILE["path"] = str(self.folder / "notes.txt")
        path = "/v1beta" if api == "google" else "/v1"
        provider = {
            "npm": f"@ai-sdk/{api}",
            "options": {"baseURL": upstream.url + path, "apiKey": "none"},
            "models": {"m": {"limit": {"context": 100000, "output": 4000}}},
        }
        settings = {
            "provider": {"x": provider},
            "model": "x/m",
            "autoupdate": False,
            "share": "disabled",
            "compaction": compaction,
        }
        (self.folder / "opencode.json").write_text(json.dumps(settings))
        self.environment = dict(
            plain_environment(self.folder),
            OPENCODE_DISABLE_AUTOUPDATE="1",
            OPENCODE_DISABLE_DEFAULT_PLUGINS="1",
            OPENCODE_DISABLE_LSP_DOWNLOAD="1",
            OPENCODE_DISABLE_MODELS_FETCH="1",
            npm_config_registry="http://127.0.0.1:9/",
        )
        self.session, self.server = None, None
        self.printed = []
        atexit.register(self.close)

    def ask(self, path, body):
        if not self.server:
            self.server = subprocess.Popen(
                [self.binary, "serve", "--port", "0"],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
                text=True,
            )
            lines = (re.search(r"http://[\d.]+:\d+", line) for line in self.server.stdout)
            self.url = next(found[0] for found in lines if found)
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as reply:
            return reply.read().decode()

    def say(self, text):
        self.session = self.session or json.loads(self.ask("/session", {}))["id"]
        body = {"model": MODEL, "parts": [{"type": "text", "text": text}]}
        self.printed.append(self.ask(f"/session/{self.session}/message", body))
        answer = json.loads(self.printed[-1])
        assert "error" not in answer["info"], answer

    def compact(self):
        self.printed.append(self.ask(f"/session/{self.session}/summarize", MODEL))

    def run(self, *words):
        """A turn by `opencode run`."""
        session = ["--session", self.session] if self.session else []
        command = [self.binary, "run", "--format", "json", *session, *words]
        made = run(command, self.folder, self.environment)
        assert made.returncode == 0, made.stdout + made.stderr
        self.printed.append(made.stdout)
        self.session = json.loads(made.stdout.splitlines()[0])["sessionID"]

    def close(self):
        if self.server:
            self.server.terminate()
            self.server.wait(SECONDS_MAX)
            self.server.stdout.close()
        self.server = None
