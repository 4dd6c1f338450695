from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import undertext
from undertext.pydantic_ai import UndertextHistory


def answer(messages, info):
    """Stands for a model: reads eight pages, one after the other, and says how much it was sent."""
    answer.calls += 1
    if answer.calls <= 8:
        return ModelResponse([ToolCallPart("read", {"page": answer.calls})])
    return ModelResponse([TextPart(f"All read; this request has {len(messages)} messages.")])


answer.calls = 0

# With {"model": "gpt-5", "compressionConfig": {"enabled": True}} the threshold is three quarters of the model's window.
settings = {"compressionConfig": {"enabled": True, "threshold": 1000}}
with undertext.open(settings=settings) as conversation:  # or undertext.Store("sqlite:agents.db"): a conversation for each conversation_id
    agent = Agent(FunctionModel(answer), capabilities=[UndertextHistory(conversation)])

    @agent.tool_plain
    def read(page: int) -> str:
        return f"Page {page}. " + "Words. " * 200

    result = agent.run_sync("Read eight pages.")
    print(result.output)
    print(len(result.all_messages()), "messages in the history,", conversation.stats()["tokens"], "tokens in the model's view")
