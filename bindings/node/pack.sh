#!/usr/bin/env bash
# Packages for npm, from what scripts/node has compiled. Prints the path of each.
#   pack.sh ADDON FOLDER                                 one package with an addon for this machine in it
#   pack.sh --platforms FOLDER linux-x64=ADDON…          the package without an addon, and one for each platform, of which npm installs the one that fits
# NOTICE=FILE, SBOM=FILE and VOCABULARIES="FILE…", in the environment: go beside each addon.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT

pack() { # STAGED-FOLDER FOLDER
  mkdir -p "$2"
  local folder
  folder=$(cd "$2" && pwd)
  echo "$folder/$(cd "$1" && npm pack --silent --pack-destination "$folder")"
}

stage_package() {
  mkdir -p "$staged/undertext/dist"
  cp -r "$here/dist/src" "$staged/undertext/dist/"
  cp "$here/package.json" "$here/README.md" "$here/../../LICENSE" "$staged/undertext/"
}

if [[ $1 != --platforms ]]; then
  stage_package
  binary=$staged/undertext/prebuilds/$(node -p "process.platform + '-' + process.arch")/undertext.node
  mkdir -p "$(dirname "$binary")"
  cp "$1" "$binary"
  strip --strip-debug "$binary"
  pack "$staged/undertext" "$2"
  exit 0
fi

folder=$2
platforms=()
for given in "${@:3}"; do
  platform=${given%%=*}
  platforms+=("$platform")
  staging=$staged/undertext-$platform
  mkdir "$staging"
  cp "${given#*=}" "$staging/undertext.node"
  cp "$here/../../LICENSE" "$staging/"
  [[ -z ${NOTICE-} ]] || cp "$NOTICE" "$staging/NOTICE"
  [[ -z ${SBOM-} ]] || cp "$SBOM" "$staging/sbom.spdx.json"
  # shellcheck disable=SC2086 # none or several files
  [[ -z ${VOCABULARIES-} ]] || { mkdir "$staging/vocabularies" && cp $VOCABULARIES "$staging/vocabularies"; }
  echo "The addon of [undertext](https://www.npmjs.com/package/undertext) for $platform. npm installs it where it fits." >"$staging/README.md"
  PLATFORM=$platform node -e '
    const own = require(process.argv[1]), [os, cpu] = process.env.PLATFORM.split("-")
    const libc = os === "linux" ? { libc: ["glibc"] } : {}
    console.log(JSON.stringify({ name: `${own.name}-${os}-${cpu}`, version: own.version, description: `The addon of ${own.name} for ${os}-${cpu}`, license: own.license,
      engines: own.engines, os: [os], cpu: [cpu], ...libc, main: "undertext.node" }, null, 2))' "$here/package.json" >"$staging/package.json"
  pack "$staging" "$folder"
done
stage_package
PLATFORMS="${platforms[*]}" node -e '
  const fs = require("fs"), file = process.argv[1], own = JSON.parse(fs.readFileSync(file))
  own.files = own.files.filter((name) => name !== "prebuilds")
  own.optionalDependencies = Object.fromEntries(process.env.PLATFORMS.split(" ").map((platform) => [`${own.name}-${platform}`, own.version]))
  delete own.devDependencies
  fs.writeFileSync(file, JSON.stringify(own, null, 2) + "\n")' "$staged/undertext/package.json"
pack "$staged/undertext" "$folder"
