#!/usr/bin/env bash
# The package as npm installs it, into an empty folder, without a network and without running anything of it; then used by import and by require.   package.sh ADDON
# Skipped (77) where Node or npm are missing, or scripts/node has not been run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
skip() { echo "skipped: $1"; exit 77; }
[[ ! -x $here/../../build/node/bin/node ]] || PATH=$here/../../build/node/bin:$PATH
command -v npm >/dev/null || skip "there is no npm"
[[ -f $here/dist/src/index.js ]] || skip "scripts/node has not been run"
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
# What is in it is what is wanted: no tests, no sources of the addon.
if find node_modules/undertext | grep -E '/(tests|native|node_modules)/'; then exit 1; fi
echo "the package installs and works"
