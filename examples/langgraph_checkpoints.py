from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

import undertext
from undertext.langgraph import UndertextSaver


def answer(state: MessagesState) -> MessagesState:
    return {"messages": [AIMessage(f"answer to {state['messages'][-1].content}")]}


builder = StateGraph(MessagesState)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")

with undertext.Store("memory:") as store:  # or "sqlite:agent.db", "postgres://…"
    graph = builder.compile(checkpointer=UndertextSaver(store))
    config = {"configurable": {"thread_id": "support-17"}}
    for question in ("one", "two", "three"):
        graph.invoke({"messages": [HumanMessage(question)]}, config)

    states = list(graph.get_state_history(config))
    print(len(states), "checkpoints, the latest with", len(states[0].values["messages"]), "messages")
    print([message.content for message in states[4].values["messages"]])

    # The list of messages is a conversation: each message is stored once, and every query works on it.
    with store.open("langgraph.support-17.0.messages") as conversation:
        print(conversation.stats()["totalMessages"], "messages stored")
        print(conversation.messages(role="user", last=1)[0]["content"])
