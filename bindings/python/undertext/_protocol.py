"""The shapes of the protocol. Generated from `undertext schema` by bindings/types/make.py."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Sequence, TypedDict, Union

from ._message import Message, MessageLike

#: Of a message; `developer` counts as `system`.
Role = Literal["system", "user", "assistant", "tool"]
#: As a message may spell it.
MessageRole = Literal["system", "user", "assistant", "tool", "developer"]
#: What a request is for.
ClientRequestKind = Literal["turn", "compaction", "side_request", "count_tokens"]
#: A client whose requests are known.
ClientName = Literal["claude_code", "codex", "gemini_cli", "opencode", "openai_chat", "openai_responses", "anthropic", "gemini", "generic", "framework"]
#: A message format of providers.
Dialect = Literal["openai_chat", "openai_responses", "anthropic", "gemini"]
#: What a provider accepts: the profiles of the engine.
ProfileName = Literal["openai_chat", "openai_responses", "openai_responses_stateless", "anthropic", "anthropic_prefill", "anthropic_system_first", "anthropic_thinking", "anthropic_bound", "bedrock", "gemini", "gemini3", "deepseek", "mistral", "gemma", "llama_cpp"]
#: What becomes of the rest of a tool pair: nothing, it goes too, or both stay.
Pairs = Literal["literal", "shrink", "grow"]
#: What kind of failure it is.
ErrorCode = Literal["invalid_argument", "not_found", "conflict", "cannot_fit", "corrupt", "unavailable", "unsupported", "too_large", "internal", "denied"]
EventType = Literal["MESSAGE_ADDED", "BATCH_OPENED", "ROLLED_BACK", "CONTEXT_CHANGED", "TOKEN_LIMIT_EXCEEDED", "COMPRESSION_THRESHOLD_EXCEEDED", "COMPRESSED", "COMPRESSION_FAILED", "COMPRESSION_DISCARDED", "REWRITTEN"]
WarningCode = Literal["tool_call_without_result", "tool_result_without_call", "reasoning_without_call"]
#: What a provider would refuse: docs/dialects.md has the meanings.
FindingCode = Literal["PAIR_ORPHAN_RESULT", "PAIR_MISSING_RESULT", "PAIR_DUP_RESULT", "PAIR_DUP_CALL_ID", "GEM_COUNT", "GEM_CALL_POSITION", "RESULT_NOT_FIRST", "SERVER_PAIR_ORPHAN", "THINK_MODIFIED", "THINK_LAST_BLOCK", "THINK_UNSIGNED", "THINK_MISSING", "THINK_PREFIX_CHANGED", "REASONING_NO_FOLLOWER", "REASONING_MISSING", "ITEM_REF_UNSTORED", "REASONING_NOT_PORTABLE", "GEM_SIG_MISSING", "REASONING_CONTENT_MISSING", "EMPTY_MESSAGE", "EMPTY_TEXT", "CONTENT_NULL", "FIRST_NOT_USER", "TRAILING_ASSISTANT", "TRAILING_WS", "ROLE_ALTERNATION", "USER_AFTER_TOOL", "SYSTEM_POSITION", "SYSTEM_ROLE_UNSUPPORTED", "MEDIA_IN_TOOL_RESULT", "ARGS_NOT_OBJECT", "CALL_ID_FORMAT", "TOOL_NAME_FORMAT", "CACHE_TOO_MANY", "CACHE_ON_EMPTY", "CACHE_ON_THINKING", "CACHE_TTL_ORDER", "COMPACTION_NOT_FIRST", "COMPACTION_MULTIPLE", "COMPACTION_TRIGGER_NOT_LAST", "STATE_CONFLICT", "TOOL_UNDEFINED", "GEM_PART_UNION", "GEM_ROLE", "EMPTY_LIST", "MEDIA_UNSUPPORTED", "MEDIA_URL", "RESULT_ERROR_CONTENT", "NO_MESSAGES", "GEM_ID", "ITEM_DUP_ID"]
#: What another format has no place for: docs/dialects.md has the meanings.
LossCode = Literal["L_REASONING_DROPPED", "L_SIGNATURE_DROPPED", "L_SIGNATURE_SENTINEL", "L_COMPACTION_OPAQUE", "L_COMPACTION_AS_TEXT", "L_SERVER_TOOL_DROPPED", "L_ITEM_REFERENCE", "L_ARGS_WRAPPED", "L_ORDER_TEXT_AFTER_CALL", "L_MEDIA_MOVED", "L_MEDIA_UNSUPPORTED", "L_FILE_ID", "L_AUDIO_REF", "L_ERROR_FLAG_AS_TEXT", "L_ROLE_DEVELOPER", "L_SYSTEM_MID", "L_SYSTEM_AS_USER", "L_NAME", "L_PHASE", "L_REFUSAL_AS_TEXT", "L_ANNOTATIONS", "L_IMAGE_DETAIL", "L_CACHE_HINT", "L_CALL_ID_REWRITTEN", "L_UNKNOWN_FIELD", "L_PART_DROPPED", "L_CONTROL_DROPPED", "L_MEDIA_URL", "L_FILE_NAME", "L_TOOL_NAME_REWRITTEN", "L_RESULT_DROPPED", "L_CALL_DROPPED"]
LossSeverity = Literal["low", "medium", "high", "blocking"]
FitOutcome = Literal["fits", "fits_after", "cannot_fit"]
#: Who marks requests: the caller, or render.
CacheMarkers = Literal["given", "auto"]
#: Names of tools as they are sent, and the caller's.
ToolNames = Dict[str, str]
MediaKind = Literal["image", "audio", "video", "file"]
MediaSource = Literal["base64", "url", "file_id", "text"]
#: In its canonical spelling.
OperationName = Literal["APPEND", "INSERT", "REPLACE", "TRUNCATE", "CLEAR", "FILTER", "DELETE", "COMPRESS", "EXPAND", "SHOW", "MERGE", "SPLIT", "TRANSFORM", "START_BATCH", "END_BATCH", "ROLLBACK", "MARK", "UNMARK", "UNDO", "REDO", "RESTORE", "IMPORT_MARK_MAP", "RECONCILE", "RECALL", "MERGE_FORK", "EXPAND"]
#: The strategies of the engine.
StrategyName = Literal["default", "none", "keep_recent", "keep_system_and_recent", "sliding_window", "supersede", "dedupe", "clear_tool_results", "smart_summary", "prefer_cache", "pipeline"]
#: A tool, in the words of the dialect.
ToolDeclaration = Dict[str, Any]
#: Why tokens that an earlier request left in the cache were not read from it.
MissCause = Literal["expired", "edited", "changed", "upstream"]


class _AppendOperationNeeded(TypedDict):
    operation: Literal["APPEND"]  # Which operation.
    messages: Sequence[MessageLike]  # At least one.


class AppendOperation(_AppendOperationNeeded, total=False):
    """Adds messages to the end of the view."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _InsertOperationNeeded(TypedDict):
    operation: Literal["INSERT"]  # Which operation.
    position: int  # The index to insert before; the length appends.
    messages: Sequence[MessageLike]  # At least one.


class InsertOperation(_InsertOperationNeeded, total=False):
    """Puts messages before a position of the view."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ReplaceOperationNeeded(TypedDict):
    operation: Literal["REPLACE"]  # Which operation.
    index: int  # Its position in the view.
    message: MessageLike  # What takes the place.


class ReplaceOperation(_ReplaceOperationNeeded, total=False):
    """A new message takes the place of another, which stays in the log."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class Range(TypedDict):
    """Keeps these."""

    start: int  # The first index.
    end: int  # The index behind the last one.


class _TruncateOperationNeeded(TypedDict):
    operation: Literal["TRUNCATE"]  # Which operation.


class TruncateOperation(_TruncateOperationNeeded, total=False):
    """Keeps the beginning, the end or a stretch of the view."""

    keepFirst: int  # Keeps the first so many.
    keepLast: int  # Keeps the last so many.
    removeFirst: int  # Hides the first so many.
    removeLast: int  # Hides the last so many.
    range: Range  # Keeps these.
    role: Role  # First drops all other roles.
    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ClearOperationNeeded(TypedDict):
    operation: Literal["CLEAR"]  # Which operation.


class ClearOperation(_ClearOperationNeeded, total=False):
    """Empties the view, but for system messages."""

    keepSystemMessage: bool  # Keeps all system messages. Default: true.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _FilterOperationNeeded(TypedDict):
    operation: Literal["FILTER"]  # Which operation.


class FilterOperation(_FilterOperationNeeded, total=False):
    """Keeps messages of some roles, or with or without some texts."""

    roles: Sequence[Role]  # Keeps these roles.
    contentContains: Sequence[str]  # Keeps what contains any of these texts.
    contentExcludes: Sequence[str]  # Keeps what contains none of these texts.
    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _DeleteOperationNeeded(TypedDict):
    operation: Literal["DELETE"]  # Which operation.


