#!/usr/bin/env bash
# The tests of the inspector in a browser.   run.sh PROGRAM TEST.mjs [SCREENSHOTS]
# Skipped (77) where Node, Chromium or the packages of inspector/ are missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
skip() { echo "skipped: $1"; exit 77; }
# The one that scripts/inspector got where the system's was too old.
node=$here/../../build/node/bin/node
[[ -x $node ]] || node=$(command -v node || true)
[[ -n $node ]] || skip "inspector: there is no Node"
[[ -d $here/../../inspector/node_modules/playwright-core ]] || skip "inspector: scripts/inspector has not been run"
chromium=${UNDERTEXT_CHROMIUM:-$(command -v chromium || true)}
[[ -n $chromium ]] || skip "chromium: it is not installed"
"$1" serve --help >/dev/null 2>&1 || skip "server: undertext is built without its server"
UNDERTEXT_PROGRAM=$1 UNDERTEXT_CHROMIUM=$chromium UNDERTEXT_SCREENSHOTS=${3-} exec "$node" --test --test-reporter=spec --test-concurrency=1 "$here/$2"
