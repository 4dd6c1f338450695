// A row of the server, for tests.

import type { Block, Role, Row } from '../api/types'

export function rowOf(index: number, role: Role, blocks: Block[]): Row {
  return {
    index,
    ordinal: index + 100,
    time: 0,
    tokens: 1,
    marks: [],
    standsFor: [],
    role,
    blocks,
    message: {},
  }
}
