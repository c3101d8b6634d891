#!/usr/bin/env bash
# Fetches the emulator that management controllers are tested with: sushy-tools (Apache-2.0), from PyPI.
# `redfish.sh --print` prints the folder and fetches nothing.
set -euo pipefail

folder=${INTERLOCK_PARTS:-/var/tmp/interlock-parts-$(id -u)}/interlock/redfish
if [ "${1:-}" = --print ]; then echo "$folder"; exit 0; fi
[ ! -f "$folder/READY" ] || exit 0
echo "setup: the Redfish emulator that management controllers are tested with is missing; fetching about 20 MB" >&2
mkdir -p "$folder"
rm -rf "$folder/venv"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sushy-tools==2.2.0 || { rm -rf "$folder/venv"; exit 1; }
touch "$folder/READY"
