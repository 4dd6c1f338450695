"""A call waits for a human. It may wait for days: the conversation is stored, goes on meanwhile, and no compression hides it."""

import anthropic

import undertext

MODEL = "claude-opus-4-7"
TOOLS = [{"name": "delete_branch", "input_schema": {"type": "object", "properties": {"name": {"type": "string"}}}}]


def open_conversation():
    return undertext.open("sqlite:agent.db", "support-17", settings={"model": MODEL})


def step(conversation):
    request = conversation.render()["request"]
    response = anthropic.Anthropic().messages.create(model=MODEL, max_tokens=1024, tools=TOOLS, **request)
    conversation.append_response(response)
    return response


with open_conversation() as conversation:
    conversation.append({"role": "user", "content": "Tidy up the branches."})
    call = step(conversation).content[0]
    conversation.mark("needs approval", indices=[len(conversation) - 1])
    print("asks for", call.name, call.input)

# Another process, another day. What waits is found by its mark.
with open_conversation() as conversation:
    conversation.compress(strategy={"name": "keep_recent", "n": 1})
    (asked,) = conversation.blocks(marked="needs approval")
    (waiting,) = (block for block in asked["blocks"] if block["kind"] == "call")
    print("approved:", waiting["name"], waiting["arguments"])
    conversation.append({"role": "tool", "toolCallId": waiting["callId"], "content": f"deleted {waiting['arguments']['name']}"})
    conversation.unmark("needs approval", ordinals=[asked["ordinal"]])
    print(step(conversation).content[0].text)
