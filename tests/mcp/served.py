"""A store with conversations of two projects, and `undertext mcp` or `undertext serve` over it."""

import contextlib
import importlib.util
import json
import pathlib
import subprocess

# By its path: tests/agents has a module of the same name.
_found = importlib.util.spec_from_file_location(
    "server_running", pathlib.Path(__file__).parents[1] / "server" / "running.py"
)
_running = importlib.util.module_from_spec(_found)
_found.loader.exec_module(_running)
Folder, Server = _running.Folder, _running.Server

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
READING = ["context_search", "context_expand", "context_status"]
EDITING = ["context_pin", "context_checkpoint", "context_undo", "context_show"]
# A call of every tool that goes well on the conversation "here", and what its answer says.
CALLS = [
    ("context_search", {"text": "surrogate tokenizer"}, "utf16_length"),
    ("context_expand", {"ordinals": [0], "conversation": "here"}, "crash on emoji"),
    ("context_status", {"conversation": "here"}, "Hidden: 2 messages"),
    ("context_pin", {"ordinals": [2], "conversation": "here"}, "Pinned: 2."),
    ("context_checkpoint", {"description": "before", "conversation": "here"}, "is set"),
    ("context_show", {"ordinals": [0], "conversation": "here"}, "Back in context"),
    ("context_undo", {"conversation": "here"}, "Undone"),
]


@contextlib.contextmanager
def store(program):
    """(a Folder, the store's URL, the folder of the project "here")."""
    folder = Folder(program)
    project, other = folder.path / "here", folder.path / "there"
    project.mkdir()
    other.mkdir()
    url = "sqlite:" + str(folder.path / "undertext.db")
    try:
        fill(folder, url, "there", other, "The tokenizer of another project.", "Nothing to see.")
        fill(
            folder,
            url,
            "here",
            project,
            "Why does the tokenizer crash on emoji?",
            "It reads a surrogate in utf16_length().",
        )
        yield folder, url, project
    finally:
        folder.remove()


def fill(folder, url, name, project, question, reply):
    lines = [
        {
            "operation": "APPEND",
            "messages": [
                {"role": "user", "content": question},
                {"role": "assistant", "content": reply},
                {"role": "user", "content": "Thank you."},
            ],
        },
        {"operation": "DELETE", "ordinals": [0, 1]},
    ]
    done = subprocess.run(
        [
            folder.program,
            "exec",
            "--store",
            url,
            "-c",
            name,
            "--config",
            json.dumps({"project": str(project)}),
        ],
        text=True,
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        check=True,
        env=folder.env,
    )
    assert '"ok":false' not in done.stdout, done.stdout


def request(method, params=None, ident=1, meta=META):
    params = dict(params or {})
    if meta:
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


class Stdio:
    def __init__(self, folder, url, project, *options):
        self.process = subprocess.Popen(
            [folder.program, "mcp", "--store", url, *options],
            cwd=project,
            env=folder.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, line):
        self.process.stdin.write(
            (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"
        )
        self.process.stdin.flush()

    def ask(self, line):
        self.send(line)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        rest, told = self.process.stdout.read(), self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        assert self.process.wait(timeout=60) == 0, told
        return rest
