"""What the schemas of shapes say, for writers of types."""


def name_of(reference):
    return reference.rsplit("/", 1)[1]


def is_request(shape):
    return shape.get("additionalProperties") is False


def is_union(shape):
    return "oneOf" in shape or "anyOf" in shape


def alternatives(shape):
    return shape.get("oneOf") or shape.get("anyOf")


def is_object(shape):
    return "properties" in shape


def required_choices(shape):
    """The members of which exactly one must be given, as lists, with those that may stand beside the last or in its place."""
    return [
        (choice["names"], choice.get("beside", []))
        for choice in shape.get("x-choices", [])
        if choice["required"]
    ]


def text_of(part):
    """The description, and the default."""
    text = part.get("description", "")
    if "default" in part and "Default:" not in text:
        import json

        text = f"{text} Default: {json.dumps(part['default'])}.".strip()
    return text
