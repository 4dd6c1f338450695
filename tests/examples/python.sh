#!/usr/bin/env bash
# Runs an example where the official SDKs are.   python.sh PYTHONPATH EXAMPLE.py
# Skipped (77) where scripts/peers could not get them.
set -euo pipefail
python=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/peers/sdks/bin/python
[[ -x $python ]] || { echo "skipped: sdks: scripts/peers sdks has not been run"; exit 77; }
PYTHONPATH=$1 PYTHONDONTWRITEBYTECODE=1 exec "$python" "${@:2}"
