#!/usr/bin/env python3
"""What policies of the gateway cost, beside none at all: seeded sessions of an agent against a provider that bills as Anthropic does.

    [SEED=n] simulate.py PLAY RANKS [--sessions N] [--turns LEAST MOST] [--policies NAME… | --headroom] [--json FILE] [--other URL PORT]

PLAY is the program built from play.cpp: it decides with the gateway's own functions what is sent. RANKS is the folder of the .tiktoken files.
The provider shares nothing with the engine: it counts with tiktoken, and keeps a prompt cache by Anthropic's published rules. A marked block
writes an entry, the hash of everything up to it, for five minutes or an hour after its last use; a marked block reads the longest entry among
the 20 blocks up to it; prefixes below the model's minimum are not kept; writes cost 1.25 or 2 times an input token, reads 0.1 times.

The client is an agent that keeps its own list, marks its system prompt and its newest block, and compacts by itself, with a request to the
model, when a request had more than four fifths of the window. Its turns, texts and times follow from the seed alone.

Checked for every policy: no request is over the window; where a request does not go on with the one before, the policy has edited it or the client
has compacted; each call has its result behind it. Checked of the totals: none costs more than `observe`, and `compact` when cold costs less.

--headroom plays one policy with room for 0, 20 and 40 more turns instead. Checked of the totals: with more room there are fewer compactions, and it costs less.

--other URL PORT also plays the sessions through a proxy at URL whose upstream is this program, at PORT. Needs the Python module tiktoken.
"""

import argparse
import base64
import http.client
import http.server
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import threading
import urllib.parse

MODELS = {  # dollars for a million tokens, window, the least that is cached: the table of models and its sources
    "claude-sonnet-4-5": {"input": 3.0, "output": 15.0, "window": 200_000, "min": 1024},
    "claude-opus-4-5": {"input": 5.0, "output": 25.0, "window": 200_000, "min": 4096},
}
WRITE, WRITE_HOUR, READ, LOOKBACK = 1.25, 2.0, 0.1, 20
FIVE_MINUTES, HOUR = 300_000, 3_600_000
COMPACTS_AT = 0.8  # of the window: as coding agents do

POLICIES = {
    "observe": "observe",
    "fit": "fit",
    "tidy": {"mode": "tidy"},
    "tidy, cold": {"mode": "tidy", "when": "cold"},
    "compact": {"mode": "compact"},
    "compact, cold": {"mode": "compact", "when": "cold"},
    # Edits that come down less far than the client's own compactions.
    "compact to 37 %": {"mode": "compact", "targetPercent": 37},
    "compact to 30 %": {"mode": "compact", "targetPercent": 30},
    "tidy to 37 %": {"mode": "tidy", "targetPercent": 37},
}

# Room for more turns, where a policy comes down to hardly less than its threshold. Each is held against the one before.
HEADROOM = {
    f"cold, {turns} turns": {
        "mode": "compact",
        "when": "cold",
        "targetPercent": 23,
        "headroomTurns": turns,
    }
    for turns in (0, 20, 40)
}
POLICIES_ALL = POLICIES | HEADROOM


def load_encoding(folder):
    """tiktoken's o200k_base with the ranks from a file that is here."""
    import tiktoken
    from tiktoken_ext import openai_public

    ranks = {}
    for line in (pathlib.Path(folder) / "o200k_base.tiktoken").read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks
    return tiktoken.Encoding(**openai_public.o200k_base())


