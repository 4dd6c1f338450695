import { expect, test } from 'vitest'
import type { OperationName } from '../api/types'
import { storyOf } from './story'

const at = (version: number, operation: OperationName) => ({ version, operation, timestamp: 0 })

test('what became of a message is told in the order in which it happened', () => {
  const story = storyOf({
    ordinal: 0,
    visible: false,
    stored: at(2, 'APPEND'),
    hidden: [at(5, 'CLEAR'), at(9, 'COMPRESS')],
    shown: [at(2, 'APPEND'), at(6, 'UNDO')],
  })
  expect(story.map(({ version, what }) => [version, what])).toEqual([
    [2, 'stored'],
    [5, 'hidden'],
    [6, 'shown'],
    [9, 'hidden'],
  ])
})
