// One run of an npm peer for tokenizer_table.py.   node tokenizers_peer.cjs PEER MODULES TEXTS ROUNDS
// Prints one line of JSON, as tokenizers_run.cpp does: seconds on the processor, of the first pass and of the others.
const fs = require('fs');
const path = require('path');

const [peer, modules, file, rounds] = process.argv.slice(2);
const data = fs.readFileSync(file);
const texts = [];
for (let at = 0; at < data.length;) {
  const size = data.readUInt32LE(at);
  texts.push(data.toString('utf8', at + 4, at + 4 + size));
  at += 4 + size;
}

const seconds = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1e6; };
let start = seconds();
let count;
if (peer === 'gpt-tokenizer') {
  const encoding = require(path.join(modules, 'gpt-tokenizer/cjs/encoding/o200k_base'));
  const asText = { disallowedSpecial: new Set() };  // a special token in a text is text
  count = (text) => encoding.countTokens(text, asText);
} else {
  const encoder = require(path.join(modules, 'tiktoken')).get_encoding('o200k_base');
  count = (text) => encoder.encode_ordinary(text).length;
}
const load = seconds() - start;
const passes = [];
let tokens = 0;
for (let round = 0; round < Number(rounds); ++round) {
  tokens = 0;
  start = seconds();
  for (const text of texts) tokens += count(text);
  passes.push(seconds() - start);
}
console.log(JSON.stringify({ bytes: data.length - 4 * texts.length, tokens, load_s: load, seconds: passes }));
