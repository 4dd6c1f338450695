"""One conversation, three providers: each is sent the whole of it in its own format, with calls, results and instructions."""

import anthropic
import openai
from google import genai

import undertext

OPENAI, ANTHROPIC, GEMINI = openai.OpenAI(), anthropic.Anthropic(), genai.Client()


def ask_openai(conversation):
    request = conversation.render("openai_responses")["request"]
    return OPENAI.responses.create(model="gpt-5", **request)


def ask_anthropic(conversation):
    request = conversation.render("anthropic")["request"]
    return ANTHROPIC.messages.create(model="claude-opus-4-7", max_tokens=1024, **request)


def ask_gemini(conversation):
    request = conversation.render("gemini")["request"]
    config = {"system_instruction": request["systemInstruction"]}
    return GEMINI.models.generate_content(model="gemini-2.5-pro", contents=request["contents"], config=config)


with undertext.open() as conversation:
    conversation.append({"role": "system", "content": "You fix bugs."})
    for ask, question in (
        (ask_openai, "Why is the build red?"),
        (ask_anthropic, "Please fix it."),
        (ask_gemini, "Which files are affected?"),
    ):
        conversation.append({"role": "user", "content": question})
        conversation.append_response(ask(conversation))
    for message in conversation.blocks():
        print(message["role"] + ":", message["blocks"][0]["text"])
