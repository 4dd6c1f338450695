#!/usr/bin/env bash
# docs/adapters.md quotes an example of examples/, and what it prints in a project that has installed what it imports.   example.sh ADDON PYTHON EXAMPLE.mjs
# Skipped (77) where scripts/node could not get the packages that adapters are for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../../..
project=$root/build/node-adapters
[[ -d $project/node_modules/undertext/dist/src/adapters ]] || { echo "skipped: node-adapters: scripts/node --adapters has not made the adapters"; exit 77; }
cp "$root/examples/$3" "$project"
"$2" "$root/tests/quoted_example.py" "$root/docs/adapters.md" "$root/examples/$3" "$here/../run.sh" "$1" "$project/$3"
