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
        | hh:mm:ss  not taken  passed
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