class DeleteOperation(_DeleteOperationNeeded, total=False):
    """Hides exactly these messages."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class Budget(TypedDict, total=False):
    """What a request may hold."""

    window: int  # Tokens that the model takes. Default: as the settings, or their model, say.
    reserve: int  # Kept free for the answer.
    overhead: int  # Tools, and instructions that are not in the view.
    safety: int  # For what a count may be wrong by.


class SurvivalPolicy(TypedDict, total=False):
    """What a compression must keep; else it is refused."""

    constraints: float  # The least part of them that must survive, from 0 to 1.
    request: float  # The least part of them that must survive, from 0 to 1.
    plan: float  # The least part of them that must survive, from 0 to 1.
    changedFiles: float  # The least part of them that must survive, from 0 to 1.
    results: float  # The least part of them that must survive, from 0 to 1.
    errors: float  # The least part of them that must survive, from 0 to 1.
    attempts: float  # The least part of them that must survive, from 0 to 1.
    nextStep: float  # The least part of them that must survive, from 0 to 1.
    paths: float  # The least part of them that must survive, from 0 to 1.
    commands: float  # The least part of them that must survive, from 0 to 1.
    urls: float  # The least part of them that must survive, from 0 to 1.


class _CompressByStrategyNeeded(TypedDict):
    operation: Literal["COMPRESS"]  # Which operation.


class CompressByStrategy(_CompressByStrategyNeeded, total=False):
    """A strategy chooses what to hide."""

    budget: Budget  # What a request may hold.
    targetTokens: int  # What the view is to come down to.
    progress: bool  # Applies what can be freed where the target is out of reach; else that is `cannot_fit`. Default: false.
    survival: SurvivalPolicy  # What a compression must keep; else it is refused.
    strategy: StrategyChoice  # By its name, or with arguments. Default: the setting `compressionConfig.strategy`.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _CompressOperationNeeded(TypedDict):
    operation: Literal["COMPRESS"]  # Which operation.


class CompressOperation(_CompressOperationNeeded, total=False):
    """Hides messages, or what a strategy chooses; the summary stands for them."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    summary: MessageLike  # Takes the place of the first. Default: nothing does.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.
    budget: Budget  # What a request may hold.
    targetTokens: int  # What the view is to come down to.
    progress: bool  # Applies what can be freed where the target is out of reach; else that is `cannot_fit`. Default: false.
    survival: SurvivalPolicy  # What a compression must keep; else it is refused.
    strategy: StrategyChoice  # By its name, or with arguments. Default: the setting `compressionConfig.strategy`.


class _ExpandOperationNeeded(TypedDict):
    operation: Literal["EXPAND"]  # Which operation.
    index: int  # Of a message that stands for others.


class ExpandOperation(_ExpandOperationNeeded, total=False):
    """A message goes, and those it stands for return."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ShowOperationNeeded(TypedDict):
    operation: Literal["SHOW"]  # Which operation.
    ordinals: Sequence[int]  # Of hidden messages.


class ShowOperation(_ShowOperationNeeded, total=False):
    """Hidden messages return to their places."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _MergeOperationNeeded(TypedDict):
    operation: Literal["MERGE"]  # Which operation.
    indices: Sequence[int]  # Of the messages to join.


class MergeOperation(_MergeOperationNeeded, total=False):
    """Joins messages into one."""

    separator: str  # What stands between their texts. Default: a newline.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _SplitOperationNeeded(TypedDict):
    operation: Literal["SPLIT"]  # Which operation.
    index: int  # Of the message to split.
    at: Sequence[int]  # Where: code points of a text, or places in a list of parts; rising.


class SplitOperation(_SplitOperationNeeded, total=False):
    """Splits a message into several."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


_ReplaceTextNeeded = TypedDict("_ReplaceTextNeeded", {"find": 'str', "with": 'str'})
_ReplaceTextOptional = TypedDict("_ReplaceTextOptional", {}, total=False)


class ReplaceText(_ReplaceTextNeeded, _ReplaceTextOptional):
    """Replaces a text wherever it stands."""


class _TruncateTextNeeded(TypedDict):
    maxChars: int  # Code points to keep of each text.


class TruncateText(_TruncateTextNeeded, total=False):
    """Shortens each text."""

    keep: Literal["head", "tail", "both"]  # Which end to keep. Default: "head".
    marker: str  # What stands where text was cut.


class _TransformOperationNeeded(TypedDict):
    operation: Literal["TRANSFORM"]  # Which operation.


class TransformOperation(_TransformOperationNeeded, total=False):
    """Changes texts or metadata of messages."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    roles: Sequence[Role]  # All messages of these roles.
    replaceText: ReplaceText  # Replaces a text wherever it stands.
    truncateText: TruncateText  # Shortens each text.
    setMetadata: Mapping[str, object]  # Sets these members of `metadata`.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _StartBatchOperationNeeded(TypedDict):
    operation: Literal["START_BATCH"]  # Which operation.


class StartBatchOperation(_StartBatchOperationNeeded, total=False):
    """Opens a batch: a point to return to."""

    boundary: int  # Where the batch begins in the log. Default: its length.
    hidePrior: bool  # Hides what is there, but for pinned messages. Default: false.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _EndBatchOperationNeeded(TypedDict):
    operation: Literal["END_BATCH"]  # Which operation.
    targetBatch: int  # The batch to return to.


class EndBatchOperation(_EndBatchOperationNeeded, total=False):
    """Returns to a batch, and may carry messages along."""

    carry: Sequence[Role]  # Messages added since with these roles are appended again.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _RollbackOperationNeeded(TypedDict):
    operation: Literal["ROLLBACK"]  # Which operation.
    targetBatchIndex: int  # The batch to return to.


class RollbackOperation(_RollbackOperationNeeded, total=False):
    """The view becomes what it last was in a batch."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _MarkOperationNeeded(TypedDict):
    operation: Literal["MARK"]  # Which operation.
    mark: str  # The label; `pinned` protects from trimming and compression.


class MarkOperation(_MarkOperationNeeded, total=False):
    """Labels messages."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _UnmarkOperationNeeded(TypedDict):
    operation: Literal["UNMARK"]  # Which operation.
    mark: str  # The label; `pinned` protects from trimming and compression.


class UnmarkOperation(_UnmarkOperationNeeded, total=False):
    """Takes a label off messages."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _UndoOperationNeeded(TypedDict):
    operation: Literal["UNDO"]  # Which operation.


class UndoOperation(_UndoOperationNeeded, total=False):
    """Takes back the last operation that is not undone."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _RedoOperationNeeded(TypedDict):
    operation: Literal["REDO"]  # Which operation.


class RedoOperation(_RedoOperationNeeded, total=False):
    """Carries out again what was undone last."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _RestoreOperationNeeded(TypedDict):
    operation: Literal["RESTORE"]  # Which operation.
    version: int  # Whose state returns.


class RestoreOperation(_RestoreOperationNeeded, total=False):
    """The state of a version returns, as a new version."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class GivenTypeIndices(TypedDict, total=False):
    """The same by role; default: as the messages have it."""

    system: Sequence[int]  # Ordinals of this role.
    user: Sequence[int]  # Ordinals of this role.
    assistant: Sequence[int]  # Ordinals of this role.
    tool: Sequence[int]  # Ordinals of this role.


class _GivenMarkMapNeeded(TypedDict):
    originalIndices: Sequence[int]  # The view: ordinals in its order.
    batchBoundaries: Sequence[int]  # Where each batch begins in the log.
    boundaryToBatch: Sequence[int]  # The batch of each boundary: 0, 1, 2 and so on.
    currentBatch: int  # The batch that the view is in.


class GivenMarkMap(_GivenMarkMapNeeded, total=False):
    """As the query markMap returns it."""

    typeIndices: GivenTypeIndices  # The same by role; default: as the messages have it.


class _ImportMarkMapOperationNeeded(TypedDict):
    operation: Literal["IMPORT_MARK_MAP"]  # Which operation.
    markMap: GivenMarkMap  # As the query markMap returns it.


class ImportMarkMapOperation(_ImportMarkMapOperationNeeded, total=False):
    """The view and the batches become those of a mark map."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ReconcileOperationNeeded(TypedDict):
    operation: Literal["RECONCILE"]  # Which operation.


class ReconcileOperation(_ReconcileOperationNeeded, total=False):
    """The conversation follows a client that keeps its own list and sends all of it."""

    client: ClientName  # Whose request it is. Default: generic.
    dialect: Dialect  # The format of the request. Default: that of the client, or the engine's own.
    request: Mapping[str, object]  # A whole request.
    messages: Sequence[Mapping[str, object]]  # Its list of messages alone.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


_RecallOperationNeeded = TypedDict("_RecallOperationNeeded", {"operation": 'Literal["RECALL"]', "text": 'str'})
_RecallOperationOptional = TypedDict("_RecallOperationOptional", {"budgetTokens": 'int', "all": 'bool', "atVersion": 'int', "atBatch": 'int', "role": 'Role', "roles": 'Sequence[Role]', "from": 'int', "to": 'int', "marked": 'str', "contains": 'str', "start": 'int', "end": 'int', "first": 'int', "last": 'int', "expectedVersion": 'int', "description": 'str', "operationId": 'str'}, total=False)


class RecallOperation(_RecallOperationNeeded, _RecallOperationOptional):
    """Appends a message that quotes what a search for a text finds."""


_MergeForkOperationNeeded = TypedDict("_MergeForkOperationNeeded", {"operation": 'Literal["MERGE_FORK"]', "from": 'str'})
_MergeForkOperationOptional = TypedDict("_MergeForkOperationOptional", {"mode": 'Literal["summary", "messages", "pick"]', "ordinals": 'Sequence[int]', "summary": 'MessageLike', "expectedVersion": 'int', "description": 'str', "operationId": 'str'}, total=False)


class MergeForkOperation(_MergeForkOperationNeeded, _MergeForkOperationOptional):
    """Appends what a fork of this conversation achieved."""


class Truncate(TypedDict, total=False):
    """The arguments."""

    keepFirst: int  # Keeps the first so many.
    keepLast: int  # Keeps the last so many.
    removeFirst: int  # Hides the first so many.
    removeLast: int  # Hides the last so many.
    range: Range  # Keeps these.
    role: Role  # First drops all other roles.
    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.


class _NodeTruncateNeeded(TypedDict):
    operation: Literal["truncate"]  # Which operation.
    truncate: Truncate  # The arguments.


class NodeTruncate(_NodeTruncateNeeded, total=False):
    """Another spelling of an operation."""

    pairs: Pairs  # As in the block.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class Insert(TypedDict):
    """The arguments."""

    position: int  # The index to insert before; -1 appends.
    messages: Sequence[MessageLike]  # At least one.


class _NodeInsertNeeded(TypedDict):
    operation: Literal["insert"]  # Which operation.
    insert: Insert  # The arguments.


class NodeInsert(_NodeInsertNeeded, total=False):
    """Another spelling of an operation."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class Replace(TypedDict):
    """The arguments."""

    index: int  # Its position in the view.
    message: MessageLike  # What takes the place.


class _NodeReplaceNeeded(TypedDict):
    operation: Literal["replace"]  # Which operation.
    replace: Replace  # The arguments.


