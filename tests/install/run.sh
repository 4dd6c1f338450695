#!/usr/bin/env bash
# Installs the build BUILD_DIR to a fresh place, moves it, and uses it from outside: with CMake and with pkg-config, shared and static.
#   run.sh BUILD_DIR
set -euo pipefail

build=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cxx=${CXX:-g++}

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved

say_version() { # NAME PROGRAM…: the program must print the version of the pkg-config file
  local name=$1 said
  shift
  said=$("$@")
  [[ $said == "$version" ]] || { echo "$name says version '$said', expected '$version'"; exit 1; }
  echo "$name: ok"
}

pc=$(find "$prefix" -name undertext.pc)
export PKG_CONFIG_PATH=${pc%/*}
version=$(pkg-config --modversion undertext)
library_dir=$(pkg-config --variable=libdir undertext)
read -ra cflags <<<"$(pkg-config --cflags undertext)"
read -ra libs <<<"$(pkg-config --libs undertext)"
private=" $(pkg-config --static --libs undertext) "
read -ra private_libs <<<"${private/ -lundertext / }"

cmake -S "$here" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" >"$work/cmake.log"
cmake --build "$work/cmake" >>"$work/cmake.log" || { cat "$work/cmake.log"; exit 1; }
say_version "find_package, shared" "$work/cmake/with_shared"
say_version "find_package, static" "$work/cmake/with_static"

"$cxx" -std=c++20 "${cflags[@]}" "$here/main.cpp" "${libs[@]}" -o "$work/shared"
say_version "pkg-config, shared" env LD_LIBRARY_PATH="$library_dir" "$work/shared"
"$cxx" -std=c++20 "${cflags[@]}" "$here/main.cpp" "$library_dir/libundertext.a" "${private_libs[@]}" -o "$work/static"
say_version "pkg-config, static" "$work/static"

[[ ! -x $prefix/bin/undertext ]] || "$prefix/bin/undertext" --version >/dev/null

# Each header stands alone, and says nothing to a user who asks for warnings.
for header in "$prefix"/include/undertext/*.hpp; do
  echo "#include <undertext/${header##*/}>" |
    "$cxx" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "${cflags[@]}" -x c++ -
done
echo "headers: each stands alone"

# Only what belongs to undertext:: or stands in undertext.h may be seen from outside. (Inline functions of the standard library are weak symbols, and may.)
foreign=$(nm -DC --defined-only "$library_dir/libundertext.so" | awk '$2 ~ /[TDBR]/' | grep -vE ' undertext(::|_[a-z_]+@@UNDERTEXT_C_1$)' |
  grep -vE ' (vtable|typeinfo|typeinfo name|VTT|guard variable) for undertext::' || true)
[[ -z $foreign ]] || { echo "symbols that should be hidden:"; echo "$foreign"; exit 1; }
echo "visibility: ok"
