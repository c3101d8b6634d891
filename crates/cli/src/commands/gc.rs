//! `interlock gc`: removes files that no run refers to.

use std::time::{Duration, SystemTime};

use interlock_journal::{Engine as _, collect};

use super::Outcome;
use crate::{Exit, args::Gc, output::Output, store::Store};

/// Collects.
pub(crate) fn run(args: &Gc, output: &Output) -> Outcome {
    let store = Store::open()?;
    let grace = Duration::from_secs(args.older_than.saturating_mul(60));
    let used = store.journal.evidence_in_use()?;
    let done = collect(&used, store.journal.evidence(), SystemTime::now(), grace, args.dry_run)?;
    if output.is_json() {
        output.json(&done)?;
        return Ok(Exit::Good);
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    output.data(&format!("{} files {verb}, {} bytes; {} kept\n", done.removed, done.bytes, done.kept))?;
    Ok(Exit::Good)
}
