"""The shapes of what goes in and comes out, for type checkers. At run time they are plain dicts, with the names of the protocol (docs/operations.md)."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Literal, Mapping, Sequence, TypedDict, Union

from ._native import Cancel

Role = Literal["system", "user", "assistant", "tool"]
Pairs = Literal["literal", "shrink", "grow"]
Dialect = Literal["openai_chat", "openai_responses", "anthropic", "gemini"]


class _MessageBase(TypedDict):
    role: str
    content: Any


class Message(_MessageBase, total=False):
    """A message as it was given. It may have any other field."""

    id: str
    timestamp: int
    toolCalls: List[Dict[str, Any]]
    toolCallId: str
    metadata: Dict[str, Any]


#: A message on its way in: a Message, or any other dict.
MessageLike = Mapping[str, object]


class _TextBlockBase(TypedDict):
    kind: Literal["text"]
    text: str


class TextBlock(_TextBlockBase, total=False):
    type: Literal["refusal"]


class _CallBlockBase(TypedDict):
    kind: Literal["call"]
    arguments: Any


class CallBlock(_CallBlockBase, total=False):
    """A call of a tool. `arguments` is the JSON value as the message has it, mostly an object or a string that holds one; {} for none."""

    type: str
    callId: str
    name: str
    byProvider: bool


class _ResultBlockBase(TypedDict):
    kind: Literal["result"]
    blocks: List[Block]


class ResultBlock(_ResultBlockBase, total=False):
    """The result of the call `callId`; `blocks` is what it says."""

    type: str
    callId: str
    name: str
    isError: bool
    byProvider: bool


class _ReasoningBlockBase(TypedDict):
    kind: Literal["reasoning"]


class ReasoningBlock(_ReasoningBlockBase, total=False):
    """What the model thought; without `text` only the provider can read it."""

    type: str
    text: str


class _MediaBlockBase(TypedDict):
    kind: Literal["media"]
    media: Literal["image", "audio", "video", "file"]
    source: Literal["base64", "url", "file_id", "text"]
    data: str


class MediaBlock(_MediaBlockBase, total=False):
    """`data` is the base64 text, the URL, the id or the text, as `source` says."""

    mime: str
    detail: str
    filename: str


class _OpaqueBlockBase(TypedDict):
    kind: Literal["opaque"]
    json: Any


class OpaqueBlock(_OpaqueBlockBase, total=False):
    """Anything else, as it was given."""

    type: str


#: One thing that a message says, whichever format the message has.
Block = Union[TextBlock, CallBlock, ResultBlock, ReasoningBlock, MediaBlock, OpaqueBlock]


class MessageBlocks(TypedDict):
    ordinal: int
    role: Role
    blocks: List[Block]


class Range(TypedDict):
    start: int
    end: int


class Stats(TypedDict):
    totalMessages: int
    currentBatchMessages: int
    totalBatches: int
    currentBatchIndex: int
    tokens: int


class _WarningBase(TypedDict):
    code: str
    ordinal: int


class Warning(_WarningBase, total=False):  # noqa: A001 - the protocol's word
    toolCallId: str  # not of reasoning_without_call


class _AnswerBase(TypedDict):
    ok: bool
    operation: str
    version: int
    affectedBatchIndex: int
    stats: Stats


class Answer(_AnswerBase, total=False):
    """What an operation did."""

    warnings: List[Warning]
    events: List[Dict[str, Any]]
    outcome: str
    targetReached: bool
    receipt: Dict[str, Any]


class OperationOptions(TypedDict, total=False):
    expected_version: int
    description: str
    operation_id: str


class TruncateArguments(OperationOptions, total=False):
    keep_first: int
    keep_last: int
    remove_first: int
    remove_last: int
    range: Range
    role: Role
    pairs: Pairs


class FilterArguments(OperationOptions, total=False):
    roles: Sequence[Role]
    content_contains: Sequence[str]
    content_excludes: Sequence[str]
    pairs: Pairs


class Named(OperationOptions, total=False):
    """Which messages: exactly one of the two."""

    indices: Sequence[int]
    ordinals: Sequence[int]


class DeleteArguments(Named, total=False):
    pairs: Pairs


class Budget(TypedDict, total=False):
    window: int
    reserve: int
    overhead: int
    safety: Any


#: A strategy: its name, or an object with its name and arguments.
StrategyLike = Union[str, Mapping[str, object]]


class CompressArguments(Named, total=False):
    summary: MessageLike
    strategy: StrategyLike
    target_tokens: int
    budget: Budget
    progress: bool


class TransformArguments(Named, total=False):
    roles: Sequence[Role]
    replace_text: Mapping[str, str]
    truncate_text: Mapping[str, object]
    set_metadata: Mapping[str, object]


class CompressionConfig(TypedDict, total=False):
    enabled: bool
    threshold: int
    targetTokens: int
    strategy: StrategyLike


class Settings(TypedDict, total=False):
    """Of a conversation; kept with it in a store."""

    model: str
    tokenizer: str
    costs: str
    profile: str
    window: int
    tokenLimit: int
    compressionConfig: CompressionConfig
    pairs: Pairs
    limits: Dict[str, int]
    summarisers: Dict[str, Any]


class Limits(TypedDict, total=False):
    window: int
    answer: int
    source: str
    date: str


class Prices(TypedDict, total=False):
    """US dollars for a million tokens."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    source: str
    date: str


