// Numbers for charts: sums on top of one another, and many bars as few.

import { roles, type Role, type TimelinePoint } from '../api/types'

// For each role, the sum of it and of those before it; the last is the whole.
export function stacked(points: TimelinePoint[]): number[][] {
  const sums = points.map(() => 0)
  return roles.map((role: Role) =>
    points.map((point, i) => {
      const sum = (sums[i] ?? 0) + (point.byRole[role] ?? 0)
      sums[i] = sum
      return sum
    }),
  )
}

export interface Bars {
  first: number[] // index of the first message of the bar
  most: number[] // tokens of its largest message
  width: number // messages a bar
}

// No more than `bars` bars; one that stands for several messages is as high as the largest of them, so that none is overlooked.
export function bars(tokens: number[], most: number): Bars {
  const width = Math.max(1, Math.ceil(tokens.length / most))
  const found: Bars = { first: [], most: [], width }
  for (let start = 0; start < tokens.length; start += width) {
    found.first.push(start)
    let largest = 0
    for (let i = start; i < Math.min(start + width, tokens.length); ++i)
      largest = Math.max(largest, tokens[i] ?? 0)
    found.most.push(largest)
  }
  return found
}
