import asyncio

from google.adk.agents import Agent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, Part

import undertext
from undertext.google_adk import UndertextPlugin


class Reader(BaseLlm):
    """Stands for a model: reads eight pages, one after the other, and says how much it was sent."""

    model: str = "reader"
    calls: int = 0

    async def generate_content_async(self, llm_request, stream=False):
        self.calls += 1
        answer = Part(text=f"All read; this request has {len(llm_request.contents)} contents.")
        if self.calls <= 8:
            answer = Part(function_call=FunctionCall(name="read", args={"page": self.calls}))
        yield LlmResponse(content=Content(role="model", parts=[answer]))


def read(page: int) -> str:
    return f"Page {page}. " + "Words. " * 200


async def main():
    # With {"model": "gemini-2.5-pro", "compressionConfig": {"enabled": True}} the threshold is three quarters of the model's window.
    settings = {"compressionConfig": {"enabled": True, "threshold": 1000}}
    with undertext.Store("memory:") as store:  # or "sqlite:agents.db", "postgres://…": a conversation for each agent of a session
        agent = Agent(name="reader", model=Reader(), tools=[read])
        app = App(name="app", root_agent=agent, plugins=[UndertextPlugin(store, settings=settings)])
        runner = InMemoryRunner(app=app)
        events = await runner.run_debug("Read eight pages.", user_id="ann", session_id="1", quiet=True)
        print(events[-1].content.parts[0].text)

        with store.open("google-adk.app_2fann_2f1_2freader") as conversation:
            print(len(events), "events,", conversation.stats()["tokens"], "tokens in the model's view")


asyncio.run(main())
