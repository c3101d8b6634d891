//! Tests of the answer check: valid verdicts and each kind of problem.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{Form, check};
use crate::{AllowedSignal, Exhibit, Question};

fn question(signals: Value, schema: Value) -> Question {
    let signals = signals.as_object().unwrap().iter();
    let exhibit =
        |id: &str| Exhibit { id: id.into(), name: id.into(), media_type: "text/plain".into(), text: id.into() };
    Question {
        prompt: "Judge.".into(),
        evidence: vec![exhibit("failure"), exhibit("diff")],
        schema,
        signals: signals.map(|(name, data)| AllowedSignal { name: name.clone(), data: data.clone() }).collect(),
        facts: json!({}),
    }
}

fn review() -> Question {
    let data = json!({
        "required": ["suggestion", "blocking"],
        "properties": {
            "suggestion": { "type": "string", "minLength": 1 },
            "blocking": { "type": "boolean" },
            "level": { "type": "string", "enum": ["low", "high"] },
        },
    });
    question(json!({ "has_issue": data, "no_issue": { "properties": {} } }), Value::Null)
}

fn told(question: &Question, said: &str) -> String {
    match check(&Form::new(question).unwrap(), question, said) {
        Ok(verdict) => format!("{} {} {:?}", verdict.signal, verdict.data, verdict.evidence_refs),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[track_caller]
fn refused(said: &str, expected: Expect) {
    expected.assert_eq(&told(&review(), said));
}

const GOOD: &str = r#"{"reason": "line 3 divides by zero", "evidence_refs": ["failure"], "confidence": 0.9,
    "signal": "has_issue", "data": {"suggestion": "check it first", "blocking": true}}"#;

#[test]
fn valid_answer_is_accepted_bare_or_in_one_fence() {
    let expected = r#"has_issue {"suggestion":"check it first","blocking":true} ["failure"]"#;
    let cases =
        [GOOD.to_owned(), format!("\n {GOOD} \n"), format!("```json\n{GOOD}\n```"), format!("```\n{GOOD}\n```")];
    for said in cases {
        assert_eq!(told(&review(), &said), expected, "{said}");
    }
}

#[test]
fn text_around_the_json_is_refused() {
    refused(
        &format!("Sure! {GOOD}"),
        expect![
            "answer: must be one JSON object and nothing else; it begins with `Sure! {\"reason\": \"line 3 divides by zero`"
        ],
    );
    refused(
        &format!("{GOOD}\nI hope this helps."),
        expect!["answer: has text after its JSON object; nothing else is allowed"],
    );
    refused(&format!("{GOOD}{GOOD}"), expect!["answer: has text after its JSON object; nothing else is allowed"]);
    refused(
        &format!("```json\n```\n{GOOD}\n```\n```"),
        expect![
            "answer: must be one JSON object and nothing else; it begins with ```` {\"reason\": \"line 3 divides by zero\",`"
        ],
    );
    refused(
        &format!("[{GOOD}]"),
        expect![
            "answer: must be one JSON object and nothing else; it begins with `[{\"reason\": \"line 3 divides by zero\", \"e`"
        ],
    );
    refused(
        "<html><body>502</body></html>",
        expect!["answer: must be one JSON object and nothing else; it begins with `<html><body>502</body></html>`"],
    );
}

#[test]
fn invalid_json_is_refused() {
    refused("", expect!["answer: is empty"]);
    refused("```json\n```", expect!["answer: is empty"]);
    refused(
        &GOOD[..60],
        expect!["answer: ends before its JSON is complete (EOF while parsing a string at line 1 column 60)"],
    );
    refused(
        &GOOD.replace("0.9", "NaN"),
        expect!["answer: is not the JSON that was asked for: expected value at line 1 column 82"],
    );
    refused(
        &GOOD.replace("0.9,", "0.9, \"confidence\": 0.1,"),
        expect!["answer: is not the JSON that was asked for: the field `confidence` occurs twice at line 1 column 98"],
    );
    refused(
        &GOOD.replace("true", "true, \"blocking\": false"),
        expect!["answer: is not the JSON that was asked for: the field `blocking` occurs twice at line 2 column 96"],
    );
    let deep = format!("{{\"reason\": {}1{}}}", "[".repeat(40), "]".repeat(40));
    refused(
        &deep,
        expect!["answer: is not the JSON that was asked for: it is nested deeper than 32 at line 1 column 43"],
    );
    let long = GOOD.replace("check it first", &"x".repeat(super::ANSWER_BYTES_MAX));
    refused(&long, expect!["answer: is longer than 1048576 bytes"]);
}

#[test]
fn values_are_not_coerced() {
    refused(&GOOD.replace("true", "\"true\""), expect![[r#"data.blocking: "true" is not of type "boolean""#]]);
    refused(&GOOD.replace("0.9", "\"0.9\""), expect![[r#"confidence: must be a number from 0 to 1, not "0.9""#]]);
    refused(&GOOD.replace("0.9", "90"), expect!["confidence: must be a number from 0 to 1, not 90"]);
    refused(&GOOD.replace("0.9", "-0.1"), expect!["confidence: must be a number from 0 to 1, not -0.1"]);
    refused(
        &GOOD.replace("has_issue", "HAS_ISSUE"),
        expect![[r#"signal: must be one of has_issue, no_issue, not "HAS_ISSUE""#]],
    );
    refused(
        &GOOD.replace("has_issue", "approve_and_deploy"),
        expect![[r#"signal: must be one of has_issue, no_issue, not "approve_and_deploy""#]],
    );
    refused(
        &GOOD.replace("\"has_issue\"", "[\"has_issue\"]"),
        expect![[r#"signal: must be one of has_issue, no_issue, not ["has_issue"]"#]],
    );
    refused(
        &GOOD.replace("true", "true, \"level\": \"medium\""),
        expect![[r#"data.level: "medium" is not one of "low" or "high""#]],
    );
}

#[test]
fn unknown_and_missing_fields_are_refused_at_every_depth() {
    refused(
        &GOOD.replace("0.9", "0.9, \"next_state\": \"DONE\""),
        expect![
            "next_state: is not a field of an answer; the fields are reason, evidence_refs, confidence, signal, data"
        ],
    );
    refused(
        &GOOD.replace("true", "true, \"approved\": true"),
        expect!["data: Additional properties are not allowed ('approved' was unexpected)"],
    );
    refused(
        &GOOD.replace("has_issue", "no_issue"),
        expect!["data: Additional properties are not allowed ('suggestion', 'blocking' were unexpected)"],
    );
    refused(
        r#"{"signal": "no_issue"}"#,
        expect![[r#"
        reason: is missing
        evidence_refs: is missing
        confidence: is missing
        data: is missing"#]],
    );
    refused(&GOOD.replace(", \"blocking\": true", ""), expect![[r#"data: "blocking" is a required property"#]]);
}

#[test]
fn reference_to_evidence_that_was_not_shown_is_refused() {
    refused(
        &GOOD.replace("[\"failure\"]", "[\"failure\", \"E99\"]"),
        expect![[r#"evidence_refs[1]: is not one of the given ids: "E99"; the ids are failure, diff"#]],
    );
    refused(
        &GOOD.replace("[\"failure\"]", "[]"),
        expect!["evidence_refs: is empty; name the evidence for the verdict: failure, diff"],
    );
    refused(
        &GOOD.replace("[\"failure\"]", "\"failure\""),
        expect!["evidence_refs: must be a list of ids, not a string"],
    );
    refused(
        &GOOD.replace("[\"failure\"]", "[1]"),
        expect!["evidence_refs[0]: is not one of the given ids: 1; the ids are failure, diff"],
    );
}

#[test]
fn placeholders_are_refused() {
    for empty in ["", "  ", "TODO", "...", "…", "N/A", "n/a.", "<reason>", "[TBD]", "none", "-"] {
        let said = GOOD.replace("line 3 divides by zero", empty);
        assert!(told(&review(), &said).starts_with("reason: has no content"), "{empty}: {}", told(&review(), &said));
    }
    for empty in ["TODO", "...", "N/A", "<placeholder>", "TBD."] {
        let said = GOOD.replace("check it first", empty);
        assert!(told(&review(), &said).starts_with("data.suggestion: is a placeholder"), "{empty}");
    }
    refused(&GOOD.replace("check it first", ""), expect![[r#"data.suggestion: "" is shorter than 1 character"#]]);
    for fine in ["todo.md is wrong", "none of the cases is covered", ".", "low"] {
        assert!(told(&review(), &GOOD.replace("check it first", fine)).starts_with("has_issue"), "{fine}");
    }
}

fn file(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../machines").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn answer(signal: &str, data: Value) -> String {
    json!({ "reason": "because", "evidence_refs": ["failure"], "confidence": 1, "signal": signal, "data": data })
        .to_string()
}

#[test]
fn named_schema_describes_the_one_open_object_field() {
    let signals = json!({
        "hypotheses_made": { "required": ["confidence", "analysis"], "properties": { "confidence": { "type": "number" }, "analysis": { "type": "object" } } },
        "analysis_failed": { "required": ["summary", "evidence_refs"], "properties": { "summary": { "type": "string" }, "evidence_refs": { "type": "array", "items": { "type": "string" } } } },
    });
    let question = question(signals, file("firmware/schemas/analysis.json"));
    let guess = json!({ "description": "d", "evidence_refs": ["diff"], "suggested_actions": [], "confidence": 0.5 });
    let mut data = json!({ "confidence": 0.5, "analysis": { "summary": "s", "root_cause": "", "hypothesis_list": [guess], "confidence": 0.5 } });
    assert!(told(&question, &answer("hypotheses_made", data.clone())).starts_with("hypotheses_made"));
    data["analysis"]["hypothesis_list"][0]["evidence_refs"] = json!(["log-7"]);
    data["analysis"]["confidence"] = json!(1.5);
    expect![[r#"
        data.analysis.confidence: 1.5 is greater than the maximum of 1
        data.analysis.hypothesis_list[0].evidence_refs[0]: is not one of the given ids: "log-7"; the ids are failure, diff"#]]
    .assert_eq(&told(&question, &answer("hypotheses_made", data)));
    let failed = answer("analysis_failed", json!({ "summary": "the log is empty", "evidence_refs": ["failure"] }));
    assert!(told(&question, &failed).starts_with("analysis_failed"));
}

#[test]
fn named_schema_that_knows_every_field_describes_the_whole_data() {
    let action = json!({ "type": "string", "enum": ["CONTINUE", "RETRY", "ROLLBACK", "ABORT"] });
    let data = json!({ "required": ["next_action", "confidence", "reasoning"], "properties": { "next_action": action, "confidence": { "type": "number" }, "reasoning": { "type": "string" } } });
    let signals = json!({ "PASS": data, "FAIL": data, "FLAKY": data, "ENV_ERROR": data, "INCONCLUSIVE": data, "decision_failed": { "required": ["summary"], "properties": { "summary": { "type": "string" } } } });
    let question = question(signals, file("firmware/schemas/decision.json"));
    let decision = json!({ "reasoning": "it fails", "evidence_refs": ["failure"], "status": "FAIL", "next_action": "CONTINUE", "confidence": 0.9 });
    assert!(told(&question, &answer("FAIL", decision.clone())).starts_with("FAIL"));
    expect![[r#"data.status: is "FAIL" although the signal is PASS"#]]
        .assert_eq(&told(&question, &answer("PASS", decision)));
    expect![[r#"
        data: "evidence_refs" is a required property
        data: "status" is a required property"#]]
    .assert_eq(&told(&question, &answer("FAIL", json!({ "reasoning": "r", "next_action": "ABORT", "confidence": 1 }))));
}

#[test]
fn schema_that_no_signal_carries_is_a_machine_error() {
    let signals = json!({ "prd_written": { "required": ["path"], "properties": { "path": { "type": "string" } } } });
    let wrong = Form::new(&question(signals, file("prd/schemas/prd.json"))).unwrap_err();
    assert_eq!(wrong, "none of the signals prd_written has data that fits the schema");
}

#[test]
fn enforceable_subset_requires_every_field_and_allows_no_other() {
    let signals = json!({ "ok": { "required": ["a"], "properties": { "a": { "type": "string", "minLength": 1 }, "b": { "type": "array", "items": { "type": "integer", "minimum": 0 } } } } });
    let form = Form::new(&question(signals, Value::Null)).unwrap();
    expect![[r#"{"type":"object","additionalProperties":false,"required":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer"}}}}"#]]
        .assert_eq(&form.subset().unwrap()["properties"]["data"].to_string());
    let open = json!({ "call": { "required": ["args"], "properties": { "args": { "type": "object" } } } });
    assert_eq!(Form::new(&question(open, Value::Null)).unwrap().subset(), None);
}

#[test]
fn schema_references_are_inlined_for_servers() {
    let schema = json!({ "type": "object", "properties": { "steps": { "type": "array", "items": { "$ref": "#/$defs/Step" } } }, "$defs": { "Step": { "type": "object", "properties": { "title": { "type": "string" } } } } });
    let signals = json!({ "ready": { "required": ["plan"], "properties": { "plan": { "type": "object" } } } });
    let form = Form::new(&question(signals, schema)).unwrap();
    let step = &form.subset().unwrap()["properties"]["data"]["properties"]["plan"]["properties"]["steps"]["items"];
    assert_eq!(step["properties"]["title"]["type"], "string");
    assert_eq!(step["additionalProperties"], false);
}
