//! Problems in the user's patterns are reported.

use interlock_test_results::{Format, PatternTexts, Patterns, parse};
use serde_json::json;

fn problems(texts: serde_json::Value) -> Vec<String> {
    let config = json!({ "patterns": texts });
    match Format::configured("patterns", config.as_object().expect("an object")) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    }
}

#[test]
fn every_pattern_problem_is_reported() {
    let said = problems(json!({ "pass": "(", "fail": "bad (\\w+)", "plan": "x" }));
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said.iter().any(|said| said.starts_with("the pattern pass is wrong: ")), "{said:?}");
    let nameless = "the pattern fail has no group (?P<case>...), and no `case` names the one that its lines are about";
    assert!(said.contains(&nameless.to_owned()), "{said:?}");
    assert!(problems(json!({ "start": "(?P<case>x)" }))[0].starts_with("there is no pattern for results"));
    assert!(problems(json!({ "passes": "x" }))[0].contains("passes"));
    assert_eq!(problems(json!({ "pass": "ok (?P<case>\\w+)" })), [""; 0]);
}

#[test]
fn unknown_format_and_missing_patterns_are_refused() {
    let none = serde_json::Map::new();
    assert!(Format::configured("patterns", &none).is_err());
    assert!(Format::configured("xunit", &none).is_err());
    assert!(Format::named("xunit").is_none());
    assert!(matches!(Format::configured("", &none), Ok(Format::Auto)));
}

#[test]
fn separate_patterns_and_ignored_lines_are_supported() {
    let texts = PatternTexts {
        plan: r"^run (?P<total>\d+)".to_owned(),
        pass: r"^\+ (?P<case>\w+)".to_owned(),
        fail: r"^- (?P<case>\w+): (?P<message>.*)".to_owned(),
        skip: r"^~ (?P<case>\w+)".to_owned(),
        ignore: r"^simulated: ".to_owned(),
        ..PatternTexts::default()
    };
    let format = Format::Patterns(Patterns::new(&texts).expect("good patterns"));
    let parsed = parse(&format, "run 3\n+ push\nsimulated: HardFault\n- pop: wrong order\n~ board\n");
    let shown: Vec<String> =
        parsed.cases.iter().map(|case| format!("{} {}", case.status.name(), case.case_id)).collect();
    assert_eq!(shown, ["passed push", "failed pop", "skipped board"]);
    assert_eq!((parsed.announced, parsed.faults.len(), parsed.doubts.len()), (Some(3), 0, 0));
    assert_eq!(parse(&format, "run 3\n+ push\n").doubts, ["cases announced: 3, reported: 1"]);
}
