#!/usr/bin/env bash
# A command like the real one, whose every call keeps its conversation in a store, under a name of its own: for players of scenarios.
#   UNDERTEXT_BINARY=… UNDERTEXT_TEST_STORE=URL stored.sh COMMAND ARGUMENT…
set -euo pipefail

command=$1
shift
exec "$UNDERTEXT_BINARY" "$command" --store "$UNDERTEXT_TEST_STORE" --conversation "c$$-$(date +%s%N)" --checkpoint 2 "$@"
