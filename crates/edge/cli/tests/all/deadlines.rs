//! Deadlines from the user's side: late answers, lists that mark overdue runs, cron, and a form on a terminal.

use std::{
    io::{Read as _, Write as _},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit_cli::session::Session;
use serde_json::Value as Json;
use tempfile::TempDir;

const REVIEW: &str = "\
machine: review
version: 1
summary: Asks for a while.
events: { approve: { from: user, summary: Merge it } }
initial: reviewing
states:
  reviewing:
    timeout: TIME
    on: { approve: merged, timeout: { target: refused, reason: nobody came } }
  merged: { type: final, outcome: success }
  refused: { type: final, outcome: failure }
";

fn project(time: &str) -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with("INTERLOCK_USER", "ada");
    session.write(".interlock/machines/review/machine.yaml", &REVIEW.replace("TIME", time)).unwrap();
    (folder, session)
}

fn json(session: &Session, arguments: &str) -> Json {
    let said = session.run(&format!("{arguments} --json")).unwrap();
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}\n{said}"))
}

/// Waits until `show` reports that the run's deadline is overdue.
fn until_overdue(session: &Session) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while json(session, "show r1")["deadline"]["overdue"] != Json::Bool(true) {
        assert!(Instant::now() < deadline, "the deadline never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_answer_after_the_deadline_is_refused_and_says_so() {
    for is_json in [false, true] {
        let (_folder, session) = project("2500ms");
        let run = session.run("run review --name r1").unwrap();
        assert_eq!(run.code, Some(4), "{run}");
        assert!(run.stderr.contains("Deadline: `timeout.reviewing` fires at 2"), "{run}");
        until_overdue(&session);
        let sent = session.run(if is_json { "send r1 approve --json" } else { "send r1 approve" }).unwrap();
        assert_eq!(sent.code, Some(1), "{sent}");
        assert!(sent.stderr.contains("`approve` came too late for r1 and was not recorded"), "{sent}");
        assert!(sent.stderr.contains("led from reviewing to refused"), "{sent}");
        if is_json {
            let sent: Json = serde_json::from_str(&sent.stdout).unwrap();
            assert_eq!((&sent["too_late"], &sent["deadlines"][0]["to"]), (&Json::Bool(true), &Json::from("refused")));
        }
        assert_eq!(json(&session, "show r1")["place"], "refused");
        assert_eq!(session.run("verify").unwrap().code, Some(0));
    }
}

#[test]
fn lists_say_when_a_deadline_fires_and_what_is_overdue() {
    let (_folder, session) = project("1h");
    session.run("run review --name r1").unwrap();
    let shown = session.run("show r1").unwrap().stdout;
    assert!(shown.contains("(in 59m)"), "{shown}");
    let runs = session.run("runs").unwrap().stdout;
    assert!(runs.contains("deadline") && runs.contains("in 59m"), "{runs}");
    let (_folder, session) = project("2500ms");
    session.run("run review --name r1").unwrap();
    until_overdue(&session);
    let runs = session.run("runs").unwrap().stdout;
    assert!(runs.contains("overdue "), "{runs}");
    assert_eq!(json(&session, "runs")[0]["deadline"]["overdue"], true);
    let shown = session.run("show r1").unwrap().stdout;
    assert!(shown.contains("overdue") && shown.contains("interlock resume --due"), "{shown}");
}

#[test]
fn due_timers_of_runs_that_nobody_moves_are_fired_for_cron() {
    let (_folder, session) = project("2500ms");
    session.run("run review --name r1").unwrap();
    until_overdue(&session);
    session.write(".interlock/machines/review/machine.yaml", &REVIEW.replace("TIME", "1h")).unwrap();
    session.run("run review --name r2").unwrap();
    let fired = session.run("resume --due").unwrap();
    assert_eq!((fired.code, fired.stdout.as_str()), (Some(0), "r1  failed  refused\n"), "{fired}");
    assert!(fired.stderr.contains("r1  ") && fired.stderr.contains("timeout.reviewing  nobody came"), "{fired}");
    let again = session.run("resume --due").unwrap();
    assert_eq!((again.code, again.stdout.as_str(), again.stderr.as_str()), (Some(0), "", ""), "{again}");
    assert_eq!(session.run("resume r1 --due").unwrap().code, Some(2));
}

#[test]
fn a_run_whose_process_was_killed_is_not_active() {
    let (_folder, session) = project("1h");
    let machine = "machine: sleepy\nversion: 1\nsummary: Sleeps.\ninitial: asleep\nstates:\n  asleep:\n    \
        invoke: { activity: timer.wait, with: { seconds: 3600 }, signals: [elapsed] }\n    on: { elapsed: awake, error: awake }\n  \
        awake: { type: final, outcome: success }\n";
    session.write(".interlock/machines/sleepy/machine.yaml", machine).unwrap();
    let mut child =
        session.command("run sleepy --name s1").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 1];
    child.stderr.as_mut().unwrap().read_exact(&mut said).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while json(&session, "runs")[0]["process"] != child.id() {
        assert!(Instant::now() < deadline, "No process is running it");
        std::thread::sleep(Duration::from_millis(20));
    }
    let runs = session.run("runs").unwrap().stdout;
    assert!(runs.contains(" active ") && runs.contains(&format!("{} for ", child.id())), "{runs}");
    assert!(json(&session, "show s1")["process_since"].is_string());
    child.kill().unwrap();
    child.wait().unwrap();
    let runs = session.run("runs").unwrap();
    assert!(runs.stdout.contains(" unattended "), "{runs}");
    assert!(runs.stderr.contains("Continue it with `interlock resume s1`"), "{runs}");
    assert_eq!(json(&session, "runs")[0]["unattended"], true);
    session.write(".interlock/machines/sleepy/machine.yaml", &machine.replace("3600", "7200")).unwrap();
    let runs = session.run("runs").unwrap();
    assert!(runs.stderr.contains("sleepy has changed since (its `version` is still 1)"), "{runs}");
}