class Texts:
    """Texts to cut tool outputs from: files of a repository that there is not, written from a fixed seed, so that a session is the same at every commit."""

    ROOMS = "base cache client cursor gateway history index ledger message policy query reader sequence server store token tree version window writer".split()
    PARTS = "batch block budget count digest edit error event field fork head key limit list mark model name node order page place plan range record request result row seal size slot state text turn unit value view word".split()
    VERBS = "add append apply begin check close copy drop find follow keep load make merge open parse read render send show sort split take write".split()
    JOINS = "a the each every no one its this that of in with without before behind is are has have was and or so while where until".split()
    FORMS = (
        "{i}const {T} {a} = {b}.{v}_{c}({d}, {n});",
        "{i}if ({a}.{v}({b}) > {n}) return {c};",
        "{i}for (const {T}& {a} : {b}.{c}s()) {v}({a});",
        "{i}// {S}.",
        "{i}{a}_.{v}_{b}(std::move({c}), {{.{d} = {n}}});",
        '{i}EXPECT_EQ({a}.{b}().{v}(), {n}u) << "{s}";',
        '{i}return Error{{ErrorCode::not_found, "{s}", "{a}"}};',
        "{S}, and {s}.",
        "- `{a}_{b}`: {s} ({n}).",
        "{i}}}",
        "",
    )

    def __init__(self):
        self.files = [
            (path, self.file(random.Random(f"text of {path}")))
            for room in self.ROOMS
            for part in self.PARTS[: 4 + len(room)]
            for path in (f"src/{room}/{part}.cpp",)
        ]

    def file(self, chance):
        lines, size, end = [], 0, int(chance.lognormvariate(math.log(9000), 0.8)) + 500
        while size < end:
            names = {key: chance.choice(self.PARTS) for key in "abcd"}
            words = [
                chance.choice(self.JOINS if k % 2 else self.PARTS + self.VERBS)
                for k in range(chance.randrange(3, 14))
            ]
            said = " ".join(words)
            lines.append(
                chance.choice(self.FORMS).format(
                    **names,
                    i="  " * chance.randrange(4),
                    n=chance.randrange(1, 2000),
                    s=said,
                    S=said.capitalize(),
                    T=chance.choice(self.PARTS).capitalize()
                    + chance.choice(self.PARTS).capitalize(),
                    v=chance.choice(self.VERBS),
                )
            )
            size += len(lines[-1]) + 1
        return "\n".join(lines)


class Session:
    """What an agent and its user do, from a seed: a list of requests, each with what it adds."""

    def __init__(self, seed, texts, least, most):
        chance = self.chance = random.Random(seed)
        self.seed, self.texts = seed, texts
        self.turns = round(math.exp(chance.uniform(math.log(least), math.log(most))))
        self.model = chance.choice(sorted(MODELS))
        self.lifetime = HOUR if chance.random() < 0.3 else FIVE_MINUTES
        self.system = "You are a coding agent.\n" + self.cut(12_000)
        self.tools = [
            {
                "name": name,
                "description": self.cut(chance.randrange(400, 2500)),
                "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
            }
            for name in ("Bash", "Edit", "Glob", "Grep", "Read", "Write")
        ]
        self.now = 1_790_000_000_000 + seed * 86_400_000
        self.calls = 0
        self.left = 0  # tool turns until the user speaks again
        self.recent = []

    def cut(self, size):
        name, text = self.chance.choice(self.texts.files)
        while len(text) < size:
            text += self.chance.choice(self.texts.files)[1]
        start = self.chance.randrange(0, len(text) - size + 1)
        return text[start : start + size]

    def output(self, path):
        """The result of a tool. Sizes as seen in recorded sessions: half below 1.5 kB, a tenth above 9 kB, at most 30,000 characters."""
        size = min(30_000, max(20, int(self.chance.lognormvariate(math.log(1500), 1.4))))
        return f"{path}\n" + self.cut(size)

    def request(self):
        return "Please " + " ".join(
            self.chance.choice(["fix", "look at", "change", "test", "explain"])
            + " "
            + self.chance.choice(self.texts.files)[0]
            for _ in range(self.chance.randrange(1, 4))
        )

    def user(self):
        self.left = self.chance.randrange(3, 40)
        return {"role": "user", "content": [{"type": "text", "text": self.request()}]}

    def step(self, first):
        """The messages that the next request adds, behind the answer to the last one; and moves the clock."""
        chance = self.chance
        if first:
            return [self.user()]
        if self.left > 0:
            self.left -= 1
            self.calls += 1
            # Files are read again: half of the calls are about one that was looked at before.
            if self.recent and chance.random() < 0.5:
                path = chance.choice(self.recent[-12:])
            else:
                path = chance.choice(self.texts.files)[0]
            self.recent.append(path)
            call = f"toolu_{self.seed}_{self.calls}"
            tool = chance.choice(["Read", "Read", "Bash", "Grep", "Edit"])
            given = (
                {"command": f"grep -n x {path}"}
                if tool in ("Bash", "Grep")
                else {"file_path": path}
            )
            said = (
                [{"type": "text", "text": self.cut(chance.randrange(40, 400))}]
                if chance.random() < 0.5
                else []
            )
            answer = {
                "role": "assistant",
                "content": said + [{"type": "tool_use", "id": call, "name": tool, "input": given}],
            }
            result = {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": call, "content": self.output(path)}
                ],
            }
            self.now += int(2000 + chance.expovariate(1 / 12_000))  # the model and the tool
            return [answer, result]
        answer = {
            "role": "assistant",
            "content": [{"type": "text", "text": self.cut(chance.randrange(300, 2500))}],
        }
        # The user reads, thinks, is away: a third is longer than five minutes, a tenth longer than an hour.
        self.now += int(min(5000 + chance.lognormvariate(math.log(120_000), 2.0), 50 * HOUR))
        return [answer, self.user()]

    def summary(self):
        return "This session is being continued from a previous conversation.\n" + self.cut(8000)