class NodeReplace(_NodeReplaceNeeded, total=False):
    """Another spelling of an operation."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class Clear(TypedDict, total=False):
    """The arguments."""

    keepSystemMessage: bool  # Keeps all system messages. Default: true.


class _NodeClearNeeded(TypedDict):
    operation: Literal["clear"]  # Which operation.


class NodeClear(_NodeClearNeeded, total=False):
    """Another spelling of an operation."""

    clear: Clear  # The arguments.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class Filter(TypedDict, total=False):
    """The arguments."""

    roles: Sequence[Role]  # Keeps these roles.
    contentContains: Sequence[str]  # Keeps what contains any of these texts.
    contentExcludes: Sequence[str]  # Keeps what contains none of these texts.
    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.


class _NodeFilterNeeded(TypedDict):
    operation: Literal["filter"]  # Which operation.
    filter: Filter  # The arguments.


class NodeFilter(_NodeFilterNeeded, total=False):
    """Another spelling of an operation."""

    pairs: Pairs  # As in the block.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ModificationInsertNeeded(TypedDict):
    operation: Literal["insert"]  # Which operation.
    data: Union[MessageLike, Sequence[MessageLike]]  # What is appended.


class ModificationInsert(_ModificationInsertNeeded, total=False):
    """Another spelling of an operation."""

    indices: Sequence[int]  # Means nothing here.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ModificationDeleteNeeded(TypedDict):
    operation: Literal["delete"]  # Which operation.
    indices: Sequence[int]  # Places in the log.


class ModificationDelete(_ModificationDeleteNeeded, total=False):
    """Another spelling of an operation."""

    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ModificationReplaceNeeded(TypedDict):
    operation: Literal["replace"]  # Which operation.
    indices: Sequence[int]  # Places in the log.
    data: Union[MessageLike, Sequence[MessageLike]]  # What takes the place of the first.


class ModificationReplace(_ModificationReplaceNeeded, total=False):
    """Another spelling of an operation."""

    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ModificationCompressNeeded(TypedDict):
    operation: Literal["compress"]  # Which operation.
    indices: Sequence[int]  # Places in the log.


class ModificationCompress(_ModificationCompressNeeded, total=False):
    """Another spelling of an operation."""

    data: MessageLike  # The summary. Default: nothing takes their place.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ModificationBatchStartNeeded(TypedDict):
    operation: Literal["batch_start"]  # Which operation.


class ModificationBatchStart(_ModificationBatchStartNeeded, total=False):
    """Another spelling of an operation."""

    batch: int  # The boundary of the new batch, or the batch to return to.
    indices: Sequence[int]  # The same, as a list of one.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _ModificationBatchEndNeeded(TypedDict):
    operation: Literal["batch_end"]  # Which operation.


class ModificationBatchEnd(_ModificationBatchEndNeeded, total=False):
    """Another spelling of an operation."""

    batch: int  # The boundary of the new batch, or the batch to return to.
    indices: Sequence[int]  # The same, as a list of one.
    expectedVersion: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operationId: str  # An operation that repeats it is answered as the first time, and changes nothing.


class _DefaultStrategyNeeded(TypedDict):
    name: Literal["default"]  # Which strategy.


class DefaultStrategy(_DefaultStrategyNeeded, total=False):
    """The strategy `default`."""

    summaryTokens: int  # How long the summaries may be together. Default: a quarter of the target, from 512 to 8192; 1024 without one.
    summariser: str  # `digest`, or a name of the setting `summarisers`. Default: digest.
    fallbacks: Sequence[str]  # Summarisers to ask in turn where that one fails.


class NoneStrategy(TypedDict):
    """The strategy `none`."""

    name: Literal["none"]  # Which strategy.


class _KeepRecentStrategyNeeded(TypedDict):
    name: Literal["keep_recent"]  # Which strategy.


class KeepRecentStrategy(_KeepRecentStrategyNeeded, total=False):
    """The strategy `keep_recent`."""

    n: int  # How many messages to keep. Default: 10.


class _KeepSystemAndRecentStrategyNeeded(TypedDict):
    name: Literal["keep_system_and_recent"]  # Which strategy.


class KeepSystemAndRecentStrategy(_KeepSystemAndRecentStrategyNeeded, total=False):
    """The strategy `keep_system_and_recent`."""

    n: int  # How many messages to keep. Default: 10.


class SlidingWindowStrategy(TypedDict):
    """The strategy `sliding_window`."""

    name: Literal["sliding_window"]  # Which strategy.


class _SupersedeStrategyNeeded(TypedDict):
    name: Literal["supersede"]  # Which strategy.


class SupersedeStrategy(_SupersedeStrategyNeeded, total=False):
    """The strategy `supersede`."""

    exclude: Sequence[str]  # Tools whose results stay.
    late: bool  # The newest first, and no more than the target needs. Default: false.


class _DedupeStrategyNeeded(TypedDict):
    name: Literal["dedupe"]  # Which strategy.


class DedupeStrategy(_DedupeStrategyNeeded, total=False):
    """The strategy `dedupe`."""

    exclude: Sequence[str]  # Tools whose results stay.
    late: bool  # The newest first, and no more than the target needs. Default: false.


class _ClearToolResultsStrategyNeeded(TypedDict):
    name: Literal["clear_tool_results"]  # Which strategy.


class ClearToolResultsStrategy(_ClearToolResultsStrategyNeeded, total=False):
    """The strategy `clear_tool_results`."""

    keep: int  # How many of the newest results to keep. Default: 3.
    exclude: Sequence[str]  # Tools whose results stay.
    minGain: int  # Does nothing where fewer tokens would be freed.
    late: bool  # Clears only as many as the target needs. Default: false.


class _SmartSummaryStrategyNeeded(TypedDict):
    name: Literal["smart_summary"]  # Which strategy.


class SmartSummaryStrategy(_SmartSummaryStrategyNeeded, total=False):
    """The strategy `smart_summary`."""

    keep: int  # How many of the newest messages to keep.
    summaryTokens: int  # How long the summaries may be together. Default: a quarter of the target, from 512 to 8192; 1024 without one.
    summariser: str  # `digest`, or a name of the setting `summarisers`. Default: digest.
    fallbacks: Sequence[str]  # Summarisers to ask in turn where that one fails.


class _PreferCacheStrategyNeeded(TypedDict):
    name: Literal["prefer_cache"]  # Which strategy.
    steps: Sequence[StrategyObject]  # Strategies that are no pipelines, one after the other.


class PreferCacheStrategy(_PreferCacheStrategyNeeded, total=False):
    """The strategy `prefer_cache`."""

    dialect: Dialect  # The message format. Default: that of the settings, or of their model.
    profile: Union[ProfileName, str, Mapping[str, object]]  # What a provider accepts, by name or as an object.
    overhead: int  # Tokens before the first message: tools and such.
    turns: int  # How many requests are to come. Default: 10.
    keepPercent: int  # How much of what the fullest plan keeps a cheaper one must keep. Default: 90.
    cacheMarkers: CacheMarkers  # Who marks requests for the provider's prompt cache: the caller, or render.


class PipelineStrategy(TypedDict):
    """The strategy `pipeline`."""

    name: Literal["pipeline"]  # Which strategy.
    steps: Sequence[StrategyObject]  # Strategies that are no pipelines, one after the other.


_MessagesQueryNeeded = TypedDict("_MessagesQueryNeeded", {"query": 'Literal["messages"]'})
_MessagesQueryOptional = TypedDict("_MessagesQueryOptional", {"all": 'bool', "atVersion": 'int', "atBatch": 'int', "role": 'Role', "roles": 'Sequence[Role]', "from": 'int', "to": 'int', "marked": 'str', "contains": 'str', "start": 'int', "end": 'int', "first": 'int', "last": 'int'}, total=False)


class MessagesQuery(_MessagesQueryNeeded, _MessagesQueryOptional):
    """Messages of the view, or of the log. The filters compose in their order."""


_CountQueryNeeded = TypedDict("_CountQueryNeeded", {"query": 'Literal["count"]'})
_CountQueryOptional = TypedDict("_CountQueryOptional", {"all": 'bool', "atVersion": 'int', "atBatch": 'int', "role": 'Role', "roles": 'Sequence[Role]', "from": 'int', "to": 'int', "marked": 'str', "contains": 'str', "start": 'int', "end": 'int', "first": 'int', "last": 'int'}, total=False)


class CountQuery(_CountQueryNeeded, _CountQueryOptional):
    """How many messages that is, and their tokens."""


_BlocksQueryNeeded = TypedDict("_BlocksQueryNeeded", {"query": 'Literal["blocks"]'})
_BlocksQueryOptional = TypedDict("_BlocksQueryOptional", {"all": 'bool', "atVersion": 'int', "atBatch": 'int', "role": 'Role', "roles": 'Sequence[Role]', "from": 'int', "to": 'int', "marked": 'str', "contains": 'str', "start": 'int', "end": 'int', "first": 'int', "last": 'int'}, total=False)


class BlocksQuery(_BlocksQueryNeeded, _BlocksQueryOptional):
    """What these messages say, in whichever format they are, as blocks."""


class BlocksAnswer(TypedDict):
    ok: Literal[True]
    result: List[MessageBlocks]  # What these messages say, in whichever format they are, as blocks.


class UncompressedQuery(TypedDict):
    """Messages of the view at or after the current batch's boundary."""

    query: Literal["uncompressed"]  # Which query.


class MarkMapQuery(TypedDict):
    """The view as ordinals: the mark map."""

    query: Literal["markMap"]  # Which query.


class MarkMapAnswer(TypedDict):
    ok: Literal[True]
    result: MarkMap  # The view as ordinals: the mark map.


class StateQuery(TypedDict):
    """The view with the snapshots of all batches."""

    query: Literal["state"]  # Which query.


class StateAnswer(TypedDict):
    ok: Literal[True]
    result: State  # The view with the snapshots of all batches.


class StatsQuery(TypedDict):
    """Messages, batches and tokens."""

    query: Literal["stats"]  # Which query.


class StatsAnswer(TypedDict):
    ok: Literal[True]
    result: Stats  # Messages, batches and tokens.


