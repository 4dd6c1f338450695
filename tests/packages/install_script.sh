#!/usr/bin/env bash
# install.sh of the tarball: installs into a prefix, absolute or not, over what runs, says where PATH lacks it, and takes all of it away again.   install_script.sh REPOSITORY
set -euo pipefail
root=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
mkdir -p "$work/package/bin" "$work/package/share/undertext/vocabularies" "$work/package/share/doc/undertext" "$work/there"
printf '#!/bin/sh\necho "undertext 1.2.3"\n' >"$work/package/bin/undertext"
chmod +x "$work/package/bin/undertext"
echo words >"$work/package/share/undertext/vocabularies/a.vocabulary"
echo NOTICE >"$work/package/share/doc/undertext/copyright"
cp "$root/packaging/install.sh" "$work/package"

cd "$work/there"
for prefix in "$work/absolute" relative; do
  for again in first second; do
    said=$(../package/install.sh --prefix "$prefix")
    [[ $said == *"installed undertext 1.2.3 in "*"is not in PATH"* ]] || fail "$again time into $prefix: $said"
  done
done
[[ $("$work/absolute/bin/undertext") == "undertext 1.2.3" && $(relative/bin/undertext) == "undertext 1.2.3" ]] || fail "it is not there"
! find "$work/absolute" "$work/there" -name '*.new' | grep . || fail "something is left behind"
[[ ! -e $work/package/relative ]] || fail "a prefix is relative to the folder of the package"
HOME=$work/home PATH=$work/absolute/bin:$PATH ../package/install.sh --prefix="$work/absolute" | grep -q "not in PATH" && fail "PATH has it"
../package/install.sh --prefix relative --uninstall >/dev/null
! find relative -type f | grep . || fail "something was not removed"
! ../package/install.sh --nonsense 2>"$work/error" || fail "any argument is taken"
grep -q -- --nonsense "$work/error"
# One for another processor says so.
printf '#!/bin/sh\nexit 126\n' >"$work/package/bin/undertext"
! ../package/install.sh --prefix "$work/other" 2>"$work/error" || fail "what does not run is installed"
grep -q "another processor" "$work/error"
echo "install.sh installs and removes"
