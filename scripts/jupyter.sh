#!/usr/bin/env bash
# Installs the Jupyter kernels and tools that the tests use, at pinned versions from PyPI. Quick if they are there.
# `jupyter.sh --print` prints the folder and installs nothing. The kernels are below FOLDER/share/jupyter, the programs in FOLDER/bin.
set -euo pipefail

ipykernel=7.4.0
folder=${INTERLOCK_PARTS:-/var/tmp/interlock-parts-$(id -u)}/interlock/jupyter-$ipykernel
if [ "${1:-}" = --print ]; then echo "$folder"; exit 0; fi
[ ! -f "$folder/READY" ] || exit 0
echo "setup: the Jupyter kernels that the tests use are missing; fetching about 100 MB" >&2
mkdir -p "$(dirname "$folder")"
# One at a time: a virtual environment cannot be moved, so it is made in its place.
exec 9>"$folder.lock"
flock 9
[ ! -f "$folder/READY" ] || exit 0
# An environment without the mark was left by an interrupted run.
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet "ipykernel==$ipykernel" bash_kernel==0.10.0 nbformat==5.11.1 nbconvert==7.17.2 nbclient==0.11.0 \
    pandas==3.1.1 matplotlib==3.11.2
"$folder/bin/python" -m bash_kernel.install --sys-prefix >/dev/null
"$folder/bin/python" -c "import ipykernel, bash_kernel, nbformat, nbconvert, nbclient, pandas, matplotlib.pyplot"
[ -f "$folder/share/jupyter/kernels/bash/kernel.json" ] && [ -f "$folder/share/jupyter/kernels/python3/kernel.json" ]
touch "$folder/READY"
