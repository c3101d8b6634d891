#!/usr/bin/env bash
# Takes the pictures of the page that the README shows, in a real browser, of runs that it starts in a temporary project.
# Needs a built binary (target/release/interlock or target/debug/interlock), chromium and chromedriver (scripts/browser.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/browser.sh
binary=$PWD/target/release/interlock; [ -x "$binary" ] || binary=$PWD/target/debug/interlock
exec python3 scripts/screenshots.py "$binary" docs/pictures
