//! Lists runs and shows one.

use axum::{
    Json,
    extract::{Path, Query, State as Extracted},
};
use interlock_follow::{
    End, Follower,
    continued::{continued_by, shares},
    state_json,
};
use interlock_journal::{Filter, Phase, moment};
use serde_json::{Map, Value, json};

use super::rows::{Page, next, row, waits};
use crate::{
    app::{State, blocking},
    problem::Result,
};

/// The most child runs that a run shows.
const CHILDREN_MAX: usize = 100;

/// The length of the longest list that describes what each run waits for.
const DESCRIBED_MAX: usize = 100;

/// The longest run whose row says why it ended: the reason may have to be looked for from the first record.
const REASON_RECORDS_MAX: u64 = 2_000;

/// Lists runs, newest first.
pub(super) async fn list(Extracted(app): Extracted<State>, Query(page): Query<Page>) -> Result<Json<Value>> {
    let wants_spent = page.spent.unwrap_or(false);
    let filter = page.filter(&[])?;
    blocking(&app, move |app| {
        let heads = app.engine().list(&filter)?;
        let next = next(&heads, filter.at_most);
        let mut rows: Vec<Value> = heads.iter().map(row).collect();
        if wants_spent && filter.at_most <= DESCRIBED_MAX {
            for (row, head) in rows.iter_mut().zip(&heads) {
                let tally = app.spent.of(&**app.engine(), head)?;
                row["spent"] = json!(tally.spent());
                row["children_spent"] = json!(app.spent.of_children(&**app.engine(), head)?);
                row["diff"] = json!(tally.has_changes || !head.phase.is_over());
            }
        }
        for (row, head) in rows.iter_mut().zip(&heads) {
            row["outcome"] = json!(End::of(head.phase, None).map(|end| end.outcome));
        }
        // A long list does not say what each run waits for or why it ended, because every state would have to be read.
        if filter.at_most <= DESCRIBED_MAX {
            for (row, head) in rows.iter_mut().zip(heads) {
                if head.phase.is_over() {
                    if head.seq <= REASON_RECORDS_MAX {
                        row["reason"] = json!(End::read(&**app, &head)?.and_then(|end| end.reason));
                    }
                    row["continued_by"] = json!(continued_by(&**app.engine(), &head)?.map(|next| next.name));
                    continue;
                }
                row["doing"] = json!(app.hub.latest(&head.name).map(|progress| progress.text.clone()));
                row["waits"] = waits(&Follower::from_now(&**app, head)?);
            }
        }
        Ok(Json(json!({ "runs": rows, "next": next })))
    })
    .await
}

/// Counts all runs by phase, so that a list that shows only some of them can say how many there are.
pub(super) async fn phases(Extracted(app): Extracted<State>, Query(page): Query<Page>) -> Result<Json<Value>> {
    let filter = page.filter(&[])?;
    blocking(&app, move |app| {
        let counted = app.engine().count(&filter)?;
        let count = |phase: Phase| counted.get(&phase).copied().unwrap_or(0);
        let phases: Map<String, Value> =
            Phase::ALL.into_iter().map(|phase| (phase.word().to_owned(), json!(count(phase)))).collect();
        Ok(Json(json!({ "phases": phases, "total": counted.values().sum::<u64>() })))
    })
    .await
}

/// Shows a run: its state, its data, and the events that it accepts.
pub(super) async fn show(Extracted(app): Extracted<State>, Path(run): Path<String>) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        let follower = app.follow(&run)?;
        let (head, live) = (app.head(&run)?, &follower.live);
        let mut json = row(&head);
        if let (Value::Object(json), Value::Object(state)) = (&mut json, state_json(live, follower.now_ms())) {
            json.extend(state);
        }
        let holder = follower.holder()?;
        let mut offers = follower.offers();
        // Without a process that runs it, no attempt waits for an answer.
        offers.asked.retain(|_| holder.is_some());
        if head.phase.is_over() {
            offers.events = app.services.continuing(&head)?;
        }
        json["offers"] = json!(offers);
        json["continues"] = json!(shares(&**app.engine(), &head)?);
        json["continued_by"] = json!(continued_by(&**app.engine(), &head)?.map(|next| next.name));
        json["holder"] = json!(holder);
        json["folder"] = json!(live.folder);
        json["version"] = json!(live.loaded.definition.version);
        json["now"] = json!(moment::rfc3339(follower.now_ms()));
        json["abort"] = json!(follower.abort_event());
        let tally = app.spent.of(&**app.engine(), &head)?;
        json["end"] = json!(End::read(&**app, &head)?);
        json["refused"] = tally.refused.iter().map(|(seq, one)| json!({ "seq": seq, "refused": one })).collect();
        let children = Filter { prefix: Some(format!("{run}.")), at_most: CHILDREN_MAX, ..Filter::default() };
        let children = app.engine().list(&children)?;
        json["children_more"] = json!(children.len() == CHILDREN_MAX);
        json["children"] = children.iter().filter(|child| child.parent.as_deref() == Some(&run)).map(row).collect();
        Ok(Json(json))
    })
    .await
}
