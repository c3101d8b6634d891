//! Machines in other statechart formats: SCXML, XState JSON, Mermaid, DOT, Promela.
//!
//! An importer creates a [`MachineFile`], so that an imported machine is read and validated like any other. An exporter
//! takes a [`Chart`]. Both report the parts that the other format cannot represent. An exporter reports them in a
//! warning. An importer reports them in a warning if the machine's meaning stays the same, and otherwise in an error
//! ([`UNSUPPORTED`]).
//!
//! Pictures are drawn in [`crate::draw`]. This module does not execute or check the machines that it reads.

mod dot;
mod ecmascript;
mod expression;
mod heard;
mod mermaid;
mod names;
mod problem;
mod promela;
mod scxml;
mod wording;
mod xstate;

pub use problem::{UNSUPPORTED, is_unsupported};

use std::collections::BTreeMap;

use interlock_chart::{Chart, Diagnostic, Span, file::MachineFile};

/// The maximum length in bytes of a text to import.
pub const IMPORT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The maximum nesting depth of states or elements in a text to import.
pub const IMPORT_DEPTH_MAX: usize = 64;

/// A format in which machines are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// W3C SCXML, with Interlock's additions in a separate namespace.
    Scxml,
    /// The configuration of XState v5's `createMachine`, as JSON.
    Xstate,
    /// Mermaid's `stateDiagram-v2` notation.
    Mermaid,
    /// The input of Graphviz; export only.
    Dot,
    /// The input of SPIN, without data; export only.
    Promela,
}

impl Format {
    /// All formats in a fixed order.
    pub const ALL: [Format; 5] = [Format::Scxml, Format::Xstate, Format::Mermaid, Format::Dot, Format::Promela];

    /// Returns the format's name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Format::Scxml => "scxml",
            Format::Xstate => "xstate",
            Format::Mermaid => "mermaid",
            Format::Dot => "dot",
            Format::Promela => "promela",
        }
    }

    /// Returns the format with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }

    /// Guesses the format, first from the file's name and then from the beginning of the text.
    pub fn guess(text: &str, file_name: &str) -> Option<Self> {
        by_extension(file_name).or_else(|| by_beginning(text))
    }
}

fn by_extension(file_name: &str) -> Option<Format> {
    let (_, extension) = file_name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "scxml" | "xml" => Some(Format::Scxml),
        "json" => Some(Format::Xstate),
        "mmd" | "mermaid" => Some(Format::Mermaid),
        "dot" | "gv" => Some(Format::Dot),
        "pml" | "promela" => Some(Format::Promela),
        _ => None,
    }
}

fn by_beginning(text: &str) -> Option<Format> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') {
        return Some(Format::Scxml);
    }
    if text.starts_with('{') {
        return Some(Format::Xstate);
    }
    let words = ["digraph", "graph", "strict digraph"];
    if words.iter().any(|word| text.starts_with(word)) && text.contains("->") && !text.contains("-->") {
        return Some(Format::Dot);
    }
    text.lines().take(200).any(|line| line.trim_start().starts_with("stateDiagram")).then_some(Format::Mermaid)
}

/// A machine in another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The text in the other format.
    pub text: String,
    /// The parts of the machine that other tools will not see, one sentence each.
    pub warnings: Vec<String>,
}

/// A machine from another format.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The machine, still to be read and validated.
    pub file: MachineFile,
    /// The parts that were changed or omitted, one sentence each.
    pub warnings: Vec<String>,
    /// The states whose names had to be changed: the new name to the original one.
    pub renamed: BTreeMap<String, String>,
}

/// Writes a chart in another format.
pub fn export(chart: &Chart, format: Format) -> Exported {
    match format {
        Format::Scxml => scxml::export(chart),
        Format::Xstate => xstate::export(chart),
        Format::Mermaid => mermaid::export(chart),
        Format::Dot => dot::export(chart),
        Format::Promela => promela::export(chart),
    }
}

/// Reads a machine from another format. `hint` names the format; otherwise it is guessed from the file's name and the
/// text. If the text does not name the machine, the file's name is used.
pub fn import(text: &str, hint: Option<Format>, file_name: &str) -> Result<Imported, Vec<Diagnostic>> {
    import_with(text, hint, file_name, &BTreeMap::new())
}

/// Reads a machine from a text that refers to other files. `files` has their contents by the name that the text uses.
/// Only SCXML refers to other files; a missing file is an error.
pub fn import_with(
    text: &str,
    hint: Option<Format>,
    file_name: &str,
    files: &BTreeMap<String, String>,
) -> Result<Imported, Vec<Diagnostic>> {
    if text.len() > IMPORT_BYTES_MAX {
        return Err(vec![problem::too_big(text.len())]);
    }
    let name = names::from_file_name(file_name);
    match hint.or_else(|| Format::guess(text, file_name)) {
        Some(Format::Scxml) => scxml::import(text, &name, files),
        Some(Format::Xstate) => xstate::import(text, &name),
        Some(Format::Mermaid) => mermaid::import(text, &name),
        Some(Format::Dot) => Err(vec![problem::error("E0506", Span::default(), "DOT can be written but not read")]),
        Some(Format::Promela) => {
            Err(vec![problem::error("E0506", Span::default(), "Promela can be written but not read")])
        }
        None => Err(vec![problem::unknown_format(file_name)]),
    }
}
