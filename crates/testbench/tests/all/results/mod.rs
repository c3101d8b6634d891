//! Parsing and measuring the output of test frameworks.

mod corpus;
mod hardship;
mod markers;
mod measure;
mod patterns;
mod shape;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use interlock_testbench::{Ran, Start, Stop};

/// Returns a start that ended in this way.
pub(super) fn ran(id: &str, repetition: u32, stop: Stop) -> Ran {
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