class VersionQuery(TypedDict):
    """The head."""

    query: Literal["version"]  # Which query.


class VersionAnswer(TypedDict):
    ok: Literal[True]
    result: int  # The head.


class BatchesQuery(TypedDict):
    """The batches of the stack, the first one first."""

    query: Literal["batches"]  # Which query.


class BatchesAnswer(TypedDict):
    ok: Literal[True]
    result: List[Batch]  # The batches of the stack, the first one first.


class BatchSnapshotQuery(TypedDict):
    """The view as it last was in a batch that has been left; null for any other."""

    query: Literal["batchSnapshot"]  # Which query.
    batchIndex: int  # The batch.


class BatchSnapshotAnswer(TypedDict):
    ok: Literal[True]
    result: Union[BatchSnapshot, None]  # The view as it last was in a batch that has been left; null for any other.


class HistoryQuery(TypedDict):
    """All versions, the oldest first."""

    query: Literal["history"]  # Which query.


class HistoryAnswer(TypedDict):
    ok: Literal[True]
    result: List[VersionEntry]  # All versions, the oldest first.


_DiffQueryNeeded = TypedDict("_DiffQueryNeeded", {"query": 'Literal["diff"]', "from": 'int', "to": 'int'})
_DiffQueryOptional = TypedDict("_DiffQueryOptional", {}, total=False)


class DiffQuery(_DiffQueryNeeded, _DiffQueryOptional):
    """What changed between two versions, as ordinals."""


class DiffAnswer(TypedDict):
    ok: Literal[True]
    result: Diff  # What changed between two versions, as ordinals.


class BlameQuery(TypedDict):
    """Which operations stored, hid and showed a message."""

    query: Literal["blame"]  # Which query.
    ordinal: int  # Its place in the log.


class BlameAnswer(TypedDict):
    ok: Literal[True]
    result: Blame  # Which operations stored, hid and showed a message.


class _TokensQueryNeeded(TypedDict):
    query: Literal["tokens"]  # Which query.


class TokensQuery(_TokensQueryNeeded, total=False):
    """Tokens of the view by role, and of each message where asked for."""

    atVersion: int  # As of this version. Default: the head.
    perMessage: bool  # The tokens of each message too. Default: false.


class TokensAnswer(TypedDict):
    ok: Literal[True]
    result: TokenCounts  # Tokens of the view by role, and of each message where asked for.


class _FitQueryNeeded(TypedDict):
    query: Literal["fit"]  # Which query.


class FitQuery(_FitQueryNeeded, total=False):
    """Whether the view is within a budget, and what would make it so. Changes nothing."""

    atVersion: int  # As of this version. Default: the head.
    budget: Budget  # What a request may hold.
    strategy: StrategyChoice  # By its name, or with arguments.


class FitAnswer(TypedDict):
    ok: Literal[True]
    result: Fit  # Whether the view is within a budget, and what would make it so. Changes nothing.


class ReceiptsQuery(TypedDict):
    """What every COMPRESS did, the oldest first."""

    query: Literal["receipts"]  # Which query.


class ReceiptsAnswer(TypedDict):
    ok: Literal[True]
    result: List[Receipt]  # What every COMPRESS did, the oldest first.


class _RenderQueryNeeded(TypedDict):
    query: Literal["render"]  # Which query.


class RenderQuery(_RenderQueryNeeded, total=False):
    """The request that a provider would be sent, with what was repaired or lost."""

    atVersion: int  # As of this version. Default: the head.
    sentVersion: int  # What the provider saw last, for bound thinking.
    dialect: Dialect  # The message format. Default: that of the settings, or of their model.
    profile: Union[ProfileName, str, Mapping[str, object]]  # What a provider accepts, by name or as an object.
    request: Mapping[str, object]  # The other fields of the request.
    repair: bool  # false: the view as it stands. Default: true.
    cacheMarkers: CacheMarkers  # Who marks requests for the provider's prompt cache: the caller, or render.
    boundThinking: Literal["strip", "refuse", "drop_block"]  # What becomes of thinking that an edit has made void.


class RenderAnswer(TypedDict):
    ok: Literal[True]
    result: Rendered  # The request that a provider would be sent, with what was repaired or lost.


class _ValidateQueryNeeded(TypedDict):
    query: Literal["validate"]  # Which query.


class ValidateQuery(_ValidateQueryNeeded, total=False):
    """What a provider would refuse in the view as it stands."""

    atVersion: int  # As of this version. Default: the head.
    sentVersion: int  # What the provider saw last, for bound thinking.
    dialect: Dialect  # The message format. Default: that of the settings, or of their model.
    profile: Union[ProfileName, str, Mapping[str, object]]  # What a provider accepts, by name or as an object.
    request: Mapping[str, object]  # The other fields of the request.


class ValidateAnswer(TypedDict):
    ok: Literal[True]
    result: Validated  # What a provider would refuse in the view as it stands.


_CostQueryNeeded = TypedDict("_CostQueryNeeded", {"query": 'Literal["cost"]'})
_CostQueryOptional = TypedDict("_CostQueryOptional", {"from": 'int', "to": 'int', "operations": 'Sequence[AnyOperation]', "dialect": 'Dialect', "profile": 'Union[ProfileName, str, Mapping[str, object]]', "overhead": 'int', "cacheMarkers": 'CacheMarkers'}, total=False)


class CostQuery(_CostQueryNeeded, _CostQueryOptional):
    """What an edit would cost at a provider that caches prompts."""


class CostAnswer(TypedDict):
    ok: Literal[True]
    result: EditCost  # What an edit would cost at a provider that caches prompts.


class _ModelQueryNeeded(TypedDict):
    query: Literal["model"]  # Which query.


class ModelQuery(_ModelQueryNeeded, total=False):
    """What is known of the conversation's model, or of another."""

    name: str  # A model in any spelling. Default: that of the conversation.


class ModelAnswer(TypedDict):
    ok: Literal[True]
    result: Model  # What is known of the conversation's model, or of another.


class _CountToolsQueryNeeded(TypedDict):
    query: Literal["countTools"]  # Which query.
    tools: Sequence[Any]  # The tools of a request, as a provider takes them.


class CountToolsQuery(_CountToolsQueryNeeded, total=False):
    """What the tools of a request cost, which is in no message."""

    model: str  # The model to count for. Default: as the conversation counts.


class CountToolsAnswer(TypedDict):
    ok: Literal[True]
    result: ToolsCount  # What the tools of a request cost, which is in no message.


class _ImportMessagesQueryNeeded(TypedDict):
    query: Literal["importMessages"]  # Which query.
    json: Union[Mapping[str, object], Sequence[Any]]  # A request, a response, a message or a list of messages. A response says itself which format it has.


class ImportMessagesQuery(_ImportMessagesQueryNeeded, total=False):
    """The messages of a provider's request or response, for APPEND."""

    dialect: Dialect  # The message format. Default: that of the settings, or of their model.
    profile: Union[ProfileName, str, Mapping[str, object]]  # What a provider accepts, by name or as an object.
    toolNames: ToolNames  # Tools that were sent under another name: that name, and the caller's.
    after: bool  # Only what is new in a request that repeats what was rendered. Default: false.


class ImportMessagesAnswer(TypedDict):
    ok: Literal[True]
    result: Imported  # The messages of a provider's request or response, for APPEND.


class _ToolsQueryNeeded(TypedDict):
    query: Literal["tools"]  # Which query.


class ToolsQuery(_ToolsQueryNeeded, total=False):
    """Tools by which a model looks into its conversation, as a request declares them."""

    dialect: Dialect  # The message format. Default: that of the settings, or of their model.
    profile: Union[ProfileName, str, Mapping[str, object]]  # What a provider accepts, by name or as an object.


class ToolsAnswer(TypedDict):
    ok: Literal[True]
    result: List[ToolDeclaration]  # Tools by which a model looks into its conversation, as a request declares them.


class _CallToolQueryNeeded(TypedDict):
    query: Literal["callTool"]  # Which query.
    name: str  # The tool, as the model called it.


class CallToolQuery(_CallToolQueryNeeded, total=False):
    """What such a tool answers the model. Changes nothing."""

    arguments: Union[Mapping[str, object], str]  # What the model gave it: an object, or the JSON text of one.


class CallToolAnswer(TypedDict):
    ok: Literal[True]
    result: ToolResult  # What such a tool answers the model. Changes nothing.


class _RequestsQueryNeeded(TypedDict):
    query: Literal["requests"]  # Which query.


class RequestsQuery(_RequestsQueryNeeded, total=False):
    """Recorded requests of the client, the oldest first, without their texts."""

    first: int  # From this number on. Default: 1.
    limit: int  # At most so many. Default: 100.
    last: int  # The newest so many, instead.


class RequestsAnswer(TypedDict):
    ok: Literal[True]
    result: List[RequestRecord]  # Recorded requests of the client, the oldest first, without their texts.


class RequestQuery(TypedDict):
    """A recorded request, with its raw text and that of its answer."""

    query: Literal["request"]  # Which query.
    number: int  # Which one.


class RequestAnswer(TypedDict):
    ok: Literal[True]
    result: WholeRequest  # A recorded request, with its raw text and that of its answer.


class _CacheBreakQueryNeeded(TypedDict):
    query: Literal["cacheBreak"]  # Which query.
    number: int  # Which request.


class CacheBreakQuery(_CacheBreakQueryNeeded, total=False):
    """Where a recorded request stops being equal to an earlier one, as the provider's cache sees them."""

    against: int  # An earlier one. Default: the last before it that goes on with the same list.


class CacheBreakAnswer(TypedDict):
    ok: Literal[True]
    result: ComparedRequest  # Where a recorded request stops being equal to an earlier one, as the provider's cache sees them.


_LedgerQueryNeeded = TypedDict("_LedgerQueryNeeded", {"query": 'Literal["ledger"]'})
_LedgerQueryOptional = TypedDict("_LedgerQueryOptional", {"from": 'int', "to": 'int', "turns": 'bool'}, total=False)


class LedgerQuery(_LedgerQueryNeeded, _LedgerQueryOptional):
    """What the recorded requests cost, and where a cache was missed that should have been hit."""


