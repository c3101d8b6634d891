//! `evidence.collect`: saves the logs, traces and dumps that exist, before anything is reset.

use std::sync::Arc;

use interlock_activity::Attempt;
use interlock_knowledge::Came;
use serde::Deserialize;
use serde_json::json;

use crate::{
    bench::{self, Open},
    knowledge::{self, Round},
    table::{Done, Settings, given, refs, signal},
};

#[derive(Deserialize)]
struct With {
    #[serde(default)]
    session: String,
    #[serde(default)]
    error_state: ErrorState,
    /// The round to record if its patch got no further than this state.
    round: Option<Round>,
}

#[derive(Default, Deserialize)]
struct ErrorState {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

/// Saves the files that a session has left so far, and records a patch that failed to build or was refused.
pub(crate) async fn collect(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    let came = match with.error_state.kind.as_str() {
        "BUILD_FAILURE" => Some(Came::BuildFailed),
        "POLICY_VIOLATION" => Some(Came::Refused),
        _ => None,
    };
    if let (Some(came), Some(round)) = (came, with.round.filter(Round::has_patch)) {
        knowledge::remember(&settings, &attempt, round.because(with.error_state.message), came).await;
    }
    let mut evidence = Vec::new();
    if !with.session.is_empty()
        && let Ok((open, stranger)) = Open::again(&settings, &attempt, &with.session).await
    {
        // Logs that cannot be fetched from a broken environment do not prevent keeping the local ones. If another run
        // has used the environment, its files are not ours.
        let fetched = match stranger {
            None => open.environment.fetch_logs(open.bench(&settings, &attempt)).await.unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        evidence = bench::keep_logs(&attempt, &open.session, fetched).await?;
    }
    let refs = refs(&evidence);
    Ok(signal("evidence_collected", json!({ "evidence_refs": refs })).with(evidence))
}
