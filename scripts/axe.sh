#!/usr/bin/env bash
# Installs axe-core, whose accessibility rules a test applies to the page, at a pinned version from npm. Quick if it is there.
# `axe.sh --print` prints the folder and installs nothing. The rules are FOLDER/node_modules/axe-core/axe.min.js.
set -euo pipefail

version=4.14.0
folder=${INTERLOCK_PARTS:-/var/tmp/interlock-parts-$(id -u)}/interlock-axe/$version
if [ "${1:-}" = --print ]; then echo "$folder"; exit 0; fi
[ ! -f "$folder/READY" ] || exit 0
command -v npm >/dev/null || { echo "setup: npm is missing (axe-core is fetched with it)" >&2; exit 1; }
echo "setup: axe-core, which a test uses, is missing; fetching about 3 MB" >&2
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$(dirname "$folder")/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
npm install --prefix "$work" --ignore-scripts --no-audit --no-fund --no-save --silent "axe-core@$version"
touch "$work/READY"
mv -T "$work" "$folder" 2>/dev/null || [ -f "$folder/READY" ]
