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
    check(&session, "check ./gate.yaml", expect![[""]]);
    run(&session, "run ./gate.yaml --name g1");
    check(&session, "send g1 passed --data '{\"findings\": {\"high\": 2}}'", expect![[""]]);
    check(&session, "show g1", expect![[""]]);
    check(&session, "trace g1", expect![[""]]);
    let shown = json(&session, "show g1");
    let failure = "the guard of `passed` in `scanning` could not be evaluated: no such field: critical in `event.findings.critical > 0` (event.findings = {\"high\":2})";
    assert_eq!((&shown["phase"], &shown["failure"]), (&"failed".into(), &failure.into()));
    assert_eq!(shown["output"]["values"]["event.findings"]["high"], 2);
    let report = run(&session, "report g1").stdout;
    assert!(report.contains("gate failed in scanning"), "{report}");
    assert!(report.contains("no such field: critical in `event.findings.critical > 0`"), "{report}");
    check(&session, "verify g1", expect![[""]]);
}
