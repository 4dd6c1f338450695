#!/usr/bin/env python3
"""The protocol against its schema, `undertext schema`.   schema_test.py PROGRAM [--tries N] [FILE.json…]

Scenarios are played through `undertext exec`: what the engine takes is valid by the schema, and so is every answer, without a member
that the schema does not have. Then requests are spoilt at random (SEED): what the schema refuses the engine refuses too.
Status 77, for ctest: there is no validator of JSON Schema; scripts/peers gets one.
"""

import copy
import json
import os
import pathlib
import random
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: openapi: scripts/peers has not got the validator")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from play_scenarios import compact, line_of

# What no scenario has: it needs a model that is asked, signed thinking, or a subscriber.
# No line of exec records a request: answers that have some are held by tests/server/contract.py, tests/gateway/money.py. Nor does one make a fork,
# which tests/merge_fork_model.py merges.
UNSEEN = re.compile(
    r"Receipt\.(model|cost)|SummaryCost\..*|\w+Event\..*|Rendered\.advice|Loss\.path|MediaBlock\.type|Requests?Answer\..*|(RequestRecord|RequestUsage|WholeRequest)\..*|VolatilePart\..*"
    r"|(LedgerTurn|LedgerRow|LedgerFinding|ComparedRequest|CacheBreak|CacheBreakAnswer|ForkedFrom)\..*|Blame\.from"
)


class Schema:
    """The document, and a validator for each of its shapes. Answers are held closed: a member that is not described is an error."""

    def __init__(self, document):
        self.shapes = document["$defs"]
        jsonschema.Draft202012Validator.check_schema(document)
        closed = {
            name: {"additionalProperties": False, **shape} if "properties" in shape else shape
            for name, shape in self.shapes.items()
        }
        self.document = {"$defs": closed}
        self.validators = {}

    def problem(self, name, value):
        """The first thing wrong with the value, or None."""
        if name not in self.validators:
            self.validators[name] = jsonschema.Draft202012Validator(
                {**self.document, "$ref": f"#/$defs/{name}"}
            )
        error = jsonschema.exceptions.best_match(self.validators[name].iter_errors(value))
        return error and f"{name}: {error.json_path}: {error.message[:300]}"

    def shape_of(self, request):
        """The shape of an operation or a query by its name; None for what has none."""
        for union, teller in (
            ("Query", "query"),
            ("Operation", "operation"),
            ("NodeOperation", "operation"),
            ("Modification", "operation"),
        ):
            name = request.get(teller) if isinstance(request, dict) else None
            reference = (
                self.shapes[union]["discriminator"]["mapping"].get(name)
                if isinstance(name, str)
                else None
            )
            if reference and not (
                union == "NodeOperation" and name in ("insert", "replace") and name not in request
            ):
                return reference.rsplit("/", 1)[1]
        return None

    def answer_of(self, request):
        if isinstance(request, list):
            return "Outcomes"
        if "query" not in request:
            return "Outcome"
        name = request["query"]
        flat = {
            "messages": "MessagesAnswer",
            "uncompressed": "MessagesAnswer",
            "count": "CountAnswer",
        }
        return flat.get(name) or name[0].upper() + name[1:] + "Answer"


def run(program, config, lines):
    command = [program, "exec"] + (["--config", compact(config)] if config is not None else [])
    done = subprocess.run(
        command,
        input="".join(line + "\n" for line in lines).encode(),
        capture_output=True,
        timeout=300,
    )
    return [json.loads(answer) for answer in done.stdout.split(b"\n")[:-1]]


def note_members(schema, name, value, seen):
    """Which members of which shapes were there."""
    shape = schema.shapes[name]
    if "discriminator" in shape and isinstance(value, dict):
        told = value.get(shape["discriminator"]["propertyName"])
        reference = shape["discriminator"]["mapping"].get(told)
        return reference and note_members(schema, reference.rsplit("/", 1)[1], value, seen)
    note_by_schema(schema, shape, value, seen, name)


def note_by_schema(schema, part, value, seen, name=""):
    if "$ref" in part:
        return note_members(schema, part["$ref"].rsplit("/", 1)[1], value, seen)
    for either in part.get("anyOf", []):
        note_by_schema(schema, either, value, seen, name)
    if isinstance(value, list) and "items" in part:
        for element in value:
            note_by_schema(schema, part["items"], element, seen)
    if isinstance(value, dict):
        for key, member in part.get("properties", {}).items():
            if key in value:
                seen.add(f"{name}.{key}")
                note_by_schema(schema, member, value[key], seen)


def parsed(step):
    try:
        return json.loads(line_of(step))
    except ValueError:
        return None


def play(program, schema, files):
    problems, seen, taken = [], set(), []
    requests = answers = 0
    for file in files:
        for scenario in json.loads(pathlib.Path(file).read_text(encoding="utf-8")):
            config, steps = scenario.get("config"), scenario["steps"]
            if config is not None and (problem := schema.problem("Settings", config)):
                problems.append(f"{file}: {scenario['title']}: the settings: {problem}")
            for step, answer in zip(steps, run(program, config, map(line_of, steps))):
                request = parsed(step)
                where = f"{pathlib.Path(file).name}: {line_of(step)[:200]}: "
                shape = "ErrorAnswer"
                if answer["ok"]:
                    requests += 1
                    for each in request if isinstance(request, list) else [request]:
                        name = "Query" if "query" in each else "AnyOperation"
                        problem = (
                            schema.problem(name, each) if len(line_of(step)) < 100_000 else None
                        )
                        if problem:
                            problems.append(
                                f"{where}taken, but not by the schema: {schema.problem(schema.shape_of(each), each)}"
                            )
                        note_members(schema, schema.shape_of(each), each, seen)
                        taken.append(each)
                    shape = schema.answer_of(request)
                answers += 1
                if problem := schema.problem(shape, answer):
                    problems.append(f"{where}{problem} in {compact(answer)[:300]}")
                note_members(schema, shape, answer, seen)
    print(f"{requests} requests that were taken, {answers} answers")
    return problems, seen, taken