class Model(TypedDict, total=False):
    """What is known of a model; what is unknown is absent."""

    name: str
    known: bool
    row: str
    tokenizer: str
    costs: str
    profiles: List[str]
    source: str
    date: str
    limits: Limits
    prices: Prices


class ToolsCount(TypedDict):
    """What the tools of a request cost, which is in no message."""

    tokens: int
    tools: int
    exact: bool


class MessageFilters(TypedDict, total=False):
    """The filters of a query, in the order in which they are applied."""

    all: bool
    at_version: int
    at_batch: int
    role: Role
    roles: Sequence[Role]
    from_: int
    to: int
    marked: str
    contains: str
    start: int
    end: int
    first: int
    last: int


class FitArguments(TypedDict, total=False):
    budget: Budget
    strategy: StrategyLike
    at_version: int


class ValidateArguments(TypedDict, total=False):
    profile: Union[str, Mapping[str, object]]
    at_version: int
    request: Mapping[str, object]
    sent_version: int


class RenderArguments(ValidateArguments, total=False):
    repair: bool
    bound_thinking: str
    cache_markers: Literal["given", "auto"]


class CostArguments(TypedDict, total=False):
    to: int
    operations: Sequence[Mapping[str, object]]
    cache_markers: Literal["given", "auto"]
    dialect: str
    profile: Union[str, Mapping[str, object]]
    overhead: int


class UsageReport(TypedDict, total=False):
    model: str
    prompt: int
    completion: int
    cached: int
    total: int
    cost: float
    timestamp: int
    estimated_prompt: int
    final: bool


class Count(TypedDict):
    count: int
    tokens: int


class BatchSnapshot(TypedDict):
    batchIndex: int
    timestamp: int
    messages: List[Message]
    messageCount: int


class State(TypedDict):
    messages: List[Message]
    batchSnapshots: List[BatchSnapshot]
    currentBatchIndex: int
    totalMessageCount: int


class _MarkMapBase(TypedDict):
    originalIndices: List[int]
    batchBoundaries: List[int]
    boundaryToBatch: List[int]
    currentBatch: int


class MarkMap(_MarkMapBase):
    typeIndices: Dict[str, List[int]]


class _MarkMapOfDocument(_MarkMapBase, total=False):
    typeIndices: Dict[str, List[int]]


#: One that is imported: what each role has follows from the messages.
GivenMarkMap = Union[MarkMap, _MarkMapOfDocument]


class _Derived(TypedDict):
    conversation: str
    ordinal: int
    kind: Literal["summary", "copy"]


class _Quoting(TypedDict):
    conversation: str
    version: int


class Redaction(TypedDict):
    """What a redaction found and did."""

    #: How many messages.
    redacted: int
    #: What was made from the messages that were named, here and in forks.
    derived: List[_Derived]
    #: Whose descriptions or arguments quote them.
    operations: List[_Quoting]


class _HistoryEntryBase(TypedDict):
    version: int
    parent: Union[int, None]
    operation: Union[str, None]
    batchIndex: int
    timestamp: int
    description: Union[str, None]
    messageCount: int
    tokens: int


class HistoryEntry(_HistoryEntryBase, total=False):
    restores: int
    targetReached: bool


class Diff(TypedDict):
    removed: List[int]
    added: List[int]
    moved: List[int]


class Batch(TypedDict):
    index: int
    boundary: int
    openedBy: Union[str, None]
    openedAt: int
    messageCount: int


class Event(TypedDict, total=False):
    type: str
    version: int
    ordinal: int
    batchIndex: int
    tokensUsed: int
    tokenLimit: int
    threshold: int
    strategy: str
    tokensBefore: int
    tokensAfter: int
    targetReached: bool
    error: Dict[str, Any]
    #: Of undertext.sdk: when it was heard of, in milliseconds since 1970.
    timestamp: int


class _RenderedBase(TypedDict):
    request: Dict[str, Any]
    findings: List[Dict[str, Any]]
    losses: List[Dict[str, Any]]


class Rendered(_RenderedBase, total=False):
    advice: List[str]
    #: Tools that are sent under another name than the caller's: the name as sent, and the caller's.
    toolNames: Dict[str, str]


class Validated(TypedDict):
    valid: bool
    findings: List[Dict[str, Any]]


class Entry(TypedDict):
    """What is known of a message in a view, beside its bytes."""

    ordinal: int
    timeMs: int
    tokens: int
    role: Role


class _SummaryBase(TypedDict):
    text: str


class Summary(_SummaryBase, total=False):
    """What a summariser may answer with in place of a str: which model was asked, and what that cost."""

    model: str
    promptTokens: int
    completionTokens: int


class Replacement(TypedDict, total=False):
    """With a summary, the messages to hide stand together."""

    hide: Sequence[int]
    summary: MessageLike


class Plan(TypedDict, total=False):
    replacements: Sequence[Replacement]
    reason: str


#: Writes a text of at most so many tokens that can stand for the messages.
Summariser = Callable[[List[Message], int, Cancel], Union[str, Summary]]
