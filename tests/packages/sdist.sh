#!/usr/bin/env bash
# The sdist can be configured by itself, away from the repository, and holds every file that its build names.   sdist.sh REPOSITORY PYTHON
# Skipped (77) where scripts/python or scripts/sqlite have not been run.
set -euo pipefail
root=$(cd "$1" && pwd)
skip() { echo "skipped: $1"; exit 77; }
[[ -x $2 ]] || skip "python: scripts/python has not been run"
[[ -f $root/build/sqlite/sqlite3.c ]] || skip "sqlite: scripts/sqlite has not been run"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=$("$root/packaging/sdist.sh" "$2" "$work")
tar -xzf "$work/$name" -C "$work"
# Not in it: tests, and what no wheel has.
! tar -tzf "$work/$name" | grep -E '_test\.cpp$|/tests/|/node_modules/|\.o$' || { echo "these do not belong into $name"; exit 1; }
# What it holds of others is named.
tar -xzOf "$work/$name" "${name%.tar.gz}/NOTICE" | grep -q '^SQLite [0-9.]* ' || { echo "the NOTICE does not name SQLite"; exit 1; }
tar -xzOf "$work/$name" "${name%.tar.gz}/sbom.spdx.json" |
  "$2" -c 'import json, sys; assert [package["name"] for package in json.load(sys.stdin)["packages"]] == ["undertext", "SQLite"]' || { echo "the SBOM does not name SQLite alone"; exit 1; }
cmake -S "$work/${name%.tar.gz}" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$2" >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }
! grep '^sqlite' "$work/build/engine/without.txt" || { echo "the sdist has no SQLite"; exit 1; }
# Everything that the build would compile is there.
mapfile -t sources < <(ninja -C "$work/build" -t commands undertext_native | grep -oE ' -c [^ ]+' | cut -c5-)
((${#sources[@]} > 100)) || { echo "only ${#sources[@]} files would be compiled"; exit 1; }
for source in "${sources[@]}"; do
  [[ -f $source ]] || { echo "$source is not in the sdist"; exit 1; }
done
echo "$name can be built by itself: ${#sources[@]} files"
