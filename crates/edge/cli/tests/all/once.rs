//! The answer of `send` is reliable: an event with an id is recorded once, even if the process that owns the run is
//! killed at any moment.

use std::{
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use interlock_journal::{Engine as _, Posted};
use interlock_sqlite::Journal;
use interlock_testkit_cli::session::Session;
use serde_json::Value as Json;
use tempfile::TempDir;

/// A machine that sleeps and counts the events sent meanwhile, so that a process owns the run for as long as a test
/// needs.
const SLEEPY: &str = "\
machine: sleepy
version: 1
summary: Sleeps and counts.
context: { count: 0 }
events: { knock: { from: user } }
initial: asleep
states:
  asleep:
    invoke: { activity: timer.wait, with: { seconds: 3600 }, signals: [elapsed] }
    on:
      knock: { assign: { count: \"${context.count + 1}\" } }
      elapsed: awake
      error: awake
  awake: { type: final, outcome: success }
";

fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with("INTERLOCK_USER", "ada");
    session.write(".interlock/machines/sleepy/machine.yaml", SLEEPY).unwrap();
    (folder, session)
}

fn begin(session: &Session, arguments: &str) -> Child {
    session.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").arg(name).arg(child.id().to_string()).status().unwrap().success());
}

fn json(session: &Session, arguments: &str) -> Json {
    let said = session.run(&format!("{arguments} --json")).unwrap();
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}\n{said}"))
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a process that owns the run.
fn owner(session: &Session, arguments: &str) -> Child {
    let child = begin(session, arguments);
    until("an owner", || {
        let runs = json(session, "runs");
        runs[0]["process"] == child.id()
    });
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Opens the store as another process would.
fn store(session: &Session) -> Journal {
    Journal::open(&session.folder().join("home")).unwrap()
}

/// Returns the message that has not been answered yet.
fn message(store: &Journal) -> Option<i64> {
    let run = store.find("s1").unwrap().unwrap().key;
    store.messages(run).unwrap().first().map(|message| message.id)
}

fn count(session: &Session) -> Json {
    json(session, "show s1")["context"]["count"].clone()
}

fn ended(child: Child) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn the_same_id_is_applied_once() {
    let (_folder, session) = project();
    let owner = owner(&session, "run sleepy --name s1");
    let first = session.run("send s1 knock --id k1").unwrap();
    assert_eq!(first.code, Some(0), "{first}");
    let again = session.run("send s1 knock --id k1").unwrap();
    assert_eq!((again.code, &again.stdout), (Some(0), &first.stdout), "{again}");
    assert!(again.stderr.contains("`k1` is already record 3 of s1; the event was not sent again"), "{again}");
    assert_eq!(json(&session, "send s1 knock --id k1")["repeated"], true);
    assert_eq!(count(&session), 1);
    kill(owner);
    // No process owns the run now: the process that takes it over gives the same answer.
    let again = session.run("send s1 knock --id k1 --no-follow").unwrap();
    assert_eq!((again.code, &again.stdout), (Some(0), &first.stdout), "{again}");
    assert_eq!(count(&session), 1);
    assert_eq!(session.run("send s1 knock --id ''").unwrap().code, Some(2));
    assert_eq!(session.run("verify").unwrap().code, Some(0));
}

#[test]
fn an_owner_killed_before_it_looked_has_done_nothing_and_the_sender_does_it() {
    let (_folder, session) = project();
    let owner = owner(&session, "run sleepy --name s1");
    signal(&owner, "-STOP");
    let sender = begin(&session, "send s1 knock --id k1 --no-follow");
    let store = store(&session);
    until("the message", || message(&store).is_some());
    kill(owner);
    let (code, stdout, stderr) = ended(sender);
    assert_eq!((code, stdout.starts_with("s1  knock  record ")), (Some(0), true), "{stdout}{stderr}");
    assert_eq!(count(&session), 1);
}

#[test]
fn an_owner_killed_after_it_answered_has_answered() {
    let (_folder, session) = project();
    let owner = owner(&session, "run sleepy --name s1");
    signal(&owner, "-STOP");
    let sender = begin(&session, "send s1 knock --id k1 --no-follow");
    let store = store(&session);
    until("the message", || message(&store).is_some());
    let id = message(&store).unwrap();
    signal(&sender, "-STOP");
    signal(&owner, "-CONT");
    until("the answer", || matches!(store.posted(id), Ok(Posted::Answered(_))));
    kill(owner);
    signal(&sender, "-CONT");
    let (code, stdout, stderr) = ended(sender);
    assert_eq!((code, stdout.as_str()), (Some(0), "s1  knock  record 3\n"), "{stderr}");
    assert_eq!(count(&session), 1);
}

/// The owner is killed at varying moments. Independent of the first answer, sending again with the same id leaves one
/// record.
#[test]
fn whenever_the_owner_is_killed_the_answer_is_true() {
    let (_folder, session) = project();
    let mut runs = owner(&session, "run sleepy --name s1");
    let store = store(&session);
    for round in 0..12u64 {
        let mut sender = begin(&session, &format!("send s1 knock --id k{round} --no-follow"));
        // The kill happens at a moment between the message and the answer.
        until("a message, or the end of the sender", || {
            message(&store).is_some() || sender.try_wait().unwrap().is_some()
        });
        std::thread::sleep(Duration::from_micros(round * 300));
        kill(runs);
        let (code, stdout, stderr) = ended(sender);
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        runs = owner(&session, "resume s1");
        assert_eq!(json(&session, &format!("send s1 knock --id k{round}"))["repeated"], true, "{stdout}");
        assert_eq!(count(&session), round + 1);
    }
    kill(runs);
    assert_eq!(session.run("verify").unwrap().code, Some(0));
}
