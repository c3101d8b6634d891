//! The command line as its users see it: stdout as it is, stderr behind a bar, the exit code where it is not 0.

use std::{
    io::Read as _,
    process::{Command, Stdio},
};

use expect_test::{Expect, expect};
use interlock_testkit::session::Session;
use tempfile::TempDir;

const DOOR: &str = "\
machine: door
version: 2
summary: A door that can be locked.
events:
  push: { from: user }
  turn_key: { from: user, summary: Lock or unlock }
initial: closed
states:
  closed: { tags: [idle], on: { push: open, turn_key: locked } }
  open: { tags: [idle], on: { push: closed } }
  locked: { tags: [idle], on: { turn_key: closed } }
";

/// A folder with a project that has one machine of its own.
fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path().canonicalize().unwrap());
    session.write(".interlock/machines/door/machine.yaml", DOOR).unwrap();
    (folder, session)
}

fn check(arguments: &str, expected: Expect) {
    let (_folder, session) = project();
    check_in(&session, arguments, expected);
}

fn check_in(session: &Session, arguments: &str, expected: Expect) {
    expected.assert_eq(&session.run(arguments).unwrap().to_string());
}

#[test]
fn machines_are_listed_with_the_projects_own() {
    check("machines", expect![""]);
}

#[test]
fn machines_as_json_are_a_list() {
    let (_folder, session) = project();
    let text = session.run("machines --json").unwrap().stdout;
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    let door = rows.as_array().unwrap().iter().find(|row| row["id"] == "door").unwrap();
    expect![""].assert_eq(&serde_json::to_string_pretty(door).unwrap());
}

#[test]
fn a_machine_is_described() {
    check("describe door", expect![""]);
}

