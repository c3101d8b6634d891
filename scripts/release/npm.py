#!/usr/bin/env python3
"""Makes npm packages of a release's files, and prints their paths.

    npm.py platform STAGE TARGET VERSION GLIBC OUT    the program for one platform
    npm.py front STAGE VERSION OUT NAME…              the package that people install, with the packages NAME… to choose from

npm installs the one platform package whose `os`, `cpu` and `libc` fit. SOURCE_DATE_EPOCH is the time of the files.
"""

import gzip
import io
import json
import os
import pathlib
import sys
import tarfile

FRONT = "interlock-cli"
CPUS = {"x86_64": "x64", "aarch64": "arm64"}
COMMON = {
    "description": "Runs agents as statecharts: proved before they run, resumed after a crash, undone on request",
    "license": "MIT OR Apache-2.0",
}


def pack(manifest, files, out):
    """Writes a package with its files (path, source, mode) below `package/`, as `npm pack` does."""
    path = pathlib.Path(out) / f"{manifest['name']}-{manifest['version']}.tgz"
    level = 1 if os.environ.get("FAST") else 9
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", level, raw, 0) as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
        text = json.dumps(manifest, indent=2).encode() + b"\n"
        for name, content, mode in [("package.json", text, 0o644), *((name, file.read_bytes(), mode) for name, file, mode in files)]:
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode, entry.mtime = len(content), mode, int(os.environ["SOURCE_DATE_EPOCH"])
            tar.addfile(entry, io.BytesIO(content))
    print(path)


def licences(stage):
    return [(name, stage / name, 0o644) for name in ("LICENSE-APACHE", "LICENSE-MIT")]


def platform(stage, target, version, glibc, out):
    stage = pathlib.Path(stage)
    cpu = CPUS[target.split("-")[0]]
    name = f"{FRONT}-linux-{cpu}" + ("-gnu" if glibc else "")
    manifest = {"name": name, "version": version, **COMMON, "os": ["linux"], "cpu": [cpu]}
    if glibc:
        manifest["libc"] = ["glibc"]
    parts = ("interlock.cdx.json", stage / "interlock.cdx.json", 0o644)
    pack(manifest, [("interlock", stage / "interlock", 0o755), parts, *licences(stage)], out)


def front(stage, version, out, *names):
    stage = pathlib.Path(stage)
    pages = sorted((stage / "man").glob("*.1"))
    manifest = {
        "name": FRONT,
        "version": version,
        **COMMON,
        "bin": {"interlock": "interlock.js"},
        "man": [f"man/{page.name}" for page in pages],
        "engines": {"node": ">=18"},
        "optionalDependencies": {name: version for name in sorted(names)},
    }
    files = [("interlock.js", pathlib.Path(__file__).with_name("npm-shim.js"), 0o755)]
    files += [(f"man/{page.name}", page, 0o644) for page in pages]
    files += [(f"completions/{file.name}", file, 0o644) for file in sorted((stage / "completions").iterdir())]
    pack(manifest, files + licences(stage), out)


{"platform": platform, "front": front}[sys.argv[1]](*sys.argv[2:])
