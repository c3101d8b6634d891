#!/usr/bin/env bash
# How fast it is: steps a second next to XState, loading a machine, the program's start.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --release --package interlock-cli --package interlock-benches
exec target/release/bench "$@"
