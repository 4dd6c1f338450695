import { expect, test } from 'vitest'
import { parseExact, pretty } from './json'

const canKeep = 'rawJSON' in JSON // browsers do; old versions of Node do not

test('what is parsed is what JSON.parse gives', () => {
  const text = '{"a":[1,2.5,"1e5 \\u003c",null,true],"b":{"c":-3}}'
  expect(parseExact(text)).toEqual(JSON.parse(text))
})

test.skipIf(!canKeep)('numbers are shown as they were spelled', () => {
  for (const number of ['1.0', '1e5', '1E400', '12345678901234567890', '-0', '0.10'])
    expect(pretty(parseExact(`[${number}]`)).replace(/\s/g, '')).toBe(`[${number}]`)
})
