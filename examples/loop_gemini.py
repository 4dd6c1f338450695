"""An agent with a tool, by the SDK of Google. The conversation lasts, and compresses itself before the window is full."""

from google import genai

import undertext

MODEL = "gemini-3-pro-preview"
RUN_TESTS = {"name": "run_tests", "description": "Runs a suite.", "parameters": {"type": "OBJECT", "properties": {"suite": {"type": "STRING"}}}}


def run_tests(suite):
    return f"1 failed: {suite}.cpp:17"


def ask(conversation, client, question):
    conversation.append({"role": "user", "content": question})
    while True:
        request = conversation.render("gemini")["request"]
        config = {"tools": [{"function_declarations": [RUN_TESTS]}], "system_instruction": request.get("systemInstruction")}
        response = client.models.generate_content(model=MODEL, contents=request["contents"], config=config)
        conversation.append_response(response)
        calls = [block for block in conversation.blocks(last=1)[0]["blocks"] if block["kind"] == "call"]
        if not calls:
            return response.text
        for call in calls:
            conversation.append({"role": "tool", "toolCallId": call["callId"], "content": run_tests(**call["arguments"])})


settings = {"model": MODEL, "compressionConfig": {"enabled": True}}
with undertext.open("sqlite:agent.db", "support-17", settings=settings) as conversation:
    client = genai.Client()
    print(ask(conversation, client, "Why is the build red?"))
    print(ask(conversation, client, "Please fix it."))
    print(len(conversation), "messages stored")
