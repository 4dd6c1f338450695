#!/usr/bin/env python3
"""Hostile input through `undertext exec`: never a crash or a partial change, always one JSON line with the right code and field.

    bad_input.py BINARY

After every line that must be refused, the answers to `stats`, `version` and `messages` must be the same bytes as before it. The
last line printed is 'N passed, M failed'; the exit status is 0 when none failed.
"""

import json
import random
import resource
import subprocess
import sys

MESSAGE = {"role": "user", "content": "hello"}
START = [
    {
        "operation": "APPEND",
        "messages": [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "one"},
            {"role": "user", "content": "two"},
            {"role": "assistant", "content": "three", "toolCalls": [{"id": "c"}]},
            {"role": "tool", "content": "four", "toolCallId": "c"},
        ],
    },
    {"operation": "COMPRESS", "indices": [0], "summary": {"role": "system", "content": "summary"}},
    {"operation": "START_BATCH"},
]
LOOKS = [b'{"query":"stats"}', b'{"query":"version"}', b'{"query":"messages"}']
MEGABYTE = 1_000_000

# Every operation and query in every spelling, and of which kind its fields are.
COMMON = {"expectedVersion": "expected", "description": "string", "operationId": "string"}
REQUESTS = [
    ({"operation": "APPEND", "messages": [MESSAGE]}, {"messages": "messages"}),
    (
        {"operation": "INSERT", "position": 0, "messages": [MESSAGE]},
        {"position": "place", "messages": "messages"},
    ),
    (
        {"operation": "REPLACE", "index": 0, "message": MESSAGE},
        {"index": "place", "message": "message"},
    ),
    (
        {
            "operation": "TRUNCATE",
            "keepFirst": 9,
            "keepLast": 9,
            "removeFirst": 0,
            "removeLast": 0,
            "role": "user",
            "pairs": "grow",
        },
        {
            "keepFirst": "count",
            "keepLast": "count",
            "removeFirst": "count",
            "removeLast": "count",
            "role": "role",
            "pairs": "word",
        },
    ),
    ({"operation": "TRUNCATE", "range": {"start": 0, "end": 1}}, {"range": "block"}),
    ({"operation": "CLEAR", "keepSystemMessage": True}, {"keepSystemMessage": "boolean"}),
    (
        {
            "operation": "FILTER",
            "roles": ["user"],
            "contentContains": ["a"],
            "contentExcludes": ["b"],
        },
        {"roles": "filter", "contentContains": "filter", "contentExcludes": "filter"},
    ),
    ({"operation": "DELETE", "indices": [0]}, {"indices": "names"}),
    (
        {"operation": "DELETE", "ordinals": [1], "pairs": "shrink"},
        {"ordinals": "names", "pairs": "word"},
    ),
    (
        {"operation": "COMPRESS", "indices": [0], "summary": MESSAGE},
        {"indices": "names", "summary": "message"},
    ),
    ({"operation": "EXPAND", "index": 0}, {"index": "place"}),
    ({"operation": "SHOW", "ordinals": [0]}, {"ordinals": "names"}),
    (
        {
            "operation": "RECONCILE",
            "client": "generic",
            "dialect": "openai_chat",
            "messages": [MESSAGE],
        },
        {"client": "word", "dialect": "word"},
    ),
    (
        {"operation": "MERGE", "indices": [1, 2], "separator": ""},
        {"indices": "names", "separator": "string"},
    ),
    ({"operation": "SPLIT", "index": 0, "at": [1]}, {"index": "place", "at": "names"}),
    (
        {"operation": "TRANSFORM", "indices": [0], "replaceText": {"find": "a", "with": "b"}},
        {"indices": "names", "replaceText": "block"},
    ),
    (
        {"operation": "TRANSFORM", "ordinals": [1], "truncateText": {"maxChars": 9}},
        {"ordinals": "names", "truncateText": "block"},
    ),
    (
        {"operation": "TRANSFORM", "roles": ["user"], "setMetadata": {"a": 1}},
        {"roles": "roles", "setMetadata": "object"},
    ),
    (
        {"operation": "START_BATCH", "boundary": 6, "hidePrior": False},
        {"boundary": "place", "hidePrior": "boolean"},
    ),
    (
        {"operation": "END_BATCH", "targetBatch": 0, "carry": ["user"]},
        {"targetBatch": "place", "carry": "roles"},
    ),
    ({"operation": "ROLLBACK", "targetBatchIndex": 0}, {"targetBatchIndex": "place"}),
    ({"operation": "MARK", "indices": [0], "mark": "m"}, {"indices": "names", "mark": "string"}),
    (
        {"operation": "UNMARK", "ordinals": [0], "mark": "m"},
        {"ordinals": "names", "mark": "string"},
    ),
    ({"operation": "UNDO"}, {}),
    ({"operation": "REDO"}, {}),
    ({"operation": "RESTORE", "version": 0}, {"version": "version"}),
    ({"operation": "truncate", "truncate": {"keepLast": 1}}, {"truncate": "block"}),
    (
        {"operation": "insert", "insert": {"position": 0, "messages": [MESSAGE]}},
        {"insert": "block"},
    ),
    ({"operation": "replace", "replace": {"index": 0, "message": MESSAGE}}, {"replace": "block"}),
    ({"operation": "clear", "clear": {}}, {"clear": "object"}),
    ({"operation": "filter", "filter": {"roles": ["user"]}}, {"filter": "block"}),
    ({"operation": "insert", "data": MESSAGE}, {"data": "data"}),
    ({"operation": "delete", "indices": [1]}, {"indices": "names"}),
    (
        {"operation": "replace", "indices": [1], "data": MESSAGE},
        {"indices": "names", "data": "data"},
    ),
    (
        {"operation": "compress", "indices": [1], "data": MESSAGE},
        {"indices": "names", "data": "message"},
    ),
    ({"operation": "batch_start", "batch": 6}, {"batch": "place"}),
    ({"operation": "batch_end", "batch": 0}, {"batch": "place"}),
    *(
        (
            {
                "query": query,
                "all": False,
                "atVersion": 1,
                "roles": ["user"],
                "from": 0,
                "to": 9,
                "marked": "m",
                "contains": "x",
                "end": 9,
                "last": 9,
            },
            {
                "all": "boolean",
                "atVersion": "version",
                "roles": "roles",
                "from": "time",
                "to": "time",
                "marked": "string",
                "contains": "string",
                "end": "count",
                "last": "count",
            },
        )
        for query in ("messages", "count")
    ),
    (
        {"query": "messages", "atBatch": 0, "role": "user", "start": 0, "first": 1},
        {"atBatch": "version", "role": "role", "start": "count", "first": "count"},
    ),
    *(
        ({"query": query}, {})
        for query in ("uncompressed", "markMap", "state", "stats", "version", "batches", "history")
    ),
    ({"query": "batchSnapshot", "batchIndex": 0}, {"batchIndex": "count"}),
    ({"query": "diff", "from": 0, "to": 1}, {"from": "version", "to": "version"}),
    ({"query": "blame", "ordinal": 0}, {"ordinal": "version"}),
    (
        {
            "query": "render",
            "dialect": "anthropic",
            "atVersion": 1,
            "sentVersion": 0,
            "repair": True,
            "request": {"tools": []},
            "boundThinking": "strip",
            "cacheMarkers": "auto",
        },
        {
            "dialect": "word",
            "atVersion": "version",
            "sentVersion": "version",
            "repair": "boolean",
            "request": "object",
            "boundThinking": "word",
            "cacheMarkers": "word",
        },
    ),
    (
        {
            "query": "validate",
            "profile": "gemini",
            "atVersion": 1,
            "sentVersion": 0,
            "request": {"tools": []},
        },
        {
            "profile": "profile",
            "atVersion": "version",
            "sentVersion": "version",
            "request": "object",
        },
    ),
    (
        {
            "query": "cost",
            "from": 0,
            "to": 1,
            "dialect": "openai_chat",
            "overhead": 8,
            "cacheMarkers": "given",
        },
        {
            "from": "version",
            "to": "version",
            "dialect": "word",
            "overhead": "count",
            "cacheMarkers": "word",
        },
    ),
]
WRONG = ["null", "true", "1.5", '"x"', "[]", "{}", "[[]]", "[null]"]
FINE = {
    "string": {'"x"'},
    "boolean": {"true"},
    "object": {"{}"},
    "roles": {"[]"},
}  # of WRONG, what a kind may take after all
NUMBERS = [
    "1e400",
    "-1e400",
    "9" * 400,
    "-" + "9" * 400,
    "-1",
    "1.5",
    "1.0",
    "1e0",
    "-0",
    "-0.0",
    '"1"',
]


