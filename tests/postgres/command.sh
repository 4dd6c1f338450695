#!/usr/bin/env bash
# Plays the scenarios through the command, each call on a stored conversation, in the PostgreSQL that UNDERTEXT_TEST_POSTGRES names; then random lines with the
# process killed in between, and processes that race.   command.sh PYTHON BINARY
set -euo pipefail

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$1
export UNDERTEXT_BINARY=$2 UNDERTEXT_TEST_STORE=$UNDERTEXT_TEST_POSTGRES

# Where the conformance scenarios do not lie beside the repository, our own stand in for them.
bash "$tests/conformance.sh" "$python" "$tests/stored.sh" || (($? == 77))
for file in "$tests"/scenarios/*.json; do "$python" "$tests/play_scenarios.py" "$tests/stored.sh" "$file"; done
STEPS=${STEPS:-200} "$python" "$tests/exec_model.py" "$UNDERTEXT_BINARY" "$UNDERTEXT_TEST_STORE"
STEPS=60 "$python" "$tests/racing.py" "$UNDERTEXT_BINARY" "$UNDERTEXT_TEST_STORE"
