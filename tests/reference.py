#!/usr/bin/env python3
"""The contract a second time, as plainly as it can be said: lists, full copies, no index, no sharing.

    reference.py exec [--config JSON]      speaks the protocol of `undertext exec`

Slow on purpose. exec_model.py compares it with the real thing; the scenarios can be played against it. It has no tokenizer (every
count is 0), keeps values rather than bytes, and does not know `operationId` of another process.
"""

import copy
import itertools
import json
import sys
from collections import namedtuple

ROLES = ("system", "user", "assistant", "tool")
State = namedtuple("State", "view batches marks")  # ordinals; Batch, …; {label: set of ordinals}
Batch = namedtuple(
    "Batch", "boundary opened_by description snapshot left_at", defaults=[None]
)  # snapshot: ordinals, or None for the current batch
Entry = namedtuple("Entry", "operation state log_length restores description")


class Refused(Exception):
    def __init__(self, code, field=None):
        super().__init__(code, field)
        self.code, self.field = code, field


def invalid(field=None):
    return Refused("invalid_argument", field)


# Values of fields. Each takes the value and the field's name, and returns the value or refuses it.


def natural(value, field):
    if type(value) is not int or value < 0:
        raise invalid(field)
    return value


def integer(value, field):
    if type(value) is not int:
        raise invalid(field)
    return value


def string(value, field):
    if type(value) is not str:
        raise invalid(field)
    return value


def filled(value, field):
    if string(value, field) == "":
        raise invalid(field)
    return value


def boolean(value, field):
    if type(value) is not bool:
        raise invalid(field)
    return value


def one_of(*values):
    def check(value, field):
        if type(value) is not str or value not in values:
            raise invalid(field)
        return value

    return check


def some(element, repeats=True):
    """A list of one or more."""

    def check(value, field):
        if type(value) is not list or not value:
            raise invalid(field)
        for v in value:
            element(v, field)
        if not repeats and len(set(value)) != len(value):
            raise invalid(field)
        return value

    return check


def record(required, optional=None):
    def check(value, field):
        if type(value) is not dict:
            raise invalid(field)
        return fields(value, required, optional or {})

    return check


def fields(given, required, optional):
    for name, value in given.items():
        check = required.get(name) or optional.get(name)
        if check is None:
            raise invalid(name)
        check(value, name)
    for name in required:
        if name not in given:
            raise invalid(name)
    return given


def anything(value, field):
    return value


def message(value, field):
    if type(value) is not dict:
        raise invalid(field)
    role, content = value.get("role"), value.get("content")
    if role not in ROLES + ("developer",):
        raise invalid("role")
    if "content" not in value or not (content is None or type(content) in (str, list)):
        raise invalid("content")
    calls = value.get("toolCalls") or value.get("tool_calls")
    may_be_empty = role == "tool" or role == "assistant" and bool(calls)
    if not content and not may_be_empty or content is None and role == "tool":
        raise invalid("content")
    if "timestamp" in value:
        integer(value["timestamp"], "timestamp")
    if depth(value) > 128:
        raise invalid()
    return value


def message_or_some(value, field):
    return some(message)(value, field) if type(value) is list else message(value, field)


def depth(value):
    deepest, level = 0, [value]
    while level:  # level by level, so that no depth overflows a stack
        level = [v for v in level if isinstance(v, (dict, list))]
        deepest += bool(level)
        level = [w for v in level for w in (v.values() if isinstance(v, dict) else v)]
    return deepest


roles = some(one_of(*ROLES))
indices = some(natural, repeats=False)
PAIRS = {"pairs": one_of("literal", "shrink", "grow")}
NAMES = {"indices": indices, "ordinals": indices}
COMMON = {
    "operation": string,
    "expectedVersion": natural,
    "description": string,
    "operationId": string,
}

