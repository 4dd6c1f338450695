// What the two kinds of messages of the AI SDK have in common for the store that keeps them.
import type { Message } from '../../types.js'
import type { Placed } from '../followed.js'
import type { Item } from '../foreign.js'

/** Messages that stand next to each other, and the items that they are read as. */
export interface Read {
  items: Item[]
  ordinals: number[]
}

export interface Kind {
  roles: readonly string[]
  /** The messages that an item is stored as: one, mostly. */
  write(item: Item): Message[]
  read(messages: readonly Placed[]): Read[]
}
