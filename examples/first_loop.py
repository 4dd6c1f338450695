import anthropic, undertext

client, model = anthropic.Anthropic(), "claude-opus-4-7"
settings = {"model": model, "compressionConfig": {"enabled": True}}
with undertext.open("sqlite:agent.db", "support-17", settings=settings) as chat:
    for question in ("Why is the build red?", "Please fix it.", "Which files are affected?"):
        chat.append({"role": "user", "content": question})
        answer = client.messages.create(model=model, max_tokens=1024, **chat.render()["request"])
        chat.append_response(answer)
    chat.compress(strategy={"name": "keep_recent", "n": 2})  # by itself, too, before the model's window is full
    print(len(chat), "messages left;", chat.undo()["stats"]["currentBatchMessages"], "again")
