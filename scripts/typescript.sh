#!/usr/bin/env bash
# Installs the TypeScript compiler that a test uses, at a pinned version from npm. Quick if it is there.
# `typescript.sh --print` prints the folder and installs nothing. The compiler is FOLDER/node_modules/typescript/bin/tsc.
set -euo pipefail

version=5.9.3 types=20.19.43
folder=${INTERLOCK_PARTS:-/var/tmp/interlock-parts-$(id -u)}/interlock-typescript/$version-$types
if [ "${1:-}" = --print ]; then echo "$folder"; exit 0; fi
[ ! -f "$folder/READY" ] || exit 0
command -v npm >/dev/null || { echo "setup: npm is missing (the TypeScript compiler is fetched with it)" >&2; exit 1; }
echo "setup: the TypeScript compiler that a test uses is missing; fetching about 30 MB" >&2
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$(dirname "$folder")/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
npm install --prefix "$work" --ignore-scripts --no-audit --no-fund --no-save --silent "typescript@$version" "@types/node@$types"
touch "$work/READY"
mv -T "$work" "$folder" 2>/dev/null || [ -f "$folder/READY" ]
