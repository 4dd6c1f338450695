from __future__ import annotations

import undertext
from undertext.types import Message, Plan


def keep_questions(view: undertext.View, tokens_max: int | None, cancel: undertext.Cancel) -> Plan | None:
    """Hides what is no question, but for the last two messages. A summary stands for messages that stand together."""
    old = [view.entry(i)["ordinal"] for i in range(len(view) - 2) if not str(view[i]["content"]).endswith("?")]
    if not old:
        return None
    said = {"role": "user", "content": "(said)"}
    return {"replacements": [{"hide": [ordinal], "summary": said} for ordinal in old], "reason": "no questions"}


def shout(message: Message) -> dict[str, object]:
    return {**message, "content": str(message["content"]).upper()}


conversation = undertext.open(strategies={"keep_questions": keep_questions})
for text in ("It is red.", "Why?", "It was green.", "Since when?", "Since noon."):
    conversation.append({"role": "user", "content": text})

receipt = conversation.compress(strategy="keep_questions")["receipt"]
print([message["content"] for message in conversation.messages()], receipt["reason"])
conversation.transform(shout, indices=[0])
print(conversation.messages(first=1))
conversation.rollback(0)
print(len(conversation))
