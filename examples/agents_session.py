import asyncio
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

import undertext
from undertext.openai_agents import UndertextSession


class Counting(Model):
    """Any model; this one says how many items it was given."""

    async def get_response(self, system_instructions: Any, input: Any, *arguments: Any, **named: Any) -> ModelResponse:
        text = ResponseOutputText(type="output_text", text=f"{len(input)} items", annotations=[])
        message = ResponseOutputMessage(type="message", id="m", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError


async def main() -> None:
    set_tracing_disabled(True)
    agent = Agent(name="counter", model=Counting())
    with undertext.open() as conversation:  # or undertext.open("sqlite:agent.db", "support-17")
        session = UndertextSession("support-17", conversation)
        for question in ("one", "two"):
            result = await Runner.run(agent, question, session=session)
            print(result.final_output)

        # What is popped is hidden, and not lost.
        print((await session.pop_item())["content"][0]["text"], "/", len(await session.get_items()), "left")
        conversation.undo()
        print(len(await session.get_items()), "again")


asyncio.run(main())
