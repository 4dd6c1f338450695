import anthropic, undertext

with undertext.open("sqlite:agent.db", "support-17", settings={"model": "claude-opus-4-7", "compressionConfig": {"enabled": True}}) as chat:
    for question in ("Why is the build red?", "Please fix it.", "Which files are affected?"):
        chat.append({"role": "user", "content": question})
        chat.append_response(anthropic.Anthropic().messages.create(model="claude-opus-4-7", max_tokens=1024, **chat.render()["request"]))
    chat.compress(strategy={"name": "keep_recent", "n": 2})  # by itself, too, before the model's window is full
    left = len(chat)
    chat.undo()
    print(left, "messages left;", len(chat), "again")
