//! The outcomes of a run that are recorded, and their evidence. Records are read from the newest to the oldest, so that
//! the cost does not depend on the length of the run.

use std::collections::BTreeMap;

use interlock_activity::PastOutcome;
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, Engine, Entry, Hash};

use crate::Result;

/// The number of records that are read at once.
const RECORDS_AT_ONCE: u64 = 256;

/// Returns the hashes of the newest evidence with this name, at most `at_most` of them.
pub(crate) fn newest(engine: &dyn Engine, run: &str, name: &str, at_most: usize) -> Result<Vec<Hash>> {
    let Some(head) = engine.find(run)? else { return Ok(Vec::new()) };
    let (mut found, mut end) = (Vec::new(), head.seq);
    while end > 0 && found.len() < at_most {
        let from = end.saturating_sub(RECORDS_AT_ONCE) + 1;
        let count = usize::try_from(end + 1 - from).unwrap_or_default();
        for record in engine.records(head.key, from, count)?.iter().rev() {
            let entry = engine.entry(record)?;
            if let Entry::Outcome { evidence, .. } = &entry {
                found.extend(evidence.iter().filter(|file| file.name == name).map(|file| file.hash));
            }
        }
        end = from - 1;
    }
    found.truncate(at_most);
    Ok(found)
}

/// Returns the outcomes since the last attempt of the activity `since` began, oldest first; an error if there are more than
/// `at_most`. The outcome of an attempt is recorded after its beginning, which has the activity's name.
pub(crate) fn outcomes(
    engine: &dyn Engine,
    run: &str,
    since: &str,
    at_most: usize,
) -> std::result::Result<Vec<PastOutcome>, String> {
    let told = |error: interlock_journal::Error| error.to_string();
    let Some(head) = engine.find(run).map_err(told)? else { return Ok(Vec::new()) };
    let (mut found, mut names): (Vec<(ActivityId, PastOutcome)>, BTreeMap<ActivityId, String>) = Default::default();
    let (mut end, mut is_reached) = (head.seq, false);
    while end > 0 && !is_reached {
        let from = end.saturating_sub(RECORDS_AT_ONCE) + 1;
        let count = usize::try_from(end + 1 - from).unwrap_or_default();
        for record in engine.records(head.key, from, count).map_err(told)?.iter().rev() {
            match engine.entry(record).map_err(told)? {
                Entry::Outcome { activity, result, evidence, .. } => {
                    let (signal, data) = match result {
                        AttemptResult::Signal { name, data } => (Some(name), data),
                        AttemptResult::Error { data } => (None, data),
                    };
                    found.push((activity, PastOutcome { activity: String::new(), signal, data, evidence }));
                }
                Entry::Attempt { activity, name, .. } => {
                    is_reached = name == since;
                    names.insert(activity, name);
                }
                _ => {}
            }
            if found.len() > at_most {
                return Err(format!("the run {run} has more than {at_most} outcomes since the last `{since}`"));
            }
            if is_reached {
                break;
            }
        }
        end = from - 1;
    }
    let named = |(id, outcome): (ActivityId, PastOutcome)| PastOutcome {
        activity: names.get(&id).cloned().unwrap_or_default(),
        ..outcome
    };
    Ok(found.into_iter().rev().map(named).collect())
}
