#!/usr/bin/env bash
# Runs an example of examples/ as a user would who has installed the package.   example.sh ADDON EXAMPLE.mjs
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/node_modules"
ln -s "$here/.." "$folder/node_modules/undertext"
cp "$2" "$folder/"
"$here/run.sh" "$1" "$folder/$(basename "$2")"
