#!/usr/bin/env bash
# Makes the site of the manual and looks at it.   run.sh PROGRAM
# Skipped (77) where the packages of site/ or inspector/ (for the browser), Node or Chromium are missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
skip() { echo "skipped: $1"; exit 77; }
[[ -d $root/site/node_modules/vitepress ]] || skip "site: scripts/site --obtain has not been run"
[[ -d $root/inspector/node_modules/playwright-core ]] || skip "inspector: scripts/inspector has not been run"
chromium=${UNDERTEXT_CHROMIUM:-$(command -v chromium || true)}
[[ -n $chromium ]] || skip "chromium: it is not installed"
"$1" serve --help >/dev/null 2>&1 || skip "server: undertext is built without its server"
"$root/scripts/site" "$1"
python3 "$here/pages_test.py" "$root"
node=$root/build/node/bin/node
[[ -x $node ]] || node=$(command -v node)
UNDERTEXT_PROGRAM=$(realpath "$1") UNDERTEXT_CHROMIUM=$chromium UNDERTEXT_SITE=$root/build/site/html exec "$node" --test --test-reporter=spec "$here/browser_test.mjs"
