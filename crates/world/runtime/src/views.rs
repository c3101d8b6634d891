//! Keeps the files that show a run up to date, after every record and when a process takes the run up.

use std::sync::Arc;

use interlock_activity::{RunState, RunView};
use interlock_core::ActivityId;
use serde_json::Value as Json;

use crate::{Live, News, runtime::Shared};

/// Returns the state of a run as views show it.
pub fn run_state(live: &Live, is_over: bool) -> RunState {
    let chart = live.loaded.chart();
    let context = chart.context.iter().zip(&live.state.data.context);
    let counters = chart.counters.iter().zip(&live.state.counters);
    let states = live.state.configuration.iter().map(|id| chart.state(id));
    RunState {
        run: Arc::clone(&live.name),
        machine: chart.id.clone(),
        folder: live.folder.clone(),
        states: states.filter(|state| state.parent.is_some()).map(|state| state.name.clone()).collect(),
        context: context.map(|(known, value)| (known.name.clone(), Json::from(value))).collect(),
        counters: counters.map(|(known, count)| (known.name.clone(), *count)).collect(),
        is_over,
        at_ms: live.at_ms,
    }
}

/// Returns the views of the activities that the run's machine invokes.
pub(crate) fn of(shared: &Shared, live: &Live) -> Vec<Arc<dyn RunView>> {
    shared.activities(&live.loaded).filter_map(|activity| activity.view()).collect()
}

/// Brings the views of a run up to date, and reports what they say. A view never stops a run.
pub(crate) async fn update(shared: &Shared, live: &Live, views: &[Arc<dyn RunView>]) {
    if views.is_empty() {
        return;
    }
    let state = run_state(live, live.phase(&shared.registry).is_over());
    let views = views.to_vec();
    let updated = tokio::task::spawn_blocking(move || {
        views.iter().filter_map(|view| view.update(&state)).collect::<Vec<String>>()
    });
    for text in updated.await.unwrap_or_default() {
        let text = shared.redactor.text(&text);
        shared.tell(News::Progress {
            run: Arc::clone(&live.name),
            activity: ActivityId(0),
            text: text.as_ref().into(),
        });
    }
}
