//! Tests of every log in `corpus/`, and of the questions that rules answer.

use interlock_judge::{
    AllowedSignal, Exhibit, Question,
    rules::{Finding, Rules, classify, judge},
};
use serde_json::{Value, json};

#[derive(serde::Deserialize)]
struct Corpus {
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    class: String,
    file: Option<String>,
    line: Option<u32>,
    cause: Option<String>,
    #[serde(default)]
    held_out: bool,
}

fn corpus(path: &str) -> String {
    std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(path)).unwrap()
}

/// Returns the difference between the expected and the actual classification of a log.
fn wrong(case: &Case) -> Option<String> {
    let log = corpus(&format!("logs/{}.log", case.name));
    let found = classify(&log);
    let first = found.first();
    let class = first.map_or("none", |finding| finding.class.as_str());
    let said = |finding: &Finding| format!("{} {} {}", finding.cause, finding.excerpt, finding.suggestion);
    let ends =
        |finding: &Finding, file: &String| finding.file.as_ref().is_some_and(|found| found.ends_with(file.as_str()));
    let why = if class != case.class {
        format!("is {} and was called {class}", case.class)
    } else if case.file.as_ref().is_some_and(|file| !first.is_some_and(|finding| ends(finding, file))) {
        "names another file".to_owned()
    } else if case.line.is_some() && case.line != first.and_then(|finding| finding.line) {
        format!("is at line {:?}", case.line)
    } else if case.cause.as_ref().is_some_and(|cause| !first.is_some_and(|finding| said(finding).contains(cause))) {
        format!("has the cause {:?}", case.cause)
    } else {
        return None;
    };
    let held = if case.held_out { " [held out]" } else { "" };
    Some(format!("{}{held}: {why}; found {first:?}", case.name))
}

#[test]
fn every_log_of_the_corpus_is_classified_correctly() {
    let corpus: Corpus = toml::from_str(&corpus("cases.toml")).unwrap();
    assert!(corpus.case.len() >= 100, "there are {} cases", corpus.case.len());
    let wrong: Vec<String> = corpus.case.iter().filter_map(wrong).collect();
    let (all, held) = (corpus.case.len(), corpus.case.iter().filter(|case| case.held_out).count());
    let held_wrong = wrong.iter().filter(|why| why.contains("[held out]")).count();
    assert!(
        wrong.is_empty(),
        "{} of {all} wrong ({held_wrong} of {held} held out):\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn rules_can_be_read_and_each_matches_its_example() {
    assert_eq!(classify(ERROR)[0].rule, "c-error");
    assert!(Rules::read(["[[rule]]\nid = \"x\""]).unwrap_err().contains("missing field"));
    let row = |class: &str, example: &str| {
        format!(
            "[[class]]\nname = \"a\"\nrank = 1\nfault = \"code\"\nmeans = \"m\"\n[[rule]]\nid = \"r\"\nclass = \"{class}\"\npattern = \"^x\"\ncause = \"c\"\nsuggestion = \"s\"\nexample = \"{example}\"\n"
        )
    };
    assert!(Rules::read([row("a", "xy").as_str()]).is_ok());
    assert_eq!(Rules::read([row("b", "xy").as_str()]).unwrap_err(), "rule r: no class b");
    assert_eq!(Rules::read([row("a", "y").as_str()]).unwrap_err(), "rule r: its example does not match its pattern");
}

#[test]
fn colours_long_lines_and_odd_bytes_are_tolerated() {
    assert_eq!(classify("\u{1b}[1;31mmain.c:3:1: error: oops\u{1b}[0m")[0].cause, "oops");
    assert_eq!(classify(&"error ".repeat(1_000_000)), []);
    assert_eq!(classify("\u{1b}["), []);
    assert_eq!(classify(""), []);
}

fn question(signals: &[&str], log: &str, facts: Value) -> Question {
    let signals = signals.iter().map(|name| AllowedSignal { name: (*name).to_owned(), data: json!({}) });
    let exhibit = Exhibit { id: "e1".into(), name: "stderr".into(), media_type: "text/plain".into(), text: log.into() };
    Question { evidence: vec![exhibit], signals: signals.collect(), facts, ..Question::default() }
}

const ERROR: &str = "main.c:3:18: error: 'counter' undeclared";
const DECISION: [&str; 5] = ["PASS", "FAIL", "FLAKY", "ENV_ERROR", "INCONCLUSIVE"];

/// Checks the signal and the reason of the verdict; `None` expects no verdict.
fn check(signals: &[&str], log: &str, facts: Value, expected: Option<(&str, &str)>) {
    let verdict = judge(&question(signals, log, facts), &Rules::default());
    let said = verdict.as_ref().map(|verdict| (verdict.signal.as_str(), verdict.reason.as_str()));
    assert_eq!(said, expected);
}

#[test]
fn questions_are_answered_from_findings_or_not_at_all() {
    let code = "the code does not compile: 'counter' undeclared at main.c:3 (rule c-error)";
    check(&["hypotheses_made", "analysis_failed"], ERROR, json!({}), Some(("hypotheses_made", code)));
    check(&["hypotheses_made", "analysis_failed"], "all is well", json!({}), None);
    check(&["code_bug", "check_bug"], "", json!({ "failure": ERROR }), Some(("code_bug", code)));
    let missing = "a program is not installed: the program frob is not installed (rule shell-not-found)";
    check(&["code_bug", "check_bug"], "sh: 1: frob: not found", json!({}), Some(("check_bug", missing)));
    check(&["repairable", "unrepairable"], ERROR, json!({}), Some(("repairable", code)));
    check(&["repairable", "unrepairable"], "sh: 1: frob: not found", json!({}), Some(("unrepairable", missing)));
    check(&["has_issue", "no_issue"], ERROR, json!({}), Some(("has_issue", code)));
    check(&["has_issue", "no_issue"], "compiled without a word", json!({}), None);
    check(&["plan_ready", "unplannable"], ERROR, json!({}), None);
}

#[test]
fn verdict_is_never_more_lenient_than_the_measurement() {
    let pass = "every test that was measured passed, and no log shows a fault";
    check(&DECISION, "", json!({ "measured": "PASS" }), Some(("PASS", pass)));
    let fault = json!({ "measured": "PASS", "test_result": { "fault": "HardFault" } });
    check(&DECISION, "", fault, Some(("FAIL", "the tests passed, but a fault followed: HardFault")));
    let cases = |status: &str| json!({ "cases": [{ "case_id": "t1", "status": status }] });
    let lost = json!({ "measured": "FAIL", "baseline": cases("passed"), "test_result": cases("failed") });
    check(&DECISION, "", lost, Some(("FAIL", "tests that passed before now fail: t1")));
    let refused = "another machine or a device could not be reached: there was no connection: Connection refused (rule connection)";
    check(
        &DECISION,
        "ssh: connect to host board: Connection refused",
        json!({ "measured": "FAIL" }),
        Some(("ENV_ERROR", refused)),
    );
    check(
        &DECISION,
        "",
        json!({ "measured": "INCONCLUSIVE" }),
        Some(("INCONCLUSIVE", "nothing conclusive was measured")),
    );
    check(&DECISION, "", json!({}), None);
}

#[test]
fn repair_step_gets_a_free_id() {
    let facts = json!({ "plan": { "steps": [{ "step_id": "repair-1" }] } });
    let verdict = judge(&question(&["repairable", "unrepairable"], ERROR, facts), &Rules::default()).unwrap();
    assert_eq!(verdict.data["patch"]["add_steps"][0]["step_id"], "repair-2");
}
