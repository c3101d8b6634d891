#!/usr/bin/env bash
# Draws the pictures that the documents show. A test says when they are out of date.
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
