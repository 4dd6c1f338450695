"""How processes end: with conversations open, with work under way, and as children of fork()."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

STARTS = """
import os, sys, threading, undertext
TALK = [{"role": "user", "content": "a message of some length, so that there is something to be made shorter"}] * 8
def compressing(write):
    strategy = {"name": "smart_summary", "keep": 1, "summariser": "mine"}
    config = {"enabled": True, "threshold": 60, "targetTokens": 50, "strategy": strategy}
    return undertext.open(settings={"compressionConfig": config}, summarisers={"mine": write})
entered = threading.Event()
def until_cancelled(messages, tokens_max, cancel):
    entered.set()
    while not cancel.is_cancelled(): threading.Event().wait(0.001)
    return "late"
"""

PROGRAMS = {
    "an open conversation": """
        conversation = undertext.open()
        conversation.subscribe(lambda event: None)
        conversation.append(TALK)
    """,
    "an open store and a stored conversation": """
        store = undertext.Store("memory:")
        conversation = store.open("one")
        conversation.append(TALK)
    """,
    "a conversation in a cycle, with a finalizer that calls it": """
        class Holder:
            def __init__(self): self.conversation, self.me = undertext.open(), self
            def __del__(self):
                try: self.conversation.append(TALK)
                except undertext.InvalidArgumentError: pass
        holder = Holder()
    """,
    "a summary under way": """
        conversation = compressing(until_cancelled)
        conversation.append(TALK)
        assert entered.wait(30)
    """,
    "a forgotten conversation with a summary under way": """
        conversation = compressing(until_cancelled)
        conversation.append(TALK)
        assert entered.wait(30)
        del conversation
    """,
    "a conversation that is forgotten before its summariser is asked": """
        compressing(lambda messages, tokens_max, cancel: "short").append(TALK)
    """,
    "a daemon thread that waits for a summary": """
        conversation = compressing(until_cancelled)
        conversation.append(TALK)
        threading.Thread(target=conversation.wait_for_compression, daemon=True).start()
        assert entered.wait(30)
    """,
    "a daemon thread that waits for a summary of what was closed meanwhile": """
        conversation = compressing(until_cancelled)
        conversation.append(TALK)
        assert entered.wait(30)
        waiter = threading.Thread(target=conversation.wait_for_compression, daemon=True)
        waiter.start()
        inside = undertext.Conversation.wait_for_compression.__code__
        while sys._current_frames()[waiter.ident].f_code is not inside: pass
        conversation.close()
    """,
    "daemon threads that go on opening conversations and forgetting them": """
        sys.setswitchinterval(1e-6)
        started = threading.Barrier(4)
        def work():
            started.wait()
            while True:
                conversations = [undertext.open() for _ in range(20)]
        for _ in range(3): threading.Thread(target=work, daemon=True).start()
        started.wait()
        for _ in range(200): undertext.open()
    """,
    "daemon threads that go on calling": """
        conversation = undertext.open()
        conversation.subscribe(lambda event: None)
        started = threading.Barrier(5)
        def work():
            started.wait()
            while True:
                conversation.append(TALK)
        for _ in range(4): threading.Thread(target=work, daemon=True).start()
        started.wait()
    """,
    "an exception": """
        conversation = undertext.open()
        conversation.append(TALK)
        sys.exit(0)
    """,
    "a child of fork that uses what its parent opened, and its own": """
        store = undertext.Store("memory:")
        conversation = store.open("one")
        conversation.append(TALK)
        view = conversation.view()
        asked = [lambda: conversation.append(TALK), lambda: store.list(), lambda: len(view), lambda: view[0], lambda: view.text(0), lambda: view.messages()]
        child = os.fork()
        if child == 0:
            for ask in asked:
                try: ask()
                except undertext.InvalidArgumentError as error: assert "is closed" in str(error)
                else: os._exit(1)
            del view, asked, ask
            conversation = undertext.open()
            conversation.append(TALK)
            assert len(conversation.view()) == 8
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert conversation.append(TALK) == 2
        assert len(view) == 8
    """,
    "a child of fork that goes on with asyncio, as its parent did": """
        import asyncio
        from undertext import aio
        async def talk():
            async with aio.open() as conversation:
                await conversation.append(TALK)
        asyncio.run(talk())
        child = os.fork()
        asyncio.run(asyncio.wait_for(talk(), 20))
        if child == 0:
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """,
    "a loop that ends while a model is asked": """
        import asyncio
        from undertext import aio
        async def main():
            asked = asyncio.Event()
            async def write(*about):
                asked.set()
                await asyncio.Event().wait()
            conversation = await aio.open(summarisers={"mine": write})
            await conversation.append(TALK)
            compression = asyncio.ensure_future(conversation.compress(strategy={"name": "smart_summary", "keep": 1, "summariser": "mine"}))
            await asked.wait()
        asyncio.run(main())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_ends_well_with(name: str) -> None:
    times = 10 if "daemon" in name else 1
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", STARTS + textwrap.dedent(PROGRAMS[name])],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        if "daemon" not in name:  # those say that their conversation is closed
            assert done.stderr == ""
