#!/usr/bin/env bash
# The work of action.yml: proves machines, plays the scenarios of those that have some, and ends with the worse exit code.
#   ACTION_MACHINES   names or paths, separated by spaces; empty for every machine of the project
#   ACTION_SARIF      the file for the findings
#   ACTION_PROGRAM    the program; empty for the one on the PATH, or one that is built from these sources
set -euo pipefail

program=${ACTION_PROGRAM:-$(command -v interlock || true)}
if [ -z "$program" ]; then
    built=$RUNNER_TEMP/interlock
    [ -x "$built/bin/interlock" ] || cargo install --quiet --locked --path "$(dirname "$0")/../crates/edge/cli" --root "$built"
    program=$built/bin/interlock
fi

read -ra machines <<<"${ACTION_MACHINES:-}"
if [ "${#machines[@]}" = 0 ]; then
    for folder in .interlock/machines/*/; do [ ! -d "$folder" ] || machines+=("$(basename "$folder")"); done
fi
[ "${#machines[@]}" -gt 0 ] || { echo "interlock: there is no machine under .interlock/machines. Name the machines in the input \`machines\`" >&2; exit 2; }

# A machine's scenarios are in `tests` beside its file.
played=()
for machine in "${machines[@]}"; do
    folder=$machine
    [ ! -f "$machine" ] || folder=$(dirname "$machine")
    if [ -d "$folder/tests" ] || [ -d ".interlock/machines/$machine/tests" ]; then played+=("$machine"); fi
done

proved=0 passed=0
"$program" check --sarif "${ACTION_SARIF:-interlock.sarif}" "${machines[@]}" || proved=$?
[ "${#played[@]}" = 0 ] || "$program" test "${played[@]}" || passed=$?
exit $((proved > passed ? proved : passed))
