//! Parsers for the output of test frameworks, one file per format; `form.rs` defines the common form.
//!
//! Parsing never fails: a text without results is a [`Parsed`] with doubts. [`measure`](measure::measure) combines
//! several into a verdict; no exit code, summary or missing output alone can turn it into a PASS.

mod auto;
mod banner;
mod cargo;
mod census;
mod ctest;
mod form;
mod gtest;
mod junit;
mod lines;
mod measure;
mod names;
mod patterns;
mod pytest;
mod reading;
mod robot;
mod run;
mod tap;
mod text;
mod twister;
mod unity;
mod xml;
mod ztest;

use serde_json::{Map, Value};

pub use banner::faults;
pub use census::Census;
pub use form::{CaseResult, Flaky, Location, Parsed, Status};
pub use measure::{Measured, MeasuredCase, Verdict, Wanted, measure, measure_wanted};
pub use names::meant;
pub use patterns::{PatternTexts, Patterns};
pub use run::{Fault, Limit, Ran, Start, Stop, file_name};
pub use text::{text, utf_16_without_mark};

/// A format of test results.
#[derive(Clone, Debug)]
pub enum Format {
    /// Detects the format from the text.
    Auto,
    /// The console output of Unity.
    Unity,
    /// The Test Anything Protocol.
    Tap,
    /// The Linux kernel's dialect of TAP.
    Ktap,
    /// JUnit XML of any producer.
    Junit,
    /// The console output of GoogleTest.
    Gtest,
    /// The console output of CTest.
    Ctest,
    /// The console output of pytest.
    Pytest,
    /// The console output of `cargo test`.
    Cargo,
    /// The file `twister.json` of Zephyr Twister.
    Twister,
    /// The console output of Zephyr's test framework.
    Ztest,
    /// The file `output.xml` of Robot Framework.
    Robot,
    /// Free text, parsed with the user's patterns.
    Patterns(Patterns),
}

/// The names of all formats as profiles use them.
const NAMES: [&str; 13] = [
    "auto", "unity", "tap", "ktap", "junit", "gtest", "ctest", "pytest", "cargo", "twister", "ztest", "robot",
    "patterns",
];

impl Format {
    /// Returns the format of a name; an empty name is `auto`. The format `patterns` has no patterns yet: see
    /// [`Format::configured`].
    pub fn named(name: &str) -> Option<Format> {
        Some(match name {
            "" | "auto" => Format::Auto,
            "unity" => Format::Unity,
            "tap" => Format::Tap,
            "ktap" => Format::Ktap,
            "junit" => Format::Junit,
            "gtest" => Format::Gtest,
            "ctest" => Format::Ctest,
            "pytest" => Format::Pytest,
            "cargo" => Format::Cargo,
            "twister" => Format::Twister,
            "ztest" => Format::Ztest,
            "robot" => Format::Robot,
            "patterns" => Format::Patterns(Patterns::default()),
            _ => return None,
        })
    }

    /// Returns the format of a profile: its name and, if there are any, its `patterns`.
    ///
    /// # Errors
    ///
    /// Returns every problem as a sentence.
    pub fn configured(name: &str, config: &Map<String, Value>) -> Result<Format, Vec<String>> {
        let unknown = || vec![format!("there is no result format `{name}`; there are {}", NAMES.join(", "))];
        let format = Format::named(name).ok_or_else(unknown)?;
        match (format, config.get("patterns")) {
            (Format::Patterns(_), None) => {
                Err(vec!["the format `patterns` needs `patterns` in the configuration".to_owned()])
            }
            (Format::Patterns(_), Some(texts)) => {
                let texts: PatternTexts =
                    serde_json::from_value(texts.clone()).map_err(|error| vec![format!("patterns: {error}")])?;
                Patterns::new(&texts).map(Format::Patterns)
            }
            (format, Some(texts)) if !texts.is_null() => Err(vec![format!(
                "`config.patterns` are read with the format `patterns`, and this is `{}`",
                format.name()
            )]),
            (format, _) => Ok(format),
        }
    }

    /// Returns the name of the format.
    pub fn name(&self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Unity => "unity",
            Format::Tap => "tap",
            Format::Ktap => "ktap",
            Format::Junit => "junit",
            Format::Gtest => "gtest",
            Format::Ctest => "ctest",
            Format::Pytest => "pytest",
            Format::Cargo => "cargo",
            Format::Twister => "twister",
            Format::Ztest => "ztest",
            Format::Robot => "robot",
            Format::Patterns(_) => "patterns",
        }
    }
}

/// Parses the test results of a text.
pub fn parse(format: &Format, text: &str) -> Parsed {
    match format {
        Format::Auto => found_out(text),
        Format::Unity => unity::parse(text),
        Format::Tap => tap::parse(text, false),
        Format::Ktap => tap::parse(text, true),
        Format::Junit => junit::parse(text),
        Format::Gtest => gtest::parse(text),
        Format::Ctest => ctest::parse(text),
        Format::Pytest => pytest::parse(text),
        Format::Cargo => cargo::parse(text),
        Format::Twister => twister::parse(text),
        Format::Ztest => ztest::parse(text),
        Format::Robot => robot::parse(text),
        Format::Patterns(patterns) => patterns.parse(text),
    }
}

/// Parses the output of one start: results from `texts` (all of them, with their cases combined), and only faults
/// from `others`, which contain no results, such as an emulator's log or a log beside a report.
pub fn read(format: &Format, texts: &[&str], others: &[&str]) -> Parsed {
    let mut all = Parsed::default();
    for text in texts {
        all.add(parse(format, text));
    }
    if texts.is_empty() {
        all.doubts.push("there is nothing to read results from".to_owned());
    }
    for text in others {
        // The log repeats assertions that belong to a reported case; only faults that no case can explain matter
        // here.
        all.faults.extend(banner::certain(text));
    }
    all
}

/// Returns the format that the texts really have, with the number of cases, if the stated format yields no case.
pub fn really(format: &Format, texts: &[&str]) -> Option<(Format, usize)> {
    let cases = |format: &Format| texts.iter().map(|text| parse(format, text).cases.len()).sum();
    if matches!(format, Format::Auto) || cases(format) > 0 {
        return None;
    }
    let format = texts.iter().find_map(|text| auto::format(text))?;
    let count = cases(&format);
    (count > 0).then_some((format, count))
}

fn found_out(text: &str) -> Parsed {
    match auto::format(text) {
        Some(format) => {
            let mut parsed = parse(&format, text);
            parsed.notes.push(format!("read as {}", format.name()));
            parsed
        }
        None => Parsed {
            faults: faults(text),
            doubts: vec!["no format of results that is known".to_owned(), "not one case is reported".to_owned()],
            ..Parsed::default()
        },
    }
}
