//! Runs that start runs: their output, their questions, and their end.

use interlock_testkit_cli::session::Session;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

const CHILD: &str = "\
machine: child
version: 1
summary: Asks for a number.
events:
  answer: { from: user, summary: Say it, data: { type: object, required: [n], properties: { n: { type: integer } } } }
context: { n: 0 }
initial: asking
states:
  asking: { on: { answer: { target: known, assign: { n: \"${event.n}\" } } } }
  known: { type: final, outcome: success, data: { twice: \"${context.n * 2}\" } }
";

const PARENT: &str = "\
machine: parent
version: 1
summary: Has a child find a number.
events: { enough: { from: user } }
context: { found: 0 }
initial: finding
states:
  finding:
    invoke: { activity: run.start, with: { machine: child, detached: DETACHED }, signals: [succeeded, failed, aborted] }
    on:
      succeeded: { target: done, assign: { found: \"${event.output.twice}\" } }
      failed: lost
      aborted: lost
      error: lost
      enough: stopped
  stopped: { type: final, outcome: success }
  done: { type: final, outcome: success, data: { found: \"${context.found}\" } }
  lost: { type: final, outcome: failure }
";

fn project(detached: bool) -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with("INTERLOCK_USER", "ada");
    session.write(".interlock/machines/child/machine.yaml", CHILD).unwrap();
    let parent = PARENT.replace("DETACHED", &detached.to_string());
    session.write(".interlock/machines/parent/machine.yaml", &parent).unwrap();
    let outer = PARENT.replace("machine: parent", "machine: outer").replace("machine: child", "machine: parent");
    let outer = outer.replace("event.output.twice", "event.output.found").replace("DETACHED", "false");
    session.write(".interlock/machines/outer/machine.yaml", &outer).unwrap();
    (folder, session)
}

fn shown(session: &Session, run: &str) -> Json {
    serde_json::from_str(&session.run(&format!("show {run} --json")).unwrap().stdout).unwrap()
}

#[test]
fn a_parent_says_what_its_child_asks_and_gets_its_output() {
    let (_folder, session) = project(false);
    let run = session.run("run parent --name p1").unwrap();
    assert_eq!((run.code, run.stdout.as_str()), (Some(4), "p1  waiting  finding\n"), "{run}");
    assert!(run.stderr.contains("p1 waits for its child run p1.a1, which waits for a person"), "{run}");
    assert!(run.stderr.contains("interlock send p1.a1 answer --data '{\"n\":1}'  # Say it"), "{run}");
    assert!(run.stderr.contains("interlock resume p1"), "{run}");
    let show = session.run("show p1").unwrap();
    assert!(show.stdout.contains("p1 waits for its child run p1.a1"), "{show}");
    assert!(session.run("runs").unwrap().stdout.contains("waits for p1.a1"));
    let again = session.run("resume p1 --json").unwrap();
    let left: Json = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((again.code, &left["waits_for_run"], &left["phase"]), (Some(4), &json!("p1.a1"), &json!("waiting")));
    assert_eq!(left["waits_for"][0]["event"], "answer");
    let sent = session.run("send p1.a1 answer --data '{\"n\":21}'").unwrap();
    assert_eq!(sent.code, Some(0), "{sent}");
    assert!(sent.stderr.contains("interlock resume p1"), "{sent}");
    assert_eq!(shown(&session, "p1.a1")["output"], json!({ "twice": 42 }));
    assert!(session.run("show p1.a1").unwrap().stdout.contains("output\n  twice = 42"));
    let resumed = session.run("resume p1 --json").unwrap();
    let left: Json = serde_json::from_str(&resumed.stdout).unwrap();
    assert_eq!((resumed.code, &left["output"]), (Some(0), &json!({ "found": 42 })), "{resumed}");
    assert_eq!(session.run("verify").unwrap().code, Some(0));
}

#[test]
fn the_question_of_a_grandchild_is_told_too() {
    let (_folder, session) = project(false);
    let run = session.run("run outer --name o1").unwrap();
    assert_eq!((run.code, run.stdout.as_str()), (Some(4), "o1  waiting  finding\n"), "{run}");
    assert!(run.stderr.contains("interlock send o1.a1.a1 answer"), "{run}");
    assert_eq!(session.run("send o1.a1.a1 answer --data '{\"n\":4}'").unwrap().code, Some(0));
    assert_eq!(session.run("resume o1").unwrap().code, Some(0));
    assert_eq!(shown(&session, "o1")["output"], json!({ "found": 8 }));
}

#[test]
fn leaving_the_state_aborts_the_child_unless_it_is_detached() {
    for (detached, phase) in [(false, "aborted"), (true, "waiting")] {
        let (_folder, session) = project(detached);
        assert_eq!(session.run("run parent --name p1").unwrap().code, Some(4));
        let sent = session.run("send p1 enough").unwrap();
        assert_eq!(sent.code, Some(0), "{sent}");
        assert_eq!(shown(&session, "p1.a1")["phase"], phase);
        let trace = session.run("trace p1.a1").unwrap().stdout;
        assert_eq!(trace.contains("p1 has left the state that started it"), !detached, "{trace}");
        assert_eq!(session.run("verify").unwrap().code, Some(0));
    }
}

#[test]
fn leaving_the_state_aborts_grandchildren() {
    let (_folder, session) = project(false);
    session.run("run outer --name o1").unwrap();
    assert_eq!(session.run("send o1 enough").unwrap().code, Some(0));
    assert_eq!(shown(&session, "o1.a1")["phase"], "aborted");
    assert_eq!(shown(&session, "o1.a1.a1")["phase"], "aborted");
}
