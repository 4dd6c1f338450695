#!/usr/bin/env bash
# The package as a command, for players of scenarios.   UNDERTEXT_NODE_ADDON=… exec.sh exec ARGUMENT…
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/run.sh" "$UNDERTEXT_NODE_ADDON" dist/tests/exec.js "$@"
