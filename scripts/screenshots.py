"""Takes pictures of the page: starts a server with a few runs, drives a browser over WebDriver, saves PNG files."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

BINARY, TARGET = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
EXAMPLES = pathlib.Path("examples").resolve()


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        environment = {**os.environ, "INTERLOCK_HOME": str(place / "home"), "INTERLOCK_USER": "ada"}
        project = make_project(place / "shop")
        make_runs(project, environment)
        server = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=project, env=environment, stderr=subprocess.PIPE, text=True)
        driver = subprocess.Popen(["chromedriver", "--port=19517", "--log-level=OFF"], stdout=subprocess.DEVNULL)
        try:
            link = server.stderr.readline().split()[1]
            keep_busy(project, environment, link.split("/#")[0])
            take(link)
        finally:
            for process in (driver, server):
                process.terminate()
                process.wait(20)


# Stands for an agent that works on a task and asks whether the result is good.
AGENT = """machine: agent
version: 1
summary: Lets an agent work on a task, then asks a person.
input: { type: object, properties: { task: { type: string } } }
events:
  merge: { from: user, summary: Merge it }
  message: { from: user, summary: Tell the agent something, data: { type: object, required: [text], properties: { text: { type: string } } } }
  abort: { from: user, summary: Stop the agent }
initial: working
on: { abort: { target: stopped }, error: { target: failed }, timeout: { target: failed } }
states:
  working:
    initial: coding
    on: { message: { target: coding } }
    states:
      coding:
        invoke: { activity: command.run, effect: write, with: { command: [sh, work.sh] }, signals: [passed, failed] }
        timeout: 1h
        on: { passed: { target: reviewing }, failed: [{ target: coding, limit: 3 }, { target: failed }] }
      reviewing:
        summary: Is the change good enough to merge?
        tags: [idle]
        shows: { task: "${input.task}" }
        on: { merge: { target: merged } }
  merged: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
  stopped: { type: final, outcome: aborted }
"""

# Works for ever if the file `busy` exists.
WORK = """echo reading search.py
printf 'def search(items, word):\\n    return [item for item in items if word in item]\\n' > search.py
echo running the tests: 12 passed
if [ -e busy ]; then sleep 600; fi
"""

SEARCH = """def search(items, word):
    found = []
    for item in items:
        if word in item:
            found.append(item)
    return found
"""


def make_project(project):
    for name in ("approve", "lint-and-tests"):
        shutil.copytree(EXAMPLES / name, project / ".interlock/machines" / name)
    (project / ".interlock/machines/agent").mkdir()
    (project / ".interlock/machines/agent/machine.yaml").write_text(AGENT)
    (project / "work.sh").write_text(WORK)
    (project / "search.py").write_text(SEARCH)
    (project / "Makefile").write_text("test:\n\t@echo 12 passed\nlint:\n\t@true\n")
    git = ["git", "-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "init", "--quiet"], cwd=project, check=True)
    subprocess.run([*git, "add", "."], cwd=project, check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "begin"], cwd=project, check=True)
    return project


def make_runs(project, environment):
    def interlock(*arguments):
        done = subprocess.run([BINARY, *arguments], cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        # A run that waits for a person ends the command with 4.
        if done.returncode not in (0, 4):
            sys.exit(f"{' '.join(arguments)}: {done.stderr}")

    interlock("run", "approve", "--set", "change=faster search", "--name", "search")
    interlock("send", "search", "revise", "--data", '{"comment": "measure it first"}')
    interlock("send", "search", "drafted")
    interlock("run", "approve", "--set", "change=new colours", "--name", "colours")
    interlock("send", "colours", "approve")
    interlock("run", "lint-and-tests", "--name", "checks")
    interlock("run", "prd", "--set", f"repo_path={project}", "--name", "orders", "--in-place")
    interlock("run", "brain", "--set", "task=Speed up the search", "--name", "search-speed", "--in-place")
    interlock("run", "agent", "--set", "task=Make the search shorter", "--name", "short-search", "--in-place")


def keep_busy(project, environment, address):
    """Starts runs that are at work while the pictures are taken."""
    (project / "busy").write_text("")
    added = subprocess.run([BINARY, "token", "add", "pictures", "--role", "operator"], env=environment, capture_output=True, text=True, check=True)
    for name, task in [("cache", "Cache the results"), ("retry", "Retry lost requests")]:
        body = {"machine": "agent", "folder": str(project), "name": name, "input": {"task": task}}
        headers = {"Authorization": f"Bearer {added.stdout.strip()}", "Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(f"{address}/api/v1/runs", json.dumps(body).encode(), headers)).read()


def take(link):
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,860"]
    capabilities = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": {"args": options}}}}
    session = call("POST", "", capabilities)["sessionId"]
    address = link.split("/#")[0]
    visit(session, link)
    time.sleep(2)
    for name, path in [("runs", "/"), ("inbox", "/inbox"), ("board", "/board"), ("run", "/runs/search"), ("machine", "/machines/brain")]:
        visit(session, address + path)
        time.sleep(3)
        picture = call("GET", f"/{session}/screenshot")
        (TARGET / f"page-{name}.png").write_bytes(base64.b64decode(picture))
    call("DELETE", f"/{session}")


def visit(session, address):
    call("POST", f"/{session}/url", {"url": address})


def call(method, path, body=None, tries=100):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"http://127.0.0.1:19517/session{path}", data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.URLError:
        # The driver needs a moment to start.
        if tries == 0:
            raise
        time.sleep(0.1)
        return call(method, path, body, tries - 1)


main()
