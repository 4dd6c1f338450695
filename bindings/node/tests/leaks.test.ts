import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

test('appends, conversations that are closed and conversations that are forgotten leave nothing behind', () => {
  execFileSync(
    process.execPath,
    ['--expose-gc', fileURLToPath(new URL('leaks.js', import.meta.url)), '50000', '2000'],
    { stdio: 'inherit' },
  )
})
