#!/usr/bin/env bash
# Runs simulate.py with the tiktoken that scripts/peers has got.   simulate.sh PLAY [options]
# Skipped (77) where tiktoken or the vocabularies are missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$1
shift
python=$root/build/peers/tiktoken/bin/python
[[ -x $python ]] || { echo "skipped: tiktoken: scripts/peers has not got it"; exit 77; }
exec "$python" "$root/tests/money/simulate.py" "$program" "$root/build/vocabularies/ranks" "$@"
