//! An attempt that belongs to no run.

use std::{path::Path, sync::Arc};

use interlock_activity::{Attempt, Canceller, Host, Invocation};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{Definition, EvidenceStore};

/// Makes an attempt that works in `folder` and keeps everything else below `home`. Tests change its fields as they need.
pub fn attempt(home: &Path, folder: &Path, host: Arc<dyn Host>) -> (Attempt, Canceller) {
    let (canceller, cancel) = Canceller::new();
    let definition =
        Definition { hash: "none".into(), machine: "trial".into(), version: 1, text: String::new(), files: Vec::new() };
    let invocation = Invocation {
        name: "tried".into(),
        state: "working".into(),
        signals: [].into(),
        is_declared_read: false,
        definition: Arc::new(definition),
    };
    let attempt = Attempt {
        run: "run-1".into(),
        activity: ActivityId(7),
        invocation: Arc::new(invocation),
        number: 1,
        begun_ms: 0,
        with: Value::empty(),
        folder: folder.to_owned(),
        snapshot: None,
        live: home.join("live/run-1-7-1.log"),
        evidence: EvidenceStore::open(home.join("evidence")).unwrap(),
        host,
        cancel,
    };
    (attempt, canceller)
}
