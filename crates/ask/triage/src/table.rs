//! The rules as they are written in TOML, and their compiled form.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, OnceLock},
};

use regex::{
    Captures, Regex,
    bytes::{RegexSet, RegexSetBuilder},
};
use serde::Deserialize;

/// The built-in rule files.
const FILES: [&str; 6] = [
    include_str!("../rules/classes.toml"),
    include_str!("../rules/compilers.toml"),
    include_str!("../rules/build.toml"),
    include_str!("../rules/programs.toml"),
    include_str!("../rules/firmware.toml"),
    include_str!("../rules/tests.toml"),
];

/// The part that is responsible for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The code under test is wrong.
    Code,
    /// The tools or the environment that build or run the code are wrong.
    Environment,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    class: Vec<Class>,
    #[serde(default)]
    rule: Vec<Row>,
    #[serde(default)]
    pass: Vec<Summary>,
    #[serde(default)]
    fail: Vec<Summary>,
    #[serde(default)]
    skip: Vec<Summary>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    name: String,
    pub(crate) rank: u32,
    #[serde(default)]
    pub(crate) survives_pass: bool,
    pub(crate) fault: Fault,
    pub(crate) means: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    class: String,
    pattern: String,
    cause: String,
    suggestion: String,
    #[serde(default)]
    unless: Option<String>,
    #[serde(default)]
    near: Option<String>,
    #[serde(default)]
    near_lines: [i64; 2],
    /// Lines that match this pattern are skipped by `near`.
    #[serde(default)]
    near_unless: Option<String>,
    /// A pattern for the lines above; the nearest match provides further names.
    #[serde(default)]
    above: Option<String>,
    /// Lines that match this pattern are skipped by `above`.
    #[serde(default)]
    above_unless: Option<String>,
    /// True if the rule applies only when `near` matches.
    #[serde(default)]
    needs_near: bool,
    #[serde(default)]
    rank: Option<u32>,
    example: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Summary {
    pattern: String,
}

/// A rule, ready to be used.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) class: String,
    pub(crate) pattern: Pattern,
    pub(crate) unless: Option<Pattern>,
    pub(crate) near: Option<Pattern>,
    pub(crate) near_lines: [i64; 2],
    pub(crate) near_unless: Option<Pattern>,
    pub(crate) above: Option<Pattern>,
    pub(crate) above_unless: Option<Pattern>,
    pub(crate) needs_near: bool,
    pub(crate) cause: String,
    pub(crate) suggestion: String,
    pub(crate) rank: u32,
    pub(crate) example: String,
}

/// A pattern that is compiled when a line first needs it: compiling all of the hundreds would take longer than scanning
/// most logs, which need only a few.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: String,
    ready: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn new(text: String) -> Self {
        Pattern { text, ready: OnceLock::new() }
    }

    /// Returns the compiled pattern; `None` if it is invalid, which [`Rule::check`] reports.
    fn regex(&self) -> Option<&Regex> {
        self.ready.get_or_init(|| Regex::new(&self.text).ok()).as_ref()
    }

    pub(crate) fn is_match(&self, line: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(line))
    }

    pub(crate) fn captures<'l>(&self, line: &'l str) -> Option<Captures<'l>> {
        self.regex()?.captures(line)
    }

    /// Returns the names of its capture groups.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.regex().into_iter().flat_map(|regex| regex.capture_names().flatten())
    }
}

/// The rules for logs and failures. The built-in rules are read when they are first needed.
#[derive(Clone, Debug, Default)]
pub struct Rules(Option<Arc<Table>>);

/// Rules that have been read and indexed.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) rules: Vec<Rule>,
    /// All patterns as one set, because most lines match none.
    pub(crate) any: RegexSet,
    pub(crate) pass: RegexSet,
    pub(crate) fail: RegexSet,
    /// Lines that only mention a name and are never findings.
    pub(crate) skip: RegexSet,
    classes: BTreeMap<String, Class>,
}

/// The built-in rules. A test checks that they can be read. If they could not, no rule would apply and a person or a
/// model would be asked.
static BUILTIN: LazyLock<Table> = LazyLock::new(|| {
    Table::unchecked(FILES).unwrap_or_else(|_| Table {
        rules: Vec::new(),
        any: RegexSet::empty(),
        pass: RegexSet::empty(),
        fail: RegexSet::empty(),
        skip: RegexSet::empty(),
        classes: BTreeMap::new(),
    })
});