class LedgerAnswer(TypedDict):
    ok: Literal[True]
    result: Ledger  # What the recorded requests cost, and where a cache was missed that should have been hit.


class _WhatIfQueryNeeded(TypedDict):
    query: Literal["whatIf"]  # Which query.
    policy: Union[Mapping[str, object], str]  # A policy of the gateway, or the name of its mode.


class WhatIfQuery(_WhatIfQueryNeeded, total=False):
    """What the recorded requests would have cost under another policy of the gateway. No model is called."""

    model: str  # Whose prices and window count. Default: those of each request's own.


class WhatIfAnswer(TypedDict):
    ok: Literal[True]
    result: WhatIf  # What the recorded requests would have cost under another policy of the gateway. No model is called.


_RecallQueryNeeded = TypedDict("_RecallQueryNeeded", {"query": 'Literal["recall"]', "text": 'str'})
_RecallQueryOptional = TypedDict("_RecallQueryOptional", {"budgetTokens": 'int', "all": 'bool', "atVersion": 'int', "atBatch": 'int', "role": 'Role', "roles": 'Sequence[Role]', "from": 'int', "to": 'int', "marked": 'str', "contains": 'str', "start": 'int', "end": 'int', "first": 'int', "last": 'int'}, total=False)


class RecallQuery(_RecallQueryNeeded, _RecallQueryOptional):
    """Messages that share words with a text, with their units and neighbours, best first; by default hidden ones."""


class RecallAnswer(TypedDict):
    ok: Literal[True]
    result: Recalled  # Messages that share words with a text, with their units and neighbours, best first; by default hidden ones.


class SizeLimits(TypedDict, total=False):
    """What is too_large."""

    messageBytes: int  # Of a message. Default: 16777216.
    lineBytes: int  # Of a line of `undertext exec`. Default: 268435456.


class _EndpointSettingsNeeded(TypedDict):
    kind: Literal["openai", "anthropic"]  # Chat completions, or messages.
    baseUrl: str  # Such as the provider's, up to and with its version.
    model: str  # The model to ask.


class EndpointSettings(_EndpointSettingsNeeded, total=False):
    """Models that write summaries, by a name of your choice."""

    keyEnv: str  # The environment variable that holds the key.
    keyFile: str  # A file that holds the key.
    prompt: str  # Instructions. Default: the built-in ones.
    timeoutMs: int  # Of one attempt. Default: 60000.
    attempts: int  # How often to try, the first time included. Default: 3.
    backoffMs: int  # Before the second attempt; doubles. Default: 500.
    stream: bool  # Ask for the answer piece by piece. Default: true.


class _EmbeddingsSettingsNeeded(TypedDict):
    baseUrl: str  # Such as the provider's, up to and with its version.
    model: str  # The model to ask.


class EmbeddingsSettings(_EmbeddingsSettingsNeeded, total=False):
    """An OpenAI-compatible endpoint whose embeddings rank what a recall finds."""

    keyEnv: str  # The environment variable that holds the key.
    keyFile: str  # A file that holds the key.
    timeoutMs: int  # Of one search. Without an answer the words alone decide. Default: 5000.


class CompressionConfig(TypedDict, total=False):
    """Automatic compression."""

    enabled: bool  # Compress without being asked. Default: false.
    threshold: int  # Above so many tokens. Default: tokenLimit, else three quarters of the window.
    targetTokens: int  # What to come down to. Default: three quarters of the threshold.
    strategy: StrategyChoice  # By its name, or with arguments.
    headroomTurns: int  # Leaves room for so many more turns, at the rate at which the conversation grew of late.
    survival: SurvivalPolicy  # What a compression must keep; else it is refused.


class Settings(TypedDict, total=False):
    """The settings of a conversation, as `--config` takes them."""

    model: str  # The model that the conversation is for. Tokenizer, costs, profile and window follow from it where they are not set.
    tokenizer: str  # `estimate`, `o200k_base`, `cl100k_base`, a model's name or a path.
    costs: str  # What counts beside text: a name of docs/tokens.md.
    profile: Union[ProfileName, str]  # What the provider accepts.
    window: int  # Of budgets that name none.
    tokenLimit: int  # An event is sent when the view grows beyond it.
    pairs: Pairs  # Of operations that do not say. Default: "literal".
    project: str  # What the conversation belongs to, such as a folder. `undertext mcp` looks for it.
    contextTools: bool  # The model has context_search and context_expand: summaries and stubs say how to use them. Default: false.
    limits: SizeLimits  # What is too_large.
    summarisers: Mapping[str, EndpointSettings]  # Models that write summaries, by a name of your choice.
    embeddings: EmbeddingsSettings  # An OpenAI-compatible endpoint whose embeddings rank what a recall finds.
    compressionConfig: CompressionConfig  # Automatic compression.


class _UsageReportNeeded(TypedDict):
    requestId: str  # The provider's id of the request, or one of your own.
    prompt: int  # Tokens of the request.


class UsageReport(_UsageReportNeeded, total=False):
    """What a provider reported of a request."""

    model: str  # The model that answered.
    completion: int  # Tokens of the answer.
    cached: int  # Tokens of the request that were read from a cache.
    total: int  # As reported.
    cost: float  # What it cost.
    estimatedPrompt: int  # What the request was counted as before it was sent.
    cacheWritten: int  # Tokens of the request that were written to a cache.
    cacheWrittenHour: int  # Of these, the ones that it keeps for an hour.
    timestamp: int  # Milliseconds since 1970.
    final: bool  # false: a later report of the same request takes its place. Default: true.


class _GivenUsageTotalsNeeded(TypedDict):
    requests: int  # How many.
    prompt: int  # Tokens of the request.


class GivenUsageTotals(_GivenUsageTotalsNeeded, total=False):
    """What its requests came to."""

    completion: int  # Tokens of the answer.
    cached: int  # Tokens of the request that were read from a cache.
    total: int  # As reported.
    cost: float  # What it cost.


class _GivenModelUsageNeeded(TypedDict):
    model: str  # Its name.
    totals: GivenUsageTotals  # What its requests came to.


class GivenModelUsage(_GivenModelUsageNeeded, total=False):
    """By model."""

    promptMax: int  # Of a request.
    completionMax: int  # Of a request.
    factor: float  # Reported tokens by estimated ones.
    factorHigh: float  # The same, on the safe side.
    learnedFrom: int  # Requests.


class _GivenRequestUsageNeeded(TypedDict):
    requestId: str  # The provider's id of the request, or one of your own.
    prompt: int  # Tokens of the request.


class GivenRequestUsage(_GivenRequestUsageNeeded, total=False):
    """As usage has them."""

    model: str  # The model that answered.
    completion: int  # Tokens of the answer.
    cached: int  # Tokens of the request that were read from a cache.
    total: int  # As reported.
    cost: float  # What it cost.
    estimatedPrompt: int  # What the request was counted as before it was sent.
    cacheWritten: int  # Tokens of the request that were written to a cache.
    cacheWrittenHour: int  # Of these, the ones that it keeps for an hour.
    timestamp: int  # Milliseconds since 1970.


class GivenUsage(TypedDict, total=False):
    """What was reported elsewhere, as `usage` has it."""

    totals: UsageTotals  # Ignored: they follow from the rest.
    statistics: UsageStatistics  # Ignored, likewise.
    models: Sequence[GivenModelUsage]  # By model.
    open: Sequence[GivenRequestUsage]  # As usage has them.
    recent: Sequence[GivenRequestUsage]  # As usage has them.


class GivenRequest(TypedDict, total=False):
    """A request of a client, to be recorded."""

    client: ClientName  # Whose request it is. Default: generic.
    dialect: Dialect  # The format of the request. Default: that of the client, or the engine's own.
    request: str  # The raw request, as it was sent.
    requestBase64: str  # The same in base64, where it is no UTF-8.
    answer: str  # The raw answer, as it came.
    answerBase64: str  # The same in base64, where it is no UTF-8.
    path: str  # Of the request. What follows a ? is left out.
    method: str  # Of the request.
    version: int  # What the request saw. Default: the head.
    answerVersion: int  # The version that has the answer.
    timestamp: int  # When it came, in milliseconds since 1970. Default: now.
    responseId: str  # The provider's id of the answer.
    status: int  # Of HTTP; 0: no answer came.
    torn: bool  # The answer ended before its end. Default: false.
    firstByteMs: int  # From the request to the answer's first byte.
    durationMs: int  # From the request to the answer's last byte.
    usage: GivenRequestUsage  # As the provider reported it.
    keys: Sequence[str]  # By which it is found again, besides the digest of its list.


class _TextBlockNeeded(TypedDict):
    kind: Literal["text"]
    text: str


class TextBlock(_TextBlockNeeded, total=False):
    """Text."""

    type: str  # The format's own word, where it says more than kind.


class _CallBlockNeeded(TypedDict):
    kind: Literal["call"]
    arguments: Any  # As given: mostly an object, or a string that holds one. {} where there are none.


class CallBlock(_CallBlockNeeded, total=False):
    """A call of a tool by the model."""

    type: str  # The format's own word, where it says more than kind.
    callId: str
    name: str  # Of the tool.
    isError: Literal[True]  # The call holds its own result, and failed.
    byProvider: Literal[True]  # The provider runs the tool itself.
    blocks: List[Block]  # What came of it, where the call holds its own result.


class _ResultBlockNeeded(TypedDict):
    kind: Literal["result"]
    blocks: List[Block]  # What it says.


class ResultBlock(_ResultBlockNeeded, total=False):
    """The result of a call."""

    type: str  # The format's own word, where it says more than kind.
    callId: str
    name: str  # Of the tool.
    isError: Literal[True]  # The tool failed.
    byProvider: Literal[True]  # The provider ran the tool itself.


class _ReasoningBlockNeeded(TypedDict):
    kind: Literal["reasoning"]


class ReasoningBlock(_ReasoningBlockNeeded, total=False):
    """What the model thought; without text where only the provider can read it."""

    type: str  # The format's own word, where it says more than kind.
    text: str