# operation: (required fields, optional fields, whether it opens a batch)
OPERATIONS = {
    "APPEND": ({"messages": some(message)}, {}, False),
    "INSERT": ({"position": natural, "messages": some(message)}, {}, True),
    "REPLACE": ({"index": natural, "message": message}, {}, True),
    "TRUNCATE": (
        {},
        dict(
            keepFirst=natural,
            keepLast=natural,
            removeFirst=natural,
            removeLast=natural,
            range=record({"start": natural, "end": natural}),
            role=one_of(*ROLES),
            **PAIRS,
        ),
        True,
    ),
    "CLEAR": ({}, {"keepSystemMessage": boolean}, True),
    "FILTER": (
        {},
        dict(roles=roles, contentContains=some(filled), contentExcludes=some(filled), **PAIRS),
        True,
    ),
    "DELETE": ({}, {**NAMES, **PAIRS}, True),
    "COMPRESS": ({}, {**NAMES, "summary": message}, True),
    "EXPAND": ({"index": natural}, {}, True),
    "SHOW": ({"ordinals": indices}, {}, True),
    "MERGE_FORK": (
        {"from": string},
        {"mode": one_of("summary", "messages", "pick"), "ordinals": indices, "summary": message},
        False,
    ),
    "MERGE": ({"indices": indices}, {"separator": string}, True),
    "SPLIT": ({"index": natural, "at": some(natural)}, {}, True),
    "TRANSFORM": (
        {},
        {
            **NAMES,
            "roles": roles,
            "replaceText": record({"find": filled, "with": string}),
            "truncateText": record(
                {"maxChars": natural}, {"keep": one_of("head", "tail", "both"), "marker": string}
            ),
            "setMetadata": record({}, type("Any", (), {"get": lambda self, name: anything})()),
        },
        True,
    ),
    "START_BATCH": ({}, {"boundary": natural, "hidePrior": boolean}, True),
    "END_BATCH": ({"targetBatch": natural}, {"carry": roles}, False),
    "ROLLBACK": ({"targetBatchIndex": natural}, {}, False),
    "MARK": ({"mark": filled}, NAMES, False),
    "UNMARK": ({"mark": filled}, NAMES, False),
    "UNDO": ({}, {}, False),
    "REDO": ({}, {}, False),
    "RESTORE": ({"version": natural}, {}, False),
}
FILTERS = {
    "all": boolean,
    "atVersion": natural,
    "atBatch": natural,
    "roles": roles,
    "role": one_of(*ROLES),
    "from": integer,
    "to": integer,
    "marked": filled,
    "contains": filled,
    "start": natural,
    "end": natural,
    "first": natural,
    "last": natural,
}
QUERIES = {
    "messages": ({}, FILTERS),
    "count": ({}, FILTERS),
    "uncompressed": ({}, {}),
    "markMap": ({}, {}),
    "state": ({}, {}),
    "stats": ({}, {}),
    "version": ({}, {}),
    "batches": ({}, {}),
    "batchSnapshot": ({"batchIndex": natural}, {}),
    "history": ({}, {}),
    "diff": ({"from": natural, "to": natural}, {}),
    "blame": ({"ordinal": natural}, {}),
}


def canonical(op):
    """The three spellings become one."""
    name, extra = op.get("operation"), {k: op[k] for k in COMMON if k in op and k != "operation"}
    rest = {k: v for k, v in op.items() if k not in COMMON}
    if name in ("truncate", "filter", "clear") or name in ("insert", "replace") and name in op:
        if name != "clear" and name not in op:
            raise invalid(name)
        block = rest.pop(name, {})
        if type(block) is not dict:
            raise invalid(name)
        if rest:
            raise invalid(next(iter(rest)))
        if name == "insert" and block.get("position") == -1:
            return {
                "operation": "APPEND",
                **{k: v for k, v in block.items() if k != "position"},
                **extra,
            }
        return {"operation": name.upper(), **block, **extra}
    if name == "insert":
        fields(rest, {"data": message_or_some}, {"indices": anything})
        data = rest["data"]
        return {"operation": "APPEND", "messages": data if type(data) is list else [data], **extra}
    if name in ("delete", "compress"):
        fields(rest, {"indices": indices}, {"data": message} if name == "compress" else {})
        summary = {"summary": rest["data"]} if "data" in rest else {}
        return {"operation": name.upper(), "ordinals": rest["indices"], **summary, **extra}
    if name == "replace":
        fields(rest, {"indices": indices, "data": message_or_some}, {})
        data = rest["data"]
        return {
            "operation": "REPLACE",
            "ordinals": rest["indices"],
            "messages": data if type(data) is list else [data],
            **extra,
        }
    if name in ("batch_start", "batch_end"):
        fields(rest, {}, {"indices": some(natural), "batch": natural})
        given = rest.get("indices", [])[:1] + ([rest["batch"]] if "batch" in rest else [])
        if len(set(given)) != 1:
            raise invalid("batch")
        field = "boundary" if name == "batch_start" else "targetBatch"
        return {
            "operation": "START_BATCH" if name == "batch_start" else "END_BATCH",
            field: given[0],
            **extra,
        }
    return op


# Messages.


def role_of(m):
    return "system" if m["role"] == "developer" else m["role"]


def edit_texts(m, edit):
    """A copy of m with each of its texts edited."""
    m = copy.deepcopy(m)
    if type(m["content"]) is str:
        m["content"] = edit(m["content"])
    for part in m["content"] if type(m["content"]) is list else []:
        holder = part.get("tool_result", part) if part.get("type") == "tool_result" else part
        if part.get("type") == "text" and type(part.get("text")) is str:
            part["text"] = edit(part["text"])
        elif part.get("type") == "tool_result" and type(holder.get("content")) is str:
            holder["content"] = edit(holder["content"])
        elif part.get("type") == "tool_result":
            for inner in holder.get("content") or []:
                if type(inner.get("text")) is str:
                    inner["text"] = edit(inner["text"])
    return m


