#!/usr/bin/env bash
# Runs every test and prints the totals. With cargo-nextest, tests of different crates overlap: many of them wait for
# programs, timers or the disk. Without it, `cargo test` runs the same tests, crate by crate.
set -euo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
if cargo nextest --version >/dev/null 2>&1; then
    cargo build --workspace --bins
    export INTERLOCK_BINARIES_ARE_BUILT=1
    cargo nextest run --workspace --no-fail-fast --status-level fail --final-status-level fail 2>&1 | tee "$log" || failed=1
    awk '/Summary \[/ { for (i = 1; i <= NF; i++) { if ($i ~ /^passed/) passed = $(i - 1); if ($i ~ /^failed/) failed = $(i - 1); if ($i ~ /^timed/) failed += $(i - 1) } }
         END { printf "%d passed, %d failed\n", passed, failed }' "$log"
else
    cargo test --workspace --lib --bins --tests --no-fail-fast 2>&1 | tee "$log" || failed=1
    awk '/^test result:/ { passed += $4; failed += $6 } END { printf "%d passed, %d failed\n", passed, failed }' "$log"
fi
exit "$failed"
