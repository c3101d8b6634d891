//! `interlock resources`: lists boards and other exclusive resources, with the runs that hold them and the runs that
//! wait for them.

use interlock_runtime::{Clock as _, SystemClock};
use interlock_testbench::{Resource, Resources, Who};

use super::Outcome;
use crate::{Exit, drive::block_on, failure::Failure, output::Output, overdue::age, store, table};

/// Lists all resources of the store.
pub(crate) fn run(output: &Output) -> Outcome {
    let resources = Resources::of_store(&store::home()?);
    let list = block_on(async { resources.list().await.map_err(|error| Failure::failed(error.to_string())) })?;
    if output.is_json() {
        output.json(&list)?;
        return Ok(Exit::Good);
    }
    if list.is_empty() {
        output.talk("No run has used a shared resource yet\n");
        return Ok(Exit::Good);
    }
    let now_ms = SystemClock.now_ms();
    let rows = list.iter().map(|resource| row(resource, now_ms));
    output.data(&table::text(["resource", "held by", "process", "for", "waiting"], rows, output))?;
    Ok(Exit::Good)
}

fn row(resource: &Resource, now_ms: i64) -> [String; 5] {
    let said = |say: &dyn Fn(&Who) -> String| resource.holder.as_ref().map_or_else(|| "-".to_owned(), say);
    let waiting = resource.waiting.iter().map(|who| format!("{} ({})", who.run, age(now_ms - who.since_ms)));
    [
        resource.name.clone(),
        said(&|who| who.run.clone()),
        said(&|who| who.pid.to_string()),
        said(&|who| age(now_ms - who.since_ms)),
        waiting.collect::<Vec<_>>().join(", "),
    ]
}
