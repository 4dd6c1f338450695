#!/usr/bin/env bash
# The package as npm installs it, into an empty folder, without a network and without running anything of it; then used by import and by require.   package.sh ADDON
# Skipped (77) where Node or npm are missing, or scripts/node has not been run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
skip() { echo "skipped: $1"; exit 77; }
[[ ! -x $here/../../build/node/bin/node ]] || PATH=$here/../../build/node/bin:$PATH
command -v npm >/dev/null || skip "node: there is no npm"
[[ -f $here/dist/src/index.js ]] || skip "node: scripts/node has not been run"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
package=$("$here/pack.sh" "$1" "$folder/packed")
mkdir "$folder/user"
cd "$folder/user"
echo '{"private": true}' >package.json
npm install --silent --offline --ignore-scripts --no-audit --no-fund "$package"
unset UNDERTEXT_NODE_ADDON
cat >use.mjs <<'END'
import { open } from 'undertext'
const conversation = await open('sqlite:kept.db')
await conversation.append({ role: 'user', content: 'Hello' })
await conversation.close()
END
cat >use.cjs <<'END'
const { open, UndertextError } = require('undertext')
open('sqlite:kept.db').then(async (conversation) => {
  console.log(JSON.stringify(await conversation.messages()), typeof UndertextError)
  await conversation.close()
})
END
node use.mjs
[[ $(node use.cjs) == '[{"role":"user","content":"Hello"}] function' ]]
# Its types are complete for whoever compiles strictly.
cat >use.mts <<'END'
import { inMemory, UndertextError, type ErrorCode, type Event, type Message, type Outcome, type Settings } from 'undertext'
const settings: Settings = { tokenLimit: 1000, strategies: { mine: (view, { tokensMax }) => (view.size > (tokensMax ?? 0) ? undefined : { replacements: [{ hide: [0] }] }) } }
await using conversation = inMemory(settings)
const messages: Message[] = await conversation.messages({ role: 'user', last: 3 })
const outcome: Outcome = await conversation.apply({ operation: 'TRUNCATE', keepLast: messages.length })
conversation.on('MESSAGE_ADDED', ({ ordinal, version }) => void (ordinal + version))
for await (const event of conversation.events()) void (event satisfies Event)
// @ts-expect-error: there is no such role
await conversation.messages({ role: 'robot' })
// @ts-expect-error: nor such an argument
await conversation.truncate({ keepMiddle: 1 })
export const code: ErrorCode | undefined = outcome instanceof UndertextError ? outcome.code : undefined
END
"$here/node_modules/.bin/tsc" --noEmit --strict --target es2023 --lib es2024,esnext.disposable --module nodenext --typeRoots "$here/node_modules/@types" --types node use.mts

# What is in it is what is wanted: no tests, no sources of the addon.
if find node_modules/undertext | grep -E '/(tests|native|node_modules)/'; then exit 1; fi
# Nothing of the library can be seen from outside, so that it never mixes with another SQLite or OpenSSL of the process.
if nm -D --defined-only node_modules/undertext/prebuilds/*/undertext.node | grep -vE ' (napi_register_module|node_api_module_get_api_version)_v1$'; then exit 1; fi
echo "the package installs and works"
