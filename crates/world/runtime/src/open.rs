//! Opens a stored run: restores its last stored state and folds in the records since then.

use std::{path::PathBuf, sync::Arc};

use interlock_journal::{Entry, EvidenceStore, Lease, Opened};

use crate::{Error, Live, LoadedMachine, Result, saved};

impl Live {
    /// Loads a run: restores its last stored state and folds in the records since then.
    pub fn load(opened: &Opened, loaded: Arc<LoadedMachine>, lease: Lease, evidence: &EvidenceStore) -> Result<Self> {
        let Entry::Created(created) = opened.first.entry(evidence)? else {
            return Err(Error::State { run: opened.head.name.clone(), why: "its first record is not a start".into() });
        };
        crate::fix_place(&created);
        let folder = created.folder.map(PathBuf::from).unwrap_or_default();
        let mut live = Live::new(opened.head.name.as_str().into(), loaded, folder, created.parent, evidence.clone());
        (live.key, live.lease) = (opened.head.key, lease);
        if let Some((seq, json)) = &opened.snapshot {
            let wrong = |why| Error::State { run: opened.head.name.clone(), why };
            let stored = saved::load(json, &live.loaded.machine).map_err(wrong)?;
            if stored.state.semantics != created.semantics {
                return Err(wrong("its stored state has another semantics version than its first record".into()));
            }
            (live.grants, live.output) = (stored.grants, stored.output);
            (live.state, live.seq, live.snapshot_seq) = (stored.state, *seq, *seq);
            live.activities = stored.activities.into_iter().collect();
            live.stopping = stored.stopping;
        }
        for record in &opened.tail {
            live.fold(&record.entry(evidence)?, record.at_ms, &mut interlock_core::Silent);
            live.seq = record.seq;
        }
        live.timers = opened.timers.iter().copied().collect();
        live.at_ms = opened.head.updated_ms;
        Ok(live)
    }
}
