//! An attempt apart from any run: its progress is discarded, and there are no other runs.

use std::{path::Path, sync::Arc, time::Duration};

use interlock_activity::{Attempt, Canceller, Future, Host, Invocation, Outcome, StartRun};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{Definition, EvidenceStore};

struct Nobody;

impl Host for Nobody {
    fn progress(&self, _: &str, _: ActivityId, _: &str) {}

    fn now_ms(&self) -> i64 {
        0
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }

    fn run(&self, _: StartRun) -> Future<Outcome> {
        Box::pin(async { Outcome::error("FAILED", "there are no runs here") })
    }
}

/// Creates an attempt that works in a directory and keeps everything else below `home`.
pub(crate) fn attempt(home: &Path, folder: &Path) -> (Attempt, Canceller) {
    let (canceller, cancel) = Canceller::new();
    let definition =
        Definition { hash: "none".into(), machine: "trial".into(), version: 1, text: String::new(), files: Vec::new() };
    let invocation = Invocation {
        name: "tried".into(),
        state: "testing".into(),
        signals: [].into(),
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
        host: Arc::new(Nobody),
        cancel,
    };
    (attempt, canceller)
}
