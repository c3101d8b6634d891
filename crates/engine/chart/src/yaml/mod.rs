//! Machine files: read with positions, resolved into a chart, and written back.
//!
//! [`read`] reports every problem of a file at once and returns a chart if none of them is an error. It has four steps,
//! each in its own module: `tree` (parses YAML), `decode` (checks the shape of every part), `resolve` (resolves every
//! name), `validate` (checks the machine as a whole).

pub mod code;
mod decode;
mod draft;
pub(crate) mod duration;
mod fields;
pub mod limits;
mod name;
mod node;
mod resolve;
mod scalar;
pub(crate) mod template;
mod tree;
mod validate;
mod write;

pub use duration::parse as duration_ms;
pub use validate::SignalData;
pub use write::write;

use crate::{Chart, Diagnostic, Span};

/// Returns the reads of fields that the data of an activity's signal never has, with the data as `data` describes it.
pub fn unknown_signal_fields(chart: &Chart, data: SignalData<'_>) -> Vec<Diagnostic> {
    validate::unknown_signal_fields(chart, data)
}

/// The result of reading a machine file.
#[derive(Debug)]
pub struct ReadResult {
    /// The chart, unless there was an error.
    pub chart: Option<Chart>,
    /// All diagnostics, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl ReadResult {
    /// Returns true if the machine can be used.
    pub fn is_usable(&self) -> bool {
        self.chart.is_some()
    }

    fn refused(problem: Diagnostic) -> Self {
        ReadResult { chart: None, diagnostics: vec![problem] }
    }
}

/// Reads a machine file without a directory.
///
/// ```
/// use interlock_chart::yaml;
///
/// let source = "
/// machine: tea
/// version: 1
/// events: { boiled: { from: user } }
/// initial: heating
/// states:
///   heating: { on: { boiled: { target: redy } } }
///   ready: { type: final, outcome: success }
/// ";
/// let wrong = yaml::read(source);
/// assert!(!wrong.is_usable());
/// assert!(wrong.diagnostics.iter().any(|problem| problem.message.contains("redy")));
///
/// let chart = yaml::read(&source.replace("redy", "ready")).chart.unwrap();
/// assert_eq!(chart.id, "tea");
/// ```
pub fn read(source: &str) -> ReadResult {
    read_folder(source, &[])
}

/// Reads a machine file from its directory. The other files, by path within the directory, are part of the machine's
/// hash.
pub fn read_folder(source: &str, files: &[(String, Vec<u8>)]) -> ReadResult {
    if source.len() > limits::FILE_BYTES_MAX {
        return ReadResult::refused(too_large());
    }
    let mut diagnostics = Vec::new();
    let chart = chart(source, &mut diagnostics);
    diagnostics.sort_by(|a, b| (a.span.start, a.code, &a.message).cmp(&(b.span.start, b.code, &b.message)));
    diagnostics.dedup();
    let usable = !diagnostics.iter().any(Diagnostic::is_error);
    let chart = chart.filter(|_| usable).map(|chart| Chart { hash: chart.content_hash(files), ..chart });
    ReadResult { chart, diagnostics }
}

/// Reads a machine file that was accepted when its first run began. It is not validated again, because later versions
/// may have added rules. The hash identifies the machine.
pub fn read_again(source: &str, files: &[(String, Vec<u8>)]) -> Option<Chart> {
    let tree = tree::parse(source, &mut Vec::new())?;
    let mut problems = Vec::new();
    let machine = decode::machine(&mut fields::Decoder { problems: &mut problems }, &tree)?;
    let (chart, _) = resolve::resolve(&machine, &mut problems)?;
    let is_whole = !problems.iter().any(Diagnostic::is_error);
    is_whole.then(|| Chart { hash: chart.content_hash(files), ..chart })
}

/// Reads a machine file that may not be UTF-8.
pub fn read_bytes(source: &[u8]) -> ReadResult {
    if source.len() > limits::FILE_BYTES_MAX {
        return ReadResult::refused(too_large());
    }
    match std::str::from_utf8(source) {
        Ok(source) => read(source),
        Err(error) => {
            let at = error.valid_up_to();
            let message = format!("the file is not UTF-8: byte {} at offset {at} begins no character", source[at]);
            let problem = Diagnostic::error(code::NOT_UTF8, Span::between(at, at), message);
            ReadResult::refused(problem.hint("save it as UTF-8"))
        }
    }
}

/// Converts a YAML text to JSON by the rules of machine files, or returns its problems.
pub fn to_json(source: &str) -> Result<serde_json::Value, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let json = tree::parse(source, &mut problems).map(|tree| fields::Decoder { problems: &mut problems }.json(&tree));
    match json {
        Some(json) if problems.is_empty() => Ok(json),
        _ => Err(problems),
    }
}

fn too_large() -> Diagnostic {
    let message = format!("the file is larger than {} bytes", limits::FILE_BYTES_MAX);
    Diagnostic::error(code::FILE_TOO_LARGE, Span::default(), message)
}

fn chart(source: &str, problems: &mut Vec<Diagnostic>) -> Option<Chart> {
    let tree = tree::parse(source, problems)?;
    let machine = decode::machine(&mut fields::Decoder { problems }, &tree)?;
    let (chart, places) = resolve::resolve(&machine, problems)?;
    validate::validate(&machine, &chart, &places, problems);
    Some(chart)
}
