import { expect, test } from 'vitest'
import { diffRuns, isDiff } from './diff_text'

const diff = `diff --git a/x b/x
--- a/x
+++ b/x
@@ -1,3 +1,3 @@ int main()
 same
-old
--- a line that begins with two dashes
+new
`

test('a diff has a hunk and a file', () => {
  expect(isDiff(diff)).toBe(true)
  expect(isDiff('- a\n+ b\n')).toBe(false)
  expect(isDiff('@@ -1 +1 @@\n')).toBe(false)
})

test('lines are told apart, and nothing is lost', () => {
  const runs = diffRuns(diff)
  expect(runs.map(run => run.kind)).toEqual(['about', 'place', 'same', 'removed', 'added'])
  expect(runs.map(run => run.text).join('')).toBe(diff)
})
