#!/usr/bin/env bash
# Compiles everything for macOS, to objects that are thrown away: as far as a Linux machine can tell whether it would build there. Nothing is linked.
#   check_macos.sh [FILE…]      default: all sources of the library, the server, the command, the addon for Node and the module for Python
# Needs libraries.sh to have run for this machine's musl target, for headers of libraries that do not depend on the system; scripts/node, for those of Node-API; scripts/python, for
# nanobind and Python's own, whose configuration is that of this machine, with 64 bits as there.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"
package=$root/build/package
zig=$(echo "$package"/zig/lib/python3*/site-packages/ziglang/zig)
include=$package/$(uname -m)-linux-musl/prefix/include
node_headers=$root/bindings/node/node_modules/node-api-headers/include
venv=$root/build/venv/bin/python
for needed in "$zig" "$include/openssl/ssl.h" "$include/boost/version.hpp" "$node_headers/node_api.h" "$venv" "$root/build/sqlite/sqlite3.h"; do
  [[ -e $needed ]] || { echo "$needed is missing: scripts/package macos-check gets it" >&2; exit 1; }
done
nanobind=$("$venv" -c 'import nanobind; print(nanobind.include_dir())')
python_headers=$package/headers/macos
"$venv" "$root/packaging/python_headers.py" "$python_headers"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ZIG_GLOBAL_CACHE_DIR=$package/zig-cache ZIG_LOCAL_CACHE_DIR=$package/zig-cache zig

flags=(-target aarch64-macos.12.0 -std=c++20 -O1 -Wall -Wextra -Werror -Wno-deprecated-declarations -Wno-nullability-completeness -I"$root/src" -I"$root/include" -I"$root/bindings/c" -I"$root/build/sqlite"
  -isystem "$include" -DUNDERTEXT_HAVE_SERVER=1 -DUNDERTEXT_HAVE_CURL=1 -DUNDERTEXT_HAVE_ZLIB=1 -DUNDERTEXT_HAVE_BROTLI=1 -DUNDERTEXT_HAVE_SQLITE=1 -DUNDERTEXT_HAVE_POSTGRES=1
  -DUNDERTEXT_HAVE_EDITLINE=0 -DBOOST_ASIO_SEPARATE_COMPILATION -DBOOST_ASIO_NO_DEPRECATED)
flags_of() { # FILE: what it is compiled with beside those, one to a line
  case $1 in
    */bindings/node/native/*) printf '%s\n' -isystem "$node_headers" -DNAPI_VERSION=8 ;;
    */bindings/python/native/*)
      printf '%s\n' -include "$root/bindings/python/native/stable_abi.hpp" -isystem "$nanobind" -isystem "$nanobind/../ext/robin_map/include" -isystem "$python_headers" ;;
  esac
}

compile() { # FILE
  local own=()
  mapfile -t own < <(flags_of "$1")
  "$zig" c++ "${flags[@]}" "${own[@]}" -c "$1" -o "$work/$BASHPID.o" || { echo "${1#"$root"/} does not compile for macOS"; return 1; }
}

files=("$@")
((${#files[@]})) || mapfile -t files < <(find "$root/src" "$root/bindings/c" "$root/bindings/node/native" "$root/bindings/python/native" -name '*.cpp' ! -name '*_test.cpp')
failed=0 running=0
for file in "${files[@]}"; do
  if ((running == jobs)); then
    wait -n || failed=1
    running=$((running - 1))
  fi
  compile "$(realpath "$file")" &
  running=$((running + 1))
done
for ((; running > 0; --running)); do wait -n || failed=1; done
((failed == 0)) && echo "${#files[@]} files compile for macOS"
exit "$failed"
