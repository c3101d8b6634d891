//! The records of a run, and the run as it was after any of them.

use axum::{
    Json,
    extract::{Path, Query, State as Extracted},
};
use interlock_follow::{Follower, Step, state_json};
use interlock_journal::{Entry, moment};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    app::{State, blocking},
    problem::Result,
};

/// The number of records if the request names none.
const LIMIT: usize = 200;

/// The most records of one request.
const LIMIT_MAX: usize = 1_000;

/// The parameters of a trace.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    from: Option<i64>,
    limit: Option<usize>,
}

/// Lists records with the transitions that they caused.
pub(super) async fn trace(
    Extracted(app): Extracted<State>,
    Path(run): Path<String>,
    Query(range): Query<Range>,
) -> Result<Json<Value>> {
    let limit = range.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
    blocking(&app, move |app| {
        let head = app.head(&run)?;
        let from = match range.from.unwrap_or(1) {
            from if from < 0 => head.seq.saturating_sub(from.unsigned_abs()) + 1,
            from => u64::try_from(from).unwrap_or(1).max(1),
        };
        let steps = app.histories.steps(&**app, &head, from, limit)?;
        let records: Vec<Value> = steps.iter().map(record).collect();
        Ok(Json(json!({ "run": head.name, "last": head.seq, "records": records })))
    })
    .await
}

/// Formats a record. The numbers of transitions are those of the picture.
fn record(step: &Step) -> Value {
    let taken: Vec<usize> = step.microsteps.iter().flat_map(|round| &round.taken).map(|id| id.index()).collect();
    json!({
        "seq": step.record.seq,
        "at": moment::rfc3339(step.record.at_ms),
        "kind": Entry::kind_word(step.entry.kind()),
        "activity": step.activity.as_ref().map(|activity| json!({ "name": activity.name, "state": activity.state })),
        "moves": step.moves,
        "taken": taken,
        "evidence": step.entry.evidence(),
    })
}

/// Sums up time and cost per state.
pub(super) async fn totals(Extracted(app): Extracted<State>, Path(run): Path<String>) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        let head = app.head(&run)?;
        let children = app.spent.of_children(&**app.engine(), &head)?;
        Ok(Json(json!({ "run": run, "states": app.totals.of(app, &head)?, "children_spent": children })))
    })
    .await
}

/// Shows a run as it was after a record.
pub(super) async fn state(
    Extracted(app): Extracted<State>,
    Path((run, seq)): Path<(String, u64)>,
) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        let head = app.head(&run)?;
        let (follower, last) = app.histories.at(&**app, &head, seq)?;
        Ok(Json(at(&follower, last.as_ref())))
    })
    .await
}

fn at(follower: &Follower, last: Option<&Step>) -> Value {
    let mut json = state_json(&follower.live, follower.live.at_ms);
    json["run"] = json!(follower.head.name);
    json["seq"] = json!(follower.live.seq);
    json["at"] = json!(moment::rfc3339(follower.live.at_ms));
    json["phase"] = json!(follower.phase());
    json["record"] = json!(last.map(record));
    json
}
