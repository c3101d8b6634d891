#!/usr/bin/env bash
# Proves and draws the five machines.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build

echo "building interlock (some minutes the first time)"
cargo build --release --package interlock-cli
interlock=target/release/interlock
pictures=target/demo
mkdir -p "$pictures"

"$interlock" machines
echo
"$interlock" check
echo
for machine in firmware coder prd brain notebook; do
    "$interlock" draw "$machine" --output "$pictures/$machine.svg" 2>/dev/null
    echo "picture: $pictures/$machine.svg"
done
