"""One conversation, three providers: each is sent the whole of it in its own format, with calls, results and instructions."""

import json

import anthropic
import openai
from google import genai

import undertext

OPENAI, ANTHROPIC, GEMINI = openai.OpenAI(), anthropic.Anthropic(), genai.Client()
TOOL = {"name": "run_tests", "description": "Runs a suite."}
PARAMETERS = {"type": "object", "properties": {"suite": {"type": "string"}}}


def run_tests(suite):
    return f"1 failed: {suite}.cpp:17"


def ask_openai(conversation):
    request = conversation.render("openai_responses")["request"]
    tools = [{"type": "function", **TOOL, "parameters": PARAMETERS, "strict": False}]
    return OPENAI.responses.create(model="gpt-5", tools=tools, **request)


def ask_anthropic(conversation):
    request = conversation.render("anthropic")["request"]
    tools = [{**TOOL, "input_schema": PARAMETERS}]
    return ANTHROPIC.messages.create(model="claude-opus-4-7", max_tokens=1024, tools=tools, **request)


def ask_gemini(conversation):
    request = conversation.render("gemini")["request"]
    tools = [{"function_declarations": [{**TOOL, "parameters_json_schema": PARAMETERS}]}]
    config = {"system_instruction": request["systemInstruction"], "tools": tools}
    return GEMINI.models.generate_content(model="gemini-2.5-pro", contents=request["contents"], config=config)


def arguments_of(call):
    """OpenAI writes them as JSON in a string."""
    arguments = call["arguments"]
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def answer(conversation, ask):
    """Asks until the model calls no tool. Whose model it is makes no difference to what is read here."""
    while True:
        conversation.append_response(ask(conversation))
        (answered,) = conversation.blocks(last=1)
        calls = [block for block in answered["blocks"] if block["kind"] == "call"]
        if not calls:
            return
        for call in calls:
            result = run_tests(**arguments_of(call))
            conversation.append({"role": "tool", "toolCallId": call["callId"], "content": result})


with undertext.open() as conversation:
    conversation.append({"role": "system", "content": "You fix bugs."})
    for ask, question in (
        (ask_openai, "Why is the build red?"),
        (ask_anthropic, "Please fix it."),
        (ask_gemini, "Which files are affected?"),
    ):
        conversation.append({"role": "user", "content": question})
        answer(conversation, ask)
    for content in conversation.render("gemini")["request"]["contents"]:
        print(content["role"] + ":", content["parts"][0])
