// Unified diffs: which lines came, which went, and what only says where.

export type LineKind = 'added' | 'removed' | 'place' | 'about' | 'same'

const hunk = /^@@+ -\d+(?:,\d+)? .*\+\d+(?:,\d+)? @@/
const files = /^(?:diff --git |Index: |--- |\+\+\+ |\*\*\* (?:Begin|Update|Add|Delete) )/

// Of what stands at the beginning: a hunk, and the file it is of.
export function isDiff(text: string): boolean {
  const lines = text.slice(0, 4000).split('\n')
  return lines.some(line => hunk.test(line)) && lines.some(line => files.test(line))
}

// Lines of one kind that follow each other, together with their line breaks.
export function diffRuns(text: string): { kind: LineKind; text: string }[] {
  const runs: { kind: LineKind; text: string }[] = []
  let isInHunk = false
  for (const line of text.split(/(?<=\n)/)) {
    const kind = kindOf(line, isInHunk)
    if (kind === 'place') isInHunk = true
    if (kind === 'about') isInHunk = false
    const last = runs.at(-1)
    if (last?.kind === kind) last.text += line
    else runs.push({ kind, text: line })
  }
  return runs
}

function kindOf(line: string, isInHunk: boolean): LineKind {
  if (line.startsWith('@@')) return 'place'
  if (/^(?:diff --git |Index: |index [\da-f]|new file|deleted file|rename |similarity )/.test(line))
    return 'about'
  if (!isInHunk && /^(?:---|\+\+\+) /.test(line)) return 'about'
  if (line.startsWith('+')) return 'added'
  if (line.startsWith('-')) return 'removed'
  return 'same'
}
