// Whatever the engine does to a conversation, each framework reads the calls and results that are then there, in their order.
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import type { AgentInputItem } from '@openai/agents-core'
import type { ModelMessage } from 'ai'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  openStore,
  UndertextError,
  type Conversation,
  type MessageBlocks,
  type Store,
} from 'undertext'
import { ModelMessageStore } from 'undertext/ai'
import { UndertextChatMessageHistory } from 'undertext/langchain'
import { UndertextSession } from 'undertext/openai-agents'
import { runs, type Item } from './values.js'

type Edit = (conversation: Conversation, at: number) => Promise<unknown>

const edits: Record<string, Edit> = {
  merge: (conversation, at) => conversation.merge([at, at + 1]),
  split: (conversation, at) => conversation.split(at, [1]),
  truncate: (conversation, at) =>
    conversation.transform({ indices: [at], truncateText: { maxChars: 3 } }),
  replaceText: (conversation, at) =>
    conversation.transform({ indices: [at], replaceText: { find: 'e', with: '' } }),
  delete: (conversation, at) => conversation.delete({ indices: [at] }),
  redact: async (conversation, at) =>
    conversation.redact((await conversation.find()).ordinals.slice(at, at + 1), 'me'),
  summary: (conversation, at) =>
    conversation.compress({ indices: [at], summary: { role: 'user', content: 'in short' } }),
  clear: conversation =>
    conversation.compress({ strategy: { name: 'clear_tool_results', keep: 0 } }),
  append: (conversation, at) =>
    conversation.append({
      role: 'assistant',
      content: [
        { type: 'text', text: 'I use' },
        { type: 'tool_use', id: `used-${at}`, name: 'f', input: {} },
      ],
    }),
  undo: conversation => conversation.undo(),
}

// An edit that the engine refuses, such as a MERGE of two roles, changes nothing.
async function tried(edit: Promise<unknown>): Promise<void> {
  await edit.catch((thrown: unknown) => assert.ok(thrown instanceof UndertextError, String(thrown)))
}

function idsOf(messages: readonly MessageBlocks[]): string[] {
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap(block =>
      block.kind === 'call' || block.kind === 'result' ? [`${block.kind} ${block.callId}`] : [],
    ),
  )
}

interface Framework {
  write(store: Store, conversation: Conversation): Promise<unknown>
  read(store: Store, conversation: Conversation): Promise<string[]>
}

const calls = (list: string[]) =>
  list.map(toolCallId => ({
    type: 'tool-call' as const,
    toolCallId,
    toolName: 'f',
    input: { x: 1 },
  }))
const results = (list: string[]) =>
  list.map((toolCallId, i) => ({
    type: 'tool-result' as const,
    toolCallId,
    toolName: 'f',
    output:
      i === 1
        ? { type: 'json' as const, value: { seen: 'here' } }
        : { type: 'text' as const, value: 'seen here' },
  }))

const frameworks: Record<string, Framework> = {
  'the AI SDK': {
    write: store =>
      new ModelMessageStore(store).save('chat', [
        { role: 'user', content: 'Where?' },
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'Let me see.' }, ...calls(['a', 'b'])],
        },
        { role: 'tool', content: results(['a', 'b']) },
        { role: 'assistant', content: calls(['c']) },
        { role: 'tool', content: results(['c']) },
        { role: 'assistant', content: 'There.' },
      ]),
    read: async store => {
      const parts = (await new ModelMessageStore(store).load('chat')).flatMap(
        ({ content }: ModelMessage): Item[] =>
          typeof content === 'string' ? [] : (content as unknown as Item[]),
      )
      return parts.flatMap(({ type, toolCallId }) =>
        type === 'tool-call'
          ? [`call ${toolCallId as string}`]
          : type === 'tool-result'
            ? [`result ${toolCallId as string}`]
            : [],
      )
    },
  },
  LangChain: {
    write: (_, conversation) =>
      new UndertextChatMessageHistory(conversation).addMessages([
        new HumanMessage('Where?'),
        new AIMessage({
          content: 'Let me see.',
          id: 'm',
          tool_calls: ['a', 'b'].map(id => ({ id, name: 'f', args: {} })),
        }),
        ...['a', 'b'].map(id => new ToolMessage({ content: 'seen here', tool_call_id: id })),
        new AIMessage({ content: '', tool_calls: [{ id: 'c', name: 'f', args: {} }] }),
        new ToolMessage({ content: [{ type: 'text', text: 'seen here' }], tool_call_id: 'c' }),
        new AIMessage('There.'),
      ]),
    read: async (_, conversation) =>
      (await new UndertextChatMessageHistory(conversation).getMessages()).flatMap(message => {
        if (message instanceof ToolMessage) return [`result ${message.tool_call_id}`]
        return message instanceof AIMessage
          ? (message.tool_calls ?? []).map(({ id }) => `call ${id as string}`)
          : []
      }),
  },
  'the Agents SDK': {
    write: (_, conversation) =>
      new UndertextSession(conversation).addItems([
        { role: 'user', content: 'Where?' },
        ...['a', 'b'].map(
          (callId): AgentInputItem => ({
            type: 'function_call',
            callId,
            name: 'f',
            arguments: '{}',
            status: 'completed',
          }),
        ),
        { type: 'computer_call', callId: 'c', status: 'completed', action: { type: 'screenshot' } },
        ...['a', 'b'].map(
          (callId): AgentInputItem => ({
            type: 'function_call_result',
            callId,
            name: 'f',
            status: 'completed',
            output: { type: 'text', text: 'seen here' },
          }),
        ),
        {
          type: 'computer_call_result',
          callId: 'c',
          output: { type: 'computer_screenshot', data: 'here' },
        },
        { type: 'reasoning', content: [{ type: 'input_text', text: 'Look there.' }] },
        { type: 'shell_call', callId: 'd', action: { commands: ['where'] } },
        {
          type: 'shell_call_output',
          callId: 'd',
          output: [{ stdout: 'seen here', stderr: '', outcome: { type: 'exit', exitCode: 0 } }],
        },
        {
          type: 'message',
          id: 'm',
          role: 'assistant',
          status: 'completed',
          content: [
            { type: 'output_text', text: 'There.' },
            { type: 'output_text', text: 'And there.' },
          ],
        },
      ]),
    read: async (_, conversation) =>
      (await new UndertextSession(conversation).getItems()).flatMap(item => {
        const { type, callId } = item as unknown as { type?: string; callId?: string }
        return callId === undefined
          ? []
          : [`${/_(result|output)$/.test(type!) ? 'result' : 'call'} ${callId}`]
      }),
  },
}

for (const [name, { write, read }] of Object.entries(frameworks)) {
  test(`after random edits by the engine, ${name} reads the calls and results that are there`, async () => {
    const edit = fc.tuple(fc.constantFrom(...Object.keys(edits)), fc.nat(8))
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async list => {
        await using store = await openStore('memory:')
        await using conversation = await store.open('chat')
        await write(store, conversation)
        await conversation.catchUp()
        for (const [which, at] of list) {
          await tried(edits[which]!(conversation, at))
          assert.deepEqual(await read(store, conversation), idsOf(await conversation.blocks()))
        }
      }),
      runs,
    )
  })
}
