//! Files that real frameworks wrote, and files with misleading content. The file beside each contains its known facts
//! (`how`, `format`, `stop`, …) and, below the line, the expected result. `UPDATE_EXPECT=1` rewrites the result.

use std::{
    fs,
    path::{Path, PathBuf},
};

use expect_test::expect_file;
use interlock_test_results::{CaseResult, Format, Measured, Parsed, Stop, measure, parse, text};
use serde_json::{Map, Value};

use crate::ran;

/// One file of the corpus with its expectation.
pub(super) struct Example {
    pub(super) path: PathBuf,
    header: String,
    pub(super) text: String,
    pub(super) format: Format,
    stop: Stop,
    pub(super) expected: Vec<String>,
    baseline: Option<PathBuf>,
}

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Returns every file of the corpus.
pub(super) fn all() -> Vec<Example> {
    let mut files: Vec<PathBuf> = Vec::new();
    for kind in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        files.extend(fs::read_dir(kind).unwrap().map(|entry| entry.unwrap().path()));
    }
    files.retain(|path| path.extension().is_none_or(|ending| ending != "expected"));
    files.sort();
    files.iter().map(|path| Example::read(path)).collect()
}

impl Example {
    pub(super) fn read(path: &Path) -> Example {
        let beside = fs::read_to_string(format!("{}.expected", path.display()))
            .unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let header = beside.split("---\n").next().unwrap().to_owned();
        let field = |name: &str| header.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let patterns =
            field("patterns").map(|text| ("patterns".to_owned(), serde_json::from_str::<Value>(text).unwrap()));
        let format =
            Format::configured(field("format").unwrap(), &patterns.into_iter().collect::<Map<_, _>>()).unwrap();
        let expected = field("expected").map(|names| names.split(", ").map(str::to_owned).collect());
        Example {
            text: text(&fs::read(path).unwrap()),
            format,
            stop: stop(field("stop").unwrap()),
            expected: expected.unwrap_or_default(),
            baseline: field("baseline").map(|file| folder().join(file)),
            path: path.to_owned(),
            header,
        }
    }

    pub(super) fn parsed(&self) -> Parsed {
        parse(&self.format, &self.text)
    }

    pub(super) fn measured(&self) -> Measured {
        self.measured_as(self.parsed())
    }

    /// Measures the example with a different parse result.
    pub(super) fn measured_as(&self, parsed: Parsed) -> Measured {
        let baseline = self.baseline.as_ref().map(|path| Example::read(path).measured());
        measure(&[(parsed, &ran("all", 1, self.stop.clone()))], &self.expected, baseline.as_ref())
    }
}

fn stop(text: &str) -> Stop {
    let (first, rest) = text.split_once(' ').unwrap();
    match first {
        "exited" => Stop::Exited { code: rest.parse().unwrap() },
        "timed" => Stop::TimedOut,
        "hung" => Stop::Hung { place: rest.to_owned() },
        "boot" => Stop::BootLoop { boots: rest.strip_prefix("loop ").unwrap().parse().unwrap() },
        "lost" => Stop::Lost { why: rest.to_owned() },
        other => panic!("no way to stop: {other}"),
    }
}

fn list(out: &mut String, name: &str, items: &[String]) {
    if !items.is_empty() {
        out.push_str(&format!("{name}:\n"));
        items.iter().for_each(|item| out.push_str(&format!("  - {item}\n")));
    }
}

fn shown(case: &CaseResult) -> String {
    let mut line = format!("{} {}", case.status.name(), case.case_id);
    if let Some(ms) = case.duration_ms {
        line.push_str(&format!(", {ms} ms"));
    }
    if let Some(place) = &case.location {
        line.push_str(&format!(", {}:{}", place.file, place.line));
    }
    if !case.message.is_empty() {
        line.push_str(&format!(", says {:?}", case.message.chars().take(100).collect::<String>()));
    }
    if !case.stack.is_empty() {
        line.push_str(&format!(", stack {:?}", &case.stack[..case.stack.len().min(3)]));
    }
    line
}

/// Formats the result of an example for the expectation file.
fn told(parsed: &Parsed, measured: &Measured) -> String {
    let mut out = format!("verdict: {}\n", serde_json::to_value(measured.verdict).unwrap().as_str().unwrap());
    list(&mut out, "reasons", &measured.reasons);
    list(&mut out, "cases", &measured.cases.iter().map(|case| shown(&case.case)).collect::<Vec<_>>());
    let facts = [
        parsed.announced.map(|count| format!("announced: {count}\n")),
        parsed.summary.map(|(total, failed)| format!("summary: {total}, {failed} of them failed\n")),
        parsed.running.as_ref().map(|case| format!("running: {case}\n")),
    ];
    facts.into_iter().flatten().for_each(|fact| out.push_str(&fact));
    list(&mut out, "faults", &parsed.faults);
    list(&mut out, "doubts", &parsed.doubts);
    list(&mut out, "notes", &parsed.notes);
    out
}

#[test]
fn every_file_gives_its_expected_result() {
    let examples = all();
    assert!(examples.len() > 80, "the corpus is not where it should be");
    for example in examples {
        let text = format!("{}---\n{}", example.header, told(&example.parsed(), &example.measured()));
        expect_file![format!("{}.expected", example.path.display())].assert_eq(&text);
    }
}

#[test]
fn named_and_detected_formats_agree() {
    for example in all() {
        let kind = example.path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        if !matches!(example.format, Format::Auto) || example.parsed().notes.last().is_none() {
            continue;
        }
        let mut found_out = example.parsed();
        assert_eq!(found_out.notes.pop(), Some(format!("read as {kind}")), "{:?}", example.path);
        assert_eq!(found_out, parse(&Format::named(&kind).unwrap(), &example.text), "{:?}", example.path);
    }
}