class _MediaBlockNeeded(TypedDict):
    kind: Literal["media"]
    media: MediaKind
    source: MediaSource
    data: str  # The base64 text, the URL, the id or the text.


class MediaBlock(_MediaBlockNeeded, total=False):
    """An image, a sound, a video, a file."""

    type: str  # The format's own word, where it says more than kind.
    mime: str
    detail: str
    filename: str


class _OpaqueBlockNeeded(TypedDict):
    kind: Literal["opaque"]
    json: Any  # As given.


class OpaqueBlock(_OpaqueBlockNeeded, total=False):
    """Anything else."""

    type: str  # The format's own word, where it says more than kind.


class MessageBlocks(TypedDict):
    """What a message says."""

    ordinal: int  # Its place in the log.
    role: Role  # `system` for `developer`.
    blocks: List[Block]


class _ErrorBodyNeeded(TypedDict):
    code: ErrorCode  # What to do about it.
    message: str  # For a person.


class ErrorBody(_ErrorBodyNeeded, total=False):
    """What went wrong. Nothing has changed."""

    field: str  # The bare name of the member at fault.
    path: str  # Where it stands, when it is nested: `messages[2].content`.
    operationIndex: int  # Which operation of a list.
    byteOffset: int  # Of JSON text.
    minimum: int  # `cannot_fit`: the fewest tokens that can be reached.


class ErrorAnswer(TypedDict):
    """The answer to whatever fails."""

    ok: Literal[False]
    error: ErrorBody


class Stats(TypedDict):
    """How large a conversation is."""

    totalMessages: int  # In the log.
    currentBatchMessages: int  # In the view.
    totalBatches: int
    currentBatchIndex: int
    tokens: int  # Of the view.


class _WarningNeeded(TypedDict):
    code: WarningCode
    ordinal: int


class Warning(_WarningNeeded, total=False):
    """A message of which a part has left the view."""

    toolCallId: str  # Not of `reasoning_without_call`.


class SummaryCost(TypedDict):
    """What a summary cost, as its provider reported."""

    promptTokens: int
    completionTokens: int


class StandsFor(TypedDict):
    """A summary, and the messages it stands for."""

    ordinal: int  # Of the summary.
    standsFor: List[int]  # Ordinals.


class _ReceiptNeeded(TypedDict):
    version: int
    timestamp: int  # Milliseconds since 1970.
    tokensBefore: int
    tokensAfter: int
    ordinals: List[int]  # That were hidden.
    summaries: List[StandsFor]


class Receipt(_ReceiptNeeded, total=False):
    """What a COMPRESS did."""

    strategy: str
    summariser: str
    model: str  # That wrote the summary.
    reason: str
    targetTokens: int  # What the view was to come down to.
    targetReached: bool  # Whether it did.
    cost: SummaryCost


class _OutcomeNeeded(TypedDict):
    ok: Literal[True]
    operation: OperationName  # In its canonical spelling.
    version: int  # The new head.
    affectedBatchIndex: int
    stats: Stats


class Outcome(_OutcomeNeeded, total=False):
    """What an operation did."""

    outcome: Literal["fits", "compressed", "same", "appended", "edited", "compacted"]  # Of a COMPRESS by a strategy, or of a RECONCILE.
    common: int  # Of a RECONCILE: messages in the client's list before and now.
    added: int  # Messages only in the list as it is now.
    removed: int  # Messages only in the list as it was.
    targetReached: bool  # Where there was a target.
    receipt: Receipt
    warnings: List[Warning]
    events: List[Event]  # What it set off beyond itself.


class Outcomes(TypedDict):
    """What a list of operations did."""

    ok: Literal[True]
    results: List[Outcome]


class MessageAddedEvent(TypedDict):
    """A message was stored."""

    type: Literal["MESSAGE_ADDED"]
    version: int
    ordinal: int


class BatchOpenedEvent(TypedDict):
    """A batch was opened."""

    type: Literal["BATCH_OPENED"]
    version: int
    batchIndex: int


class RolledBackEvent(TypedDict):
    """An earlier batch is current again."""

    type: Literal["ROLLED_BACK"]
    version: int
    batchIndex: int


class ContextChangedEvent(TypedDict):
    """An operation made a version."""

    type: Literal["CONTEXT_CHANGED"]
    version: int


class TokenLimitExceededEvent(TypedDict):
    """The view has grown beyond the limit."""

    type: Literal["TOKEN_LIMIT_EXCEEDED"]
    tokensUsed: int
    tokenLimit: int


class CompressionThresholdExceededEvent(TypedDict):
    """The view has grown beyond the threshold."""

    type: Literal["COMPRESSION_THRESHOLD_EXCEEDED"]
    tokensUsed: int
    threshold: int


class _CompressedEventNeeded(TypedDict):
    type: Literal["COMPRESSED"]
    version: int
    strategy: str
    tokensBefore: int
    tokensAfter: int


class CompressedEvent(_CompressedEventNeeded, total=False):
    """The conversation was compressed without being asked."""

    targetReached: bool


class CompressionFailedEvent(TypedDict):
    """Nothing was changed."""

    type: Literal["COMPRESSION_FAILED"]
    strategy: str
    error: ErrorBody


class CompressionDiscardedEvent(TypedDict):
    """What a summary stands for was changed meanwhile; nothing was done."""

    type: Literal["COMPRESSION_DISCARDED"]
    strategy: str
    error: ErrorBody


class RewrittenEvent(TypedDict):
    """Messages were redacted, versions pruned, or all counted by another tokenizer."""

    type: Literal["REWRITTEN"]
    version: int


class _EventNeeded(TypedDict):
    type: Literal["MESSAGE_ADDED", "BATCH_OPENED", "ROLLED_BACK", "CONTEXT_CHANGED", "TOKEN_LIMIT_EXCEEDED", "COMPRESSION_THRESHOLD_EXCEEDED", "COMPRESSED", "COMPRESSION_FAILED", "COMPRESSION_DISCARDED", "REWRITTEN"]


class Event(_EventNeeded, total=False):
    """What happens to a conversation."""

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
    error: ErrorBody


class MessagesAnswer(TypedDict):
    """Messages, and where they stand in the log."""

    ok: Literal[True]
    messages: List[Message]  # As they were given.
    ordinals: List[int]


class CountAnswer(TypedDict):
    """How many messages there are."""

    ok: Literal[True]
    count: int
    tokens: int


class _RecalledUnitNeeded(TypedDict):
    ordinals: List[int]  # In the log's order.
    matched: List[int]  # Those that share words with the text, best first.
    messages: List[Message]  # In the order of `ordinals`.
    tokens: int
    score: float  # Of the best one; comparable within one answer only.


class RecalledUnit(_RecalledUnitNeeded, total=False):
    """A message that was found, with its unit and its neighbours."""

    hiddenIn: int  # The version that last hid the best one; absent: it is visible.
    representedBy: int  # The visible message that stands for the best one.


class Recalled(TypedDict):
    """What a search found."""

    units: List[RecalledUnit]  # Best first; no message is in two of them.
    tokens: int  # Of all units.


class MarkMap(TypedDict):
    """The view and the batches as ordinals."""

    originalIndices: List[int]  # The view: ordinals in its order.
    typeIndices: Dict[str, List[int]]  # The same by role.
    batchBoundaries: List[int]  # Where each batch begins in the log.
    boundaryToBatch: List[int]  # The batch of each boundary.
    currentBatch: int


class _BatchSnapshotNeeded(TypedDict):
    batchIndex: int
    timestamp: int  # When it was left.
    messages: List[Message]
    messageCount: int


class BatchSnapshot(_BatchSnapshotNeeded, total=False):
    """The view as it was when a batch was left."""

    description: str


class State(TypedDict):
    """The view with the snapshots of all batches."""

    messages: List[Message]
    batchSnapshots: List[BatchSnapshot]
    currentBatchIndex: int
    totalMessageCount: int  # Of the view.


class _BatchNeeded(TypedDict):
    index: int
    boundary: int  # Where it begins in the log.
    openedBy: Union[OperationName, None]  # null for the first.
    openedAt: int  # Milliseconds since 1970.
    messageCount: int


class Batch(_BatchNeeded, total=False):
    """A batch of the stack."""

    description: str


class _VersionEntryNeeded(TypedDict):
    version: int
    parent: Union[int, None]  # The head before; null for version 0.
    operation: Union[OperationName, None]  # That made it; null for version 0.
    batchIndex: int
    timestamp: int  # Milliseconds since 1970.
    description: Union[str, None]
    messageCount: int  # Of the view.
    tokens: int  # Of the view.


class VersionEntry(_VersionEntryNeeded, total=False):
    """A version."""

    restores: int  # Of UNDO, REDO and RESTORE: whose state came back.
    targetReached: bool  # Of a COMPRESS by a strategy that had a target.


class Diff(TypedDict):
    """What differs between two versions, as ordinals."""

    removed: List[int]
    added: List[int]
    moved: List[int]


class _BlameEntryNeeded(TypedDict):
    version: int
    operation: OperationName
    timestamp: int  # Milliseconds since 1970.


class BlameEntry(_BlameEntryNeeded, total=False):
    """An operation that stored, hid or showed a message."""

    description: str


class _ForkedFromNeeded(TypedDict):
    conversation: str  # The fork's id.
    version: int  # Its head by then.


class ForkedFrom(_ForkedFromNeeded, total=False):
    """The fork that a message came from."""

    ordinal: int  # In its log. Absent: the message is a summary of the fork.


_BlameNeeded = TypedDict("_BlameNeeded", {"ordinal": 'int', "stored": 'BlameEntry', "hidden": 'List[BlameEntry]', "shown": 'List[BlameEntry]', "visible": 'bool'})
_BlameOptional = TypedDict("_BlameOptional", {"from": 'ForkedFrom'}, total=False)


class Blame(_BlameNeeded, _BlameOptional):
    """What became of a message."""


class MessageTokens(TypedDict):
    """The tokens of a message."""

    ordinal: int
    tokens: int


class _TokenCountsNeeded(TypedDict):
    total: int
    byRole: Dict[str, int]
    tokenizer: str
    costs: str  # What counts beside text.
    exact: bool  # Every part of the count is.


