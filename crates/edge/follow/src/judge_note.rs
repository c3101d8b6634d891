//! The judge behind a move: name, reason, confidence and cost, from the evidence of the judgement.

use interlock_journal::{Engine, Entry};
use interlock_runtime::JudgeNote;
use serde_json::Value as Json;

/// The size of the largest judgement that is read for a note.
const BYTES_MAX: u64 = 4 * 1_024 * 1_024;

/// Returns the judge of a record, if the record ends a judgement whose evidence can be read.
pub fn of(engine: &dyn Engine, entry: &Entry) -> Option<JudgeNote> {
    let file = entry.evidence().iter().find(|file| file.name == "judgement" && file.bytes <= BYTES_MAX)?;
    let judgement = serde_json::from_slice(&engine.evidence().get(&file.hash).ok()?).ok()?;
    Some(note(&judgement))
}

fn note(judgement: &Json) -> JudgeNote {
    let verdict = &judgement["verdict"];
    let field = |name: &str| [&verdict[name], &verdict["data"][name]].into_iter().find(|value| !value.is_null());
    let mut note = JudgeNote {
        name: judgement["judge"].as_str().unwrap_or("no judge").to_owned(),
        reason: field("reason").and_then(Json::as_str).map(str::to_owned),
        confidence: field("confidence").and_then(Json::as_f64),
        ..JudgeNote::default()
    };
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    for request in list(&judgement["hearings"]).iter().flat_map(|hearing| list(&hearing["tries"])) {
        note.tokens.0 += request["usage"]["input_tokens"].as_u64().unwrap_or(0);
        note.tokens.1 += request["usage"]["output_tokens"].as_u64().unwrap_or(0);
        note.cost += request["cost"].as_f64().unwrap_or(0.0);
    }
    note
}

/// Formats a note: `haiku, confidence 0.9, 812 tokens in, 40 out, cost 0.0011: the test passes`.
pub fn words(note: &JudgeNote) -> String {
    let mut words = note.name.clone();
    if let Some(confidence) = note.confidence {
        words.push_str(&format!(", confidence {confidence}"));
    }
    if note.tokens != (0, 0) {
        words.push_str(&format!(", {} tokens in, {} out, cost {:.4}", note.tokens.0, note.tokens.1, note.cost));
    }
    match &note.reason {
        Some(reason) => format!("{words}: {reason}"),
        None => words,
    }
}
