"""The documents' shapes, where they are not those of undertext.types."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Sequence, TypedDict, Union

from ..types import MarkMap, Message, MessageLike, Range, Role, State, Stats


class MessageOperationResult(TypedDict):
    state: State
    affectedBatchIndex: int
    stats: Stats


class _CompressionBase(TypedDict):
    enabled: bool
    # As a strategy is told them: math.inf where nothing was said; in a configuration they are whole numbers.
    threshold: float
    targetTokens: float


class ContextCompressionConfig(_CompressionBase, total=False):
    #: As ConversationManager(strategy=…), instead of that.
    strategy: object


class Compressed(TypedDict):
    messages: List[Message]
    markMap: MarkMap


class _Truncate(TypedDict, total=False):
    keepFirst: int
    keepLast: int
    removeFirst: int
    removeLast: int
    range: Range
    role: Role


class _Insert(TypedDict):
    position: int
    messages: Sequence[MessageLike]


class _Replace(TypedDict):
    index: int
    message: MessageLike


class _Filter(TypedDict, total=False):
    roles: Sequence[Role]
    contentContains: Sequence[str]
    contentExcludes: Sequence[str]


class _Clear(TypedDict, total=False):
    keepSystemMessage: bool


class _NodeBase(TypedDict):
    operation: Literal["truncate", "insert", "replace", "clear", "filter"]


class ContextProcessorNodeConfig(_NodeBase, total=False):
    truncate: _Truncate
    insert: _Insert
    replace: _Replace
    filter: _Filter
    clear: _Clear


class ContextProcessorNodeResult(TypedDict):
    #: The canonical name: TRUNCATE; APPEND for an insert at -1.
    operation: str
    messageCount: int
    #: In milliseconds.
    executionTime: float
    stats: Stats


ContextModificationOperation = Literal[
    "insert", "delete", "replace", "compress", "batch_start", "batch_end"
]


class _ModificationBase(TypedDict):
    operation: ContextModificationOperation
    #: Ordinals; the boundary of batch_start, the batch of batch_end.
    indices: Sequence[int]


class ContextModificationConfig(_ModificationBase, total=False):
    data: Union[MessageLike, Sequence[MessageLike]]
    batch: int


class _LLMUsageBase(TypedDict):
    #: Of the whole input.
    promptTokens: int
    completionTokens: int


class LLMUsage(_LLMUsageBase, total=False):
    #: Default: both together.
    totalTokens: int
    model: str


class TokenUsageStats(TypedDict):
    promptTokens: int
    completionTokens: int
    totalTokens: int


class TokenUsageStatistics(TokenUsageStats):
    requests: int
    averagePromptTokens: float
    averageCompletionTokens: float
    maxPromptTokens: int
    maxCompletionTokens: int
    byModel: Dict[str, TokenUsageStats]


class ConversationState(TypedDict):
    """What a host saves: plain JSON."""

    #: The log: all messages ever stored.
    messages: List[Message]
    markMap: MarkMap
    #: Ordinals.
    pinned: List[int]
    version: int
    tokenUsage: Union[TokenUsageStats, None]
    currentRequestUsage: Union[TokenUsageStats, None]
    #: All that was reported, for TokenUsageTracker.restore().
    usage: Dict[str, Any]
