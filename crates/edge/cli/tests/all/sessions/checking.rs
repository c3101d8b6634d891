//! Checks of machines whose properties hold, and of machines whose properties do not.

use expect_test::expect;
use interlock_testkit_cli::session::Session;
use tempfile::TempDir;

use super::scene::{DOOR, check, check_in, project};

/// Makes a project with a machine whose property does not hold, one that cannot be read, and one that is valid.
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
    check(
        "check door",
        expect![[r#"
            ✓ door: proved
              3 configurations explored
              per user input: at most 1 transition, 0 activities, 0 judgements
        "#]],
    );
}

#[test]
fn a_broken_promise_is_shown_with_a_shortest_way_to_break_it() {
    let (_folder, session) = promises();
    check_in(
        &session,
        "check broken/ --draw ways",
        expect![[r#"
            ✗ broken: not proved
              3 configurations explored
              per user input: at most 1 transition, 0 activities, 0 judgements
              ✗ never open without locked.turn_key
                required because only a key opens it
                a shortest counterexample:
                 1. start       → closed
                 2. push (user) → open
            | wrote ways/broken-1.svg
            [exit 1]
        "#]],
    );
    assert!(session.folder().join("ways/broken-1.svg").exists());
}

#[test]
fn a_file_that_cannot_be_read_is_bad_input_to_check() {
    let (_folder, session) = promises();
    check_in(
        &session,
        "check door bad/ broken/",
        expect![[r#"
            ✓ door: proved
              3 configurations explored
              per user input: at most 1 transition, 0 activities, 0 judgements
            ✗ bad/: cannot be read
            ✗ broken: not proved
              3 configurations explored
              per user input: at most 1 transition, 0 activities, 0 judgements
              ✗ never open without locked.turn_key
                required because only a key opens it
                a shortest counterexample:
                 1. start       → closed
                 2. push (user) → open
            | error[E0201]: there is no state `closd`
            |  --> bad/machine.yaml:7:10
            |   |
            | 7 | initial: closd
            |   |          ^^^^^
            |   |
            |   = help: did you mean `closed`?
            |   = help: `interlock explain E0201` tells more
            |
            [exit 2]
        "#]],
    );
    check_in(
        &session,
        "check bad/ --json",
        expect![[r#"
            {
              "machine": "bad/",
              "ok": false,
              "explored": 0,
              "bound": null,
              "properties": [],
              "problems": [
                {
                  "code": "E0201",
                  "severity": "error",
                  "message": "there is no state `closd`",
                  "file": "bad/machine.yaml",
                  "line": 7,
                  "column": 10,
                  "help": "did you mean `closed`?"
                }
              ]
            }
            | error[E0201]: there is no state `closd`
            |  --> bad/machine.yaml:7:10
            |   |
            | 7 | initial: closd
            |   |          ^^^^^
            |   |
            |   = help: did you mean `closed`?
            |   = help: `interlock explain E0201` tells more
            |
            [exit 2]
        "#]],
    );
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
