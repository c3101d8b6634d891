#!/usr/bin/env bash
# Checks licences and origins of dependencies with cargo-deny. Builds it if it is missing, without optimisation: it runs
# for a second, and an optimised build takes several times as long.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo deny --version >/dev/null 2>&1; then
    echo "deny: cargo-deny is missing; building it takes a minute or two" >&2
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_INCREMENTAL=0 cargo install cargo-deny --version '^0.20' --locked --quiet --profile dev
fi
cargo deny check bans licenses sources
