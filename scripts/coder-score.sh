#!/usr/bin/env bash
# Plays examples/coder-tasks with the model of judges.toml, asking nobody, and prints a table: `coder-score.sh [--model NAME] [TASK...]`.
set -euo pipefail
cd "$(dirname "$0")/.."
model=()
if [ "${1:-}" = --model ]; then model=(--model "$2"); shift 2; fi
cargo build --quiet --package interlock-cli
interlock=$PWD/target/debug/interlock
tasks=$PWD/examples/coder-tasks
scripts/typescript.sh
compiler=$(scripts/typescript.sh --print)
[ $# -gt 0 ] || set -- $(cd "$tasks" && ls -d */ | tr -d /)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
printf '%-24s %-12s %-6s %-8s %s\n' task turn check seconds why
for task in "$@"; do
  repo=$scratch/$task
  cp -r "$tasks/$task/files" "$repo"
  [ ! -f "$repo/tsconfig.json" ] || ln -s "$compiler/node_modules" "$repo/node_modules"
  git -C "$repo" init -q -b main
  git -C "$repo" add -A
  git -C "$repo" -c user.name=score -c user.email=score@example.com commit -qm Begin
  run=score-$task-$$
  begun=$SECONDS
  code=0
  (cd "$repo" && "$interlock" coder "$(cat "$tasks/$task/goal.txt")" --once --unattended --name "$run" "${model[@]}" >/dev/null 2>"$scratch/log") || code=$?
  case $code in 0) turn=verified ;; 1) turn=failed ;; 3) turn=cancelled ;; 4) turn=asks ;; *) turn="exit $code" ;; esac
  check=no
  if (cd "$repo" && sh -e "$tasks/$task/check.sh" >/dev/null 2>&1); then check=yes; fi
  if [ "$turn" = verified ] && [ "$check" = yes ]; then passed=$((passed + 1)); fi
  # An error, or else the last line of a turn that failed, says why.
  why=
  [ "$turn" = verified ] || why=$({ grep '^error' "$scratch/log" || grep -v '^$' "$scratch/log"; } | tail -n 1 | cut -c 1-120 || true)
  printf '%-24s %-12s %-6s %-8s %s\n' "$task" "$turn" "$check" "$((SECONDS - begun))" "$why"
done
echo "$passed of $# tasks"
