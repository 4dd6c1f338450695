#!/usr/bin/env bash
# Compiles an example strictly, and runs it where the official SDKs are.   typescript.sh ADDON EXAMPLE.mts
# Skipped (77) where scripts/peers could not get them, or scripts/node has not been run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
package=$root/bindings/node
clients=$root/build/peers/clients/node_modules
skip() { echo "skipped: $1"; exit 77; }
[[ -f $package/dist/src/index.js ]] || skip "node: scripts/node has not been run"
[[ -d $clients/ai ]] || skip "clients: scripts/peers clients has not been run"
[[ ! -x $root/build/node/bin/node ]] || PATH=$root/build/node/bin:$PATH
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
mkdir "$project/node_modules"
ln -s "$clients"/* "$project/node_modules/"
ln -s "$package" "$project/node_modules/undertext"
cp "$2" "$project/"
"$package/node_modules/.bin/tsc" --strict --skipLibCheck --target es2022 --lib es2024,esnext.disposable,dom --module nodenext \
  --typeRoots "$package/node_modules/@types" --types node --outDir "$project/out" "$project/$(basename "$2")"
UNDERTEXT_NODE_ADDON=$1 node "$project/out/$(basename "$2" .mts).mjs"
