// What the server answers, as docs/server.md has it.

export type Role = 'system' | 'user' | 'assistant' | 'tool';
export const roles: readonly Role[] = ['system', 'user', 'assistant', 'tool'];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

// One thing that a message says; docs/operations.md has the members.
export type Block = TextBlock | ReasoningBlock | CallBlock | ResultBlock | MediaBlock | OpaqueBlock;

export interface TextBlock {
  kind: 'text';
  type?: string;
  text: string;
}

export interface ReasoningBlock {
  kind: 'reasoning';
  type?: string;
  text?: string; // none: only the provider can read it
}

export interface CallBlock {
  kind: 'call';
  type?: string;
  callId?: string;
  name?: string;
  arguments: Json;
  byProvider?: true;
}

export interface ResultBlock {
  kind: 'result';
  type?: string;
  callId?: string;
  name?: string;
  isError?: true;
  byProvider?: true;
  blocks: Block[];
}

export interface MediaBlock {
  kind: 'media';
  media: 'image' | 'audio' | 'video' | 'file';
  source: 'base64' | 'url' | 'file_id' | 'text';
  data: string;
  mime?: string;
  detail?: string;
  filename?: string;
}

export interface OpaqueBlock {
  kind: 'opaque';
  type?: string;
  json: Json;
}

export interface Row {
  index: number | null; // null: hidden in that version
  ordinal: number;
  time: number;
  tokens: number;
  marks: string[];
  standsFor: number[];
  standsForCount?: number; // where that is more than are listed
  role: Role;
  blocks: Block[];
  message: JsonObject; // as it is stored; only shown and edited as JSON
}

export interface Rows {
  version: number;
  count: number; // messages of the view
  rows: Row[];
  next?: number; // where to go on, when there was more than one answer holds
}

export interface Stats {
  totalMessages: number;
  currentBatchMessages: number;
  totalBatches: number;
  currentBatchIndex: number;
  tokens: number;
}

export interface Conversation {
  id: string;
  version: number;
  stats: Stats;
  tokenizer: string;
  settings: { tokenLimit?: number; [field: string]: Json | undefined };
  origin?: { id: string; version: number };
  forks: { id: string; version: number }[];
}

export interface ListedConversation {
  id: string;
  version?: number;
  updatedAt?: number;
}

export interface VersionEntry {
  version: number;
  parent: number | null;
  operation: string | null;
  batchIndex: number;
  timestamp: number;
  description: string | null;
  messageCount: number;
  tokens: number;
  restores?: number;
}

export interface TimelinePoint {
  version: number;
  operation: string | null;
  batchIndex: number;
  timestamp: number;
  messageCount: number;
  tokens: number;
  byRole: Record<Role, number>;
}

export interface Diff {
  removed: number[];
  added: number[];
  moved: number[];
}

export interface Warning {
  code: string;
  ordinal: number;
  toolCallId?: string; // not of reasoning_without_call
}

export interface Outcome {
  operation: string;
  version: number;
  affectedBatchIndex: number;
  stats: Stats;
  outcome?: string;
  receipt?: Receipt;
  warnings?: Warning[];
}

export interface Sums {
  version: number;
  messages: number;
  tokens: number;
  byRole: Record<Role, number>;
  messagesByRole: Record<Role, number>;
}

export interface Preview {
  results: Outcome[];
  before: Sums;
  after: Sums;
  diff: Diff;
  rows: (Row & { change: 'added' | 'removed' })[]; // the first ones of both
}

export interface Receipt {
  version: number;
  timestamp: number;
  strategy?: string;
  summariser?: string;
  model?: string;
  reason?: string;
  tokensBefore: number;
  tokensAfter: number;
  ordinals: number[];
  summaries: { ordinal: number; standsFor: number[] }[];
}

export interface Batch {
  index: number;
  boundary: number;
  openedBy: string | null;
  openedAt: number;
  messageCount: number;
  description?: string;
}

export interface BlameEntry {
  version: number;
  operation: string;
  timestamp: number;
  description?: string;
}

export interface Blame {
  stored: BlameEntry;
  hidden: BlameEntry[];
  shown: BlameEntry[];
}

export interface TokenSums {
  total: number;
  byRole: Record<Role, number>;
  tokenizer: string;
  exact: boolean;
  messages?: { ordinal: number; tokens: number }[];
}

export interface Finding {
  code: string;
  path?: string;
  index?: number;
  ordinal?: number;
  about?: string;
  error?: string;
  repair?: string;
  severity?: string;
  note?: string;
}

export interface Rendering {
  request: Json;
  findings: Finding[];
  losses: Finding[];
  advice?: string[];
  /** Tools that are sent under another name: the name as sent, and the conversation's. */
  toolNames?: Record<string, string>;
}

export interface Dialects {
  dialects: string[];
  profiles: { name: string; dialect: string }[];
}

export interface ErrorBody {
  code: string;
  field?: string;
  message: string;
  operationIndex?: number;
  minimum?: number;
}
