# shellcheck shell=bash
# What scripts/run and scripts/test share. Sourced, not run. Everything here writes to standard error, so that the output of a program
# started by a script stays its own.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
jobs=$(nproc)
mkdir -p "$logs"
# Stages that took less say nothing.
stage_line_min_s=0

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

# stage NAME COMMAND…: runs the command with its output in a log; prints one line with the time taken, or the end of the log when it fails.
stage() {
  local name=$1 log start=$SECONDS
  log=$logs/${name//[^a-z0-9]/-}.log
  shift
  # In a subshell, and not as a condition, so that the first failing step ends the stage.
  set +e
  (
    set -e
    "$@"
  ) >"$log" 2>&1 </dev/null
  local status=$?
  set -e
  if ((status != 0)); then
    printf '%-34s FAILED after %d s; the end of %s:\n' "$name" $((SECONDS - start)) "${log#"$root"/}" >&2
    tail -n 40 "$log" >&2
    exit 1
  fi
  ((SECONDS - start < stage_line_min_s)) || printf '%-34s %4d s\n' "$name" $((SECONDS - start)) >&2
}

# build PRESET [TARGET]: configures where the presets are newer than the build (ninja sees every other change by itself), and builds.
build() {
  [[ $root/build/$1/build.ninja -nt $root/CMakePresets.json ]] || (cd "$root" && cmake --preset "$1")
  cmake --build "$root/build/$1" --parallel "$jobs" ${2:+--target "$2"}
}

# npm_registry: where npm packages come from.
npm_registry() {
  local said=${UNDERTEXT_NPM_REGISTRY-}
  [[ -n $said ]] || said=$(npm config get registry 2>/dev/null || true)
  [[ $said == http* ]] || said=https://registry.npmjs.org
  echo "${said%/}"
}

# get_sqlite: its source, before the build. Without a network everything is built without it, and says so.
get_sqlite() {
  local status=0
  "$root/scripts/sqlite" || status=$?
  ((status == 0 || status == 3))
}

# get_inspector: the page of the server, before the build. Without Node everything is built without it, and says so.
get_inspector() {
  local status=0
  "$root/scripts/inspector" "$@" || status=$?
  ((status == 0 || status == 3))
}

# get_python: the environment in which the package for Python is built and tested. Without Python everything is built without it, and says so.
get_python() {
  local status=0
  "$root/scripts/python" "$@" || status=$?
  ((status == 0 || status == 3))
}

# get_vocabularies: for exact token counts. Without a network everything works without them, and what needs them says that it was skipped.
get_vocabularies() {
  local status=0
  "$root/scripts/vocabularies" || status=$?
  ((status == 0 || status == 3))
}
