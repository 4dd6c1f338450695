#!/usr/bin/env bash
# The compiler for one target, and the libraries that packages for it are linked with.   libraries.sh TARGET
# Into build/package/TARGET: bin has the compiler, prefix the libraries as archives with their headers. What is there and fits is left as it is.
# TARGET is one of zig's: x86_64-linux-gnu.2.28, aarch64-linux-gnu.2.28, x86_64-linux-musl, aarch64-linux-musl, aarch64-macos.
# The compiler is zig's clang: it carries the headers and stubs of every glibc, and musl, for every processor; so a package asks for no newer system than it says.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

target=$1
package=$root/build/package
folder=$package/$target
sources=$package/sources
prefix=$folder/prefix
export UNDERTEXT_TARGET_FOLDER=$folder CCACHE_COMPILERTYPE=clang ZIG_GLOBAL_CACHE_DIR=$package/zig-cache ZIG_LOCAL_CACHE_DIR=$package/zig-cache

stamp=$(cat "${BASH_SOURCE[0]}" "$root/packaging/sources.json" "$root/packaging/libraries/CMakeLists.txt" | sha256sum)
[[ $(cat "$folder/stamp" 2>/dev/null) != "$stamp" ]] || exit 0

use_python || { echo "there is no Python 3.9 with venv" >&2; exit 3; }
python_environment "$package/zig" ziglang==0.17.0 || { echo "packages cannot be installed from PyPI" >&2; exit 3; }
zig=$(echo "$package"/zig/lib/python3*/site-packages/ziglang/zig)
mkdir -p "$sources" "$folder/bin" "$prefix/include"
"$python" "$root/packaging/obtain.py" "$sources"

# zig adds traps for undefined behaviour where nothing is optimised; and what is made here must not depend on where.
for tool in cc c++; do
  cat >"$folder/bin/$tool" <<END
#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR='$ZIG_GLOBAL_CACHE_DIR' ZIG_LOCAL_CACHE_DIR='$ZIG_LOCAL_CACHE_DIR'
exec '$zig' $tool -target $target -fno-sanitize=undefined -ffile-prefix-map='$root'=. "\$@"
END
done
for tool in ar ranlib; do
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$tool" >"$folder/bin/$tool"
done
chmod +x "$folder"/bin/*

launcher=$(command -v ccache || true)
toolchain=(-G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/packaging/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
  -DCMAKE_C_COMPILER_LAUNCHER="$launcher")

case $target in
  x86_64-linux-*) configuration=linux-x86_64 ;;
  aarch64-linux-*) configuration=linux-aarch64 ;;
  x86_64-macos*) configuration=darwin64-x86_64 ;;
  aarch64-macos*) configuration=darwin64-arm64 ;;
  *) echo "there is no target $target" >&2; exit 2 ;;
esac
# /etc/ssl is where Debian, Alpine and Arch keep certificates. Only what HTTPS, PostgreSQL and digests need.
openssl_options=("$configuration" --prefix="$prefix" --libdir=lib --openssldir=/etc/ssl no-shared no-module no-tests no-apps no-docs no-engine no-dso no-legacy no-comp no-quic no-async
  no-ssl3 no-weak-ssl-ciphers no-srp no-cms no-ts no-ct no-md4 no-mdc2 no-rc2 no-rc4 no-idea no-seed no-bf no-cast no-camellia no-aria no-sm2 no-sm3 no-sm4 no-whirlpool
  no-rmd160 no-ml-dsa no-slh-dsa no-lms no-gost no-ocb no-cmp no-rfc3779 no-sctp no-srtp no-uplink no-dtls no-siphash no-ec2m no-cached-fetch no-ui-console
  -O2 -fvisibility=hidden)
openssl_stamp="$(cat "$sources/openssl.stamp") ${openssl_options[*]}"
if [[ $(cat "$folder/openssl.stamp" 2>/dev/null) != "$openssl_stamp" ]]; then
  mkdir -p "$folder/openssl"
  (
    cd "$folder/openssl"
    CC="$launcher $folder/bin/cc" AR=$folder/bin/ar RANLIB=$folder/bin/ranlib perl "$sources/openssl/Configure" "${openssl_options[@]}"
    make --silent --jobs "$jobs" build_sw
    make --silent install_dev
  ) >"$folder/openssl.log" 2>&1 || { tail -n 30 "$folder/openssl.log" >&2; exit 1; }
  echo "$openssl_stamp" >"$folder/openssl.stamp"
fi

cmake -S "$root/packaging/libraries" -B "$folder/libraries" "${toolchain[@]}" -DSOURCES="$sources"
cmake --build "$folder/libraries" --parallel "$jobs"
cmake --install "$folder/libraries" >/dev/null

cmake -S "$sources/curl" -B "$folder/curl" "${toolchain[@]}" -DBUILD_CURL_EXE=OFF -DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF \
  -DBUILD_LIBCURL_DOCS=OFF -DBUILD_MISC_DOCS=OFF -DENABLE_CURL_MANUAL=OFF -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DOPENSSL_USE_STATIC_LIBS=ON -DCURL_ZLIB=ON -DCURL_ZSTD=OFF \
  -DCURL_BROTLI=OFF -DUSE_NGHTTP2=OFF -DUSE_LIBIDN2=OFF -DCURL_USE_LIBPSL=OFF -DCURL_USE_LIBSSH2=OFF -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none -DCURL_CA_FALLBACK=ON \
  -DCURL_USE_PKGCONFIG=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Perl=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_C_VISIBILITY_PRESET=hidden
cmake --build "$folder/curl" --parallel "$jobs"
cmake --install "$folder/curl" >/dev/null
# Headers alone, of this system.
ln -sfn /usr/include/boost "$prefix/include/boost"
ln -sfn /usr/include/CLI "$prefix/include/CLI"
mkdir -p "$prefix/lib/cmake/CLI11"
cat >"$prefix/lib/cmake/CLI11/CLI11Config.cmake" <<'END'
if(NOT TARGET CLI11::CLI11)
  add_library(CLI11::CLI11 INTERFACE IMPORTED)
  target_include_directories(CLI11::CLI11 SYSTEM INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../../../include)
endif()
END
# CMake asks for the version there.
echo '#define PG_VERSION "18.6"' >"$prefix/include/pg_config.h"
echo "$stamp" >"$folder/stamp"
