//! The evidence that the outcomes of a run have recorded, newest first.

use interlock_journal::{Engine, Entry, Hash};

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
