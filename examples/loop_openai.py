"""An agent with a tool, by the SDK of OpenAI. The conversation lasts, and compresses itself before the window is full."""

import json

import openai

import undertext

MODEL = "gpt-5.5"
TOOLS = [{"type": "function", "function": {"name": "run_tests", "description": "Runs a suite.",
          "parameters": {"type": "object", "properties": {"suite": {"type": "string"}}}}}]


def run_tests(suite):
    return f"1 failed: {suite}.cpp:17"


def ask(conversation, client, question):
    conversation.append({"role": "user", "content": question})
    while True:
        request = conversation.render("openai_chat")["request"]
        response = client.chat.completions.create(model=MODEL, tools=TOOLS, **request)
        conversation.append_response(response)
        answer = response.choices[0].message
        if not answer.tool_calls:
            return answer.content
        for call in answer.tool_calls:
            result = run_tests(**json.loads(call.function.arguments))
            conversation.append({"role": "tool", "toolCallId": call.id, "content": result})


settings = {"model": MODEL, "compressionConfig": {"enabled": True}}
with undertext.open("sqlite:agent.db", "support-17", settings=settings) as conversation:
    client = openai.OpenAI()
    print(ask(conversation, client, "Why is the build red?"))
    print(ask(conversation, client, "Please fix it."))
    print(len(conversation), "messages stored")
