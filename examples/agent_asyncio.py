import asyncio

import undertext
from undertext import aio


async def ask_model(messages, tokens_max, cancel):
    await asyncio.sleep(0)  # here one would ask a model
    return f"({len(messages)} messages about a red build)"


async def main():
    strategy = {"name": "smart_summary", "keep": 2, "summariser": "model"}
    async with aio.open(summarisers={"model": ask_model}) as conversation:
        events = conversation.events()
        for i in range(8):
            await conversation.append({"role": "user", "content": f"Line {i} of a log that is long enough to be worth a summary."})
        await conversation.compress(strategy=strategy)
        print([message["content"][:40] for message in await conversation.messages()])

        # Another writer was first: reload and retry.
        try:
            await conversation.append({"role": "user", "content": "late"}, expected_version=3)
        except undertext.ConflictError as error:
            print(error.code, error.field)
    print([event["type"] async for event in events][-2:])


asyncio.run(main())
