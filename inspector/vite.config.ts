import { defineConfig } from 'vite'

// One script with one worker, and one style sheet, so that the policy `script-src 'self'; style-src 'self'` is all the page needs.
export default defineConfig({
  base: './',
  build: {
    outDir: process.env.UNDERTEXT_INSPECTOR_OUT ?? '../build/inspector',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
})
