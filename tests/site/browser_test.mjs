// The site in a browser, as `undertext serve --docs` serves it: it asks nobody else for anything, breaks no policy, search finds, and axe finds nothing.
//
// UNDERTEXT_SITE   the folder that scripts/site made
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { axe, openPage, startBrowser, startServer } from '../inspector/harness.mjs'

let server, browser

before(async () => {
  server = await startServer({ sample: false, docs: process.env.UNDERTEXT_SITE })
  browser = await startBrowser()
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

// The theme shows the key of the search beside its name: the letter K is no part of that.
const ofTheTheme = /^label-content-name-mismatch: \.DocSearch:/

for (const theme of ['light', 'dark'])
  test(`axe finds nothing, ${theme}`, async () => {
    for (const name of [
      '',
      'concepts.html',
      'errors.html',
      'operations.html',
      'http-reference.html',
    ]) {
      const { page, context, faults } = await openPage(browser, server, {
        path: `/docs/${name}`,
        theme,
      })
      await page.waitForSelector('.vp-doc h1')
      assert.deepEqual(
        (await axe(page))
          .filter(fault => !ofTheTheme.test(fault))
          .map(fault => `${name}: ${fault}`),
        [],
      )
      assert.deepEqual(await faults(), [])
      await context.close()
    }
  })

test('search finds a page by a word of its text', async () => {
  const { page, context, faults } = await openPage(browser, server, { path: '/docs/' })
  await page.click('.VPNavBarSearch button')
  await page.fill('#localsearch-input', 'ROLLBACK')
  const found = await page.waitForSelector('#localsearch-list a[href*="operations.html"]')
  await found.click()
  await page.waitForURL('**/operations.html*')
  assert.deepEqual(await faults(), [])
  await context.close()
})
