//! Commands that are not about a run: project machines, installed programs, the store.

use std::{
    os::unix::{fs::chown, process::CommandExt as _},
    path::Path,
    process::Command,
};

use expect_test::expect;
use interlock_testkit_cli::session::Session;
use serde_json::Value as Json;

use super::scene::{brewed, check, json, project, run};

#[test]
fn a_built_in_machine_becomes_the_projects_own() {
    let (_folder, session) = project();
    check(
        &session,
        "init brian",
        expect![[r#"
        | error: there is no built-in machine called `brian`
        | Hint: did you mean `brain`?
        [exit 2]
    "#]],
    );
    assert_eq!(run(&session, "init brain").stdout, ".interlock/machines/brain\n");
    check(
        &session,
        "init brain",
        expect![[r#"
        | error: .interlock/machines/brain already exists
        | Hint: --force overwrites it
        [exit 2]
    "#]],
    );
    assert_eq!(run(&session, "init brain --force").code, Some(0));
    let origin = |row: &Json| row["id"] == "brain" && row["origin"] == "project";
    assert!(json(&session, "machines").as_array().unwrap().iter().any(origin));
}

/// Makes a directory that contains only git, for `PATH`.
fn bare_path() -> tempfile::TempDir {
    let programs = tempfile::tempdir().unwrap();
    let found = Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout;
    std::os::unix::fs::symlink(String::from_utf8(found).unwrap().trim(), programs.path().join("git")).unwrap();
    programs
}

#[test]
fn the_rest_says_what_there_is() {
    let (_folder, session) = brewed();
    let doctor = run(&session, "doctor");
    assert_eq!(doctor.code, Some(0), "{doctor}");
    assert!(json(&session, "doctor").as_array().unwrap().iter().all(|finding| finding["ok"] == true));
    let programs = bare_path();
    let bare = session.clone().with("PATH", programs.path().display().to_string());
    let lacking = run(&bare, "doctor");
    let missing = "missing, only needed for building Cortex-M firmware, as the samples do; install it with `apt install gcc-arm-none-eabi`";
    assert!(lacking.code == Some(0) && lacking.stdout.contains(missing), "{lacking}");
    let line = lacking.stdout.lines().find(|line| line.contains(missing)).unwrap();
    assert!(line.starts_with("- arm-none-eabi-gcc"), "a missing program has no tick: {line}");
    check(
        &session,
        "gc",
        expect![[r#"
        0 files removed, 0 bytes; 0 kept
    "#]],
    );
    check(
        &session,
        "evidence t1",
        expect![[r#"
        | t1 has no evidence files
    "#]],
    );
    assert!(run(&session, "completions bash").stdout.contains("_clap_complete_interlock"));
    assert_eq!(run(&session, "man --out man").code, Some(0));
    every_named_page_exists(&session);
    assert!(json(&session, "activities").is_array());
}

/// Asserts that every manual page named on stdout or in the written files exists.
fn every_named_page_exists(session: &Session) {
    let folder = session.folder().join("man");
    let pages =
        std::fs::read_dir(&folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let all: String = pages.chain([run(session, "man").stdout]).collect::<String>().replace("\\-", "-");
    let named: Vec<&str> = all.split("(1)").filter_map(|before| before.split_whitespace().next_back()).collect();
    let named: Vec<&str> = named.into_iter().filter(|name| name.starts_with("interlock-")).collect();
    assert!(named.contains(&"interlock-run"), "{named:?}");
    for name in named {
        assert!(folder.join(format!("{name}.1")).exists(), "{name}(1) is named and not there");
    }
}

/// The id of a user who is not the administrator.
const NOBODY: u32 = 65_534;

/// Returns a command that runs as an ordinary user, even if the tests run as the administrator.
fn as_ordinary_user(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("HOME", home).env("INTERLOCK_HOME", home.join("store")).current_dir(home);
    if rustix::process::geteuid().is_root() {
        chown(home, Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

#[test]
fn doctor_tells_an_ordinary_user_whether_there_are_namespaces() {
    let home = tempfile::tempdir().unwrap();
    let mut unshare = as_ordinary_user("unshare", home.path());
    let has = unshare.args(["--user", "--map-root-user", "--pid", "--fork", "--ipc", "--mount-proc", "true"]).output();
    let doctor = as_ordinary_user(env!("CARGO_BIN_EXE_interlock"), home.path()).arg("doctor").output().unwrap();
    let said = String::from_utf8_lossy(&doctor.stdout);
    let expected = match has.unwrap().status.success() {
        true => "seccomp, namespaces (git history is read-only), loopback",
        false => "seccomp, no namespaces (",
    };
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_store_that_cannot_be_used_is_said_so() {
    let (_folder, session) = project();
    session.write("home", "not a directory").unwrap();
    let failed = run(&session, "runs");
    assert_eq!(failed.code, Some(1), "{failed}");
    assert!(failed.stderr.starts_with("error: "), "{failed}");
    assert_eq!(run(&session, "doctor").code, Some(1));
}
