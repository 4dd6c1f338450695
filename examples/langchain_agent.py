from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

import undertext
from undertext.langchain_agents import UndertextMiddleware

model = GenericFakeChatModel(messages=(AIMessage(f"Filed as {n}. " + "Noted. " * 50) for n in range(20)))  # any chat model

# With {"model": "gpt-5", "compressionConfig": {"enabled": True}} the threshold is three quarters of the model's window.
settings = {"compressionConfig": {"enabled": True, "threshold": 400}}
with undertext.open(settings=settings) as conversation:  # or undertext.Store("sqlite:agents.db"): a conversation for each thread
    agent = create_agent(model, middleware=[UndertextMiddleware(conversation)])
    state = {"messages": []}
    for n in range(8):
        state = agent.invoke({"messages": [*state["messages"], {"role": "user", "content": f"File letter {n}, please."}]})

    print(len(state["messages"]), "messages in the state,", len(conversation), "in the model's view")
    print(conversation.stats()["tokens"], "tokens in the view,", conversation.count(all=True)["tokens"], "in the log")

    # A summary stands for what was hidden. Expanded, the next call of the model sees the originals.
    print(conversation[0]["content"].splitlines()[0])
    while "EXPAND" in conversation[0]["content"]:
        conversation.expand(0)
    print(len(conversation), "messages:", conversation[0]["content"])
