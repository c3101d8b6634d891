//! Secrets that a run would publish: a commit with one is not made, and the message says where the secret is, never what.

use std::process::Command;

use interlock_testkit_cli::session::{Session, Transcript};
use tempfile::TempDir;

/// A machine that writes a file and commits it.
const COMMITTING: &str = "\
machine: publishing
version: 1
input: { type: object, required: [text], properties: { text: { type: string } } }
initial: writing
on: { error: { target: lost, reason: '${event.message}' } }
states:
  writing:
    invoke:
      activity: command.run
      with: { command: [sh, -c, 'printf \"one\\n$(cat secret.in)\\n\" > app.conf'] }
      signals: [passed, failed]
    on: { passed: committing, failed: lost }
  committing:
    invoke: { activity: git.commit, with: { message: '${input.text}' }, signals: [commit_success, commit_fail] }
    on:
      commit_success: done
      commit_fail: { target: lost, reason: '${event.summary}' }
  done: { type: final, outcome: success }
  lost: { type: final, outcome: failure }
";

/// The key of a judge, in a variable whose name says nothing.
const KEY: (&str, &str) = ("ADA_THING", "a-key-that-has-no-form-at-all");

fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with(KEY.0, KEY.1)
        .with("SHOP_DB_PASSWORD", "Tr0ub4dor&3FAKE");
    let judge = format!("[judges.far]\nprovider = \"anthropic\"\nmodel = \"m\"\nkey_env = \"{}\"\n", KEY.0);
    session.write("home/judges.toml", &judge).unwrap();
    session.write("committing.yaml", COMMITTING).unwrap();
    session.write(".gitignore", "secret.in\ncommitting.yaml\n").unwrap();
    git(&here, &["init", "-q", "-b", "main"]);
    git(&here, &["add", ".gitignore"]);
    git(&here, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "Begin"]);
    (folder, session)
}

fn git(folder: &std::path::Path, words: &[&str]) -> String {
    let output = Command::new("git").args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Commits a file whose second line is this.
fn commit(session: &Session, line: &str, name: &str) -> Transcript {
    session.write("secret.in", line).unwrap();
    session.run(&format!("run committing.yaml --in-place --set text='Add the settings' --name {name}")).unwrap()
}

#[test]
fn no_commit_publishes_a_secret() {
    let (folder, session) = project();
    let token = format!("ghp_FAKE0fake1FAKE2fake3{}", "FAKE4fake5FAKE6fake7FAKE8");
    let header = format!("-----BEGIN PRIVATE {}-----", "KEY");
    let lines = [
        (format!("model = {}", KEY.1), "known secret"),
        ("password: Tr0ub4dor&3FAKE".to_owned(), "known secret"),
        (format!("login with {token} here"), "github token"),
        (header, "private key"),
        ("api_key = \"9f3a1b2c4d5e6f708192a3b4c5d6e7f8\"".to_owned(), "key"),
    ];
    for (number, (line, kind)) in lines.iter().enumerate() {
        let refused = commit(&session, line, &format!("c{number}"));
        let place = format!("it would publish a secret, so nothing was committed: app.conf:2 ({kind})");
        assert!(refused.code == Some(1) && refused.stderr.contains(&place), "{line}: {refused}");
        assert!(!refused.to_string().contains(KEY.1) && !refused.to_string().contains(&token), "{refused}");
        assert_eq!(git(folder.path(), &["log", "--format=%s"]), "Begin");
    }
}

#[test]
fn ordinary_lines_are_committed() {
    let (folder, session) = project();
    let line = "password = os.environ[\"SHOP_DB_PASSWORD\"]; assert login(\"ada\", password=\"hunter22\")";
    let done = commit(&session, line, "c1");
    assert_eq!((done.code, git(folder.path(), &["log", "-1", "--format=%s"]).as_str()), (Some(0), "Add the settings"));
}
