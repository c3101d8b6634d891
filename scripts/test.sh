#!/usr/bin/env bash
# Runs every test, and the examples in the documentation of the code, and says how many there were.
set -euo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
cargo test --workspace --lib --bins --tests --no-fail-fast 2>&1 | tee "$log" || failed=1
cargo test --workspace --doc 2>&1 | tee -a "$log" || failed=1
awk '/^test result:/ { passed += $4; failed += $6 } END { printf "%d passed, %d failed\n", passed, failed }' "$log"
exit "$failed"
