from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import undertext
from undertext.langchain import UndertextChatMessageHistory

model = GenericFakeChatModel(messages=iter([AIMessage("It left Lyon this morning.")]))  # any chat model

with undertext.open() as conversation:  # or undertext.open("sqlite:agent.db", "support-17")
    history = UndertextChatMessageHistory(conversation)
    history.add_messages([
        HumanMessage("Where is my parcel?", id="q1"),
        AIMessage("", tool_calls=[{"name": "track", "args": {"parcel": 7}, "id": "c1"}]),
        ToolMessage("left Lyon 06:12", tool_call_id="c1", artifact={"rows": [["Lyon", "06:12"]]}),
    ])
    history.add_messages([model.invoke(history.messages)])

    # LangChain's messages come back equal, artifacts and all; to the engine they are messages like any other.
    print(history.messages[2].artifact)
    conversation.delete(indices=[1], pairs="shrink")
    print([message.type for message in history.messages])

    history.clear()
    conversation.undo()
    conversation.undo()
    print(len(history.messages), "messages again")
