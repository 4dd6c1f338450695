"""Resident size while the same is done again and again: it may not grow.   leaks.py [SHARE]

Appends to conversations that are dropped every 10,000 messages, reads, opens and closes, forgets handles, fails, calls back. SHARE (1 unless given) is how much
of 1,000,000 appends and 10,000 opens is done. Prints the size after each tenth; fails when the last is more than 3 MB above the second.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from typing import Any, Callable

import undertext

MESSAGE = {
    "role": "user",
    "content": "a message that is not very long, é",
    "metadata": {"n": 12345678901234567890, "list": [1, 2.5, None]},
}
SLACK_KB = 3 * 1024


def resident_kb() -> int:
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def appends(count: int) -> None:
    while count > 0:
        with undertext.open() as conversation:
            for _ in range(min(count, 10_000)):
                conversation.append(MESSAGE)
            assert len(conversation.messages(last=100)) in (100, count)
        count -= 10_000


def opens(count: int) -> None:
    for i in range(count):
        conversation = undertext.open(strategies={"mine": lambda view, tokens_max, cancel: None})
        conversation.subscribe(lambda event: None)
        conversation.append(MESSAGE)
        conversation.compress(strategy="mine")
        conversation.fork().view()
        if i % 2:
            conversation.close()  # the others are forgotten


def stored(count: int, store: undertext.Store) -> None:
    for _ in range(count):
        with store.open("one") as conversation:
            conversation.messages(last=1)


def failures(count: int) -> None:
    def fails(*_: object) -> Any:
        raise RuntimeError("no")

    conversation = undertext.open(strategies={"fails": fails})
    conversation.append(MESSAGE)
    for _ in range(count):
        for call in (
            lambda: conversation.append({"role": "user", "content": b""}),
            lambda: conversation.restore(99),
            lambda: conversation.compress(strategy="fails"),
        ):
            try:
                call()
            except (undertext.UndertextError, RuntimeError):
                pass


def watch(name: str, work: Callable[[int], None], count: int) -> bool:
    sizes = []
    for _ in range(10):
        work(max(1, count // 10))
        sizes.append(resident_kb())
    flat = sizes[-1] - sizes[1] <= SLACK_KB
    print(
        f"{name:9} {count:>9,} times, resident kB: {' '.join(map(str, sizes))}{'' if flat else '   GROWS'}"
    )
    return flat


def main(share: float) -> int:
    with (
        tempfile.TemporaryDirectory() as folder,
        undertext.Store(f"sqlite:{folder}/store.db") as store,
    ):
        with store.open("one") as conversation:
            conversation.append(MESSAGE)
        flat = [
            watch("appends", appends, int(1_000_000 * share)),
            watch("opens", opens, int(10_000 * share)),
            watch("stored", lambda count: stored(count, store), int(10_000 * share)),
            watch("failures", failures, int(100_000 * share)),
        ]
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0))
