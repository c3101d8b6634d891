#!/usr/bin/env bash
# How many one-line bugs of the sample firmwares the templates repair: `repair-score.sh [--fresh] [--trials N] [--only NAME]`.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --package interlock-repair --example score
exec target/debug/examples/score examples/firmware "$@"
