"""What the official SDKs for Python make of a provider, as lines of JSON.   sdk_calls.py URL      (with the environment of scripts/peers sdks)

Each call says in its model's name what the upstream shall do: see sdks.py.
"""

import json
import logging
import sys

import anthropic
import google.genai
import openai
from google.genai import errors as google_errors
from google.genai import types as google_types

TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ERRORS = ("error-400", "error-401", "error-429", "error-529", "error-500")


def openai_calls(url):
    client = openai.OpenAI(base_url=url + "/v1", api_key="sk-openai", max_retries=1, timeout=20)
    chat = {
        "messages": [{"role": "user", "content": "Grüße \U0001f600"}],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": TOOL}}],
    }
    yield "chat", lambda: client.chat.completions.create(model="plain", **chat).model_dump_json()
    yield (
        "chat stream",
        lambda: [
            c.model_dump_json()
            for c in client.chat.completions.create(model="plain", stream=True, **chat)
        ],
    )
    yield (
        "responses",
        lambda: client.responses.create(model="plain", input="hello").model_dump_json(),
    )
    yield (
        "responses stream",
        lambda: [
            e.model_dump_json()
            for e in client.responses.create(model="plain", input="hello", stream=True)
        ],
    )
    yield "models", lambda: [m.id for m in client.models.list()]
    yield (
        "headers",
        lambda: client.chat.completions.with_raw_response.create(model="plain", **chat).headers.get(
            "x-request-id"
        ),
    )
    for name in ERRORS:
        yield name, lambda name=name: client.chat.completions.create(model=name, **chat)
    yield (
        "torn",
        lambda: [
            c.model_dump_json()
            for c in client.chat.completions.create(model="torn", stream=True, **chat)
        ],
    )
    yield (
        "timeout",
        lambda: client.with_options(timeout=0.6, max_retries=0).chat.completions.create(
            model="silent", **chat
        ),
    )

    def cancelled():
        with client.chat.completions.create(model="endless", stream=True, **chat) as stream:
            return next(iter(stream)).model_dump_json()

    yield "cancelled", cancelled


def anthropic_calls(url):
    client = anthropic.Anthropic(base_url=url, api_key="sk-anthropic", max_retries=1, timeout=20)
    call = {
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "hello"}],
        "tools": [{"name": "weather", "input_schema": TOOL}],
    }
    yield "messages", lambda: client.messages.create(model="plain", **call).model_dump_json()
    yield (
        "messages stream",
        lambda: [
            e.model_dump_json() for e in client.messages.create(model="plain", stream=True, **call)
        ],
    )

    def helper():
        with client.messages.stream(model="plain", **call) as stream:
            return stream.get_final_message().model_dump_json()

    yield "messages helper", helper
    yield (
        "count_tokens",
        lambda: client.messages.count_tokens(
            model="plain", messages=call["messages"]
        ).model_dump_json(),
    )
    yield "models", lambda: [m.id for m in client.models.list()]
    for name in ERRORS:
        yield name, lambda name=name: client.messages.create(model=name, **call)
    yield (
        "torn",
        lambda: [
            e.model_dump_json() for e in client.messages.create(model="torn", stream=True, **call)
        ],
    )
    yield (
        "timeout",
        lambda: client.with_options(timeout=0.6, max_retries=0).messages.create(
            model="silent", **call
        ),
    )

    def cancelled():
        with client.messages.create(model="endless", stream=True, **call) as stream:
            return next(iter(stream)).model_dump_json()

    yield "cancelled", cancelled
    bearer = anthropic.Anthropic(
        base_url=url + "/", api_key=None, auth_token="bearer-token", max_retries=0
    )
    yield "bearer", lambda: bearer.messages.create(model="plain", **call).model_dump_json()


def google_calls(url):
    client = google.genai.Client(
        api_key="sk-google", http_options=google_types.HttpOptions(base_url=url, timeout=20_000)
    )
    yield (
        "generate",
        lambda: client.models.generate_content(model="plain", contents="hello").model_dump_json(),
    )
    yield (
        "generate stream",
        lambda: [
            c.model_dump_json()
            for c in client.models.generate_content_stream(model="plain", contents="hello")
        ],
    )
    weather = google_types.FunctionDeclaration(name="weather", parameters_json_schema=TOOL)
    tools = google_types.GenerateContentConfig(
        tools=[google_types.Tool(function_declarations=[weather])]
    )
    yield (
        "tools",
        lambda: client.models.generate_content(
            model="plain", contents="hello", config=tools
        ).model_dump_json(),
    )
    yield (
        "count_tokens",
        lambda: client.models.count_tokens(model="plain", contents="hello").model_dump_json(),
    )
    yield "models", lambda: [m.name for m in client.models.list()]
    for name in ERRORS:
        yield name, lambda name=name: client.models.generate_content(model=name, contents="hello")
    quick = google.genai.Client(
        api_key="sk-google", http_options=google_types.HttpOptions(base_url=url, timeout=600)
    )
    yield "timeout", lambda: quick.models.generate_content(model="silent", contents="hello")
    yield (
        "torn",
        lambda: [
            c.model_dump_json()
            for c in client.models.generate_content_stream(model="torn", contents="hello")
        ],
    )
    yield (
        "cancelled",
        lambda: next(
            iter(client.models.generate_content_stream(model="endless", contents="hello"))
        ).model_dump_json(),
    )


def told(error):
    """What a program can see of an error, without what differs from run to run."""
    status = getattr(error, "status_code", getattr(error, "code", None))
    body = getattr(error, "body", None)
    return {
        "error": type(error).__name__,
        "status": status,
        "body": body if isinstance(body, (dict, str)) else None,
        "message": str(error)[:200] if isinstance(error, google_errors.APIError) else None,
    }


def main(url):
    logging.disable(logging.CRITICAL)
    for sdk, calls in (
        ("openai", openai_calls),
        ("anthropic", anthropic_calls),
        ("google", google_calls),
    ):
        for name, call in calls(url):
            try:
                result = {"ok": call()}
            except Exception as error:  # which one it is, is compared
                result = told(error)
            print(json.dumps([sdk, name, result], default=str), flush=True)


main(*sys.argv[1:])
