// A conversation of a hundred thousand messages scrolls without stutter.
//
// UNDERTEXT_LARGE=N   that many messages instead
import assert from 'node:assert/strict'
import { cpus, loadavg } from 'node:os'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openPage, operations, picture, startBrowser, startServer } from './harness.mjs'

const count = Number(process.env.UNDERTEXT_LARGE ?? 100_000)
// On a machine that has more to do than it can, the browser waits for its turn in the middle of a task; what is measured then is the machine.
const isBusy = () => loadavg()[0] > 1.5 * cpus().length
const slowness = () => (isBusy() ? 4 : 1)
const longestMs = () => 100 * slowness()
// FULL=1 on a quiet machine: 300. One browser start differs from the next by half of that.
const paintMs = () => (process.env.FULL ? 300 : 600) * slowness()
// 60 frames a second, and a tenth for the clock: of the frames, at least the half are that short.
const frameMs = () => (1100 / 60) * slowness()
const heapBytes = 24e6 // of scripts, after everything was scrolled about; the messages have more
const pageBytes = 200e3 // compressed
const tries = 3

const words =
  'the agent reads what it asked for and goes on to the next file because the test that failed names it '.split(
    ' ',
  )
const sentence = (seed, length) =>
  Array.from({ length }, (_, i) => words[(seed * 7 + i * i + i) % words.length]).join(' ')

function message(k) {
  switch (k % 4) {
    case 0:
      return { role: 'user', content: `Question ${k}. ${sentence(k, 5 + (k % 40))}` }
    case 1:
      return {
        role: 'assistant',
        content: sentence(k, 8),
        toolCalls: [
          {
            id: `call_${k}`,
            name: 'read_file',
            arguments: JSON.stringify({ path: `src/${k}.cpp` }),
          },
        ],
      }
    case 2:
      return {
        role: 'tool',
        toolCallId: `call_${k - 1}`,
        content: Array.from({ length: 1 + (k % 12) }, (_, i) => sentence(k + i, 10)).join('\n'),
      }
    default:
      return { role: 'assistant', content: `Answer ${k}.\n${sentence(k, 10 + (k % 120))}` }
  }
}

// When the first message was on the screen, since the page was asked for.
const firstPaint = page =>
  page.waitForFunction(() => window.__painted).then(painted => painted.jsonValue())
const notePaint = page =>
  page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('.card:not(.card-waits)')) return
      observer.disconnect()
      requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = () => (window.__painted = performance.now())
        channel.port2.postMessage(null)
      })
    }).observe(document, { childList: true, subtree: true })
  })

// What scripts hold, without what is garbage.
async function heapOf(context, page) {
  const tools = await context.newCDPSession(page)
  await tools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await tools.send('Runtime.getHeapUsage')
  await tools.detach()
  return usedSize
}

async function fill(server, id) {
  await server.api('POST', '/v1/conversations', { id })
  for (let start = 0; start < count; start += 1000) {
    const messages = Array.from({ length: Math.min(1000, count - start) }, (_, i) =>
      message(start + i),
    )
    await server.api('POST', operations(id), { operation: 'APPEND', messages })
  }
}

