#!/bin/sh
# Installs Undertext from this folder.   ./install.sh [--prefix FOLDER] [--uninstall]
# Default: /usr/local for root, else ~/.local. Nothing outside of it is touched.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
uninstall=no
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=${2:?a folder}; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) uninstall=yes ;;
    -h | --help) sed -n '2,3s/^# //p' "$0"; exit 0 ;;
    *) echo "unknown argument: $1 (see ./install.sh --help)" >&2; exit 2 ;;
  esac
  shift
done

case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
cd "$here"
find bin share -type f | while read -r file; do
  if [ "$uninstall" = yes ]; then
    rm -f "$prefix/$file"
    continue
  fi
  mkdir -p "$prefix/$(dirname "$file")"
  # Beside it first: a program that runs is not written to.
  cp "$file" "$prefix/$file.new"
  mv -f "$prefix/$file.new" "$prefix/$file"
done
if [ "$uninstall" = yes ]; then
  rmdir "$prefix/share/undertext/vocabularies" "$prefix/share/undertext" "$prefix/share/doc/undertext" 2>/dev/null || true
  echo "removed from $prefix"
  exit 0
fi
"$prefix/bin/undertext" --version >/dev/null || { echo "$prefix/bin/undertext does not run here: is this package for another processor?" >&2; exit 1; }
echo "installed $("$prefix/bin/undertext" --version) in $prefix/bin"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "$prefix/bin is not in PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
