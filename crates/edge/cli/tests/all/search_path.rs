//! `PATH` leads into the workspace, as with an activated virtual environment, and a program of a run has put programs there.
//! Interlock starts none of them outside of the sandbox.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use interlock_testkit_cli::session::Session;

const BINARY: &str = env!("CARGO_BIN_EXE_interlock");

/// Detects the checks of the project, and runs a command.
const MACHINE: &str = "\
machine: look
version: 1
initial: detecting
states:
  detecting:
    invoke: { activity: project.detect, with: {}, signals: [detected, grant_needed] }
    timeout: 5m
    on: { detected: running, grant_needed: running, error: running, timeout: bad }
  running:
    invoke: { activity: command.run, with: { command: 'true' }, signals: [passed, failed] }
    timeout: 5m
    on: { passed: ended, failed: bad, error: bad, timeout: bad }
  ended: { type: final, outcome: success }
  bad: { type: final, outcome: failure }
";

/// Every name that Interlock or a program that it starts could look for.
const NAMES: [&str; 9] = ["git", "sh", "python3", "id", "df", "gzip", "vi", "bwrap", "interlock-sandbox"];

/// Puts programs into a directory that leave a line in a file which no confined program can write.
fn prepare(place: &Path, told: &Path) {
    fs::create_dir_all(place).unwrap();
    for name in NAMES {
        let text = format!("#!/bin/bash\necho $0 $* >> {}\nPATH=/usr/bin:/bin exec {name} \"$@\"\n", told.display());
        fs::write(place.join(name), text).unwrap();
        fs::set_permissions(place.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn no_program_of_the_workspace_is_started_outside_of_the_sandbox() {
    let top = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(top.path()).unwrap();
    let (work, told) = (top.join("work"), top.join("told"));
    prepare(&work.join(".venv/bin"), &told);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", work.join(".venv/bin").display());
    let session =
        Session::new(BINARY, &work).with("PATH", path).with("INTERLOCK_HOME", top.join("home").display().to_string());
    // Without these Interlock asks the system who works here.
    let session = session.with("USER", "").with("LOGNAME", "").with("INTERLOCK_USER", "");
    session.write(".interlock/machines/look/machine.yaml", MACHINE).unwrap();
    session.write("tests/test_a.py", "def test_a(): assert True\n").unwrap();
    session.write("pyproject.toml", "[project]\nname = 'x'\nversion = '1'\n[tool.pytest.ini_options]\n").unwrap();
    let git = "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one";
    assert!(Command::new("sh").args(["-c", git]).current_dir(&work).status().unwrap().success());
    for (command, shown) in [
        ("run look --name a", "succeeded"),
        ("run look --name b --worktree", "succeeded"),
        ("doctor", "git"),
        ("gc", "removed"),
        ("diff a", ""),
        ("undo b --dry-run", ""),
    ] {
        let done = session.run(command).unwrap();
        assert!(done.stdout.contains(shown), "{command}: {done}");
        assert_eq!(fs::read_to_string(&told).unwrap_or_default(), "", "{command}: {done}");
    }
}