// Turns the wheel, and in between drags to faraway places; gives the times of all frames, and of tasks longer than 50 ms.
async function scrollAbout(page) {
  await page.evaluate(() => {
    window.__frames = []
    window.__tasks = []
    new PerformanceObserver(list =>
      list.getEntries().forEach(entry => window.__tasks.push(entry.duration)),
    ).observe({ type: 'longtask' })
    let last = performance.now()
    const frame = now => {
      window.__frames.push(now - last)
      last = now
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })
  const box = await page.locator('.list').boundingBox()
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  for (let place = 0; place <= 10; ++place) {
    await page.evaluate(part => {
      const list = document.querySelector('.list')
      list.scrollTop = list.scrollHeight * part
    }, place / 10)
    for (let i = 0; i < 25; ++i) {
      await page.mouse.wheel(0, i % 5 === 4 ? -600 : 400)
      await page.waitForTimeout(16)
    }
  }
  return page.evaluate(() => ({
    frames: window.__frames.sort((a, b) => a - b),
    tasks: window.__tasks.sort((a, b) => b - a),
  }))
}

test(`${count} messages scroll without stutter`, { timeout: 600_000 }, async () => {
  const server = await startServer({ sample: false })
  await fill(server, 'large')
  const browser = await startBrowser()
  let [best, bestPaint, bestFrame] = [Infinity, Infinity, Infinity]
  const isSmooth = () => best <= longestMs() && bestPaint <= paintMs() && bestFrame <= frameMs()
  for (let attempt = 0; attempt < tries && !isSmooth(); ++attempt) {
    const { page, context, faults } = await openPage(browser, server, {
      prepare: notePaint,
      path: '/#/large',
    })
    const openedMs = await firstPaint(page)
    const { frames, tasks } = await scrollAbout(page)
    const at = part => frames[Math.floor((frames.length - 1) * part)].toFixed(1)
    console.log(
      `open ${openedMs.toFixed(0)} ms; ${frames.length} frames, median ${at(0.5)} ms, 99% ${at(0.99)} ms, longest ${at(1)} ms; tasks over 50 ms: ${tasks.length}, longest ${(tasks[0] ?? 0).toFixed(0)} ms; load ${loadavg()[0].toFixed(1)}`,
    )
    best = Math.min(best, tasks[0] ?? 0)
    bestPaint = Math.min(bestPaint, openedMs)
    bestFrame = Math.min(bestFrame, Number(at(0.5)))
    assert.ok(frames.length > 250, `${frames.length} frames while scrolling`)
    const heap = await heapOf(context, page)
    console.log(`heap ${(heap / 1e6).toFixed(1)} MB`)
    assert.ok(heap < heapBytes, `scripts hold ${heap} bytes`)

    await page.getByLabel('Go to #').fill(String(count - 2000))
    await page.keyboard.press('Enter')
    await page.locator(`.item[data-index="${count - 2000}"] .card:not(.card-waits)`).waitFor()
    const [top, listTop] = await page.evaluate(
      index => [
        document.querySelector(`.item[data-index="${index}"]`).getBoundingClientRect().top,
        document.querySelector('.list').getBoundingClientRect().top,
      ],
      count - 2000,
    )
    await page.waitForTimeout(800)
    assert.ok(
      Math.abs(top - listTop) < 400,
      `asked for ${count - 2000}, which is ${top - listTop} pixels from the top`,
    )
    assert.ok((await page.locator('.item').count()) < 120, 'only what is in sight exists')
    await page.locator('.list').press('End')
    await page.locator(`.item[data-index="${count - 1}"] .card:not(.card-waits)`).waitFor()
    await picture(page, 'large')
    assert.deepEqual(await faults(), [])
    await context.close()
  }
  await browser.close()
  await server.stop()
  assert.ok(best <= longestMs(), `a task of ${best} ms while scrolling`)
  assert.ok(bestPaint <= paintMs(), `the first message was there after ${bestPaint} ms`)
  assert.ok(bestFrame <= frameMs(), `a frame takes ${bestFrame} ms while scrolling`)
})

test('the page is small', async () => {
  const server = await startServer({ sample: false })
  const page = await (await fetch(`${server.url}/`)).text()
  const assets = [...page.matchAll(/(?:src|href)="\.?(\/assets\/[^"]+)"/g)].map(found => found[1])
  assert.ok(assets.some(name => name.endsWith('.js')) && assets.some(name => name.endsWith('.css')))
  // A worker is named by the script that starts it.
  for (const name of [...assets])
    for (const [, found] of (await (await fetch(server.url + name)).text()).matchAll(
      /["'`](?:\.?\/?assets\/)?([\w-]+-[\w-]{8}\.js)["'`]/g,
    ))
      assets.push(`/assets/${found}`)
  let bytes = gzipSync(page).length
  for (const name of new Set(assets)) {
    const reply = await fetch(server.url + name)
    assert.equal(reply.status, 200, name)
    bytes += gzipSync(Buffer.from(await reply.arrayBuffer())).length
  }
  console.log(`the page has ${bytes} bytes, compressed, in ${new Set(assets).size + 1} files`)
  assert.ok(bytes > 50e3 && bytes < pageBytes, `${bytes} bytes, compressed`)
  await server.stop()
})
