// Generated from the OpenAPI document by bindings/types/make.py.
import type { Json, Message } from './message';

/** Of a message; `developer` counts as `system`. */
export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** As a message may spell it. */
export type MessageRole = 'system' | 'user' | 'assistant' | 'tool' | 'developer';

/** What a request is for. */
export type ClientRequestKind = 'turn' | 'compaction' | 'side_request' | 'count_tokens';

/** A client whose requests are known. */
export type ClientName =
  | 'claude_code'
  | 'codex'
  | 'gemini_cli'
  | 'opencode'
  | 'openai_chat'
  | 'openai_responses'
  | 'anthropic'
  | 'gemini'
  | 'generic'
  | 'framework';

/** A message format of providers. */
export type Dialect = 'openai_chat' | 'openai_responses' | 'anthropic' | 'gemini';

/** What a provider accepts: the profiles of the engine. */
export type ProfileName =
  | 'openai_chat'
  | 'openai_responses'
  | 'openai_responses_stateless'
  | 'anthropic'
  | 'anthropic_prefill'
  | 'anthropic_system_first'
  | 'anthropic_thinking'
  | 'anthropic_bound'
  | 'bedrock'
  | 'gemini'
  | 'gemini3'
  | 'deepseek'
  | 'mistral'
  | 'gemma'
  | 'llama_cpp';

/** What becomes of the rest of a tool pair: nothing, it goes too, or both stay. */
export type Pairs = 'literal' | 'shrink' | 'grow';

/** What kind of failure it is. */
export type ErrorCode =
  | 'invalid_argument'
  | 'not_found'
  | 'conflict'
  | 'cannot_fit'
  | 'corrupt'
  | 'unavailable'
  | 'unsupported'
  | 'too_large'
  | 'internal'
  | 'denied';

export type EventType =
  | 'MESSAGE_ADDED'
  | 'BATCH_OPENED'
  | 'ROLLED_BACK'
  | 'CONTEXT_CHANGED'
  | 'TOKEN_LIMIT_EXCEEDED'
  | 'COMPRESSION_THRESHOLD_EXCEEDED'
  | 'COMPRESSED'
  | 'COMPRESSION_FAILED'
  | 'COMPRESSION_DISCARDED'
  | 'REWRITTEN';

export type WarningCode = 'tool_call_without_result' | 'tool_result_without_call' | 'reasoning_without_call';

/** What a provider would refuse: docs/dialects.md has the meanings. */
export type FindingCode =
  | 'PAIR_ORPHAN_RESULT'
  | 'PAIR_MISSING_RESULT'
  | 'PAIR_DUP_RESULT'
  | 'PAIR_DUP_CALL_ID'
  | 'GEM_COUNT'
  | 'GEM_CALL_POSITION'
  | 'RESULT_NOT_FIRST'
  | 'SERVER_PAIR_ORPHAN'
  | 'THINK_MODIFIED'
  | 'THINK_LAST_BLOCK'
  | 'THINK_UNSIGNED'
  | 'THINK_MISSING'
  | 'THINK_PREFIX_CHANGED'
  | 'REASONING_NO_FOLLOWER'
  | 'REASONING_MISSING'
  | 'ITEM_REF_UNSTORED'
  | 'REASONING_NOT_PORTABLE'
  | 'GEM_SIG_MISSING'
  | 'REASONING_CONTENT_MISSING'
  | 'EMPTY_MESSAGE'
  | 'EMPTY_TEXT'
  | 'CONTENT_NULL'
  | 'FIRST_NOT_USER'
  | 'TRAILING_ASSISTANT'
  | 'TRAILING_WS'
  | 'ROLE_ALTERNATION'
  | 'USER_AFTER_TOOL'
  | 'SYSTEM_POSITION'
  | 'SYSTEM_ROLE_UNSUPPORTED'
  | 'MEDIA_IN_TOOL_RESULT'
  | 'ARGS_NOT_OBJECT'
  | 'CALL_ID_FORMAT'
  | 'TOOL_NAME_FORMAT'
  | 'CACHE_TOO_MANY'
  | 'CACHE_ON_EMPTY'
  | 'CACHE_ON_THINKING'
  | 'CACHE_TTL_ORDER'
  | 'COMPACTION_NOT_FIRST'
  | 'COMPACTION_MULTIPLE'
  | 'COMPACTION_TRIGGER_NOT_LAST'
  | 'STATE_CONFLICT'
  | 'TOOL_UNDEFINED'
  | 'GEM_PART_UNION'
  | 'GEM_ROLE'
  | 'EMPTY_LIST'
  | 'MEDIA_UNSUPPORTED'
  | 'MEDIA_URL'
  | 'RESULT_ERROR_CONTENT'
  | 'NO_MESSAGES'
  | 'GEM_ID'
  | 'ITEM_DUP_ID';

/** What another format has no place for: docs/dialects.md has the meanings. */
export type LossCode =
  | 'L_REASONING_DROPPED'
  | 'L_SIGNATURE_DROPPED'
  | 'L_SIGNATURE_SENTINEL'
  | 'L_COMPACTION_OPAQUE'
  | 'L_COMPACTION_AS_TEXT'
  | 'L_SERVER_TOOL_DROPPED'
  | 'L_ITEM_REFERENCE'
  | 'L_ARGS_WRAPPED'
  | 'L_ORDER_TEXT_AFTER_CALL'
  | 'L_MEDIA_MOVED'
  | 'L_MEDIA_UNSUPPORTED'
  | 'L_FILE_ID'
  | 'L_AUDIO_REF'
  | 'L_ERROR_FLAG_AS_TEXT'
  | 'L_ROLE_DEVELOPER'
  | 'L_SYSTEM_MID'
  | 'L_SYSTEM_AS_USER'
  | 'L_NAME'
  | 'L_PHASE'
  | 'L_REFUSAL_AS_TEXT'
  | 'L_ANNOTATIONS'
  | 'L_IMAGE_DETAIL'
  | 'L_CACHE_HINT'
  | 'L_CALL_ID_REWRITTEN'
  | 'L_UNKNOWN_FIELD'
  | 'L_PART_DROPPED'
  | 'L_CONTROL_DROPPED'
  | 'L_MEDIA_URL'
  | 'L_FILE_NAME'
  | 'L_TOOL_NAME_REWRITTEN'
  | 'L_RESULT_DROPPED'
  | 'L_CALL_DROPPED';

export type LossSeverity = 'low' | 'medium' | 'high' | 'blocking';

export type FitOutcome = 'fits' | 'fits_after' | 'cannot_fit';

/** Who marks requests: the caller, or render. */
export type CacheMarkers = 'given' | 'auto';

/** Names of tools as they are sent, and the caller's. */
export type ToolNames = Record<string, string>;

export type MediaKind = 'image' | 'audio' | 'video' | 'file';

export type MediaSource = 'base64' | 'url' | 'file_id' | 'text';

/** In its canonical spelling. */
export type OperationName =
  | 'APPEND'
  | 'INSERT'
  | 'REPLACE'
  | 'TRUNCATE'
  | 'CLEAR'
  | 'FILTER'
  | 'DELETE'
  | 'COMPRESS'
  | 'EXPAND'
  | 'SHOW'
  | 'MERGE'
  | 'SPLIT'
  | 'TRANSFORM'
  | 'START_BATCH'
  | 'END_BATCH'
  | 'ROLLBACK'
  | 'MARK'
  | 'UNMARK'
  | 'UNDO'
  | 'REDO'
  | 'RESTORE'
  | 'IMPORT_MARK_MAP'
  | 'RECONCILE'
  | 'RECALL'
  | 'MERGE_FORK'
  | 'EXPAND';

