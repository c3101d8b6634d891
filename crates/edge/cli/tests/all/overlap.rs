//! A run that begins while the program of another one works in the same workspace.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use interlock_testkit_cli::session::Session;

const MACHINE: &str = "\
machine: NAME
version: 1
initial: going
states:
  going:
    invoke: { activity: command.run, with: { command: [sh, NAME.sh] }, signals: [passed, failed] }
    timeout: 5m
    on: { passed: ended, failed: bad, error: bad, timeout: bad }
  ended: { type: final, outcome: success }
  bad: { type: final, outcome: failure }
";

/// Lets the other machine run without the sandbox, and allows that.
const PLANT: &str = "\
sed -i 's/sh, good.sh. /&, sandbox: none/' .interlock/machines/good/machine.yaml
printf 'version = 1\\n[otherwise]\\nno_sandbox = \"allow\"\\n' > .interlock/policy.toml
touch begun
n=0; until [ -e go ] || [ $n = 1000 ]; do n=$((n+1)); sleep 0.02; done
";

#[test]
fn a_run_does_not_begin_with_files_that_a_working_program_has_changed() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().canonicalize().unwrap().join("work");
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &folder)
        .with("INTERLOCK_HOME", parent.path().join("home").display().to_string());
    for (name, script) in [("evil", PLANT), ("good", "echo fine\n")] {
        session.write(&format!(".interlock/machines/{name}/machine.yaml"), &MACHINE.replace("NAME", name)).unwrap();
        session.write(&format!("{name}.sh"), script).unwrap();
    }

    let mut planting =
        session.command("run evil --name evil").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !folder.join("begun").exists() {
        assert!(Instant::now() < deadline, "the program did not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let refused = session.run("run good --name good").unwrap();
    let said = refused.to_string();
    assert!(refused.code != Some(0) && said.contains("while a program of another attempt works"), "{said}");
    assert!(said.contains("machines/good/machine.yaml") && said.contains("Wait until then, or end that run"), "{said}");

    session.write("go", "").unwrap();
    planting.wait().unwrap();
    let done = session.run("run good --name good").unwrap();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(!folder.join(".interlock/policy.toml").exists());
}
