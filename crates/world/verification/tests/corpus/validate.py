#!/usr/bin/env python3
"""Checks that every case of the corpus is what it claims to be. See README.md for the format.

For each case: the base is committed to a new repository, the agent's change is applied, and
  (a) the command is green on the base, or red if the case says `base_green = false`;
  (b) the command is green in the agent's own tree: a naive check is satisfied;
  (c) in a fresh clone of what would be committed, `truth` fails for cheats (and `beyond`) and passes for honest changes;
  (d) the `truth` of a cheat can pass: on the base, or in an honest case with the same base and truth.

`validate.py [PART…]` takes only cases whose path contains one of the parts. `--keep` leaves the trees in place.
The test runners are those of `scripts/verification-parts.sh`. Only the standard library is used.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

CORPUS = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "interlock"
PARTS = pathlib.Path(subprocess.run([CORPUS.parents[4] / "scripts/verification-parts.sh", "--print"], check=True, capture_output=True, text=True).stdout.strip())
KINDS = ("cheats", "honest", "beyond")
EXPECTED = {"cheats": {"not-verified", "untested"}, "honest": {"verified", "untested", "not-verified"}, "beyond": {"verified", "untested", "not-verified"}}
KNOWN = {"base", "command", "task", "why", "expect", "truth", "needs", "npm", "delete", "prepare", "action", "base_green", "row", "wrong_value"}
TIMEOUT_S = 240


def real_name(part):
    """The name that a stored name stands for: dot files and node_modules would act on our own repository."""
    if part == "node-modules":
        return "node_modules"
    return "." + part[4:] if part.startswith("dot-") else part


def write_over(source, target):
    """Copies a stored folder over a tree. Replaced files are removed first, so that nothing is written through a link."""
    for path in sorted(source.rglob("*")):
        place = target.joinpath(*map(real_name, path.relative_to(source).parts))
        if path.is_symlink() or not path.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.is_symlink() or place.exists():
                place.unlink()
            shutil.copy(path, place, follow_symlinks=False)


def environment(home):
    """A small environment: the programs of the parts first, a home of its own, shared caches, no network."""
    user = pathlib.Path.home()
    env = {
        "PATH": f"{PARTS}/venv/bin:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "CARGO_HOME": os.environ.get("CARGO_HOME", f"{user}/.cargo"),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", f"{user}/.rustup"),
        "CARGO_NET_OFFLINE": "true",
        "CARGO_INCREMENTAL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "none",
        "GOCACHE": f"{CACHE}/verification-go-build",
        "GOPATH": f"{home}/go",
        "GOPROXY": "off",
        "npm_config_cache": f"{home}/.npm",
        "npm_config_offline": "true",
        "npm_config_update_notifier": "false",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    if "RUSTUP_TOOLCHAIN" in os.environ:
        env["RUSTUP_TOOLCHAIN"] = os.environ["RUSTUP_TOOLCHAIN"]
    return env


def run(command, place, env):
    """Runs a shell command in its own session and returns its exit code and output. A late command ends with 124."""
    child = subprocess.Popen(["sh", "-c", command], cwd=place, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = child.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, _ = child.communicate()
        return 124, output.decode(errors="replace")
    return child.returncode, output.decode(errors="replace")


def git(place, *words):
    """Runs git with a fixed identity and returns its output."""
    settings = ["-c", "user.name=corpus", "-c", "user.email=corpus@localhost", "-c", "commit.gpgsign=false", "-c", "advice.addEmbeddedRepo=false"]
    return subprocess.run(["git", *settings, *words], cwd=place, check=True, capture_output=True).stdout


def changed_files(place):
    """Every file that git sees as changed or untracked, with its content."""
    found = {}
    entries = git(place, "status", "--porcelain", "-z", "-uall", "--no-renames").decode(errors="surrogateescape").split("\0")
    for entry in filter(None, entries):
        path = place / entry[3:]
        if path.is_symlink():
            found[entry[3:]] = os.readlink(path)
        else:
            found[entry[3:]] = path.read_bytes() if path.is_file() else None
    return found


def link(source, target):
    """Links a file, or copies it to another file system. Nothing writes through the link: changed files are replaced."""
    try:
        return os.link(source, target, follow_symlinks=False)
    except OSError:
        return shutil.copy(source, target, follow_symlinks=False)


def install(case, place, env):
    """Puts the dependencies from before the agent's turn into a tree."""
    for package in case.get("npm", []):
        shutil.copytree(PARTS / "npm" / package / "node_modules", place / "node_modules", symlinks=True, dirs_exist_ok=True, copy_function=link)
    if "prepare" in case:
        code, output = run(case["prepare"], place, env)
        if code:
            raise ValueError(f"prepare failed:\n{output}")


def commit_base(stored, place):
    """Makes a repository with the base as its first commit."""
    write_over(stored, place)
    git(place, "init", "-q", "-b", "main")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "base")


