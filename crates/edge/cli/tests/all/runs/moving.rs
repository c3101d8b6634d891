//! Progress of runs: by events, by reports of a person, to their end, or not at all.

use expect_test::expect;

use super::scene::{TEA, brewed, check, json, project, run};

#[test]
fn a_machine_is_played_by_hand_from_its_start_to_its_end() {
    let (_folder, session) = project();
    check(
        &session,
        "run tea --set leaf=oolong --name t1",
        expect![[r#"
            t1  waiting  heating
            | run t1
            | hh:mm:ss  → heating  start
            | t1 waits in heating. To answer:
            |   heating invokes kettle.boil, which is not installed. Report its result yourself:
            |     its arguments are {"cups":1}
            |     interlock send t1 boiled
            |     interlock send t1 error --data '{"code":"FAILED","message":"…"}'  # It failed
            |     interlock send t1 abort  # Pour it away
            | Details: `interlock show t1`
            [exit 4]
        "#]],
    );
    check(
        &session,
        "send t1 boiled",
        expect![[r#"
            t1  waiting  brewed
            | hh:mm:ss  heating → brewed  boiled  the water for oolong boils
            | t1 waits in brewed. To answer:
            |     interlock send t1 drink  # Drink it
            |     interlock send t1 stronger --data '{"minutes":1}'  # Brew it longer
            |     interlock send t1 abort  # Pour it away
            | Details: `interlock show t1`
            [exit 4]
        "#]],
    );
    check(
        &session,
        "send t stronger --data '{\"minutes\": 2}'",
        expect![[r#"
            t1  waiting  brewed
            | hh:mm:ss  brewed → brewed  stronger
            | t1 waits in brewed. To answer:
            |     interlock send t1 drink  # Drink it
            |     interlock send t1 stronger --data '{"minutes":1}'  # Brew it longer
            |     interlock send t1 abort  # Pour it away
            | Details: `interlock show t1`
            [exit 4]
        "#]],
    );
    check(
        &session,
        "send t1 drink",
        expect![[r#"
        t1  succeeded  drunk
        | hh:mm:ss  brewed → drunk  drink
    "#]],
    );
    check(
        &session,
        "send t1 drink",
        expect![[r#"
        | error: run t1 has ended
        [exit 2]
    "#]],
    );
}

#[test]
fn what_is_not_taken_is_refused_with_what_is() {
    let (_folder, session) = brewed();
    check(
        &session,
        "send t1 boiled",
        expect![[r#"
        | error: a person cannot send `boiled`: it comes from activity
        | Hint: it accepts these events now:
        |   drink     Drink it
        |   stronger  Brew it longer
        |   abort     Pour it away
        [exit 2]
    "#]],
    );
    check(
        &session,
        "send t1 stir",
        expect![[r#"
        | error: the machine tea has no event `stir`
        | Hint: it accepts these events now:
        |   drink     Drink it
        |   stronger  Brew it longer
        |   abort     Pour it away
        [exit 2]
    "#]],
    );
    check(
        &session,
        "send t1 stronger",
        expect![[r#"
        | error: the data of `stronger` does not fit its schema:
        |   "minutes" is a required property
        | Hint: interlock send t1 stronger --data '{"minutes":1}'
        [exit 2]
    "#]],
    );
    check(
        &session,
        "send t1 stronger --data '{'",
        expect![[r#"
        | error: the data is not JSON: EOF while parsing an object at line 1 column 1
        | Hint: --data '{"field": "value"}'
        [exit 2]
    "#]],
    );
    check(
        &session,
        "send tt drink",
        expect![[r#"
        | error: there is no run called `tt`
        | Hint: list them with `interlock runs`
        [exit 2]
    "#]],
    );
    let records = json(&session, "show t1")["seq"].clone();
    assert_eq!(records, 2, "what is refused leaves no record");
}

#[test]
fn exit_codes_say_how_a_run_ended() {
    for (event, expected) in [("drink", 0), ("'stronger' --data '{\"minutes\":11}'", 4), ("abort", 3)] {
        let (_folder, session) = brewed();
        assert_eq!(run(&session, &format!("send t1 {event}")).code, Some(expected), "{event}");
    }
    let (_folder, session) = project();
    assert_eq!(run(&session, "run tea --set leaf=oolong --name t1").code, Some(4));
    let failed = run(&session, "send t1 error --data '{\"code\": \"FAILED\", \"message\": \"no water\"}'");
    assert_eq!(failed.code, Some(1), "{failed}");
    assert_eq!(run(&session, "abort t1").code, Some(2));
}

#[test]
fn a_run_that_is_aborted_as_asked_is_good() {
    let (_folder, session) = brewed();
    check(
        &session,
        "abort t1",
        expect![[r#"
            t1  aborted  poured_away
            | hh:mm:ss  brewed → poured_away  abort  nobody wants tea
        "#]],
    );
    check(
        &session,
        "abort t1",
        expect![[r#"
        | error: t1 has ended
        [exit 2]
    "#]],
    );
}

#[test]
fn bad_input_is_named_in_full_and_starts_nothing() {
    let (_folder, session) = project();
    check(
        &session,
        "run tea --set cups=many --set leaf=x --set leaf.y=z",
        expect![[r#"
        | error: `--set leaf.y`: `"x"` has no fields
        [exit 2]
    "#]],
    );
    check(
        &session,
        "run tea --set cups=many",
        expect![[r#"
            | error: the input does not fit the machine's schema:
            |   "leaf" is a required property
            |   cups: "many" is not of type "integer"
            | Hint: the smallest valid input: `echo '{"leaf":"…"}' | interlock run tea --input -`
            [exit 2]
        "#]],
    );
    check(
        &session,
        "run tee",
        expect![[r#"
        | error: there is no machine called `tee`
        | Hint: available machines are brain, coder, firmware, notebook, prd, tea; you can also give the path of a directory or a file
        [exit 2]
    "#]],
    );
    check(
        &session,
        "run tea --set leaf=x --name 'a b'",
        expect![[r#"
        | error: `a b` is not a valid run name
        | Hint: use letters, digits, `.`, `_` and `-`, at most 100, and begin with a letter or digit
        [exit 2]
    "#]],
    );
    check(
        &session,
        "runs",
        expect![[r#"
        | No runs yet. Start one with `interlock run`
    "#]],
    );
    session.write("input.yaml", "leaf: mint\ncups: 3\n").unwrap();
    assert_eq!(run(&session, "run tea --input input.yaml --name t1").code, Some(4));
    assert_eq!(json(&session, "show t1")["input"], serde_json::json!({ "leaf": "mint", "cups": 3 }));
    check(
        &session,
        "run tea --input input.yaml --name t1",
        expect![[r#"
        | error: there is already a run called `t1`
        | Hint: choose another name
        [exit 2]
    "#]],
    );
}

#[test]
fn a_machine_with_mistakes_is_not_run() {
    let (_folder, session) = project();
    session.write("bad/machine.yaml", &TEA.replace("initial: heating", "initial: heatin")).unwrap();
    let refused = run(&session, "run bad/");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("E0201"), "{refused}");
    assert_eq!(json(&session, "runs"), serde_json::json!([]));
}

#[test]
fn a_paused_run_stands_still_until_it_is_resumed() {
    let (_folder, session) = brewed();
    check(
        &session,
        "pause t1",
        expect![[r#"
        t1  paused  record 3
    "#]],
    );
    check(
        &session,
        "send t1 drink",
        expect![[r#"
            | error: run t1 is paused; resume it first, or abort it
            [exit 2]
        "#]],
    );
    check(
        &session,
        "resume t1",
        expect![[r#"
            t1  waiting  brewed
            | t1 waits in brewed. To answer:
            |     interlock send t1 drink  # Drink it
            |     interlock send t1 stronger --data '{"minutes":1}'  # Brew it longer
            |     interlock send t1 abort  # Pour it away
            | Details: `interlock show t1`
            [exit 4]
        "#]],
    );
    check(
        &session,
        "resume",
        expect![[r#"
        | Nothing to resume
    "#]],
    );
    assert_eq!(run(&session, "send t1 drink").code, Some(0));
}
