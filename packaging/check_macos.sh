#!/usr/bin/env bash
# Compiles the engine and the command for macOS, to objects that are thrown away: as far as a Linux machine can tell whether they would build there.
#   check_macos.sh [FILE…]      default: all sources of the library, the server and the command
# Needs libraries.sh to have run for this machine's musl target, for headers of libraries that do not depend on the system.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"
package=$root/build/package
zig=$(echo "$package"/zig/lib/python3*/site-packages/ziglang/zig)
include=$package/$(uname -m)-linux-musl/prefix/include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ZIG_GLOBAL_CACHE_DIR=$package/zig-cache ZIG_LOCAL_CACHE_DIR=$package/zig-cache
files=("$@")
((${#files[@]})) || mapfile -t files < <(find "$root/src" "$root/bindings/c" -name '*.cpp' ! -name '*_test.cpp')
failed=0
for file in "${files[@]}"; do
  "$zig" c++ -target aarch64-macos.12.0 -std=c++20 -O1 -Wall -Wextra -Werror -Wno-deprecated-declarations -Wno-nullability-completeness -I"$root/src" -I"$root/include" -I"$root/bindings/c" -I"$root/build/sqlite" \
    -isystem "$include" -DUNDERTEXT_HAVE_SERVER=1 -DUNDERTEXT_HAVE_CURL=1 -DUNDERTEXT_HAVE_ZLIB=1 -DUNDERTEXT_HAVE_SQLITE=1 -DUNDERTEXT_HAVE_POSTGRES=1 -DUNDERTEXT_HAVE_EDITLINE=0 -DBOOST_ASIO_SEPARATE_COMPILATION \
    -DBOOST_ASIO_NO_DEPRECATED -c "$file" -o "$work/object.o" || { echo "${file#"$root"/} does not compile for macOS"; failed=1; }
done
((failed == 0)) && echo "${#files[@]} files compile for macOS"
exit "$failed"
