#!/usr/bin/env bash
# Installs more coding agents that the tests drive, at pinned versions: Gemini CLI, Qwen Code and opencode from npm, aider from PyPI. Quick if they are
# there. `more-agents.sh --print` prints the folder and installs nothing. The programs are FOLDER/bin/gemini, qwen, opencode and aider.
set -euo pipefail

gemini=0.61.0 qwen=0.15.10 opencode=1.18.33 aider=0.86.2
folder=${INTERLOCK_PARTS:-/var/tmp/interlock-parts-$(id -u)}/interlock-agents/gemini-$gemini-qwen-$qwen-opencode-$opencode-aider-$aider
if [ "${1:-}" = --print ]; then echo "$folder"; exit 0; fi
[ ! -f "$folder/READY" ] || exit 0
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "setup: the agents are installed on Linux x86-64 only" >&2; exit 1; }
for program in npm node python3; do
    command -v $program >/dev/null || { echo "setup: $program is missing (more agents are fetched with it)" >&2; exit 1; }
done
echo "setup: more coding agents that the tests drive are missing; fetching about 1 GB" >&2
# A Python environment cannot be moved, so the folder is made in its place. Without READY it is made anew.
rm -rf "$folder"
mkdir -p "$folder/bin"
npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-save --silent \
    "@google/gemini-cli@$gemini" "@qwen-code/qwen-code@$qwen" "opencode-linux-x64@$opencode"
python3 -m venv "$folder/aider"
"$folder/aider/bin/pip" install --quiet --disable-pip-version-check "aider-chat==$aider"
# Gemini CLI and Qwen Code are scripts for Node.
script() { printf '#!/bin/sh\nexec %s %s "$@"\n' "$(command -v node)" "$2" >"$folder/bin/$1" && chmod +x "$folder/bin/$1"; }
script gemini "$folder/node_modules/@google/gemini-cli/bundle/gemini.js"
script qwen "$folder/node_modules/@qwen-code/qwen-code/cli.js"
chmod +x "$folder/node_modules/opencode-linux-x64/bin/opencode"
ln -s ../node_modules/opencode-linux-x64/bin/opencode "$folder/bin/opencode"
ln -s ../aider/bin/aider "$folder/bin/aider"
touch "$folder/READY"
