//! Machine files: read with positions, resolved into a chart, and written back.
//!
//! [`read`] reports every problem of a file at once and gives a chart where none of them is an error.

use crate::{Chart, Diagnostic};

/// What reading a machine file gives.
#[derive(Debug)]
pub struct Reading {
    /// The chart, unless there was an error.
    pub chart: Option<Chart>,
    /// Everything found, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}
