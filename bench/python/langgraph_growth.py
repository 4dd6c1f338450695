"""One thread of LangGraph as it grows by a message a checkpoint, with Undertext's checkpointer and with LangGraph's own for SQLite.   langgraph_growth.py CHECKPOINTS…"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, ContextManager, Dict, List

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

from undertext.langgraph import UndertextSaver

WORDS = (
    "The build is red since the header was moved. Please look into it, and tell me what you find. "
    * 5
)
LATEST: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


def size_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def grow(saver: BaseCheckpointSaver[Any], checkpoints: int) -> str:
    """A step as a graph takes it: the writes of the task, then the checkpoint."""
    config, messages, times = LATEST, [], []  # type: ignore[var-annotated]
    for n in range(1, checkpoints + 1):
        message: BaseMessage = (HumanMessage if n % 2 else AIMessage)(
            content=f"{n} {WORDS}", id=f"message-{n}"
        )
        messages = [*messages, message]
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": messages}
        checkpoint["channel_versions"] = {"messages": n}
        checkpoint["versions_seen"] = {"agent": {"messages": n - 1}}
        began = time.perf_counter()
        if n > 1:
            saver.put_writes(config, [("messages", [message])], f"task-{n}")
        config = saver.put(
            config, checkpoint, {"source": "loop", "step": n, "parents": {}}, {"messages": n}
        )
        times.append(time.perf_counter() - began)
    reads: List[float] = []
    for _ in range(5):
        began = time.perf_counter()
        found = saver.get_tuple(LATEST)
        reads.append(time.perf_counter() - began)
    assert found is not None and found.checkpoint["channel_values"]["messages"] == messages
    return f"{statistics.median(times[-50:]) * 1e3:>8.1f} ms a step {statistics.median(reads) * 1e3:>8.1f} ms to read the latest"


def main() -> None:
    savers: Dict[str, Callable[[str], ContextManager[BaseCheckpointSaver[Any]]]] = {
        "undertext": lambda folder: UndertextSaver.from_url(f"sqlite:{folder}/a.db"),
        "langgraph-checkpoint-sqlite": lambda folder: SqliteSaver.from_conn_string(
            f"{folder}/a.db"
        ),
    }
    for checkpoints in map(int, sys.argv[1:]):
        for name, opened in savers.items():
            with tempfile.TemporaryDirectory() as folder:
                with opened(folder) as saver:
                    times = grow(saver, checkpoints)
                # Closed, so that nothing waits in a log.
                print(
                    f"{name:<28} {checkpoints:>6} checkpoints {size_bytes(Path(folder)):>12} bytes {times}",
                    flush=True,
                )


main()
