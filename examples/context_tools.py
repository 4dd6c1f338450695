import json

import undertext

with undertext.open(settings={"contextTools": True}) as conversation:
    conversation.append([
        {"role": "user", "content": "Why does the tokenizer crash on emoji?"},
        {"role": "assistant", "content": "It reads a surrogate in utf16_length()."},
        {"role": "user", "content": "Fix it, please."},
        {"role": "assistant", "content": "Done."},
    ])
    conversation.compress(indices=[0, 1, 2], summary={"role": "user", "content": "(A bug was fixed.)"})

    # Three lines of an agent: declare the tools, and answer a call of the model with what they say.
    request = {"messages": conversation.messages(), "tools": conversation.tools("anthropic")}
    call = {"name": "context_search", "input": {"text": "utf16_length"}}  # what the model said
    result = conversation.call_tool(call["name"], call["input"])

    print([tool["name"] for tool in request["tools"]])
    print("utf16_length()" in result["text"], result["isError"])
    print(conversation.call_tool("context_expand", json.dumps({"ordinals": [99]}))["text"])
