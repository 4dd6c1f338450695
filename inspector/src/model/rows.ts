// The rows of one view, fetched in stretches as they are looked at, and let go again when many have been.

import type { Row } from '../api/types'
import { fold, foldReach, type Folding } from './pairs'

export const stretch = 100
const stretchesMax = 60
const underWayMax = 3

export type Fetch = (start: number, end: number, signal: AbortSignal) => Promise<Row[]>

export class RowCache {
  private readonly stretches = new Map<number, Row[]>() // in the order of their use
  private readonly underWay = new Map<number, AbortController>()
  private wanted: number[] = []
  private folded: { around: string; folding: Folding } | null = null
  private generation = 0

  constructor(
    private readonly fetch: Fetch,
    private readonly onChange: (error?: unknown) => void,
  ) {}

  get(index: number): Row | undefined {
    return this.stretches.get(Math.floor(index / stretch))?.[index % stretch]
  }

  // Asks for what is not there yet. What was asked for before and is not wanted any more is forgotten, so that whoever scrolls through
  // a hundred thousand rows waits for those in sight only.
  want(first: number, last: number, count: number): void {
    const from = Math.floor(Math.max(0, first - stretch / 4) / stretch)
    const to = Math.floor(Math.max(0, Math.min(count - 1, last + stretch / 4)) / stretch)
    this.wanted = []
    for (let number = from; number <= to && count > 0; ++number) {
      const rows = this.stretches.get(number)
      if (rows) {
        this.stretches.delete(number)
        this.stretches.set(number, rows)
      } else {
        this.wanted.push(number)
      }
    }
    for (const [number, under] of this.underWay) {
      if (number >= from && number <= to) continue
      under.abort()
      this.underWay.delete(number)
    }
    this.goOn()
  }

  // Rows at and after `start` are other ones now.
  forget(start: number): void {
    const from = Math.floor(start / stretch)
    for (const number of [...this.stretches.keys()])
      if (number >= from) this.stretches.delete(number)
    for (const [number, under] of this.underWay) {
      if (number < from) continue
      under.abort()
      this.underWay.delete(number)
    }
    this.changed()
  }

  // How the rows between these two are folded, with those before them that may hold their calls.
  folding(first: number, last: number): Folding {
    const around = `${this.generation}:${first}:${last}`
    if (this.folded?.around !== around) {
      const rows: Row[] = []
      for (let index = Math.max(0, first - foldReach); index <= last + foldReach; ++index) {
        const row = this.get(index)
        if (row) rows.push(row)
      }
      this.folded = { around, folding: fold(rows) }
    }
    return this.folded.folding
  }

  private goOn(): void {
    while (this.underWay.size < underWayMax) {
      const number = this.wanted.find(n => !this.underWay.has(n))
      if (number === undefined) return
      this.wanted = this.wanted.filter(n => n !== number)
      void this.load(number)
    }
  }

  private async load(number: number): Promise<void> {
    const control = new AbortController()
    this.underWay.set(number, control)
    let failed: unknown
    try {
      const rows = await this.fetch(number * stretch, (number + 1) * stretch, control.signal)
      if (control.signal.aborted) return
      this.stretches.set(number, rows)
      for (const oldest of this.stretches.keys()) {
        if (this.stretches.size <= stretchesMax) break
        this.stretches.delete(oldest)
      }
    } catch (error) {
      if (control.signal.aborted) return
      failed = error
    }
    if (this.underWay.get(number) === control) this.underWay.delete(number)
    this.changed(failed)
    this.goOn()
  }

  private changed(error?: unknown): void {
    this.generation += 1
    this.onChange(error)
  }
}
