//! Every log in `corpus/` is classified, and odd texts are tolerated.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interlock_triage::{Finding, Rules, classify};

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
    assert_eq!(classify("main.c:3:18: error: 'counter' undeclared")[0].rule, "c-error");
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
