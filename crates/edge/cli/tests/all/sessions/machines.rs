//! Lists and descriptions of machines.

use expect_test::expect;

use super::scene::{DOOR, check, check_in, project};

#[test]
fn machines_are_listed_with_the_projects_own() {
    check(
        "machines",
        expect![[r#"
        brain     built-in  Watches over a coding agent's session and takes its work through review, lint, tests, commit and deployment.
        coder     built-in  A conversation with a coding agent in which every turn is planned, confirmed where it is dangerous, verified and summed up.
        door      project   A door that can be locked.
        firmware  built-in  Changes firmware, builds it, tests it where it runs, analyses the result, and repeats this until the tests pass or a limit is reached.
        notebook  built-in  Works through a workflow of stages and steps in a notebook; a planner says what is achieved, a generator writes the cells.
        prd       built-in  From a requirement to a PRD, a confirmed queue of tasks, verified commits and an archive; three automatic fixes a task, then a person.
    "#]],
    );
}

#[test]
fn machines_as_json_are_a_list() {
    let (_folder, session) = project();
    let text = session.run("machines --json").unwrap().stdout;
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    let door = rows.as_array().unwrap().iter().find(|row| row["id"] == "door").unwrap();
    expect![[r#"
        {
          "id": "door",
          "version": 2,
          "summary": "A door that can be locked.",
          "origin": "project",
          "path": ".interlock/machines/door/machine.yaml"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(door).unwrap());
}

#[test]
fn a_machine_is_described() {
    check(
        "describe door",
        expect![[r#"
        door version 2
        A door that can be locked.

        states
          closed (atomic, #idle)
              push -> open
              turn_key -> locked
          open (atomic, #idle)
              push -> closed
          locked (atomic, #idle)
              turn_key -> closed

        events
          push                     from user
          turn_key                 from user  Lock or unlock
    "#]],
    );
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

#[test]
fn an_unknown_machine_is_bad_input_with_a_hint() {
    check(
        "describe dor",
        expect![[r#"
        | error: there is no machine called `dor`
        | Hint: did you mean `door`?
        [exit 2]
    "#]],
    );
}

#[test]
fn a_wrong_name_finds_machines_beside_the_caller() {
    let (_folder, session) = project();
    session.write("release/machine.yaml", DOOR).unwrap();
    session.write("window.yaml", DOOR).unwrap();
    session.write("windowless/readme", "").unwrap();
    for (wrong, right) in [("relase", "release"), ("widnow", "window.yaml"), ("brian", "brain")] {
        let said = session.run(&format!("run {wrong}")).unwrap();
        let expected = format!("error: there is no machine called `{wrong}`\nHint: did you mean `{right}`?\n");
        assert_eq!((said.code, said.stderr), (Some(2), expected));
    }
}

#[test]
fn a_machine_with_a_problem_is_shown_with_its_place() {
    let (_folder, session) = project();
    session.write("bad/machine.yaml", &DOOR.replace("initial: closed", "initial: closd")).unwrap();
    check_in(
        &session,
        "describe bad/",
        expect![[r#"
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
