#!/usr/bin/env python3
"""`undertext wrap`: a command runs as it would without it, except that its base URLs lead through a gateway.

wrap.py PROGRAM
"""

import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import urllib.error
import urllib.request

from gateways import Folder
from upstream import Upstream, whole

# What a client would be: tells what it was given, and makes calls.
CLIENT = r"""
import json, os, resource, signal, sys, urllib.request
told = {"arguments": sys.argv[1:], "umask": os.umask(0), "core": resource.getrlimit(resource.RLIMIT_CORE), "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "pipe": str(signal.getsignal(signal.SIGPIPE)), "files": sorted(os.listdir("/proc/self/fd")),
        "environment": {k: v for k, v in os.environ.items() if k.endswith(("BASE_URL", "API_BASE", "TOOL_SEARCH")) or k.lower() == "no_proxy"}, "answers": []}
for variable, path in (("ANTHROPIC_BASE_URL", "/v1/messages"), ("OPENAI_BASE_URL", "/responses"), ("GOOGLE_GEMINI_BASE_URL", "/v1beta/models/m:generateContent")):
    request = urllib.request.Request(os.environ[variable] + path, b"{}", {"content-type": "application/json"})
    told["answers"].append(urllib.request.urlopen(request).status)
print(json.dumps(told), flush=True)
sys.exit(int(os.environ.get("EXIT", "0")))
"""


# A client that goes on asking until its turns are recorded, in a store whose folder is made
# meanwhile. The store's API says until then that it is unavailable.
LATE_CLIENT = r"""
import json, os, pathlib, subprocess, sys, time, urllib.error, urllib.request
program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
texts = []
def ask():
    texts.append(f"question {len(texts)}")
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode()
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    texts.append(json.load(urllib.request.urlopen(request))["content"][0]["text"])
for _ in range(3):
    ask()
folder.unlink()
folder.mkdir()
store = f"sqlite:{folder}/late.db"
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    ask()
    time.sleep(0.05)
    listed = subprocess.run([program, "list", "--json", "--store", store], capture_output=True, text=True)
    if listed.stdout.strip():
        sys.exit(7)
sys.exit(listed.stdout + listed.stderr)
"""


def run(folder, words, environment=None, **options):
    return subprocess.run(
        [folder.program, "wrap", *words],
        capture_output=True,
        text=True,
        env={**folder.env, **(environment or {})},
        timeout=60,
        umask=0o027,
        **options,
    )


def upstream_options(upstream):
    return [f"--{name}={upstream.url}" for name in ("anthropic", "openai", "gemini")]


def a_command_runs_as_without_it(folder, upstream, client):
    plain = subprocess.run(
        [sys.executable, client, "-p", "two words", "--store", "x"],
        capture_output=True,
        text=True,
        umask=0o027,
        env={
            **folder.env,
            "ANTHROPIC_BASE_URL": upstream.url,
            "OPENAI_BASE_URL": upstream.url + "/v1",
            "GOOGLE_GEMINI_BASE_URL": upstream.url,
        },
    )
    before = len(upstream.requests)
    done = run(
        folder,
        [*upstream_options(upstream), sys.executable, client, "-p", "two words", "--store", "x"],
        {"EXIT": "7"},
    )
    assert done.returncode == 7, done
    told, expected = json.loads(done.stdout), json.loads(plain.stdout)
    # The sanitizer limits core dumps itself.
    limits = () if "UNDERTEXT_SANITIZED" in os.environ else ("core",)
    for name in ("arguments", "umask", *limits, "mask", "pipe", "answers", "files"):
        assert told[name] == expected[name], (name, told[name], expected[name])
    variables = told["environment"]
    assert variables["ANTHROPIC_BASE_URL"].endswith("/anthropic") and variables[
        "OPENAI_BASE_URL"
    ].endswith("/openai/v1")
    assert variables["ENABLE_TOOL_SEARCH"] == "true" and "127.0.0.1" in variables["no_proxy"]
    assert [r.target for r in upstream.requests[before:]] == [
        "/v1/messages",
        "/v1/responses",
        "/v1beta/models/m:generateContent",
    ]
    assert (
        "gateway http://127.0.0.1:" in done.stderr
        and "store sqlite:" in done.stderr
        and "/#token=" in done.stderr
    ), done.stderr
    log = pathlib.Path(folder.path / "data/undertext/wrap.log")
    assert (
        stat.S_IMODE(log.stat().st_mode) == 0o600
        and '"route":"anthropic/messages"' in log.read_text()
    )
    assert "token" not in re.sub(r'"token":""|tokens', "", log.read_text())
    print(
        "a command runs as without it: arguments, exit status, signals, limits; its base URLs lead through the gateway"
    )


