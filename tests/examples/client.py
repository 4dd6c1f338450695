"""A program that knows nothing of Undertext, as an agent would be: three questions to Anthropic's API, with its own list of messages."""

import json
import os
import urllib.request

messages = []
for question in ("Why is the build red?", "Please fix it.", "Which files are affected?"):
    messages.append({"role": "user", "content": question})
    body = json.dumps(
        {"model": "claude-opus-4-7", "max_tokens": 1024, "messages": messages}
    ).encode()
    call = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        body,
        {"content-type": "application/json"},
    )
    messages.append(
        {"role": "assistant", "content": json.load(urllib.request.urlopen(call))["content"]}
    )
