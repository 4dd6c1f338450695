// The inspector of a server that asks for tokens, and of one that goes away and comes back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  atVersion,
  axe,
  firstCard,
  openPage,
  operations,
  sampleId,
  startBrowser,
  startServer,
} from './harness.mjs'

let browser
before(async () => (browser = await startBrowser()))
after(() => browser?.close())

test('a token is asked for, kept for this tab only, and asked for again when it is revoked', async () => {
  const server = await startServer({ tokens: true })
  const { page, context, faults } = await openPage(browser, server)
  await page.getByText('This server asks for a token').waitFor()
  assert.deepEqual(await axe(page), [])
  await page.getByLabel('Token').fill('ut_wrong')
  await page.keyboard.press('Enter')
  await page.getByText('This server asks for a token').waitFor()
  await page.getByLabel('Token').fill(server.token)
  await page.keyboard.press('Enter')
  await firstCard(page)
  await page.locator('.line-live').waitFor()
  const kept = await page.evaluate(() => ({
    session: JSON.stringify(sessionStorage),
    local: JSON.stringify(localStorage),
    cookie: document.cookie,
    place: location.href,
  }))
  assert.ok(kept.session.includes(server.token))
  assert.ok(!(kept.local + kept.cookie + kept.place).includes(server.token))
  // A request is read by a worker, which has the token too.
  await server.api('POST', `/v1/conversations/${sampleId}/requests`, {
    client: 'anthropic',
    request: '{"messages":[]}',
    status: 200,
  })
  await page.goto(`${server.url}/#/${sampleId}/requests/1`)
  await page.locator('.raw-chunk', { hasText: '"messages": []' }).waitFor()
  assert.deepEqual(await faults(), [])
  server.revoke()
  await page.getByText('This server asks for a token').waitFor()
  await context.close()
  await server.stop()
})

test('when the server comes back, what was missed is shown', async () => {
  const first = await startServer()
  const { page, context } = await openPage(browser, first, { path: `/#/${sampleId}` })
  await firstCard(page)
  await page.locator('.line-live').waitFor()
  await first.stop({ keep: true })
  await page.locator('.line-waiting, .line-connecting').first().waitFor()
  const second = await startServer({
    sample: false,
    folder: first.folder,
    listen: first.url.replace(/^.*\/\//, ''),
  })
  await second.api('POST', operations(sampleId), {
    operation: 'APPEND',
    messages: [{ role: 'user', content: 'While you were away.' }],
  })
  await atVersion(page, 'version 58')
  await context.close()
  await second.stop()
})
