//! The state and data of a run at a moment, as JSON.

use interlock_chart::model::CounterId;
use interlock_journal::moment;
use interlock_runtime::Live;
use serde_json::{Map, Value as Json, json};

/// Returns the state and data of a run at a moment as JSON.
pub fn state_json(live: &Live, now_ms: i64) -> Json {
    let chart = live.loaded.chart();
    let context = chart.context.iter().zip(&live.state.data.context);
    let context: Map<String, Json> = context.map(|(known, value)| (known.name.clone(), Json::from(value))).collect();
    let counters = counters(live).map(|(name, count, max)| json!({ "counter": name, "count": count, "max": max }));
    let counters: Vec<Json> = counters.collect();
    let activities = live.activities.iter().map(|(id, begun)| {
        let invoke = chart.invoke(begun.invoke);
        json!({
            "id": id, "activity": invoke.activity, "state": chart.state(invoke.state).name, "try": begun.number,
            "begun": moment::rfc3339(begun.begun_ms), "with": Json::from(&begun.with),
        })
    });
    let timers = live.timers.iter().map(|(id, due)| {
        json!({ "id": id, "raises": live.raised_by(*id), "due": moment::rfc3339(*due), "overdue": *due <= now_ms })
    });
    json!({
        "configuration": configuration(live),
        "place": live.place(),
        "input": Json::from(&live.state.data.input),
        "context": context,
        "counters": counters,
        "output": live.output.as_ref().map(Json::from),
        "failure": live.failure(),
        "activities": activities.collect::<Vec<_>>(),
        "timers": timers.collect::<Vec<_>>(),
    })
}

/// Returns every counter: its name, its value, and the largest value that it can have in this run.
pub fn counters(live: &Live) -> impl Iterator<Item = (&str, u32, u32)> {
    let known = live.loaded.chart().counters.iter().zip(&live.state.counters).enumerate();
    known.map(|(at, (known, count))| (known.name.as_str(), *count, live.counter_max(CounterId::at(at))))
}

/// Returns every active state, including composite states.
fn configuration(live: &Live) -> Vec<&str> {
    live.state.configuration.iter().map(|id| live.loaded.chart().state(id).name.as_str()).collect()
}
