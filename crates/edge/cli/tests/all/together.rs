//! Concurrency: several processes on one store, signals, and timing while a run is in progress.

use std::{
    io::Read as _,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit_cli::session::Session;
use serde_json::Value as Json;
use tempfile::TempDir;

const LAMP: &str = "\
machine: lamp
version: 1
summary: Burns until it is switched off or burns out.
events:
  off: { from: user, summary: Switch it off }
  blink: { from: user, summary: Switch it off and on }
initial: lit
on:
  off: { target: dark, reason: somebody sleeps }
  blink: { target: lit, limit: 3 }
states:
  lit: { timeout: HOURS, on: { timeout: { target: burnt_out, reason: nobody came } } }
  dark: { type: final, outcome: success }
  burnt_out: { type: final, outcome: failure }
";

/// Makes a project with a lamp that burns for this duration.
fn project(lasting: &str) -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with("INTERLOCK_USER", "ada");
    session.write(".interlock/machines/lamp/machine.yaml", &LAMP.replace("HOURS", lasting)).unwrap();
    (folder, session)
}

/// Starts a command in the background.
fn begin(session: &Session, arguments: &str) -> Child {
    session.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a condition holds, with a time limit for slow computers.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ended(child: Child) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn shown(session: &Session, run: &str) -> Json {
    serde_json::from_str(&session.run(&format!("show {run} --json")).unwrap().stdout).unwrap_or_default()
}

/// Starts a lamp in the background and waits until it is lit.
fn lit(session: &Session) -> Child {
    let mut child = begin(session, "run lamp --name l1");
    hear(&mut child, "start\n");
    child
}

/// Waits until a command has printed these words to stderr.
fn hear(child: &mut Child, words: &str) {
    let (mut said, mut next) = (Vec::new(), [0; 1]);
    while !said.ends_with(words.as_bytes()) {
        child.stderr.as_mut().unwrap().read_exact(&mut next).unwrap();
        said.extend(next);
    }
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").arg(name).arg(child.id().to_string()).status().unwrap().success());
}

#[test]
fn an_event_from_another_process_is_seen_by_the_one_that_follows() {
    let (_folder, session) = project("1h");
    let follower = lit(&session);
    let sent = session.run("send l1 off").unwrap();
    assert_eq!((sent.code, sent.stdout.as_str()), (Some(0), "l1  succeeded  dark\n"), "{sent}");
    let (code, stdout, stderr) = ended(follower);
    assert_eq!((code, stdout.as_str()), (Some(0), "l1  succeeded  dark\n"));
    assert!(stderr.contains("lit → dark  off  somebody sleeps"), "{stderr}");
}

#[test]
fn a_run_that_waits_for_a_timer_only_is_followed_through_it() {
    let (_folder, session) = project("2500ms");
    let run = session.run("run lamp --name l1").unwrap();
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), "l1  failed  burnt_out\n"), "{run}");
    assert!(run.stderr.contains("lit → burnt_out  timeout.lit  nobody came"), "{run}");
}

#[test]
fn a_signal_leaves_the_run_and_it_can_be_taken_up_again() {
    for name in ["-INT", "-TERM"] {
        let (_folder, session) = project("1h");
        let follower = lit(&session);
        signal(&follower, name);
        let (code, stdout, stderr) = ended(follower);
        assert_eq!((code, stdout.as_str()), (Some(4), "l1  waiting  lit\n"), "{name}");
        assert!(stderr.contains("interlock resume l1"), "{stderr}");
        assert_eq!(session.run("send l1 off").unwrap().code, Some(0));
        assert_eq!(session.run("verify").unwrap().code, Some(0));
    }
}

const SLOW: &str = "\
machine: slow
version: 1
summary: Sleeps until somebody has made a file.
initial: sleeping
states:
  sleeping:
    invoke: { activity: command.run, with: { command: \"test -e made || { echo asleep; sleep 3600; }\" }, signals: [passed, failed], effect: read }
    on: { passed: awake, failed: broken, error: broken }
  awake: { type: final, outcome: success }
  broken: { type: final, outcome: failure }
";

#[test]
fn what_is_under_way_is_stopped_by_one_sigterm_as_by_two_ctrl_c_and_can_be_gone_on_with() {
    for orders in [&["-TERM"][..], &["-INT", "-INT"], &["-INT", "-TERM"]] {
        let (_folder, session) = project("1h");
        stopped(&session, SLOW, orders);
        session.write("made", "").unwrap();
        let resumed = session.run("resume s1").unwrap();
        assert_eq!(
            (resumed.code, resumed.stdout.as_str()),
            (Some(0), "s1  succeeded  awake\n"),
            "{orders:?}: {resumed}"
        );
    }
}

/// Starts a run of a machine and sends signals that ask its process to end.
fn stopped(session: &Session, machine: &str, orders: &[&str]) {
    session.write(".interlock/machines/slow/machine.yaml", machine).unwrap();
    let mut slow = begin(session, "run slow --name s1");
    until("the command", || shown(session, "s1")["activities"].to_string().contains("command.run"));
    until("what it writes", || !machine.contains("half") || session.folder().join("made").exists());
    for (at, order) in orders.iter().enumerate() {
        // Two signals that are sent at the same time may be merged into one.
        if at > 0 {
            hear(&mut slow, "leaving after ");
        }
        signal(&slow, order);
    }
    let (code, stdout, stderr) = ended(slow);
    assert_eq!(code, Some(4), "{orders:?}: {stdout}{stderr}");
    assert!(stderr.contains("stopping the current activities") && stderr.contains("interlock resume s1"), "{stderr}");
}

#[test]
fn what_was_stopped_while_it_wrote_is_put_back_as_after_a_crash() {
    let (_folder, session) = project("1h");
    let writes = SLOW.replace("effect: read", "effect: write").replace("echo asleep", "echo half > made");
    stopped(&session, &writes, &["-TERM"]);
    let resumed = session.run("resume s1").unwrap();
    let told = "s1  failed  broken\nit was interrupted, and its changes were undone";
    assert!(resumed.code == Some(1) && resumed.stdout.starts_with(told), "{resumed}");
    let trace = session.run("trace s1").unwrap().stdout;
    assert!(trace.contains("INTERRUPTED"), "{trace}");
    assert!(!session.folder().join("made").exists());
}

#[test]
fn a_run_whose_process_was_killed_is_taken_up_when_it_is_due() {
    let (_folder, session) = project("1s");
    let mut follower = lit(&session);
    follower.kill().unwrap();
    follower.wait().unwrap();
    until("its time", || {
        let due = shown(&session, "l1")["timers"][0]["due"].as_str().unwrap_or_default().to_owned();
        let now = Command::new("date").args(["-u", "+%FT%T.%3NZ"]).output().unwrap();
        due.as_str() < String::from_utf8_lossy(&now.stdout).trim()
    });
    let resumed = session.run("resume").unwrap();
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(1), "l1  failed  burnt_out\n"), "{resumed}");
    assert_eq!(session.run("resume").unwrap().stderr, "Nothing to resume\n");
}

