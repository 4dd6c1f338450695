#!/usr/bin/env bash
# schema_test.py with the validator that scripts/peers gets, on these scenarios and those that lie beside the repository.   schema_test.sh PROGRAM FILE…
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$root/build/peers/openapi/bin/python
[[ -x $python ]] || { echo "skipped: openapi: scripts/peers has not got the validator"; exit 77; }
beside=("$root"/../shared/conformance/*.json)
[[ -e ${beside[0]} ]] || beside=()
exec "$python" "$root/tests/schema_test.py" "$@" "${beside[@]}"
