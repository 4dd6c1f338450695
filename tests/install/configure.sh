#!/usr/bin/env bash
# Plain CMake and FetchContent without the source of SQLite: configuring fails and says what to do; refused by name, it goes on.   configure.sh REPOSITORY
set -euo pipefail
root=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1:"; cat "$work/output"; exit 1; }

# configure SOURCE OPTION…: the status is cmake's.
configure() {
  rm -rf "$work/build"
  cmake -S "$1" -B "$work/build" -G Ninja -DFETCHCONTENT_SOURCE_DIR_UNDERTEXT="$root" -DCMAKE_CXX_COMPILER="${CXX:-g++}" "${@:2}" >"$work/output" 2>&1
}
says() { tr -s ' \n' ' ' <"$work/output" | grep -qF -- "$1" || fail "nothing says: $1"; }

mkdir "$work/user"
cat >"$work/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(undertext URL file:///none)
FetchContent_MakeAvailable(undertext)
file(WRITE \${CMAKE_BINARY_DIR}/main.cpp "#include <undertext/undertext.hpp>\nint main() {}\n")
add_executable(user \${CMAKE_BINARY_DIR}/main.cpp)
target_link_libraries(user PRIVATE undertext::undertext_static)
END
for source in "$root" "$work/user"; do
  ! configure "$source" -DUNDERTEXT_SQLITE="$work/nothing" || fail "$source is configured without SQLite"
  says "$root/scripts/sqlite $work/nothing"
  says "-DUNDERTEXT_SQLITE=OFF"
  configure "$source" -DUNDERTEXT_SQLITE=OFF || fail "$source is not configured with SQLite refused"
  says "without sqlite: it was refused"
done
echo "without SQLite, configuring says what to do"
