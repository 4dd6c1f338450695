// The site of the manual. site/prepare.py makes its pages, and contents.json: the groups of docs/README.md.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitepress'

const here = dirname(import.meta.dirname)
const contents = JSON.parse(readFileSync(join(here, 'contents.json'), 'utf8'))

export default defineConfig({
  title: 'Undertext',
  description: 'The context engine for LLM agents: every edit is an operation, and nothing is ever lost.',
  lang: 'en',
  base: process.env.UNDERTEXT_SITE_BASE ?? '/docs/',
  cleanUrls: false,
  srcExclude: ['public/**'],
  // Pages name other pages as files, and the build fails for one that is not there.
  ignoreDeadLinks: false,
  appearance: true,
  markdown: { headers: { level: [2, 3] } },
  vite: { build: { chunkSizeWarningLimit: 4096 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    sidebar: contents,
    nav: [
      { text: 'Five minutes', link: '/start' },
      { text: 'Operations', link: '/operations' },
      { text: 'Glossary', link: '/glossary' },
      { text: 'Changes', link: '/changelog' },
    ],
  },
  // Every page is there as Markdown too.
  transformPageData(page) {
    page.frontmatter.head ??= []
    page.frontmatter.head.push(['link', { rel: 'alternate', type: 'text/markdown', href: page.relativePath }])
  },
})
