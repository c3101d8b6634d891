#!/usr/bin/env bash
# How fast it is: steps a second next to XState, durable steps next to SQLite and LangGraph, loading a machine, the program's
# start, keeping and mapping a workspace of 5,000 files, a decision of the policy, turns of coding agents.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build
# LangGraph is what durable steps are compared with; without Python its line is left out.
if [ ! -x target/langgraph/bin/python ] && command -v python3 >/dev/null; then
    python3 -m venv target/langgraph && target/langgraph/bin/pip install --quiet langgraph langgraph-checkpoint-sqlite || rm -rf target/langgraph
fi
cargo build --quiet --release --package interlock-cli --package interlock-benches
target/release/bench "$@"
