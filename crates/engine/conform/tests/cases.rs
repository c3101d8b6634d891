//! Runs the repository's conformance cases, and checks that the runner detects failures.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use interlock_conform::{ConformanceCase, Expectation, Report, Verdict, find, run, run_all};

fn own_cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/conformance")
}

fn not_passed(report: &Report) -> String {
    let lines = report.cases.iter().filter(|case| case.result != "passed").map(|case| {
        let why = case.message.as_deref().unwrap_or_default();
        format!("{} {}: {why}\n", case.result, case.name)
    });
    lines.collect()
}

#[test]
fn every_case_of_the_repository_passes() {
    let report = run_all(&find(&own_cases()).unwrap(), |_| {});
    assert_eq!(not_passed(&report), "");
    assert!(report.passed >= 170, "only {} cases were found", report.passed);
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
}

/// Checks one document against one expectation.
fn check(body: &str, json: &str, expected: Verdict) {
    let folder = tempfile::tempdir().unwrap();
    let scxml = folder.path().join("case.scxml");
    std::fs::write(&scxml, format!("<scxml xmlns='http://www.w3.org/2005/07/scxml' version='1.0'>{body}</scxml>"))
        .unwrap();
    let expectation = Expectation::parse(json).unwrap();
    assert_eq!(
        run(&ConformanceCase { name: "case".to_owned(), scxml, expectation, otherwise: None }),
        expected,
        "{body}"
    );
}

fn failed(why: &str) -> Verdict {
    Verdict::Failed(why.to_owned())
}

#[test]
fn a_fault_in_a_foreign_document_is_heard_in_every_region() {
    let region = |handled: &str| {
        format!(
            "<parallel id='p'><state id='a'><transition event='t'><assign location='x' expr='1 / x'/></transition></state>
             <state id='b'><state id='b1'><transition event='{handled}' target='b2'/></state><state id='b2'/></state></parallel>"
        )
    };
    let json = r#"{"events": [{"event": {"name": "t"}, "nextConfiguration": ["a", "b2"]}]}"#;
    for handled in ["error.execution", "error", "error.*", "*"] {
        let body = format!("<datamodel><data id='x' expr='0'/></datamodel>{}", region(handled));
        check(&body, json, Verdict::Passed);
    }
}

