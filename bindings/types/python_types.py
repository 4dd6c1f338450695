"""Shapes as Python: TypedDicts with the names of the protocol, and the arguments of methods with names of Python."""

import json
import keyword
import re

from shapes import alternatives, is_object, is_request, is_union, name_of, text_of

# Written by hand, in _message.py or here.
OWN = {"Json": "Any", "JsonObject": "JSON_OBJECT", "Part": "Any", "Message": "MESSAGE"}
# Programs look these up by a role that they hold.
OWN.update({"RoleCounts": "Dict[str, int]", "RoleIndices": "Dict[str, List[int]]"})
# A strategy that a program holds is a plain dict.
OWN["OtherStrategy"] = "Mapping[str, object]"
# Programs read an event's members without asking for its type first.
FLAT = {"Event"}

# Arguments of methods: the shape they are of, and its members that the method has as parameters of its own.
ARGUMENTS = {
    "OperationOptions": ("UndoOperation", ()),
    "TruncateArguments": ("TruncateOperation", ()),
    "FilterArguments": ("FilterOperation", ()),
    "Named": ("MarkOperation", ("mark",)),
    "DeleteArguments": ("DeleteOperation", ()),
    "CompressArguments": ("CompressOperation", ()),
    "TransformArguments": ("TransformOperation", ()),
    "MessageFilters": ("MessagesQuery", ()),
    "FitArguments": ("FitQuery", ()),
    "ValidateArguments": ("ValidateQuery", ("dialect",)),
    "RenderArguments": ("RenderQuery", ("dialect",)),
    "CostArguments": ("CostQuery", ("from",)),
    "UsageArguments": ("UsageReport", ("requestId",)),
    "RecordArguments": ("GivenRequest", ("request", "requestBase64", "answer", "answerBase64")),
}


def literals(values):
    return (
        "Literal["
        + ", ".join(
            json.dumps(value) if isinstance(value, str) else repr(value) for value in values
        )
        + "]"
    )


def type_of(part, takes):
    """`takes`: of a request, which takes any sequence and mapping."""
    if "$ref" in part:
        name = name_of(part["$ref"])
        own = OWN.get(name, name)
        own = own.replace("JSON_OBJECT", "Mapping[str, object]" if takes else "Dict[str, Any]")
        return own.replace("MESSAGE", "MessageLike" if takes else "Message")
    if "const" in part:
        return "int" if part["const"] == -1 else literals([part["const"]])
    if "enum" in part:
        return literals(part["enum"])
    if is_union(part):
        types = list(dict.fromkeys(type_of(each, takes) for each in alternatives(part)))
        return types[0] if len(types) == 1 else f"Union[{', '.join(types)}]"
    kind = part.get("type")
    if kind == "array":
        return f"{'Sequence' if takes else 'List'}[{type_of(part['items'], takes)}]"
    if kind == "object":
        return (
            f"{'Mapping' if takes else 'Dict'}[str, {type_of(part['additionalProperties'], takes)}]"
        )
    return {
        "integer": "int",
        "number": "float",
        "string": "str",
        "boolean": "bool",
        "null": "None",
        None: "Any",
    }[kind]


def snake_case(name):
    name = re.sub(r"([A-Z])", lambda letter: "_" + letter[0].lower(), name)
    return name + "_" if keyword.iskeyword(name) else name


def members(shape, wanted, takes):
    return {
        name: type_of(part, takes)
        for name, part in shape["properties"].items()
        if (name in shape.get("required", [])) == wanted
    }


def comments(shape, name):
    text = text_of(shape["properties"][name])
    return f"  # {text}" if text else ""


def body(fields, shape):
    return "".join(
        f"    {name}: {type_}{comments(shape, name)}\n" for name, type_ in fields.items()
    )