def text_of(m):
    texts = []
    edit_texts(m, lambda text: texts.append(text) or text)
    return "\n".join(texts)


def links(m):
    """[(side, id)]: the tool calls a message makes and the results it gives."""
    found = [
        ("call", c["id"]) for c in m.get("toolCalls") or m.get("tool_calls") or [] if "id" in c
    ]
    for part in m["content"] if type(m["content"]) is list else []:
        if part.get("type") == "tool_use":
            found.append(("call", part.get("tool_use", part).get("id")))
        if part.get("type") == "tool_result":
            found.append(("result", part.get("tool_result", part).get("tool_use_id")))
    result = m.get("toolCallId", m.get("tool_call_id"))
    return found + ([("result", result)] if result is not None else [])


def reasons(m):
    """Whether an assistant's message has a model's reasoning."""
    parts = m["content"] if type(m["content"]) is list else []
    return m["role"] == "assistant" and any(
        part.get("type") in ("thinking", "redacted_thinking", "reasoning") for part in parts
    )


def calls(m):
    return m["role"] == "assistant" and any(side == "call" for side, _ in links(m))


def cut(text, maxChars, keep="head", marker=""):
    if len(text) <= maxChars:
        return text
    head = {"head": maxChars, "tail": 0, "both": (maxChars + 1) // 2}[keep]
    return text[:head] + marker + text[len(text) - (maxChars - head) :]


class Conversation:
    def __init__(self, pairs="literal"):
        self.pairs = pairs
        self.log, self.order = [], []  # messages; all ordinals, in the order of the log
        self.stands_for = {}  # {ordinal of a message: (ordinals it stands for, the version that made it)}
        self.versions = [Entry(None, State([], [Batch(0, None, None, None)], {}), 0, None, None)]
        self.done, self.undone = [], []  # (version before, version after)
        self.answers = {}  # by operationId
        self.base, self.forks = (
            0,
            {},
        )  # the length of the log that it was forked at; {id: Conversation}
        self.merged = {}  # {ordinal of a fork's summary: the messages it can be expanded to}

    state = property(lambda self: self.versions[-1].state)

    # Lines.

    def answer(self, request):
        try:
            if type(request) is list:
                return {"ok": True, "results": self.apply_list(request)}
            if type(request) is not dict or ("operation" in request) == ("query" in request):
                raise invalid()
            return (
                self.apply(request)
                if "operation" in request
                else {"ok": True, **self.query(request)}
            )
        except Refused as refused:
            error = {"code": refused.code, "message": str(refused)}
            error |= {"field": refused.field} if refused.field else {}
            error |= {"operationIndex": refused.index} if hasattr(refused, "index") else {}
            return {"ok": False, "error": error}

    def apply_list(self, operations):
        if not operations:
            raise invalid()
        before = copy.deepcopy(self.__dict__)
        results = []
        for index, op in enumerate(operations):
            try:
                if type(op) is not dict:
                    raise invalid()
                results.append(self.apply(op))
            except Refused as refused:
                self.__dict__ = before
                refused.index = index
                raise
        return results

    def apply(self, op):
        if type(op.get("operation")) is not str:
            raise invalid("operation")
        given, op = op, canonical(op)
        name = op["operation"]
        if name not in OPERATIONS:
            raise invalid("operation")
        required, optional, opens = OPERATIONS[name]
        if name == "REPLACE" and "ordinals" in op:  # the modification spelling
            required = {"ordinals": indices, "messages": some(message)}
        fields(op, required, {**COMMON, **optional})
        if op.get("operationId") in self.answers:
            return self.answers[op["operationId"]]
        head = len(self.versions) - 1
        if op.get("expectedVersion", head) != head:
            raise Refused("conflict")
        before, log_length = self.state, len(self.log)
        stored, self.restores = (self.log, self.order, self.stands_for), None
        self.log, self.order, self.stands_for = (
            list(self.log),
            list(self.order),
            dict(self.stands_for),
        )
        try:
            after = getattr(self, name.lower())(before, op)
        except Refused as refused:
            self.log, self.order, self.stands_for = stored
            if (
                refused.field in op and refused.field not in given and name.lower() not in given
            ):  # named as it was spelled
                refused.field = "batch" if "batch" in given else "indices"
            raise
        if opens:
            left = op.get("boundary", log_length)
            snapshot = [o for o in before.view if o < left]
            batches = before.batches[:-1] + [
                before.batches[-1]._replace(snapshot=snapshot, left_at=log_length),
                Batch(left, name, op.get("description"), None),
            ]
            after = after._replace(batches=batches)
        self.versions.append(
            Entry(name, after, len(self.log), self.restores, op.get("description"))
        )
        if name not in ("UNDO", "REDO"):
            self.done.append((head, head + 1))
            self.undone = []
        answer = {
            "ok": True,
            "operation": name,
            "version": head + 1,
            "affectedBatchIndex": len(after.batches) - 1,
            "stats": self.stats(),
        }
        warnings = self.warnings(before.view, after.view)
        answer |= {"warnings": warnings} if warnings else {}
        if "operationId" in op:
            self.answers[op["operationId"]] = copy.deepcopy(answer)
        return answer

    # Operations: each returns the state after it.

    def store(self, *messages, front=None):
        """Stores messages that come last in the order, or right before `front`."""
        self.log += [copy.deepcopy(m) for m in messages]
        stored = list(range(len(self.log) - len(messages), len(self.log)))
        place = len(self.order) if front is None else self.order.index(front)
        self.order[place:place] = stored
        return stored

    def named(self, view, op, *kinds):
        """The ordinals that the operation names, in view order."""
        given = [kind for kind in kinds or ("indices", "ordinals") if kind in op]
        if len(given) != 1:
            raise invalid(given[0] if given else None)
        names = op[given[0]]
        if given[0] == "roles":
            return [o for o in view if role_of(self.log[o]) in names]
        if given[0] == "indices":
            if max(names) >= len(view):
                raise invalid("indices")
            names = [view[i] for i in names]
        elif not set(names) <= set(view):
            raise invalid("ordinals")
        return [o for o in view if o in names]

    def at(self, view, op):
        if op["index"] >= len(view):
            raise invalid("index")
        return view[op["index"]]

    def put(self, state, hidden, *messages):
        """The state with `messages` in the place of the first of `hidden`, standing for them."""
        ordinals = self.store(*messages, front=hidden[0])
        self.stands_for |= {o: (hidden, len(self.versions)) for o in ordinals}
        view = [o for o in state.view if o not in hidden]
        place = state.view.index(hidden[0])
        return state._replace(view=view[:place] + ordinals + view[place:])

    def bring_back(self, state, leaving, ordinals):
        """The state without `leaving`, and each of `ordinals` in front of the first visible message that comes after it."""
        view = [o for o in state.view if o not in leaving]
        for o in ordinals:
            after = [
                i for i, other in enumerate(view) if self.order.index(other) > self.order.index(o)
            ]
            view.insert(after[0] if after else len(view), o)
        return state._replace(view=view)

    def can_return(self, view, o):
        """Whether it is hidden, and nothing in the view stands for it, or for what does, or the other way round."""
        return (
            o not in view
            and not self.behind(o) & set(view)
            and not any(o in self.behind(other) for other in view)
        )

    def behind(self, o):
        """What it stands for, directly or through others."""
        originals = self.stands_for.get(o, ([], 0))[0]
        return set(originals).union(*map(self.behind, originals))

    def kept(self, state, keep, op, named=()):
        """The state with only `keep` visible, and what pins and pairs add or take away."""
        pinned = set(state.marks.get("pinned", ())) - set(named)
        keep = set(keep) | (pinned & set(state.view))
        mode = op.get("pairs", self.pairs)
        partners = self.partners(state.view)
        units = self.reasoning(state.view)
        while mode != "literal":
            broken = [
                half for half, others in partners.items() if half[0] in keep and not keep & others
            ]
            parted = [
                {o, *following}
                for o, following in units.items()
                if 0 < len(keep & {o, *following}) < 1 + len(following)
                and (mode == "grow" or o not in keep or not keep & pinned & {o, *following})
            ]
            if mode == "grow":
                changed = keep.union(*(partners[half] for half in broken), *parted)
            else:
                changed = keep - ({half[0] for half in broken}.union(*parted) - pinned)
            if changed == keep:
                break
            keep = changed
        return state._replace(view=[o for o in state.view if o in keep])

    def partners(self, view):
        """{(ordinal, "call" or "result", id): ordinals of the messages it belongs together with}. Where an id is used again, a
        result answers the last call before it; where there is none, the first one after it, unless that has a result of its own."""
        found = {}
        for id in {id for o in view for _, id in links(self.log[o])}:
            mentions = [
                (place, o, side)
                for place, o in enumerate(view)
                for side, other in links(self.log[o])
                if other == id
            ]
            calls = sorted({(place, o) for place, o, side in mentions if side == "call"})
            answered = [place for place, _, side in mentions if side == "result"]
            second = calls[1][0] if len(calls) > 1 else len(view)
            takes_earlier = calls and not any(calls[0][0] <= place < second for place in answered)
            for place, o, side in mentions:
                before = [call for at, call in calls if at <= place] or (
                    [calls[0][1]] if takes_earlier else []
                )
                if side == "result" and before:
                    found.setdefault((o, "result", id), set()).add(before[-1])
                    found.setdefault((before[-1], "call", id), set()).add(o)
        return found

    def reasoning(self, view):
        """{ordinal of reasoning: ordinals of the messages that follow from it}."""
        found = {}
        for place, o in enumerate(view):
            if not reasons(self.log[o]):
                continue
            run = list(
                itertools.takewhile(
                    lambda other: role_of(self.log[other]) in ("system", "assistant"),
                    view[place + 1 :],
                )
            )
            run = [other for other in run if role_of(self.log[other]) == "assistant"]
            found[o] = [
                other
                for other in itertools.takewhile(lambda other: not reasons(self.log[other]), run)
                if calls(self.log[other])
            ]
            if not found[o] and not text_of(self.log[o]) and not links(self.log[o]):
                found[o] = run[:1]
        return found

    def with_calls(self, view):
        """The reasoning that calls follow from."""
        return {
            o
            for o, following in self.reasoning(view).items()
            if any(calls(self.log[other]) and not reasons(self.log[other]) for other in following)
        }

    def warnings(self, before, after):
        had, has = self.partners(before), self.partners(after)
        code = {"call": "tool_call_without_result", "result": "tool_result_without_call"}
        parted = self.with_calls(before) - self.with_calls(after)
        found = []
        for o in after:
            if o not in before:
                continue
            found += [
                {"code": code[side], "ordinal": o, "toolCallId": id}
                for side, id in dict.fromkeys(links(self.log[o]))
                if (o, side, id) in had
                and (o, side, id) not in has
                and not had[o, side, id] & set(after)
            ]
            found += (
                [{"code": "reasoning_without_call", "ordinal": o}]
                if o in parted and not calls(self.log[o])
                else []
            )
        return found

    def append(self, state, op):
        return state._replace(view=state.view + self.store(*op["messages"]))

    def insert(self, state, op):
        if op["position"] > len(state.view):
            raise invalid("position")
        before, after = state.view[: op["position"]], state.view[op["position"] :]
        return state._replace(
            view=before + self.store(*op["messages"], front=after[0] if after else None) + after
        )

    def replace(self, state, op):
        if "ordinals" in op:
            return self.put(state, self.named(state.view, op), *op["messages"])
        return self.put(state, [self.at(state.view, op)], op["message"])

    def truncate(self, state, op):
        if not {"keepFirst", "keepLast", "removeFirst", "removeLast", "range"} & set(op):
            raise invalid()
        v = [o for o in state.view if op.get("role") in (None, role_of(self.log[o]))]
        v = v[: op["keepFirst"]] if "keepFirst" in op else v
        v = v[max(0, len(v) - op["keepLast"]) :] if "keepLast" in op else v
        v = v[op["removeFirst"] :] if "removeFirst" in op else v
        v = v[: max(0, len(v) - op["removeLast"])] if "removeLast" in op else v
        if "range" in op:
            if op["range"]["start"] > op["range"]["end"]:
                raise invalid()
            v = v[op["range"]["start"] : op["range"]["end"]]
        return self.kept(state, v, op)

    def clear(self, state, op):
        return self.kept(
            state,
            [
                o
                for o in state.view
                if op.get("keepSystemMessage", True) and role_of(self.log[o]) == "system"
            ],
            {"pairs": "literal"},
        )

    def filter(self, state, op):
        if not {"roles", "contentContains", "contentExcludes"} & set(op):
            raise invalid()

        def passes(m):
            return (
                role_of(m) in op.get("roles", ROLES)
                and any(c in text_of(m) for c in op.get("contentContains", [""]))
                and not any(c in text_of(m) for c in op.get("contentExcludes", []))
            )

        return self.kept(state, [o for o in state.view if passes(self.log[o])], op)

    def delete(self, state, op):
        hidden = self.named(state.view, op)
        return self.kept(state, set(state.view) - set(hidden), op, hidden)

    def compress(self, state, op):
        hidden = self.named(state.view, op)
        return self.put(state, hidden, *[op[field] for field in ("summary",) if field in op])

    def expand(self, state, op):
        maker = self.at(state.view, op)
        if (
            maker in self.merged
        ):  # the fork's messages take the place of its summary, and stand for it
            if not self.merged[maker]:
                raise Refused("not_found", "index")
            return self.put(state, [maker], *self.merged[maker])
        made = self.stands_for.get(maker)
        together = [o for o, other in self.stands_for.items() if other == made]
        others = set(state.view) - set(together)
        if (
            not made
            or self.behind(maker) & others
            or any(set(made[0]) & self.behind(o) for o in others)
        ):
            raise invalid("index")
        return self.bring_back(state, together, made[0])

    def fork(self, id):
        """A conversation that goes on from here, known to this one by its id."""
        made = copy.deepcopy(
            {name: value for name, value in self.__dict__.items() if name != "forks"}
        )
        fork = Conversation()
        fork.__dict__.update(made, base=len(self.log), forks={}, answers={})
        self.forks[id] = fork
        return fork

    def merge_fork(self, state, op):
        mode = op.get("mode", "summary")
        if ("ordinals" in op) != (mode == "pick"):
            raise invalid("ordinals")
        if "summary" in op and mode != "summary":
            raise invalid("summary")
        if op["from"] not in self.forks:
            raise Refused("not_found", "from")
        fork = self.forks[op["from"]]
        own = [o for o in fork.state.view if o >= fork.base]
        if mode == "pick":
            if not all(fork.base <= o < len(fork.log) for o in op["ordinals"]):
                raise invalid("ordinals")
            own = sorted(op["ordinals"])
            if any(self.is_answered_here(state, fork, o) for o in own):
                raise invalid("ordinals")
        if mode == "messages":
            own = [o for o in own if not self.is_answered_here(state, fork, o)]
        if not own if mode != "summary" else len(fork.log) == fork.base:
            raise Refused("not_found", "from")
        if mode != "summary":
            return state._replace(view=state.view + self.store(*(fork.log[o] for o in own)))
        stored = self.store(op["summary"])  # the test always gives one
        self.merged[stored[0]] = [copy.deepcopy(fork.log[o]) for o in own]
        return state._replace(view=state.view + stored)

    def is_answered_here(self, state, fork, ordinal):
        """Whether a fork's message is the result of a call from before the fork to which this conversation shows one of its own."""
        for side, id in links(fork.log[ordinal]):
            called = [o for o in range(ordinal) if ("call", id) in links(fork.log[o])]
            if side == "call" or not called or called[-1] >= fork.base:
                continue
            for o in range(fork.base, len(self.log)):
                if ("call", id) in links(self.log[o]):
                    break  # the id is used again
                if ("result", id) in links(self.log[o]) and o in state.view:
                    return True
        return False

    def show(self, state, op):
        if max(op["ordinals"]) >= len(self.log) or not all(
            self.can_return(state.view + [other for other in op["ordinals"] if other != o], o)
            for o in op["ordinals"]
        ):
            raise invalid("ordinals")
        return self.bring_back(state, [], self.with_units(state, set(op["ordinals"])))

    def with_units(self, state, shown):
        """`shown` with the units in which they were last seen; for what has no partner then, the nearest of those seen last; and so on."""
        returns = lambda o: self.can_return(state.view + list(shown), o)
        last_seen = lambda o: max(
            v for v, version in enumerate(self.versions) if o in version.state.view
        )
        fresh, shown = sorted(shown), set(shown)
        while fresh:
            left = set(fresh)
            for version in reversed(self.versions):
                unit = self.kept(
                    version.state._replace(marks={}),
                    left & set(version.state.view),
                    {"pairs": "grow"},
                ).view
                for o in filter(returns, unit):
                    shown.add(o)
                    fresh.append(o)
                left -= set(version.state.view)
            partners = set()
            for o, (side, id) in ((f, link) for f in fresh for link in links(self.log[f])):
                other_side = {"call": "result", "result": "call"}[side]
                others = [
                    other for other in self.order if (other_side, id) in links(self.log[other])
                ]
                if shown & set(others) or set(state.view) & set(others):
                    continue
                others = [other for other in others if returns(other)]
                others = [
                    other for other in others if last_seen(other) == max(map(last_seen, others))
                ]
                before = [
                    other for other in others if self.order.index(other) < self.order.index(o)
                ]
                after = others[len(before) :]
                partners |= set(
                    (before[-1:] or after[:1]) if side == "result" else (after[:1] or before[-1:])
                )
            fresh = []
            for o in sorted(partners):
                if returns(o):
                    shown.add(o)
                    fresh.append(o)
        return shown

    def merge(self, state, op):
        hidden = self.named(state.view, op, "indices")
        messages = [self.log[o] for o in hidden]
        if len(messages) < 2 or len({role_of(m) for m in messages}) != 1:
            raise invalid("indices")
        answered = [{id for side, id in links(m) if side == "result"} for m in messages]
        if role_of(messages[0]) == "tool" and any(ids != answered[0] for ids in answered):
            raise invalid("indices")
        merged = copy.deepcopy(messages[0])
        contents = [m["content"] for m in messages if m["content"] is not None]
        if any(type(c) is list for c in contents):
            lists = [c if type(c) is list else [{"type": "text", "text": c}] for c in contents if c]
            merged["content"] = [part for parts in lists for part in parts]
        elif contents:
            merged["content"] = op.get("separator", "\n").join(contents)
        calls = [c for m in messages for c in m.get("toolCalls", [])]
        merged |= {"toolCalls": calls} if calls else {}
        return self.put(state, hidden, merged)

    def split(self, state, op):
        o = self.at(state.view, op)
        m, at = self.log[o], op["at"]
        content = m["content"] or ""
        if any(a >= b for a, b in zip([0] + at, at + [len(content)])):
            raise invalid("at")
        pieces = [
            {**copy.deepcopy(m), "content": content[a:b]}
            for a, b in zip([0] + at, at + [len(content)])
        ]
        for piece in pieces[1:]:
            piece.pop("id", None)
        for piece in pieces[:-1]:
            piece.pop("toolCalls", None), piece.pop("tool_calls", None)
        return self.put(state, [o], *pieces)

    def transform(self, state, op):
        changes = [k for k in ("replaceText", "truncateText", "setMetadata") if k in op]
        if len(changes) != 1:
            raise invalid()
        change = op[changes[0]]
        for o in self.named(state.view, op, "indices", "ordinals", "roles"):
            m = self.log[o]
            if changes == ["replaceText"]:
                m = edit_texts(m, lambda text: text.replace(change["find"], change["with"]))
            elif changes == ["truncateText"]:
                m = edit_texts(m, lambda text: cut(text, **change))
            else:
                m = {**m, "metadata": {**m.get("metadata", {}), **change}}
            state = self.put(state, [o], message(m, changes[0]))
        return state

    def start_batch(self, state, op):
        boundary = op.get("boundary", len(self.log))
        if not state.batches[-1].boundary <= boundary <= len(self.log):
            raise invalid("boundary")
        hide = op.get("hidePrior", False)
        pinned = state.marks.get("pinned", ())
        return state._replace(
            view=[o for o in state.view if not hide or o >= boundary or o in pinned]
        )

    def rollback(self, state, op, field="targetBatchIndex"):
        target = op[field]
        if target >= len(state.batches):
            raise invalid(field)
        if target == len(state.batches) - 1:
            return state
        batch = state.batches[target]
        return state._replace(
            view=batch.snapshot, batches=state.batches[:target] + [batch._replace(snapshot=None)]
        )

    def end_batch(self, state, op):
        back = self.rollback(state, op, "targetBatch")
        since = state.batches[op["targetBatch"]].left_at if back is not state else len(self.log)
        carried = [
            o
            for o in state.view
            if o not in back.view and o >= since and role_of(self.log[o]) in op.get("carry", ())
        ]
        return back._replace(view=back.view + carried)

    def mark(self, state, op):
        given = [kind for kind in ("indices", "ordinals") if kind in op]
        if given == ["ordinals"] and max(op["ordinals"]) >= len(self.log):
            raise invalid("ordinals")
        ordinals = op["ordinals"] if given == ["ordinals"] else self.named(state.view, op)
        marked = set(state.marks.get(op["mark"], ()))
        marked = marked | set(ordinals) if op["operation"] == "MARK" else marked - set(ordinals)
        return state._replace(marks={**state.marks, op["mark"]: marked})

    unmark = mark

    def undo(self, state, op):
        return self.back(self.done, self.undone, 0)

    def redo(self, state, op):
        return self.back(self.undone, self.done, 1)

    def back(self, taken, given, side):
        if not taken:
            raise Refused("not_found")
        given.append(taken.pop())
        self.restores = given[-1][side]
        return self.versions[self.restores].state

    def restore(self, state, op):
        if op["version"] >= len(self.versions):
            raise Refused("not_found", "version")
        self.restores = op["version"]
        return self.versions[op["version"]].state

    # Queries.

    def query(self, q):
        if type(q["query"]) is not str or q["query"] not in QUERIES:
            raise invalid("query")
        required, optional = QUERIES[q["query"]]
        fields(q, required, {"query": string, **optional})
        if q["query"] in ("messages", "count"):
            found = self.find(q)
            return (
                self.messages(found)
                if q["query"] == "messages"
                else {"count": len(found), "tokens": 0}
            )
        if q["query"] == "uncompressed":
            return self.messages(
                [o for o in self.state.view if o >= self.state.batches[-1].boundary]
            )
        return {"result": getattr(self, "q_" + q["query"])(q)}

    def messages(self, ordinals):
        return {"messages": [copy.deepcopy(self.log[o]) for o in ordinals], "ordinals": ordinals}

    def find(self, q):
        for a, b in (
            ("all", "atBatch"),
            ("atVersion", "atBatch"),
            ("role", "roles"),
            ("first", "last"),
        ):
            if a in q and b in q and q[a] is not False:
                raise invalid()
        if q.get("start", 0) > q.get("end", q.get("start", 0)):
            raise invalid()
        if q.get("atVersion", 0) >= len(self.versions) or q.get("atBatch", 0) >= len(
            self.state.batches
        ):
            raise Refused("not_found")
        entry = self.versions[q.get("atVersion", -1)]
        found = list(range(entry.log_length)) if q.get("all") else entry.state.view
        if "atBatch" in q:
            snapshot = self.state.batches[q["atBatch"]].snapshot
            found = entry.state.view if snapshot is None else snapshot
        wanted = q.get("roles", [q["role"]] if "role" in q else ROLES)
        found = [o for o in found if role_of(self.log[o]) in wanted]
        now = (
            1 << 42
        )  # the arrival of messages without a timestamp, in the year 2109: later than any time that is asked for
        found = [
            o
            for o in found
            if q.get("from", -1 << 63) <= self.log[o].get("timestamp", now) < q.get("to", 1 << 63)
        ]
        found = [
            o for o in found if "marked" not in q or o in entry.state.marks.get(q["marked"], ())
        ]
        found = [o for o in found if q.get("contains", "") in text_of(self.log[o])]
        found = found[q.get("start", 0) : q.get("end", len(found))]
        found = found[: q["first"]] if "first" in q else found
        return found[max(0, len(found) - q["last"]) :] if "last" in q else found

    def stats(self):
        return {
            "totalMessages": len(self.log),
            "currentBatchMessages": len(self.state.view),
            "totalBatches": len(self.state.batches),
            "currentBatchIndex": len(self.state.batches) - 1,
            "tokens": 0,
        }

    def q_stats(self, q):
        return self.stats()

    def q_version(self, q):
        return len(self.versions) - 1

    def q_markMap(self, q):
        view, batches = self.state.view, self.state.batches
        return {
            "originalIndices": view,
            "typeIndices": {r: [o for o in view if role_of(self.log[o]) == r] for r in ROLES},
            "batchBoundaries": [b.boundary for b in batches],
            "boundaryToBatch": list(range(len(batches))),
            "currentBatch": len(batches) - 1,
        }

    def q_state(self, q):
        last = len(self.state.batches) - 1
        return {
            "messages": self.messages(self.state.view)["messages"],
            "batchSnapshots": [self.q_batchSnapshot({"batchIndex": k}) for k in range(last)],
            "currentBatchIndex": last,
            "totalMessageCount": len(self.state.view),
        }

    def q_batchSnapshot(self, q):
        k = q["batchIndex"]
        if k >= len(self.state.batches) - 1:
            return None
        messages = self.messages(self.state.batches[k].snapshot)["messages"]
        return {
            "batchIndex": k,
            "timestamp": 0,
            "messages": messages,
            "messageCount": len(messages),
            **described(self.state.batches[k + 1]),
        }

    def q_batches(self, q):
        return [
            {
                "index": k,
                "boundary": b.boundary,
                "openedBy": b.opened_by,
                "openedAt": 0,
                "messageCount": len(self.state.view if b.snapshot is None else b.snapshot),
                **described(b),
            }
            for k, b in enumerate(self.state.batches)
        ]

    def q_history(self, q):
        return [
            {
                "version": v,
                "parent": v - 1 if v else None,
                "operation": e.operation,
                "batchIndex": len(e.state.batches) - 1,
                "timestamp": 0,
                "messageCount": len(e.state.view),
                "tokens": 0,
                **({"restores": e.restores} if e.restores is not None else {}),
                **described(e),
            }
            for v, e in enumerate(self.versions)
        ]

    def q_diff(self, q):
        if max(q["from"], q["to"]) >= len(self.versions):
            raise Refused("not_found")
        a, b = self.versions[q["from"]].state.view, self.versions[q["to"]].state.view
        stay = unmoved([o for o in a if o in b], [o for o in b if o in a])
        return {
            "removed": [o for o in a if o not in b],
            "added": [o for o in b if o not in a],
            "moved": [o for o in b if o in a and o not in stay],
        }

    def q_blame(self, q):
        o = q["ordinal"]
        if o >= len(self.log):
            raise Refused("not_found")
        stored, hidden, shown = None, [], []
        for v, (old, new) in enumerate(zip(self.versions, self.versions[1:]), 1):
            entry = {"version": v, "operation": new.operation, "timestamp": 0, **described(new)}
            stored = entry if old.log_length <= o < new.log_length else stored
            hidden += [entry] if o in old.state.view and o not in new.state.view else []
            shown += [entry] if o not in old.state.view and o in new.state.view else []
        return {
            "ordinal": o,
            "stored": stored,
            "hidden": hidden,
            "shown": shown,
            "visible": o in self.state.view,
        }


def described(thing):
    return {"description": thing.description} if thing.description else {}


def unmoved(a, b):
    """A longest common subsequence of two orders of the same ordinals."""
    best = []  # (length, end in b, chosen)
    for o in a:
        place = b.index(o)
        before = max((c for c in best if c[1] < place), key=lambda c: c[0], default=(0, -1, []))
        best.append((before[0] + 1, place, before[2] + [o]))
    return max(best, key=lambda c: c[0], default=(0, -1, []))[2]


def no_repeats(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def main(arguments):
    settings = (
        json.loads(arguments[arguments.index("--config") + 1]) if "--config" in arguments else {}
    )
    conversation = Conversation(settings.get("pairs", "literal"))
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line.decode(), object_pairs_hook=no_repeats)
        except (ValueError, RecursionError):
            request = None
        print(
            json.dumps(conversation.answer(request), ensure_ascii=False, separators=(",", ":")),
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
