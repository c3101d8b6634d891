//! Which run continues an ended one.
//!
//! An event that a machine declares with `continues: true` continues an ended run as a new run, which shares its records.
//! The link is stored once, in the first record of the new run. The ended run has no record of it: it stays as it was.

use interlock_journal::{Engine, Entry, Filter, Fork, Head};
use interlock_runtime::{Result, created};

use crate::loaded;

/// The most runs whose names begin like that of a run and that are looked at.
const NAMED_ALIKE_MAX: usize = 10_000;

/// The most records after the shared ones among which the event is looked for. Attempts that were under way come first.
const RECORDS_BEFORE_MAX: usize = 50;

/// Returns the run whose records a run shares, and the last record that both share.
pub fn shares(engine: &dyn Engine, head: &Head) -> Result<Option<Fork>> {
    Ok(created(engine, head)?.and_then(|created| created.fork))
}

/// Returns true if the machine of a run declares this event as one that continues an ended run.
pub fn is_continuing(engine: &dyn Engine, head: &Head, event: &str) -> Result<bool> {
    let loaded = loaded(engine, head)?;
    Ok(loaded.chart().events.iter().any(|known| known.continues && known.name == event))
}

/// Returns the name that the runs of a chain of continuations begin with: `fix` for `fix`, `fix-2` and `fix-3`.
pub fn stem<'n>(engine: &dyn Engine, head: &'n Head) -> Result<&'n str> {
    let Some((stem, from)) = numbered(&head.name).zip(shares(engine, head)?) else { return Ok(&head.name) };
    let is_of_chain = from.run == stem || numbered(&from.run) == Some(stem);
    Ok(if is_of_chain { stem } else { &head.name })
}

/// Returns the runs that share records of this run and have names of its chain, the oldest first.
pub fn successors(engine: &dyn Engine, head: &Head) -> Result<Vec<(Head, Fork)>> {
    let stem = stem(engine, head)?;
    let prefix = Some(format!("{stem}-"));
    let alike = engine.list(&Filter { prefix, at_most: NAMED_ALIKE_MAX, ..Filter::default() })?;
    let mut found = Vec::new();
    for one in alike.into_iter().filter(|one| one.key > head.key && numbered(&one.name) == Some(stem)) {
        let from = shares(engine, &one)?.filter(|from| from.run == head.name);
        found.extend(from.map(|from| (one, from)));
    }
    found.reverse();
    Ok(found)
}

/// Returns the run that continues an ended run; `None` if there is none.
pub fn continued_by(engine: &dyn Engine, head: &Head) -> Result<Option<Head>> {
    if !head.phase.is_over() {
        return Ok(None);
    }
    for (next, from) in successors(engine, head)? {
        if has_continued(engine, &next, from.at)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// Returns true if a run went on after the shared records with an event that continues an ended run. Any other fork takes
/// another way.
pub(crate) fn has_continued(engine: &dyn Engine, next: &Head, shared: u64) -> Result<bool> {
    for record in engine.records(next.key, shared + 1, RECORDS_BEFORE_MAX)? {
        if let Entry::Event { event, .. } = engine.entry(&record)? {
            return is_continuing(engine, next, &event);
        }
    }
    Ok(false)
}

/// Returns the name before the number in a name such as `fix-2`.
fn numbered(name: &str) -> Option<&str> {
    let (stem, number) = name.rsplit_once('-')?;
    number.parse::<u32>().is_ok_and(|number| number > 1).then_some(stem)
}