def base_urls_that_are_set_are_where_it_sends_to(folder, upstream, client):
    before = len(upstream.requests)
    done = run(
        folder,
        [sys.executable, client],
        {
            "ANTHROPIC_BASE_URL": upstream.url + "/their/",
            "OPENAI_BASE_URL": upstream.url + "/api/v9",
            "GOOGLE_GEMINI_BASE_URL": upstream.url,
        },
    )
    assert done.returncode == 0, done
    assert [r.target for r in upstream.requests[before:]] == [
        "/their/v1/messages",
        "/api/v9/responses",
        "/v1beta/models/m:generateContent",
    ]
    print("base URLs that are set already are where it sends to")


def codex_gets_an_option(folder, upstream):
    codex = folder.path / "bin" / "codex"
    codex.parent.mkdir(exist_ok=True)
    codex.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    codex.chmod(0o755)
    done = run(
        folder,
        [*upstream_options(upstream), "codex", "exec", "hello", "--json"],
        {"PATH": f"{codex.parent}:{os.environ['PATH']}"},
    )
    words = json.loads(done.stdout)
    assert (
        words[0] == "-c"
        and re.fullmatch(r'openai_base_url="http://127\.0\.0\.1:\d+/openai/v1"', words[1])
        and words[2:] == ["exec", "hello", "--json"]
    ), words
    # It does not read this variable: what it holds is for others, and not where Codex sends to.
    codex.write_text(
        f"#!{sys.executable}\nimport json, os, re, sys, urllib.request\nurl = re.search(r'http[^\"]+', sys.argv[2])[0]\n"
        "urllib.request.urlopen(urllib.request.Request(url + '/responses', b'{}', {'content-type': 'application/json'}))\n"
        "print(os.environ['OPENAI_BASE_URL'])\n"
    )
    before = len(upstream.requests)
    done = run(
        folder,
        [*upstream_options(upstream), "codex", "exec"],
        {
            "PATH": f"{codex.parent}:{os.environ['PATH']}",
            "OPENAI_BASE_URL": "http://127.0.0.1:9/theirs",
        },
    )
    assert (done.returncode, done.stdout) == (0, "http://127.0.0.1:9/theirs\n"), done
    assert [r.target for r in upstream.requests[before:]] == ["/v1/responses"]
    print("codex gets an option, and no variable that it does not read")


