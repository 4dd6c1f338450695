#!/usr/bin/env python3
"""Requests against the types of the official packages: openai, anthropic, google-genai.   sdk_types.py < requests

Reads {"dialect":…,"request":{…},…} per line and prints each that does not fit, with the error. Runs in the environment of scripts/peers sdks.
"""

import json
import sys

from anthropic.types import MessageParam, TextBlockParam
from google.genai import types as gemini
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter, ValidationError
from typing import Iterable, Union

CHAT, ITEM, MESSAGE = (
    TypeAdapter(ChatCompletionMessageParam),
    TypeAdapter(ResponseInputItemParam),
    TypeAdapter(MessageParam),
)
SYSTEM = TypeAdapter(Union[str, Iterable[TextBlockParam]])


def walk(value):
    """Lists of the types are read lazily: they are checked when somebody looks."""
    if isinstance(value, dict):
        for member in value.values():
            walk(member)
    elif not isinstance(value, (str, bytes, int, float, type(None))):
        for element in value:
            walk(element)


def with_id(item):
    """The API takes an assistant's parts without the ids that its own answers have; the types do not say so."""
    if item.get("role") == "assistant" and isinstance(item.get("content"), list):
        return {"id": "msg_0", "status": "completed", "type": "message", **item}
    return item


def check(dialect, request):
    if dialect == "openai_chat":
        for message in request["messages"]:
            # Of vendors that speak this dialect.
            walk(
                CHAT.validate_python(
                    {k: v for k, v in message.items() if not k.startswith("reasoning")}
                )
            )
    elif dialect == "openai_responses":
        for item in request["input"]:
            walk(ITEM.validate_python(with_id(item)))
    elif dialect == "anthropic":
        for message in request["messages"]:
            walk(MESSAGE.validate_python(message))
        if "system" in request:
            walk(SYSTEM.validate_python(request["system"]))
    else:
        for content in request["contents"] + [
            request[k] for k in ("systemInstruction",) if k in request
        ]:
            gemini.Content.model_validate(content)


for line in sys.stdin:
    one = json.loads(line)
    try:
        check(one["dialect"], one["request"])
    except ValidationError as error:
        print(json.dumps({**one, "error": str(error)[:1500]}))
