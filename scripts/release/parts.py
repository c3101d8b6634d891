#!/usr/bin/env python3
"""parts.py TARGET OUT: writes the list of parts of the program for a target, in CycloneDX 1.6.

The parts are the crates that are linked into the program, and the C libraries that two of them bring. Macros and what only building
or testing needs are left out. SOURCE_DATE_EPOCH is the time of the list.
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = "interlock-cli"
target, out = sys.argv[1:]


def cargo(*words):
    return subprocess.run(["cargo", *words, "--locked"], check=True, capture_output=True, text=True).stdout


def linked():
    """Returns the names and versions of the crates that are linked into the program."""
    tree = cargo("tree", "--package", ROOT, "--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}")
    return {tuple(line.split()[:2]) for line in tree.splitlines()}


def checksums():
    """Returns the SHA-256 of each crate of a registry, as Cargo.lock has it."""
    packages = re.split(r"^\[\[package\]\]\n", pathlib.Path("Cargo.lock").read_text(), flags=re.M)[1:]
    fields = [dict(re.findall(r'^(name|version|checksum) = "(.*)"', package, re.M)) for package in packages]
    return {(package["name"], package["version"]): package.get("checksum") for package in fields}


def ref(package):
    return f"{package['name']}@{package['version']}"


def component(package):
    name, version, source = package["name"], package["version"], package["source"]
    part = {"type": "library", "bom-ref": ref(package), "name": name, "version": version}
    part["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if source:
        part["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
        part["purl"] = f"pkg:cargo/{name}@{version}"
    return part


def bundled(package):
    """Returns the C library whose sources a crate contains, if there is one."""
    if package["name"] == "libsqlite3-sys":
        header = pathlib.Path(package["manifest_path"]).with_name("sqlite3") / "sqlite3.h"
        version = re.search(r'#define SQLITE_VERSION +"(.*)"', header.read_text(errors="replace"))[1]
        return {"name": "sqlite", "version": version, "cpe": f"cpe:2.3:a:sqlite:sqlite:{version}:*:*:*:*:*:*:*"}
    if package["name"] == "zstd-sys":
        version = package["version"].split("+zstd.")[1]
        return {"name": "zstd", "version": version, "cpe": f"cpe:2.3:a:facebook:zstandard:{version}:*:*:*:*:*:*:*"}
    return None


wanted, sums = linked(), checksums()
metadata = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))
packages = {package["id"]: package for package in metadata["packages"] if (package["name"], f"v{package['version']}") in wanted}
nodes = [node for node in metadata["resolve"]["nodes"] if node["id"] in packages]
edges = {ref(packages[node["id"]]): [ref(packages[id]) for id in node["dependencies"] if id in packages] for node in nodes}
root = next(package for package in packages.values() if package["name"] == ROOT)
components = [component(package) for package in packages.values() if package is not root]
for package in packages.values():
    library = bundled(package)
    if library:
        components.append({"type": "library", "bom-ref": ref(library), **library})
        edges[ref(package)].append(ref(library))
        edges[ref(library)] = []
components.sort(key=lambda part: (part["name"], part["version"]))
when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "version": 1,
    "metadata": {
        "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "component": {**component(root), "type": "application", "name": "interlock"},
        "properties": [{"name": "target", "value": target}],
    },
    "components": components,
    "dependencies": [{"ref": part, "dependsOn": sorted(needs)} for part, needs in sorted(edges.items())],
}
document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(document)).urn
pathlib.Path(out).write_text(json.dumps(document, indent=1) + "\n")
