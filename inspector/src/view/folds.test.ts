import { expect, test } from 'vitest'
import { isUnfolded, opened, soughtWords, toggle } from './folds'

test('a fold that holds the words that are sought is open, until it is closed', () => {
  opened.value = new Set()
  expect(isUnfolded('a', 'some words')).toBe(false)
  soughtWords.value = 'words'
  expect(isUnfolded('a', 'some words')).toBe(true)
  expect(isUnfolded('b', 'something else')).toBe(false)
  toggle('a')
  expect(isUnfolded('a', 'some words')).toBe(false)
  soughtWords.value = ''
})
