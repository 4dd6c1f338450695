"""A conversation: every operation and every query, each a line of the protocol."""

from __future__ import annotations

import queue
import weakref
from types import TracebackType
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    Sequence,
    Type,
    Union,
    cast,
    overload,
)

from . import _native
from ._errors import InvalidArgumentError, UndertextError
from ._shown import as_table
from ._signatures import explicit
from ._typing import Unpack
from ._view import View
from ._wire import check_function, given, in_callers_words, members, raw_text, version_number
from .types import (
    Answer,
    Batch,
    BatchSnapshot,
    ClientName,
    ComparedRequest,
    CompressArguments,
    CostArguments,
    Count,
    DeleteArguments,
    Dialect,
    Diff,
    Event,
    FilterArguments,
    FitArguments,
    Ledger,
    MarkMapLike,
    HistoryEntry,
    MarkMap,
    Message,
    MessageBlocks,
    MessageFilters,
    MessageLike,
    Model,
    Named,
    OperationOptions,
    RecordArguments,
    Redaction,
    RenderArguments,
    Rendered,
    Recalled,
    RequestRecord,
    Role,
    State,
    Stats,
    ToolResult,
    ToolsCount,
    TransformArguments,
    TruncateArguments,
    UsageArguments,
    ValidateArguments,
    Validated,
    WhatIf,
    WholeRequest,
)

Messages = Union[MessageLike, Sequence[MessageLike]]


def _listed(messages: Messages) -> Any:
    return (
        messages if isinstance(messages, Sequence) and not isinstance(messages, str) else [messages]
    )


class Subscription:
    """A subscription to events, until it or the conversation is closed."""

    def __init__(self, conversation: _native.Conversation, number: int) -> None:
        self._conversation = conversation
        self._number = number

    def close(self) -> None:
        """Waits for a call under way on another thread; none comes afterwards."""
        self._conversation.unsubscribe(self._number)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self,
        kind: Type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Subscription {self._number} of {_name_of(self._conversation)}>"


class Events(Iterator[Event]):
    """The events since it was made, one after another; waits for the next. Ends when it or the conversation is closed; buffers unread events, so close it."""

    def __init__(self, conversation: Conversation) -> None:
        # The subscriber is the queue alone, so that one who is forgotten can go.
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._subscription = conversation.subscribe(self._queue.put)
        conversation._listeners.add(self)

    def __next__(self) -> Event:
        event = self._queue.get()
        if event is None:
            self._end()  # for whoever asks once more
            raise StopIteration
        return event

    def _end(self) -> None:
        self._queue.put(None)

    def waiting(self) -> List[Event]:
        """Those that are there already, without waiting for any."""
        events: List[Event] = []
        while not self._queue.empty():
            event = self._queue.get()
            if event is None:
                self._end()
                break
            events.append(event)
        return events

    def close(self) -> None:
        """Ends the iteration, once those that wait were asked for."""
        self._subscription.close()
        self._end()

    def __repr__(self) -> str:
        return f"<Events: {self._queue.qsize()} waiting>"

    def __del__(self) -> None:
        if hasattr(self, "_subscription"):
            self._subscription.close()

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self,
        kind: Type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _name_of(conversation: _native.Conversation) -> str:
    return f"conversation {conversation.id()}" if conversation.id() else "a conversation in memory"