impl Rules {
    /// Reads rules from files. An error names the invalid rule and the cause.
    pub fn read<'t>(files: impl IntoIterator<Item = &'t str>) -> Result<Self, String> {
        Table::read(files).map(|table| Rules(Some(Arc::new(table))))
    }

    /// Returns the part that is responsible for failures of this class.
    pub fn fault(&self, class: &str) -> Option<Fault> {
        self.table().class(class).map(|class| class.fault)
    }

    /// Returns the meaning of a class in words.
    pub fn meaning(&self, class: &str) -> Option<&str> {
        self.table().class(class).map(|class| class.means.as_str())
    }

    /// Returns true if findings of this class count although the test runner reports success.
    pub fn survives_pass(&self, class: &str) -> bool {
        self.table().class(class).is_some_and(|class| class.survives_pass)
    }

    pub(crate) fn table(&self) -> &Table {
        match &self.0 {
            Some(table) => table,
            None => &BUILTIN,
        }
    }
}

impl Table {
    fn read<'t>(files: impl IntoIterator<Item = &'t str>) -> Result<Self, String> {
        let table = Self::unchecked(files)?;
        table.rules.iter().try_for_each(Rule::check)?;
        Ok(table)
    }

    fn unchecked<'t>(files: impl IntoIterator<Item = &'t str>) -> Result<Self, String> {
        let mut all = File::default();
        for text in files {
            let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
            all.class.extend(file.class);
            all.rule.extend(file.rule);
            all.pass.extend(file.pass);
            all.fail.extend(file.fail);
            all.skip.extend(file.skip);
        }
        let classes: BTreeMap<String, Class> = all.class.into_iter().map(|class| (class.name.clone(), class)).collect();
        let rules = all.rule.into_iter().map(|row| Rule::new(row, &classes)).collect::<Result<Vec<_>, _>>()?;
        let set = |patterns: Vec<String>| set(&patterns).map_err(|error| error.to_string());
        Ok(Table {
            any: set(rules.iter().map(|rule| rule.pattern.text.clone()).collect())?,
            pass: set(all.pass.into_iter().map(|row| row.pattern).collect())?,
            fail: set(all.fail.into_iter().map(|row| row.pattern).collect())?,
            skip: set(all.skip.into_iter().map(|row| row.pattern).collect())?,
            rules,
            classes,
        })
    }

    pub(crate) fn class(&self, name: &str) -> Option<&Class> {
        self.classes.get(name)
    }
}

/// Compiles many patterns into one set. Unicode is disabled for patterns that are pure ASCII, because that compiles
/// many times faster; every match is verified again by its own pattern.
fn set(patterns: &[String]) -> Result<RegexSet, regex::Error> {
    let named = |pattern: &String| if pattern.is_ascii() { pattern.clone() } else { format!("(?u){pattern}") };
    let quick = RegexSetBuilder::new(patterns.iter().map(named)).unicode(false).build();
    quick.or_else(|_| RegexSet::new(patterns))
}

impl Rule {
    fn new(row: Row, classes: &BTreeMap<String, Class>) -> Result<Self, String> {
        let class = classes.get(&row.class).ok_or_else(|| format!("rule {}: no class {}", row.id, row.class))?;
        Ok(Rule {
            pattern: Pattern::new(row.pattern),
            unless: row.unless.map(Pattern::new),
            near: row.near.map(Pattern::new),
            near_lines: row.near_lines,
            near_unless: row.near_unless.map(Pattern::new),
            above: row.above.map(Pattern::new),
            above_unless: row.above_unless.map(Pattern::new),
            needs_near: row.needs_near,
            rank: row.rank.unwrap_or(class.rank),
            id: row.id,
            class: row.class,
            cause: row.cause,
            suggestion: row.suggestion,
            example: row.example,
        })
    }

    /// Checks that the patterns are valid and that the example matches.
    fn check(&self) -> Result<(), String> {
        let further = [&self.unless, &self.near, &self.near_unless, &self.above, &self.above_unless];
        for pattern in further.into_iter().flatten().chain([&self.pattern]) {
            Regex::new(&pattern.text).map_err(|error| format!("rule {}: {error}", self.id))?;
        }
        match self.fits(&self.example) {
            true => Ok(()),
            false => Err(format!("rule {}: its example does not match its pattern", self.id)),
        }
    }

    /// Reports if a line matches the rule.
    pub(crate) fn fits(&self, line: &str) -> bool {
        self.pattern.is_match(line) && !self.unless.as_ref().is_some_and(|unless| unless.is_match(line))
    }
}
