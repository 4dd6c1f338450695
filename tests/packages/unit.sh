#!/usr/bin/env bash
# The unit of the .deb is hardened: systemd calls its exposure 2.0 of 10 at most.   unit.sh REPOSITORY
# Skipped (77) where systemd-analyze cannot read a unit that is not installed.
set -euo pipefail
unit=$1/packaging/undertext.service
systemd-analyze security --help 2>/dev/null | grep -q -- --offline || { echo "skipped: inapplicable: there is no systemd-analyze with --offline"; exit 77; }
said=$(systemd-analyze security --no-pager --offline=true --threshold=20 "$unit" 2>&1) || { echo "$said"; exit 1; }
echo "$said" | tail -n 1
# What nobody may loosen without notice.
for line in DynamicUser=yes NoNewPrivileges=yes ProtectSystem=strict MemoryDenyWriteExecute=yes CapabilityBoundingSet=; do
  grep -qx "$line" "$unit" || { echo "the unit lacks $line"; exit 1; }
done
