import { expect, test } from 'vitest'
import { isRewritten, sentenceOf } from './told'

const said = (type: string, data: object) =>
  sentenceOf({ id: '1', type, data: JSON.stringify(data) })

test('events of the engine and of background work are told in words', () => {
  expect(said('event', { type: 'TOKEN_LIMIT_EXCEEDED', tokensUsed: 9, tokenLimit: 5 })).toBe(
    'The view has 9 tokens, more than its limit of 5.',
  )
  expect(
    said('event', {
      type: 'COMPRESSION_FAILED',
      error: { code: 'unavailable', message: 'no answer' },
    }),
  ).toBe('COMPRESSION_FAILED: no answer')
  expect(
    said('compression', { job: 'a', state: 'running', strategy: { name: 'smart_summary' } }),
  ).toBe('Background compression (smart_summary): running.')
  expect(
    said('compression', {
      job: 'a',
      state: 'failed',
      strategy: 'keep_recent',
      error: { code: 'conflict', message: 'gone' },
    }),
  ).toBe('Background compression (keep_recent): gone.')
  expect(
    said('compression', {
      job: 'a',
      state: 'running',
      strategy: 'smart_summary',
      progress: { stage: 'planning' },
    }),
  ).toBe('Background compression (smart_summary): planning.')
  expect(
    said('compression', {
      job: 'a',
      state: 'running',
      strategy: 'smart_summary',
      progress: { stage: 'summarising', messages: 18, summaryBytes: 40 },
    }),
  ).toBe('Background compression (smart_summary): summarising 18 messages, 40 bytes so far.')
  expect(said('event', { type: 'REWRITTEN', version: 3 })).toBe('')
  expect(isRewritten({ id: '', type: 'event', data: '{"type":"REWRITTEN","version":3}' })).toBe(
    true,
  )
  expect(isRewritten({ id: '', type: 'version', data: '{}' })).toBe(false)
  expect(said('deleted', {})).toBe('This conversation has been deleted.')
  expect(said('another', {})).toBe('')
})
