"""Plays a Windows host behind an SSH server: what it is told to run is compared with recorded transcripts, and answered by theirs.

    play.py CORPUS HOME

Files are kept below HOME, where `C:` is a folder. A script that is found nowhere is answered as a shell answers what it does not know.
"""

import base64
import glob
import json
import os
import pathlib
import re
import signal
import sys
import time

corpus, home = map(pathlib.Path, sys.argv[1:3])
asked = os.environ.get("SSH_ORIGINAL_COMMAND", "")
os.chdir(home)


def end(code):
    sys.stdout.flush()
    sys.stderr.flush()
    # The system keeps eight bits, as for any client that asks.
    os._exit(code & 0xFF)


def within(path):
    """A path as Windows writes it, here."""
    return home / path.replace("\\", "/")


def decoded():
    found = re.search(r"-EncodedCommand ([A-Za-z0-9+/=]+)", asked)
    return base64.b64decode(found[1]).decode("utf-16-le") if found else None


def batch(name):
    text = pathlib.Path(name).read_bytes()
    assert b"\n" not in text.replace(b"\r\n", b""), f"{name} has lines that cmd does not read"
    return text.decode()


def script():
    """What is to be run, and the id that is in the command line."""
    encoded = decoded()
    if encoded is not None:
        return encoded, (re.search(r"INTERLOCK_BENCH=([\w-]+)", asked) or [None, None])[1]
    if found := re.fullmatch(r"cmd /d /c (interlock-[\w-]+)\.cmd", asked):
        return batch(found[1] + ".cmd") + batch(found[1] + "-run.cmd"), found[1]
    if found := re.fullmatch(r"powershell .* -File ((interlock-[\w-]+)\.ps1)", asked):
        text = pathlib.Path(found[1]).read_bytes()
        assert text.startswith(b"\xef\xbb\xbf"), "a file without a mark is read in another code page"
        return text.decode("utf-8-sig"), found[2]
    return asked, None


def taskkill(prefix):
    for file in glob.glob(f"{glob.escape(prefix)}*.pid"):
        os.kill(int(pathlib.Path(file).read_text()), signal.SIGKILL)
        os.unlink(file)


def answer(text, name):
    if "Get-CimInstance Win32_Process" in text:
        taskkill(re.search(r"LIKE '%([\w-]+)%'", text)[1])
        end(0)
    ending = re.search(r"interlock: [\w-]+ ended with ", text)[0]
    for path in re.findall(r"New-Item .* -Path '((?:[^']|'')*)'", text):
        within(path.replace("''", "'")).mkdir(parents=True, exist_ok=True)
    for path in re.findall(r"Remove-Item .* -Path '((?:[^']|'')*)'", text):
        within(path.replace("''", "'")).unlink(missing_ok=True)
    for path in re.findall(r'if not exist "?([^"\r]*?)"? mkdir', text):
        within(path).mkdir(parents=True, exist_ok=True)
    if "HANGS" in text:
        pathlib.Path(f"{name}.pid").write_text(str(os.getpid()))
        time.sleep(1000)
    if found := re.search(r"WRITES ([\w.]+)", text):
        folder = re.search(r"Set-Location -LiteralPath '((?:[^']|'')*)'", text)[1].replace("''", "'")
        (within(folder) / found[1]).write_bytes("\ufeff<testsuite/>\r\n".encode("utf-16-le"))
    for case in sorted(corpus.glob("*/case.json")):
        told = json.loads(case.read_text())
        if told["says"] in text:
            play(case.parent, told, ending)
    if re.search(r"New-Item|Remove-Item|WRITES|mkdir", text):
        sys.stderr.write(f"{ending}0\r\n")
        end(0)
    sys.stderr.write(f"nothing like that was recorded\r\n{ending}9009\r\n")
    end(9009)


def play(folder, told, ending):
    code = told["code"]
    sys.stdout.buffer.write((folder / "stdout").read_bytes())
    said = (folder / "stderr").read_bytes() if (folder / "stderr").exists() else b""
    sys.stderr.buffer.write(said)
    # A script that ends its own shell does not come to say how.
    if code is not None:
        sys.stderr.buffer.write(f"{ending}{code}\r\n".encode())
    end(told["exit"] if code is None else code)


if asked in ("internal-sftp", "/usr/lib/openssh/sftp-server"):
    os.execv("/usr/lib/openssh/sftp-server", ["sftp-server", "-d", str(home)])
elif asked == "cmd /d /c chcp":
    sys.stdout.write("Aktive Codepage: 850.\r\n")
    end(0)
elif found := re.fullmatch(r'cmd /d /c "if exist (\S+\*) del /f /q \1"', asked):
    for file in glob.glob(found[1]):
        os.unlink(file)
    end(0)
else:
    answer(*script())
