#!/usr/bin/env bash
# The package for Python as source, with the engine and SQLite in it, so that it builds by itself.   sdist.sh PYTHON FOLDER
# PYTHON has scikit-build-core; scripts/sqlite has been run. Prints the name of the file that it leaves in FOLDER.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
stage=$staged/undertext
mkdir -p "$stage/engine/bindings" "$stage/engine/build"
cp -r "$root/bindings/python/." "$stage"
rm -rf "$stage/tests"
for name in CMakeLists.txt LICENSE cmake include src packaging/debian packaging/undertext.service scripts/sqlite scripts/lib.sh docs/undertext.1; do
  mkdir -p "$stage/engine/$(dirname "$name")"
  cp -r "$root/$name" "$stage/engine/$name"
done
cp -r "$root/bindings/c" "$stage/engine/bindings/c"
cp -r "$root/build/sqlite" "$stage/engine/build/sqlite"
cp "$root/LICENSE" "$stage/LICENSE"
version=$(sed -n 's/^project(undertext VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
"$1" "$root/packaging/notices.py" sdist "$version" "$root" "$stage"
# The command and the tests are no part of it.
rm -rf "$stage/engine/src"/{cli,http,gateway,server}
find "$stage" \( -name '*_test.cpp' -o -name __pycache__ \) -prune -exec rm -rf {} +
cd "$stage"
"$1" -c 'import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))' "$folder" | tail -n 1
