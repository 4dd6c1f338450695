// What became of a message, in the order in which it happened.

import type { Blame, BlameEntry } from '../api/types'

export interface Chapter extends BlameEntry {
  what: 'stored' | 'hidden' | 'shown'
}

export function storyOf(blame: Blame): Chapter[] {
  const told = (what: Chapter['what']) => (entry: BlameEntry) => ({ ...entry, what })
  const chapters = [
    told('stored')(blame.stored),
    ...blame.hidden.map(told('hidden')),
    ...blame.shown.map(told('shown')),
  ]
  // Storing shows as well; that is one thing to whoever reads it.
  return chapters
    .filter(chapter => chapter.what !== 'shown' || chapter.version !== blame.stored.version)
    .sort((a, b) => a.version - b.version)
}
