"""Sub-agents work in forks: each knows what its parent knew, and the parent reads their answers alone. A fork copies nothing."""

import anthropic

import undertext

MODEL = "claude-opus-4-7"


def ask(conversation, question):
    conversation.append({"role": "user", "content": question})
    request = conversation.render()["request"]
    response = anthropic.Anthropic().messages.create(model=MODEL, max_tokens=1024, **request)
    conversation.append_response(response)
    return response.content[0].text


with undertext.Store("sqlite:agent.db") as store, store.open("fix", settings={"model": MODEL}) as parent:
    ask(parent, "Please fix it.")
    answers = []
    for name, question in (("tests", "Which tests are missing?"), ("files", "Which files are affected?")):
        with parent.fork(id=f"fix-{name}") as child:
            answers.append(ask(child, question))
            print(f"{child.id}: {len(child)} messages, {answers[-1]}")
    print(f"{parent.id}:", ask(parent, "\n".join(answers)))
    print([record["conversation"] for record in store], len(parent))
