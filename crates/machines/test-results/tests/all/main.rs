//! Tests of the readers with real output of test frameworks, and of the verdicts.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod corpus;
mod hardship;
mod markers;
mod measure;
mod patterns;
mod shape;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use interlock_test_results::{Ran, Start, Stop};

/// Returns a start that ended in this way.
fn ran(id: &str, repetition: u32, stop: Stop) -> Ran {
    let start = Start { id: id.to_owned(), repetition, timeout: Duration::from_secs(10), ..Start::default() };
    Ran {
        start,
        stop,
        duration_ms: 120,
        logs: vec![PathBuf::from("serial.log")],
        reports: Vec::new(),
        artifacts: Vec::new(),
        faults: Vec::new(),
        coverage: BTreeMap::new(),
    }
}
