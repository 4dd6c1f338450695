// A folder that goes with the test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export function temporaryStore(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'undertext-'))
  test.after(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'store.db')}`
}
