//! The expectations of a case: the JSON file next to an SCXML document.

use std::path::{Path, PathBuf};

use interlock_chart::Value;
use serde::Deserialize;

/// The name of the final state that means success.
pub(crate) const PASS: &str = "pass";

/// One case: a document and its expected behaviour.
#[derive(Clone, Debug)]
pub struct ConformanceCase {
    /// The path below the suite's directory, without extension and with `/` as separator.
    pub name: String,
    /// The path of the SCXML document.
    pub scxml: PathBuf,
    /// The expected behaviour of the engine.
    pub expectation: Expectation,
    /// The expected behaviour of engines with other semantics, if the case names it (`legacySemantics`). If only this
    /// one is met, the case has neither passed nor failed.
    pub otherwise: Option<Expectation>,
}

/// The expected behaviour of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// It ends in a final state called `pass`, by itself.
    Pass,
    /// It goes through these configurations.
    Configurations {
        /// The initial configuration, if the case names one.
        initial: Option<Vec<String>>,
        /// The events, each with the expected configuration.
        steps: Vec<Step>,
    },
}

/// One event and the configuration that must follow it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The wait before it, in milliseconds of virtual time.
    #[serde(default)]
    pub after: u64,
    /// The event to send.
    pub event: SentEvent,
    /// The active atomic states afterwards, in any order.
    pub next_configuration: Vec<String>,
}

/// An event that the case sends to the machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SentEvent {
    /// The name of the event.
    pub name: String,
    /// The data that the event carries.
    #[serde(default = "Value::empty")]
    pub data: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    initial_configuration: Option<Vec<String>>,
    #[serde(default)]
    events: Vec<Step>,
    legacy_semantics: Option<Box<Written>>,
}

impl ConformanceCase {
    /// Returns true if the only expectation is that it ends in a final state called `pass`.
    pub fn expects_pass(&self) -> bool {
        match &self.expectation {
            Expectation::Pass => true,
            Expectation::Configurations { initial, steps } => {
                steps.is_empty() && initial.as_deref().is_some_and(|initial| initial == [PASS])
            }
        }
    }

    /// Reads the case of a document. An `Err` states why the JSON cannot be understood.
    pub fn beside(name: String, scxml: PathBuf) -> Result<Self, String> {
        let (expectation, otherwise) = read(&scxml.with_extension("json"))?;
        Ok(ConformanceCase { name, scxml, expectation, otherwise })
    }
}

fn read(json: &Path) -> Result<(Expectation, Option<Expectation>), String> {
    match std::fs::read_to_string(json) {
        Ok(text) => {
            let written: Written =
                serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file_name(json)))?;
            let otherwise = written.legacy_semantics.map(|written| Expectation::from(*written));
            Ok((Expectation::new(written.initial_configuration, written.events), otherwise))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok((Expectation::Pass, None)),
        Err(error) => Err(format!("{}: {error}", file_name(json))),
    }
}

impl Expectation {
    /// Parses a case's JSON. A case without expectations expects `pass`.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Written>(text).map(Self::from)
    }

    fn new(initial: Option<Vec<String>>, steps: Vec<Step>) -> Self {
        match (initial, steps) {
            (None, steps) if steps.is_empty() => Expectation::Pass,
            (initial, steps) => Expectation::Configurations { initial, steps },
        }
    }
}

impl From<Written> for Expectation {
    fn from(written: Written) -> Self {
        Expectation::new(written.initial_configuration, written.events)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_without_expectations_expects_pass() {
        assert_eq!(Expectation::parse("{}").unwrap(), Expectation::Pass);
        assert_eq!(Expectation::parse(r#"{"events": []}"#).unwrap(), Expectation::Pass);
    }

    #[test]
    fn delays_and_data_are_read() {
        let text = r#"{"initialConfiguration": ["a"],
            "events": [{"after": 5, "event": {"name": "t", "data": {"x": 1}}, "nextConfiguration": ["b", "c"]}]}"#;
        let Expectation::Configurations { initial, steps } = Expectation::parse(text).unwrap() else {
            panic!("no configurations");
        };
        assert_eq!(initial, Some(vec!["a".to_owned()]));
        let event = SentEvent { name: "t".to_owned(), data: Value::map([("x", Value::Int(1))]) };
        assert_eq!(steps, [Step { after: 5, event, next_configuration: vec!["b".to_owned(), "c".to_owned()] }]);
    }

    #[test]
    fn json_that_is_not_a_case_is_refused() {
        for text in ["", "[]", r#"{"events": [{"event": "t"}]}"#, r#"{"initialConfiguration": "a"}"#] {
            assert!(Expectation::parse(text).is_err(), "{text}");
        }
    }
}