def the_inspector_is_there_while_it_runs(folder, upstream):
    process = subprocess.Popen(
        [folder.program, "wrap", *upstream_options(upstream), "cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=folder.env,
    )
    lines = [process.stderr.readline(), process.stderr.readline()]
    url, token = re.search(r"(http://127\.0\.0\.1:\d+)/#token=(\S+)", lines[1]).groups()
    for given, status in (({"Authorization": f"Bearer {token}"}, 200), ({}, 401)):
        try:
            got = urllib.request.urlopen(
                urllib.request.Request(url + "/v1/conversations", headers=given)
            ).status
        except urllib.error.HTTPError as error:
            got = error.code
        assert got == status, (given, got)
    out, _ = process.communicate("to the command\n", timeout=30)
    assert (out, process.returncode) == ("to the command\n", 0)
    print("the inspector is there while the command runs, for who has the token")


def signals_reach_the_command(folder, upstream):
    script = (
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(42))\nsignal.signal(signal.SIGHUP, lambda *_: sys.exit(43))\n"
        "print('ready', flush=True)\nwhile True: signal.pause()\n"
    )
    for number, status in (
        (signal.SIGTERM, 42),
        (signal.SIGHUP, 43),
        (signal.SIGQUIT, 128 + signal.SIGQUIT),
    ):
        process = subprocess.Popen(
            [folder.program, "wrap", *upstream_options(upstream), sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=folder.env,
        )
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(30) == status, (number, process.returncode)
        process.stdout.close()
    print("signals reach the command, and its end is the end")


def a_store_that_cannot_be_opened_holds_no_command_up(folder, upstream, late_client):
    place = folder.path / "no-folder-yet"
    place.write_text("a file where the store's folder is to be\n")
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    before, upstream.answer = upstream.answer, whole(json.dumps(answer).encode())
    done = run(
        folder,
        [
            *upstream_options(upstream),
            "--store",
            f"sqlite:{place}/late.db",
            sys.executable,
            late_client,
            folder.program,
            str(place),
        ],
    )
    assert done.returncode == 7, done
    told = "nothing is recorded until the store can be opened: "
    assert told in done.stderr and f"store sqlite:{place}/late.db" in done.stderr, done.stderr
    upstream.answer = before
    # Neither does a home in which nothing can be written.
    nowhere = folder.path / "file"
    nowhere.write_text("")
    asked = len(upstream.requests)
    done = run(
        folder,
        [*upstream_options(upstream), sys.executable, str(folder.path / "client.py")],
        {"XDG_DATA_HOME": str(nowhere / "data")},
    )
    assert done.returncode == 0 and told in done.stderr, done
    assert len(upstream.requests) == asked + 3, upstream.requests[asked:]
    # What is a mistake is still reported as one.
    for store in ("nonsense:", f"sqlite:{folder.path}/missing/x.db"):
        done = run(folder, [*upstream_options(upstream), "--store", store, "true"])
        assert done.returncode in (2, 3), done
    print("a store that cannot be opened holds no command up, and records once it can be")


def the_server_says_that_its_store_is_unavailable(folder, upstream):
    place = folder.path / "a-file"
    place.write_text("")
    process = subprocess.Popen(
        [
            folder.program,
            "wrap",
            *upstream_options(upstream),
            "--store",
            f"sqlite:{place}/x.db",
            "cat",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=folder.env,
    )
    lines = [process.stderr.readline() for _ in range(3)]
    url, token = re.search(r"(http://127\.0\.0\.1:\d+)/#token=(\S+)", lines[2]).groups()
    request = urllib.request.Request(
        url + "/v1/conversations", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        got = urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        got = error.code
        assert json.load(error)["error"]["code"] == "unavailable"
    assert got == 503, got
    process.communicate(timeout=30)
    assert process.returncode == 0
    # A server alone has nothing to do without its store.
    done = subprocess.run(
        [folder.program, "serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{place}/x.db"],
        capture_output=True,
        text=True,
        env=folder.env,
        timeout=60,
    )
    assert done.returncode == 5, done
    print("the server beside such a gateway says that its store is unavailable")


def what_cannot_be_run(folder, upstream):
    assert run(folder, [*upstream_options(upstream), "no-such-command"]).returncode == 127
    assert run(folder, []).returncode == 2
    assert run(folder, ["--openai", "nonsense", "true"]).returncode == 2
    print("what cannot be run is reported as a shell does")


def main(program):
    folder = Folder(program)
    client = folder.path / "client.py"
    client.write_text(CLIENT)
    late_client = folder.path / "late_client.py"
    late_client.write_text(LATE_CLIENT)
    try:
        with Upstream() as upstream:
            upstream.answer = whole()
            a_command_runs_as_without_it(folder, upstream, str(client))
            base_urls_that_are_set_are_where_it_sends_to(folder, upstream, str(client))
            codex_gets_an_option(folder, upstream)
            the_inspector_is_there_while_it_runs(folder, upstream)
            signals_reach_the_command(folder, upstream)
            a_store_that_cannot_be_opened_holds_no_command_up(folder, upstream, str(late_client))
            the_server_says_that_its_store_is_unavailable(folder, upstream)
            what_cannot_be_run(folder, upstream)
    finally:
        folder.remove()


main(*sys.argv[1:])
