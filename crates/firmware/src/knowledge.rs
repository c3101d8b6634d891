//! `knowledge.record` and `knowledge.search`.

use std::sync::Arc;

use interlock_activity::Attempt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hand::{Done, Settings, given, signal};

/// What is remembered of a round.
#[derive(Deserialize)]
pub(crate) struct Round {
    #[serde(default)]
    iteration_index: u32,
    #[serde(default)]
    goal: String,
    #[serde(default)]
    analysis: Value,
    #[serde(default)]
    patch_plan: Value,
    #[serde(default)]
    patch: String,
    #[serde(default)]
    test_result: Value,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    evidence_refs: Vec<String>,
    #[serde(default)]
    knowledge: Value,
}

pub(crate) async fn remember(_: &Settings, _: &Attempt, _: Round, _: &str) {}

pub(crate) async fn record(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let round: Round = given(&attempt)?;
    remember(&settings, &attempt, round, "").await;
    Ok(signal("round_recorded", json!({})))
}

pub(crate) async fn search(_: Arc<Settings>, _: Attempt) -> Done {
    Ok(signal("similar_found", json!({ "summary": "", "similar": [] })))
}
