// What is said where the addon cannot be loaded.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const compiled = fileURLToPath(new URL('../src', import.meta.url))

function load(index: string, addon: string | undefined): string {
  const program = `import(${JSON.stringify(index)}).then(() => console.log('loaded'), (thrown) => console.log(thrown.code + ': ' + thrown.message))`
  const environment = { ...process.env }
  delete environment['UNDERTEXT_NODE_ADDON']
  if (addon !== undefined) environment['UNDERTEXT_NODE_ADDON'] = addon
  return spawnSync(process.execPath, ['-e', program], {
    env: environment,
    encoding: 'utf8',
  }).stdout.trim()
}

test('an addon that the system refuses is reported in the words of its loader', () => {
  const folder = mkdtempSync(join(tmpdir(), 'undertext-'))
  try {
    const addon = join(folder, 'undertext.node')
    writeFileSync(
      addon,
      'this is no library, though it is long enough to have the head of one, and more than that',
    )
    assert.match(
      load(join(compiled, 'index.js'), addon),
      /^unsupported: the addon cannot be loaded: .*(invalid ELF header|not a mach-o|slice is not valid)/,
    )
    assert.match(
      load(join(compiled, 'index.js'), join(folder, 'none.node')),
      /^unsupported: the addon cannot be loaded: .*none\.node/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a platform package that is not installed is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'undertext-'))
  try {
    cpSync(compiled, join(folder, 'dist/src'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
    const said = load(join(folder, 'dist/src/index.js'), undefined)
    assert.ok(
      said.startsWith(
        `unsupported: there is no addon for ${process.platform}-${process.arch}: the package undertext-${process.platform}-${process.arch} is not installed`,
      ),
      said,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
