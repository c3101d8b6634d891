//! Everything that waits for a person: the questions, the data to decide by, and the events that answer.

use axum::{
    Json,
    extract::{Query, State as Extracted},
};
use interlock_follow::{Follower, Standing};
use interlock_journal::{Head, Phase};
use serde_json::{Value, json};

use super::rows::{Page, next, row, waits};
use crate::{
    app::{App, State, blocking},
    problem::Result,
};

/// Lists the runs that wait for a person. A running attempt may ask, too, so active runs are looked at as well.
pub(super) async fn list(Extracted(app): Extracted<State>, Query(page): Query<Page>) -> Result<Json<Value>> {
    let is_count = page.count.unwrap_or(false);
    let filter = page.filter(&[Phase::Waiting, Phase::Active])?;
    blocking(&app, move |app| {
        let heads = app.engine().list(&filter)?;
        let next = next(&heads, filter.at_most);
        if is_count {
            let mut count = 0;
            for head in heads {
                count += usize::from(item(app, head)?.is_some());
            }
            return Ok(Json(json!({ "count": count, "more": !next.is_null() })));
        }
        let mut items = Vec::new();
        for head in heads {
            items.extend(item(app, head)?);
        }
        Ok(Json(json!({ "items": items, "next": next })))
    })
    .await
}

/// Returns the question of a run; `None` if it waits for no person.
fn item(app: &App, head: Head) -> Result<Option<Value>> {
    let follower = Follower::from_now(app, head)?;
    let mut offers = follower.offers();
    if follower.holder()?.is_none() {
        offers.asked.clear();
    }
    let is_asked = !offers.asked.is_empty();
    if follower.standing() != Standing::Person && !is_asked {
        return Ok(None);
    }
    let mut item = row(&follower.head);
    item["waits"] = waits(&follower);
    // A state that shows nothing leaves a person with the input to decide by.
    if offers.shown.is_empty() && offers.questions.is_empty() {
        item["input"] = Value::from(&follower.live.state.data.input);
    }
    item["offers"] = json!(offers);
    Ok(Some(item))
}
