"""Lets Interlock drive aider: speaks the protocol of the driver `command` (docs/agents.md).

Each prompt is one run of aider in the workspace. The history of a session is a file in the agent's private home. Arguments
of this script are passed on to aider, such as the model: aider.py --model openai/gpt-5
"""
import json
import os
import re
import subprocess
import sys

AIDER = os.environ.get("AIDER", "aider")
FIXED = (
    "--yes-always --no-auto-commits --no-dirty-commits --no-gitignore --no-check-update --no-analytics --no-show-model-warnings "
    "--no-show-release-notes --no-suggest-shell-commands --no-pretty --no-fancy-input"
)


def say(**message):
    print(json.dumps(message), flush=True)


def number(text):
    """Reads a count such as 1,024 or 1.2k."""
    text = text.replace(",", "")
    return int(float(text[:-1]) * {"k": 1000, "M": 1000000}[text[-1]]) if text[-1] in "kM" else int(text)


def main():
    order = json.loads(sys.stdin.readline())
    if order["type"] == "hello":
        return say(type="end", reason="done")
    history = os.path.join(os.environ["HOME"], order["session"] + ".md")
    if not order["new"] and not os.path.exists(history):
        return say(type="no_session", reason="the history of the session is gone")
    files = ["--chat-history-file", history, "--input-history-file", os.devnull, "--llm-history-file", os.devnull]
    files += [] if order["new"] else ["--restore-chat-history"]
    words = [AIDER, *FIXED.split(), *files, *sys.argv[1:], "--message", order["text"]]
    aider = subprocess.Popen(
        words, cwd=order["folder"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    tokens, cost, failed, lines = 0, 0.0, "", []
    for line in aider.stdout:
        line = line.rstrip()
        used = re.match(r"Tokens: ([\d.,kM]+) sent.*?, ([\d.,kM]+) received", line)
        if used:
            tokens += number(used.group(1)) + number(used.group(2))
            spent = re.search(r"\$([\d.]+) session", line)
            cost = float(spent.group(1)) if spent else cost
            say(type="usage", tokens=tokens, **({"session_cost": cost} if spent else {}))
        elif "litellm." in line and "Error" in line:
            failed = line
        elif line:
            lines.append(line)
            say(type="message", id="m%d" % (len(lines) // 40), text=line + "\n")
    if aider.wait() != 0 or (failed and not tokens):
        return say(type="end", reason="model_unavailable" if failed else "failed", text=failed or "\n".join(lines[-3:]))
    say(type="end", reason="done")


main()
