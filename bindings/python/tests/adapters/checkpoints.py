"""Checkpoints by hand."""

from __future__ import annotations

from typing import Any, Dict

from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint

import undertext


def place(thread: Any = "t", ns: str = "", id: str | None = None) -> Any:
    return {
        "configurable": {
            "thread_id": thread,
            "checkpoint_ns": ns,
            **({"checkpoint_id": id} if id else {}),
        }
    }


def put(
    saver: BaseCheckpointSaver[Any], config: Any, version: int, metadata: Any = None, **values: Any
) -> Any:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = {channel: version for channel in values}
    if metadata is None:
        metadata = {"source": "loop", "step": version}
    return saver.put(config, checkpoint, metadata, dict(checkpoint["channel_versions"]))


def values(saver: BaseCheckpointSaver[Any], config: Any) -> Dict[str, Any]:
    found = saver.get_tuple(config)
    assert found is not None
    return found.checkpoint["channel_values"]


def log_length(url: str, name: str) -> int:
    with undertext.open(url, name, make="never") as conversation:
        return int(conversation.query("count", all=True)["count"])
