//! What test frameworks print, in one form. One file per format; `form.rs` is the form.
//!
//! Reading never fails: a text that says nothing is a [`Parsed`] with doubts. [`measure`](measure::measure) puts several together into a verdict
//! that no exit code, no summary and no silence can talk into a PASS.

mod auto;
mod banner;
mod cargo;
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
mod tap;
mod text;
mod twister;
mod unity;
mod xml;
mod ztest;

use serde_json::{Map, Value};

pub use banner::faults;
pub use form::{Case, Flaky, Location, Parsed, Status};
pub use measure::{Measured, MeasuredCase, Verdict, Wanted, measure, measure_wanted};
pub use names::meant;
pub use patterns::{PatternTexts, Patterns};
pub use text::text;

/// A format of results.
#[derive(Clone, Debug)]
pub enum Format {
    /// Whatever it is.
    Auto,
    /// Unity's console.
    Unity,
    /// Test Anything Protocol.
    Tap,
    /// The kernel's dialect of it.
    Ktap,
    /// JUnit XML, whoever wrote it.
    Junit,
    /// GoogleTest's console.
    Gtest,
    /// CTest's console.
    Ctest,
    /// pytest's console.
    Pytest,
    /// What `cargo test` prints.
    Cargo,
    /// Zephyr Twister's `twister.json`.
    Twister,
    /// Zephyr's test console.
    Ztest,
    /// Robot Framework's `output.xml`.
    Robot,
    /// Free text.
    Patterns(Patterns),
}

/// The names of all formats, as a profile says them.
const NAMES: [&str; 13] = [
    "auto", "unity", "tap", "ktap", "junit", "gtest", "ctest", "pytest", "cargo", "twister", "ztest", "robot",
    "patterns",
];

impl Format {
    /// The format of a name; nothing named is `auto`. Of `patterns` there are none yet: see [`Format::configured`].
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

    /// The format of a profile: its name, and its `patterns` where it has some.
    ///
    /// # Errors
    ///
    /// Every problem, in sentences.
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
            (format, _) => Ok(format),
        }
    }

    /// Its name.
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

/// What a text says about tests.
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

/// What one start says: its results from `texts` (each of them read, and their cases put together), and faults also from `others`, which hold no
/// results: an emulator's own output, a log beside a report.
pub fn read(format: &Format, texts: &[&str], others: &[&str]) -> Parsed {
    let mut all = Parsed::default();
    for text in texts {
        all.add(parse(format, text));
    }
    if texts.is_empty() {
        all.doubts.push("there is nothing to read results from".to_owned());
    }
    for text in others {
        // An assertion that a report is about stands in the log as well; what matters here is what no case can explain.
        all.faults.extend(banner::certain(text));
    }
    all
}

/// The format that texts really have, and how many cases they report in it, where they report none in the one that they are said to have.
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
