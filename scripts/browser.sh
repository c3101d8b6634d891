#!/usr/bin/env bash
# Installs the browser in which the page is tested, and its driver. Quick if they are there.
set -euo pipefail
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then exit 0; fi
echo "setup: chromium and chromium-driver are missing (the page is tested in a real browser)" >&2
"$(dirname "$0")/packages.sh" chromium chromium-driver >/dev/null