#[test]
fn a_wrong_configuration_fails_and_names_the_step() {
    let body = "<state id='a'><transition event='t' target='b'/></state><state id='b'/>";
    let cases = [
        (r#"{"initialConfiguration": ["b"]}"#, "at the start: expected {b}, got {a}"),
        (r#"{"initialConfiguration": ["a", "b"]}"#, "at the start: expected {a, b}, got {a}"),
        (
            r#"{"events": [{"event": {"name": "t"}, "nextConfiguration": ["a"]}]}"#,
            "after event 1, `t`: expected {a}, got {b}",
        ),
        (r#"{"events": []}"#, "came to rest in {a}, not in the final state `pass`"),
    ];
    for (json, why) in cases {
        check(body, json, failed(why));
    }
}

#[test]
fn every_active_atomic_state_is_compared_and_nothing_else() {
    let body = "<parallel id='p'><state id='a'/><state id='b'/></parallel>";
    check(body, r#"{"initialConfiguration": ["b", "a"]}"#, Verdict::Passed);
    check(body, r#"{"initialConfiguration": ["a"]}"#, failed("at the start: expected {a}, got {a, b}"));
    check(body, r#"{"initialConfiguration": ["a", "b", "p"]}"#, failed("at the start: expected {a, b, p}, got {a, b}"));
}

#[test]
fn a_state_called_pass_that_is_not_final_does_not_pass() {
    check("<state id='pass'/>", "{}", failed("came to rest in {pass}, not in the final state `pass`"));
    check("<final id='fail'/>", "{}", failed("ended in {fail}, not in the final state `pass`"));
}

#[test]
fn a_document_that_needs_a_script_engine_is_unsupported() {
    for body in [
        "<state id='a'><onentry><script>f()</script></onentry></state>",
        "<state id='a'><transition cond='typeof x === undefined'/></state>",
        "<state id='a'><invoke type='scxml'/></state>",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let scxml = folder.path().join("case.scxml");
        std::fs::write(&scxml, format!("<scxml xmlns='http://www.w3.org/2005/07/scxml'>{body}</scxml>")).unwrap();
        let verdict =
            run(&ConformanceCase { name: "case".to_owned(), scxml, expectation: Expectation::Pass, otherwise: None });
        assert!(matches!(verdict, Verdict::Unsupported(_)), "{body}: {verdict:?}");
    }
}

#[test]
fn a_broken_document_fails() {
    for text in ["", "<scxml", "<html/>", "<scxml xmlns='http://www.w3.org/2005/07/scxml'/>"] {
        let folder = tempfile::tempdir().unwrap();
        let scxml = folder.path().join("case.scxml");
        std::fs::write(&scxml, text).unwrap();
        let verdict =
            run(&ConformanceCase { name: "case".to_owned(), scxml, expectation: Expectation::Pass, otherwise: None });
        assert!(matches!(verdict, Verdict::Failed(_)), "{text}: {verdict:?}");
    }
}

#[test]
fn a_machine_that_never_comes_to_rest_fails() {
    let body = "<state id='a'><onentry><send event='x' delay='1s'/></onentry><transition event='x' target='a'/></state>
        <final id='pass'/>";
    check(body, "{}", failed("no rest after 10000 delayed events"));
}

#[test]
fn documents_without_expectations_are_skipped_and_broken_json_fails() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    write("part.scxml", "<scxml xmlns='http://www.w3.org/2005/07/scxml'><state id='a'/></scxml>");
    write("broken.scxml", "<scxml xmlns='http://www.w3.org/2005/07/scxml'><state id='a'/></scxml>");
    write("broken.json", "{");
    write("malformed.scxml", "<scxml xmlns='http://www.w3.org/2005/07/scxml'><state id='a'>");
    write("manual.scxml", "<scxml xmlns='http://www.w3.org/2005/07/scxml'><state id='a'/></scxml>\n");
    write("manual.json", r#"{"initialConfiguration": ["pass"], "events": []}"#);
    write("sub/good.scxml", "<scxml xmlns='http://www.w3.org/2005/07/scxml'><final id = 'pass'/></scxml>");
    let report = run_all(&find(folder.path()).unwrap(), |_| {});
    assert_eq!((report.passed, report.failed, report.unsupported), (1, 2, 0));
    assert_eq!(report.skipped, ["manual", "part"]);
    let names: Vec<_> = report.cases.iter().map(|case| (case.name.as_str(), case.result)).collect();
    assert_eq!(names, [("broken", "failed"), ("malformed", "failed"), ("sub/good", "passed")]);
}

#[test]
fn a_case_that_holds_only_under_other_semantics_neither_passes_nor_fails() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let document = "<scxml xmlns='http://www.w3.org/2005/07/scxml'><state id='a'/></scxml>";
    let cases = [
        ("both", "a", "a", "passed"),
        ("ours", "a", "b", "passed"),
        ("theirs", "b", "a", "unsupported"),
        ("neither", "b", "b", "failed"),
    ];
    for (name, first, second, _) in cases {
        write(&format!("{name}.scxml"), document);
        let json = format!(
            r#"{{"initialConfiguration": ["{first}"], "legacySemantics": {{"initialConfiguration": ["{second}"]}}}}"#
        );
        write(&format!("{name}.json"), &json);
    }
    let report = run_all(&find(folder.path()).unwrap(), |_| {});
    for (name, _, _, expected) in cases {
        let case = report.cases.iter().find(|case| case.name == name).unwrap();
        assert_eq!(case.result, expected, "{name}");
    }
}

#[test]
fn only_files_next_to_a_document_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let document = |source: &str| {
        format!(
            "<scxml xmlns='http://www.w3.org/2005/07/scxml'><datamodel><data id='x' src='{source}'/></datamodel>
            <script src='two.js'/><state id='a'><transition cond='x == 2' target='pass'/></state><final id='pass'/></scxml>"
        )
    };
    write("one.txt", "1");
    write("two.js", "x = x + 1;");
    write("beside.scxml", &document("file:one.txt"));
    write("missing.scxml", &document("file:none.txt"));
    write("elsewhere.scxml", &document("../one.txt"));
    let report = run_all(&find(folder.path()).unwrap(), |_| {});
    let results: Vec<_> = report.cases.iter().map(|case| (case.name.as_str(), case.result)).collect();
    assert_eq!(results, [("beside", "passed"), ("elsewhere", "unsupported"), ("missing", "unsupported")]);
}
