//! A machine's definition as it is stored: every file of its directory, so that a run keeps them however the directory
//! changes.

use std::collections::BTreeMap;

use interlock_chart::{Chart, library::Source, yaml};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The files of a machine, identified by the hash of its chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The hash of the chart.
    pub hash: String,
    /// The id of the machine.
    pub machine: String,
    /// The version number that its author gave it.
    pub version: u32,
    /// The text of `machine.yaml`.
    pub text: String,
    /// The other files of the machine, by path.
    pub files: Vec<(String, Vec<u8>)>,
}

#[derive(Serialize, Deserialize)]
struct Form {
    text: String,
    files: BTreeMap<String, Vec<u8>>,
}

/// The compression level of definitions: high, because they are written once and read often.
const LEVEL: i32 = 9;

impl Definition {
    /// Makes the definition of a machine that was read without errors.
    pub fn new(source: &Source, chart: &Chart) -> Self {
        Definition {
            hash: chart.hash.clone(),
            machine: chart.id.clone(),
            version: chart.version,
            text: source.text.clone(),
            files: source.files.clone(),
        }
    }

    /// Reads the chart from the stored files.
    pub fn chart(&self) -> Result<Chart> {
        match yaml::read_again(&self.text, &self.files) {
            Some(chart) if chart.hash == self.hash => Ok(chart),
            Some(chart) => Err(self.damaged(format!("it now has the hash {}", chart.hash))),
            None => Err(self.damaged("it can no longer be read".into())),
        }
    }

    fn damaged(&self, why: String) -> Error {
        Error::Damaged { what: format!("the definition {} of {}", self.hash, self.machine), why }
    }

    /// Returns one of its other files, such as `prompts/plan.md`.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.iter().find(|(path, _)| path == name).map(|(_, content)| content.as_slice())
    }

    /// Returns the stored form: compressed JSON.
    pub fn pack(&self) -> Result<Vec<u8>> {
        let form = Form { text: self.text.clone(), files: self.files.iter().cloned().collect() };
        let json = serde_json::to_vec(&form).map_err(|error| self.damaged(error.to_string()))?;
        zstd::encode_all(json.as_slice(), LEVEL).map_err(|error| Error::io("compressing a definition", &error))
    }

    /// Reads the stored form.
    pub fn unpack(hash: &str, machine: String, version: u32, packed: &[u8]) -> Result<Self> {
        let damaged = |why: String| Error::Damaged { what: format!("the definition {hash}"), why };
        let json = zstd::decode_all(packed).map_err(|error| damaged(error.to_string()))?;
        let form: Form = serde_json::from_slice(&json).map_err(|error| damaged(error.to_string()))?;
        let files = form.files.into_iter().collect();
        Ok(Definition { hash: hash.to_owned(), machine, version, text: form.text, files })
    }
}
