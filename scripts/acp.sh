#!/usr/bin/env bash
# Talks to `interlock acp` with the client library of the Agent Client Protocol: a task with a scripted model, from the prompt to the verified change.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --package interlock-cli
cargo build --quiet --manifest-path tests/acp/Cargo.toml --target-dir target/acp
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
part() { sed -n "/^\`\`\`[a-z]* file=$1\$/,/^\`\`\`\$/p" docs/coder.md | sed '1d;$d'; }
mkdir "$scratch/home" "$scratch/work"
part model.py > "$scratch/model.py"
part judges.toml > "$scratch/home/judges.toml"
echo 'echo 0' > "$scratch/work/count.sh"
echo 'test "$(sh count.sh a b)" = 2' > "$scratch/work/test.sh"
printf 'test:\n\tsh test.sh\n' > "$scratch/work/Makefile"
git -C "$scratch/work" init -q -b main
git -C "$scratch/work" add -A
git -C "$scratch/work" -c user.name=Ada -c user.email=ada@example.com commit -qm Begin
target/acp/debug/acp-check "env INTERLOCK_HOME=$scratch/home $PWD/target/debug/interlock acp" "$scratch/work" "Count the arguments" | tee "$scratch/seen"
for text in 'initialized Some' 'asked ' 'Diff' 'Plan' 'ended EndTurn'; do
  grep -q "$text" "$scratch/seen" || { echo "not seen: $text"; exit 1; }
done
[ "$(cat "$scratch/work/count.sh")" = 'echo $#' ] || { echo "count.sh was not changed"; exit 1; }
echo "an editor can use the coder"
