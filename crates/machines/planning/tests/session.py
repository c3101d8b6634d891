"""Executes cells as a kernel does: one JSON request per line, one JSON answer per line."""
import json, os, sys

if os.environ.get("WITHOUT_PANDAS"):
    sys.modules["pandas"] = None
if os.environ.get("WITHOUT_MATPLOTLIB"):
    sys.modules["matplotlib"] = sys.modules["matplotlib.pyplot"] = None
os.environ["MPLBACKEND"] = "agg"
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

kernel = {}
exec(open(sys.argv[1]).read(), kernel)  # the description of variables
shell = InteractiveShell.instance()
shell.colors = "NoColor"
out = sys.stdout
for line in sys.stdin:
    with capture_output() as captured:
        result = shell.run_cell(json.loads(line))
    error = result.error_before_exec or result.error_in_exec
    shown = [str(one.data.get("text/markdown") or one.data.get("text/plain", "")) for one in captured.outputs]
    text = captured.stdout + captured.stderr + "\n".join(shown)
    failed = f"{type(error).__name__}: {error}" if error else None
    variables = json.loads(kernel["answer"](shell).text)
    out.write(json.dumps({"text": text, "error": failed, "variables": variables}) + "\n")
    out.flush()
