//! Machines that need something that their environment does not have: `check` reports it, and `run` refuses them with
//! the same message.

use expect_test::expect;

use super::scene::{check_in, project};

/// A machine with errors that only show in its environment.
const WRONG: &str = "\
machine: wrong
version: 1
input: { type: object, properties: { word: { type: string } } }
initial: looking
on: { error: end }
states:
  looking:
    invoke: { activity: command.run, with: { command: \"grep ${input.word} notes.txt\" }, signals: [passed, failed] }
    on: { passed: asking, failed: asking }
  asking:
    invoke: { activity: externel, signals: [answered] }
    on: { answered: end }
  end: { type: final, outcome: success }
";

#[test]
fn what_the_world_does_not_understand_is_refused_by_check_and_by_run() {
    let (_folder, session) = project();
    session.write("wrong/machine.yaml", WRONG).unwrap();
    check_in(
        &session,
        "check wrong/",
        expect![[r#"
        ✗ wrong: not proved
          3 configurations explored
          per user input: at most 2 transitions, 2 activities, 0 judgements
          in a whole run: at most 2 transitions, 2 activities, 0 judgements
        | error[E0710]: a shell parses this command, so data in it can be executed as a command
        |  --> wrong/machine.yaml:8:46
        |   |
        | 8 |     invoke: { activity: command.run, with: { command: "grep ${input.word} notes.txt" }, signals: [passed, failed] }
        |   |                                              ^^^^^^^
        |   |
        |   = help: write it as a list, which no shell parses: `command: [grep, "${input.word}", notes.txt]`
        |   = help: `interlock explain E0710` tells more
        |
        | error[E0701]: there is no activity `externel`
        |   --> wrong/machine.yaml:11:25
        |    |
        | 11 |     invoke: { activity: externel, signals: [answered] }
        |    |                         ^^^^^^^^
        |    |
        |    = help: did you mean `external`?
        |    = help: `interlock explain E0701` tells more
        |
        [exit 1]
    "#]],
    );
    check_in(
        &session,
        "run wrong/",
        expect![[r#"
        | error: the machine wrong is not proved, so the run was not started:
        |   E0710: a shell parses this command, so data in it can be executed as a command
        |   E0701: there is no activity `externel`
        | Hint: `interlock check wrong/` shows the counterexamples; `--unproved` runs it anyway, which the run and its report record
        [exit 2]
    "#]],
    );
}

#[test]
fn every_problem_in_the_json_of_check_has_its_file_line_column_and_help() {
    let (_folder, session) = project();
    session.write("wrong/machine.yaml", WRONG).unwrap();
    let transcript = session.run("check wrong/ --json").unwrap();
    let json: serde_json::Value = serde_json::from_str(&transcript.stdout).unwrap();
    let shown = serde_json::to_string_pretty(&json["problems"]).unwrap();
    assert_eq!((transcript.code, &json["ok"]), (Some(1), &false.into()));
    expect![[r#"
        [
          {
            "code": "E0710",
            "severity": "error",
            "message": "a shell parses this command, so data in it can be executed as a command",
            "file": "wrong/machine.yaml",
            "line": 8,
            "column": 46,
            "help": "write it as a list, which no shell parses: `command: [grep, \"${input.word}\", notes.txt]`"
          },
          {
            "code": "E0701",
            "severity": "error",
            "message": "there is no activity `externel`",
            "file": "wrong/machine.yaml",
            "line": 11,
            "column": 25,
            "help": "did you mean `external`?"
          }
        ]"#]]
    .assert_eq(&shown);
}

#[test]
fn a_dead_end_and_an_endless_loop_are_shown_where_they_are() {
    let (_folder, session) = project();
    let states = "
states:
  a:
    invoke: { activity: timer.wait, with: { seconds: 1 }, signals: [elapsed] }
    on: { elapsed: b, error: end }
  b:
    on: { nothing: end }
  end: { type: final, outcome: success }
";
    let head = "machine: m\nversion: 1\nevents: { nothing: { from: machine } }\ninitial: a";
    session.write("dead/machine.yaml", &format!("{head}{states}")).unwrap();
    let endless = states.replace("on: { nothing: end }", "always: { target: a }");
    session.write("endless/machine.yaml", &format!("machine: m\nversion: 1\ninitial: a{endless}")).unwrap();
    let place = |arguments: &str| {
        let transcript = session.run(arguments).unwrap();
        let json: serde_json::Value = serde_json::from_str(&transcript.stdout).unwrap();
        let problems = json["problems"].as_array().unwrap();
        let found = problems.iter().find(|problem| ["E0602", "E0603"].contains(&problem["code"].as_str().unwrap()));
        found.map(|problem| (problem["code"].clone(), problem["line"].clone()))
    };
    assert_eq!(place("check dead/ --json"), Some(("E0602".into(), 9.into())));
    assert_eq!(place("check endless/ --json"), Some(("E0603".into(), 7.into())));
}

#[test]
fn a_machine_is_checked_with_those_that_it_starts() {
    let (_folder, session) = project();
    let machine = |id: &str, starts: &str| {
        format!(
            "machine: {id}\nversion: 1\ninitial: a\non: {{ error: end }}\nstates:\n  a:\n    invoke: {{ activity: run.start, with: {{ machine: {starts} }}, \
             signals: [succeeded, failed, aborted] }}\n    on: {{ succeeded: end, failed: end, aborted: end }}\n  end: {{ type: final, outcome: success }}\n"
        )
    };
    let leaf = "machine: leaf\nversion: 1\ninitial: a\non: { error: end }\nstates:\n  a:\n    invoke: { activity: timer.wait, with: { seconds: 1 }, \
                signals: [elapsed] }\n    on: { elapsed: end }\n  end: { type: final, outcome: success }\n";
    session.write("leaf/machine.yaml", leaf).unwrap();
    session.write("parent/machine.yaml", &machine("parent", "./leaf")).unwrap();
    session.write("ping/machine.yaml", &machine("ping", "./pong")).unwrap();
    session.write("pong/machine.yaml", &machine("pong", "./ping")).unwrap();
    session.write("lost/machine.yaml", &machine("lost", "coeder")).unwrap();
    session.write("over/machine.yaml", &machine("over", "./lost")).unwrap();
    check_in(
        &session,
        "check leaf/ parent/ ping/ lost/ over/",
        expect![[r#"
        ✓ leaf: proved
          2 configurations explored
          per user input: at most 1 transition, 1 activity, 0 judgements
          in a whole run: at most 1 transition, 1 activity, 0 judgements
        ✓ parent: proved
          2 configurations explored
          per user input: at most 3 transitions, 3 activities, 0 judgements
          in a whole run: at most 2 transitions, 2 activities, 0 judgements
        ✗ ping: not proved
          2 configurations explored
          per user input: at most 3 transitions, 3 activities, 0 judgements
          in a whole run: at most 2 transitions, 2 activities, 0 judgements
        ✗ lost: not proved
          2 configurations explored
          per user input: at most 1 transition, 1 activity, 0 judgements
          in a whole run: at most 1 transition, 1 activity, 0 judgements
        ✗ over: not proved
          2 configurations explored
          per user input: at most 3 transitions, 3 activities, 0 judgements
          in a whole run: at most 2 transitions, 2 activities, 0 judgements
        | error[E0713]: the machine `./pong` is not proved: E0714: this machine starts itself: ping → pong → ping
        |  --> ping/machine.yaml:7:44
        |   |
        | 7 |     invoke: { activity: run.start, with: { machine: ./pong }, signals: [succeeded, failed, aborted] }
        |   |                                            ^^^^^^^
        |   |
        |   = help: see `interlock check ./pong`
        |   = help: `interlock explain E0713` tells more
        |
        | error[E0712]: there is no machine called `coeder`
        |  --> lost/machine.yaml:7:44
        |   |
        | 7 |     invoke: { activity: run.start, with: { machine: coeder }, signals: [succeeded, failed, aborted] }
        |   |                                            ^^^^^^^
        |   |
        |   = help: did you mean `coder`?
        |   = help: `interlock explain E0712` tells more
        |
        | error[E0713]: the machine `./lost` is not proved: E0712: there is no machine called `coeder`
        |  --> over/machine.yaml:7:44
        |   |
        | 7 |     invoke: { activity: run.start, with: { machine: ./lost }, signals: [succeeded, failed, aborted] }
        |   |                                            ^^^^^^^
        |   |
        |   = help: see `interlock check ./lost`
        |   = help: `interlock explain E0713` tells more
        |
        [exit 1]
    "#]],
    );
}
