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
            take(link)
        finally:
            for process in (driver, server):
                process.terminate()
                process.wait(20)


def make_project(project):
    for name in ("approve", "release", "lint-and-tests"):
        shutil.copytree(EXAMPLES / name, project / ".interlock/machines" / name)
    (project / "Makefile").write_text("test:\n\t@echo 12 passed\nlint:\n\t@true\n")
    git = ["git", "-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "init", "--quiet"], cwd=project, check=True)
    subprocess.run([*git, "add", "."], cwd=project, check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "begin"], cwd=project, check=True)
    return project


def make_runs(project, environment):
    def interlock(*arguments):
        subprocess.run([BINARY, *arguments], cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    interlock("run", "approve", "--set", "change=faster search", "--name", "search")
    interlock("send", "search", "revise", "--data", '{"comment": "measure it first"}')
    interlock("send", "search", "drafted")
    interlock("run", "approve", "--set", "change=new colours", "--name", "colours")
    interlock("send", "colours", "approve")
    interlock("run", "release", "--name", "release-1")
    interlock("run", "prd", "--set", "requirement=Export orders as CSV", "--name", "orders", "--in-place")
    interlock("run", "brain", "--set", "task=Speed up the search", "--name", "search-speed", "--in-place")


def take(link):
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,860"]
    capabilities = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": {"args": options}}}}
    session = call("POST", "", capabilities)["sessionId"]
    address = link.split("/#")[0]
    visit(session, link)
    time.sleep(2)
    for name, path in [("runs", "/"), ("inbox", "/inbox"), ("run", "/runs/search"), ("machine", "/machines/brain")]:
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
