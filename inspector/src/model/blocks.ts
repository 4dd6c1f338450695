// Blocks as they are shown: a line that stands for them, the words in them, and which media may be shown.

import { pretty } from '../api/json'
import type { Block, CallBlock, MediaBlock } from '../api/types'

export type MediaSource =
  | { kind: 'picture'; url: string }
  | { kind: 'link'; url: string }
  | { kind: 'text'; text: string }
  | { kind: 'unshown'; note: string }

// Pictures come from the message itself or not at all: nothing is ever fetched from elsewhere because of what a message says.
export function mediaSource({ media, source, data, mime }: MediaBlock): MediaSource {
  if (source === 'text') return { kind: 'text', text: data }
  const url = source === 'base64' ? `data:${mime ?? ''};base64,${data}` : data
  if (source !== 'file_id' && media === 'image' && isPicture(url)) return { kind: 'picture', url }
  if (source === 'base64')
    return { kind: 'unshown', note: `${Math.floor((data.length * 3) / 4)} bytes` }
  const link = source === 'url' ? webLink(url) : null
  return link ? { kind: 'link', url: link } : { kind: 'unshown', note: data.slice(0, 200) }
}

export function isPicture(url: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/.test(url)
}

// The address when it is one of the web, else null.
export function webLink(text: string): string | null {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null
  const { protocol } = new URL(text)
  return protocol === 'http:' || protocol === 'https:' ? text : null
}

export function toolName(call: CallBlock): string {
  return call.name ?? call.type ?? 'tool'
}

export function argumentsText(call: CallBlock): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
}

// One line that stands for the blocks where there is room for no more.
export function gist(blocks: Block[], length = 160): string {
  const line = blocks.map(gistOf).join(' ').replace(/\s+/g, ' ').trim()
  return line.length > length ? line.slice(0, length - 1) + '…' : line
}

function gistOf(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text.slice(0, 1000)
    case 'reasoning':
      return '(reasoning)'
    case 'media':
      return `[${block.filename ?? block.media}]`
    case 'call':
      return `${toolName(block)}(${argumentsText(block).slice(0, 200)})`
    case 'result':
      return block.blocks.map(gistOf).join(' ')
    case 'opaque':
      return block.type ? `[${block.type}]` : JSON.stringify(block.json).slice(0, 1000)
  }
}

// All that is written in blocks, to look for words in.
export function textIn(blocks: Block[]): string {
  return blocks.map(textOf).join('\n')
}

function textOf(block: Block): string {
  switch (block.kind) {
    case 'text':
    case 'reasoning':
      return block.text ?? ''
    case 'media':
      return block.source === 'text' ? block.data : ''
    case 'call':
      return [argumentsText(block), ...(block.blocks ?? []).map(textOf)].join('\n')
    case 'result':
      return textIn(block.blocks)
    case 'opaque':
      return pretty(block.json)
  }
}
