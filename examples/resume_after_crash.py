"""The process is killed while a tool runs. The next one finds the call that has no result, and goes on from there."""

import json
import os
import signal
import subprocess
import sys

import openai

import undertext

MODEL = "gpt-5"
TOOLS = [{"type": "function", "function": {"name": "run_tests", "parameters": {"type": "object", "properties": {"suite": {"type": "string"}}}}}]


def step(conversation):
    request = conversation.render("openai_chat")["request"]
    conversation.append_response(openai.OpenAI().chat.completions.create(model=MODEL, tools=TOOLS, **request))


def waiting_calls(conversation):
    blocks = [block for message in conversation.blocks() for block in message["blocks"]]
    answered = {block["callId"] for block in blocks if block["kind"] == "result"}
    return [block for block in blocks if block["kind"] == "call" and block["callId"] not in answered]


conversation = undertext.open("sqlite:agent.db", "support-17", settings={"model": MODEL})
if sys.argv[1:] == ["begin"]:
    conversation.append({"role": "user", "content": "Why is the build red?"})
    step(conversation)
    os.kill(os.getpid(), signal.SIGKILL)  # kill -9, before the tool has run

died = subprocess.run([sys.executable, __file__, "begin"])
print("ended by", signal.Signals(-died.returncode).name, "with", len(conversation), "messages stored")
for call in waiting_calls(conversation):
    print("goes on with", call["name"], call["arguments"])
    suite = json.loads(call["arguments"])["suite"]
    conversation.append({"role": "tool", "toolCallId": call["callId"], "content": f"1 failed: {suite}.cpp:17"})
step(conversation)
print(conversation[-1]["content"])