#[test]
fn whoever_watches_sees_what_others_do() {
    let (_folder, session) = project("1h");
    let follower = lit(&session);
    let mut watcher = begin(&session, "watch l1 --json");
    // `watch` prints the run's place before it waits for more.
    let mut first = [0; 1];
    watcher.stderr.as_mut().unwrap().read_exact(&mut first).unwrap();
    let blink = session.run("send l1 blink --no-follow").unwrap();
    assert_eq!((blink.code, blink.stdout.as_str()), (Some(0), "l1  blink  record 2\n"), "{blink}");
    assert_eq!(session.run("send l1 off").unwrap().code, Some(0));
    let (code, stdout, _) = ended(watcher);
    let moves: Vec<Json> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<&str> = moves.iter().filter_map(|each| each["event"].as_str()).collect();
    assert_eq!((code, events), (Some(0), vec!["blink", "off"]));
    assert_eq!(ended(follower).0, Some(0));
    let over = session.run("watch l1").unwrap();
    assert_eq!(over.stderr.lines().count(), 1, "a run that has ended is described once: {over}");
}

const SCRIBE: &str = "\
machine: scribe
version: 1
summary: Thinks, then writes.
events:
  stop: { from: user, summary: Write nothing }
  hurry: { from: user, summary: Write at once }
initial: thinking
on:
  stop: { target: silent, reason: somebody said so }
  hurry: { target: writing, limit: 1 }
states:
  thinking:
    invoke: { activity: command.run, with: { command: \"while ! test -e thought; do sleep 0.05; done\" }, signals: [passed, failed] }
    on: { passed: writing, failed: silent, error: silent }
  writing:
    invoke: { activity: command.run, with: { command: \"touch written\" }, signals: [passed, failed] }
    on: { passed: done, failed: silent, error: silent }
  done: { type: final, outcome: success }
  silent: { type: final, outcome: aborted }
";

/// Makes a run of the scribe that was paused while its activity was in progress. If `is_thought`, the activity has
/// ended since.
fn paused_scribe(machine: &str, is_thought: bool) -> (TempDir, Session, Child) {
    let (folder, session) = project("1h");
    session.write(".interlock/machines/scribe/machine.yaml", machine).unwrap();
    let child = begin(&session, "run scribe --name s");
    until("the thought", || shown(&session, "s")["place"] == "thinking");
    assert_eq!(session.run("pause s").unwrap().code, Some(0));
    if is_thought {
        let seq = shown(&session, "s")["seq"].as_u64();
        session.write("thought", "").unwrap();
        until("the end of the thought", || shown(&session, "s")["seq"].as_u64() > seq);
    }
    (folder, session, child)
}

#[test]
fn a_paused_run_can_be_aborted_and_nothing_begins_that_was_waiting() {
    for is_thought in [false, true] {
        let (folder, session, child) = paused_scribe(SCRIBE, is_thought);
        let other = session.run("send s hurry").unwrap();
        assert!(other.code == Some(2) && other.stderr.contains("s is paused; resume it first, or abort it"), "{other}");
        assert_eq!(shown(&session, "s")["phase"], "paused");
        let aborted = session.run("abort s").unwrap();
        assert_eq!(aborted.code, Some(0), "{aborted}");
        let shown = shown(&session, "s");
        assert_eq!(shown["phase"], "aborted", "{shown}");
        // The process follows the run while an activity is in progress: to the end, or until the run is paused.
        let followed = ended(child).0;
        assert!(followed == Some(3) || is_thought && followed == Some(4), "{is_thought} {followed:?}");
        assert!(!folder.path().join("written").exists());
        assert_eq!(session.run("verify s").unwrap().code, Some(0));
        assert_eq!(session.run("replay s").unwrap().code, Some(0));
    }
}

#[test]
fn a_paused_run_that_has_come_to_its_end_is_over_when_it_is_aborted() {
    let ends = SCRIBE.replace("passed: writing", "passed: done");
    let (_folder, session, child) = paused_scribe(&ends, true);
    let aborted = session.run("abort s").unwrap();
    assert_eq!(aborted.code, Some(0), "{aborted}");
    assert_eq!(shown(&session, "s")["phase"], "succeeded");
    ended(child);
    assert_eq!(session.run("verify s").unwrap().code, Some(0));
}
