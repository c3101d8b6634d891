#!/usr/bin/env python3
"""wheel.py STAGE TARGET VERSION GLIBC OUT: makes a wheel of a release's files, and prints its path.

The wheel has no Python code: its script is the program, as maturin writes it with `bindings = "bin"`. maturin would compile the
program once more, and the program would not be the one of the other packages. GLIBC is the oldest version of the C library that
the program runs with; empty for a static program. SOURCE_DATE_EPOCH is the time of the files.
"""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

stage, target, version, glibc, out = sys.argv[1:]
stage = pathlib.Path(stage)
name = f"interlock_cli-{version}"
arch = target.split("-")[0]
if glibc:
    platform = f"manylinux_{glibc.replace('.', '_')}_{arch}"
else:
    platform = f"manylinux_2_17_{arch}.manylinux2014_{arch}.musllinux_1_1_{arch}"
tag = f"py3-none-{platform}"
info, data = f"{name}.dist-info", f"{name}.data"

metadata = f"""\
Metadata-Version: 2.4
Name: interlock-cli
Version: {version}
Summary: Runs agents as statecharts: proved before they run, resumed after a crash, undone on request
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Requires-Python: >=3.8
Description-Content-Type: text/markdown

The program `interlock`. `interlock --help` lists its commands, `interlock man` prints its manual.
"""
tags = "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))
wheel = f"Wheel-Version: 1.0\nGenerator: interlock scripts/release/wheel.py\nRoot-Is-Purelib: false\n{tags}"

files = {f"{data}/scripts/interlock": (stage / "interlock").read_bytes()}
share = f"{data}/data/share"
for page in sorted((stage / "man").glob("*.1")):
    files[f"{share}/man/man1/{page.name}"] = page.read_bytes()
for place, completion in (
    ("bash-completion/completions/interlock", "interlock.bash"),
    ("zsh/site-functions/_interlock", "_interlock"),
    ("fish/vendor_completions.d/interlock.fish", "interlock.fish"),
):
    files[f"{share}/{place}"] = (stage / "completions" / completion).read_bytes()
for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
    files[f"{info}/licenses/{licence}"] = (stage / licence).read_bytes()
files[f"{info}/sboms/interlock.cdx.json"] = (stage / "interlock.cdx.json").read_bytes()
files[f"{info}/METADATA"] = metadata.encode()
files[f"{info}/WHEEL"] = wheel.encode()


def record(path, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


lines = [record(path, content) for path, content in files.items()]
files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()

when = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # A zip file begins in 1980.
path = pathlib.Path(out) / f"{name}-{tag}.whl"
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1 if os.environ.get("FAST") else 9) as archive:
    for entry, content in files.items():
        one = zipfile.ZipInfo(entry, when)
        one.compress_type = zipfile.ZIP_DEFLATED
        one.create_system = 3
        one.external_attr = (0o100755 if entry.endswith("/scripts/interlock") else 0o100644) << 16
        archive.writestr(one, content)
print(path)
