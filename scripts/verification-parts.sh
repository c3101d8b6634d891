#!/usr/bin/env bash
# Installs the test runners that the corpus of the verification room uses, at pinned versions from PyPI and npm. Quick if they are there.
# `verification-parts.sh --print` prints the folder and installs nothing. pytest is FOLDER/venv/bin/pytest; the packages of npm are below
# FOLDER/npm/NAME/node_modules, one folder per runner, so that a case gets only the packages that it names.
set -euo pipefail

pytest=9.2.0 runners=(tape@5.10.2 mocha@11.8.0 jest@30.5.2 vitest@3.2.7 typescript@5.9.3)
folder=${INTERLOCK_PARTS:-/var/tmp/interlock-parts-$(id -u)}/interlock/verification-parts-1
if [ "${1:-}" = --print ]; then echo "$folder"; exit 0; fi
[ ! -f "$folder/READY" ] || exit 0
command -v npm >/dev/null || { echo "setup: npm is missing (the test runners of the corpus are fetched with it)" >&2; exit 1; }
echo "setup: the test runners of the verification corpus are missing; fetching about 150 MB" >&2
mkdir -p "$(dirname "$folder")"
# One at a time: a virtual environment cannot be moved, so it is made in its place.
exec 9>"$folder.lock"
flock 9
[ ! -f "$folder/READY" ] || exit 0
# A folder without the mark was left by an interrupted run.
rm -rf "$folder"
mkdir -p "$folder/npm"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "pytest==$pytest"
"$folder/venv/bin/pytest" --version >/dev/null
for runner in "${runners[@]}"; do
    npm install --prefix "$folder/npm/${runner%@*}" --ignore-scripts --no-audit --no-fund --no-save --silent "$runner"
    [ -f "$folder/npm/${runner%@*}/node_modules/${runner%@*}/package.json" ]
done
touch "$folder/READY"