def typed_dict(name, shape, takes):
    """Required members stand in a class of their own, for Python before 3.11."""
    needed, optional = members(shape, True, takes), members(shape, False, takes)
    text = text_of(shape)
    doc = f'    """{text}"""\n' if text else ""
    if any(map(keyword.iskeyword, {**needed, **optional})):
        out = ""
        for part, fields, total in (
            (f"_{name}Needed", needed, ""),
            (f"_{name}Optional", optional, ", total=False"),
        ):
            inside = ", ".join(f'"{key}": {type_!r}' for key, type_ in fields.items())
            out += f'{part} = TypedDict("{part}", {{{inside}}}{total})\n'
        return (
            f"{out}\n\nclass {name}(_{name}Needed, _{name}Optional):\n{doc or '    pass'}\n".rstrip(
                "\n"
            )
            + "\n"
        )
    if needed and optional:
        return (
            f"class _{name}Needed(TypedDict):\n{body(needed, shape)}\n\n"
            f"class {name}(_{name}Needed, total=False):\n{doc}"
            + ("\n" if doc else "")
            + body(optional, shape)
        )
    total = "" if needed else ", total=False"
    return (
        f"class {name}(TypedDict{total}):\n{doc}"
        + ("\n" if doc else "")
        + body({**needed, **optional}, shape)
    )


def flat(name, shape, shapes):
    """A union as one class: what tells is needed, everything else is optional."""
    teller = shape["discriminator"]["propertyName"]
    properties, values = {}, []
    for each in alternatives(shape):
        one = shapes[name_of(each["$ref"])]
        values.append(one["properties"][teller]["const"])
        properties.update({key: part for key, part in one["properties"].items() if key != teller})
    merged = {
        "properties": {teller: {"enum": values}, **properties},
        "required": [teller],
        "description": shape["description"],
    }
    return typed_dict(name, merged, False)


def protocol(shapes):
    out = '"""The shapes of the protocol. Generated from `undertext schema` by bindings/types/make.py."""\n\n'
    out += "from __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, Mapping, Sequence, TypedDict, Union\n\n"
    out += "from ._message import Message, MessageLike\n\n"
    kept = {name: shape for name, shape in shapes.items() if name not in OWN}
    for name, shape in kept.items():
        if is_object(shape) or is_union(shape):
            continue
        text = text_of(shape)
        out += (f"#: {text}\n" if text else "") + f"{name} = {type_of(shape, False)}\n"
    for name, shape in kept.items():
        if is_object(shape):
            out += "\n\n" + typed_dict(name, shape, is_request(shape))
        elif name in FLAT:
            out += "\n\n" + flat(name, shape, shapes)
    # Unions are made when the module is read, so that what they name comes first.
    left = {name: shape for name, shape in kept.items() if is_union(shape) and name not in FLAT}
    out += "\n"
    while left:
        for name, shape in list(left.items()):
            named = {name_of(each["$ref"]) for each in alternatives(shape) if "$ref" in each}
            if named & set(left) - {name}:
                continue
            text = text_of(shape)
            out += "\n" + (f"#: {text}\n" if text else "") + f"{name} = {type_of(shape, True)}\n"
            del left[name]
    names = sorted(name for name in kept)
    return out + "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"


def arguments(shapes):
    out = '"""The arguments of methods by their names in Python. Generated from `undertext schema` by bindings/types/make.py."""\n\n'
    out += "from __future__ import annotations\n\nfrom typing import Any, Literal, Mapping, Sequence, TypedDict, Union\n\n"
    out += "from ._message import MessageLike\n"
    head, out = out, ""
    for name, (shape_name, without) in ARGUMENTS.items():
        shape = shapes[shape_name]
        text = f"Of {shape_name}: {text_of(shape)}"
        taken = {
            member: part
            for member, part in shape["properties"].items()
            if member not in (*without, "operation", "query")
        }
        # A docstring, not comments: help() of a method shows them (_signatures.py).
        described = "".join(
            f"    {snake_case(member)}: {text_of(part)}\n"
            for member, part in taken.items()
            if text_of(part)
        )
        out += f'\n\nclass {name}(TypedDict, total=False):\n    """{text}\n\n{described}    """\n\n'
        for member, part in taken.items():
            out += f"    {snake_case(member)}: {type_of(part, True)}\n"
    used = sorted(
        name for name in shapes if name not in OWN and re.search(rf": [^#\n]*\b{name}\b", out)
    )
    head += "from ._protocol import " + ", ".join(used) + "\n"
    return (
        head
        + out
        + "\n\n__all__ = [\n"
        + "".join(f'    "{name}",\n' for name in sorted(ARGUMENTS))
        + "]\n"
    )