class TokenCounts(_TokenCountsNeeded, total=False):
    """The tokens of a view."""

    messages: List[MessageTokens]  # With `perMessage`.


class ModelLimits(TypedDict, total=False):
    """What a model takes."""

    window: int  # Tokens of a request and its answer.
    answer: int  # Tokens of an answer.
    source: str
    date: str


class ModelPrices(TypedDict, total=False):
    """US dollars for a million tokens."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    cacheWriteHour: float  # Of what the cache keeps for an hour.
    source: str
    date: str


class _ModelNeeded(TypedDict):
    name: str  # As it was given.
    known: bool  # A row of the table fits.
    tokenizer: str
    costs: str  # What counts beside text.
    profiles: List[str]  # What its providers accept.


class Model(_ModelNeeded, total=False):
    """What is known of a model; what is unknown is absent."""

    row: str  # The most specific one.
    source: str
    date: str
    limits: ModelLimits
    prices: ModelPrices


class ToolsCount(TypedDict):
    """What the tools of a request cost, which is in no message."""

    tokens: int
    tools: int  # How many there are.
    exact: bool


class ToolResult(TypedDict):
    """What a model is sent back as the result of its call."""

    text: str  # Quoted messages stand between marks that no text can forge.
    isError: bool  # The text says what to change.


class _PlannedReplacementNeeded(TypedDict):
    ordinals: List[int]


class PlannedReplacement(_PlannedReplacementNeeded, total=False):
    """Messages to hide, and what would stand for them."""

    summary: Message


class _FitPlanNeeded(TypedDict):
    strategy: str
    tokensBefore: int
    tokensAfter: int
    replacements: List[PlannedReplacement]


class FitPlan(_FitPlanNeeded, total=False):
    """What a strategy would do."""

    reason: str


class _FitNeeded(TypedDict):
    outcome: FitOutcome
    tokens: int
    tokensMax: int  # What the budget leaves for messages.


class Fit(_FitNeeded, total=False):
    """Whether a view is within a budget."""

    minimum: int  # `cannot_fit`: the fewest tokens that can be reached.
    plan: FitPlan


class _FindingNeeded(TypedDict):
    code: FindingCode
    error: str  # In the provider's words.
    repair: str  # What was done about it.


class Finding(_FindingNeeded, total=False):
    """What a provider would refuse."""

    path: str  # In the request.
    index: int  # In the view.
    ordinal: int
    about: str  # Such as the id of a call.


class _LossNeeded(TypedDict):
    code: LossCode
    severity: LossSeverity
    note: str


class Loss(_LossNeeded, total=False):
    """What the other format has no place for."""

    path: str
    index: int  # In the view.
    ordinal: int


class _RenderedNeeded(TypedDict):
    request: Dict[str, Any]  # What carries the conversation: put model, tools and settings beside it.
    findings: List[Finding]
    losses: List[Loss]


class Rendered(_RenderedNeeded, total=False):
    """A request for a provider."""

    toolNames: ToolNames  # Tools that are sent under another name.
    advice: List[str]  # What the request has to set besides.


class Imported(TypedDict):
    """Messages of a provider's request or response."""

    messages: List[Message]
    rest: Dict[str, Any]  # Its other fields.
    known: int  # How many were there already, and are left out.


class Validated(TypedDict):
    """Whether a provider would take the view."""

    valid: bool
    findings: List[Finding]


class EditCost(TypedDict):
    """What an edit costs at a provider that caches prompts, in tokens."""

    stable: int  # Of the prefix that both versions share.
    reusable: int  # That a cache can still serve.
    invalidated: int  # That it can no longer serve.
    rewritten: int  # To be written to it.
    oneTime: float  # Of the next request, beside what it would have cost.
    savedPerTurn: float
    breakEvenTurns: Union[float, None]  # null: never.
    brokenThinking: int  # Signed blocks that can no longer be sent.


class UsageTotals(TypedDict):
    """What requests came to."""

    requests: int
    prompt: int
    completion: int
    cached: int
    total: int
    cost: float


class _RequestUsageNeeded(TypedDict):
    requestId: str
    model: str
    prompt: int
    completion: int
    cached: int
    total: int
    cost: float
    estimatedPrompt: int
    timestamp: int


class RequestUsage(_RequestUsageNeeded, total=False):
    """What was reported of a request."""

    cacheWritten: int  # Tokens of the request that were written to a cache.
    cacheWrittenHour: int  # Of these, the ones that it keeps for an hour.


class _ModelUsageNeeded(TypedDict):
    model: str
    totals: UsageTotals
    factor: float  # Reported tokens by estimated ones.
    factorHigh: float  # The same, on the safe side.
    learnedFrom: int  # Requests.


class ModelUsage(_ModelUsageNeeded, total=False):
    """What was reported of a model, and what that taught."""

    promptMax: int  # Of a request.
    completionMax: int  # Of a request.


class UsageStatistics(TypedDict):
    """What a request comes to."""

    promptMean: float
    completionMean: float
    promptMax: int
    completionMax: int
    cachedShare: float  # Of all prompt tokens, 0 to 1.


class Usage(TypedDict):
    """What providers reported."""

    totals: UsageTotals
    statistics: UsageStatistics
    models: List[ModelUsage]
    open: List[RequestUsage]  # Of which more will be reported.
    recent: List[RequestUsage]  # The last hundred, the newest last.


class _VolatilePartNeeded(TypedDict):
    kind: Literal["marker", "text"]  # A cache marker on a block, or a block of the system prompt.
    index: int  # Of the message, in the request's list.
    block: int  # In the message.
    json: Dict[str, Any]  # The marker, or the block.


class VolatilePart(_VolatilePartNeeded, total=False):
    """A part of a request that changes from request to request."""

    ordinal: int  # Of the same message, in the log.
    inner: int  # Of a marker inside a tool result: the block in its content.


class _RequestRecordNeeded(TypedDict):
    number: int  # From 1 on.
    version: int  # What the request saw.
    timestamp: int  # When it came, in milliseconds since 1970.
    kind: ClientRequestKind
    messages: int  # In its list.
    status: int  # Of HTTP; 0: no answer came.
    torn: bool  # The answer ended before its end.
    requestBytes: int
    answerBytes: int
    hasRawRequest: bool  # The query request has its text.
    hasRawAnswer: bool
    volatileParts: List[VolatilePart]
    keys: List[str]  # By which it is found again.


class RequestRecord(_RequestRecordNeeded, total=False):
    """A request of a client that was recorded."""

    answerVersion: int  # The version that has the answer.
    client: str
    dialect: str
    method: str
    path: str
    model: str
    toolsDigest: str  # Of the tools' bytes.
    parametersDigest: str  # Of all other fields but the list.
    responseId: str
    belongsTo: str  # Of a sub-agent or a title: the session's conversation.
    usage: RequestUsage
    firstByteMs: int
    durationMs: int


class _WholeRequestNeeded(TypedDict):
    number: int  # From 1 on.
    version: int  # What the request saw.
    timestamp: int  # When it came, in milliseconds since 1970.
    kind: ClientRequestKind
    messages: int  # In its list.
    status: int  # Of HTTP; 0: no answer came.
    torn: bool  # The answer ended before its end.
    requestBytes: int
    answerBytes: int
    hasRawRequest: bool  # The query request has its text.
    hasRawAnswer: bool
    volatileParts: List[VolatilePart]
    keys: List[str]  # By which it is found again.


class WholeRequest(_WholeRequestNeeded, total=False):
    """A recorded request with its raw texts."""

    answerVersion: int  # The version that has the answer.
    client: str
    dialect: str
    method: str
    path: str
    model: str
    toolsDigest: str  # Of the tools' bytes.
    parametersDigest: str  # Of all other fields but the list.
    responseId: str
    belongsTo: str  # Of a sub-agent or a title: the session's conversation.
    usage: RequestUsage
    firstByteMs: int
    durationMs: int
    request: str  # The raw request.
    requestBase64: str  # The same, where it is no UTF-8.
    answer: str  # The raw answer.
    answerBase64: str  # The same, where it is no UTF-8.


class LedgerTotals(TypedDict):
    """What requests came to. Dollars are those of requests with a price."""

    turns: int
    reported: int  # Turns with the upstream's figures; the others have expected ones.
    unpriced: int  # Turns of models without a price.
    sent: int  # Tokens of the whole input.
    read: int  # Of it: read from the cache.
    written: int  # Of it: written to the cache.
    writtenHour: int  # Of these: to be kept for an hour.
    missed: int  # Of it: left in the cache by an earlier request, and not read.
    output: int
    peak: int  # Tokens of the largest request.
    dollars: float
    dollarsExpected: float  # Of these: by expected figures.
    dollarsError: float  # By which the expected ones may be off.
    dollarsMissed: float  # What reading the missed tokens would have saved.


class LedgerRow(TypedDict):
    """The totals of a day, in UTC, and a model."""

    day: str  # YYYY-MM-DD.
    model: str
    totals: LedgerTotals


class _CacheBreakNeeded(TypedDict):
    kind: Literal["unknown", "reference", "same", "extended", "shortened", "broken"]


class CacheBreak(_CacheBreakNeeded, total=False):
    """Where two requests stop being equal, as the provider's cache sees them."""

    equalBytes: int  # Of the prefix, in the provider's order, compact and without markers.
    bytes: int  # Of the whole request, written so.
    path: str  # In the later request.
    was: str  # What the earlier one had there.
    byteInValue: int  # The first byte of the value that differs.
    same: str  # The end of what both have.
    before: str
    after: str


class _ComparedRequestNeeded(TypedDict):
    at: CacheBreak


class ComparedRequest(_ComparedRequestNeeded, total=False):
    """A request beside an earlier one."""

    against: int  # The earlier one; absent: there is none.


class _LedgerFindingNeeded(TypedDict):
    number: int  # Of the request.
    against: int  # The one that had left the prefix.
    missed: int  # Tokens.
    dollars: float
    cause: MissCause


class LedgerFinding(_LedgerFindingNeeded, total=False):
    """A miss that should have been a hit."""

    at: CacheBreak  # The first byte that differs, where both texts are kept.


