#!/usr/bin/env bash
# Fetches the emulator that management controllers are tested with: sushy-tools (Apache-2.0), from PyPI.
set -euo pipefail

folder=${XDG_CACHE_HOME:-$HOME/.cache}/interlock/redfish
[ ! -x "$folder/venv/bin/sushy-emulator" ] || exit 0
echo "setup: the Redfish emulator that management controllers are tested with is missing; fetching about 20 MB" >&2
mkdir -p "$folder"
rm -rf "$folder/venv"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sushy-tools==2.2.0 || { rm -rf "$folder/venv"; exit 1; }
