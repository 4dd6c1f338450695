// What the page must never do, held over its own source.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '.')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  name => /\.(tsx?|css)$/.test(name) && !name.endsWith('.test.ts'),
)
const page = readFileSync(join(folder, '../index.html'), 'utf8')

const forbidden: [string, RegExp][] = [
  [
    'markup from strings',
    /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|createContextualFragment|DOMParser|document\.write|srcdoc/,
  ],
  ['code from strings', /\beval\s*\(|new Function\b|setTimeout\(\s*['"`]|javascript:/],
  ['styles that the policy refuses', /style="|setAttribute\(\s*['"]style|cssText/],
  ['anything from elsewhere', /https?:\/\/(?!\[)[\w.-]+\.\w|url\((?!#)/],
  [
    'a reader of messages: rows carry blocks',
    /message\.(role|content|type)|tool(_c|C)alls\b|tool_call_id|tool_(use|result)\b|image_url|reasoning_content/,
  ],
  ['frames and plugins', /<(iframe|object|embed|script)\b/],
]

test('there is something to look at', () => expect(files.length).toBeGreaterThan(20))

test.each(forbidden)('no source has %s', (_what, pattern) => {
  const found = files.filter(name => pattern.test(readFileSync(join(folder, name), 'utf8')))
  expect(found).toEqual([])
})

test('the page has no inline script, style or handler', () => {
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son\w+=/)
  expect(page).not.toMatch(/https?:/)
})

test('every link to elsewhere says noopener', () => {
  for (const name of files) {
    const text = readFileSync(join(folder, name), 'utf8')
    for (const link of text.match(/<a\b[^>]*target="_blank"[^>]*>/g) ?? [])
      expect(link).toContain('rel="noopener noreferrer"')
  }
})
