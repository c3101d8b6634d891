//! The story for programs: `machines/firmware/schemas/report.json`.

use interlock_activity::report::{
    RecordedMove, RecordedRun,
    reading::{list, text},
};
use interlock_journal::moment;
use serde_json::{Value as Json, json};

use super::{
    Facts,
    verdict::{Failing, MEASURED_WARNING},
};

impl Facts {
    /// The whole story.
    pub(super) fn json(&self) -> Json {
        let result = |of: &Json| if of.is_object() { of.clone() } else { json!({}) };
        let case = |row: &Vec<String>| json!({ "case_id": row[0], "before": row[1], "after": row[2] });
        let refs: Vec<String> = list(&self.context["evidence_refs"]).map(text).collect();
        let knowledge: Vec<String> = list(&self.context["similar"]).map(|one| text(&one["id"])).collect();
        let mut story = json!({
            "final_status": self.status,
            "iterations": self.context["iteration_index"],
            "goal": self.input["goal"],
            "patch_origin": self.origin.word(),
            "taken_back": self.reverted.as_ref().map(|back| json!({ "at": moment::rfc3339(back.at_ms), "by": back.by })),
            "commit": self.commit(),
            "artifacts": {
                "repo_snapshot": self.context["repo_snapshot"],
                "patch": self.fix,
                "build_artifact": self.context["build_artifact"],
                "test_result": result(&self.context["test_result"]),
                "patch_plan": result(&self.context["patch_plan"]),
                "logs": refs,
                "knowledge": knowledge,
            },
            "cases": self.cases().iter().map(case).collect::<Vec<_>>(),
            "metrics": { "before": result(&self.baseline["measured"]["metrics"]), "after": result(&self.result["metrics"]) },
            "risk": { "total": self.context["risk_total"], "reasons": self.context["risk_reasons"] },
            "models": {
                "calls": self.judged.requests,
                "input_tokens": self.judged.input_tokens,
                "output_tokens": self.judged.output_tokens,
                "cost": self.judged.cost,
            },
            "time": {
                "total_ms": self.time.total_ms,
                "programs_ms": self.time.programs_ms,
                "models_ms": self.time.models_ms,
                "waiting_ms": self.time.waiting_ms,
                "own_ms": self.time.own_ms(),
                "own_percent": self.time.own_percent(),
            },
            "decision_trace": self.trace,
            "last_error": text(&self.context["error_state"]["message"]),
            "abort_reason": if self.status == "ABORTED" { self.trace.last().map_or(Json::Null, |last| last["reason"].clone()) } else { json!("") },
        });
        if let (Json::Object(story), Json::Object(verdict)) = (&mut story, self.verdict_json()) {
            story.extend(verdict);
        }
        story
    }

    /// The sentence, the failing cases and the decision.
    fn verdict_json(&self) -> Json {
        let failing = self.failing();
        let case = |case: &Failing| json!({ "case_id": case.id, "status": case.status, "message": case.message, "place": case.place });
        json!({
            "sentence": self.sentence(),
            "failing": failing.iter().map(case).collect::<Vec<_>>(),
            "decision": {
                "confidence": if self.fix.is_empty() { Json::Null } else { json!(self.confidence()) },
                "vouched_by": self.vouched_by,
                "witnesses": text(&self.context["witnesses"]),
                "doubts": text(&self.context["doubts"]),
                "candidates_tried": self.search["tried"].as_u64(),
                "control_runs": self.controls["controls"].as_u64(),
                "control_starts": self.controls["starts"].as_u64(),
                "warning": if self.input["deliver"] == "measured" { MEASURED_WARNING } else { "" },
                "why": self.why,
            },
            "repeat": self.commands(),
            "tools": self.versions(),
        })
    }
}

/// Every transition with its reason.
pub(super) fn trace(run: &RecordedRun) -> Vec<Json> {
    let of = |step: &RecordedMove| {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        json!({
            "from_state": text(&step.from_state),
            "to_state": text(&step.to_state),
            "reason": text(&step.reason),
            "evidence_refs": step.evidence_refs,
            "iteration_index": step.iteration_index,
        })
    };
    run.moves().map(of).collect()
}
