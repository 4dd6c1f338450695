"""The operations of the protocol (docs/operations.md) for type checkers: `operation: Truncate = {"operation": "TRUNCATE", "keepLast": 5}`, to be handed to apply() and apply_all()."""

from __future__ import annotations

from typing import Any, Dict, Literal, Sequence, TypedDict, Union

from .types import Budget, GivenMarkMap, MessageLike, Pairs, Range, Role, StrategyLike


class _Options(TypedDict, total=False):
    expectedVersion: int
    description: str
    operationId: str


class _Named(_Options, total=False):
    """Exactly one of the two."""

    indices: Sequence[int]
    ordinals: Sequence[int]


class Append(_Options):
    operation: Literal["APPEND"]
    messages: Sequence[MessageLike]


class Insert(_Options):
    operation: Literal["INSERT"]
    position: int
    messages: Sequence[MessageLike]


class Replace(_Options):
    operation: Literal["REPLACE"]
    index: int
    message: MessageLike


class _TruncateArguments(_Options, total=False):
    keepFirst: int
    keepLast: int
    removeFirst: int
    removeLast: int
    range: Range
    role: Role
    pairs: Pairs


class Truncate(_TruncateArguments):
    operation: Literal["TRUNCATE"]


class _ClearArguments(_Options, total=False):
    keepSystemMessage: bool


class Clear(_ClearArguments):
    operation: Literal["CLEAR"]


class _FilterArguments(_Options, total=False):
    roles: Sequence[Role]
    contentContains: Sequence[str]
    contentExcludes: Sequence[str]
    pairs: Pairs


class Filter(_FilterArguments):
    operation: Literal["FILTER"]


class _DeleteArguments(_Named, total=False):
    pairs: Pairs


class Delete(_DeleteArguments):
    operation: Literal["DELETE"]


class _CompressArguments(_Named, total=False):
    summary: MessageLike
    strategy: StrategyLike
    targetTokens: int
    budget: Budget
    progress: bool


class Compress(_CompressArguments):
    operation: Literal["COMPRESS"]


class Expand(_Options):
    operation: Literal["EXPAND"]
    index: int


class Show(_Options):
    operation: Literal["SHOW"]
    ordinals: Sequence[int]


class _MergeArguments(_Options, total=False):
    separator: str


class Merge(_MergeArguments):
    operation: Literal["MERGE"]
    indices: Sequence[int]


class Split(_Options):
    operation: Literal["SPLIT"]
    index: int
    at: Sequence[int]


class _TransformArguments(_Named, total=False):
    roles: Sequence[Role]
    replaceText: Dict[str, str]
    truncateText: Dict[str, Any]
    setMetadata: Dict[str, Any]


class Transform(_TransformArguments):
    operation: Literal["TRANSFORM"]


class _StartBatchArguments(_Options, total=False):
    boundary: int
    hidePrior: bool


class StartBatch(_StartBatchArguments):
    operation: Literal["START_BATCH"]


class _EndBatchArguments(_Options, total=False):
    carry: Sequence[Role]


class EndBatch(_EndBatchArguments):
    operation: Literal["END_BATCH"]
    targetBatch: int


class Rollback(_Options):
    operation: Literal["ROLLBACK"]
    targetBatchIndex: int


class Mark(_Named):
    operation: Literal["MARK"]
    mark: str


class Unmark(_Named):
    operation: Literal["UNMARK"]
    mark: str


class Undo(_Options):
    operation: Literal["UNDO"]


class Redo(_Options):
    operation: Literal["REDO"]


class Restore(_Options):
    operation: Literal["RESTORE"]
    version: int


class ImportMarkMap(_Options):
    operation: Literal["IMPORT_MARK_MAP"]
    markMap: GivenMarkMap


Operation = Union[
    Append,
    Insert,
    Replace,
    Truncate,
    Clear,
    Filter,
    Delete,
    Compress,
    Expand,
    Show,
    Merge,
    Split,
    Transform,
    StartBatch,
    EndBatch,
    Rollback,
    Mark,
    Unmark,
    Undo,
    Redo,
    Restore,
    ImportMarkMap,
]
