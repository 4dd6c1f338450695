#!/usr/bin/env bash
# Runs compare_with_tiktoken.py with a tiktoken of its own, in build/peers.   compare.sh ENCODE_TEXTS [--quick]
# Exits with 77, loudly, where tiktoken cannot be installed or the vocabularies are not there.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$1
shift
python=$root/build/peers/venv/bin/python

if ! "$python" -c 'import tiktoken' 2>/dev/null; then
  mkdir -p "$root/build/peers"
  if ! { python3 -m venv "$root/build/peers/venv" && "$python" -m pip install --quiet tiktoken==0.14.0; }; then
    echo "SKIPPED: tiktoken cannot be installed, so nothing was compared with it"
    exit 77
  fi
fi
exec "$python" "$root/tests/tokens/compare_with_tiktoken.py" "$@" "$program" "$root/build/vocabularies/ranks" "$root/build/corpora"
