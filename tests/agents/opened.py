"""What `undertext open` shows of the sessions that agents keep in a home folder.

with Sessions(program, home) as sessions:
    for session in sessions.ids():
        sessions.ask(session, {"query": "blocks"})
"""

import json
import re
import subprocess
import tempfile
import urllib.request

import running


class Sessions:
    """Asked as a store is (gateway/agents.py); the index is kept outside of the home folder."""

    def __init__(self, program, home):
        self.program, self.home = program, home

    def __enter__(self):
        self.cache = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [self.program, "open", "--no-browser"],
            env=dict(running.plain_environment(self.home), XDG_CACHE_HOME=self.cache.name),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.url, self.token = re.match(
            r"(http://[^/]+)/#token=([\w-]+)$", self.process.stdout.readline().strip()
        ).groups()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(running.SECONDS_MAX)
        self.process.stdout.close()
        self.cache.cleanup()

    def request(self, path, body=None):
        request = urllib.request.Request(
            self.url + path,
            body and json.dumps(body).encode(),
            {"authorization": f"Bearer {self.token}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=running.SECONDS_MAX) as reply:
            return json.load(reply)

    def ids(self):
        listed = self.request("/v1/conversations")
        return [each["id"] for each in listed.get("result", listed)["conversations"]]

    def ask(self, session, *lines):
        return [self.request(f"/v1/conversations/{session}/query", line) for line in lines]
