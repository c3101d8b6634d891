#!/usr/bin/env bash
# Installs the browser in which the page is tested, and its driver. Quick if they are there.
set -euo pipefail
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then exit 0; fi
echo "setup: chromium and chromium-driver are missing (the page is tested in a real browser)" >&2
sudo=(); [ "$(id -u)" = 0 ] || sudo=(sudo)
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null
