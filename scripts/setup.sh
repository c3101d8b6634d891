#!/usr/bin/env bash
# Installs what the tests need and this machine lacks. Quick where all is there; made for Debian and Ubuntu with Rust.
set -euo pipefail

missing=()
# package:program:why
needs() { command -v "$2" >/dev/null || { echo "setup: $1 is missing ($3)" >&2; missing+=("$1"); }; }

needs gcc gcc "links the binary; SPIN's verifiers are compiled with it"
needs spin spin "its state counts are compared with the checker's"

if [ "${#missing[@]}" -gt 0 ]; then
    sudo=(); [ "$(id -u)" = 0 ] || sudo=(sudo)
    export DEBIAN_FRONTEND=noninteractive
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

if ! cargo deny --version >/dev/null 2>&1; then
    echo "setup: cargo-deny is missing (checks licences and origins of dependencies); building it takes some minutes" >&2
    cargo install cargo-deny --locked --quiet
fi
