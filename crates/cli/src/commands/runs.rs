//! `interlock runs`: which runs there are and where they stand.

use std::collections::BTreeMap;

use interlock_chart::library;
use interlock_journal::{Engine as _, Filter, Head};
use interlock_runtime::{Clock as _, SystemClock};
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{Exit, args::Runs, failure::Failure, machine, output::Output, store::Store, table};

/// A machine's files as they are now.
struct Current {
    hash: String,
    version: u32,
}

/// Lists runs.
pub(crate) fn run(args: &Runs, output: &Output) -> Outcome {
    let store = Store::open()?;
    let heads = store.journal.list(&Filter {
        machine: args.machine.clone(),
        phases: args.phase.iter().map(|phase| (*phase).into()).collect(),
        prefix: None,
        at_most: if args.all { 0 } else { args.number },
    })?;
    let current = current(&heads);
    let newer = |head: &Head| current.get(&head.machine).filter(|current| current.hash != head.definition);
    if output.is_json() {
        let rows = heads.iter().map(|head| row_json(head, newer(head))).collect::<Result<Vec<_>, _>>()?;
        output.json(&rows)?;
        return Ok(Exit::Good);
    }
    if heads.is_empty() {
        let is_asked = args.machine.is_some() || !args.phase.is_empty();
        output.talk(if is_asked { "no such runs\n" } else { "no runs; `interlock run` starts one\n" });
        return Ok(Exit::Good);
    }
    let now_ms = SystemClock.now_ms();
    let rows = heads.iter().map(|head| {
        let mark = newer(head).map(|_| "*").unwrap_or_default();
        let (name, machine) = (head.name.clone(), format!("{}{mark}", head.machine));
        [
            name,
            machine,
            head.phase.word().into(),
            head.place.clone(),
            age(now_ms - head.updated_ms),
            head.seq.to_string(),
        ]
    });
    output.data(&table::text(["run", "machine", "phase", "place", "moved", "records"], rows, output))?;
    if !args.all && heads.len() == args.number {
        output.talk("there may be more: `--all` lists them\n");
    }
    tell_newer(&store, &heads, &current, output)
}

/// What the marks mean: which version the files are now, and which one the runs keep.
fn tell_newer(store: &Store, heads: &[Head], current: &BTreeMap<String, Current>, output: &Output) -> Outcome {
    for (name, now) in current {
        let old = heads.iter().find(|head| head.machine == *name && head.definition != now.hash);
        if let Some(old) = old {
            let kept = store.journal.definition(&old.definition)?.version;
            output.talk(&format!(
                "* {name} has changed since (version {kept}, now {}); these runs keep theirs\n",
                now.version
            ));
        }
    }
    Ok(Exit::Good)
}

/// Each machine of the list as its files are now; those that cannot be found by their name are left out.
fn current(heads: &[Head]) -> BTreeMap<String, Current> {
    let mut found = BTreeMap::new();
    for head in heads {
        if !found.contains_key(&head.machine) {
            found.insert(head.machine.clone(), now(&head.machine));
        }
    }
    found.into_iter().filter_map(|(name, current)| Some((name, current?))).collect()
}

fn now(machine: &str) -> Option<Current> {
    let chart = library::load(machine, &machine::here()).ok()?.read().chart?;
    (chart.id == machine).then_some(Current { hash: chart.hash, version: chart.version })
}

fn row_json(head: &Head, newer: Option<&Current>) -> Result<Json, Failure> {
    let mut row = serde_json::to_value(head).map_err(|error| Failure::failed(error.to_string()))?;
    row["newer"] = newer.map_or(Json::Null, |newer| json!({ "version": newer.version, "hash": newer.hash }));
    Ok(row)
}

/// `5s`, `3m`, `2h`, `4d`
pub(super) fn age(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_are_said_in_their_largest_unit() {
        let cases = [(-5, "0s"), (59_999, "59s"), (60_000, "1m"), (7_200_000, "2h"), (90_000_000, "1d")];
        for (ms, expected) in cases {
            assert_eq!(age(ms), expected);
        }
    }
}