class _LedgerTurnNeeded(TypedDict):
    number: int
    version: int
    timestamp: int
    model: str
    kind: ClientRequestKind
    reported: bool  # By the upstream; else these are expected figures.
    sent: int
    read: int
    written: int
    missed: int
    output: int
    expectedSent: int  # What was counted, corrected by what earlier reports taught.
    expectedRead: int
    expectedError: float  # The part of it by which 19 of 20 are off at most.


class LedgerTurn(_LedgerTurnNeeded, total=False):
    """What one request cost."""

    writtenHour: int
    cause: MissCause
    dollars: float  # Absent: no price is known.
    dollarsMissed: float


class _LedgerNeeded(TypedDict):
    totals: LedgerTotals
    days: List[LedgerRow]  # By day and model, the oldest first.
    findings: List[LedgerFinding]  # The newest last.


class Ledger(_LedgerNeeded, total=False):
    """What the recorded requests of a conversation cost."""

    turns: List[LedgerTurn]  # The oldest first; not with `"turns":false`.


class ReplayTotals(TypedDict):
    """What recorded turns come to under a policy, by expected figures."""

    sent: int
    read: int
    written: int
    output: int
    dollars: float
    peak: int  # Tokens of the largest request.
    compactions: int  # Edits by the policy.
    clientCompactions: int  # By the client, as recorded.
    overWindow: int  # Requests that the model would have refused.


class WhatIf(TypedDict):
    """Recorded turns under another policy. No model is called."""

    turns: int
    unpriced: int
    observe: ReplayTotals  # The same turns, none of them edited.
    policy: ReplayTotals
    reportedDollars: float  # Of these turns, by the upstream's figures.
    error: float  # The part by which a replay of the turns as they were sent is off from these.


#: An operation in its canonical spelling.
Operation = Union[AppendOperation, InsertOperation, ReplaceOperation, TruncateOperation, ClearOperation, FilterOperation, DeleteOperation, CompressOperation, ExpandOperation, ShowOperation, MergeOperation, SplitOperation, TransformOperation, StartBatchOperation, EndBatchOperation, RollbackOperation, MarkOperation, UnmarkOperation, UndoOperation, RedoOperation, RestoreOperation, ImportMarkMapOperation, ReconcileOperation, RecallOperation, MergeForkOperation]

#: An operation as the configuration of a node: its arguments in a block.
NodeOperation = Union[NodeTruncate, NodeInsert, NodeReplace, NodeClear, NodeFilter]

#: An operation as a modification, whose indices are ordinals.
Modification = Union[ModificationInsert, ModificationDelete, ModificationReplace, ModificationCompress, ModificationBatchStart, ModificationBatchEnd]

#: An operation in any of its three spellings.
AnyOperation = Union[Operation, NodeOperation, Modification]

#: A strategy with its arguments.
StrategyObject = Union[DefaultStrategy, NoneStrategy, KeepRecentStrategy, KeepSystemAndRecentStrategy, SlidingWindowStrategy, SupersedeStrategy, DedupeStrategy, ClearToolResultsStrategy, SmartSummaryStrategy, PreferCacheStrategy, PipelineStrategy, Mapping[str, object]]

#: A strategy by its name, or with arguments.
StrategyChoice = Union[StrategyName, str, StrategyObject]

#: A query of a conversation.
Query = Union[MessagesQuery, CountQuery, BlocksQuery, UncompressedQuery, MarkMapQuery, StateQuery, StatsQuery, VersionQuery, BatchesQuery, BatchSnapshotQuery, HistoryQuery, DiffQuery, BlameQuery, TokensQuery, FitQuery, ReceiptsQuery, RenderQuery, ValidateQuery, CostQuery, ModelQuery, CountToolsQuery, ImportMessagesQuery, ToolsQuery, CallToolQuery, RequestsQuery, RequestQuery, CacheBreakQuery, LedgerQuery, WhatIfQuery, RecallQuery]

#: One thing that a message says, in whichever format the message is.
Block = Union[TextBlock, CallBlock, ResultBlock, ReasoningBlock, MediaBlock, OpaqueBlock]

__all__ = [
    "AnyOperation",
    "AppendOperation",
    "Batch",
    "BatchOpenedEvent",
    "BatchSnapshot",
    "BatchSnapshotAnswer",
    "BatchSnapshotQuery",
    "BatchesAnswer",
    "BatchesQuery",
    "Blame",
    "BlameAnswer",
    "BlameEntry",
    "BlameQuery",
    "Block",
    "BlocksAnswer",
    "BlocksQuery",
    "Budget",
    "CacheBreak",
    "CacheBreakAnswer",
    "CacheBreakQuery",
    "CacheMarkers",
    "CallBlock",
    "CallToolAnswer",
    "CallToolQuery",
    "Clear",
    "ClearOperation",
    "ClearToolResultsStrategy",
    "ClientName",
    "ClientRequestKind",
    "ComparedRequest",
    "CompressByStrategy",
    "CompressOperation",
    "CompressedEvent",
    "CompressionConfig",
    "CompressionDiscardedEvent",
    "CompressionFailedEvent",
    "CompressionThresholdExceededEvent",
    "ContextChangedEvent",
    "CostAnswer",
    "CostQuery",
    "CountAnswer",
    "CountQuery",
    "CountToolsAnswer",
    "CountToolsQuery",
    "DedupeStrategy",
    "DefaultStrategy",
    "DeleteOperation",
    "Dialect",
    "Diff",
    "DiffAnswer",
    "DiffQuery",
    "EditCost",
    "EmbeddingsSettings",
    "EndBatchOperation",
    "EndpointSettings",
    "ErrorAnswer",
    "ErrorBody",
    "ErrorCode",
    "Event",
    "EventType",
    "ExpandOperation",
    "Filter",
    "FilterOperation",
    "Finding",
    "FindingCode",
    "Fit",
    "FitAnswer",
    "FitOutcome",
    "FitPlan",
    "FitQuery",
    "ForkedFrom",
    "GivenMarkMap",
    "GivenModelUsage",
    "GivenRequest",
    "GivenRequestUsage",
    "GivenTypeIndices",
    "GivenUsage",
    "GivenUsageTotals",
    "HistoryAnswer",
    "HistoryQuery",
    "ImportMarkMapOperation",
    "ImportMessagesAnswer",
    "ImportMessagesQuery",
    "Imported",
    "Insert",
    "InsertOperation",
    "KeepRecentStrategy",
    "KeepSystemAndRecentStrategy",
    "Ledger",
    "LedgerAnswer",
    "LedgerFinding",
    "LedgerQuery",
    "LedgerRow",
    "LedgerTotals",
    "LedgerTurn",
    "Loss",
    "LossCode",
    "LossSeverity",
    "MarkMap",
    "MarkMapAnswer",
    "MarkMapQuery",
    "MarkOperation",
    "MediaBlock",
    "MediaKind",
    "MediaSource",
    "MergeForkOperation",
    "MergeOperation",
    "MessageAddedEvent",
    "MessageBlocks",
    "MessageRole",
    "MessageTokens",
    "MessagesAnswer",
    "MessagesQuery",
    "MissCause",
    "Model",
    "ModelAnswer",
    "ModelLimits",
    "ModelPrices",
    "ModelQuery",
    "ModelUsage",
    "Modification",
    "ModificationBatchEnd",
    "ModificationBatchStart",
    "ModificationCompress",
    "ModificationDelete",
    "ModificationInsert",
    "ModificationReplace",
    "NodeClear",
    "NodeFilter",
    "NodeInsert",
    "NodeOperation",
    "NodeReplace",
    "NodeTruncate",
    "NoneStrategy",
    "OpaqueBlock",
    "Operation",
    "OperationName",
    "Outcome",
    "Outcomes",
    "Pairs",
    "PipelineStrategy",
    "PlannedReplacement",
    "PreferCacheStrategy",
    "ProfileName",
    "Query",
    "Range",
    "ReasoningBlock",
    "RecallAnswer",
    "RecallOperation",
    "RecallQuery",
    "Recalled",
    "RecalledUnit",
    "Receipt",
    "ReceiptsAnswer",
    "ReceiptsQuery",
    "ReconcileOperation",
    "RedoOperation",
    "RenderAnswer",
    "RenderQuery",
    "Rendered",
    "Replace",
    "ReplaceOperation",
    "ReplaceText",
    "ReplayTotals",
    "RequestAnswer",
    "RequestQuery",
    "RequestRecord",
    "RequestUsage",
    "RequestsAnswer",
    "RequestsQuery",
    "RestoreOperation",
    "ResultBlock",
    "RewrittenEvent",
    "Role",
    "RollbackOperation",
    "RolledBackEvent",
    "Settings",
    "ShowOperation",
    "SizeLimits",
    "SlidingWindowStrategy",
    "SmartSummaryStrategy",
    "SplitOperation",
    "StandsFor",
    "StartBatchOperation",
    "State",
    "StateAnswer",
    "StateQuery",
    "Stats",
    "StatsAnswer",
    "StatsQuery",
    "StrategyChoice",
    "StrategyName",
    "StrategyObject",
    "SummaryCost",
    "SupersedeStrategy",
    "SurvivalPolicy",
    "TextBlock",
    "TokenCounts",
    "TokenLimitExceededEvent",
    "TokensAnswer",
    "TokensQuery",
    "ToolDeclaration",
    "ToolNames",
    "ToolResult",
    "ToolsAnswer",
    "ToolsCount",
    "ToolsQuery",
    "TransformOperation",
    "Truncate",
    "TruncateOperation",
    "TruncateText",
    "UncompressedQuery",
    "UndoOperation",
    "UnmarkOperation",
    "Usage",
    "UsageReport",
    "UsageStatistics",
    "UsageTotals",
    "ValidateAnswer",
    "ValidateQuery",
    "Validated",
    "VersionAnswer",
    "VersionEntry",
    "VersionQuery",
    "VolatilePart",
    "Warning",
    "WarningCode",
    "WhatIf",
    "WhatIfAnswer",
    "WhatIfQuery",
    "WholeRequest",
]
