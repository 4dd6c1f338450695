"""Conversations of several turns with a tool, as the official SDKs for Python lead them.   sdk_turn_calls.py URL

Each conversation is named by its model; sdk_turns.py has the upstream and says what is to be recorded. What is sent back is what the SDK gave.
"""

import sys

import anthropic
import google.genai
import openai
from google.genai import types

TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
RESULT, THANKS = "rain, 3 degrees", "Thank you!"


def question(model):
    return f"What is the weather in Oslo, {model}?"


def chat(client, model, streams):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": question(model)},
    ]
    call = {
        "model": model,
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": TOOL}}],
    }

    def turn():
        if not streams:
            return client.chat.completions.create(messages=messages, **call).choices[0].message
        with client.chat.completions.stream(
            messages=messages, stream_options={"include_usage": True}, **call
        ) as stream:
            return stream.get_final_completion().choices[0].message

    first = turn()
    messages.append(first.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": RESULT})
    messages.append(turn().model_dump(exclude_none=True))
    messages.append({"role": "user", "content": THANKS})
    return turn().content


def responses(client, model, streams, names_previous=False):
    tools = [{"type": "function", "name": "weather", "parameters": TOOL, "strict": False}]
    items, previous = [{"role": "user", "content": question(model)}], None

    def turn(new):
        nonlocal previous
        if not names_previous:
            items.extend(new)
        call = {
            "model": model,
            "tools": tools,
            "instructions": "Be brief.",
            "input": new if names_previous and previous else list(items),
        }
        if names_previous and previous:
            call["previous_response_id"] = previous
        if streams:
            (answer,) = [
                event.response
                for event in client.responses.create(stream=True, **call)
                if event.type == "response.completed"
            ]
        else:
            answer = client.responses.create(**call)
        previous = answer.id
        items.extend(answer.output)
        return answer

    called = next(item for item in turn([]).output if item.type == "function_call")
    turn([{"type": "function_call_output", "call_id": called.call_id, "output": RESULT}])
    return turn([{"role": "user", "content": THANKS}]).output_text


def messages(client, model, streams):
    sent = [{"role": "user", "content": question(model)}]
    call = {
        "model": model,
        "max_tokens": 2000,
        "system": "Be brief.",
        "tools": [{"name": "weather", "input_schema": TOOL}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }

    def turn():
        if not streams:
            return client.messages.create(messages=sent, **call)
        with client.messages.stream(messages=sent, **call) as stream:
            return stream.get_final_message()

    first = turn()
    sent.append({"role": "assistant", "content": first.content})
    called = next(block for block in first.content if block.type == "tool_use")
    sent.append(
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": called.id, "content": RESULT}],
        }
    )
    sent.append({"role": "assistant", "content": turn().content})
    sent.append({"role": "user", "content": THANKS})
    return turn().content[0].text


def gemini(client, model, streams):
    weather = types.FunctionDeclaration(name="weather", parameters_json_schema=TOOL)
    config = types.GenerateContentConfig(
        system_instruction="Be brief.", tools=[types.Tool(function_declarations=[weather])]
    )
    talk = client.chats.create(model=model, config=config)

    def turn(said):
        return list(talk.send_message_stream(said)) if streams else [talk.send_message(said)]

    calls = [call for piece in turn(question(model)) for call in piece.function_calls or []]
    turn(types.Part.from_function_response(name=calls[0].name, response={"output": RESULT}))
    return "".join(piece.text or "" for piece in turn(THANKS))


def main(url):
    of_openai = openai.OpenAI(base_url=url + "/v1", api_key="sk-openai", max_retries=0)
    of_anthropic = anthropic.Anthropic(base_url=url, api_key="sk-anthropic", max_retries=0)
    of_google = google.genai.Client(
        api_key="sk-google", http_options=types.HttpOptions(base_url=url)
    )
    for streams, ending in ((False, "whole"), (True, "streamed")):
        print(chat(of_openai, f"chat-{ending}", streams))
        print(responses(of_openai, f"responses-{ending}", streams))
        print(responses(of_openai, f"previous-{ending}", streams, names_previous=True))
        print(messages(of_anthropic, f"messages-{ending}", streams))
        print(gemini(of_google, f"gemini-{ending}", streams))


main(*sys.argv[1:])
