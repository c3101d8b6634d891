#!/usr/bin/env bash
# The main job, end to end, without a key or a network: a firmware with a real bug is built, run on QEMU, analysed, repaired and verified. A person
# is asked before the repair is brought into the sources; here the script answers.
# Afterwards there is a report to open. The program is compiled without optimisation, which is quick; the run itself takes some ten seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh demo

echo "building interlock (some minutes the first time)"
cargo build --profile demo --package interlock-cli
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
interlock=$target/demo/interlock
demo=$target/demo-run
# A copy with a repository of its own: what the demo changes, it changes there.
rm -rf "$demo"
mkdir -p "$demo"
cp -r examples/firmware "$demo/firmware"
git -C "$demo/firmware" init --quiet
git -C "$demo/firmware" add --all
git -C "$demo/firmware" -c user.name=demo -c user.email=demo@localhost commit --quiet --message "a frame parser with a bug"
export INTERLOCK_HOME=$demo/home

cd "$demo/firmware/parser"
echo
echo "interlock run firmware --input task.yaml"
# No patch is delivered because its tests pass: the run asks a person, and ends with 4 because it waits.
status=0
"$interlock" run firmware --input task.yaml --name demo || status=$?
[ "$status" = 4 ] || { echo "the run was to wait for a person, and ended with $status"; exit 1; }
echo
echo "interlock show demo   # the question: the patch, its witnesses, the doubts"
"$interlock" show demo | grep -E '^  (patch|patch_found|kept_confidence|witnesses|doubts) =|^    \|'
echo
echo "interlock send demo approve"
"$interlock" send demo approve
echo
git --no-pager diff --stat
git --no-pager diff -U0 | tail -n +5
"$interlock" report demo --out "$demo/report.html"
"$interlock" report demo --out "$demo/report.md"
"$interlock" verify demo
echo "open $demo/report.html"
