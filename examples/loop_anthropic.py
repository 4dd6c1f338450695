"""An agent with a tool, by the SDK of Anthropic. The conversation lasts, and compresses itself before the window is full."""

import anthropic

import undertext

MODEL = "claude-opus-4-7"
TOOLS = [{"name": "run_tests", "description": "Runs a suite.", "input_schema": {"type": "object", "properties": {"suite": {"type": "string"}}}}]


def run_tests(suite):
    return f"1 failed: {suite}.cpp:17"


def ask(conversation, client, question):
    conversation.append({"role": "user", "content": question})
    while True:
        request = conversation.render("anthropic")["request"]
        response = client.messages.create(model=MODEL, max_tokens=1024, tools=TOOLS, **request)
        conversation.append_response(response)
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            return response.content[-1].text
        for call in calls:
            conversation.append({"role": "tool", "toolCallId": call.id, "content": run_tests(**call.input)})


settings = {"model": MODEL, "compressionConfig": {"enabled": True}}
with undertext.open("sqlite:agent.db", "support-17", settings=settings) as conversation:
    client = anthropic.Anthropic()
    print(ask(conversation, client, "Why is the build red?"))
    print(ask(conversation, client, "Please fix it."))
    print(conversation)