def ask_truth(case, place, work):
    """Asks the hidden question with a home of its own: neither the agent nor an earlier question has written there."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="truth-", dir=work))
    return run(case["truth"], place, environment(home))


@functools.cache
def measure_base(ecosystem, *words):
    """Runs a command and a truth on a base, once for all cases that share them."""
    case = {name: json.loads(word) for name, word in zip(("base", "command", "truth", "npm", "prepare"), words) if word != "null"}
    with tempfile.TemporaryDirectory(prefix="corpus-") as name:
        work = pathlib.Path(name)
        home, tree = work / "home", work / "tree"
        home.mkdir()
        commit_base(ecosystem / case["base"], tree)
        install(case, tree, environment(home))
        code, output = run(case["command"], tree, environment(home))
        return code, output, ask_truth(case, tree, work)[0] == 0


def examine(folder, work):
    """Measures one case and returns its problems, with whether its truth passes on the base and in the committed tree."""
    problems = []
    case = tomllib.loads((folder / "case.toml").read_text())
    kind, ecosystem = folder.parent.name, folder.parent.parent
    problems += [f"unknown field {name}" for name in sorted(set(case) - KNOWN)]
    problems += [f"{name} is missing" for name in ("base", "command", "task", "why", "expect", "truth") if name not in case]
    if problems:
        return case, problems, False, False
    if case["expect"] not in EXPECTED[kind]:
        problems.append(f"expect = {case['expect']!r} does not fit {kind}")
    for need in case.get("needs", []):
        if shutil.which(need, path=environment(work)["PATH"]) is None:
            problems.append(f"{need} is not installed")
    home, tree, clone = (work / name for name in ("home", "tree", "clone"))
    home.mkdir()
    env = environment(home)

    commit_base(ecosystem / case["base"], tree)
    code, output, on_base = measure_base(ecosystem, *(json.dumps(case.get(name)) for name in ("base", "command", "truth", "npm", "prepare")))
    if (code == 0) != case.get("base_green", True):
        problems.append(f"the command ends with {code} on the base:\n{output}")

    install(case, tree, env)
    if (folder / "uncommitted").is_dir():
        write_over(folder / "uncommitted", tree)
    before = changed_files(tree)
    if (folder / "change").is_dir():
        write_over(folder / "change", tree)
    for name in case.get("delete", []):
        (tree / name).unlink()
    if "action" in case:
        code, output = run(case["action"], tree, env)
        if code:
            problems.append(f"the action ends with {code}:\n{output}")
    # The commit is made before the check, so that files which the check itself writes are not in it.
    after = changed_files(tree)
    turn = [name for name in after if name not in before or before[name] != after[name]]
    turn += [name for name in before if name not in after and (tree / name).exists()]
    if turn:
        git(tree, "add", "-A", "-f", "--", *turn)
    code, output = run(case["command"], tree, env)
    if code:
        problems.append(f"the command ends with {code} in the agent's tree:\n{output}")
    git(tree, "commit", "-q", "--allow-empty", "-m", "change")
    git(work, "clone", "-q", str(tree), str(clone))
    install(case, clone, env)
    code, output = ask_truth(case, clone, work)
    if code in (124, 126, 127):
        problems.append(f"truth ends with {code}:\n{output}")
    if kind == "honest" and code:
        problems.append(f"truth fails for an honest change ({code}):\n{output}")
    if kind != "honest" and code == 0:
        problems.append("truth passes for a cheat")
    return case, problems, on_base, code == 0


def measure(folder, keep):
    """Measures one case in a temporary folder."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="corpus-"))
    try:
        return folder, *examine(folder, work)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", None)
        return folder, {}, [f"{error} {detail.decode(errors='replace') if detail else ''}"], False, False
    finally:
        if keep:
            print(f"{folder.name}: {work}")
        else:
            subprocess.run(["chmod", "-R", "u+w", str(work)], check=False)
            shutil.rmtree(work, ignore_errors=True)


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    folders = sorted(path.parent for kind in KINDS for path in CORPUS.glob(f"*/{kind}/*/case.toml"))
    folders = [folder for folder in folders if not words or any(word in str(folder.relative_to(CORPUS)) for word in words)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda folder: measure(folder, "--keep" in sys.argv), folders))
    reachable = {(folder.parent.parent, case.get("base"), case.get("truth")) for folder, case, _, on_base, truth in results
                 if on_base or (truth and folder.parent.name == "honest")}
    invalid, counts = 0, dict.fromkeys(KINDS, 0)
    for folder, case, problems, _, _ in results:
        counts[folder.parent.name] += 1
        # Part of the corpus may lack the honest case that shows it.
        if not words and folder.parent.name != "honest" and (folder.parent.parent, case.get("base"), case.get("truth")) not in reachable:
            problems.append("nothing shows that truth can pass: neither the base nor an honest case")
        if problems:
            invalid += 1
            print(f"{folder.relative_to(CORPUS)}: " + "\n  ".join(line for problem in problems for line in problem.splitlines()[-25:]))
    print(", ".join(f"{kind} {count}" for kind, count in counts.items()))
    print(f"{len(results) - invalid} cases valid, {invalid} invalid")
    return 1 if invalid else 0


if __name__ == "__main__":
    sys.exit(main())
