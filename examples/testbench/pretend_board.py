#!/usr/bin/env python3
"""A board that only pretends: its flash memory is a file, and its processor is a shell.

It speaks the contract of `env_type: program`. Interlock starts it once for every operation, with one JSON object on standard input, and reads
one from standard output. Anything for people goes to standard error. To make it yours, talk to your own board where this one uses files.
"""

import json
import pathlib
import subprocess
import sys


class Trouble(Exception):
    """The place does not do what it should."""


def setup(asked, memory):
    memory.mkdir(parents=True, exist_ok=True)
    return {}


def deploy(asked, memory):
    image = asked["session"]["image"]
    if not image:
        raise Trouble("there is no image to be flashed")
    (memory / "flash").write_bytes(pathlib.Path(image).read_bytes())
    return {}


def health_check(asked, memory):
    if not (memory / "flash").exists():
        raise Trouble("the flash memory is empty")
    return {"seen": "the lamp is on"}


def run(asked, memory):
    log = pathlib.Path(asked["folder"]) / "console.log"
    with log.open("wb") as console:
        try:
            command = ["sh", str(memory / "flash"), *asked["start"]["args"]]
            ended = subprocess.run(command, stdout=console, stderr=console, timeout=asked["timeout_sec"])
            stop = {"how": "exited", "code": ended.returncode}
        except subprocess.TimeoutExpired:
            stop = {"how": "timed_out"}
    return {"stop": stop, "logs": ["console.log"]}


def fetch_logs(asked, memory):
    return {"files": []}


def fetch_artifacts(asked, memory):
    (pathlib.Path(asked["folder"]) / "flash.bin").write_bytes((memory / "flash").read_bytes())
    return {"files": [{"name": "flash.bin", "path": "flash.bin"}]}


def reset(asked, memory):
    return {"done": "power off and on" if asked["how"] == "restart" else "the reset line was pulled"}


def teardown(asked, memory):
    (memory / "flash").unlink(missing_ok=True)
    return {}


OPERATIONS = (setup, deploy, health_check, run, fetch_logs, fetch_artifacts, reset, teardown)


def main():
    asked = json.load(sys.stdin)
    operation = {known.__name__: known for known in OPERATIONS}[asked["operation"]]
    try:
        answer = operation(asked, pathlib.Path(asked["session"]["folder"]) / "board")
    except Trouble as trouble:
        answer = {"trouble": "environment", "message": str(trouble)}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
