#!/usr/bin/env bash
# Runs tests or programs of the npm package.   run.sh ADDON ARGUMENTS-OF-NODE…
# Skipped (77) where Node is missing or scripts/node has not been run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
skip() { echo "skipped: $1"; exit 77; }
# The one that scripts/node got where the system's was too old.
node=$here/../../build/node/bin/node
[[ -x $node ]] || node=$(command -v node || true)
[[ -n $node ]] || skip "node: there is no Node"
[[ -f $here/dist/src/index.js ]] || skip "node: scripts/node has not been run"
cd "$here"
UNDERTEXT_NODE_ADDON=$1 exec "$node" "${@:2}"
