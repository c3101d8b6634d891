//! An expression that fails never decides: the run ends in failure, and every view names the expression, the values and
//! the place.

use expect_test::expect;
use interlock_testkit_cli::session::Session;

use super::scene::{check, json, project, run};

/// A gate whose guard reads a field that the scan need not report.
const GATE: &str = r#"machine: gate
version: 1
summary: Releases what has no critical finding.
events: { passed: { from: user }, abort: { from: user } }
on: { abort: stopped }
initial: scanning
states:
  scanning:
    on:
      passed: [{ target: blocked, guard: "event.findings.critical > 0" }, released]
  blocked: { type: final, outcome: failure }
  released: { type: final, outcome: success }
  stopped: { type: final, outcome: aborted }
"#;

fn gate() -> (tempfile::TempDir, Session) {
    let (folder, session) = project();
    session.write("gate.yaml", GATE).unwrap();
    (folder, session)
}

#[test]
fn a_guard_that_cannot_be_evaluated_releases_nothing() {
    let (_folder, session) = gate();
    check(
        &session,
        "check ./gate.yaml",
        expect![[r#"
        ✓ gate: proved
          5 configurations explored
          per user input: at most 1 transition, 0 activities, 0 judgements
          in a whole run: at most 1 transition, 0 activities, 0 judgements
        | warning[W0607]: the guard of `passed` in `scanning` may fail (`event.findings.critical > 0`), and no transition handles `error.execution` there: the run then ends in failure
        |   --> gate.yaml:10:16
        |    |
        | 10 |       passed: [{ target: blocked, guard: "event.findings.critical > 0" }, released]
        |    |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        |    |
        |    = help: test the field with `has()`, require it in a schema, or add `on: { error: … }`
        |    = help: `interlock explain W0607` tells more
        |
    "#]],
    );
    run(&session, "run ./gate.yaml --name g1");
    check(
        &session,
        "send g1 passed --data '{\"findings\": {\"high\": 2}}'",
        expect![[r#"
        g1  failed  scanning  the guard of `passed` in `scanning` could not be evaluated: no such field: critical in `event.findings.critical > 0` (event.findings = {"high":2})
        | hh:mm:ss  not taken  passed  the guard of `passed` in `scanning` could not be evaluated: no such field: critical in `event.findings.critical > 0` (event.findings = {"high":2})
        | hh:mm:ss  not taken  error.execution  the guard of `passed` in `scanning` could not be evaluated: no such field: critical in `event.findings.critical > 0` (event.findings = {"high":2})
        [exit 1]
    "#]],
    );
    check(
        &session,
        "trace g1",
        expect![[r#"
        g1 of gate: failed in scanning
            1  hh:mm:ss  → scanning
                         event     the run started by user ada
            2  hh:mm:ss  not taken
                         event     passed by user ada {"findings":{"high":2}}
                         refused   scanning → blocked: `event.findings.critical > 0`, or something on its way, could not be evaluated (event.findings.critical = null)
                         fault     the guard of `passed` in `scanning` could not be evaluated: no such field: critical in `event.findings.critical > 0` (event.findings = {"high":2})
            2  hh:mm:ss  not taken
                         event     error.execution
                         reason    the guard of `passed` in `scanning` could not be evaluated: no such field: critical in `event.findings.critical > 0` (event.findings = {"high":2})
    "#]],
    );
    let shown = json(&session, "show g1");
    let failure = "the guard of `passed` in `scanning` could not be evaluated: no such field: critical in `event.findings.critical > 0` (event.findings = {\"high\":2})";
    assert_eq!((&shown["phase"], &shown["failure"]), (&"failed".into(), &failure.into()));
    assert_eq!(shown["output"]["values"]["event.findings"]["high"], 2);
    let text = run(&session, "show g1").stdout;
    assert!(text.contains(&format!("g1: failed in scanning\n  failed     {failure}\n")), "{text}");
    let report = run(&session, "report g1").stdout;
    assert!(report.contains("gate failed in scanning"), "{report}");
    assert!(report.contains("no such field: critical in `event.findings.critical > 0`"), "{report}");
    check(
        &session,
        "verify g1",
        expect![[r#"
        ✓ g1: 2 records unchanged
        ✓ the store: 2 records in one chain
    "#]],
    );
}

/// A gate whose machine handles every fault, or every error, without giving a reason.
fn handling(session: &Session, name: &str, event: &str, end: &str) {
    let handled = GATE.replace("machine: gate", &format!("machine: {name}"));
    let handled = handled.replace("on: { abort: stopped }", &format!("on: {{ abort: stopped, {event}: {end} }}"));
    session.write(&format!("{name}.yaml"), &handled).unwrap();
    run(session, &format!("run ./{name}.yaml --name {name} --unproved"));
}

#[test]
fn a_handler_without_a_reason_ends_with_that_of_the_fault() {
    let (_folder, session) = gate();
    handling(&session, "h1", "error", "blocked");
    let fault = "the guard of `passed` in `scanning` could not be evaluated: no such field: critical in `event.findings.critical > 0` (event.findings = {\"high\":2})";
    let ended = run(&session, "send h1 passed --data '{\"findings\": {\"high\": 2}}'");
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), format!("h1  failed  blocked\n{fault}\n").as_str()),
        "{ended}"
    );
    // Every reader says the same, also long after the end.
    let of = |view: &str| json(&session, view);
    for view in ["resume h1", "show h1", "watch h1"] {
        assert_eq!(of(view)["reason"], fault, "{view}");
    }
    assert_eq!(of("runs")[0]["reason"], fault);
    assert_eq!((&of("watch h1")["phase"], &of("watch h1")["outcome"]), (&"failed".into(), &"failure".into()));
    let watched = run(&session, "watch h1");
    assert!(watched.code == Some(1) && watched.stderr.contains(&format!("blocked: {fault}")), "{watched}");
}

#[test]
fn a_fault_that_is_handled_into_a_success_is_named_at_the_end() {
    let (_folder, session) = gate();
    handling(&session, "h2", "error.execution", "released");
    let ended = run(&session, "send h2 passed --data '{\"findings\": {\"high\": 2}}'");
    let said =
        "h2  succeeded  released\n  fault: the guard of `passed` in `scanning` could not be evaluated: no such field";
    assert!(ended.code == Some(0) && ended.stdout.starts_with(said), "{ended}");
    assert_eq!(json(&session, "resume h2")["faults"].as_array().unwrap().len(), 1);
}

#[test]
fn a_refusal_or_an_error_that_is_taken_without_a_reason_is_the_reason() {
    let (_folder, session) = gate();
    let machine = |command: &str| {
        format!(
            "machine: m\nversion: 1\ninitial: a\non: {{ error: bad, timeout: bad }}\nstates:\n  a: {{ timeout: 20s, invoke: {{ activity: command.run, with: {{ command: '{command}' }}, signals: [passed, failed] }}, on: {{ passed: good, failed: bad }} }}\n  good: {{ type: final, outcome: success }}\n  bad: {{ type: final, outcome: failure }}\n"
        )
    };
    session.write("m.yaml", &machine("curl http://example.com")).unwrap();
    let refused = run(&session, "run ./m.yaml --name m1 --unproved");
    let reason = "connect to `example.com:80`: no rule allows that host";
    assert_eq!(
        (refused.code, refused.stdout.as_str()),
        (Some(1), format!("m1  failed  bad\n{reason}\n").as_str()),
        "{refused}"
    );
    assert_eq!(json(&session, "resume m1")["reason"], reason);
}

#[test]
fn what_cannot_be_shown_to_a_person_is_said() {
    let (_folder, session) = project();
    let machine = r#"machine: shows
version: 1
initial: asking
context: { risks: [a, b], document: {} }
events: { yes: { from: user } }
states:
  asking:
    summary: A person looks at the risks
    shows: { first: "${context.risks[0]}", eighth: "${context.risks[7]}", path: "${context.document.path}" }
    grants: { scopes: "${[context.risks[9]]}", event: yes }
    timeout: 1h
    on: { yes: good, timeout: bad }
  good: { type: final, outcome: success }
  bad: { type: final, outcome: aborted }
"#;
    session.write("shows.yaml", machine).unwrap();
    let asked = run(&session, "run ./shows.yaml --name s1 --unproved").stderr;
    assert!(
        asked.contains("first: a\n") && asked.contains("eighth: could not be evaluated: index 7 is outside"),
        "{asked}"
    );
    assert!(asked.contains("permissions: could not be evaluated: "), "{asked}");
    assert!(!asked.contains("path:"), "a document without fields has no path to show: {asked}");
}