#[test]
fn a_machine_is_described_for_programs() {
    let (_folder, session) = project();
    let text = session.run("--json describe door").unwrap().stdout;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in ["id", "version", "hash", "initial", "states", "events", "transitions"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    let state = &json["states"][0];
    let expected = ("closed", "atomic", "idle");
    assert_eq!((state["id"].as_str(), state["kind"].as_str(), state["tags"][0].as_str()), {
        let (id, kind, tag) = expected;
        (Some(id), Some(kind), Some(tag))
    });
    assert!(state["parent"].is_null());
    let transition = &json["transitions"][0];
    for key in ["source", "event", "target", "guard", "limit", "reason"] {
        assert!(transition.get(key).is_some(), "{key}");
    }
}

/// A door whose promise cannot be kept, one that cannot be read, and one that is fine.
fn promises() -> (TempDir, Session) {
    let (folder, session) = project();
    let promise = "properties:\n  - never: open\n    without: locked.turn_key\n    because: only a key opens it\n";
    session
        .write("broken/machine.yaml", &format!("{DOOR}{promise}").replace("machine: door", "machine: broken"))
        .unwrap();
    session.write("bad/machine.yaml", &DOOR.replace("initial: closed", "initial: closd")).unwrap();
    (folder, session)
}

#[test]
fn a_machine_that_keeps_its_promises_is_proved() {
    check("check door", expect![""]);
}

#[test]
fn a_broken_promise_is_shown_with_a_shortest_way_to_break_it() {
    let (_folder, session) = promises();
    check_in(&session, "check broken/ --draw ways", expect![""]);
    assert!(session.folder().join("ways/broken-1.svg").exists());
}

#[test]
fn a_file_that_cannot_be_read_is_bad_input_to_check() {
    let (_folder, session) = promises();
    check_in(&session, "check door bad/ broken/", expect![""]);
    check_in(&session, "check bad/ --json", expect![""]);
}

#[test]
fn the_json_of_check_is_an_object_for_one_machine_and_a_list_for_several() {
    let (_folder, session) = promises();
    let json = |arguments: &str| {
        let transcript = session.run(arguments).unwrap();
        let json: serde_json::Value = serde_json::from_str(&transcript.stdout).unwrap();
        (transcript.code, json)
    };
    let (code, one) = json("check broken/ --json");
    assert_eq!((code, &one["machine"], &one["ok"]), (Some(1), &"broken".into(), &false.into()));
    assert!(one["explored"].as_u64().unwrap() > 0 && one["bound"]["transitions"].is_u64(), "{one}");
    assert_eq!(one["properties"][0]["ok"], false);
    assert!(!one["properties"][0]["counterexample"].is_null());
    let (code, several) = json("check door broken/ --json");
    assert_eq!((code, several.as_array().map(Vec::len)), (Some(1), Some(2)));
}

#[test]
fn every_built_in_machine_is_proved() {
    let (_folder, session) = project();
    let transcript = session.run("check --json").unwrap();
    let json: serde_json::Value = serde_json::from_str(&transcript.stdout).unwrap();
    for machine in json.as_array().unwrap() {
        assert_eq!(machine["ok"], true, "{}: {}", machine["machine"], transcript.stderr);
        assert!(machine["bound"]["transitions"].as_u64().unwrap() > 0, "{}", machine["machine"]);
    }
    assert_eq!(json.as_array().unwrap().len(), 6);
    assert_eq!(transcript.code, Some(0));
}

#[test]
fn an_unknown_machine_is_bad_input_with_a_hint() {
    check("describe dor", expect![""]);
}

#[test]
fn a_machine_with_a_problem_is_shown_with_its_place() {
    let (_folder, session) = project();
    session.write("bad/machine.yaml", &DOOR.replace("initial: closed", "initial: closd")).unwrap();
    check_in(&session, "describe bad/", expect![""]);
}

#[test]
fn a_machine_is_drawn_in_every_format() {
    let (_folder, session) = project();
    for (format, start) in
        [("svg", "<svg"), ("mermaid", "stateDiagram-v2"), ("dot", "digraph"), ("scxml", "<scxml"), ("xstate", "{")]
    {
        let drawn = session.run(&format!("draw door --format {format}")).unwrap();
        assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
        assert!(drawn.stdout.contains(start), "{format}: {}", drawn.stdout);
    }
}

#[test]
fn a_picture_goes_to_a_file_and_stdout_stays_empty() {
    let (_folder, session) = project();
    check_in(&session, "draw door -o door.svg", expect![""]);
    assert!(session.folder().join("door.svg").exists());
}

#[test]
fn a_picture_that_cannot_be_written_is_bad_input() {
    check("draw door -o nowhere/door.svg", expect![""]);
}

#[test]
fn a_machine_survives_export_and_import() {
    let (_folder, session) = project();
    for (format, file) in [("scxml", "door.scxml"), ("xstate", "door.json")] {
        session.run(&format!("draw door --format {format} -o {file}")).unwrap();
        let imported = session.run(&format!("import {file} -o {format}/")).unwrap();
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let hash = |machine: &str| {
            let text = session.run(&format!("describe {machine} --json")).unwrap().stdout;
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["hash"].clone()
        };
        assert_eq!(hash("door"), hash(&format!("{format}/")), "{format}");
    }
}

#[test]
fn an_import_prints_a_machine_file() {
    let (_folder, session) = project();
    session.write("lamp.mmd", "stateDiagram-v2\n  [*] --> off\n  off --> on : press\n  on --> off : press\n").unwrap();
    check_in(&session, "import lamp.mmd", expect![""]);
}

#[test]
fn an_import_of_something_else_says_so() {
    let (_folder, session) = project();
    session.write("notes.txt", "nothing of the kind\n").unwrap();
    check_in(&session, "import notes.txt", expect![""]);
    check_in(&session, "import missing.scxml", expect![""]);
}

#[test]
fn what_a_script_engine_would_need_is_not_imported() {
    let (_folder, session) = project();
    let scxml = "<scxml xmlns='http://www.w3.org/2005/07/scxml' version='1.0'>\n<state id='a'>\n<onentry><script>x()</script></onentry>\n</state>\n</scxml>\n";
    session.write("script.scxml", scxml).unwrap();
    check_in(&session, "import script.scxml", expect![""]);
}

#[test]
fn cases_are_run_and_counted_on_the_last_line() {
    let (_folder, session) = project();
    let open = "<scxml xmlns='http://www.w3.org/2005/07/scxml' version='1.0'>";
    session.write("cases/good.scxml", &format!("{open}<final id='pass'/></scxml>")).unwrap();
    session.write("cases/sub/bad.scxml", &format!("{open}<state id='a'/></scxml>")).unwrap();
    session.write("cases/sub/bad.json", r#"{"initialConfiguration": ["b"], "events": []}"#).unwrap();
    session.write("cases/script.scxml", &format!("{open}<script>1</script><final id='pass'/></scxml>")).unwrap();
    check_in(&session, "conform cases", expect![""]);
    check_in(&session, "conform cases --json", expect![""]);
    check_in(&session, "conform cases/sub/nothing", expect![""]);
    check_in(&session, "conform .interlock", expect![""]);
}

#[test]
fn the_schema_is_json() {
    let (_folder, session) = project();
    let schema = session.run("schema").unwrap();
    let json: serde_json::Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(json["title"], "Interlock machine");
    assert_eq!(schema.code, Some(0));
}

#[test]
fn bad_usage_is_exit_code_2() {
    check("drow door", expect![""]);
    check("draw door --format png", expect![""]);
}

#[test]
fn help_shows_commands_and_examples() {
    check("--help", expect![""]);
}

#[test]
fn colours_are_only_for_terminals() {
    let (_folder, session) = project();
    for arguments in ["machines", "describe dor", "describe door"] {
        let transcript = session.run(arguments).unwrap();
        assert!(!(transcript.stdout + &transcript.stderr).contains('\u{1b}'), "{arguments}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let (_folder, session) = project();
    let mut command: Command = session.command("schema");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}
