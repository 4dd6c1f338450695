"""Shapes as TypeScript."""

import json

from shapes import alternatives, is_object, is_request, is_union, name_of, required_choices, text_of

# Written by hand: what a message may hold beyond its members is for the language to say.
OWN = {
    "Json": "Json",
    "JsonObject": "Record<string, unknown>",
    "Part": "Part",
    "Message": "Message",
}


class Writer:
    def __init__(self, shapes, end):
        self.shapes, self.end = shapes, end  # how a statement ends

    def literal(self, value):
        return "'" + value + "'" if isinstance(value, str) else json.dumps(value)

    def type(self, part, readonly=False):
        if "$ref" in part:
            name = name_of(part["$ref"])
            return OWN.get(name, name)
        if "const" in part:
            return self.literal(part["const"])
        if "enum" in part:
            return " | ".join(map(self.literal, part["enum"]))
        if is_union(part):
            return self.union([self.type(each, readonly) for each in alternatives(part)])
        kind = part.get("type")
        if kind == "array":
            element = self.type(part["items"], readonly)
            element = f"({element})" if " | " in element else element
            return f"{'readonly ' if readonly else ''}{element}[]"
        if kind == "object":
            return f"Record<string, {self.type(part['additionalProperties'], readonly)}>"
        return {
            "integer": "number",
            "number": "number",
            "string": "string",
            "boolean": "boolean",
            "null": "null",
            None: "Json",
        }[kind]

    def union(self, types):
        # A word beside any text would be lost: an editor offers it only so.
        if "string" in types and any(self.is_words(each) for each in types):
            types = ["(string & {})" if each == "string" else each for each in types]
        # -1 is a number.
        types = [each for each in types if not (each.lstrip("-").isdigit() and "number" in types)]
        return " | ".join(dict.fromkeys(types))

    def is_words(self, name):
        return "enum" in self.shapes.get(name, {})

    def comment(self, text, indent=""):
        return f"{indent}/** {text} */\n" if text else ""

    def member(self, name, part, readonly, required, indent="  "):
        mark = "" if required else "?"
        return f"{self.comment(text_of(part), indent)}{indent}{name}{mark}: {self.type(part, readonly)}{self.end}\n"

    def interface(self, name, shape, exported=True, without=()):
        readonly = is_request(shape)
        out = f"{'export ' if exported else ''}interface {name} {{\n"
        for member, part in shape["properties"].items():
            if member not in without:
                out += self.member(member, part, readonly, member in shape.get("required", []))
        if shape.get("additionalProperties") is True:
            out += f"  [key: string]: unknown{self.end}\n"
        return out + "}\n"

    def with_choices(self, name, shape):
        """The members that exclude each other stand in unions, of which each alternative has one of them, or one of those that may stand in place of the last."""
        choices = required_choices(shape)
        base = f"{name}Base"
        out = self.interface(
            base, shape, exported=False, without={each for names, _ in choices for each in names}
        )
        out += self.comment(text_of(shape)) + f"export type {name} = {base}"
        for names, beside in choices:
            last = names[-1]
            either = []
            for chosen in [*names, *beside]:
                is_last = chosen == last or chosen in beside
                others = names[:-1] if is_last else [*names, *beside]
                rest = "".join(f"; {other}?: undefined" for other in others if other != chosen)
                if chosen in beside:
                    rest = f"; {last}?: {self.type(shape['properties'][last], True)}{rest}"
                either.append(
                    f"{{ {chosen}: {self.type(shape['properties'][chosen], True)}{rest} }}"
                )
            out += " &\n  (\n    | " + "\n    | ".join(either) + "\n  )"
        return out + self.end + "\n"

    def shape(self, name, shape):
        if is_object(shape):
            if required_choices(shape):
                return self.with_choices(name, shape)
            return self.comment(text_of(shape)) + self.interface(name, shape)
        types = (
            [self.type(each) for each in alternatives(shape)]
            if is_union(shape)
            else [self.type(shape)]
        )
        either = self.union(types)
        text = f"export type {name} = {either}{self.end}\n"
        if len(text) > 140:
            text = (
                f"export type {name} =\n  | " + "\n  | ".join(either.split(" | ")) + f"{self.end}\n"
            )
        return self.comment(text_of(shape)) + text

    def all(self):
        return "\n".join(
            self.shape(name, shape) for name, shape in self.shapes.items() if name not in OWN
        )

    def words(self, constant, name):
        listed = ", ".join(map(self.literal, self.shapes[name]["enum"]))
        return f"export const {constant}: readonly {name}[] = [{listed}]{self.end}\n"


def node(shapes):
    writer = Writer(shapes, "")
    head = "// Generated from `undertext schema` by bindings/types/make.py.\nimport type { Json, Message } from './message_types.js'\n\n"
    return (
        head
        + writer.all()
        + "\n/** All types of events. */\n"
        + writer.words("eventTypes", "EventType")
    )


def form_of(writer, name, shape):
    """An operation as a form needs it: its members, but for those that every operation has."""
    every = {"operation", "expectedVersion", "description", "operationId"}
    out = f"  {{\n    name: {writer.literal(shape['properties']['operation']['const'])},\n    text: {json.dumps(shape['description'])},\n    members: [\n"
    for member, part in shape["properties"].items():
        if member in every:
            continue
        words = words_of(writer.shapes, part)
        about = {"name": member, "type": kind_of(part), "text": text_of(part)}
        fields = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in about.items()]
        fields += ["required: true"] if member in shape.get("required", []) else []
        fields += [f"words: {json.dumps(words)}"] if words else []
        out += f"      {{ {', '.join(fields)} }},\n"
    choices = "".join(f", {json.dumps(names)}" for names, _ in required_choices(shape))[2:]
    return out + f"    ],\n    choices: [{choices}],\n  }},\n"


def words_of(shapes, part):
    part = part.get("items", part)
    if "$ref" in part:
        part = shapes[name_of(part["$ref"])]
    return part.get("enum")


def kind_of(part):
    """Such as integer, string[], Message[]."""
    if "$ref" in part:
        return name_of(part["$ref"])
    if part.get("type") == "array":
        return kind_of(part["items"]) + "[]"
    return part.get("type", "Json")


FORMS = """// An operation, and what a form asks for.
export interface OperationMember {
  name: string;
  type: string; // such as integer, string[], Message[]
  text: string;
  required?: true;
  words?: readonly string[]; // that it, or each of its elements, is one of
}
export interface OperationShape {
  name: OperationName;
  text: string;
  members: readonly OperationMember[];
  choices: readonly (readonly string[])[]; // members of which exactly one is given
}
"""


def inspector(shapes):
    writer = Writer(shapes, ";")
    head = "// Generated from the OpenAPI document by bindings/types/make.py.\nimport type { Json, Message } from './message';\n\n"
    out = (
        head
        + writer.all()
        + "\n"
        + writer.words("roles", "Role")
        + writer.words("strategyNames", "StrategyName")
        + "\n"
        + FORMS
    )
    out += "export const operations: readonly OperationShape[] = [\n"
    for reference in shapes["Operation"]["discriminator"]["mapping"].values():
        out += form_of(writer, name_of(reference), shapes[name_of(reference)])
    return out + "];\n"
