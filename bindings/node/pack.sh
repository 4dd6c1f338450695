#!/usr/bin/env bash
# Puts the compiled package and an addon into a package for npm, and prints its path.   pack.sh ADDON FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
mkdir -p "$staged/dist" "$2"
cp -r "$here/dist/src" "$staged/dist/"
cp "$here/package.json" "$here/README.md" "$here/../../LICENSE" "$staged/"
binary=$staged/prebuilds/$(node -p "process.platform + '-' + process.arch")/undertext.node
mkdir -p "$(dirname "$binary")"
cp "$1" "$binary"
strip --strip-debug "$binary"
folder=$(cd "$2" && pwd)
echo "$folder/$(cd "$staged" && npm pack --silent --pack-destination "$folder")"
