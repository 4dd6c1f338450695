#!/usr/bin/env bash
# Runs a test of the adapters, or a program that uses them.   run.sh ADDON FILE
# Skipped (77) where scripts/node could not get the packages they are for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$here/../../../../build/node-adapters
file=$project/out/tests/adapters/$2
[[ -f $file ]] || { echo "skipped: node-adapters: scripts/node --adapters has not made the adapters"; exit 77; }
case $2 in
  *.spec.js) how=("$project/node_modules/vitest/vitest.mjs" run --globals --root "$project" "$file") ;;
  *.test.js) how=(--test-reporter=spec --test "$file") ;;
  *) how=("$file") ;;
esac
exec "$here/../run.sh" "$1" "${how[@]}"