@explicit
class Conversation:
    """Made by undertext.open() or Store.open(). Any thread may call any method at any time; the GIL is free while one waits.

    It is a sequence of the messages that the model sees: len(), iteration, indexing, slicing and `in` work as on a list.
    All reads are of the newest version that any process committed.

    Every operation makes a new version or raises an UndertextError and changes nothing. Every operation takes
    `expected_version` (else ConflictError), `description` and `operation_id`. Messages are dicts, or objects of pydantic's,
    and come back as the dicts that were given.
    """

    def __init__(self, native: _native.Conversation, settings: Mapping[str, Any] | None) -> None:
        self._native = native
        self._settings = settings or {}  # those of a store included; without code
        self._listeners: weakref.WeakSet[Any] = weakref.WeakSet()

    def __enter__(self) -> Conversation:
        return self

    def __exit__(
        self,
        kind: Type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Asks what runs in the background to stop, and waits for it. Where calls of other threads are under way, those that wait for slow code are cancelled, the others come to their end, and the last one
        closes it: this returns at once then. May be called again."""
        self._native.close()
        for listener in list(self._listeners):
            listener._end()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._native.is_closed()

    @property
    def id(self) -> str:
        """Its name in its store; empty in memory."""
        return self._native.id()

    @property
    def version(self) -> int:
        """The newest version."""
        return self._newest().version()

    def _newest(self) -> _native.Conversation:
        """With what other processes committed. In a callback of the library's, which must not wait, as it stands."""
        if self._native.id():
            try:
                self._native.catch_up()
            except InvalidArgumentError:
                pass
        return self._native

    def __len__(self) -> int:
        return self.stats()["currentBatchMessages"]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Message]:
        return iter(self.view())

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> List[Message]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Message, List[Message]]:
        return self.view()[index]

    def __contains__(self, message: object) -> bool:
        return message in self.view()

    def __repr__(self) -> str:
        return f"<Conversation: {self._described()}>"

    def _named(self) -> str:
        """What it is called, and the newest version known here. It waits for nothing."""
        return f"{_name_of(self._native)}, {'closed' if self.closed else f'version {self._native.version()}'}"

    def _described(self) -> str:
        if self.closed:
            return self._named()
        try:
            self._newest()
        except UndertextError:
            pass  # of a store that cannot be reached: what is known here
        stats = self._native.stats()
        return (
            f"{self._named()}, {stats['currentBatchMessages']} messages, {stats['tokens']} tokens"
        )

    def _repr_html_(self) -> str:
        return as_table(repr(self)[1:-1], [] if self.closed else self.view())

    # Operations

    def append(self, messages: Messages, **options: Unpack[OperationOptions]) -> int:
        """Adds a message, or several, to the end of the view. Returns the new version: the quickest way in."""
        if not options:
            return self._native.append(messages)
        return self._operate("APPEND", {"messages": _listed(messages), **options})["version"]

    def append_text(self, json: Union[str, bytes]) -> int:
        """append() of JSON text, which is kept byte for byte."""
        return self._native.append_text(json)

    def append_response(
        self,
        response: object,
        *,
        dialect: Dialect | None = None,
        tool_names: Mapping[str, str] | None = None,
        **options: Unpack[OperationOptions],
    ) -> int:
        """Adds the answer of a model: what an SDK of OpenAI, Anthropic or Google returned, or the JSON of it. Returns the new version.

        dialect: The format of the answer. Default: what the answer says it is.
        tool_names: The "toolNames" of render(), where tools were sent under other names.
        """
        imported = self._result(
            "importMessages", json=response, dialect=dialect, tool_names=tool_names
        )
        return self.append(imported["messages"], **options)

    def apply(self, operation: Mapping[str, object]) -> Answer:
        """An operation of the protocol, in any of its spellings."""
        return cast(Answer, self._native.answer(operation))

    def apply_all(self, operations: Sequence[Mapping[str, object]]) -> List[Answer]:
        """All of them or none, as one step."""
        if isinstance(operations, Mapping) or not isinstance(operations, Iterable):
            raise InvalidArgumentError("operations are a list of them", field="operations")
        return cast(List[Answer], self._native.answer(list(operations))["results"])

    def _operate(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        return cast(Answer, self._asked("operation", name, arguments))

    def _asked(self, kind: str, name: str, arguments: Mapping[str, Any]) -> Any:
        request = members(kind, name, arguments)
        try:
            return self._native.answer(request)
        except UndertextError as error:
            in_callers_words(error, arguments)
            raise

    def insert(
        self, position: int, messages: Messages, **options: Unpack[OperationOptions]
    ) -> Answer:
        """Puts messages in front of the one at `position`; at the length of the view, behind the last."""
        return self._operate(
            "INSERT", {"position": position, "messages": _listed(messages), **options}
        )

    def replace(
        self, index: int, message: MessageLike, **options: Unpack[OperationOptions]
    ) -> Answer:
        """Puts a message in the place of the one at `index`, which stays in the log."""
        return self._operate("REPLACE", {"index": index, "message": message, **options})

    def truncate(self, **arguments: Unpack[TruncateArguments]) -> Answer:
        """Keeps the beginning, the end or a stretch of the view."""
        return self._operate("TRUNCATE", arguments)

    def clear(
        self, *, keep_system_message: bool | None = None, **options: Unpack[OperationOptions]
    ) -> Answer:
        """Hides all messages; system messages stay unless `keep_system_message` is False."""
        return self._operate("CLEAR", {"keep_system_message": keep_system_message, **options})

    def filter(self, **arguments: Unpack[FilterArguments]) -> Answer:
        """Keeps messages of some roles, or with or without some texts."""
        return self._operate("FILTER", arguments)

    def delete(self, **arguments: Unpack[DeleteArguments]) -> Answer:
        """Hides exactly these messages."""
        return self._operate("DELETE", arguments)

    def compress(self, **arguments: Unpack[CompressArguments]) -> Answer:
        """Hides messages that are named, or those that a strategy chooses; a summary may stand for them.

        A strategy that asks a model runs here and now; the GIL is free meanwhile. What a strategy of yours raises is raised
        here. CannotFitError: the target cannot be reached; with `progress`, what can be freed is, and `targetReached` is False.
        """
        return self._operate("COMPRESS", arguments)

    def expand(self, index: int, **options: Unpack[OperationOptions]) -> Answer:
        """The message goes, and those it stands for return to their places: of a summary, and of what REPLACE, MERGE, SPLIT and TRANSFORM made."""
        return self._operate("EXPAND", {"index": index, **options})

    def show(self, ordinals: Sequence[int], **options: Unpack[OperationOptions]) -> Answer:
        """Hidden messages return to their places, with the rest of their units."""
        return self._operate("SHOW", {"ordinals": ordinals, **options})

    def reconcile(
        self,
        messages: Sequence[Mapping[str, Any]] | None = None,
        *,
        request: Mapping[str, Any] | None = None,
        client: ClientName | None = None,
        dialect: Dialect | None = None,
        **options: Unpack[OperationOptions],
    ) -> Answer:
        """The conversation follows a client that keeps its own list and sends all of it, as a whole `request` or as `messages`: what it kept stays, what it dropped
        leaves the view, the rest is new. The answer has `outcome`, `common`, `added` and `removed`."""
        return self._operate(
            "RECONCILE",
            {
                "messages": messages,
                "request": request,
                "client": client,
                "dialect": dialect,
                **options,
            },
        )

    def append_recalled(
        self, text: str, *, budget_tokens: int | None = None, **filters: Unpack[MessageFilters]
    ) -> Answer:
        """RECALL: appends a user message that quotes what recall() finds, as data. It is marked `recalled`, and strategies hide it first."""
        return self._operate("RECALL", {"text": text, "budget_tokens": budget_tokens, **filters})

    def merge_fork(
        self,
        fork: str | Conversation,
        mode: Literal["summary", "messages", "pick"] | None = None,
        *,
        ordinals: Sequence[int] | None = None,
        summary: MessageLike | None = None,
        **options: Unpack[OperationOptions],
    ) -> Answer:
        """MERGE_FORK: appends what a fork of this conversation achieved: a summary of it, its own messages, or those with these ordinals of its log.
        expand() brings the fork's messages in place of a summary."""
        id = fork if isinstance(fork, str) else fork.id
        return self._operate(
            "MERGE_FORK",
            {"from": id, "mode": mode, "ordinals": ordinals, "summary": summary, **options},
        )

    def merge(
        self,
        indices: Sequence[int],
        *,
        separator: str | None = None,
        **options: Unpack[OperationOptions],
    ) -> Answer:
        """Makes one message of several of one role."""
        return self._operate("MERGE", {"indices": indices, "separator": separator, **options})

    def split(self, index: int, at: Sequence[int], **options: Unpack[OperationOptions]) -> Answer:
        """Makes several messages of one, cut at these places of its text."""
        return self._operate("SPLIT", {"index": index, "at": at, **options})

    def transform(
        self,
        function: Callable[[Message], MessageLike] | None = None,
        **arguments: Unpack[TransformArguments],
    ) -> Answer:
        """Changes messages by a function, or by one of `replace_text`, `truncate_text` and `set_metadata`. The function gets one
        message after the other and returns what takes its place; it may be asked twice, and must not change the
        conversation. What it raises is raised here."""
        if function is None:
            return self._operate("TRANSFORM", arguments)
        check_function("function", function)
        try:
            return cast(Answer, self._native.transform(given(arguments), function))
        except UndertextError as error:
            in_callers_words(error, arguments)
            raise

    def start_batch(
        self,
        *,
        boundary: int | None = None,
        hide_prior: bool | None = None,
        **options: Unpack[OperationOptions],
    ) -> Answer:
        """Opens a batch: a point to return to. With `hide_prior`, what stands before `boundary` is hidden."""
        return self._operate(
            "START_BATCH", {"boundary": boundary, "hide_prior": hide_prior, **options}
        )

    def end_batch(
        self,
        target_batch: int,
        *,
        carry: Sequence[Role] | None = None,
        **options: Unpack[OperationOptions],
    ) -> Answer:
        """Returns to a batch below, and takes messages of the roles in `carry` along."""
        return self._operate("END_BATCH", {"target_batch": target_batch, "carry": carry, **options})

    def rollback(self, target_batch_index: int, **options: Unpack[OperationOptions]) -> Answer:
        """Returns to a batch as it last was. Nothing is lost: it can be undone."""
        return self._operate("ROLLBACK", {"target_batch_index": target_batch_index, **options})

    def mark(self, mark: str, **named: Unpack[Named]) -> Answer:
        """Labels messages; "pinned" protects one from compression."""
        return self._operate("MARK", {"mark": mark, **named})

    def unmark(self, mark: str, **named: Unpack[Named]) -> Answer:
        """Takes a label away."""
        return self._operate("UNMARK", {"mark": mark, **named})

    def undo(self, **options: Unpack[OperationOptions]) -> Answer:
        """Takes back the last operation that is not undone."""
        return self._operate("UNDO", options)

    def redo(self, **options: Unpack[OperationOptions]) -> Answer:
        """Applies again what was undone last."""
        return self._operate("REDO", options)

    def restore(self, version: int, **options: Unpack[OperationOptions]) -> Answer:
        """Makes the state of an earlier version current again, as a new version."""
        return self._operate("RESTORE", {"version": version, **options})

    def import_mark_map(
        self, mark_map: MarkMapLike, *, expected_version: int | None = None
    ) -> Answer:
        """The view and the stack of batches become those of a mark map, once it has passed its checks."""
        return cast(
            Answer,
            self._native.import_mark_map(
                mark_map, version_number("expected_version", expected_version)
            ),
        )

    # Reading

    def messages(self, **filters: Unpack[MessageFilters]) -> List[Message]:
        """Messages of the view, or of the log: messages(role="user", last=3). The filters compose in this order."""
        return cast(List[Message], self._asked("query", "messages", filters)["messages"])

    def ordinals(self, **filters: Unpack[MessageFilters]) -> List[int]:
        """Where in the log those stand that messages() would answer."""
        return cast(List[int], self._asked("query", "messages", filters)["ordinals"])

    def blocks(self, **filters: Unpack[MessageFilters]) -> List[MessageBlocks]:
        """What the messages say that messages() would answer, whichever format they are written in: texts, calls, results, reasoning, media."""
        return cast(List[MessageBlocks], self._result("blocks", **filters))

    def count(self, **filters: Unpack[MessageFilters]) -> Count:
        """How many messages messages() would return, and their tokens."""
        answer = self._asked("query", "count", filters)
        return {"count": answer["count"], "tokens": answer["tokens"]}

    def query(self, name: str, /, **arguments: Any) -> Any:
        """Any query of the protocol, with the whole answer."""
        return self._asked("query", name, arguments)

    def _result(self, query: str, /, **arguments: Any) -> Any:
        return self._asked("query", query, arguments)["result"]

    def view(self, version: int | None = None) -> View:
        """The messages of a version (the newest), which stay as they are whatever is done to the conversation."""
        return View(self._newest().view(version_number("version", version)))

    def uncompressed(self) -> List[Message]:
        """The messages of the view that belong to the current batch."""
        return cast(List[Message], self.query("uncompressed")["messages"])

    def state(self) -> State:
        """The messages, with the snapshots of batches."""
        return cast(State, self._result("state"))

    def stats(self) -> Stats:
        """How many messages there are, in the log and in the view; batches; tokens of the view."""
        return cast(Stats, self._newest().stats())

    def tokens(
        self, *, at_version: int | None = None, per_message: bool | None = None
    ) -> Dict[str, Any]:
        """The tokens of the view, by role and, with `per_message`, by message."""
        return cast(
            Dict[str, Any], self._result("tokens", at_version=at_version, per_message=per_message)
        )

    def mark_map(self) -> MarkMap:
        """Where the messages of the view stand in the log, by role and by batch."""
        return cast(MarkMap, self._result("markMap"))

    def batches(self) -> List[Batch]:
        """The stack of batches, from the first to the current one."""
        return cast(List[Batch], self._result("batches"))

    def batch_snapshot(self, batch_index: int) -> BatchSnapshot | None:
        """The view as it last was in a batch that was left; None for the current one."""
        return cast("BatchSnapshot | None", self._result("batchSnapshot", batch_index=batch_index))

    def history(self) -> List[HistoryEntry]:
        """Every version: its operation, its time, what it left."""
        return cast(List[HistoryEntry], self._result("history"))

    def diff(self, from_: int, to: int) -> Diff:
        """What was removed, added and moved between two versions."""
        return cast(Diff, self._result("diff", from_=from_, to=to))

    def blame(self, ordinal: int) -> Dict[str, Any]:
        """Which operations stored, hid and showed a message of the log."""
        return cast(Dict[str, Any], self._result("blame", ordinal=ordinal))

    def fit(self, **arguments: Unpack[FitArguments]) -> Dict[str, Any]:
        """Whether the view fits a budget, and what would have to be hidden: fit(budget={"window": 128000, "reserve": 8000})."""
        return cast(Dict[str, Any], self._result("fit", **arguments))

    def receipts(self) -> List[Dict[str, Any]]:
        """What each compression hid, and why."""
        return cast(List[Dict[str, Any]], self._result("receipts"))

    def recall(
        self, text: str, *, budget_tokens: int | None = None, **filters: Unpack[MessageFilters]
    ) -> Recalled:
        """Messages that share words with the text, with their units and neighbours, best first; by default hidden ones."""
        return cast(
            Recalled, self._result("recall", text=text, budget_tokens=budget_tokens, **filters)
        )

    def requests(
        self, *, first: int | None = None, limit: int | None = None, last: int | None = None
    ) -> List[RequestRecord]:
        """Recorded requests of the client, the oldest first, without their texts."""
        return cast(
            List[RequestRecord], self._result("requests", first=first, limit=limit, last=last)
        )

    def cache_break(self, number: int, *, against: int | None = None) -> ComparedRequest:
        """Where a recorded request stops being equal to an earlier one, as the provider's cache sees them."""
        return cast(ComparedRequest, self._result("cacheBreak", number=number, against=against))

    def ledger(
        self, *, from_: int | None = None, to: int | None = None, turns: bool | None = None
    ) -> Ledger:
        """What the recorded requests cost, and where a cache was missed that should have been hit."""
        return cast(Ledger, self._result("ledger", from_=from_, to=to, turns=turns))

    def what_if(self, policy: str | Mapping[str, Any], *, model: str | None = None) -> WhatIf:
        """What the recorded requests would have cost under another policy of the gateway. No model is called."""
        return cast(WhatIf, self._result("whatIf", policy=policy, model=model))

    def request(self, number: int) -> WholeRequest:
        """A recorded request, with its raw text and that of its answer."""
        return cast(WholeRequest, self._result("request", number=number))

    def render(self, dialect: str | None = None, **arguments: Unpack[RenderArguments]) -> Rendered:
        """The request for a provider, and what had to be repaired in it."""
        return cast(Rendered, self._result("render", dialect=dialect, **arguments))

    def validate(
        self, dialect: str | None = None, **arguments: Unpack[ValidateArguments]
    ) -> Validated:
        """What a provider would refuse in the view as it stands."""
        return cast(Validated, self._result("validate", dialect=dialect, **arguments))

    def cost(self, from_: int | None = None, **arguments: Unpack[CostArguments]) -> Dict[str, Any]:
        """What the edits since version `from_` cost a provider's prompt cache; or what `operations` would, which are only tried."""
        return cast(Dict[str, Any], self._result("cost", from_=from_, **arguments))

    def model(self, name: str | None = None) -> Model:
        """What is known of the conversation's model, with its settings in place; or of another, by name."""
        return cast(Model, self._result("model", name=name))

    def count_tools(
        self, tools: Sequence[Mapping[str, object]], *, model: str | None = None
    ) -> ToolsCount:
        """What the `tools` of a request cost, in the form of any provider, as this conversation counts or as a model does: the `overhead` of a budget."""
        return cast(ToolsCount, self._result("countTools", tools=list(tools), model=model))

    def tools(self, dialect: str | None = None) -> List[Dict[str, Any]]:
        """Tools by which a model looks into this conversation (context_search, context_expand, context_status), as the `tools` of a request declare them."""
        return cast(List[Dict[str, Any]], self._result("tools", dialect=dialect))

    def call_tool(self, name: str, arguments: Union[str, Mapping[str, object]] = "") -> ToolResult:
        """What such a tool answers the model: its name and arguments as the model gave them. An error is an answer too, which the model understands. Changes nothing."""
        return cast(
            ToolResult,
            self._result(
                "callTool",
                name=name,
                arguments=arguments if isinstance(arguments, str) else dict(arguments),
            ),
        )

    def import_messages(
        self,
        payload: Union[Mapping[str, object], List[Any]],
        dialect: str | None = None,
        *,
        profile: Any = None,
        tool_names: Mapping[str, str] | None = None,
        after: bool | None = None,
    ) -> Dict[str, Any]:
        """The messages of a provider's request or response, to be appended. With `after`, of a request that repeats what was rendered only those that are new."""
        return cast(
            Dict[str, Any],
            self._result(
                "importMessages",
                json=payload,
                dialect=dialect,
                profile=profile,
                tool_names=tool_names,
                after=after,
            ),
        )

    def answer_text(self, line: Union[str, bytes]) -> str:
        """A line of the protocol, answered as `undertext exec` would, byte for byte. Errors are answers here."""
        return self._native.answer_text(line)

    # Beside the protocol

    def fork(self, version: int | None = None, *, id: str = "") -> Conversation:
        """Another conversation that goes on from a version; with an id it is stored."""
        return Conversation(
            self._native.fork(version_number("version", version), id), self._settings
        )

    def subscribe(self, receive: Callable[[Event], object]) -> Subscription:
        """`receive` gets each event, in order, on the thread that makes the change known. It may read, and must not change. What it raises goes to sys.unraisablehook."""
        check_function("receive", receive)
        return Subscription(self._native, self._native.subscribe(receive))

    def events(self) -> Events:
        """The events from here on, to iterate over."""
        return Events(self)

    def set_tokenizer(self, name: str) -> None:
        """Counts everything again, by another tokenizer."""
        self._native.set_tokenizer(name)

    def wait_for_compression(self) -> None:
        """Until none is under way in the background; code that is part of it is refused. Signals are handled meanwhile, so Ctrl-C ends the waiting, not the compression."""
        self._native.wait_for_compression(None)

    def cancel_compression(self) -> None:
        """Asks what compresses in the background to stop."""
        self._native.cancel_compression()

    def report_usage(self, request_id: str, **usage: Unpack[UsageArguments]) -> None:
        """What a provider reported of a request: report_usage("r1", prompt=812, completion=90)."""
        self._native.report_usage(members("requestId", request_id, usage))

    def usage(self) -> Dict[str, Any]:
        """All that was reported; it is stored with a stored conversation."""
        return cast(Dict[str, Any], self._newest().usage())

    def set_usage(self, usage: Mapping[str, Any] | None = None) -> None:
        """Replaces the usage by a result of usage(); without an argument, resets it."""
        self._native.set_usage({} if usage is None else usage)

    def record_request(
        self,
        request: Union[str, bytes],
        answer: Union[str, bytes] = "",
        **facts: Unpack[RecordArguments],
    ) -> int:
        """Records a request of a client, with the raw texts of request and answer; returns its number."""
        texts = {**raw_text("request", request), **raw_text("answer", answer)}
        return cast(int, self._native.record_request({**texts, **given(facts)})["number"])

    def catch_up(self) -> None:
        """Delivers the events of what other processes committed. Reads do this by themselves."""
        self._native.catch_up()

    def checkpoint(self) -> None:
        """Stores a state from which the conversation is opened quickly. This happens by itself now and then."""
        self._native.checkpoint()

    def redact(
        self, ordinals: Sequence[int], *, who: str, why: str = "", derived: bool = False
    ) -> Redaction:
        """Deletes their bytes permanently, from every version; stubs stay.

        Returns what else may have their text: summaries and edited copies that stand for them, and operations that quote them, in forks too. With
        `derived` these are redacted as well.
        """
        return cast(
            Redaction,
            self._native.redact({"ordinals": ordinals, "who": who, "why": why, "derived": derived}),
        )

    def prune_versions(
        self, *, versions: int | None = None, batches: int | None = None, days: int | None = None
    ) -> Dict[str, Any]:
        """Prunes versions: the newest `versions` and `batches` stay, and versions younger than `days`."""
        return cast(
            Dict[str, Any],
            self._native.prune_versions(
                given({"versions": versions, "batches": batches, "days": days})
            ),
        )
