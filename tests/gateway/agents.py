#!/usr/bin/env python3
"""Real coding agents through the gateway.   agents.py UNDERTEXT WORK_FOLDER

Claude Code and Codex (scripts/peers agents) work for several turns with tools, resume, ask
sub-agents and compact, with a gateway between them and an upstream of ours. What the
agents send arrives as it was sent, byte by byte and header by header; what is recorded is what
their own session files hold, and every request can be had back. What they
send holds their makers' prompts: it stays in memory and in a temporary folder. Exits with 77, which
means skipped, where the programs are not to be had.
"""

import base64
import collections
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types

sys.path[:0] = [
    str(pathlib.Path(__file__).parent),
    str(pathlib.Path(__file__).parent.parent / "agents"),
]
import reconcile_test as agents
import tap
import upstream

HOP_BY_HOP = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host"}


class Gateway:
    def __init__(self, program, store, url, host, *options):
        upstreams = ["--anthropic", url, "--openai", url] if url else []
        self.process = subprocess.Popen(
            [
                program,
                "gateway",
                store,
                "--listen",
                "127.0.0.1:0",
                "--host",
                host,
                "--quiet",
                *upstreams,
                *options,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = self.listening()

    def listening(self):
        for line in self.process.stderr:
            if '"gateway listening"' in line:
                return json.loads(line)["address"].removeprefix("http://")
        raise AssertionError("the gateway ended")

    def stop(self):
        self.process.terminate()
        _, told = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, told
        return told


def end_to_end(fields):
    return [(name, value) for name, value in fields if name.lower() not in HOP_BY_HOP]


def requests_that_arrived(provider):
    return [
        ("POST", request.target, end_to_end(request.fields), request.raw)
        for request in provider.requests
    ]


def calls(side):
    """All that went over this side: the gateway answers nothing but upgrades itself."""
    return [
        (method, target, end_to_end(fields), body)
        for method, target, fields, body in side.requests()
        if "upgrade" not in {name.lower() for name, _ in fields}
    ]


def kinds(side):
    return collections.Counter(
        (method, target.split("?")[0]) for method, target, _, _ in calls(side)
    )


def requests_that_were_sent(client_side):
    return [
        (method, target, end_to_end(fields), body)
        for method, target, fields, body in client_side.requests()
        if method == "POST" and target.split("?")[0].endswith(upstream.ANSWERED)
    ]


def check_equal(sent, arrived):
    count = lambda requests: collections.Counter(map(repr, requests))
    lost, other = count(sent) - count(arrived), count(arrived) - count(sent)
    assert not lost and not other, (list(lost)[:1], list(other)[:1])


class Store:
    def __init__(self, program, url):
        self.program, self.url = program, url

    def conversations(self):
        listed = subprocess.run(
            [self.program, "list", "--store", self.url, "--json"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        return [json.loads(line)["conversation"] for line in listed.splitlines()]

    def ask(self, conversation, *lines):
        """What each line is answered with."""
        done = subprocess.run(
            [self.program, "exec", "--store", self.url, "--conversation", conversation],
            check=True,
            capture_output=True,
            text=True,
            input="".join(json.dumps(line) + "\n" for line in lines),
        )
        answers = [json.loads(answer) for answer in done.stdout.splitlines()]
        assert all(answer["ok"] for answer in answers), answers
        return answers


def check_recorded(store, provider):
    """Every request that arrived is in some conversation, byte by byte."""
    kept, turns = collections.Counter(), {}
    for conversation in store.conversations():
        turns[conversation] = store.ask(conversation, {"query": "requests"})[0]["result"]
        for answer in store.ask(
            conversation,
            *({"query": "request", "number": record["number"]} for record in turns[conversation]),
        ):
            kept[answer["result"]["request"].encode()] += 1
    arrived = collections.Counter(request.raw for request in provider.requests)
    missing = arrived - kept
    assert not missing, (
        f"{sum(missing.values())} of {sum(arrived.values())} requests are not recorded"
    )
    assert not kept - arrived, "something is recorded that was not sent"
    return turns


def said(store, conversation):
    """What the conversation shows now, block by block: who says what. Left out is what agents put
    in when they send: system messages, reminders, encrypted reasoning."""
    shown = []
    for row in store.ask(conversation, {"query": "blocks"})[0]["result"]:
        for block in row["blocks"]:
            text = block.get("text", "").strip()
            if (
                row["role"] != "system"
                and block["kind"] != "reasoning"
                and not text.startswith("<system-reminder>")
            ):
                shown.append(
                    (
                        row["role"],
                        block["kind"],
                        text,
                        block.get("name"),
                        block.get("arguments"),
                        block.get("callId"),
                    )
                )
    return shown


def check_session_files(program, store, files, kind, place):
    """The agent's own file of a session, imported, shows what was recorded of it."""
    assert files
    for file in files:
        imported = Store(program, f"sqlite:{place}/{file.stem}.db")
        subprocess.run(
            [program, "import", str(file), "--format", kind, "--store", imported.url, "-c", "c"],
            check=True,
            capture_output=True,
        )
        own = said(imported, "c")
        # That of a sub-agent is named after it: agent-ID, of claude_code-SESSION-agent-ID.
        named = [
            each
            for each in store.conversations()
            if file.stem.endswith(each.split("-", 1)[1]) or each.endswith("-" + file.stem)
        ]
        # A session that was forked goes on in a fork, which is named after the conversation that it
        # left.
        compared = named or [each for each in store.conversations() if "-fork-" in each]
        assert compared, f"{file.name}: nothing was recorded of it"
        for conversation in compared:
            recorded = said(store, conversation)
            assert own == recorded, [
                pair for pair in itertools.zip_longest(own, recorded) if pair[0] != pair[1]
            ][:3]


def printed(agent):
    """What it printed, without what differs from run to run: ids, times, how long something
    took."""
    text = "\n".join(agent.printed)
    text = re.sub(
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|_[0-9a-f]{20}", "ID", text
    )
    text = re.sub(r'"(\w*(?:duration|ttft|time_to|Ms|_ms)\w*)":[\d.]+', r'"\1":0', text)
    return re.sub(
        r"Wall time: [\d.]+|Chunk ID: \w+|\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text
    ).splitlines()


def directly(work, binary, folder):
    """What it prints, and what it asks for how often, without a gateway."""
    with upstream.Upstream() as provider, tap.Tap() as client_side:
        folder.mkdir()
        client_side.to(provider.url.removeprefix("http://"))
        return printed(work(binary, client_side, folder)), kinds(client_side)


def through_the_gateway(program, name, work, binary, conversations_min, check_sessions):
    """`check_sessions(store, folder, place)` compares what was recorded with what the agent in
    `folder` keeps itself."""
    with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "work"
        plain, asked = directly(work, binary, folder)
        shutil.rmtree(folder)
        folder.mkdir()
        store = f"sqlite:{place}/gateway.db"
        with tap.Tap() as client_side, tap.Tap() as provider_side:
            provider_side.to(provider.url.removeprefix("http://"))
            gemini = ("--gemini", provider_side.url)
            gateway = Gateway(program, store, provider_side.url, client_side.address, *gemini)
            client_side.to(gateway.address)
            shown = printed(work(binary, client_side, folder))
            told = gateway.stop()
            check_equal(requests_that_were_sent(client_side), requests_that_arrived(provider))
            check_equal(calls(client_side), calls(provider_side))
            assert kinds(client_side) == asked, (kinds(client_side), asked)
        assert shown == plain, [
            pair for pair in itertools.zip_longest(plain, shown) if pair[0] != pair[1]
        ][:3]
        turns = check_recorded(Store(program, store), provider)
        check_sessions(Store(program, store), folder, place)
        assert len(turns) >= conversations_min, turns.keys()
        assert any(
            record["kind"] == "compaction" for records in turns.values() for record in records
        ), "nothing was compacted"
        linked = {
            conversation: records[0].get("belongsTo")
            for conversation, records in turns.items()
            if "-fork-" not in conversation
        }
        main = next(conversation for conversation, to in linked.items() if to is None)
        assert all(to == main for conversation, to in linked.items() if conversation != main), (
            linked
        )
        assert "not recorded" not in told, told
        others = sum(count for (method, _), count in asked.items() if method != "POST")
        print(
            f"{name}: {len(provider.requests)} requests and {others} others, equal and recorded in {len(turns)} conversations"
        )


def claude_code_and_a_fork(binary, provider, folder):
    agent = agents.claude_code(binary, provider, folder)
    agent.say("another way", "--fork-session")
    return agent


def token(claims):
    """Of the form of a login's, signed by nobody."""
    return (
        ".".join(
            base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
            for part in ({"alg": "none"}, claims)
        )
        + ".c2ln"
    )


def log_in(folder, provider):
    home = folder / ".codex"
    home.mkdir()
    account = {
        "chatgpt_account_id": "account",
        "chatgpt_plan_type": "plus",
        "chatgpt_user_id": "user",
    }
    claims = token(
        {
            "email": "a@example.com",
            "exp": int(time.time()) + 86400,
            "https://api.openai.com/auth": account,
        }
    )
    tokens = {
        "id_token": claims,
        "access_token": claims,
        "refresh_token": "r",
        "account_id": "account",
    }
    login = {
        "auth_mode": "chatgpt",
        "OPENAI_API_KEY": None,
        "tokens": tokens,
        "last_refresh": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    (home / "auth.json").write_text(json.dumps(login))
    (home / "config.toml").write_text(
        f'model = "gpt-5"\nchatgpt_base_url = "{provider.url}/backend-api/"\n'
    )
    return {**agents.running.plain_environment(folder), "CODEX_HOME": str(home)}, claims


def codex_with_a_login(program, binary):
    """A login has another host than an API key, and Codex compresses what it sends there."""
    with (
        upstream.Upstream() as provider,
        tempfile.TemporaryDirectory() as place,
        tap.Tap() as client_side,
    ):
        folder = pathlib.Path(place)
        environment, secret = log_in(folder, provider)
        upstreams = folder / "upstreams.json"
        upstreams.write_text(
            json.dumps(
                {
                    "openai": {"url": provider.url},
                    "chatgpt": {"url": provider.url + "/backend-api/codex"},
                }
            )
        )
        store = Store(program, f"sqlite:{place}/gateway.db")
        gateway = Gateway(
            program, store.url, None, client_side.address, "--upstreams", str(upstreams)
        )
        client_side.to(gateway.address)
        option = ["-c", f'openai_base_url="{client_side.url}/openai/v1"']
        made = agents.running.run(
            [binary, *option, "exec", "--skip-git-repo-check", "--json", "Please use a tool."],
            folder,
            environment,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        gateway.stop()
        sent, arrived = requests_that_were_sent(client_side), requests_that_arrived(provider)
        assert {target for _, target, _, _ in arrived} == {"/backend-api/codex/responses"}, arrived
        check_equal(
            [(fields, body) for _, _, fields, body in sent],
            [(fields, body) for _, _, fields, body in arrived],
        )
        (conversation,) = store.conversations()
        records = store.ask(conversation, {"query": "requests"})[0]["result"]
        kept = [
            store.ask(conversation, {"query": "request", "number": record["number"]})[0]["result"][
                "request"
            ]
            for record in records
        ]
        assert [json.loads(text) for text in kept] == [
            request.body for request in provider.requests
        ] and len(kept) >= 2
        assert {"zstd"} == {dict(fields).get("content-encoding") for _, _, fields, _ in arrived}, (
            "it was not compressed"
        )
        files = b"".join(each.read_bytes() for each in folder.glob("gateway.db*"))
        assert secret.encode() not in files and secret not in str(kept)
        print(f"Codex with a login: {len(kept)} requests, compressed, equal and recorded")


def wrapped(program, name, binary, words, settings, environment):
    """Under `undertext wrap` the client prints what it prints without it, what it sends is
    recorded, and its configuration stays as it was."""
    said, files = [], []
    for wraps in (False, True):
        with upstream.Upstream() as provider, tempfile.TemporaryDirectory() as place:
            home = pathlib.Path(place) / "home"
            (home / "bin").mkdir(parents=True)
            (home / "notes.txt").write_text("one\ntwo\n")
            upstream.FILE["path"] = str(home / "notes.txt")
            (home / "bin" / name).symlink_to(pathlib.Path(binary).resolve())
            for path, text in settings.items():
                (home / path).parent.mkdir(exist_ok=True)
                (home / path).write_text(text)
            given = {key: value.format(url=provider.url) for key, value in environment.items()}
            given = {
                **agents.running.plain_environment(home),
                **given,
                "PATH": f"{home}/bin:/usr/bin:/bin",
                "XDG_DATA_HOME": f"{place}/data",
            }
            if wraps:
                command = [
                    program,
                    "wrap",
                    "--anthropic",
                    provider.url,
                    "--openai",
                    provider.url,
                    name,
                    *words,
                ]
                given.pop("ANTHROPIC_BASE_URL", None)
            else:
                command = [
                    name,
                    *(["-c", f'openai_base_url="{provider.url}/v1"'] if name == "codex" else []),
                    *words,
                ]
            made = subprocess.run(
                command,
                cwd=home,
                env=given,
                capture_output=True,
                text=True,
                timeout=120,
                stdin=subprocess.DEVNULL,
            )
            assert made.returncode == 0, made.stdout + made.stderr
            said.append(
                printed(types.SimpleNamespace(printed=[made.stdout.replace(place, "PLACE")]))
            )
            for path, text in settings.items():
                assert (home / path).read_text() == text, f"{path} was written to"
            names = [
                str(each.relative_to(home)).replace(
                    pathlib.Path(place).name.replace("_", "-"), "PLACE"
                )
                for each in home.rglob("*")
            ]
            passing = ("-wal", "-shm")  # of SQLite, as long as the file is open
            files.append(
                {
                    re.sub(r"[0-9a-f-]{8,}|\d+", "N", each)
                    for each in names
                    if not each.endswith(passing)
                }
            )
            written = [
                each
                for each in home.rglob("*")
                if each.is_file() and not each.is_symlink() and b"undertext" in each.read_bytes()
            ]
            assert not written, written
            if wraps:
                turns = check_recorded(
                    Store(program, f"sqlite:{place}/data/undertext/undertext.db"), provider
                )
                assert turns and len(provider.requests) >= 2, turns
    assert said[0] == said[1], [
        pair for pair in itertools.zip_longest(*said) if pair[0] != pair[1]
    ][:3]
    assert files[0] == files[1], files[0] ^ files[1]
    print(
        f"undertext wrap {name}: prints the same, is recorded, and the configuration is as it was"
    )


def main(program, folder):
    claude = agents.program_in(folder, "node_modules/@anthropic-ai/claude-code-*/claude")
    openai = agents.program_in(folder, "node_modules/@openai/codex-*/vendor/*/bin/codex")
    if not claude or not openai:
        agents.skip("scripts/peers agents could not get them")
    codex_files = lambda home: list(home.glob(".codex/sessions/**/*.jsonl"))

    def claude_files(home):
        of_sub_agents = list(home.glob(".claude/projects/*/*/subagents/*.jsonl"))
        assert of_sub_agents, "no sub-agent worked"
        return [*home.glob(".claude/projects/*/*.jsonl"), *of_sub_agents]

    quiet = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "true",
        "ANTHROPIC_API_KEY": "none",
    }
    wrapped(
        program,
        "claude",
        claude,
        ["-p", "Please use a tool.", "--output-format", "json"],
        {".claude/settings.json": '{"cleanupPeriodDays": 30}\n'},
        {**quiet, "ANTHROPIC_BASE_URL": "{url}"},
    )
    wrapped(
        program,
        "codex",
        openai,
        ["exec", "--skip-git-repo-check", "--json", "Please use a tool."],
        {".codex/config.toml": 'model = "gpt-5"\n'},
        {"CODEX_API_KEY": "none"},
    )

    def of_claude(store, home, place):
        check_session_files(program, store, claude_files(home), "claude-code", place)

    def of_codex(store, home, place):
        check_session_files(program, store, codex_files(home), "codex", place)

    through_the_gateway(program, "Claude Code", claude_code_and_a_fork, claude, 3, of_claude)
    through_the_gateway(program, "Codex", agents.codex, openai, 2, of_codex)
    compacting_itself = lambda *words: agents.codex(*words, name="Another")
    codex_with_a_login(program, openai)
    through_the_gateway(
        program, "Codex that compacts by itself", compacting_itself, openai, 2, of_codex
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
