//! Rules as they are written, and as they are used.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use regex::{Regex, RegexSet};
use serde::Deserialize;

/// The rules that come with the program.
const FILES: [&str; 6] = [
    include_str!("../../rules/classes.toml"),
    include_str!("../../rules/compilers.toml"),
    include_str!("../../rules/build.toml"),
    include_str!("../../rules/programs.toml"),
    include_str!("../../rules/firmware.toml"),
    include_str!("../../rules/tests.toml"),
];

/// Whose a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The code is wrong.
    Code,
    /// What the code is built or run with is.
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
pub(super) struct Class {
    name: String,
    pub(super) rank: u32,
    #[serde(default)]
    pub(super) survives_pass: bool,
    pub(super) fault: Fault,
    pub(super) means: String,
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
    /// What a line must not fit for `near` to look at it.
    #[serde(default)]
    near_unless: Option<String>,
    /// What the nearest line above that fits gives names too.
    #[serde(default)]
    above: Option<String>,
    /// Whether it counts only where what is near was found.
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
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) class: String,
    pub(super) pattern: Regex,
    pub(super) unless: Option<Regex>,
    pub(super) near: Option<Regex>,
    pub(super) near_lines: [i64; 2],
    pub(super) near_unless: Option<Regex>,
    pub(super) above: Option<Regex>,
    pub(super) needs_near: bool,
    pub(super) cause: String,
    pub(super) suggestion: String,
    pub(super) rank: u32,
    pub(super) example: String,
}

/// What is known of logs and failures. The rules that come with the program are read when they are first needed.
#[derive(Clone, Debug, Default)]
pub struct Rules(Option<Arc<Table>>);

/// Rules that were read.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rules: Vec<Rule>,
    /// All patterns at once: most lines fit none.
    pub(super) any: RegexSet,
    pub(super) pass: RegexSet,
    pub(super) fail: RegexSet,
    /// Lines that only name something.
    pub(super) skip: RegexSet,
    classes: BTreeMap<String, Class>,
}

/// The rules that come with the program. That they can be read is tested; were they not, no rule would apply and a person or a model
/// would be asked.
static BUILTIN: LazyLock<Table> = LazyLock::new(|| {
    Table::read(FILES).unwrap_or_else(|_| Table {
        rules: Vec::new(),
        any: RegexSet::empty(),
        pass: RegexSet::empty(),
        fail: RegexSet::empty(),
        skip: RegexSet::empty(),
        classes: BTreeMap::new(),
    })
});

impl Rules {
    /// Rules from files. An error says which rule is wrong and how.
    pub fn read<'t>(files: impl IntoIterator<Item = &'t str>) -> Result<Self, String> {
        Table::read(files).map(|table| Rules(Some(Arc::new(table))))
    }

    /// Whose a failure of this class is.
    pub fn fault(&self, class: &str) -> Option<Fault> {
        self.table().class(class).map(|class| class.fault)
    }

    pub(super) fn table(&self) -> &Table {
        match &self.0 {
            Some(table) => table,
            None => &BUILTIN,
        }
    }
}

impl Table {
    fn read<'t>(files: impl IntoIterator<Item = &'t str>) -> Result<Self, String> {
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
        let set = |patterns: Vec<String>| RegexSet::new(patterns).map_err(|error| error.to_string());
        Ok(Table {
            any: set(rules.iter().map(|rule| rule.pattern.as_str().to_owned()).collect())?,
            pass: set(all.pass.into_iter().map(|row| row.pattern).collect())?,
            fail: set(all.fail.into_iter().map(|row| row.pattern).collect())?,
            skip: set(all.skip.into_iter().map(|row| row.pattern).collect())?,
            rules,
            classes,
        })
    }

    pub(super) fn class(&self, name: &str) -> Option<&Class> {
        self.classes.get(name)
    }
}

impl Rule {
    fn new(row: Row, classes: &BTreeMap<String, Class>) -> Result<Self, String> {
        let regex = |text: &str| Regex::new(text).map_err(|error| format!("rule {}: {error}", row.id));
        let class = classes.get(&row.class).ok_or_else(|| format!("rule {}: no class {}", row.id, row.class))?;
        let rule = Rule {
            pattern: regex(&row.pattern)?,
            unless: row.unless.as_deref().map(regex).transpose()?,
            near: row.near.as_deref().map(regex).transpose()?,
            near_lines: row.near_lines,
            near_unless: row.near_unless.as_deref().map(regex).transpose()?,
            above: row.above.as_deref().map(regex).transpose()?,
            needs_near: row.needs_near,
            rank: row.rank.unwrap_or(class.rank),
            id: row.id,
            class: row.class,
            cause: row.cause,
            suggestion: row.suggestion,
            example: row.example,
        };
        match rule.fits(&rule.example) {
            true => Ok(rule),
            false => Err(format!("rule {}: its example does not fit its pattern", rule.id)),
        }
    }

    /// Whether a line fits.
    pub(super) fn fits(&self, line: &str) -> bool {
        self.pattern.is_match(line) && !self.unless.as_ref().is_some_and(|unless| unless.is_match(line))
    }
}
