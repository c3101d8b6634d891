#!/usr/bin/env bash
# Every reader is given texts that nobody would write, by libFuzzer. SECONDS_EACH=600 by default; arguments name targets.
# The stable compiler will do: coverage counters are a compiler pass, and the sanitizers that need more are left out.
# `fuzz.sh prepared` tries workspaces that a confined program has prepared, with new seeds, for SECONDS_EACH.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds_each=${SECONDS_EACH:-600}
targets=("$@")
if [ "$*" = prepared ]; then
    cd ..
    end=$((SECONDS + seconds_each))
    while [ "$SECONDS" -lt "$end" ]; do
        first=$((RANDOM * RANDOM + 1000))
        echo "== prepared: seeds $first to $((first + 9))"
        INTERLOCK_PREPARED="$first..$((first + 10))" cargo test --quiet --package interlock-cli --test all -- --exact \
            prepared::heavy::chosen_prepared_workspaces_lead_nowhere
    done
    exit
fi
[ ${#targets[@]} -gt 0 ] || targets=(yaml cel shell scxml xstate mermaid results_{tap,ktap,unity,junit,gtest,ctest,pytest,cargo,twister,ztest,robot,patterns})

counters="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
counters+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
host=$(rustc -vV | sed -n 's/^host: //p')
# With a named target the flags are not used for build scripts, which have nothing to count with.
RUSTFLAGS="$counters" cargo build --quiet --release --target "$host" --target-dir ../target/fuzz

examples=../crates/engine/chart/tests
for target in "${targets[@]}"; do
    seeds=("seeds/$target")
    case $target in
    yaml) seeds=("$examples/good" "$examples/bad" ../benches/machines) ;;
    shell) seeds=(../crates/world/shell-effects/corpus) ;;
    results_*) seeds=("../crates/machines/test-results/corpus/${target#results_}") ;;
    scxml | xstate | mermaid) seeds+=(../crates/engine/exchange/tests/exchange) ;;
    esac
    found="../target/fuzz/corpus/$target"
    mkdir -p "$found" "../target/fuzz/crashes"
    echo "== $target: $seconds_each seconds"
    "../target/fuzz/$host/release/$target" "$found" "${seeds[@]}" -max_total_time="$seconds_each" -timeout=10 -rss_limit_mb=2048 \
        -max_len=8192 -artifact_prefix="../target/fuzz/crashes/$target-" -print_final_stats=1 -verbosity=1
done