/** Adds messages to the end of the view. */
export interface AppendOperation {
  /** Which operation. */
  operation: 'APPEND';
  /** At least one. */
  messages: readonly Message[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Puts messages before a position of the view. */
export interface InsertOperation {
  /** Which operation. */
  operation: 'INSERT';
  /** The index to insert before; the length appends. */
  position: number;
  /** At least one. */
  messages: readonly Message[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** A new message takes the place of another, which stays in the log. */
export interface ReplaceOperation {
  /** Which operation. */
  operation: 'REPLACE';
  /** Its position in the view. */
  index: number;
  /** What takes the place. */
  message: Message;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Keeps these. */
export interface Range {
  /** The first index. */
  start: number;
  /** The index behind the last one. */
  end: number;
}

/** Keeps the beginning, the end or a stretch of the view. */
export interface TruncateOperation {
  /** Which operation. */
  operation: 'TRUNCATE';
  /** Keeps the first so many. */
  keepFirst?: number;
  /** Keeps the last so many. */
  keepLast?: number;
  /** Hides the first so many. */
  removeFirst?: number;
  /** Hides the last so many. */
  removeLast?: number;
  /** Keeps these. */
  range?: Range;
  /** First drops all other roles. */
  role?: Role;
  /** What becomes of the rest of a tool pair. Default: the setting. */
  pairs?: Pairs;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Empties the view, but for system messages. */
export interface ClearOperation {
  /** Which operation. */
  operation: 'CLEAR';
  /** Keeps all system messages. Default: true. */
  keepSystemMessage?: boolean;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Keeps messages of some roles, or with or without some texts. */
export interface FilterOperation {
  /** Which operation. */
  operation: 'FILTER';
  /** Keeps these roles. */
  roles?: readonly Role[];
  /** Keeps what contains any of these texts. */
  contentContains?: readonly string[];
  /** Keeps what contains none of these texts. */
  contentExcludes?: readonly string[];
  /** What becomes of the rest of a tool pair. Default: the setting. */
  pairs?: Pairs;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

interface DeleteOperationBase {
  /** Which operation. */
  operation: 'DELETE';
  /** What becomes of the rest of a tool pair. Default: the setting. */
  pairs?: Pairs;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}
/** Hides exactly these messages. */
export type DeleteOperation = DeleteOperationBase &
  (
    | { indices: readonly number[]; ordinals?: undefined }
    | { ordinals: readonly number[]; indices?: undefined }
  );

/** What a request may hold. */
export interface Budget {
  /** Tokens that the model takes. Default: as the settings, or their model, say. */
  window?: number;
  /** Kept free for the answer. */
  reserve?: number;
  /** Tools, and instructions that are not in the view. */
  overhead?: number;
  /** For what a count may be wrong by. */
  safety?: number;
}

/** What a compression must keep; else it is refused. */
export interface SurvivalPolicy {
  /** The least part of them that must survive, from 0 to 1. */
  constraints?: number;
  /** The least part of them that must survive, from 0 to 1. */
  request?: number;
  /** The least part of them that must survive, from 0 to 1. */
  plan?: number;
  /** The least part of them that must survive, from 0 to 1. */
  changedFiles?: number;
  /** The least part of them that must survive, from 0 to 1. */
  results?: number;
  /** The least part of them that must survive, from 0 to 1. */
  errors?: number;
  /** The least part of them that must survive, from 0 to 1. */
  attempts?: number;
  /** The least part of them that must survive, from 0 to 1. */
  nextStep?: number;
  /** The least part of them that must survive, from 0 to 1. */
  paths?: number;
  /** The least part of them that must survive, from 0 to 1. */
  commands?: number;
  /** The least part of them that must survive, from 0 to 1. */
  urls?: number;
}

/** A strategy chooses what to hide. */
export interface CompressByStrategy {
  /** Which operation. */
  operation: 'COMPRESS';
  /** What a request may hold. */
  budget?: Budget;
  /** What the view is to come down to. */
  targetTokens?: number;
  /** Applies what can be freed where the target is out of reach; else that is `cannot_fit`. Default: false. */
  progress?: boolean;
  /** What a compression must keep; else it is refused. */
  survival?: SurvivalPolicy;
  /** By its name, or with arguments. Default: the setting `compressionConfig.strategy`. */
  strategy?: StrategyChoice;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

interface CompressOperationBase {
  /** Which operation. */
  operation: 'COMPRESS';
  /** Takes the place of the first. Default: nothing does. */
  summary?: Message;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
  /** What a request may hold. */
  budget?: Budget;
  /** What the view is to come down to. */
  targetTokens?: number;
  /** Applies what can be freed where the target is out of reach; else that is `cannot_fit`. Default: false. */
  progress?: boolean;
  /** What a compression must keep; else it is refused. */
  survival?: SurvivalPolicy;
}
/** Hides messages, or what a strategy chooses; the summary stands for them. */
export type CompressOperation = CompressOperationBase &
  (
    | { indices: readonly number[]; ordinals?: undefined; strategy?: undefined; targetTokens?: undefined; budget?: undefined; progress?: undefined; survival?: undefined }
    | { ordinals: readonly number[]; indices?: undefined; strategy?: undefined; targetTokens?: undefined; budget?: undefined; progress?: undefined; survival?: undefined }
    | { strategy: StrategyChoice; indices?: undefined; ordinals?: undefined }
    | { targetTokens: number; strategy?: StrategyChoice; indices?: undefined; ordinals?: undefined }
    | { budget: Budget; strategy?: StrategyChoice; indices?: undefined; ordinals?: undefined }
    | { progress: boolean; strategy?: StrategyChoice; indices?: undefined; ordinals?: undefined }
    | { survival: SurvivalPolicy; strategy?: StrategyChoice; indices?: undefined; ordinals?: undefined }
  );

/** A message goes, and those it stands for return. */
export interface ExpandOperation {
  /** Which operation. */
  operation: 'EXPAND';
  /** Of a message that stands for others. */
  index: number;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Hidden messages return to their places. */
export interface ShowOperation {
  /** Which operation. */
  operation: 'SHOW';
  /** Of hidden messages. */
  ordinals: readonly number[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Joins messages into one. */
export interface MergeOperation {
  /** Which operation. */
  operation: 'MERGE';
  /** Of the messages to join. */
  indices: readonly number[];
  /** What stands between their texts. Default: a newline. */
  separator?: string;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Splits a message into several. */
export interface SplitOperation {
  /** Which operation. */
  operation: 'SPLIT';
  /** Of the message to split. */
  index: number;
  /** Where: code points of a text, or places in a list of parts; rising. */
  at: readonly number[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Replaces a text wherever it stands. */
export interface ReplaceText {
  /** The text to look for; not empty. */
  find: string;
  /** What takes its place. */
  with: string;
}

/** Shortens each text. */
export interface TruncateText {
  /** Code points to keep of each text. */
  maxChars: number;
  /** Which end to keep. Default: "head". */
  keep?: 'head' | 'tail' | 'both';
  /** What stands where text was cut. */
  marker?: string;
}

interface TransformOperationBase {
  /** Which operation. */
  operation: 'TRANSFORM';
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}
/** Changes texts or metadata of messages. */
export type TransformOperation = TransformOperationBase &
  (
    | { indices: readonly number[]; ordinals?: undefined; roles?: undefined }
    | { ordinals: readonly number[]; indices?: undefined; roles?: undefined }
    | { roles: readonly Role[]; indices?: undefined; ordinals?: undefined }
  ) &
  (
    | { replaceText: ReplaceText; truncateText?: undefined; setMetadata?: undefined }
    | { truncateText: TruncateText; replaceText?: undefined; setMetadata?: undefined }
    | { setMetadata: Record<string, unknown>; replaceText?: undefined; truncateText?: undefined }
  );

/** Opens a batch: a point to return to. */
export interface StartBatchOperation {
  /** Which operation. */
  operation: 'START_BATCH';
  /** Where the batch begins in the log. Default: its length. */
  boundary?: number;
  /** Hides what is there, but for pinned messages. Default: false. */
  hidePrior?: boolean;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Returns to a batch, and may carry messages along. */
export interface EndBatchOperation {
  /** Which operation. */
  operation: 'END_BATCH';
  /** The batch to return to. */
  targetBatch: number;
  /** Messages added since with these roles are appended again. */
  carry?: readonly Role[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** The view becomes what it last was in a batch. */
export interface RollbackOperation {
  /** Which operation. */
  operation: 'ROLLBACK';
  /** The batch to return to. */
  targetBatchIndex: number;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

interface MarkOperationBase {
  /** Which operation. */
  operation: 'MARK';
  /** The label; `pinned` protects from trimming and compression. */
  mark: string;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}
/** Labels messages. */
export type MarkOperation = MarkOperationBase &
  (
    | { indices: readonly number[]; ordinals?: undefined }
    | { ordinals: readonly number[]; indices?: undefined }
  );

interface UnmarkOperationBase {
  /** Which operation. */
  operation: 'UNMARK';
  /** The label; `pinned` protects from trimming and compression. */
  mark: string;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}
/** Takes a label off messages. */
export type UnmarkOperation = UnmarkOperationBase &
  (
    | { indices: readonly number[]; ordinals?: undefined }
    | { ordinals: readonly number[]; indices?: undefined }
  );

/** Takes back the last operation that is not undone. */
export interface UndoOperation {
  /** Which operation. */
  operation: 'UNDO';
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Carries out again what was undone last. */
export interface RedoOperation {
  /** Which operation. */
  operation: 'REDO';
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** The state of a version returns, as a new version. */
export interface RestoreOperation {
  /** Which operation. */
  operation: 'RESTORE';
  /** Whose state returns. */
  version: number;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** The same by role; default: as the messages have it. */
export interface GivenTypeIndices {
  /** Ordinals of this role. */
  system?: readonly number[];
  /** Ordinals of this role. */
  user?: readonly number[];
  /** Ordinals of this role. */
  assistant?: readonly number[];
  /** Ordinals of this role. */
  tool?: readonly number[];
}

/** As the query markMap returns it. */
export interface GivenMarkMap {
  /** The view: ordinals in its order. */
  originalIndices: readonly number[];
  /** The same by role; default: as the messages have it. */
  typeIndices?: GivenTypeIndices;
  /** Where each batch begins in the log. */
  batchBoundaries: readonly number[];
  /** The batch of each boundary: 0, 1, 2 and so on. */
  boundaryToBatch: readonly number[];
  /** The batch that the view is in. */
  currentBatch: number;
}

/** The view and the batches become those of a mark map. */
export interface ImportMarkMapOperation {
  /** Which operation. */
  operation: 'IMPORT_MARK_MAP';
  /** As the query markMap returns it. */
  markMap: GivenMarkMap;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

interface ReconcileOperationBase {
  /** Which operation. */
  operation: 'RECONCILE';
  /** Whose request it is. Default: generic. */
  client?: ClientName;
  /** The format of the request. Default: that of the client, or the engine's own. */
  dialect?: Dialect;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}
/** The conversation follows a client that keeps its own list and sends all of it. */
export type ReconcileOperation = ReconcileOperationBase &
  (
    | { request: Record<string, unknown>; messages?: undefined }
    | { messages: readonly Record<string, unknown>[]; request?: undefined }
  );

/** Appends a message that quotes what a search for a text finds. */
export interface RecallOperation {
  /** Which operation. */
  operation: 'RECALL';
  /** What to look for. */
  text: string;
  /** Tokens of all that is found together. Default: 4000. */
  budgetTokens?: number;
  /** The log, hidden messages too, instead of the view. Default: false. */
  all?: boolean;
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** As that batch was last seen. */
  atBatch?: number;
  /** Only messages of this role. */
  role?: Role;
  /** Only messages of any of these roles. */
  roles?: readonly Role[];
  /** Only messages at or after this time, in milliseconds since 1970. */
  from?: number;
  /** Only messages before this time. */
  to?: number;
  /** Only messages with this mark. */
  marked?: string;
  /** Only messages whose text contains this. */
  contains?: string;
  /** From this place on, among those left so far. */
  start?: number;
  /** Up to this place. */
  end?: number;
  /** The first so many of what is left. */
  first?: number;
  /** The last so many; not together with first. */
  last?: number;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Appends what a fork of this conversation achieved. */
export interface MergeForkOperation {
  /** Which operation. */
  operation: 'MERGE_FORK';
  /** The id of a fork of this conversation. */
  from: string;
  /** What to take: a summary, the fork's own messages, or some of them. Default: "summary". */
  mode?: 'summary' | 'messages' | 'pick';
  /** Of messages in the fork's log; with `pick`. */
  ordinals?: readonly number[];
  /** With `summary`. Default: the fork's last answer, quoted. */
  summary?: Message;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** The arguments. */
export interface Truncate {
  /** Keeps the first so many. */
  keepFirst?: number;
  /** Keeps the last so many. */
  keepLast?: number;
  /** Hides the first so many. */
  removeFirst?: number;
  /** Hides the last so many. */
  removeLast?: number;
  /** Keeps these. */
  range?: Range;
  /** First drops all other roles. */
  role?: Role;
  /** What becomes of the rest of a tool pair. Default: the setting. */
  pairs?: Pairs;
}

/** Another spelling of an operation. */
export interface NodeTruncate {
  /** Which operation. */
  operation: 'truncate';
  /** The arguments. */
  truncate: Truncate;
  /** As in the block. */
  pairs?: Pairs;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** The arguments. */
export interface Insert {
  /** The index to insert before; -1 appends. */
  position: number;
  /** At least one. */
  messages: readonly Message[];
}

/** Another spelling of an operation. */
export interface NodeInsert {
  /** Which operation. */
  operation: 'insert';
  /** The arguments. */
  insert: Insert;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** The arguments. */
export interface Replace {
  /** Its position in the view. */
  index: number;
  /** What takes the place. */
  message: Message;
}

/** Another spelling of an operation. */
export interface NodeReplace {
  /** Which operation. */
  operation: 'replace';
  /** The arguments. */
  replace: Replace;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** The arguments. */
export interface Clear {
  /** Keeps all system messages. Default: true. */
  keepSystemMessage?: boolean;
}

/** Another spelling of an operation. */
export interface NodeClear {
  /** Which operation. */
  operation: 'clear';
  /** The arguments. */
  clear?: Clear;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** The arguments. */
export interface Filter {
  /** Keeps these roles. */
  roles?: readonly Role[];
  /** Keeps what contains any of these texts. */
  contentContains?: readonly string[];
  /** Keeps what contains none of these texts. */
  contentExcludes?: readonly string[];
  /** What becomes of the rest of a tool pair. Default: the setting. */
  pairs?: Pairs;
}

/** Another spelling of an operation. */
export interface NodeFilter {
  /** Which operation. */
  operation: 'filter';
  /** The arguments. */
  filter: Filter;
  /** As in the block. */
  pairs?: Pairs;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Another spelling of an operation. */
export interface ModificationInsert {
  /** Which operation. */
  operation: 'insert';
  /** Means nothing here. */
  indices?: readonly number[];
  /** What is appended. */
  data: Message | readonly Message[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Another spelling of an operation. */
export interface ModificationDelete {
  /** Which operation. */
  operation: 'delete';
  /** Places in the log. */
  indices: readonly number[];
  /** What becomes of the rest of a tool pair. Default: the setting. */
  pairs?: Pairs;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Another spelling of an operation. */
export interface ModificationReplace {
  /** Which operation. */
  operation: 'replace';
  /** Places in the log. */
  indices: readonly number[];
  /** What takes the place of the first. */
  data: Message | readonly Message[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Another spelling of an operation. */
export interface ModificationCompress {
  /** Which operation. */
  operation: 'compress';
  /** Places in the log. */
  indices: readonly number[];
  /** The summary. Default: nothing takes their place. */
  data?: Message;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Another spelling of an operation. */
export interface ModificationBatchStart {
  /** Which operation. */
  operation: 'batch_start';
  /** The boundary of the new batch, or the batch to return to. */
  batch?: number;
  /** The same, as a list of one. */
  indices?: readonly number[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** Another spelling of an operation. */
export interface ModificationBatchEnd {
  /** Which operation. */
  operation: 'batch_end';
  /** The boundary of the new batch, or the batch to return to. */
  batch?: number;
  /** The same, as a list of one. */
  indices?: readonly number[];
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** An operation in its canonical spelling. */
export type Operation =
  | AppendOperation
  | InsertOperation
  | ReplaceOperation
  | TruncateOperation
  | ClearOperation
  | FilterOperation
  | DeleteOperation
  | CompressOperation
  | ExpandOperation
  | ShowOperation
  | MergeOperation
  | SplitOperation
  | TransformOperation
  | StartBatchOperation
  | EndBatchOperation
  | RollbackOperation
  | MarkOperation
  | UnmarkOperation
  | UndoOperation
  | RedoOperation
  | RestoreOperation
  | ImportMarkMapOperation
  | ReconcileOperation
  | RecallOperation
  | MergeForkOperation;

/** An operation as the configuration of a node: its arguments in a block. */
export type NodeOperation = NodeTruncate | NodeInsert | NodeReplace | NodeClear | NodeFilter;

/** An operation as a modification, whose indices are ordinals. */
export type Modification =
  | ModificationInsert
  | ModificationDelete
  | ModificationReplace
  | ModificationCompress
  | ModificationBatchStart
  | ModificationBatchEnd;

/** An operation in any of its three spellings. */
export type AnyOperation = Operation | NodeOperation | Modification;

/** The strategy `default`. */
export interface DefaultStrategy {
  /** Which strategy. */
  name: 'default';
  /** How long the summaries may be together. Default: a quarter of the target, from 512 to 8192; 1024 without one. */
  summaryTokens?: number;
  /** `digest`, or a name of the setting `summarisers`. Default: digest. */
  summariser?: string;
  /** Summarisers to ask in turn where that one fails. */
  fallbacks?: readonly string[];
}

/** The strategy `none`. */
export interface NoneStrategy {
  /** Which strategy. */
  name: 'none';
}

/** The strategy `keep_recent`. */
export interface KeepRecentStrategy {
  /** Which strategy. */
  name: 'keep_recent';
  /** How many messages to keep. Default: 10. */
  n?: number;
}

/** The strategy `keep_system_and_recent`. */
export interface KeepSystemAndRecentStrategy {
  /** Which strategy. */
  name: 'keep_system_and_recent';
  /** How many messages to keep. Default: 10. */
  n?: number;
}

/** The strategy `sliding_window`. */
export interface SlidingWindowStrategy {
  /** Which strategy. */
  name: 'sliding_window';
}

/** The strategy `supersede`. */
export interface SupersedeStrategy {
  /** Which strategy. */
  name: 'supersede';
  /** Tools whose results stay. */
  exclude?: readonly string[];
  /** The newest first, and no more than the target needs. Default: false. */
  late?: boolean;
}

/** The strategy `dedupe`. */
export interface DedupeStrategy {
  /** Which strategy. */
  name: 'dedupe';
  /** Tools whose results stay. */
  exclude?: readonly string[];
  /** The newest first, and no more than the target needs. Default: false. */
  late?: boolean;
}

/** The strategy `clear_tool_results`. */
export interface ClearToolResultsStrategy {
  /** Which strategy. */
  name: 'clear_tool_results';
  /** How many of the newest results to keep. Default: 3. */
  keep?: number;
  /** Tools whose results stay. */
  exclude?: readonly string[];
  /** Does nothing where fewer tokens would be freed. */
  minGain?: number;
  /** Clears only as many as the target needs. Default: false. */
  late?: boolean;
}

/** The strategy `smart_summary`. */
export interface SmartSummaryStrategy {
  /** Which strategy. */
  name: 'smart_summary';
  /** How many of the newest messages to keep. */
  keep?: number;
  /** How long the summaries may be together. Default: a quarter of the target, from 512 to 8192; 1024 without one. */
  summaryTokens?: number;
  /** `digest`, or a name of the setting `summarisers`. Default: digest. */
  summariser?: string;
  /** Summarisers to ask in turn where that one fails. */
  fallbacks?: readonly string[];
}

/** The strategy `prefer_cache`. */
export interface PreferCacheStrategy {
  /** Which strategy. */
  name: 'prefer_cache';
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** Tokens before the first message: tools and such. */
  overhead?: number;
  /** How many requests are to come. Default: 10. */
  turns?: number;
  /** How much of what the fullest plan keeps a cheaper one must keep. Default: 90. */
  keepPercent?: number;
  /** Who marks requests for the provider's prompt cache: the caller, or render. */
  cacheMarkers?: CacheMarkers;
  /** Strategies that are no pipelines, one after the other. */
  steps: readonly StrategyObject[];
}

/** The strategy `pipeline`. */
export interface PipelineStrategy {
  /** Which strategy. */
  name: 'pipeline';
  /** Strategies that are no pipelines, one after the other. */
  steps: readonly StrategyObject[];
}

/** A strategy of the program's own. */
export interface OtherStrategy {
  /** Its name. */
  name: string;
}

/** The strategies of the engine. */
export type StrategyName =
  | 'default'
  | 'none'
  | 'keep_recent'
  | 'keep_system_and_recent'
  | 'sliding_window'
  | 'supersede'
  | 'dedupe'
  | 'clear_tool_results'
  | 'smart_summary'
  | 'prefer_cache'
  | 'pipeline';

/** A strategy with its arguments. */
export type StrategyObject =
  | DefaultStrategy
  | NoneStrategy
  | KeepRecentStrategy
  | KeepSystemAndRecentStrategy
  | SlidingWindowStrategy
  | SupersedeStrategy
  | DedupeStrategy
  | ClearToolResultsStrategy
  | SmartSummaryStrategy
  | PreferCacheStrategy
  | PipelineStrategy
  | OtherStrategy;

/** A strategy by its name, or with arguments. */
export type StrategyChoice = StrategyName | (string & {}) | StrategyObject;

/** Messages of the view, or of the log. The filters compose in their order. */
export interface MessagesQuery {
  /** Which query. */
  query: 'messages';
  /** The log, hidden messages too, instead of the view. Default: false. */
  all?: boolean;
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** As that batch was last seen. */
  atBatch?: number;
  /** Only messages of this role. */
  role?: Role;
  /** Only messages of any of these roles. */
  roles?: readonly Role[];
  /** Only messages at or after this time, in milliseconds since 1970. */
  from?: number;
  /** Only messages before this time. */
  to?: number;
  /** Only messages with this mark. */
  marked?: string;
  /** Only messages whose text contains this. */
  contains?: string;
  /** From this place on, among those left so far. */
  start?: number;
  /** Up to this place. */
  end?: number;
  /** The first so many of what is left. */
  first?: number;
  /** The last so many; not together with first. */
  last?: number;
}

/** How many messages that is, and their tokens. */
export interface CountQuery {
  /** Which query. */
  query: 'count';
  /** The log, hidden messages too, instead of the view. Default: false. */
  all?: boolean;
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** As that batch was last seen. */
  atBatch?: number;
  /** Only messages of this role. */
  role?: Role;
  /** Only messages of any of these roles. */
  roles?: readonly Role[];
  /** Only messages at or after this time, in milliseconds since 1970. */
  from?: number;
  /** Only messages before this time. */
  to?: number;
  /** Only messages with this mark. */
  marked?: string;
  /** Only messages whose text contains this. */
  contains?: string;
  /** From this place on, among those left so far. */
  start?: number;
  /** Up to this place. */
  end?: number;
  /** The first so many of what is left. */
  first?: number;
  /** The last so many; not together with first. */
  last?: number;
}

/** What these messages say, in whichever format they are, as blocks. */
export interface BlocksQuery {
  /** Which query. */
  query: 'blocks';
  /** The log, hidden messages too, instead of the view. Default: false. */
  all?: boolean;
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** As that batch was last seen. */
  atBatch?: number;
  /** Only messages of this role. */
  role?: Role;
  /** Only messages of any of these roles. */
  roles?: readonly Role[];
  /** Only messages at or after this time, in milliseconds since 1970. */
  from?: number;
  /** Only messages before this time. */
  to?: number;
  /** Only messages with this mark. */
  marked?: string;
  /** Only messages whose text contains this. */
  contains?: string;
  /** From this place on, among those left so far. */
  start?: number;
  /** Up to this place. */
  end?: number;
  /** The first so many of what is left. */
  first?: number;
  /** The last so many; not together with first. */
  last?: number;
}

export interface BlocksAnswer {
  ok: true;
  /** What these messages say, in whichever format they are, as blocks. */
  result: MessageBlocks[];
}

/** Messages of the view at or after the current batch's boundary. */
export interface UncompressedQuery {
  /** Which query. */
  query: 'uncompressed';
}

/** The view as ordinals: the mark map. */
export interface MarkMapQuery {
  /** Which query. */
  query: 'markMap';
}

export interface MarkMapAnswer {
  ok: true;
  /** The view as ordinals: the mark map. */
  result: MarkMap;
}

/** The view with the snapshots of all batches. */
export interface StateQuery {
  /** Which query. */
  query: 'state';
}

export interface StateAnswer {
  ok: true;
  /** The view with the snapshots of all batches. */
  result: State;
}

/** Messages, batches and tokens. */
export interface StatsQuery {
  /** Which query. */
  query: 'stats';
}

export interface StatsAnswer {
  ok: true;
  /** Messages, batches and tokens. */
  result: Stats;
}

/** The head. */
export interface VersionQuery {
  /** Which query. */
  query: 'version';
}

export interface VersionAnswer {
  ok: true;
  /** The head. */
  result: number;
}

/** The batches of the stack, the first one first. */
export interface BatchesQuery {
  /** Which query. */
  query: 'batches';
}

export interface BatchesAnswer {
  ok: true;
  /** The batches of the stack, the first one first. */
  result: Batch[];
}

/** The view as it last was in a batch that has been left; null for any other. */
export interface BatchSnapshotQuery {
  /** Which query. */
  query: 'batchSnapshot';
  /** The batch. */
  batchIndex: number;
}

export interface BatchSnapshotAnswer {
  ok: true;
  /** The view as it last was in a batch that has been left; null for any other. */
  result: BatchSnapshot | null;
}

/** All versions, the oldest first. */
export interface HistoryQuery {
  /** Which query. */
  query: 'history';
}

export interface HistoryAnswer {
  ok: true;
  /** All versions, the oldest first. */
  result: VersionEntry[];
}

/** What changed between two versions, as ordinals. */
export interface DiffQuery {
  /** Which query. */
  query: 'diff';
  /** A version. */
  from: number;
  /** A version. */
  to: number;
}

export interface DiffAnswer {
  ok: true;
  /** What changed between two versions, as ordinals. */
  result: Diff;
}

/** Which operations stored, hid and showed a message. */
export interface BlameQuery {
  /** Which query. */
  query: 'blame';
  /** Its place in the log. */
  ordinal: number;
}

export interface BlameAnswer {
  ok: true;
  /** Which operations stored, hid and showed a message. */
  result: Blame;
}

/** Tokens of the view by role, and of each message where asked for. */
export interface TokensQuery {
  /** Which query. */
  query: 'tokens';
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** The tokens of each message too. Default: false. */
  perMessage?: boolean;
}

export interface TokensAnswer {
  ok: true;
  /** Tokens of the view by role, and of each message where asked for. */
  result: TokenCounts;
}

/** Whether the view is within a budget, and what would make it so. Changes nothing. */
export interface FitQuery {
  /** Which query. */
  query: 'fit';
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** What a request may hold. */
  budget?: Budget;
  /** By its name, or with arguments. */
  strategy?: StrategyChoice;
}

export interface FitAnswer {
  ok: true;
  /** Whether the view is within a budget, and what would make it so. Changes nothing. */
  result: Fit;
}

/** What every COMPRESS did, the oldest first. */
export interface ReceiptsQuery {
  /** Which query. */
  query: 'receipts';
}

export interface ReceiptsAnswer {
  ok: true;
  /** What every COMPRESS did, the oldest first. */
  result: Receipt[];
}

/** The request that a provider would be sent, with what was repaired or lost. */
export interface RenderQuery {
  /** Which query. */
  query: 'render';
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** What the provider saw last, for bound thinking. */
  sentVersion?: number;
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** The other fields of the request. */
  request?: Record<string, unknown>;
  /** false: the view as it stands. Default: true. */
  repair?: boolean;
  /** Who marks requests for the provider's prompt cache: the caller, or render. */
  cacheMarkers?: CacheMarkers;
  /** What becomes of thinking that an edit has made void. */
  boundThinking?: 'strip' | 'refuse' | 'drop_block';
}

export interface RenderAnswer {
  ok: true;
  /** The request that a provider would be sent, with what was repaired or lost. */
  result: Rendered;
}

/** What a provider would refuse in the view as it stands. */
export interface ValidateQuery {
  /** Which query. */
  query: 'validate';
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** What the provider saw last, for bound thinking. */
  sentVersion?: number;
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** The other fields of the request. */
  request?: Record<string, unknown>;
}

export interface ValidateAnswer {
  ok: true;
  /** What a provider would refuse in the view as it stands. */
  result: Validated;
}

/** What an edit would cost at a provider that caches prompts. */
export interface CostQuery {
  /** Which query. */
  query: 'cost';
  /** The version that the provider saw. Default, with operations: the head. */
  from?: number;
  /** The version to be sent. Default: the head. */
  to?: number;
  /** Tried on the head, instead of `to`. */
  operations?: readonly AnyOperation[];
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** Tokens before the first message: tools and such. */
  overhead?: number;
  /** Who marks requests for the provider's prompt cache: the caller, or render. */
  cacheMarkers?: CacheMarkers;
}

export interface CostAnswer {
  ok: true;
  /** What an edit would cost at a provider that caches prompts. */
  result: EditCost;
}

/** What is known of the conversation's model, or of another. */
export interface ModelQuery {
  /** Which query. */
  query: 'model';
  /** A model in any spelling. Default: that of the conversation. */
  name?: string;
}

export interface ModelAnswer {
  ok: true;
  /** What is known of the conversation's model, or of another. */
  result: Model;
}

/** What the tools of a request cost, which is in no message. */
export interface CountToolsQuery {
  /** Which query. */
  query: 'countTools';
  /** The model to count for. Default: as the conversation counts. */
  model?: string;
  /** The tools of a request, as a provider takes them. */
  tools: readonly Json[];
}

export interface CountToolsAnswer {
  ok: true;
  /** What the tools of a request cost, which is in no message. */
  result: ToolsCount;
}

/** The messages of a provider's request or response, for APPEND. */
export interface ImportMessagesQuery {
  /** Which query. */
  query: 'importMessages';
  /** A request, a response, a message or a list of messages. A response says itself which format it has. */
  json: Record<string, unknown> | readonly Json[];
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** Tools that were sent under another name: that name, and the caller's. */
  toolNames?: ToolNames;
  /** Only what is new in a request that repeats what was rendered. Default: false. */
  after?: boolean;
}

export interface ImportMessagesAnswer {
  ok: true;
  /** The messages of a provider's request or response, for APPEND. */
  result: Imported;
}

/** Tools by which a model looks into its conversation, as a request declares them. */
export interface ToolsQuery {
  /** Which query. */
  query: 'tools';
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
}

export interface ToolsAnswer {
  ok: true;
  /** Tools by which a model looks into its conversation, as a request declares them. */
  result: ToolDeclaration[];
}

/** What such a tool answers the model. Changes nothing. */
export interface CallToolQuery {
  /** Which query. */
  query: 'callTool';
  /** The tool, as the model called it. */
  name: string;
  /** What the model gave it: an object, or the JSON text of one. */
  arguments?: Record<string, unknown> | string;
}

export interface CallToolAnswer {
  ok: true;
  /** What such a tool answers the model. Changes nothing. */
  result: ToolResult;
}

/** Recorded requests of the client, the oldest first, without their texts. */
export interface RequestsQuery {
  /** Which query. */
  query: 'requests';
  /** From this number on. Default: 1. */
  first?: number;
  /** At most so many. Default: 100. */
  limit?: number;
  /** The newest so many, instead. */
  last?: number;
}

export interface RequestsAnswer {
  ok: true;
  /** Recorded requests of the client, the oldest first, without their texts. */
  result: RequestRecord[];
}

/** A recorded request, with its raw text and that of its answer. */
export interface RequestQuery {
  /** Which query. */
  query: 'request';
  /** Which one. */
  number: number;
}

export interface RequestAnswer {
  ok: true;
  /** A recorded request, with its raw text and that of its answer. */
  result: WholeRequest;
}

/** Where a recorded request stops being equal to an earlier one, as the provider's cache sees them. */
export interface CacheBreakQuery {
  /** Which query. */
  query: 'cacheBreak';
  /** Which request. */
  number: number;
  /** An earlier one. Default: the last before it that goes on with the same list. */
  against?: number;
}

export interface CacheBreakAnswer {
  ok: true;
  /** Where a recorded request stops being equal to an earlier one, as the provider's cache sees them. */
  result: ComparedRequest;
}

/** What the recorded requests cost, and where a cache was missed that should have been hit. */
export interface LedgerQuery {
  /** Which query. */
  query: 'ledger';
  /** Only requests at or after this time, in milliseconds since 1970. */
  from?: number;
  /** Only requests before this time. */
  to?: number;
  /** false: totals, days and findings alone. Default: true. */
  turns?: boolean;
}

export interface LedgerAnswer {
  ok: true;
  /** What the recorded requests cost, and where a cache was missed that should have been hit. */
  result: Ledger;
}

/** What the recorded requests would have cost under another policy of the gateway. No model is called. */
export interface WhatIfQuery {
  /** Which query. */
  query: 'whatIf';
  /** A policy of the gateway, or the name of its mode. */
  policy: Record<string, unknown> | string;
  /** Whose prices and window count. Default: those of each request's own. */
  model?: string;
}

export interface WhatIfAnswer {
  ok: true;
  /** What the recorded requests would have cost under another policy of the gateway. No model is called. */
  result: WhatIf;
}

/** Messages that share words with a text, with their units and neighbours, best first; by default hidden ones. */
export interface RecallQuery {
  /** Which query. */
  query: 'recall';
  /** What to look for. */
  text: string;
  /** Tokens of all that is found together. Default: 4000. */
  budgetTokens?: number;
  /** The log, hidden messages too, instead of the view. Default: false. */
  all?: boolean;
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** As that batch was last seen. */
  atBatch?: number;
  /** Only messages of this role. */
  role?: Role;
  /** Only messages of any of these roles. */
  roles?: readonly Role[];
  /** Only messages at or after this time, in milliseconds since 1970. */
  from?: number;
  /** Only messages before this time. */
  to?: number;
  /** Only messages with this mark. */
  marked?: string;
  /** Only messages whose text contains this. */
  contains?: string;
  /** From this place on, among those left so far. */
  start?: number;
  /** Up to this place. */
  end?: number;
  /** The first so many of what is left. */
  first?: number;
  /** The last so many; not together with first. */
  last?: number;
}

export interface RecallAnswer {
  ok: true;
  /** Messages that share words with a text, with their units and neighbours, best first; by default hidden ones. */
  result: Recalled;
}

/** A query of a conversation. */
export type Query =
  | MessagesQuery
  | CountQuery
  | BlocksQuery
  | UncompressedQuery
  | MarkMapQuery
  | StateQuery
  | StatsQuery
  | VersionQuery
  | BatchesQuery
  | BatchSnapshotQuery
  | HistoryQuery
  | DiffQuery
  | BlameQuery
  | TokensQuery
  | FitQuery
  | ReceiptsQuery
  | RenderQuery
  | ValidateQuery
  | CostQuery
  | ModelQuery
  | CountToolsQuery
  | ImportMessagesQuery
  | ToolsQuery
  | CallToolQuery
  | RequestsQuery
  | RequestQuery
  | CacheBreakQuery
  | LedgerQuery
  | WhatIfQuery
  | RecallQuery;

/** What is too_large. */
export interface SizeLimits {
  /** Of a message. Default: 16777216. */
  messageBytes?: number;
  /** Of a line of `undertext exec`. Default: 268435456. */
  lineBytes?: number;
}

/** Models that write summaries, by a name of your choice. */
export interface EndpointSettings {
  /** Chat completions, or messages. */
  kind: 'openai' | 'anthropic';
  /** Such as the provider's, up to and with its version. */
  baseUrl: string;
  /** The model to ask. */
  model: string;
  /** The environment variable that holds the key. */
  keyEnv?: string;
  /** A file that holds the key. */
  keyFile?: string;
  /** Instructions. Default: the built-in ones. */
  prompt?: string;
  /** Of one attempt. Default: 60000. */
  timeoutMs?: number;
  /** How often to try, the first time included. Default: 3. */
  attempts?: number;
  /** Before the second attempt; doubles. Default: 500. */
  backoffMs?: number;
  /** Ask for the answer piece by piece. Default: true. */
  stream?: boolean;
}

/** An OpenAI-compatible endpoint whose embeddings rank what a recall finds. */
export interface EmbeddingsSettings {
  /** Such as the provider's, up to and with its version. */
  baseUrl: string;
  /** The model to ask. */
  model: string;
  /** The environment variable that holds the key. */
  keyEnv?: string;
  /** A file that holds the key. */
  keyFile?: string;
  /** Of one search. Without an answer the words alone decide. Default: 5000. */
  timeoutMs?: number;
}

/** Automatic compression. */
export interface CompressionConfig {
  /** Compress without being asked. Default: false. */
  enabled?: boolean;
  /** Above so many tokens. Default: tokenLimit, else three quarters of the window. */
  threshold?: number;
  /** What to come down to. Default: three quarters of the threshold. */
  targetTokens?: number;
  /** By its name, or with arguments. */
  strategy?: StrategyChoice;
  /** Leaves room for so many more turns, at the rate at which the conversation grew of late. */
  headroomTurns?: number;
  /** What a compression must keep; else it is refused. */
  survival?: SurvivalPolicy;
}

/** The settings of a conversation, as `--config` takes them. */
export interface Settings {
  /** The model that the conversation is for. Tokenizer, costs, profile and window follow from it where they are not set. */
  model?: string;
  /** `estimate`, `o200k_base`, `cl100k_base`, a model's name or a path. */
  tokenizer?: string;
  /** What counts beside text: a name of docs/tokens.md. */
  costs?: string;
  /** What the provider accepts. */
  profile?: ProfileName | (string & {});
  /** Of budgets that name none. */
  window?: number;
  /** An event is sent when the view grows beyond it. */
  tokenLimit?: number;
  /** Of operations that do not say. Default: "literal". */
  pairs?: Pairs;
  /** What the conversation belongs to, such as a folder. `undertext mcp` looks for it. */
  project?: string;
  /** The model has context_search and context_expand: summaries and stubs say how to use them. Default: false. */
  contextTools?: boolean;
  /** What is too_large. */
  limits?: SizeLimits;
  /** Models that write summaries, by a name of your choice. */
  summarisers?: Record<string, EndpointSettings>;
  /** An OpenAI-compatible endpoint whose embeddings rank what a recall finds. */
  embeddings?: EmbeddingsSettings;
  /** Automatic compression. */
  compressionConfig?: CompressionConfig;
}

/** What a provider reported of a request. */
export interface UsageReport {
  /** The provider's id of the request, or one of your own. */
  requestId: string;
  /** The model that answered. */
  model?: string;
  /** Tokens of the request. */
  prompt: number;
  /** Tokens of the answer. */
  completion?: number;
  /** Tokens of the request that were read from a cache. */
  cached?: number;
  /** As reported. */
  total?: number;
  /** What it cost. */
  cost?: number;
  /** What the request was counted as before it was sent. */
  estimatedPrompt?: number;
  /** Tokens of the request that were written to a cache. */
  cacheWritten?: number;
  /** Of these, the ones that it keeps for an hour. */
  cacheWrittenHour?: number;
  /** Milliseconds since 1970. */
  timestamp?: number;
  /** false: a later report of the same request takes its place. Default: true. */
  final?: boolean;
}

/** What its requests came to. */
export interface GivenUsageTotals {
  /** How many. */
  requests: number;
  /** Tokens of the request. */
  prompt: number;
  /** Tokens of the answer. */
  completion?: number;
  /** Tokens of the request that were read from a cache. */
  cached?: number;
  /** As reported. */
  total?: number;
  /** What it cost. */
  cost?: number;
}

/** By model. */
export interface GivenModelUsage {
  /** Its name. */
  model: string;
  /** What its requests came to. */
  totals: GivenUsageTotals;
  /** Of a request. */
  promptMax?: number;
  /** Of a request. */
  completionMax?: number;
  /** Reported tokens by estimated ones. */
  factor?: number;
  /** The same, on the safe side. */
  factorHigh?: number;
  /** Requests. */
  learnedFrom?: number;
}

/** As usage has them. */
export interface GivenRequestUsage {
  /** The provider's id of the request, or one of your own. */
  requestId: string;
  /** The model that answered. */
  model?: string;
  /** Tokens of the request. */
  prompt: number;
  /** Tokens of the answer. */
  completion?: number;
  /** Tokens of the request that were read from a cache. */
  cached?: number;
  /** As reported. */
  total?: number;
  /** What it cost. */
  cost?: number;
  /** What the request was counted as before it was sent. */
  estimatedPrompt?: number;
  /** Tokens of the request that were written to a cache. */
  cacheWritten?: number;
  /** Of these, the ones that it keeps for an hour. */
  cacheWrittenHour?: number;
  /** Milliseconds since 1970. */
  timestamp?: number;
}

/** What was reported elsewhere, as `usage` has it. */
export interface GivenUsage {
  /** Ignored: they follow from the rest. */
  totals?: UsageTotals;
  /** Ignored, likewise. */
  statistics?: UsageStatistics;
  /** By model. */
  models?: readonly GivenModelUsage[];
  /** As usage has them. */
  open?: readonly GivenRequestUsage[];
  /** As usage has them. */
  recent?: readonly GivenRequestUsage[];
}

/** A request of a client, to be recorded. */
export interface GivenRequest {
  /** Whose request it is. Default: generic. */
  client?: ClientName;
  /** The format of the request. Default: that of the client, or the engine's own. */
  dialect?: Dialect;
  /** The raw request, as it was sent. */
  request?: string;
  /** The same in base64, where it is no UTF-8. */
  requestBase64?: string;
  /** The raw answer, as it came. */
  answer?: string;
  /** The same in base64, where it is no UTF-8. */
  answerBase64?: string;
  /** Of the request. What follows a ? is left out. */
  path?: string;
  /** Of the request. */
  method?: string;
  /** What the request saw. Default: the head. */
  version?: number;
  /** The version that has the answer. */
  answerVersion?: number;
  /** When it came, in milliseconds since 1970. Default: now. */
  timestamp?: number;
  /** The provider's id of the answer. */
  responseId?: string;
  /** Of HTTP; 0: no answer came. */
  status?: number;
  /** The answer ended before its end. Default: false. */
  torn?: boolean;
  /** From the request to the answer's first byte. */
  firstByteMs?: number;
  /** From the request to the answer's last byte. */
  durationMs?: number;
  /** As the provider reported it. */
  usage?: GivenRequestUsage;
  /** By which it is found again, besides the digest of its list. */
  keys?: readonly string[];
}

/** Text. */
export interface TextBlock {
  kind: 'text';
  /** The format's own word, where it says more than kind. */
  type?: string;
  text: string;
}

/** A call of a tool by the model. */
export interface CallBlock {
  kind: 'call';
  /** The format's own word, where it says more than kind. */
  type?: string;
  callId?: string;
  /** Of the tool. */
  name?: string;
  /** As given: mostly an object, or a string that holds one. {} where there are none. */
  arguments: Json;
  /** The call holds its own result, and failed. */
  isError?: true;
  /** The provider runs the tool itself. */
  byProvider?: true;
  /** What came of it, where the call holds its own result. */
  blocks?: Block[];
}

/** The result of a call. */
export interface ResultBlock {
  kind: 'result';
  /** The format's own word, where it says more than kind. */
  type?: string;
  callId?: string;
  /** Of the tool. */
  name?: string;
  /** The tool failed. */
  isError?: true;
  /** The provider ran the tool itself. */
  byProvider?: true;
  /** What it says. */
  blocks: Block[];
}

/** What the model thought; without text where only the provider can read it. */
export interface ReasoningBlock {
  kind: 'reasoning';
  /** The format's own word, where it says more than kind. */
  type?: string;
  text?: string;
}

/** An image, a sound, a video, a file. */
export interface MediaBlock {
  kind: 'media';
  /** The format's own word, where it says more than kind. */
  type?: string;
  media: MediaKind;
  source: MediaSource;
  /** The base64 text, the URL, the id or the text. */
  data: string;
  mime?: string;
  detail?: string;
  filename?: string;
}

/** Anything else. */
export interface OpaqueBlock {
  kind: 'opaque';
  /** The format's own word, where it says more than kind. */
  type?: string;
  /** As given. */
  json: Json;
}

/** One thing that a message says, in whichever format the message is. */
export type Block = TextBlock | CallBlock | ResultBlock | ReasoningBlock | MediaBlock | OpaqueBlock;

/** What a message says. */
export interface MessageBlocks {
  /** Its place in the log. */
  ordinal: number;
  /** `system` for `developer`. */
  role: Role;
  blocks: Block[];
}

/** What went wrong. Nothing has changed. */
export interface ErrorBody {
  /** What to do about it. */
  code: ErrorCode;
  /** The bare name of the member at fault. */
  field?: string;
  /** Where it stands, when it is nested: `messages[2].content`. */
  path?: string;
  /** Which operation of a list. */
  operationIndex?: number;
  /** Of JSON text. */
  byteOffset?: number;
  /** `cannot_fit`: the fewest tokens that can be reached. */
  minimum?: number;
  /** For a person. */
  message: string;
}

/** The answer to whatever fails. */
export interface ErrorAnswer {
  ok: false;
  error: ErrorBody;
}

/** How large a conversation is. */
export interface Stats {
  /** In the log. */
  totalMessages: number;
  /** In the view. */
  currentBatchMessages: number;
  totalBatches: number;
  currentBatchIndex: number;
  /** Of the view. */
  tokens: number;
}

/** A message of which a part has left the view. */
export interface Warning {
  code: WarningCode;
  ordinal: number;
  /** Not of `reasoning_without_call`. */
  toolCallId?: string;
}

/** What a summary cost, as its provider reported. */
export interface SummaryCost {
  promptTokens: number;
  completionTokens: number;
}

/** A summary, and the messages it stands for. */
export interface StandsFor {
  /** Of the summary. */
  ordinal: number;
  /** Ordinals. */
  standsFor: number[];
}

/** What a COMPRESS did. */
export interface Receipt {
  version: number;
  /** Milliseconds since 1970. */
  timestamp: number;
  strategy?: string;
  summariser?: string;
  /** That wrote the summary. */
  model?: string;
  reason?: string;
  tokensBefore: number;
  tokensAfter: number;
  /** What the view was to come down to. */
  targetTokens?: number;
  /** Whether it did. */
  targetReached?: boolean;
  cost?: SummaryCost;
  /** That were hidden. */
  ordinals: number[];
  summaries: StandsFor[];
}

/** What an operation did. */
export interface Outcome {
  ok: true;
  /** In its canonical spelling. */
  operation: OperationName;
  /** The new head. */
  version: number;
  affectedBatchIndex: number;
  stats: Stats;
  /** Of a COMPRESS by a strategy, or of a RECONCILE. */
  outcome?: 'fits' | 'compressed' | 'same' | 'appended' | 'edited' | 'compacted';
  /** Of a RECONCILE: messages in the client's list before and now. */
  common?: number;
  /** Messages only in the list as it is now. */
  added?: number;
  /** Messages only in the list as it was. */
  removed?: number;
  /** Where there was a target. */
  targetReached?: boolean;
  receipt?: Receipt;
  warnings?: Warning[];
  /** What it set off beyond itself. */
  events?: Event[];
}

/** What a list of operations did. */
export interface Outcomes {
  ok: true;
  results: Outcome[];
}

/** A message was stored. */
export interface MessageAddedEvent {
  type: 'MESSAGE_ADDED';
  version: number;
  ordinal: number;
}

/** A batch was opened. */
export interface BatchOpenedEvent {
  type: 'BATCH_OPENED';
  version: number;
  batchIndex: number;
}

/** An earlier batch is current again. */
export interface RolledBackEvent {
  type: 'ROLLED_BACK';
  version: number;
  batchIndex: number;
}

/** An operation made a version. */
export interface ContextChangedEvent {
  type: 'CONTEXT_CHANGED';
  version: number;
}

/** The view has grown beyond the limit. */
export interface TokenLimitExceededEvent {
  type: 'TOKEN_LIMIT_EXCEEDED';
  tokensUsed: number;
  tokenLimit: number;
}

/** The view has grown beyond the threshold. */
export interface CompressionThresholdExceededEvent {
  type: 'COMPRESSION_THRESHOLD_EXCEEDED';
  tokensUsed: number;
  threshold: number;
}

/** The conversation was compressed without being asked. */
export interface CompressedEvent {
  type: 'COMPRESSED';
  version: number;
  strategy: string;
  tokensBefore: number;
  tokensAfter: number;
  targetReached?: boolean;
}

/** Nothing was changed. */
export interface CompressionFailedEvent {
  type: 'COMPRESSION_FAILED';
  strategy: string;
  error: ErrorBody;
}

/** What a summary stands for was changed meanwhile; nothing was done. */
export interface CompressionDiscardedEvent {
  type: 'COMPRESSION_DISCARDED';
  strategy: string;
  error: ErrorBody;
}

/** Messages were redacted, versions pruned, or all counted by another tokenizer. */
export interface RewrittenEvent {
  type: 'REWRITTEN';
  version: number;
}

/** What happens to a conversation. */
export type Event =
  | MessageAddedEvent
  | BatchOpenedEvent
  | RolledBackEvent
  | ContextChangedEvent
  | TokenLimitExceededEvent
  | CompressionThresholdExceededEvent
  | CompressedEvent
  | CompressionFailedEvent
  | CompressionDiscardedEvent
  | RewrittenEvent;

/** Messages, and where they stand in the log. */
export interface MessagesAnswer {
  ok: true;
  /** As they were given. */
  messages: Message[];
  ordinals: number[];
}

/** How many messages there are. */
export interface CountAnswer {
  ok: true;
  count: number;
  tokens: number;
}

/** A message that was found, with its unit and its neighbours. */
export interface RecalledUnit {
  /** In the log's order. */
  ordinals: number[];
  /** Those that share words with the text, best first. */
  matched: number[];
  /** In the order of `ordinals`. */
  messages: Message[];
  tokens: number;
  /** Of the best one; comparable within one answer only. */
  score: number;
  /** The version that last hid the best one; absent: it is visible. */
  hiddenIn?: number;
  /** The visible message that stands for the best one. */
  representedBy?: number;
}

/** What a search found. */
export interface Recalled {
  /** Best first; no message is in two of them. */
  units: RecalledUnit[];
  /** Of all units. */
  tokens: number;
}

/** A number for each role. */
export interface RoleCounts {
  system: number;
  user: number;
  assistant: number;
  tool: number;
}

/** Ordinals for each role. */
export interface RoleIndices {
  system: number[];
  user: number[];
  assistant: number[];
  tool: number[];
}

/** The view and the batches as ordinals. */
export interface MarkMap {
  /** The view: ordinals in its order. */
  originalIndices: number[];
  /** The same by role. */
  typeIndices: RoleIndices;
  /** Where each batch begins in the log. */
  batchBoundaries: number[];
  /** The batch of each boundary. */
  boundaryToBatch: number[];
  currentBatch: number;
}

/** The view as it was when a batch was left. */
export interface BatchSnapshot {
  batchIndex: number;
  /** When it was left. */
  timestamp: number;
  messages: Message[];
  messageCount: number;
  description?: string;
}

/** The view with the snapshots of all batches. */
export interface State {
  messages: Message[];
  batchSnapshots: BatchSnapshot[];
  currentBatchIndex: number;
  /** Of the view. */
  totalMessageCount: number;
}

/** A batch of the stack. */
export interface Batch {
  index: number;
  /** Where it begins in the log. */
  boundary: number;
  /** null for the first. */
  openedBy: OperationName | null;
  /** Milliseconds since 1970. */
  openedAt: number;
  messageCount: number;
  description?: string;
}

/** A version. */
export interface VersionEntry {
  version: number;
  /** The head before; null for version 0. */
  parent: number | null;
  /** That made it; null for version 0. */
  operation: OperationName | null;
  batchIndex: number;
  /** Milliseconds since 1970. */
  timestamp: number;
  description: string | null;
  /** Of the view. */
  messageCount: number;
  /** Of the view. */
  tokens: number;
  /** Of UNDO, REDO and RESTORE: whose state came back. */
  restores?: number;
  /** Of a COMPRESS by a strategy that had a target. */
  targetReached?: boolean;
}

/** What differs between two versions, as ordinals. */
export interface Diff {
  removed: number[];
  added: number[];
  moved: number[];
}

/** An operation that stored, hid or showed a message. */
export interface BlameEntry {
  version: number;
  operation: OperationName;
  /** Milliseconds since 1970. */
  timestamp: number;
  description?: string;
}

/** The fork that a message came from. */
export interface ForkedFrom {
  /** The fork's id. */
  conversation: string;
  /** Its head by then. */
  version: number;
  /** In its log. Absent: the message is a summary of the fork. */
  ordinal?: number;
}

/** What became of a message. */
export interface Blame {
  ordinal: number;
  stored: BlameEntry;
  hidden: BlameEntry[];
  shown: BlameEntry[];
  visible: boolean;
  /** Of what MERGE_FORK brought. */
  from?: ForkedFrom;
}

/** The tokens of a message. */
export interface MessageTokens {
  ordinal: number;
  tokens: number;
}

/** The tokens of a view. */
export interface TokenCounts {
  total: number;
  byRole: RoleCounts;
  tokenizer: string;
  /** What counts beside text. */
  costs: string;
  /** Every part of the count is. */
  exact: boolean;
  /** With `perMessage`. */
  messages?: MessageTokens[];
}

/** What a model takes. */
export interface ModelLimits {
  /** Tokens of a request and its answer. */
  window?: number;
  /** Tokens of an answer. */
  answer?: number;
  source?: string;
  date?: string;
}

/** US dollars for a million tokens. */
export interface ModelPrices {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** Of what the cache keeps for an hour. */
  cacheWriteHour?: number;
  source?: string;
  date?: string;
}

/** What is known of a model; what is unknown is absent. */
export interface Model {
  /** As it was given. */
  name: string;
  /** A row of the table fits. */
  known: boolean;
  /** The most specific one. */
  row?: string;
  tokenizer: string;
  /** What counts beside text. */
  costs: string;
  /** What its providers accept. */
  profiles: string[];
  source?: string;
  date?: string;
  limits?: ModelLimits;
  prices?: ModelPrices;
}

/** What the tools of a request cost, which is in no message. */
export interface ToolsCount {
  tokens: number;
  /** How many there are. */
  tools: number;
  exact: boolean;
}

/** A tool, in the words of the dialect. */
export type ToolDeclaration = Record<string, unknown>;

/** What a model is sent back as the result of its call. */
export interface ToolResult {
  /** Quoted messages stand between marks that no text can forge. */
  text: string;
  /** The text says what to change. */
  isError: boolean;
}

/** Messages to hide, and what would stand for them. */
export interface PlannedReplacement {
  ordinals: number[];
  summary?: Message;
}

/** What a strategy would do. */
export interface FitPlan {
  strategy: string;
  reason?: string;
  tokensBefore: number;
  tokensAfter: number;
  replacements: PlannedReplacement[];
}

/** Whether a view is within a budget. */
export interface Fit {
  outcome: FitOutcome;
  tokens: number;
  /** What the budget leaves for messages. */
  tokensMax: number;
  /** `cannot_fit`: the fewest tokens that can be reached. */
  minimum?: number;
  plan?: FitPlan;
}

/** What a provider would refuse. */
export interface Finding {
  code: FindingCode;
  /** In the request. */
  path?: string;
  /** In the view. */
  index?: number;
  ordinal?: number;
  /** Such as the id of a call. */
  about?: string;
  /** In the provider's words. */
  error: string;
  /** What was done about it. */
  repair: string;
}

/** What the other format has no place for. */
export interface Loss {
  code: LossCode;
  severity: LossSeverity;
  path?: string;
  /** In the view. */
  index?: number;
  ordinal?: number;
  note: string;
}

/** A request for a provider. */
export interface Rendered {
  /** What carries the conversation: put model, tools and settings beside it. */
  request: Record<string, unknown>;
  findings: Finding[];
  losses: Loss[];
  /** Tools that are sent under another name. */
  toolNames?: ToolNames;
  /** What the request has to set besides. */
  advice?: string[];
}

/** Messages of a provider's request or response. */
export interface Imported {
  messages: Message[];
  /** Its other fields. */
  rest: Record<string, unknown>;
  /** How many were there already, and are left out. */
  known: number;
}

/** Whether a provider would take the view. */
export interface Validated {
  valid: boolean;
  findings: Finding[];
}

/** What an edit costs at a provider that caches prompts, in tokens. */
export interface EditCost {
  /** Of the prefix that both versions share. */
  stable: number;
  /** That a cache can still serve. */
  reusable: number;
  /** That it can no longer serve. */
  invalidated: number;
  /** To be written to it. */
  rewritten: number;
  /** Of the next request, beside what it would have cost. */
  oneTime: number;
  savedPerTurn: number;
  /** null: never. */
  breakEvenTurns: number | null;
  /** Signed blocks that can no longer be sent. */
  brokenThinking: number;
}

/** What requests came to. */
export interface UsageTotals {
  requests: number;
  prompt: number;
  completion: number;
  cached: number;
  total: number;
  cost: number;
}

/** What was reported of a request. */
export interface RequestUsage {
  requestId: string;
  model: string;
  prompt: number;
  completion: number;
  cached: number;
  total: number;
  cost: number;
  estimatedPrompt: number;
  timestamp: number;
  /** Tokens of the request that were written to a cache. */
  cacheWritten?: number;
  /** Of these, the ones that it keeps for an hour. */
  cacheWrittenHour?: number;
}

/** What was reported of a model, and what that taught. */
export interface ModelUsage {
  model: string;
  totals: UsageTotals;
  /** Of a request. */
  promptMax?: number;
  /** Of a request. */
  completionMax?: number;
  /** Reported tokens by estimated ones. */
  factor: number;
  /** The same, on the safe side. */
  factorHigh: number;
  /** Requests. */
  learnedFrom: number;
}

/** What a request comes to. */
export interface UsageStatistics {
  promptMean: number;
  completionMean: number;
  promptMax: number;
  completionMax: number;
  /** Of all prompt tokens, 0 to 1. */
  cachedShare: number;
}

/** What providers reported. */
export interface Usage {
  totals: UsageTotals;
  statistics: UsageStatistics;
  models: ModelUsage[];
  /** Of which more will be reported. */
  open: RequestUsage[];
  /** The last hundred, the newest last. */
  recent: RequestUsage[];
}

/** A part of a request that changes from request to request. */
export interface VolatilePart {
  /** A cache marker on a block, or a block of the system prompt. */
  kind: 'marker' | 'text';
  /** Of the message, in the request's list. */
  index: number;
  /** Of the same message, in the log. */
  ordinal?: number;
  /** In the message. */
  block: number;
  /** Of a marker inside a tool result: the block in its content. */
  inner?: number;
  /** The marker, or the block. */
  json: Record<string, unknown>;
}

/** A request of a client that was recorded. */
export interface RequestRecord {
  /** From 1 on. */
  number: number;
  /** What the request saw. */
  version: number;
  /** The version that has the answer. */
  answerVersion?: number;
  /** When it came, in milliseconds since 1970. */
  timestamp: number;
  client?: string;
  dialect?: string;
  kind: ClientRequestKind;
  method?: string;
  path?: string;
  model?: string;
  /** Of the tools' bytes. */
  toolsDigest?: string;
  /** Of all other fields but the list. */
  parametersDigest?: string;
  /** In its list. */
  messages: number;
  responseId?: string;
  /** Of a sub-agent or a title: the session's conversation. */
  belongsTo?: string;
  /** Of HTTP; 0: no answer came. */
  status: number;
  /** The answer ended before its end. */
  torn: boolean;
  usage?: RequestUsage;
  firstByteMs?: number;
  durationMs?: number;
  requestBytes: number;
  answerBytes: number;
  /** The query request has its text. */
  hasRawRequest: boolean;
  hasRawAnswer: boolean;
  volatileParts: VolatilePart[];
  /** By which it is found again. */
  keys: string[];
}

/** A recorded request with its raw texts. */
export interface WholeRequest {
  /** From 1 on. */
  number: number;
  /** What the request saw. */
  version: number;
  /** The version that has the answer. */
  answerVersion?: number;
  /** When it came, in milliseconds since 1970. */
  timestamp: number;
  client?: string;
  dialect?: string;
  kind: ClientRequestKind;
  method?: string;
  path?: string;
  model?: string;
  /** Of the tools' bytes. */
  toolsDigest?: string;
  /** Of all other fields but the list. */
  parametersDigest?: string;
  /** In its list. */
  messages: number;
  responseId?: string;
  /** Of a sub-agent or a title: the session's conversation. */
  belongsTo?: string;
  /** Of HTTP; 0: no answer came. */
  status: number;
  /** The answer ended before its end. */
  torn: boolean;
  usage?: RequestUsage;
  firstByteMs?: number;
  durationMs?: number;
  requestBytes: number;
  answerBytes: number;
  /** The query request has its text. */
  hasRawRequest: boolean;
  hasRawAnswer: boolean;
  volatileParts: VolatilePart[];
  /** By which it is found again. */
  keys: string[];
  /** The raw request. */
  request?: string;
  /** The same, where it is no UTF-8. */
  requestBase64?: string;
  /** The raw answer. */
  answer?: string;
  /** The same, where it is no UTF-8. */
  answerBase64?: string;
}

/** Why tokens that an earlier request left in the cache were not read from it. */
export type MissCause = 'expired' | 'edited' | 'changed' | 'upstream';

/** What requests came to. Dollars are those of requests with a price. */
export interface LedgerTotals {
  turns: number;
  /** Turns with the upstream's figures; the others have expected ones. */
  reported: number;
  /** Turns of models without a price. */
  unpriced: number;
  /** Tokens of the whole input. */
  sent: number;
  /** Of it: read from the cache. */
  read: number;
  /** Of it: written to the cache. */
  written: number;
  /** Of these: to be kept for an hour. */
  writtenHour: number;
  /** Of it: left in the cache by an earlier request, and not read. */
  missed: number;
  output: number;
  /** Tokens of the largest request. */
  peak: number;
  dollars: number;
  /** Of these: by expected figures. */
  dollarsExpected: number;
  /** By which the expected ones may be off. */
  dollarsError: number;
  /** What reading the missed tokens would have saved. */
  dollarsMissed: number;
}

/** The totals of a day, in UTC, and a model. */
export interface LedgerRow {
  /** YYYY-MM-DD. */
  day: string;
  model: string;
  totals: LedgerTotals;
}

/** Where two requests stop being equal, as the provider's cache sees them. */
export interface CacheBreak {
  kind: 'unknown' | 'reference' | 'same' | 'extended' | 'shortened' | 'broken';
  /** Of the prefix, in the provider's order, compact and without markers. */
  equalBytes?: number;
  /** Of the whole request, written so. */
  bytes?: number;
  /** In the later request. */
  path?: string;
  /** What the earlier one had there. */
  was?: string;
  /** The first byte of the value that differs. */
  byteInValue?: number;
  /** The end of what both have. */
  same?: string;
  before?: string;
  after?: string;
}

/** A request beside an earlier one. */
export interface ComparedRequest {
  /** The earlier one; absent: there is none. */
  against?: number;
  at: CacheBreak;
}

/** A miss that should have been a hit. */
export interface LedgerFinding {
  /** Of the request. */
  number: number;
  /** The one that had left the prefix. */
  against: number;
  /** Tokens. */
  missed: number;
  dollars: number;
  cause: MissCause;
  /** The first byte that differs, where both texts are kept. */
  at?: CacheBreak;
}

/** What one request cost. */
export interface LedgerTurn {
  number: number;
  version: number;
  timestamp: number;
  model: string;
  kind: ClientRequestKind;
  /** By the upstream; else these are expected figures. */
  reported: boolean;
  sent: number;
  read: number;
  written: number;
  writtenHour?: number;
  missed: number;
  output: number;
  cause?: MissCause;
  /** What was counted, corrected by what earlier reports taught. */
  expectedSent: number;
  expectedRead: number;
  /** The part of it by which 19 of 20 are off at most. */
  expectedError: number;
  /** Absent: no price is known. */
  dollars?: number;
  dollarsMissed?: number;
}

/** What the recorded requests of a conversation cost. */
export interface Ledger {
  totals: LedgerTotals;
  /** By day and model, the oldest first. */
  days: LedgerRow[];
  /** The newest last. */
  findings: LedgerFinding[];
  /** The oldest first; not with `"turns":false`. */
  turns?: LedgerTurn[];
}

/** What recorded turns come to under a policy, by expected figures. */
export interface ReplayTotals {
  sent: number;
  read: number;
  written: number;
  output: number;
  dollars: number;
  /** Tokens of the largest request. */
  peak: number;
  /** Edits by the policy. */
  compactions: number;
  /** By the client, as recorded. */
  clientCompactions: number;
  /** Requests that the model would have refused. */
  overWindow: number;
}

/** Recorded turns under another policy. No model is called. */
export interface WhatIf {
  turns: number;
  unpriced: number;
  /** The same turns, none of them edited. */
  observe: ReplayTotals;
  policy: ReplayTotals;
  /** Of these turns, by the upstream's figures. */
  reportedDollars: number;
  /** The part by which a replay of the turns as they were sent is off from these. */
  error: number;
}

/** Of a conversation. */
export type Id = string;

/** The settings of a new conversation; summarisers and embeddings are for who runs the server. */
export interface NewSettings {
  /** The model that the conversation is for. Tokenizer, costs, profile and window follow from it where they are not set. */
  model?: string;
  /** `estimate`, `o200k_base`, `cl100k_base`, a model's name or a path. */
  tokenizer?: string;
  /** What counts beside text: a name of docs/tokens.md. */
  costs?: string;
  /** What the provider accepts. */
  profile?: ProfileName | (string & {});
  /** Of budgets that name none. */
  window?: number;
  /** An event is sent when the view grows beyond it. */
  tokenLimit?: number;
  /** Of operations that do not say. Default: "literal". */
  pairs?: Pairs;
  /** What the conversation belongs to, such as a folder. `undertext mcp` looks for it. */
  project?: string;
  /** The model has context_search and context_expand: summaries and stubs say how to use them. Default: false. */
  contextTools?: boolean;
  /** What is too_large. */
  limits?: SizeLimits;
  /** Automatic compression. */
  compressionConfig?: CompressionConfig;
}

export interface NewConversation {
  /** Of the new conversation. Default: one that is made up. */
  id?: Id;
  /** Kept with it. */
  settings?: NewSettings;
}

export interface NewFork {
  /** Of the new conversation. Default: one that is made up. */
  id?: Id;
  /** To go on from. Default: the head. */
  version?: number;
}

/** What such a tool answers the model. Changes nothing. */
export interface CallToolRequest {
  /** Which query. */
  query?: 'callTool';
  /** The tool, as the model called it. */
  name: string;
  /** What the model gave it: an object, or the JSON text of one. */
  arguments?: Record<string, unknown> | string;
}

/** What an edit would cost at a provider that caches prompts. */
export interface CostRequest {
  /** Which query. */
  query?: 'cost';
  /** The version that the provider saw. Default, with operations: the head. */
  from?: number;
  /** The version to be sent. Default: the head. */
  to?: number;
  /** Tried on the head, instead of `to`. */
  operations?: readonly AnyOperation[];
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** Tokens before the first message: tools and such. */
  overhead?: number;
  /** Who marks requests for the provider's prompt cache: the caller, or render. */
  cacheMarkers?: CacheMarkers;
}

/** What the tools of a request cost, which is in no message. */
export interface CountToolsRequest {
  /** Which query. */
  query?: 'countTools';
  /** The model to count for. Default: as the conversation counts. */
  model?: string;
  /** The tools of a request, as a provider takes them. */
  tools: readonly Json[];
}

/** Whether the view is within a budget, and what would make it so. Changes nothing. */
export interface FitRequest {
  /** Which query. */
  query?: 'fit';
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** What a request may hold. */
  budget?: Budget;
  /** By its name, or with arguments. */
  strategy?: StrategyChoice;
}

/** The messages of a provider's request or response, for APPEND. */
export interface ImportMessagesRequest {
  /** Which query. */
  query?: 'importMessages';
  /** A request, a response, a message or a list of messages. A response says itself which format it has. */
  json: Record<string, unknown> | readonly Json[];
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** Tools that were sent under another name: that name, and the caller's. */
  toolNames?: ToolNames;
  /** Only what is new in a request that repeats what was rendered. Default: false. */
  after?: boolean;
}

/** The request that a provider would be sent, with what was repaired or lost. */
export interface RenderRequest {
  /** Which query. */
  query?: 'render';
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** What the provider saw last, for bound thinking. */
  sentVersion?: number;
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** The other fields of the request. */
  request?: Record<string, unknown>;
  /** false: the view as it stands. Default: true. */
  repair?: boolean;
  /** Who marks requests for the provider's prompt cache: the caller, or render. */
  cacheMarkers?: CacheMarkers;
  /** What becomes of thinking that an edit has made void. */
  boundThinking?: 'strip' | 'refuse' | 'drop_block';
}

/** What a provider would refuse in the view as it stands. */
export interface ValidateRequest {
  /** Which query. */
  query?: 'validate';
  /** As of this version. Default: the head. */
  atVersion?: number;
  /** What the provider saw last, for bound thinking. */
  sentVersion?: number;
  /** The message format. Default: that of the settings, or of their model. */
  dialect?: Dialect;
  /** What a provider accepts, by name or as an object. */
  profile?: ProfileName | (string & {}) | Record<string, unknown>;
  /** The other fields of the request. */
  request?: Record<string, unknown>;
}

/** What the recorded requests would have cost under another policy of the gateway. No model is called. */
export interface WhatIfRequest {
  /** Which query. */
  query?: 'whatIf';
  /** A policy of the gateway, or the name of its mode. */
  policy: Record<string, unknown> | string;
  /** Whose prices and window count. Default: those of each request's own. */
  model?: string;
}

/** A strategy chooses what to hide. */
export interface CompressionRequest {
  /** Which operation. */
  operation?: 'COMPRESS';
  /** What a request may hold. */
  budget?: Budget;
  /** What the view is to come down to. */
  targetTokens?: number;
  /** Applies what can be freed where the target is out of reach; else that is `cannot_fit`. Default: false. */
  progress?: boolean;
  /** What a compression must keep; else it is refused. */
  survival?: SurvivalPolicy;
  /** By its name, or with arguments. Default: the setting `compressionConfig.strategy`. */
  strategy?: StrategyChoice;
  /** `conflict` where the head is another version. */
  expectedVersion?: number;
  /** Kept with the version; at most 16 KiB. */
  description?: string;
  /** An operation that repeats it is answered as the first time, and changes nothing. */
  operationId?: string;
}

/** An operation, or a list of which all or none happens. */
export type OperationRequest = AnyOperation | AnyOperation[];

/** A version of a conversation. */
export interface Reference {
  id: string;
  version: number;
}

/** Tokens of all requests of a session, as its provider reported them. */
export interface ReportedTokens {
  /** Without what was read from a cache. */
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** What the program says of a session, before it is opened. */
export interface ConversationAbout {
  /** The program. */
  client: string;
  title: string;
  /** Its folder. */
  project: string;
  /** That answered last. */
  model: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Milliseconds since 1970. */
  updatedAt: number;
  tokens: ReportedTokens;
  /** US dollars. */
  cost: number;
}

/** A conversation as lists have it. */
export interface ListedConversation {
  id: string;
  /** The head. */
  version: number;
  /** In the log. */
  totalMessages: number;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Milliseconds since 1970. */
  updatedAt: number;
  /** The oldest that is kept, where some were pruned. */
  firstVersion?: number;
  /** What it was forked from. */
  origin?: Reference;
  /** Of undertext open. */
  about?: ConversationAbout;
}

export interface ConversationList {
  conversations: ListedConversation[];
  /** What to give as after; absent at the end. */
  next?: string;
}

/** What ranks by embeddings. */
export interface ShownEmbeddings {
  /** The model that is asked. */
  model?: string;
}

/** The settings of a conversation, as `--config` takes them. */
export interface ShownSettings {
  /** The model that the conversation is for. Tokenizer, costs, profile and window follow from it where they are not set. */
  model?: string;
  /** `estimate`, `o200k_base`, `cl100k_base`, a model's name or a path. */
  tokenizer?: string;
  /** What counts beside text: a name of docs/tokens.md. */
  costs?: string;
  /** What the provider accepts. */
  profile?: ProfileName | (string & {});
  /** Of budgets that name none. */
  window?: number;
  /** An event is sent when the view grows beyond it. */
  tokenLimit?: number;
  /** Of operations that do not say. Default: "literal". */
  pairs?: Pairs;
  /** What the conversation belongs to, such as a folder. `undertext mcp` looks for it. */
  project?: string;
  /** The model has context_search and context_expand: summaries and stubs say how to use them. Default: false. */
  contextTools?: boolean;
  /** What is too_large. */
  limits?: SizeLimits;
  /** Their names. */
  summarisers?: readonly string[];
  /** An OpenAI-compatible endpoint whose embeddings rank what a recall finds. */
  embeddings?: ShownEmbeddings;
  /** Automatic compression. */
  compressionConfig?: CompressionConfig;
}

/** What is known of a conversation as a whole. */
export interface Conversation {
  id: string;
  /** The head. */
  version: number;
  /** In the log. */
  totalMessages: number;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Milliseconds since 1970. */
  updatedAt: number;
  /** The oldest that is kept, where some were pruned. */
  firstVersion?: number;
  /** What it was forked from. */
  origin?: Reference;
  /** Of undertext open. */
  about?: ConversationAbout;
  stats: Stats;
  tokenizer: string;
  /** Every part of the count is. */
  exact: boolean;
  model: Model;
  settings: ShownSettings;
  /** The first hundred. */
  forks: Reference[];
}

export interface Purged {
  /** The id. */
  purged: string;
}

export interface ImportedConversation {
  id: string;
  versions: number;
  messages: number;
}

export interface ConversationListAnswer {
  ok: true;
  result: ConversationList;
}

export interface StoreLedgerAnswer {
  ok: true;
  result: LedgerRow[];
}

export interface ConversationAnswer {
  ok: true;
  result: Conversation;
}

export interface NewConversationAnswer {
  ok: true;
  result: Reference;
}

export interface PurgedAnswer {
  ok: true;
  result: Purged;
}

export interface ImportedAnswer {
  ok: true;
  result: ImportedConversation;
}

/** A message that was found in some conversation. */
export interface StoreFound {
  /** Its id. */
  conversation: string;
  /** In the log. */
  ordinal: number;
  /** Comparable within one answer only. */
  score: number;
  message: Message;
}

/** A conversation that was not opened yet, and that has the words. */
export interface UnreadFound {
  /** Its id. */
  conversation: string;
  /** Around one of the words. */
  excerpt: string;
}

/** What a search over all conversations found. */
export interface StoreRecalled {
  /** Best first. */
  found: StoreFound[];
  /** Of undertext open: sessions that were not read yet, the newest first. */
  unread?: UnreadFound[];
  /** That were searched. */
  conversations: number;
  /** Conversations for which the index had no room: those changed least recently. */
  leftOut?: number;
}

export interface StoreRecalledAnswer {
  ok: true;
  result: StoreRecalled;
}

/** A message with what is known of it. */
export interface Row {
  /** Of a preview. */
  change?: 'removed' | 'added';
  /** In the view; null: hidden. */
  index: number | null;
  /** In the log. */
  ordinal: number;
  /** Milliseconds since 1970. */
  time: number;
  tokens: number;
  marks: string[];
  /** Ordinals; the first thousand. */
  standsFor: number[];
  /** Where there are more. */
  standsForCount?: number;
  role: Role;
  blocks: Block[];
  message: Message;
}

export interface Rows {
  version: number;
  /** Messages of the view. */
  count: number;
  rows: Row[];
  /** Where to go on, when there was more than an answer holds. */
  next?: number;
}

/** A version as a chart needs it. */
export interface TimelinePoint {
  version: number;
  /** The head before; null for version 0. */
  parent: number | null;
  /** That made it; null for version 0. */
  operation: OperationName | null;
  batchIndex: number;
  /** Milliseconds since 1970. */
  timestamp: number;
  description: string | null;
  /** Of the view. */
  messageCount: number;
  /** Of the view. */
  tokens: number;
  /** Of UNDO, REDO and RESTORE: whose state came back. */
  restores?: number;
  /** Of a COMPRESS by a strategy that had a target. */
  targetReached?: boolean;
  /** Tokens. */
  byRole: RoleCounts;
  messagesByRole: RoleCounts;
}

/** A view in numbers. */
export interface Sums {
  version: number;
  messages: number;
  tokens: number;
  bytes: number;
  /** Tokens. */
  byRole: RoleCounts;
  messagesByRole: RoleCounts;
}

/** What operations would do. */
export interface Preview {
  ok: true;
  results: Outcome[];
  before: Sums;
  after: Sums;
  diff: Diff;
  /** The first messages of the difference. */
  rows: Row[];
}

/** Versions, the newest first. */
export interface HistoryPageAnswer {
  ok: true;
  result: VersionEntry[];
  /** What to give as before; absent at the end. */
  next?: number;
}

/** To an operation, or to a list. */
export type OperationAnswer = Outcome | Outcomes;

export interface RowsAnswer {
  ok: true;
  result: Rows;
}

export interface TimelineAnswer {
  ok: true;
  result: TimelinePoint[];
}

/** How far a compression is. */
export interface CompressionProgress {
  stage: 'planning' | 'summarising' | 'applying';
  /** That are being summarised. */
  messages?: number;
  /** Of the summary so far, where the model streams it. */
  summaryBytes?: number;
}

/** A compression in the background. */
export interface Compression {
  job: string;
  /** It lives in the process that was asked, and nowhere else. */
  scope: 'process';
  state: 'running' | 'done' | 'failed' | 'cancelled';
  /** As it was given, or the name of the default. */
  strategy: StrategyChoice;
  /** Milliseconds since 1970. */
  startedAt: number;
  endedAt?: number;
  /** The head when it began. */
  version: number;
  /** Of the view then. */
  messages: number;
  tokens: number;
  /** While it runs. */
  progress?: CompressionProgress;
  answer?: Outcome;
  error?: ErrorBody;
}

export interface CompressionAnswer {
  ok: true;
  result: Compression;
}

export interface UsageAnswer {
  ok: true;
  result: Usage;
}

export interface NumberAnswer {
  ok: true;
  result: number;
}

export interface NamedProfile {
  name: ProfileName;
  dialect: Dialect;
}

/** What can be rendered for. */
export interface Dialects {
  dialects: Dialect[];
  profiles: NamedProfile[];
}

export interface DialectsAnswer {
  ok: true;
  result: Dialects;
}

export interface HealthAnswer {
  ok: true;
  result: 'healthy';
}

export interface ReadyAnswer {
  ok: true;
  result: 'ready';
}

/** A server that is to be stopped. */
export interface Draining {
  draining: boolean;
  /** Under way, but for this one. */
  requests: number;
  /** Open, of events and exports. */
  streams: number;
}

export interface DrainingAnswer {
  ok: true;
  result: Draining;
}

/** The answer to a query. */
export type QueryAnswer =
  | MessagesAnswer
  | CountAnswer
  | BlocksAnswer
  | MarkMapAnswer
  | StateAnswer
  | StatsAnswer
  | VersionAnswer
  | BatchesAnswer
  | BatchSnapshotAnswer
  | HistoryAnswer
  | DiffAnswer
  | BlameAnswer
  | TokensAnswer
  | FitAnswer
  | ReceiptsAnswer
  | RenderAnswer
  | ValidateAnswer
  | CostAnswer
  | ModelAnswer
  | CountToolsAnswer
  | ImportMessagesAnswer
  | ToolsAnswer
  | CallToolAnswer
  | RequestsAnswer
  | RequestAnswer
  | CacheBreakAnswer
  | LedgerAnswer
  | WhatIfAnswer
  | RecallAnswer;

export const roles: readonly Role[] = ['system', 'user', 'assistant', 'tool'];
export const strategyNames: readonly StrategyName[] = ['default', 'none', 'keep_recent', 'keep_system_and_recent', 'sliding_window', 'supersede', 'dedupe', 'clear_tool_results', 'smart_summary', 'prefer_cache', 'pipeline'];

// An operation, and what a form asks for.
export interface OperationMember {
  name: string;
  type: string; // such as integer, string[], Message[]
  text: string;
  required?: true;
  words?: readonly string[]; // that it, or each of its elements, is one of
}
export interface OperationShape {
  name: OperationName;
  text: string;
  members: readonly OperationMember[];
  choices: readonly (readonly string[])[]; // members of which exactly one is given
}
export const operations: readonly OperationShape[] = [
  {
    name: 'APPEND',
    text: "Adds messages to the end of the view.",
    members: [
      { name: "messages", type: "Message[]", text: "At least one.", required: true },
    ],
    choices: [],
  },
  {
    name: 'INSERT',
    text: "Puts messages before a position of the view.",
    members: [
      { name: "position", type: "integer", text: "The index to insert before; the length appends.", required: true },
      { name: "messages", type: "Message[]", text: "At least one.", required: true },
    ],
    choices: [],
  },
  {
    name: 'REPLACE',
    text: "A new message takes the place of another, which stays in the log.",
    members: [
      { name: "index", type: "integer", text: "Its position in the view.", required: true },
      { name: "message", type: "Message", text: "What takes the place.", required: true },
    ],
    choices: [],
  },
  {
    name: 'TRUNCATE',
    text: "Keeps the beginning, the end or a stretch of the view.",
    members: [
      { name: "keepFirst", type: "integer", text: "Keeps the first so many." },
      { name: "keepLast", type: "integer", text: "Keeps the last so many." },
      { name: "removeFirst", type: "integer", text: "Hides the first so many." },
      { name: "removeLast", type: "integer", text: "Hides the last so many." },
      { name: "range", type: "Range", text: "Keeps these." },
      { name: "role", type: "Role", text: "First drops all other roles.", words: ["system", "user", "assistant", "tool"] },
      { name: "pairs", type: "Pairs", text: "What becomes of the rest of a tool pair. Default: the setting.", words: ["literal", "shrink", "grow"] },
    ],
    choices: [],
  },
  {
    name: 'CLEAR',
    text: "Empties the view, but for system messages.",
    members: [
      { name: "keepSystemMessage", type: "boolean", text: "Keeps all system messages. Default: true." },
    ],
    choices: [],
  },
  {
    name: 'FILTER',
    text: "Keeps messages of some roles, or with or without some texts.",
    members: [
      { name: "roles", type: "Role[]", text: "Keeps these roles.", words: ["system", "user", "assistant", "tool"] },
      { name: "contentContains", type: "string[]", text: "Keeps what contains any of these texts." },
      { name: "contentExcludes", type: "string[]", text: "Keeps what contains none of these texts." },
      { name: "pairs", type: "Pairs", text: "What becomes of the rest of a tool pair. Default: the setting.", words: ["literal", "shrink", "grow"] },
    ],
    choices: [],
  },
  {
    name: 'DELETE',
    text: "Hides exactly these messages.",
    members: [
      { name: "indices", type: "integer[]", text: "Positions in the view." },
      { name: "ordinals", type: "integer[]", text: "Places in the log." },
      { name: "pairs", type: "Pairs", text: "What becomes of the rest of a tool pair. Default: the setting.", words: ["literal", "shrink", "grow"] },
    ],
    choices: [["indices", "ordinals"]],
  },
  {
    name: 'COMPRESS',
    text: "Hides messages, or what a strategy chooses; the summary stands for them.",
    members: [
      { name: "indices", type: "integer[]", text: "Positions in the view." },
      { name: "ordinals", type: "integer[]", text: "Places in the log." },
      { name: "summary", type: "Message", text: "Takes the place of the first. Default: nothing does." },
      { name: "budget", type: "Budget", text: "What a request may hold." },
      { name: "targetTokens", type: "integer", text: "What the view is to come down to." },
      { name: "progress", type: "boolean", text: "Applies what can be freed where the target is out of reach; else that is `cannot_fit`. Default: false." },
      { name: "survival", type: "SurvivalPolicy", text: "What a compression must keep; else it is refused." },
      { name: "strategy", type: "StrategyChoice", text: "By its name, or with arguments. Default: the setting `compressionConfig.strategy`." },
    ],
    choices: [["indices", "ordinals", "strategy"]],
  },
  {
    name: 'EXPAND',
    text: "A message goes, and those it stands for return.",
    members: [
      { name: "index", type: "integer", text: "Of a message that stands for others.", required: true },
    ],
    choices: [],
  },
  {
    name: 'SHOW',
    text: "Hidden messages return to their places.",
    members: [
      { name: "ordinals", type: "integer[]", text: "Of hidden messages.", required: true },
    ],
    choices: [],
  },
  {
    name: 'MERGE',
    text: "Joins messages into one.",
    members: [
      { name: "indices", type: "integer[]", text: "Of the messages to join.", required: true },
      { name: "separator", type: "string", text: "What stands between their texts. Default: a newline." },
    ],
    choices: [],
  },
  {
    name: 'SPLIT',
    text: "Splits a message into several.",
    members: [
      { name: "index", type: "integer", text: "Of the message to split.", required: true },
      { name: "at", type: "integer[]", text: "Where: code points of a text, or places in a list of parts; rising.", required: true },
    ],
    choices: [],
  },
  {
    name: 'TRANSFORM',
    text: "Changes texts or metadata of messages.",
    members: [
      { name: "indices", type: "integer[]", text: "Positions in the view." },
      { name: "ordinals", type: "integer[]", text: "Places in the log." },
      { name: "roles", type: "Role[]", text: "All messages of these roles.", words: ["system", "user", "assistant", "tool"] },
      { name: "replaceText", type: "ReplaceText", text: "Replaces a text wherever it stands." },
      { name: "truncateText", type: "TruncateText", text: "Shortens each text." },
      { name: "setMetadata", type: "JsonObject", text: "Sets these members of `metadata`." },
    ],
    choices: [["indices", "ordinals", "roles"], ["replaceText", "truncateText", "setMetadata"]],
  },
  {
    name: 'START_BATCH',
    text: "Opens a batch: a point to return to.",
    members: [
      { name: "boundary", type: "integer", text: "Where the batch begins in the log. Default: its length." },
      { name: "hidePrior", type: "boolean", text: "Hides what is there, but for pinned messages. Default: false." },
    ],
    choices: [],
  },
  {
    name: 'END_BATCH',
    text: "Returns to a batch, and may carry messages along.",
    members: [
      { name: "targetBatch", type: "integer", text: "The batch to return to.", required: true },
      { name: "carry", type: "Role[]", text: "Messages added since with these roles are appended again.", words: ["system", "user", "assistant", "tool"] },
    ],
    choices: [],
  },
  {
    name: 'ROLLBACK',
    text: "The view becomes what it last was in a batch.",
    members: [
      { name: "targetBatchIndex", type: "integer", text: "The batch to return to.", required: true },
    ],
    choices: [],
  },
  {
    name: 'MARK',
    text: "Labels messages.",
    members: [
      { name: "indices", type: "integer[]", text: "Positions in the view." },
      { name: "ordinals", type: "integer[]", text: "Places in the log." },
      { name: "mark", type: "string", text: "The label; `pinned` protects from trimming and compression.", required: true },
    ],
    choices: [["indices", "ordinals"]],
  },
  {
    name: 'UNMARK',
    text: "Takes a label off messages.",
    members: [
      { name: "indices", type: "integer[]", text: "Positions in the view." },
      { name: "ordinals", type: "integer[]", text: "Places in the log." },
      { name: "mark", type: "string", text: "The label; `pinned` protects from trimming and compression.", required: true },
    ],
    choices: [["indices", "ordinals"]],
  },
  {
    name: 'UNDO',
    text: "Takes back the last operation that is not undone.",
    members: [
    ],
    choices: [],
  },
  {
    name: 'REDO',
    text: "Carries out again what was undone last.",
    members: [
    ],
    choices: [],
  },
  {
    name: 'RESTORE',
    text: "The state of a version returns, as a new version.",
    members: [
      { name: "version", type: "integer", text: "Whose state returns.", required: true },
    ],
    choices: [],
  },
  {
    name: 'IMPORT_MARK_MAP',
    text: "The view and the batches become those of a mark map.",
    members: [
      { name: "markMap", type: "GivenMarkMap", text: "As the query markMap returns it.", required: true },
    ],
    choices: [],
  },
  {
    name: 'RECONCILE',
    text: "The conversation follows a client that keeps its own list and sends all of it.",
    members: [
      { name: "client", type: "ClientName", text: "Whose request it is. Default: generic.", words: ["claude_code", "codex", "gemini_cli", "opencode", "openai_chat", "openai_responses", "anthropic", "gemini", "generic", "framework"] },
      { name: "dialect", type: "Dialect", text: "The format of the request. Default: that of the client, or the engine's own.", words: ["openai_chat", "openai_responses", "anthropic", "gemini"] },
      { name: "request", type: "JsonObject", text: "A whole request." },
      { name: "messages", type: "JsonObject[]", text: "Its list of messages alone." },
    ],
    choices: [["request", "messages"]],
  },
  {
    name: 'RECALL',
    text: "Appends a message that quotes what a search for a text finds.",
    members: [
      { name: "text", type: "string", text: "What to look for.", required: true },
      { name: "budgetTokens", type: "integer", text: "Tokens of all that is found together. Default: 4000." },
      { name: "all", type: "boolean", text: "The log, hidden messages too, instead of the view. Default: false." },
      { name: "atVersion", type: "integer", text: "As of this version. Default: the head." },
      { name: "atBatch", type: "integer", text: "As that batch was last seen." },
      { name: "role", type: "Role", text: "Only messages of this role.", words: ["system", "user", "assistant", "tool"] },
      { name: "roles", type: "Role[]", text: "Only messages of any of these roles.", words: ["system", "user", "assistant", "tool"] },
      { name: "from", type: "integer", text: "Only messages at or after this time, in milliseconds since 1970." },
      { name: "to", type: "integer", text: "Only messages before this time." },
      { name: "marked", type: "string", text: "Only messages with this mark." },
      { name: "contains", type: "string", text: "Only messages whose text contains this." },
      { name: "start", type: "integer", text: "From this place on, among those left so far." },
      { name: "end", type: "integer", text: "Up to this place." },
      { name: "first", type: "integer", text: "The first so many of what is left." },
      { name: "last", type: "integer", text: "The last so many; not together with first." },
    ],
    choices: [],
  },
  {
    name: 'MERGE_FORK',
    text: "Appends what a fork of this conversation achieved.",
    members: [
      { name: "from", type: "string", text: "The id of a fork of this conversation.", required: true },
      { name: "mode", type: "string", text: "What to take: a summary, the fork's own messages, or some of them. Default: \"summary\".", words: ["summary", "messages", "pick"] },
      { name: "ordinals", type: "integer[]", text: "Of messages in the fork's log; with `pick`." },
      { name: "summary", type: "Message", text: "With `summary`. Default: the fork's last answer, quoted." },
    ],
    choices: [],
  },
];
