//! `interlock runs`: lists runs with their phase and place.

use std::collections::BTreeMap;

use interlock_chart::library;
use interlock_follow::{
    continued::continued_by,
    spent::{Spent, of_run},
};
use interlock_journal::{Engine as _, Filter, Head, Holder, Phase, WorkerName, moment};
use interlock_runtime::{Clock as _, SystemClock};
use interlock_sqlite::process_id;
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{Exit, args::Runs, failure::Failure, follow::End, machine, output::Output, overdue, store::Store, table};

/// The columns of the list.
const HEADING: [&str; 9] = ["run", "machine", "phase", "place", "moved", "records", "deadline", "process", "spent"];

/// The longest list whose runs are asked for their tokens and cost.
const SPENT_MAX: usize = 200;

/// Returns the tokens and the cost of the runs; `None` for each if there are too many.
fn spent(store: &Store, heads: &[Head]) -> Result<Vec<Option<Spent>>, Failure> {
    if heads.len() > SPENT_MAX {
        return Ok(vec![None; heads.len()]);
    }
    let of = |head: &Head| Ok(Some(of_run(&*store.engine(), head)?));
    heads.iter().map(of).collect()
}

/// The current hash and version of a machine's files.
struct Current {
    hash: String,
    version: u32,
}

/// Lists the selected runs.
pub(crate) fn run(args: &Runs, output: &Output) -> Outcome {
    let store = Store::open()?;
    let heads = store.journal.list(&Filter {
        machine: args.machine.clone(),
        phases: args.phase.iter().map(|phase| (*phase).into()).collect(),
        at_most: if args.all { 0 } else { args.number },
        ..Filter::default()
    })?;
    let current = current(&heads);
    let newer = |head: &Head| current.get(&head.machine).filter(|current| current.hash != head.definition);
    let movers = heads.iter().map(|head| Mover::of(&store, head)).collect::<Result<Vec<_>, _>>()?;
    let now_ms = SystemClock.now_ms();
    let spent = spent(&store, &heads)?;
    if output.is_json() {
        let rows = heads.iter().zip(&movers).zip(&spent).map(|((head, mover), spent)| {
            let mut row = row_json(head, mover, newer(head), now_ms)?;
            let end = End::read(&store, head)?;
            row["outcome"] = json!(end.as_ref().map(|end| end.outcome));
            row["reason"] = json!(end.and_then(|end| end.reason));
            row["spent"] = json!(spent);
            Ok::<_, Failure>(row)
        });
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        output.json(&rows)?;
        return Ok(Exit::Good);
    }
    if heads.is_empty() {
        let is_asked = args.machine.is_some() || !args.phase.is_empty();
        output.talk(if is_asked { "No run matches\n" } else { "No runs yet. Start one with `interlock run`\n" });
        return Ok(Exit::Good);
    }
    let rows = heads.iter().zip(&movers).zip(&spent).map(|((head, mover), spent)| {
        let mark = newer(head).map(|_| "*").unwrap_or_default();
        let (name, machine) = (head.name.clone(), format!("{}{mark}", head.machine));
        vec![
            name,
            machine,
            mover.phase(head).into(),
            head.place.clone(),
            overdue::age(now_ms - head.updated_ms),
            head.seq.to_string(),
            head.due_ms.map(|due_ms| overdue::words(due_ms, run_time(head, now_ms))).unwrap_or_default(),
            mover.words(now_ms),
            spent.as_ref().map(Spent::words).unwrap_or_default(),
        ]
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    let mut heading: Vec<String> = HEADING.map(str::to_owned).to_vec();
    // Most machines spend nothing, and need no empty column.
    if rows.iter().all(|row| row.last().is_none_or(String::is_empty)) {
        rows.iter_mut().for_each(|row| drop(row.pop()));
        heading.pop();
    }
    output.data(&table::rows(&heading, &rows, output))?;
    if let Some(head) = heads.iter().zip(&movers).find(|(head, mover)| mover.is_missing(head)).map(|(head, _)| head) {
        let name = &head.name;
        output.talk(&format!("unattended: no process is running it. Continue it with `interlock resume {name}`\n"));
    }
    if !args.all && heads.len() == args.number {
        output.talk("there may be more runs; `--all` lists all of them\n");
    }
    tell_newer(&store, &heads, &current, output)
}

/// Explains the marks in the list: the current version of the machine's files, and the version that the runs keep.
fn tell_newer(store: &Store, heads: &[Head], current: &BTreeMap<String, Current>, output: &Output) -> Outcome {
    for (name, now) in current {
        let old = heads.iter().find(|head| head.machine == *name && head.definition != now.hash);
        if let Some(old) = old {
            let kept = store.journal.definition(&old.definition)?.version;
            let versions = match kept == now.version {
                true => format!("its `version` is still {kept}"),
                false => format!("version {kept}, now {}", now.version),
            };
            output.talk(&format!("* the machine {name} has changed since ({versions}); these runs keep the definition they started with\n"));
        }
    }
    Ok(Exit::Good)
}

/// Returns the current files of each listed machine; machines that cannot be found by their name are left out.
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

/// Returns the run's time: the clock, but never before its last record.
fn run_time(head: &Head, now_ms: i64) -> i64 {
    now_ms.max(head.updated_ms)
}

/// The process or child run that a run's progress depends on, or the run that goes on with its work.
struct Mover {
    holder: Option<Holder>,
    /// A child run that waits for a person.
    child: Option<String>,
    /// The run that continues it after its end.
    next: Option<String>,
}

impl Mover {
    fn of(store: &Store, head: &Head) -> Result<Self, Failure> {
        let holder = store.journal.holder(head.key)?;
        let child = match head.phase == Phase::Active && holder.is_none() {
            true => waiting_child(store, head)?,
            false => None,
        };
        let next = continued_by(&*store.engine(), head)?.map(|next| next.name);
        Ok(Mover { holder, child, next })
    }

    /// Returns true if the run is active but no process is running it.
    fn is_missing(&self, head: &Head) -> bool {
        head.phase == Phase::Active && self.holder.is_none() && self.child.is_none()
    }

    fn phase(&self, head: &Head) -> &'static str {
        match (self.is_missing(head), &self.child) {
            (true, _) => "unattended",
            (false, Some(_)) => Phase::Waiting.word(),
            (false, None) => head.phase.word(),
        }
    }

    fn words(&self, now_ms: i64) -> String {
        match (&self.holder, &self.child) {
            (Some(Holder { worker, since_ms: Some(since_ms) }), _) => {
                format!("{} for {}", short(worker), overdue::age(now_ms - since_ms))
            }
            (Some(Holder { worker, since_ms: None }), _) => short(worker),
            (None, Some(child)) => format!("waits for {child}"),
            (None, None) => self.next.as_ref().map(|next| format!("continued by {next}")).unwrap_or_default(),
        }
    }
}

/// Formats a worker for the table: its process id, or its name if it has none.
fn short(worker: &WorkerName) -> String {
    process_id(worker).map_or_else(|| worker.to_string(), |pid| pid.to_string())
}

/// Returns the first child of this run that waits for a person.
fn waiting_child(store: &Store, head: &Head) -> Result<Option<String>, Failure> {
    let (prefix, phases) = (Some(format!("{}.", head.name)), vec![Phase::Waiting, Phase::Paused]);
    let found = store.journal.list(&Filter { prefix, phases, ..Filter::default() })?;
    Ok(found.into_iter().map(|child| child.name).next_back())
}

fn row_json(head: &Head, mover: &Mover, newer: Option<&Current>, now_ms: i64) -> Result<Json, Failure> {
    let mut row = serde_json::to_value(head).map_err(|error| Failure::failed(error.to_string()))?;
    row["deadline"] = overdue::json(head.due_ms, run_time(head, now_ms));
    row["process"] = json!(mover.holder.as_ref().and_then(|holder| process_id(&holder.worker)));
    row["process_since"] = json!(mover.holder.as_ref().and_then(|holder| holder.since_ms).map(moment::rfc3339));
    row["unattended"] = json!(mover.is_missing(head));
    row["waits_for_run"] = json!(mover.child);
    row["continued_by"] = json!(mover.next);
    row["newer"] = newer.map_or(Json::Null, |newer| json!({ "version": newer.version, "hash": newer.hash }));
    Ok(row)
}
