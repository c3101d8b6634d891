//! `logs.triage`: the findings of the rules in the evidence that a machine has.

use interlock_activities::LogsTriage;
use serde_json::{Value as Json, json};

use crate::trial::{EndedAttempt, Trial};

const HEADER: &str = "main.c:2:10: fatal error: driver/uart.h: No such file or directory\n";

/// Returns the outcome of the triage, and its findings.
async fn sort(trial: &Trial) -> (EndedAttempt, Json) {
    let ended = trial.run(LogsTriage).await;
    let kept = trial.evidence(&ended, "triage").map(|content| serde_json::from_slice(&content).unwrap());
    (ended, kept.unwrap_or_default())
}

fn refs(ended: &EndedAttempt) -> Vec<String> {
    let refs = ended.data["evidence_refs"].as_array().into_iter().flatten();
    refs.map(|hash| hash.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_log_is_sorted_and_kept() {
    let trial = Trial::new(
        json!({ "failure_log": HEADER, "baseline": "", "test_result": null, "error_state": null, "more_evidence": false }),
    );
    let (ended, triage) = sort(&trial).await;
    assert_eq!(ended.name, "triaged");
    assert_eq!(ended.data["summary"], "missing_dependency: the header driver/uart.h is not found at main.c:2");
    let first = &triage["findings"][0];
    assert_eq!((&first["class"], &first["source"]), (&json!("missing_dependency"), &json!("failure_log")));
    assert_eq!(
        (&first["file"], &first["line"], &first["excerpt"]),
        (&json!("main.c"), &json!(2), &json!(HEADER.trim()))
    );
    let hash = |name: &str| ended.outcome.evidence.iter().find(|one| one.name == name).unwrap().hash.to_string();
    assert_eq!(refs(&ended), [hash("triage"), hash("failure_log")]);
}

#[tokio::test]
async fn what_was_learnt_last_comes_first() {
    let mut trial = Trial::new(json!({}));
    let put = |text: &str| trial.attempt.evidence.put("log", "text/plain", text.as_bytes()).unwrap().hash.to_string();
    let (link, base) =
        (put("main.o: in function `main': undefined reference to `uart_init'\n"), put("FAIL: ring_wraps\n"));
    let result = json!({
        "fault": "", "artifacts": ["build/fw.elf"],
        "cases": [
            { "case_id": "ring_push", "status": "passed", "message": "fatal error: not this", "stack": [] },
            { "case_id": "ring_pop", "status": "crashed", "message": "HardFault: pc=0x1234 lr=0x5678 cfsr=0x82", "stack": [] },
        ],
    });
    trial.attempt.with = json!({
        "failure_log": HEADER, "baseline": base, "test_result": result,
        "error_state": { "message": "exit code 2", "evidence_refs": [link, "not a hash", "0".repeat(64)] },
    })
    .into();
    let (ended, triage) = sort(&trial).await;
    let sources: Vec<&str> =
        triage["looked_at"].as_array().unwrap().iter().map(|log| log["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["test_result", "error_state", "error_state", "failure_log", "baseline"]);
    assert_eq!(triage["findings"][0]["class"], "hard_fault", "{triage}");
    assert!(triage["findings"].as_array().unwrap().iter().any(|one| one["class"] == "link"), "{triage}");
    assert_eq!(refs(&ended).len(), 6);
    assert_eq!((refs(&ended)[2].as_str(), refs(&ended)[5].as_str()), (link.as_str(), base.as_str()));
}

#[tokio::test]
async fn a_result_that_is_evidence_is_read_by_its_failing_cases() {
    let mut trial = Trial::new(json!({}));
    let result =
        json!({ "fault": "", "cases": [{ "case_id": "a", "status": "passed", "message": HEADER, "stack": [] }] });
    let hash = trial.attempt.evidence.put("result", "application/json", result.to_string().as_bytes()).unwrap().hash;
    trial.attempt.with = json!({ "baseline": hash.to_string() }).into();
    assert_eq!(sort(&trial).await.0.name, "evidence_missing");
}

#[tokio::test]
async fn where_there_is_nothing_to_read_that_is_said() {
    for with in [
        json!({}),
        json!({ "failure_log": "  \n", "baseline": "", "test_result": null, "error_state": null }),
        json!({ "error_state": { "message": "no evidence", "evidence_refs": [] } }),
        json!({ "baseline": "f".repeat(64) }),
    ] {
        let (ended, _) = sort(&Trial::new(with.clone())).await;
        assert_eq!((ended.name.as_str(), ended.data), ("evidence_missing", json!({})), "{with}");
    }
    let (ended, triage) = sort(&Trial::new(json!({ "failure_log": "it does not work\n" }))).await;
    assert_eq!((ended.name.as_str(), &triage["findings"]), ("triaged", &json!([])));
    assert!(ended.data["summary"].as_str().unwrap().contains("no rule matches"));
}

#[tokio::test]
async fn more_is_kept_where_more_is_asked_for() {
    let log = format!("cc -c main.c\n{HEADER}compilation terminated.\n");
    let (_, triage) = sort(&Trial::new(json!({ "failure_log": log, "more_evidence": true }))).await;
    assert_eq!(triage["findings"][0]["excerpt"], log.trim_end());
}

#[tokio::test]
async fn what_does_not_fit_is_named() {
    for with in [json!({ "failure_log": 3 }), json!({ "logs": [] }), json!({ "baseline": [] })] {
        assert_eq!(sort(&Trial::new(with)).await.0.error().0, "BAD_INPUT");
    }
}
