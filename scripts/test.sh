#!/usr/bin/env bash
# Runs everything that must be right: format, tests, doc tests, lints and licences. `test.sh parts` runs the tests that need
# heavy parts instead, after it has fetched the parts; a missing part is then a failure. `.config/nextest.toml` has the rule
# that separates the two. Both print the totals of the tests last, and both compile the same binaries.
#
# The tests are compiled first, on all cores. Then tests run, and beside them, with low priority, the lints, the doc
# tests and the licence check: many tests wait for programs, timers or the disk and leave time for these. Lints share
# the build scripts and macros of the tests, so they use the same target directory and start after the compilation,
# when its lock is free.
#
# Without cargo-nextest, the same steps run one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-light}

# A clean clone is compiled once, so what makes the next compilation faster only costs time. Panics still name their place.
if [ -n "${CI:-}" ]; then export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none; fi

logs=$(mktemp -d)
beside=()
failed=0
touch "$logs/tests" "$logs/lints"

# Prints the totals as the last line, also if the compilation failed. nextest has one summary, `cargo test` one line per
# binary. No test at all is a failure.
totals() {
    awk '/Summary \[/ { for (i = 1; i <= NF; i++) { if ($i ~ /^passed/) passed += $(i - 1); if ($i ~ /^(failed|timed)/) failed += $(i - 1) } }
         /^test result:/ { passed += $4; failed += $6 }
         END { if (passed + failed == 0) failed = 1; printf "%d passed, %d failed\n", passed, failed }' "$logs/tests" "$logs/lints"
}
trap 'kill "${beside[@]}" 2>/dev/null || true; totals; rm -rf "$logs"' EXIT

# Runs a command in the background with its output in a log.
beside() {
    local log=$logs/$1
    shift
    nice -n 10 "$@" >"$log" 2>&1 &
    beside+=("$!")
}

# Waits for a command in the background. Prints its log if it failed.
finish() {
    if wait "$2"; then
        echo "$1: ok"
    else
        echo "$1: failed"
        cat "$logs/$1"
        failed=1
    fi
}

lint_and_doc() {
    cargo clippy --workspace --all-targets -- -D warnings
    # All crates are selected, so that dependencies have the features they were compiled with. `core` and `chart` have
    # doc tests; the manifests of the others say `doctest = false`.
    cargo test --workspace --doc
}
export -f lint_and_doc

if [ "$what" = parts ]; then
    export INTERLOCK_REQUIRE_PARTS=1
    beside parts scripts/setup.sh parts
else
    cargo fmt --all --check || failed=1
    beside licences scripts/deny.sh
fi
if cargo nextest --version >/dev/null 2>&1; then
    # The binaries that tests start are compiled with the tests. A separate `cargo build` would select other features
    # of some dependencies and compile half of the workspace twice.
    cargo nextest list --workspace --list-type binaries-only --message-format json >"$logs/binaries.json"
    cargo metadata --format-version 1 --filter-platform "$(rustc -vV | sed -n 's/^host: //p')" >"$logs/metadata.json"
    export INTERLOCK_BINARIES_ARE_BUILT=1
    if [ "$what" = parts ]; then finish parts "${beside[0]}"; else beside lints bash -euc lint_and_doc; fi
    # With the metadata, nextest does not ask cargo to compile, which would wait for the lints.
    cargo nextest run --profile "$what" --binaries-metadata "$logs/binaries.json" --cargo-metadata "$logs/metadata.json" \
        --no-fail-fast --status-level fail --final-status-level flaky 2>&1 | tee "$logs/tests" || failed=1
else
    cargo test --workspace --lib --bins --tests --no-run
    if [ "$what" = parts ]; then
        finish parts "${beside[0]}"
        chosen=(heavy_ heavy::)
    else
        chosen=(--skip heavy_ --skip heavy::)
    fi
    cargo test --workspace --lib --bins --tests --no-fail-fast -- "${chosen[@]}" 2>&1 | tee "$logs/tests" || failed=1
    [ "$what" = parts ] || beside lints bash -euc lint_and_doc
fi
if [ "$what" != parts ]; then
    finish lints "${beside[1]}"
    finish licences "${beside[0]}"
fi
exit "$failed"