/// Reads the output of a terminal until it ends with this text.
fn read_until(output: &mut impl std::io::Read, shown: &str) -> String {
    let (mut seen, mut next) = (Vec::new(), [0; 1]);
    while !seen.ends_with(shown.as_bytes()) {
        let read = output.read(&mut next).unwrap();
        assert_eq!(read, 1, "`{shown}` was not shown after\n{}", String::from_utf8_lossy(&seen));
        seen.extend(next);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

#[test]
fn a_form_closes_when_its_deadline_fires_and_leaves_the_terminal_as_it_was() {
    let (_folder, session) = project("3s");
    let inner = format!(
        "stty cols 100 rows 40; stty -g > before; {} run review --name r1; echo code=$?; stty -g > after; echo all",
        env!("CARGO_BIN_EXE_interlock")
    );
    let mut terminal = Command::new("timeout")
        .args(["60", "script", "-qfc", &inner, "/dev/null"])
        .current_dir(session.folder())
        .env("TERM", "xterm")
        .env("INTERLOCK_HOME", session.folder().join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = terminal.stdout.take().unwrap();
    read_until(&mut output, "to filter");
    let seen = read_until(&mut output, "code=");
    assert!(seen.contains("The form is closed: the deadline has passed."), "{seen}");
    assert!(seen.contains("nobody came"), "{seen}");
    assert!(read_until(&mut output, "all").starts_with('1'), "the run failed");
    drop(terminal.stdin.take());
    terminal.wait().unwrap();
    let settings = |name: &str| std::fs::read_to_string(session.folder().join(name)).unwrap();
    assert_eq!(settings("before"), settings("after"));
}

#[test]
fn a_form_closes_when_somebody_else_answers() {
    let (_folder, session) = project("1h");
    let inner = format!("stty cols 100 rows 40; exec {} run review --name r1", env!("CARGO_BIN_EXE_interlock"));
    let mut terminal = Command::new("timeout")
        .args(["60", "script", "-qefc", &inner, "/dev/null"])
        .current_dir(session.folder())
        .env("TERM", "xterm")
        .env("INTERLOCK_HOME", session.folder().join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = terminal.stdout.take().unwrap();
    read_until(&mut output, "to filter");
    assert_eq!(session.run("send r1 approve").unwrap().code, Some(0));
    let seen = read_until(&mut output, "r1  succeeded  merged");
    assert!(seen.contains("The form is closed: the run has changed its state."), "{seen}");
    let _ = terminal.stdin.take().unwrap().flush();
    assert_eq!(terminal.wait().unwrap().code(), Some(0));
}
