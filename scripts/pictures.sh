#!/usr/bin/env bash
# Draws the pictures that the documents show. A test fails if the pictures of machines are out of date. The picture of a report needs the
# browser chromium; without it, the stored picture is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --package interlock-cli
interlock=target/debug/interlock

for machine in firmware coder prd brain notebook; do
    "$interlock" draw "$machine" --output "machines/$machine/machine.svg"
done
for theme in light dark; do
    for example in fix-until-green release; do
        "$interlock" draw "examples/$example" --theme "$theme" --output "docs/pictures/$example-$theme.svg"
    done
done

# A run of the README's example, and its report.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/project" && cp -r examples "$work/project/"
interlock=$PWD/$interlock pictures=$PWD/docs/pictures
export INTERLOCK_HOME="$work/store" INTERLOCK_USER=ada
cd "$work/project" && git init --quiet
"$interlock" run examples/release --set version=1.1 --name v1 >/dev/null 2>&1 || true # it waits for approval: exit code 4
"$interlock" send v1 approve >/dev/null 2>&1
for theme in light dark; do
    "$interlock" draw --run v1 --theme "$theme" --output "$pictures/run-$theme.svg"
done
if command -v chromium >/dev/null; then
    "$interlock" report v1 --out report.html
    sandbox=(); [ "$(id -u)" != 0 ] || sandbox=(--no-sandbox)
    chromium --headless "${sandbox[@]}" --disable-gpu --hide-scrollbars --window-size=1000,710 --screenshot="$pictures/report.png" \
        "file://$work/project/report.html" 2>/dev/null
fi