def unseen(schema, seen):
    """Members of answers that no scenario had; requests are described by their readers."""
    used, open_ends = set(), ["Outcome", "Outcomes", "ErrorAnswer"]
    open_ends += [
        schema.answer_of({"query": name})
        for name in schema.shapes["Query"]["discriminator"]["mapping"]
    ]
    while open_ends:
        name = open_ends.pop()
        if name not in used:
            used.add(name)
            open_ends += [
                reference.rsplit("/", 1)[1] for reference in references(schema.shapes[name])
            ]
    for name in sorted(used):
        for member in (
            schema.shapes[name].get("properties", {})
            if "additionalProperties" not in schema.shapes[name]
            else ()
        ):
            if f"{name}.{member}" not in seen:
                yield f"{name}.{member}"


def references(part):
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


VALUES = [
    None,
    True,
    False,
    0,
    7,
    -1,
    1.5,
    "",
    "x",
    "user",
    "shrink",
    [],
    [0],
    ["user"],
    ["x"],
    {},
    {"start": 0, "end": 1},
    {"name": "none"},
    {"role": "user", "content": "x"},
    [{"role": "user", "content": "x"}],
]


def spoil(rng, value, names):
    """A copy with one thing changed: a member added, taken away, renamed, or of another type."""
    value = copy.deepcopy(value)
    places = [value]
    for place in places:
        members = place.values() if isinstance(place, dict) else place
        places += [member for member in members if isinstance(member, (dict, list)) and member]
    place = rng.choice(places)
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    way = rng.randrange(4)
    if isinstance(place, dict) and (way == 0 or not keys):
        place[rng.choice(names)] = rng.choice(VALUES)
    elif keys and way == 1:
        del place[rng.choice(keys)]
    elif keys and way == 2 and isinstance(place, dict):
        place[rng.choice(names)] = place.pop(rng.choice(keys))
    elif keys:
        place[rng.choice(keys)] = rng.choice(VALUES)
    return value


def spoil_many(program, schema, taken, tries):
    """What the engine takes is valid; so what is not valid is refused."""
    seed = int(os.environ.get("SEED", "1"))
    rng = random.Random(seed)
    names = sorted(
        {member for shape in schema.shapes.values() for member in shape.get("properties", {})}
    ) + ["nope", "Operation", "keep_last"]
    small = [request for request in taken if len(compact(request)) < 2000]
    by_shape = {}
    for request in small:
        by_shape.setdefault(schema.shape_of(request), []).append(request)
    pools = list(by_shape.values())
    spoilt = [spoil(rng, rng.choice(rng.choice(pools)), names) for _ in range(tries)]
    base = {
        "operation": "APPEND",
        "messages": [
            {"role": role, "content": "text"}
            for role in ("system", "user", "assistant", "user", "assistant")
        ],
    }
    problems, refused = [], 0
    for start in range(0, tries, 200):
        part = spoilt[start : start + 200]
        for request, answer in zip(
            part, run(program, None, [compact(base)] + [compact(each) for each in part])[1:]
        ):
            shape = schema.shape_of(request)
            if answer["ok"]:
                problem = schema.problem(shape, request) if shape else "it has no shape"
                if problem:
                    problems.append(f"taken, but not by the schema: {compact(request)}: {problem}")
            else:
                refused += 1
                if problem := schema.problem("ErrorAnswer", answer):
                    problems.append(f"{compact(request)}: {problem}")
    print(f"seed {seed}: {tries} spoilt requests, {refused} of them refused")
    return problems


def examples(program, schema):
    """Each operation has an example, which is valid, and which the engine reads: it fails at most for what the conversation has not."""
    problems = []
    base = {
        "operation": "APPEND",
        "messages": [{"role": "user", "content": "Hello"}, {"role": "user", "content": "Hello?"}],
    }
    for name in schema.shapes["Operation"]["discriminator"]["mapping"].values():
        name = name.rsplit("/", 1)[1]
        for shape in [
            reference.rsplit("/", 1)[1]
            for reference in references(schema.shapes[name].get("anyOf", []))
        ] or [name]:
            for example in schema.shapes[shape].get("examples") or [None]:
                if problem := "it has none" if example is None else schema.problem(shape, example):
                    problems.append(f"the example of {shape}: {problem}")
                    continue
                answer = run(program, None, [compact(base), compact(example)])[1]
                if not answer["ok"] and example["operation"] not in (
                    "EXPAND",
                    "SHOW",
                    "UNDO",
                    "REDO",
                    "MERGE_FORK",
                ):
                    problems.append(f"the example of {shape}: {compact(answer)}")
    return problems


def main(program, *arguments):
    tries, files = 3000, list(arguments)
    if files and files[0] == "--tries":
        tries, files = int(files[1]), files[2:]
    schema = Schema(
        json.loads(subprocess.run([program, "schema"], capture_output=True, check=True).stdout)
    )
    problems, seen, taken = play(program, schema, files)
    problems += [
        f"no scenario has {member}"
        for member in unseen(schema, seen)
        if not UNSEEN.fullmatch(member)
    ]
    problems += examples(program, schema)
    problems += spoil_many(program, schema, taken, tries)
    for problem in problems[:40]:
        print(problem)
    print(f"{len(schema.shapes)} shapes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
