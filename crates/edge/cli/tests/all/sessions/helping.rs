//! Commands that help to write machines: explanations, new machines, scenarios, activities, completion, manual pages.

use expect_test::expect;

use super::scene::{check, check_in, project};

#[test]
fn explain_prints_the_page_of_a_code() {
    check(
        "explain e0211",
        expect![[r#"
        E0211: a signal without a transition

        An activity may end with this signal, and no transition takes it: neither its state nor a
        state inside or around it handles the plain name, and no other region handles the
        qualified name (`STATE.signal`).

        The activity would be over, and the run would stay in the state for ever.

        Wrong:

            invoke: { activity: x, signals: [passed, failed] }
            on: { passed: b }

        Right:

            invoke: { activity: x, signals: [passed, failed] }
            on: { passed: b, failed: c }
    "#]],
    );
    check(
        "explain E0212",
        expect![[r#"
        | error: there is no error code `E0212`
        | Hint: did you mean `W0212`?
        [exit 2]
    "#]],
    );
}

#[test]
fn explain_lists_all_codes() {
    let (_folder, session) = project();
    let listed = session.run("explain").unwrap().stdout;
    assert!(listed.lines().count() > 80, "{listed}");
    assert!(listed.contains("E0101  the file is not YAML\n"), "{listed}");
}

#[test]
fn new_machine_is_proved_and_passes_its_scenarios() {
    let (_folder, session) = project();
    check_in(
        &session,
        "new ship",
        expect![[r#"
        .interlock/machines/ship
        | Edit .interlock/machines/ship/machine.yaml, then:
        |     interlock check ship  # prove it
        |     interlock test ship  # run its scenarios
        |     interlock run ship  # start a run
    "#]],
    );
    check_in(
        &session,
        "new ship",
        expect![[r#"
        | error: .interlock/machines/ship already exists
        | Hint: choose another name, or remove it
        [exit 2]
    "#]],
    );
    check_in(
        &session,
        "check ship",
        expect![[r#"
        ✓ ship: proved
          15 configurations explored
          per user input: at most 3 transitions, 3 activities, 0 judgements
          in a whole run: at most 4 transitions, 3 activities, 0 judgements
          ✓ terminates
          ✓ never done without working.passed
          ✓ never done without reviewing.approve
    "#]],
    );
    check_in(
        &session,
        "test",
        expect![[r#"
        ✓ ship/accepted: The first failure is repeated, and a person accepts the result.
        ✓ ship/gives-up: A command that never ends is a failure after ten minutes.
        2 passed, 0 failed
    "#]],
    );
}

#[test]
fn names_that_cannot_be_machines_are_refused() {
    check(
        "new a/b",
        expect![[r#"
        | error: `a/b` is not a valid machine name
        | Hint: use letters, digits, `-` and `_`, at most 60, and begin with a letter
        [exit 2]
    "#]],
    );
    check(
        "new coder",
        expect![[r#"
        | error: `coder` is the name of a built-in machine
        | Hint: `interlock init coder` copies the built-in machine into the project
        [exit 2]
    "#]],
    );
}

#[test]
fn scenario_that_goes_another_way_fails() {
    let (_folder, session) = project();
    let scenarios = [
        ("expected", "steps: [{ expect: closed }, { send: push, expect: locked }]"),
        ("unhandled", "steps: [{ send: turn_key, expect: locked }, { send: push }]"),
        ("endless", "steps: [{ send: push, expect: [open] }]\noutcome: success"),
        ("passes", "summary: A door opens.\nsteps: [{ wait: 1h, expect: closed }, { send: push, expect: open }]"),
    ];
    for (name, text) in scenarios {
        session.write(&format!(".interlock/machines/door/tests/{name}.yaml"), text).unwrap();
    }
    check_in(
        &session,
        "test door",
        expect![[r#"
        ✗ door/endless
          expected the outcome success, but the run has not ended
        ✗ door/expected
          step 2: expected locked, but the run is in open
        ✓ door/passes: A door opens.
        ✗ door/unhandled
          step 2: no transition takes `push` in locked
        1 passed, 3 failed
        [exit 1]
    "#]],
    );
}

#[test]
fn file_that_is_not_a_scenario_is_bad_input_and_the_others_are_played() {
    let (_folder, session) = project();
    session.write(".interlock/machines/door/tests/a.yaml", "steps: [{ sent: push }]").unwrap();
    session.write(".interlock/machines/door/tests/b.yaml", "steps: [{ send: push, expect: open }]").unwrap();
    session.write(".interlock/machines/door/tests/c.json", "{").unwrap();
    check_in(
        &session,
        "test door",
        expect![[r#"
        ✗ door/a
          .interlock/machines/door/tests/a.yaml is not a scenario: unknown field `sent`, expected one of `wait`, `send`, `data`, `expect`
        ✓ door/b
        ✗ door/c
          .interlock/machines/door/tests/c.json is not JSON: EOF while parsing an object at line 1 column 1
        1 passed, 2 failed
        | Hint: docs/how-to/test-a-machine.md describes the format of scenarios
        [exit 2]
    "#]],
    );
}

#[test]
fn activity_is_described_with_its_arguments() {
    check(
        "activities timer.wait",
        expect![[r#"
        timer.wait
        Waits for a duration, or until a point in time.

        effect   read
        signals  elapsed; or error {code, message}

        with     type
        seconds  number
        until    string or integer

        data of elapsed  type
        due_ms           integer
    "#]],
    );
    check(
        "activities comand.run",
        expect![[r#"
        | error: there is no activity `comand.run`
        | Hint: did you mean `command.run`?
        [exit 2]
    "#]],
    );
}

#[test]
fn machines_are_completed() {
    let (_folder, session) = project();
    let mut command = session.command("");
    command.env("_INTERLOCK_COMPLETE", "fish").args(["--", "interlock", "describe", "do"]);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "door\tproject\n");
}

#[test]
fn runs_are_completed_without_creating_a_store() {
    let (folder, session) = project();
    let session = session.with("INTERLOCK_HOME", folder.path().join("store").display().to_string());
    let candidates = || {
        let mut command = session.command("");
        command.env("_INTERLOCK_COMPLETE", "fish").args(["--", "interlock", "show", "t"]);
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    };
    assert_eq!(candidates(), "");
    assert!(!folder.path().join("store").exists(), "completion created a store");
    session.run("run door --name today").unwrap();
    assert_eq!(candidates(), "today\tdoor, waiting in closed\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let (folder, session) = project();
    session.run("man --out pages").unwrap();
    let help = session.run("--help").unwrap().stdout;
    let commands = help.lines().skip_while(|line| *line != "Write:").take_while(|line| *line != "Options:");
    let names: Vec<&str> = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(folder.path().join(format!("pages/interlock-{name}.1")).is_file(), "{name}");
    }
    assert!(session.run("man kb search").unwrap().stdout.contains("interlock\\-kb\\-search"));
    check(
        "man nothing",
        expect![[r#"
        | error: there is no command `nothing`
        | Hint: `interlock --help` lists the commands
        [exit 2]
    "#]],
    );
}
