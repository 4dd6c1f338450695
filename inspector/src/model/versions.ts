// What is known of a conversation's versions: entries of the history, fetched in stretches around what is looked at.

import type { VersionEntry } from '../api/types'

const stretch = 500

// Newest first, those below `before`, as the route answers.
export type FetchVersions = (before: number, limit: number) => Promise<VersionEntry[]>

export class Versions {
  private readonly entries = new Map<number, VersionEntry>()
  private readonly underWay = new Map<number, Promise<void>>()

  constructor(
    private readonly fetch: FetchVersions,
    private readonly onChange: () => void,
  ) {}

  get(version: number): VersionEntry | undefined {
    return this.entries.get(version)
  }

  // Those known without a gap from `first` up to `last`.
  between(first: number, last: number): VersionEntry[] {
    const found: VersionEntry[] = []
    for (let version = Math.max(0, first); version <= last; ++version) {
      const entry = this.entries.get(version)
      if (entry) found.push(entry)
      else if (found.length) break
    }
    return found
  }

  // Fetches those between these two that are not known, and a stretch below them along with it.
  async load(first: number, last: number): Promise<void> {
    for (let version = last; version >= Math.max(0, first); --version) {
      if (this.entries.has(version)) continue
      const wait = this.underWay.get(version) ?? this.loadBelow(version)
      await wait
      if (!this.entries.has(version)) return // pruned, or never there
    }
  }

  private loadBelow(newest: number): Promise<void> {
    let limit = 1
    while (limit < stretch && limit <= newest && !this.entries.has(newest - limit)) limit += 1
    const wait = this.fetch(newest + 1, limit)
      .then(entries => {
        for (const entry of entries) this.entries.set(entry.version, entry)
        this.onChange()
      })
      .finally(() => this.underWay.delete(newest))
    this.underWay.set(newest, wait)
    return wait
  }
}