class Provider:
    """Counts and bills. One for each session."""

    def __init__(self, model, count):
        self.rules, self.count = MODELS[model], count
        self.entries = {}  # hash of a prefix -> (until, lifetime)
        self.blocks, self.hashes, self.sums = [], [0], [0]
        self.dollars = 0.0
        self.requests = self.read = self.written = self.sent = self.output = self.peak = (
            self.over
        ) = 0

    def send(self, now, keep, more, marked, lifetime, output):
        """The first `keep` blocks of the request before, then `more`: texts. `marked`: ends of marked prefixes. Returns the prompt's tokens."""
        del self.blocks[keep:], self.hashes[keep + 1 :], self.sums[keep + 1 :]
        for block in more:
            self.blocks.append(block)
            self.hashes.append(hash((self.hashes[-1], block)))
            self.sums.append(self.sums[-1] + self.count(block))
        tokens, read = self.sums[-1], 0
        for marker in marked:
            for end in range(marker, max(marker - LOOKBACK, 0), -1):
                entry = self.entries.get(self.hashes[end])
                if entry and now <= entry[0]:
                    self.entries[self.hashes[end]] = (now + entry[1], entry[1])
                    read = max(read, end)
                    break
        last = max(marked, default=0)
        written = 0
        if self.sums[last] >= self.rules["min"]:
            written = self.sums[last] - self.sums[min(read, last)]
            for marker in marked:
                if self.sums[marker] >= self.rules["min"]:
                    self.entries[self.hashes[marker]] = (now + lifetime, lifetime)
        read_tokens = self.sums[read]
        plain = tokens - read_tokens - written
        price = self.rules["input"] / 1e6
        self.dollars += price * (
            plain + READ * read_tokens + (WRITE_HOUR if lifetime == HOUR else WRITE) * written
        )
        self.dollars += self.rules["output"] / 1e6 * output
        self.requests += 1
        self.read += read_tokens
        self.written += written
        self.sent += tokens
        self.output += output
        self.peak = max(self.peak, tokens)
        self.over += tokens > self.rules["window"]
        return tokens


