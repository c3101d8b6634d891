#!/usr/bin/env python3
"""Makes the corpus of logs by running real compilers, linkers, interpreters and test runners on small broken programs.

usage: make.py [NAME…]     needs gcc, g++, clang, rustc, cargo, python3, pytest, node, tsc, jest, mocha, go, javac, make, cmake, gtest,
                           arm-none-eabi-gcc and qemu-system-arm; what is missing is skipped and said

Each case is a folder of files and a command. What the command prints becomes `logs/NAME.log`, with the folder called /src; what is expected
of the rules is written to `cases.toml` from the table here. It was written down with the program, before any rule was run on the log. A
third of the cases is held out: chosen by a hash of the name, not looked at while rules were first written.
"""
import hashlib, json, os, re, shutil, subprocess, sys, tempfile
from pathlib import Path

from programs import CASES

HERE = Path(__file__).parent
LIMIT = 200  # lines kept of a log: its beginning and its end
ENV = {"PATH": os.environ["PATH"], "HOME": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "CARGO_TERM_COLOR": "never",
       "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup")), "CARGO_HOME": os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo")),
       "GOCACHE": "/tmp/corpus-go", "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GO111MODULE": "auto", "CARGO_NET_OFFLINE": "true",
       "NODE_PATH": os.environ.get("NODE_PATH", "")}

def run(case, folder):
    for path, text in case["files"].items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = subprocess.run(["bash", "-c", case["run"]], cwd=folder, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=180)
    return done.stdout.decode("utf-8", "replace")

def generic(text, folder):
    text = text.replace(str(folder), "/src")
    text = re.sub(r"/\S*/\.rustup/toolchains/[^/]+", "/rust", text)
    text = re.sub(r"/rustc/[0-9a-f]{40}", "/rustc", text)
    text = re.sub(r"/\S*/(node_modules)/", r"/opt/\1/", text)
    text = re.sub(r"/\S*/py/lib/", "/opt/python/lib/", text)
    text = re.sub(r"/\S*\.pyenv/versions/[^/]+", "/opt/python", text)
    text = re.sub(r"/tmp/(cc|corpus|go-build|go-link)[A-Za-z0-9_.-]*", r"/tmp/\1", text)
    text = re.sub(r"rootdir: .*", "rootdir: /src", text)
    text = re.sub(r"/\S+/bin/(python[0-9.]*|pytest)\b", r"/usr/bin/\1", text)
    lines = [line.rstrip() for line in text.splitlines()]
    if len(lines) > LIMIT:
        lines = lines[:LIMIT // 2] + ["[…]"] + lines[-LIMIT // 2:]
    return "\n".join(lines) + "\n"

def main():
    wanted = set(sys.argv[1:])
    (HERE / "logs").mkdir(exist_ok=True)
    rows = []
    for case in CASES:
        name = case["name"]
        log = HERE / "logs" / f"{name}.log"
        missing = [tool for tool in case["needs"].split() if not shutil.which(tool)]
        if (not wanted or name in wanted) and not missing:
            with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
                try:
                    log.write_text(generic(run(case, Path(folder)), folder))
                except subprocess.TimeoutExpired:
                    print(f"{name}: took too long", file=sys.stderr)
        elif missing:
            print(f"{name}: skipped, there is no {' '.join(missing)}", file=sys.stderr)
        if log.exists():
            rows.append(case)
    with open(HERE / "cases.toml", "w") as out:
        out.write("# What is expected of the rules for every log. Written by make.py.\n")
        for case in rows:
            held = int(hashlib.sha256(case["name"].encode()).hexdigest(), 16) % 3 == 0
            out.write(f'\n[[case]]\nname = "{case["name"]}"\nclass = "{case["class"]}"\n')
            if case.get("file"): out.write(f'file = "{case["file"]}"\n')
            if case.get("line"): out.write(f'line = {case["line"]}\n')
            if case.get("cause"): out.write(f"cause = {json.dumps(case['cause'])}\n")
            if held: out.write("held_out = true\n")
    print(f"{len(rows)} cases")

main()
