//! The table of weights: a readable file that can be changed per project and per machine.

use std::{collections::BTreeMap, sync::OnceLock};

use crate::{
    Problems,
    glob::{self, Globs},
    read::{Fields, FileParser},
};

const DEFAULT: &str = include_str!("risk.toml");

/// The names of all factors.
pub(super) const FACTORS: [&str; 9] = [
    "size",
    "files",
    "sensitive_paths",
    "dangerous_calls",
    "tests_deleted",
    "tests_weakened",
    "boot_files",
    "no_evidence",
    "binary_files",
];

/// The file extensions to which each list of calls applies.
const ENDINGS: [(&str, &[&str]); 7] = [
    ("c", &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "ino"]),
    ("rs", &["rs"]),
    ("py", &["py", "pyi"]),
    ("js", &["js", "ts", "jsx", "tsx", "mjs", "cjs"]),
    ("go", &["go"]),
    ("java", &["java", "kt", "scala"]),
    ("sh", &["sh", "bash", "mk", "yml", "yaml"]),
];

/// The weights and lists that a score is based on.
#[derive(Clone, Debug)]
pub struct Table {
    weights: BTreeMap<&'static str, f64>,
    pub(super) lines_full: f64,
    pub(super) files_full: f64,
    sensitive: Globs,
    boot: Globs,
    tests: Globs,
    calls: BTreeMap<&'static str, Vec<String>>,
}

impl Table {
    /// Returns the built-in default table.
    pub fn builtin() -> &'static Table {
        static BUILTIN: OnceLock<Table> = OnceLock::new();
        // A test checks that it can be read. If it could not, every patch would have the maximum risk.
        BUILTIN.get_or_init(|| Table::empty().read(DEFAULT, "risk.toml", None, true).unwrap_or_else(|_| Table::empty()))
    }

    /// Returns the text of that table, for people to read.
    pub fn builtin_text() -> &'static str {
        DEFAULT
    }

    /// Returns this table with a project's changes, including those for one machine if it is given.
    pub fn with_project(&self, text: &str, file: &str, machine: Option<&str>) -> Result<Table, Problems> {
        self.clone().read(text, file, machine, false)
    }

    fn empty() -> Table {
        Table {
            weights: FACTORS.map(|name| (name, 1.0)).into(),
            lines_full: 1.0,
            files_full: 1.0,
            sensitive: Globs::default(),
            boot: Globs::default(),
            tests: Globs::default(),
            calls: BTreeMap::new(),
        }
    }

    pub(super) fn weight(&self, name: &str) -> f64 {
        self.weights.get(name).copied().unwrap_or(1.0)
    }

    pub(super) fn is_sensitive(&self, path: &str) -> bool {
        matches(&self.sensitive, path)
    }

    pub(super) fn is_boot(&self, path: &str) -> bool {
        matches(&self.boot, path)
    }

    /// Reports if a file contains tests, by its name.
    pub fn is_test(&self, path: &str) -> bool {
        matches(&self.tests, path)
    }

    /// Returns the dangerous calls for a file.
    pub(super) fn calls(&self, path: &str) -> impl Iterator<Item = &str> {
        let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let name = path.rsplit('/').next().unwrap_or(path);
        let list = ENDINGS.iter().find(|(_, endings)| endings.contains(&ending.as_str())).map(|(list, _)| *list);
        let list = list.or(matches!(name, "Makefile" | "Dockerfile" | "configure").then_some("sh"));
        let own = list.and_then(|list| self.calls.get(list));
        own.into_iter().chain(self.calls.get("any")).flatten().map(String::as_str)
    }

    fn read(mut self, text: &str, file: &str, machine: Option<&str>, is_default: bool) -> Result<Table, Problems> {
        FileParser::of(text, file, |reading, mut fields| {
            match fields.whole("version", reading) {
                Some((1, _)) => {}
                Some((other, at)) => {
                    reading.wrong(at, format!("version {other} is not known"), Some("this is version 1".to_owned()))
                }
                None => reading.wrong(0, "`version` is missing", Some("begin with `version = 1`".to_owned())),
            }
            self.section(reading, &mut fields);
            let machines = if is_default { None } else { fields.table("machine", reading) };
            for (name, node) in machines.iter().flat_map(Fields::all) {
                // The sections of other machines are read too, so that their problems are reported.
                let mut other = self.clone();
                let table = if Some(name) == machine { &mut self } else { &mut other };
                match node.as_table() {
                    Some(mut fields) => {
                        table.section(reading, &mut fields);
                        fields.finish(reading);
                    }
                    None => reading.wrong(node.at, format!("`machine.{name}` must be a table"), None),
                }
            }
            fields.finish(reading);
            self
        })
    }

    fn section<'t>(&mut self, reading: &mut FileParser<'t>, fields: &mut Fields<'_, 't>) {
        if let Some(mut table) = fields.table("weights", reading) {
            for name in FACTORS {
                match table.number(name, reading) {
                    Some((weight, at)) if !(0.0..=1.0).contains(&weight) => {
                        reading.wrong(at, format!("`{name}` must be between 0 and 1"), None)
                    }
                    Some((weight, _)) => drop(self.weights.insert(name, weight)),
                    None => {}
                }
            }
            table.finish(reading);
        }
        if let Some(mut table) = fields.table("full", reading) {
            for (name, field) in [("lines", &mut self.lines_full), ("files", &mut self.files_full)] {
                match table.whole(name, reading) {
                    Some((0, at)) => reading.wrong(at, format!("`{name}` must be at least 1"), None),
                    Some((most, _)) => *field = most as f64,
                    None => {}
                }
            }
            table.finish(reading);
        }
        self.lists(reading, fields);
    }

    fn lists<'t>(&mut self, reading: &mut FileParser<'t>, fields: &mut Fields<'_, 't>) {
        if let Some(mut table) = fields.table("paths", reading) {
            for (name, globs) in
                [("sensitive", &mut self.sensitive), ("boot", &mut self.boot), ("tests", &mut self.tests)]
            {
                if table.get(name).is_none() {
                    continue;
                }
                let texts = table.texts(name, reading);
                for (text, at) in &texts {
                    if let Err(why) = glob::check(text) {
                        reading.wrong(*at, format!("`{text}` is not a glob: {why}"), None);
                    }
                }
                *globs = Globs::new(texts.iter().map(|(text, _)| (0, *text))).unwrap_or_default();
            }
            table.finish(reading);
        }
        if let Some(mut table) = fields.table("calls", reading) {
            for name in ENDINGS.iter().map(|(name, _)| *name).chain(["any"]) {
                if table.get(name).is_some() {
                    let calls = table.texts(name, reading).into_iter().map(|(text, _)| text.to_owned()).collect();
                    self.calls.insert(name, calls);
                }
            }
            table.finish(reading);
        }
    }
}

fn matches(globs: &Globs, path: &str) -> bool {
    let mut found = Vec::new();
    globs.matching(path, &mut found);
    !found.is_empty()
}