def blocks_of(message):
    """The blocks of a message as texts; two are the same where role and content are."""
    content = message.get("content") or ""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [
        message["role"]
        + json.dumps({k: v for k, v in block.items() if k != "cache_control"}, sort_keys=True)
        for block in content
    ]


class Player:
    """The gateway: what is sent for what the client asks to be sent."""

    def __init__(self, program, policy):
        text = policy if isinstance(policy, str) else json.dumps(policy)
        self.process = subprocess.Popen(
            [program, text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def turn(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "play ended"
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0
        self.process.stdout.close()


class Direct:
    """No gateway: what the client asks for is sent."""

    def __init__(self):
        self.count = 0

    def turn(self, append, over=False, **_):
        keep = 0 if over else self.count
        self.count = keep + len(append)
        return {"keep": keep, "put": append, "edited": False}

    def close(self):
        pass


def check_pairs(messages):
    """Every result has its call in the message before it, and every call its result in the next one."""
    open_calls = set()
    for message in messages:
        content = message.get("content") or []
        blocks = content if isinstance(content, list) else []
        results = {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"}
        assert results == open_calls, (results, open_calls)
        open_calls = {b["id"] for b in blocks if b["type"] == "tool_use"}
    assert not open_calls, open_calls


def play(session, player, count):
    """Plays a whole session; returns its provider, and what happened."""
    provider = Provider(session.model, count)
    head = [json.dumps(tool) for tool in session.tools] + ["system" + session.system]
    overhead = sum(count(block) for block in head)
    edits = breaks = compactions = 0
    ends = []  # of the messages sent last: how many blocks they and all before them have
    sent = []
    prompt, is_over = 0, False
    window = MODELS[session.model]["window"]
    for turn in range(session.turns):
        added = session.step(turn == 0)
        output = sum(
            count(block)
            for message in added
            if message["role"] == "assistant"
            for block in blocks_of(message)
        )
        if prompt > COMPACTS_AT * window:
            # The client asks for a summary: the same list with one more text; then it goes on with that.
            asked = "userPlease summarise this conversation."
            provider.send(
                session.now,
                len(provider.blocks),
                [asked],
                [len(head), len(provider.blocks) + 1],
                session.lifetime,
                2000,
            )
            compactions += 1
            is_over = True
            # What is new is behind the summary.
            added = [
                {"role": "user", "content": [{"type": "text", "text": session.summary()}]}
            ] + added
        answer = player.turn(
            at=session.now,
            append=added,
            over=is_over,
            window=window,
            lifetime=session.lifetime,
            overhead=overhead,
            prompt=prompt,
        )
        edits += answer["edited"]
        keep = answer["keep"]
        if keep < len(sent) and not answer["edited"] and not is_over:
            breaks += 1
        del sent[keep:], ends[keep:]
        more = []
        for message in answer["put"]:
            blocks = blocks_of(message)
            more += blocks
            sent.append(message)
            ends.append((ends[-1] if ends else 0) + len(blocks))
        if turn % 16 == 0 or answer["edited"]:
            check_pairs(sent)
        kept = len(head) + (ends[keep - 1] if keep else 0)
        if provider.requests == 0:
            kept, more = 0, head + more
        prompt = provider.send(
            session.now, kept, more, [len(head), len(head) + ends[-1]], session.lifetime, output
        )
        is_over = False
    player.close()
    return provider, {"edits": edits, "breaks": breaks, "clientCompactions": compactions}


class Other:
    """A proxy of somebody else's, over HTTP: the client's requests go through it, and what arrives here is what was sent."""

    def __init__(self, url, port):
        self.url, self.received = urllib.parse.urlparse(url), None
        other = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                other.received = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(
                    {
                        "id": "msg_1",
                        "type": "message",
                        "role": "assistant",
                        "model": other.received["model"],
                        "content": [{"type": "text", "text": "ok"}],
                        "stop_reason": "end_turn",
                        "stop_sequence": None,
                        "usage": {"input_tokens": 1, "output_tokens": 1},
                    }
                ).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def post(self, body):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=120)
        connection.request(
            "POST",
            "/v1/messages",
            json.dumps(body),
            {
                "Content-Type": "application/json",
                "x-api-key": "k",
                "anthropic-version": "2023-06-01",
            },
        )
        response = connection.getresponse()
        text = response.read()
        connection.close()
        assert response.status == 200, (response.status, text[:500])
        return self.received

    def play(self, session, count):
        """As play(), with whole requests. Cache markers are the ones that arrive."""
        provider = Provider(session.model, count)
        messages, prompt, breaks, before = [], 0, 0, []
        window = MODELS[session.model]["window"]
        mark = {
            "cache_control": {"type": "ephemeral"}
            | ({"ttl": "1h"} if session.lifetime == HOUR else {})
        }
        for turn in range(session.turns):
            added = session.step(turn == 0)
            output = sum(
                count(block)
                for message in added
                if message["role"] == "assistant"
                for block in blocks_of(message)
            )
            if prompt > COMPACTS_AT * window:
                provider.send(
                    session.now,
                    len(provider.blocks),
                    ["userPlease summarise this conversation."],
                    [len(provider.blocks) + 1],
                    session.lifetime,
                    2000,
                )
                messages = [
                    {"role": "user", "content": [{"type": "text", "text": session.summary()}]}
                ]
                before = []
            messages += added
            marked = messages[:-1] + [
                dict(
                    messages[-1],
                    content=messages[-1]["content"][:-1] + [messages[-1]["content"][-1] | mark],
                )
            ]
            got = self.post(
                {
                    "model": session.model,
                    "max_tokens": 4096,
                    "tools": session.tools,
                    "messages": marked,
                    "system": [{"type": "text", "text": session.system} | mark],
                }
            )
            system = (
                got["system"]
                if isinstance(got["system"], list)
                else [{"type": "text", "text": got["system"]}]
            )
            blocks, ends = [json.dumps(tool) for tool in got.get("tools", [])], []
            for role, block in [("system", b) for b in system] + [
                (m["role"], b)
                for m in got["messages"]
                for b in (
                    m["content"]
                    if isinstance(m["content"], list)
                    else [{"type": "text", "text": m["content"]}]
                )
            ]:
                blocks.append(
                    role
                    + json.dumps(
                        {k: v for k, v in block.items() if k != "cache_control"}, sort_keys=True
                    )
                )
                if block.get("cache_control"):
                    ends.append(len(blocks))
            keep = 0
            while (
                keep < min(len(blocks), len(provider.blocks))
                and blocks[keep] == provider.blocks[keep]
            ):
                keep += 1
            breaks += bool(before) and keep < len(before)
            prompt = provider.send(session.now, keep, blocks[keep:], ends, session.lifetime, output)
            before = blocks
        return provider, {"edits": 0, "breaks": breaks, "clientCompactions": 0}

    def close(self):
        self.server.shutdown()


def line_of(name, row):
    return (
        f"{name:<16}{row['dollars']:>12.2f}{row['sent']:>16,}{row['read']:>16,}{row['written']:>14,}{row['peak']:>10,}"
        f"{row['edits']:>8}{row['clientCompactions']:>8}{row['breaks']:>8}{row['worst']:>10.3f}"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("play")
    parser.add_argument("ranks")
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--turns", type=int, nargs=2, default=[20, 2000])
    parser.add_argument("--policies", nargs="*", default=list(POLICIES))
    parser.add_argument("--headroom", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--other", nargs=2, metavar=("URL", "PORT"))
    given = parser.parse_args()
    if given.headroom:
        given.policies = list(HEADROOM)
    seed = int(os.environ.get("SEED", "1"))
    try:
        encoding = load_encoding(given.ranks)
    except (ImportError, FileNotFoundError) as error:
        print(f"skipped: tiktoken: {error}")
        sys.exit(77)
    known = {}

    def count(block):
        tokens = known.get(block)
        if tokens is None:
            tokens = known[block] = len(encoding.encode_ordinary(block)) + 4
        return tokens

    texts, table, sessions = Texts(), {}, []
    other = Other(given.other[0], int(given.other[1])) if given.other else None
    names = (
        ["observe"]
        + [name for name in given.policies if name != "observe"]
        + (["other"] if other else [])
    )
    for number in range(seed, seed + given.sessions):
        known.clear()
        costs = {}
        for name in names:
            session = Session(number, texts, *given.turns)
            if name == "other":
                provider, happened = other.play(session, count)
            else:
                player = Direct() if name == "observe" else Player(given.play, POLICIES_ALL[name])
                provider, happened = play(session, player, count)
            assert provider.over == 0, (name, number, "a request is over the window")
            row = table.setdefault(
                name,
                {
                    "dollars": 0.0,
                    "sent": 0,
                    "read": 0,
                    "written": 0,
                    "peak": 0,
                    "edits": 0,
                    "clientCompactions": 0,
                    "breaks": 0,
                    "turns": 0,
                    "worst": 0.0,
                    "worstSeed": number,
                },
            )
            costs[name] = provider.dollars
            ratio = provider.dollars / costs["observe"]
            row["dollars"] += provider.dollars
            row["sent"] += provider.sent
            row["read"] += provider.read
            row["written"] += provider.written
            row["peak"] = max(row["peak"], provider.peak)
            row["turns"] += session.turns
            for key in ("edits", "breaks", "clientCompactions"):
                row[key] += happened[key]
            if ratio > row["worst"]:
                row["worst"], row["worstSeed"] = ratio, number
        sessions.append(
            {
                "seed": number,
                "turns": session.turns,
                "model": session.model,
                "hour": session.lifetime == HOUR,
                "dollars": {name: round(cost, 6) for name, cost in costs.items()},
            }
        )
    print(f"seeds {seed} to {seed + given.sessions - 1}: {table['observe']['turns']} turns")
    print(
        f"{'policy':<16}{'dollars':>12}{'sent':>16}{'read':>16}{'written':>14}{'peak':>10}{'edits':>8}{'client':>8}{'breaks':>8}{'worst':>10}"
    )
    for name, row in table.items():
        print(line_of(name, row))
    print(
        "client: compactions by the client; breaks: prefixes broken outside recorded edits; worst: the single session that cost most beside observe"
    )
    if given.json:
        pathlib.Path(given.json).write_text(
            json.dumps({"seed": seed, "policies": table, "sessions": sessions}, indent=1) + "\n"
        )
    faults = [
        f"{name} costs more than observe"
        for name, row in table.items()
        if name != "other" and row["dollars"] > table["observe"]["dollars"] * (1 + 1e-9)
    ]
    faults += [
        f"{name}: {row['breaks']} prefixes broken outside recorded edits"
        for name, row in table.items()
        if name != "other" and row["breaks"]
    ]
    if (
        "compact, cold" in table
        and table["compact, cold"]["dollars"] >= table["observe"]["dollars"]
    ):
        faults.append("compact, cold does not cost less than observe")
    for less, more in zip(list(HEADROOM), list(HEADROOM)[1:]) if given.headroom else ():
        compactions = [
            table[name]["edits"] + table[name]["clientCompactions"] for name in (less, more)
        ]
        if compactions[1] > compactions[0]:
            faults.append(f"{more}: {compactions[1]} compactions, {compactions[0]} with less room")
        if table[more]["dollars"] > table[less]["dollars"] * (1 + 1e-9):
            faults.append(f"{more} costs more than {less}")
    if other:
        if (
            "compact, cold" in table
            and table["compact, cold"]["dollars"] >= table["other"]["dollars"]
        ):
            faults.append("compact, cold does not cost less than the other proxy")
        other.close()
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
