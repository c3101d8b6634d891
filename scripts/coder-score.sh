#!/usr/bin/env bash
# Plays examples/coder-tasks with the model of judges.toml and prints a table: `coder-score.sh [--model NAME] [TASK...]`.
set -euo pipefail
cd "$(dirname "$0")/.."
model=()
if [ "${1:-}" = --model ]; then model=(--model "$2"); shift 2; fi
cargo build --quiet --package interlock-cli
interlock=$PWD/target/debug/interlock
tasks=$PWD/examples/coder-tasks
confirmations_max=20
[ $# -gt 0 ] || set -- $(cd "$tasks" && ls -d */ | tr -d /)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
printf '%-24s %-12s %-6s %s\n' task turn check seconds
for task in "$@"; do
  repo=$scratch/$task
  cp -r "$tasks/$task/files" "$repo"
  git -C "$repo" init -q -b main
  git -C "$repo" add -A
  git -C "$repo" -c user.name=score -c user.email=score@example.com commit -qm Begin
  run=score-$task-$$
  begun=$SECONDS
  code=0
  (cd "$repo" && "$interlock" coder "$(cat "$tasks/$task/goal.txt")" --once --name "$run" "${model[@]}" >/dev/null 2>"$scratch/log") || code=$?
  for _ in $(seq "$confirmations_max"); do
    [ "$code" = 4 ] || break
    code=0
    (cd "$repo" && "$interlock" send "$run" CONFIRM --data '{"answer": "yes", "scope": "session"}' >/dev/null 2>>"$scratch/log") || code=$?
  done
  case $code in 0) turn=verified ;; 1) turn=failed ;; 3) turn=cancelled ;; 4) turn=asks ;; *) turn="exit $code" ;; esac
  check=no
  if (cd "$repo" && sh -e "$tasks/$task/check.sh" >/dev/null 2>&1); then check=yes; fi
  if [ "$turn" = verified ] && [ "$check" = yes ]; then passed=$((passed + 1)); fi
  printf '%-24s %-12s %-6s %s\n' "$task" "$turn" "$check" "$((SECONDS - begun))"
done
echo "$passed of $# tasks"
