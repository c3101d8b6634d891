#!/usr/bin/env bash
# Installs the coding agents that the tests drive, at pinned versions from npm: goose, Codex and Claude Code. Quick if they are there.
# `agents.sh --print` prints the folder and installs nothing. The programs are FOLDER/bin/goose, FOLDER/bin/codex and FOLDER/bin/claude.
set -euo pipefail

goose=0.20.1 codex=0.166.0 claude=2.1.325
folder=${INTERLOCK_PARTS:-/var/tmp/interlock-parts-$(id -u)}/interlock-agents/goose-$goose-codex-$codex-claude-$claude
if [ "${1:-}" = --print ]; then echo "$folder"; exit 0; fi
[ ! -f "$folder/READY" ] || exit 0
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "setup: the agents are installed on Linux x86-64 only" >&2; exit 1; }
command -v npm >/dev/null || { echo "setup: npm is missing (the agents are fetched with it)" >&2; exit 1; }
echo "setup: the coding agents that the tests drive are missing; fetching about 1 GB" >&2
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$(dirname "$folder")/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
npm install --prefix "$work" --ignore-scripts --no-audit --no-fund --no-save --silent \
    "@aaif/goose-binary-linux-x64@$goose" "@openai/codex@$codex" "@anthropic-ai/claude-code-linux-x64@$claude"
mkdir "$work/bin"
# The native programs themselves: a wrapper would need Node in the sandbox.
link() { # name, path pattern below node_modules
    local found
    found=$(cd "$work" && find node_modules -type f -path "$2" | head -n 1)
    [ -n "$found" ] || { echo "setup: the package of $1 has no program at $2" >&2; exit 1; }
    chmod +x "$work/$found"
    ln -s "../$found" "$work/bin/$1"
}
link goose 'node_modules/@aaif/goose-binary-linux-x64/bin/goose'
link codex '*/@openai/codex*/vendor/x86_64-unknown-linux-musl/*/codex'
link claude 'node_modules/@anthropic-ai/claude-code-linux-x64/claude'
touch "$work/READY"
mv -T "$work" "$folder" 2>/dev/null || [ -f "$folder/READY" ]
