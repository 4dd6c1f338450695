"""A checkpointer for LangGraph: `pip install undertext[langgraph]`.

    with UndertextSaver.from_url("sqlite:agent.db") as saver:
        graph = builder.compile(checkpointer=saver)

A list of chat messages in a graph's state is a conversation of its own, and a checkpoint names one of its versions: n checkpoints of a growing thread store each message once. Everything
else is data beside it (_langgraph_threads.py says how).
"""

from __future__ import annotations

import base64
import json
import math
from contextlib import contextmanager
from functools import partial
from typing import Any, AsyncIterator, Dict, Iterator, List, Mapping, Sequence, Tuple, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ._errors import InvalidArgumentError, NotFoundError
from ._foreign import json_text, readable
from ._store import Store
from ._langgraph_threads import Record, Thread, Threads
from ._off_the_loop import in_thread
from .langchain import from_langchain, to_langchain
from .types import Durability

__all__ = ["UndertextSaver"]

_WHO = "undertext.langgraph"
#: The field of a chat message that only LangGraph's serializer can bring back.
_SERIALIZED = "langgraphMessage"
_DEPTH_MAX = 32


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether JSON brings it back as it is."""
    kind = type(value)
    if value is None or kind is bool or kind is int:
        return True
    if kind is str:
        return cast(str, value).isascii() or not any("\ud800" <= c <= "\udfff" for c in value)
    if kind is float:
        return math.isfinite(value)
    if depth == _DEPTH_MAX:
        return False
    if kind is list:
        return all(_is_plain(item, depth + 1) for item in value)
    return kind is dict and all(
        type(name) is str and _is_plain(name) and _is_plain(item, depth + 1)
        for name, item in value.items()
    )


class UndertextSaver(BaseCheckpointSaver[int]):
    """Any number of threads and processes may use one store. Threads of LangGraph that different programs write at the same time keep the checkpoints of both.

    With a custom serializer, or an encrypting one, everything goes through it, lists of messages too, which then share nothing.
    """

    def __init__(self, store: Store, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._threads = Threads(store)

    def __repr__(self) -> str:
        return f"<UndertextSaver: {repr(self._threads.store)[1:-1]}>"

    @classmethod
    @contextmanager
    def from_url(
        cls,
        url: str,
        *,
        serde: SerializerProtocol | None = None,
        create: bool | None = None,
        read_only: bool | None = None,
        durability: Durability | None = None,
        tenant: str | None = None,
        patience_ms: int | None = None,
    ) -> Iterator[UndertextSaver]:
        """A saver that opens and closes its own store. Its arguments are those of undertext.Store."""
        with Store(
            url,
            create=create,
            read_only=read_only,
            durability=durability,
            tenant=tenant,
            patience_ms=patience_ms,
        ) as store:
            saver = cls(store, serde=serde)
            try:
                yield saver
            finally:
                saver.close()

    def close(self) -> None:
        """Closes what it opened, and not the store."""
        self._threads.close()

    # Values

    def _encode(self, value: Any) -> Record:
        if self._keeps_json and _is_plain(value):
            return {"json": value}
        return {"serde": self._serialized(value)}

    def _serialized(self, value: Any) -> List[str]:
        kind, data = self.serde.dumps_typed(value)
        return [kind, base64.b64encode(data).decode("ascii")]

    def _decode(self, encoded: Record) -> Any:
        if "json" in encoded:
            return encoded["json"]
        kind, data = encoded["serde"]
        return self.serde.loads_typed((kind, base64.b64decode(data)))

    @property
    def _keeps_json(self) -> bool:
        """Whether what is stored may be read without the serializer."""
        return type(self.serde) is JsonPlusSerializer

    def _shape_message(self, message: BaseMessage) -> str:
        try:
            text = from_langchain(message)
            if _is_plain(json.loads(text)):
                return text
        except InvalidArgumentError:
            pass
        words = readable(message.content).encode("utf-8", "replace").decode("utf-8")
        return json_text(
            {"role": "user", "content": words, _SERIALIZED: self._serialized(message)}, "message"
        )

    def _read_message(self, message: Mapping[str, Any]) -> BaseMessage:
        if _SERIALIZED in message:
            return cast(BaseMessage, self._decode({"serde": message[_SERIALIZED]}))
        return to_langchain(message)

    def _value(self, thread: Thread, ns: str, channel: str, value: Record) -> Any:
        if "version" in value:
            return thread.message_list(ns, channel).messages(value["version"], self._read_message)
        if "at" in value:
            value = _inlined(thread, channel, value)
        return self._decode(value)

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a configuration names, or the latest of its thread."""
        thread_id, ns = _place(config)

        def found(thread: Thread) -> CheckpointTuple | None:
            checkpoints = thread.checkpoints.get(ns, {})
            id = get_checkpoint_id(config) or max(checkpoints, default="")
            return self._tuple(thread, ns, id) if id in checkpoints else None

        return self._threads.with_thread(thread_id, found)

    def _tuple(self, thread: Thread, ns: str, id: str) -> CheckpointTuple:
        record = thread.record(thread.checkpoints[ns][id])
        values = {
            channel: self._value(thread, ns, channel, value)
            for channel, value in record["values"].items()
        }
        return CheckpointTuple(
            config=_config(thread.id, ns, id),
            checkpoint=cast(Checkpoint, {**self._decode(record["rest"]), "channel_values": values}),
            metadata=self._decode(record["metadata"]),
            parent_config=_config(thread.id, ns, record["parent"]) if record["parent"] else None,
            pending_writes=self._pending(thread, ns, id),
        )

    def _pending(self, thread: Thread, ns: str, id: str) -> List[PendingWrite]:
        pending: List[PendingWrite] = []
        for write in sorted(thread.writes.get((ns, id), {}).values()):
            _, channel, value = thread.record(write.ordinal)["writes"][write.position]
            pending.append((write.task, channel, self._decode(value)))
        return pending

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: Dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Newest first, of all namespaces unless the config names one."""
        wanted = config["configurable"] if config else {}
        until = get_checkpoint_id(before) if before else None

        def is_wanted(ns: str, id: str) -> bool:
            return (
                wanted.get("checkpoint_ns", ns) == ns
                and (wanted.get("checkpoint_id") or id) == id
                and (until is None or id < until)
            )

        def those(thread: Thread) -> List[Tuple[str, str, str]]:
            return [
                (id, ns, thread.id)
                for ns, ids in thread.checkpoints.items()
                for id in ids
                if is_wanted(ns, id)
            ]

        thread_ids = [str(wanted["thread_id"])] if "thread_id" in wanted else self._threads.ids()
        keys = [
            key
            for thread_id in thread_ids
            for key in self._threads.with_thread(thread_id, those) or ()
        ]
        for id, ns, thread_id in sorted(keys, reverse=True):
            if limit is not None and limit <= 0:
                return
            matching = partial(self._matching, ns=ns, id=id, filter=filter or {})
            found = self._threads.with_thread(thread_id, matching)
            if found is not None:
                limit = None if limit is None else limit - 1
                yield found

    def _matching(
        self, thread: Thread, ns: str, id: str, filter: Dict[str, Any]
    ) -> CheckpointTuple | None:
        if id not in thread.checkpoints.get(ns, {}):
            return None
        metadata = self._decode(thread.record(thread.checkpoints[ns][id])["metadata"])
        return (
            self._tuple(thread, ns, id)
            if all(metadata.get(name) == value for name, value in filter.items())
            else None
        )

    # Writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint."""
        thread_id, ns = _place(config)
        told = self._encode(dict(get_checkpoint_metadata(config, metadata)))
        rest = self._encode(
            {name: value for name, value in checkpoint.items() if name != "channel_values"}
        )

        def append(thread: Thread) -> None:
            record = {
                "kind": "checkpoint",
                "ns": ns,
                "id": checkpoint["id"],
                "parent": get_checkpoint_id(config),
                "rest": rest,
                "metadata": told,
            }
            record["values"] = self._values(thread, record, checkpoint, new_versions)
            thread.append(f"checkpoint {checkpoint['id']}", record)

        self._threads.with_thread(thread_id, append, make=True)
        return _config(config["configurable"]["thread_id"], ns, checkpoint["id"])

    def _values(
        self, thread: Thread, record: Record, checkpoint: Checkpoint, new_versions: ChannelVersions
    ) -> Dict[str, Record]:
        """What is new is stored; what the parent has in the same version is named."""
        ordinal = thread.checkpoints.get(record["ns"], {}).get(record["parent"])
        parent = thread.record(ordinal) if ordinal is not None else None
        theirs: Dict[str, Record] = parent["values"] if parent else {}
        versions = self._decode(parent["rest"])["channel_versions"] if parent else {}
        values: Dict[str, Record] = {}
        for channel, value in checkpoint["channel_values"].items():
            there = theirs.get(channel)
            if (
                there is not None
                and channel not in new_versions
                and versions.get(channel) == checkpoint["channel_versions"].get(channel)
            ):
                values[channel] = there if "version" in there or "at" in there else {"at": ordinal}
            elif (
                self._keeps_json
                and type(value) is list
                and value
                and all(isinstance(message, BaseMessage) for message in value)
            ):
                values[channel] = {
                    "version": self._kept(thread, record["ns"], channel, there or {}, value)
                }
            else:
                values[channel] = self._encode(value)
        return values

    def _kept(
        self, thread: Thread, ns: str, channel: str, parents: Record, messages: List[BaseMessage]
    ) -> int:
        """Edits the parent's list, else that of the latest checkpoint: never one that no checkpoint has, for that may be redacted."""
        if "version" not in parents and thread.checkpoints.get(ns):
            parents = thread.record(thread.checkpoints[ns][max(thread.checkpoints[ns])])[
                "values"
            ].get(channel, {})
        return thread.message_list(ns, channel).keep(
            parents.get("version", 0), messages, self._read_message, self._shape_message
        )

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[Tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Stores what a task of a checkpoint has written."""
        thread_id, ns = _place(config)
        id = config["configurable"]["checkpoint_id"]
        rows = [
            [WRITES_IDX_MAP.get(channel, index), channel, self._encode(value)]
            for index, (channel, value) in enumerate(writes)
        ]
        record = {
            "kind": "writes",
            "ns": ns,
            "id": id,
            "task": task_id,
            "path": task_path,
            "writes": rows,
        }
        self._threads.with_thread(
            thread_id, lambda thread: thread.append(f"writes of task {task_id}", record), make=True
        )

    # Whole threads

    def delete_thread(self, thread_id: str) -> None:
        """Purges its conversations permanently."""
        self._threads.delete(str(thread_id), _WHO, "delete_thread")

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Permanently deletes the bytes that only those checkpoints had."""

        def remove(thread: Thread) -> None:
            dead = [
                (ns, id)
                for ns, checkpoints in thread.checkpoints.items()
                for id, ordinal in checkpoints.items()
                if self._decode(thread.record(ordinal)["metadata"]).get("run_id") in run_ids
            ]
            thread.remove(dead, _WHO, "delete_for_runs")

        for thread_id in self._threads.ids() if run_ids else ():
            self._threads.with_thread(thread_id, remove)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Ancestors that delta channels of what stays are put together from stay, too."""
        if strategy not in ("keep_latest", "delete"):
            raise InvalidArgumentError(
                'strategy must be "keep_latest" or "delete"', field="strategy"
            )
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
            else:
                self._threads.with_thread(str(thread_id), self._keep_latest)

    def _keep_latest(self, thread: Thread) -> None:
        dead: List[Tuple[str, str]] = []
        for ns, checkpoints in thread.checkpoints.items():
            kept = self._with_deltas(thread, ns, max(checkpoints, default=""))
            dead += [(ns, id) for id in checkpoints if id not in kept]
        thread.remove(dead, _WHO, "prune")

    def _with_deltas(self, thread: Thread, ns: str, id: str) -> set[str]:
        kept: set[str] = set()
        missing: set[str] | None = None
        while id in thread.checkpoints[ns] and (missing is None or missing):
            record = thread.record(thread.checkpoints[ns][id])
            if missing is None:
                missing = set(
                    self._decode(record["metadata"]).get("counters_since_delta_snapshot") or ()
                )
            missing -= set(record["values"])
            kept.add(id)
            id = record["parent"]
        return kept

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """All checkpoints with their writes; a copy shares nothing with its source."""
        copied: List[Record] = []
        lists: Dict[Tuple[str, str, int], List[BaseMessage]] = {}

        def read(thread: Thread) -> None:
            used = {ordinal for ids in thread.checkpoints.values() for ordinal in ids.values()}
            used |= {
                write.ordinal for writes in thread.writes.values() for write in writes.values()
            }
            for ordinal in sorted(used):
                record = dict(thread.record(ordinal))
                for channel, value in record.get("values", {}).items():
                    key = (record["ns"], channel, value.get("version", -1))
                    if "version" in value and key not in lists:
                        lists[key] = thread.message_list(*key[:2]).messages(
                            key[2], self._read_message
                        )
                    elif "at" in value:
                        record["values"] = {
                            **record["values"],
                            channel: _inlined(thread, channel, value),
                        }
                copied.append(record)

        def write(thread: Thread) -> None:
            versions: Dict[Tuple[str, str, int], int] = {}
            for record in copied:
                for channel, value in record.get("values", {}).items():
                    if "version" not in value:
                        continue
                    key = (record["ns"], channel, value["version"])
                    if key not in versions:
                        versions[key] = self._kept(thread, *key[:2], {}, lists[key])
                    record["values"] = {**record["values"], channel: {"version": versions[key]}}
                thread.append(f"{record['kind']} {record['id']}", record)

        self._threads.with_thread(str(source_thread_id), read)
        if copied:
            self._threads.with_thread(str(target_thread_id), write, make=True)

    # Off the loop

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """get_tuple(), off the loop."""
        return await in_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: Dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """list(), off the loop."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (each := await in_thread(next, found, None)) is not None:
            yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """put(), off the loop."""
        return await in_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[Tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """put_writes(), off the loop."""
        await in_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """delete_thread(), off the loop."""
        await in_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """delete_for_runs(), off the loop."""
        await in_thread(self.delete_for_runs, run_ids)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """prune(), off the loop."""
        await in_thread(self.prune, thread_ids, strategy=strategy)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """copy_thread(), off the loop."""
        await in_thread(self.copy_thread, source_thread_id, target_thread_id)


def _place(config: RunnableConfig) -> Tuple[str, str]:
    return str(config["configurable"]["thread_id"]), config["configurable"].get("checkpoint_ns", "")


def _config(thread_id: Any, ns: str, id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": id}}


def _inlined(thread: Thread, channel: str, value: Record) -> Record:
    """The value that stands in another record."""
    values = thread.record(value["at"]).get("values")
    if values is None:
        raise NotFoundError(
            f"the value of channel {channel} was removed while this checkpoint was put"
        )
    return cast(Record, values[channel])
