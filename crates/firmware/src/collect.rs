//! `evidence.collect`: saves the logs, traces and dumps that exist, before anything is reset.

use std::sync::Arc;

use interlock_activity::Attempt;
use serde::Deserialize;
use serde_json::json;

use crate::{
    bench::{self, Open},
    hand::{Done, Settings, given, refs, signal},
};

#[derive(Deserialize)]
struct With {
    #[serde(default)]
    session: String,
}

/// Saves what a session has left so far.
pub(crate) async fn collect(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    let mut evidence = Vec::new();
    if let Ok(open) = Open::find(&settings, &attempt, &with.session) {
        // What cannot be fetched from a place that is broken is no reason not to keep what is here.
        let fetched = open.environment.fetch_logs(open.bench(&settings, &attempt)).await.unwrap_or_default();
        evidence = bench::keep_logs(&attempt, &open.session, fetched).await?;
    }
    let refs = refs(&evidence);
    Ok(signal("evidence_collected", json!({ "evidence_refs": refs })).with(evidence))
}
