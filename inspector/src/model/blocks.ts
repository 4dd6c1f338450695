// A message as blocks to read: what providers spell in many ways, in one form. Whatever is not known is kept as JSON.

import { isObject } from '../api/json';
import { roles, type Json, type JsonObject, type Message } from '../api/types';

export type ImageSource = { kind: 'data'; url: string } | { kind: 'link'; url: string } | { kind: 'unknown'; note: string };

export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string }
  | { kind: 'image'; source: ImageSource }
  | { kind: 'call'; id: string; name: string; arguments: string }
  | { kind: 'result'; callId: string; isError: boolean; blocks: Block[] }
  | { kind: 'other'; type: string; value: Json };

export function blocksOf(message: Message): Block[] {
  const blocks: Block[] = [];
  const reasoning = message.reasoning_content ?? message.reasoning;
  if (typeof reasoning === 'string' && reasoning) blocks.push({ kind: 'thinking', text: reasoning });
  const content = contentBlocks(message.content ?? null);
  const callId = toolCallIdOf(message);
  if (callId !== null) blocks.push({ kind: 'result', callId, isError: message.isError === true || message.is_error === true, blocks: content });
  else blocks.push(...content);
  for (const call of callsField(message)) blocks.push(callBlock(call));
  return blocks;
}

// Which of the four roles a message counts as; `other` for what is none.
export function roleClass({ role }: Message): string {
  return role === 'developer' ? 'system' : (roles as readonly string[]).includes(role) ? role : 'other';
}

// The id of the call that a message of role `tool` answers.
function toolCallIdOf(message: Message): string | null {
  const id = message.toolCallId ?? message.tool_call_id;
  return message.role === 'tool' && typeof id === 'string' ? id : null;
}

function callsField(message: Message): JsonObject[] {
  const calls = message.toolCalls ?? message.tool_calls;
  return Array.isArray(calls) ? calls.filter(isObject) : [];
}

function contentBlocks(content: Json): Block[] {
  if (typeof content === 'string') return content ? [{ kind: 'text', text: content }] : [];
  if (!Array.isArray(content)) return content === null ? [] : [{ kind: 'other', type: typeof content, value: content }];
  return content.map(partBlock);
}

function partBlock(part: Json): Block {
  if (!isObject(part)) return { kind: 'other', type: typeof part, value: part };
  const type = asText(part.type);
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'refusal':
      if (typeof (part.text ?? part.refusal) === 'string') return { kind: 'text', text: asText(part.text ?? part.refusal) };
      break;
    case 'thinking':
      return { kind: 'thinking', text: asText(part.thinking ?? part.text) };
    case 'image':
    case 'image_url':
    case 'input_image':
      return { kind: 'image', source: imageSource(part) };
    case 'tool_use':
      return callBlock(part);
    case 'tool_result':
      return { kind: 'result', callId: asText(part.tool_use_id), isError: part.is_error === true, blocks: contentBlocks(part.content ?? null) };
  }
  return { kind: 'other', type: type || 'part', value: part };
}

function callBlock(call: JsonObject): Block {
  const inner = isObject(call.function) ? call.function : call;
  const given = inner.arguments ?? inner.input ?? inner.args;
  const text = given === undefined ? '' : typeof given === 'string' ? given : JSON.stringify(given);
  return { kind: 'call', id: asText(call.id), name: asText(inner.name) || 'tool', arguments: text };
}

// Pictures come from the message itself or not at all: nothing is ever fetched from elsewhere because of what a message says.
function imageSource(part: JsonObject): ImageSource {
  const given = part.image_url ?? part.source ?? part.url ?? null;
  const source = isObject(given) ? given : null;
  const url = typeof given === 'string' ? given : asText(source?.url ?? part.url);
  if (source?.type === 'base64' && typeof source.data === 'string') return dataImage(`data:${asText(source.media_type)};base64,${source.data}`);
  if (url.startsWith('data:')) return dataImage(url);
  const link = webLink(url);
  return link ? { kind: 'link', url: link } : { kind: 'unknown', note: url.slice(0, 200) };
}

function dataImage(url: string): ImageSource {
  const isPicture = /^data:image\/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]+$/.test(url);
  return isPicture ? { kind: 'data', url } : { kind: 'unknown', note: url.slice(0, 60) };
}

// The address when it is one of the web, else null.
export function webLink(text: string): string | null {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? text : null;
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

// One line that stands for the message where there is room for no more.
export function gist(message: Message, length = 160): string {
  const words: string[] = [];
  for (const block of blocksOf(message)) words.push(gistOf(block));
  const line = words.join(' ').replace(/\s+/g, ' ').trim();
  return line.length > length ? line.slice(0, length - 1) + '…' : line;
}

function gistOf(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text.slice(0, 1000);
    case 'thinking':
      return '(thinking)';
    case 'image':
      return '[image]';
    case 'call':
      return `${block.name}(${block.arguments.slice(0, 200)})`;
    case 'result':
      return block.blocks.map(gistOf).join(' ');
    case 'other':
      return `[${block.type}]`;
  }
}

// All that is written in blocks, to look for words in.
export function textIn(blocks: Block[]): string {
  const written = (block: Block): string => {
    switch (block.kind) {
      case 'text':
      case 'thinking':
        return block.text;
      case 'call':
        return block.arguments;
      case 'result':
        return textIn(block.blocks);
      default:
        return '';
    }
  };
  return blocks.map(written).join('\n');
}
