// The site in a browser: it asks nobody else for anything, search finds, and axe finds nothing.
//
// UNDERTEXT_SITE   the folder that scripts/site made
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { after, before, test } from 'node:test';
import { axe, openPage, startBrowser } from '../inspector/harness.mjs';

const folder = process.env.UNDERTEXT_SITE;
const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png', '.json': 'application/json', '.woff2': 'font/woff2' };
let server, browser, site;

before(async () => {
  server = createServer(async (request, reply) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://site').pathname)).replace(/^\/docs\//, '') || 'index.html';
    const body = await readFile(join(folder, path)).catch(() => undefined);
    reply.writeHead(body ? 200 : 404, { 'Content-Type': kinds[extname(path)] ?? 'text/plain' }).end(body);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  site = { url: `http://127.0.0.1:${server.address().port}` };
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  server?.close();
});

// The theme shows the key of the search beside its name: the letter K is no part of that.
const ofTheTheme = /^label-content-name-mismatch: \.DocSearch:/;

for (const theme of ['light', 'dark'])
  test(`axe finds nothing in what the site adds to pages, ${theme}`, async () => {
    for (const name of ['index', 'concepts', 'errors', 'operations', 'http-reference']) {
      const { page, context, faults } = await openPage(browser, site, { path: `/docs/${name}.html`, theme });
      await page.waitForSelector('.vp-doc h1');
      assert.deepEqual((await axe(page)).filter((fault) => !ofTheTheme.test(fault)).map((fault) => `${name}: ${fault}`), []);
      assert.deepEqual(await faults(), []);
      await context.close();
    }
  });

test('search finds a page by a word of its text', async () => {
  const { page, context, faults } = await openPage(browser, site, { path: '/docs/index.html' });
  await page.click('.VPNavBarSearch button');
  await page.fill('#localsearch-input', 'ROLLBACK');
  const found = await page.waitForSelector('#localsearch-list a[href*="operations.html"]');
  await found.click();
  await page.waitForURL('**/operations.html*');
  assert.deepEqual(await faults(), []);
  await context.close();
});
