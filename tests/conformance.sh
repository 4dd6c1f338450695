#!/usr/bin/env bash
# Plays the conformance scenarios, where they lie beside the repository.   conformance.sh PYTHON BINARY
# Status 77 tells ctest that the test was skipped.
set -euo pipefail

player="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/shared/conformance/run.py"
if [[ ! -f $player ]]; then
  echo "skipped: inapplicable: there is no ../shared/conformance beside the repository; tests/scenarios stand in for it"
  exit 77
fi
exec "$1" "$player" "$2"