def spelled(request, field, value):
    """The request as a line, with `value` as the text of a field."""
    members = [f"{json.dumps(k)}:{json.dumps(v)}" for k, v in request.items() if k != field]
    return "{" + ",".join(members + [f"{json.dumps(field)}:{value}"]) + "}"


def append(*messages):
    return '{"operation":"APPEND","messages":[' + ",".join(messages) + "]}"


def small_stack():
    resource.setrlimit(
        resource.RLIMIT_STACK, (256 * 1024, resource.getrlimit(resource.RLIMIT_STACK)[1])
    )


class Session:
    """One running `undertext exec`, with the checks."""

    passed = failed = 0

    def __init__(self, binary, *arguments, start=START, **options):
        self.process = subprocess.Popen(
            [binary, "exec", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
        )
        for request in start:
            assert json.loads(self.ask(json.dumps(request)))["ok"], request
        self.looks = self.look() if start else None

    def ask(self, *pieces):
        for piece in pieces:
            self.process.stdin.write(piece.encode() if isinstance(piece, str) else piece)
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def look(self):
        return [self.ask(line) for line in LOOKS]

    def verdict(self, problem, line):
        Session.failed, Session.passed = (
            Session.failed + bool(problem),
            Session.passed + (not problem),
        )
        if problem:
            shown = line if isinstance(line, str) else line.decode(errors="backslashreplace")
            print(f"FAIL {shown[:200]}{'…' if len(shown) > 200 else ''}\n     {problem[:500]}")

    def refused(self, line, code="invalid_argument", field=None, offset=None):
        """The line is answered with this error, and nothing has changed. `offset` is a range for byteOffset."""
        self.either(line, {code}, field, offset)

    def accepted(self, line):
        self.either(line, {None})

    def either(self, line, codes, field=None, offset=None):
        """The line succeeds, where None is among the codes, or fails with one of them and changes nothing."""
        try:
            raw = self.ask(line)
            answer = json.loads(raw)
            error = answer.get("error") or {}
            looks = self.look()
        except (OSError, ValueError) as failure:
            self.verdict(f"{failure!r}; exit status {self.process.wait(10)}", line)
            raise SystemExit(finish()) from failure
        problem = None
        if error.get("code") not in codes or answer["ok"] != (not error):
            problem = f"expected {codes}, got {raw[:300]}"
        elif error and field and error.get("field") != field:
            problem = f"expected field {field}, got {raw[:300]}"
        elif error and offset and error.get("byteOffset") not in offset:
            problem = f"expected byteOffset in {offset}, got {raw[:300]}"
        elif error and looks != self.looks:
            problem = f"changed something: {[len(look) for look in looks]} bytes, {looks[1]}"
        elif not all(look.startswith(b'{"ok":true') for look in looks):
            problem = f"more or less than one line: {looks[0][:200]}"
        self.looks = looks
        self.verdict(problem, line)

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        status = self.process.wait(60)
        self.verdict(
            f"exit status {status}, {rest[:100]}" if status != 0 or rest else None,
            "the end of input",
        )


def finish():
    print(f"{Session.passed} passed, {Session.failed} failed")
    return Session.failed != 0


def fields(binary):
    for request, kinds in REQUESTS:
        s = Session(binary)
        kinds = {**kinds, **(COMMON if "operation" in request else {})}
        for field, kind in kinds.items():
            for value in WRONG:
                if value not in FINE.get(kind, ()):
                    inside = value == "{}" and kind in (
                        "block",
                        "message",
                        "data",
                    )  # the field at fault is one of its members
                    s.refused(spelled(request, field, value), field=None if inside else field)
            for number in (
                NUMBERS if kind in ("count", "place", "version", "time", "expected") else ()
            ):
                digits = number == "9" * 400
                negative = number in ("-1", "-" + "9" * 400)
                if (
                    number == "-0" or kind == "time" and (digits or negative)
                ):  # an integer to some, and harmless
                    s.either(
                        spelled(request, field, number), {None, "invalid_argument", "conflict"}
                    )
                elif digits and kind == "count":
                    s.accepted(spelled(request, field, number))
                else:
                    code = (
                        {"version": "not_found", "expected": "conflict"}.get(kind)
                        if digits
                        else None
                    )
                    s.refused(
                        spelled(request, field, number),
                        code or "invalid_argument",
                        None if code else field,
                    )
        s.refused(spelled(request, "colour", "1"), field="colour")
        s.refused(spelled(request, "", "1"))
        kind = "operation" if "operation" in request else "query"
        for value in WRONG + ['"NOPE"', '""', '"\\u0000"', '"' + "A" * 100000 + '"']:
            s.refused(spelled(request, kind, value), field=kind)
        s.refused(spelled({**request, "operation": "CLEAR"}, "query", '"messages"'))
        s.either("[" + json.dumps(request) + ",7]", {"invalid_argument", "not_found"})
        s.end()


def messages(s):
    for name in ("role", "content", "timestamp"):
        for value in WRONG + NUMBERS:
            if not (name == "content" and value in ('"x"', '"1"', "[[]]", "[null]")):
                codes = (
                    {None, "invalid_argument"}
                    if name == "timestamp" and value.lstrip("-").isdigit()
                    else {"invalid_argument"}
                )
                s.either(append(spelled(MESSAGE, name, value)), codes, name)
    for name in (
        "id",
        "toolCalls",
        "toolCallId",
        "metadata",
        "tool_calls",
        "tool_call_id",
    ):  # kept or refused, never a crash
        for value in WRONG + ["[1]", '[{"id":1}]', '[{"id":null}]', "[{}]", "1e400"]:
            s.either(
                append(spelled({"role": "assistant", "content": "x"}, name, value)),
                {None, "invalid_argument"},
                name,
            )
    for part in (
        "1",
        "null",
        '"x"',
        "[]",
        "{}",
        '{"type":1}',
        '{"type":"text"}',
        '{"type":"text","text":1}',
        '{"type":"tool_use","id":1}',
        '{"type":"tool_use","tool_use":1}',
        '{"type":"tool_result","content":1}',
        '{"type":"tool_result","content":[1,{"text":2}]}',
        '{"type":"tool_result","tool_result":[],"tool_use_id":{}}',
    ):
        s.either(append(spelled(MESSAGE, "content", f"[{part}]")), {None, "invalid_argument"})


def texts(s):
    """Lines that are no JSON, or JSON that no one should accept."""
    plain = '{"operation":"CLEAR"}'
    for line in (
        "",
        " ",
        "\t",
        "\r",
        "\x0c",
        "\0",
        "\0\0\0",
        "null",
        "7",
        '"x"',
        "true",
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "{",
        "[",
        '"',
        "}",
        "]",
        ",",
        "\ufeff" + plain,
        plain + "\ufeff",
        plain + plain,
        plain + " " + plain,
        plain + "x",
        plain + "\0",
        "\0" + plain,
        '{"operation"\0:"CLEAR"}',
        '{"operation":"CLE\0AR"}',
        '{"operation":"CLEAR","\0":1}',
        '{"operation":"CLEAR\x01"}',
        '{"operation":"CLEAR",}',
        '{"operation":"CLEAR" "x":1}',
        "{'operation':'CLEAR'}",
        '{"operation":"CL\\EAR"}',
        '{"operation":"\\u12"}',
        '{"operation":"\\ud800\\u"}',
        "[" + plain + "," + "]",
        "/**/" + plain,
        plain + "//",
        "NaN",
        "-",
        "Infinity",
        "nul",
        "tru",
        "0x10",
        '{"query":"messages","last":01}',
        '{"query":"messages","last":.5}',
        '{"query":"messages","last":1.}',
        '{"query":"messages","last":-}',
        '{"query":"messages","last":1e}',
        '{"query":"messages","last":+1}',
        append(spelled(MESSAGE, "content", '"a\0b"')),
    ):
        s.refused(line)
    for line in (
        '{"operation":"CLEAR","operation":"CLEAR"}',
        '{"operation":"CLEAR","\\u006fperation":"CLEAR"}',
        '{"query":"stats","query":"stats"}',
        append('{"role":"user","content":"x","content":"x"}'),
        append('{"role":"user","content":"x","a":[{"b":1,"\\u0062":1}]}'),
        append('{"role":"user","content":[{"type":"text","text":"x","text":"x"}]}'),
        append('{"role":"user","content":"x","":1,"":1}'),
        '{"operation":"TRANSFORM","roles":["user"],"setMetadata":{"a":{"b":1,"b":2}}}',
        '{"operation":"TRUNCATE","range":{"start":0,"end":1,"end":1}}',
    ):
        s.refused(line)
    chance = random.Random(1)
    for _ in range(300):
        s.refused(
            bytes(
                chance.choice([b for b in range(256) if b != 10])
                for _ in range(chance.randrange(1, 60))
            )
        )
    for _ in range(300):  # a good line with one byte changed: anything but a crash or a half change
        line = bytearray(
            append('{"role":"user","content":"h\\u00e9llo","metadata":{"a":[1,2.5e3]}}').encode()
        )
        line[chance.randrange(len(line))] = chance.choice([b for b in range(256) if b != 10])
        s.either(bytes(line), {None, "invalid_argument"})


def utf8(s):
    invalid = [
        b"\x80",
        b"\xbf",  # lone continuations
        b"\xc0\x80",
        b"\xc0\xaf",
        b"\xc1\xbf",
        b"\xe0\x80\xaf",
        b"\xf0\x80\x80\xaf",  # overlong
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xed\xa0\xbd\xed\xb8\x80",  # surrogates: high, low, a pair
        b"\xc3",
        b"\xe2\x82",
        b"\xf0\x9f\x98",  # truncated
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xfe",
        b"\xff",
    ]  # beyond U+10FFFF
    places = [
        b'{"role":"user","content":"%s"}',
        b'{"role":"user","content":"good \xc3\xa9 %s tail"}',
        b'{"role":"user","content":"x","%s":1}',
        b'{"role":"user","content":"x","metadata":{"a":["%s"]}}',
        b'{"role":"%s","content":"x"}',
        b'{"role":"user",%s"content":"x"}',
        b'{"role":"user","content":"x"}%s',
    ]
    for sequence in invalid:
        for place in places:
            line = append(place.decode()).encode()
            at = line.index(b"%s")
            s.refused(line.replace(b"%s", sequence), offset=range(at, at + len(sequence) + 1))
        s.refused(
            b'{"query":"messages","contains":"' + sequence + b'"}',
            offset=range(32, 33 + len(sequence)),
        )
        s.refused(sequence, offset=range(0, len(sequence) + 1))
    for good in (
        "\u0080",
        "\u07ff",
        "\u0800",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\U00010000",
        "\U0010ffff",
        "\\u0000",
        "\\ud800",
        "\\udfff\\ud800",
    ):
        s.accepted(append(spelled(MESSAGE, "content", f'"{good}"')))


def nesting(s):
    def deep(levels, kind):
        return (
            "[" * levels + "]" * levels
            if kind == "array"
            else '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)
        )

    for kind in ("array", "object"):
        for levels in (127, 128, 129, 1000, 100_000, 1_000_000):
            for line in (
                append(spelled(MESSAGE, "x", deep(levels - 1, kind))),
                append(spelled(MESSAGE, "metadata", '{"a":' + deep(levels - 2, kind) + "}")),
                append(
                    spelled(MESSAGE, "content", '[{"type":"x","a":' + deep(levels - 3, kind) + "}]")
                ),
            ):
                s.accepted(line) if levels <= 128 else s.refused(line)
            value = deep(levels, kind)
            for line in (
                value,
                "[" + value + "]",
                value[:levels],
                spelled({"operation": "CLEAR"}, "x", value),
                spelled({"query": "messages"}, "x", value),
                spelled({"operation": "APPEND"}, "messages", value),
            ):
                s.refused(line)
            if levels > 128:
                s.refused(
                    spelled(
                        {"operation": "TRANSFORM", "roles": ["user"]},
                        "setMetadata",
                        '{"a":' + value + "}",
                    )
                )


def sizes(binary):
    s = Session(binary)
    s.refused(append(spelled(MESSAGE, "content", '"' + "x" * (100 * MEGABYTE) + '"')), "too_large")
    s.refused("x" * (100 * MEGABYTE))
    s.refused('"' + "x" * (100 * MEGABYTE))
    s.refused(" " * (100 * MEGABYTE))
    s.refused(b"\0" * (100 * MEGABYTE))
    s.refused("[" + "{}," * (3 * MEGABYTE) + "{}]")
    s.refused("x" * ((256 << 20) + 1), "too_large")
    s.accepted(append(spelled(MESSAGE, "k" * MEGABYTE, "1")))
    s.refused('{"operation":"CLEAR","' + "k" * MEGABYTE + '":1}')
    keys = ",".join(f'"k{i}":{i}' for i in range(100_000))
    s.accepted(append('{"role":"user","content":"x",' + keys + "}"))
    s.refused(append('{"role":"user","content":"x",' + keys + ',"k7":0}'))
    s.refused('{"operation":"CLEAR",' + keys + "}", field="k0")
    s.refused(
        spelled({"operation": "DELETE"}, "indices", json.dumps(list(range(100_000)))),
        field="indices",
    )
    s.refused(
        spelled({"operation": "CLEAR"}, "operationId", "[" * 50 + "1" * MEGABYTE + "]" * 50),
        field="operationId",
    )
    s.end()
    message = json.dumps({"role": "user", "content": "x" * 600})
    s = Session(binary, start=())
    answer = json.loads(s.ask(append(*[message] * (100 * MEGABYTE // len(message)))))
    count = json.loads(s.ask('{"query":"count"}'))
    wanted = 100 * MEGABYTE // len(message)
    problem = (
        None
        if answer["ok"] and count["count"] == wanted
        else f"expected {wanted} messages, got {answer} {count}"
    )
    s.verdict(problem, "100 MB of small messages")
    s.end()


def streams(binary):
    """What stands around the lines: their ends, the end of input, the command line."""

    def run(text, *arguments):
        done = subprocess.run(
            [binary, "exec", *arguments], input=text, capture_output=True, timeout=60
        )
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def check(name, fine, got):
        Session.verdict(Session, None if fine else f"got {got}", name)

    good = append(json.dumps(MESSAGE)).encode()
    for name, text, oks in (
        ("empty input", b"", []),
        ("one empty line", b"\n", [False]),
        ("lines that end in CR LF", good + b"\r\n" + good + b"\r\n", [True, True]),
        ("a last line without newline", good + b"\n" + good, [True, True]),
        ("a last line that is cut off", good + b"\n" + good[:30], [True, False]),
        ("a BOM at the start", b"\xef\xbb\xbf" + good + b"\n" + good + b"\n", [False, True]),
        ("a NUL at the end", good + b"\n\0", [True, False]),
    ):
        status, answers, _ = run(text)
        check(name, status == 0 and [a["ok"] for a in answers] == oks, (status, answers))
    for config in (
        "",
        "{",
        "[]",
        "7",
        '{"colour":1}',
        '{"pairs":"both"}',
        '{"pairs":1}',
        '{"tokenizer":"none"}',
        '{"tokenLimit":-1}',
        '{"tokenLimit":"1"}',
        '{"limits":1}',
        '{"limits":{"messageBytes":-1}}',
        '{"limits":{"colour":1}}',
        '{"compressionConfig":{"enabled":true}}',
        '{"pairs":"grow","pairs":"grow"}',
        "[" * 100_000,
    ):
        status, answers, stderr = run(good, "--config", config)
        refused = status > 0 and not any(a["ok"] for a in answers) and (stderr or answers)
        check(f"--config {config[:60]}", refused, (status, answers, stderr))


def main(binary):
    fields(binary)
    for play in (messages, texts, utf8, nesting):
        session = Session(binary)
        play(session)
        session.end()
    session = Session(binary, preexec_fn=small_stack)
    nesting(session)
    session.end()
    sizes(binary)
    streams(binary)
    return finish()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
