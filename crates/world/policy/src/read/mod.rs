//! Policy files. All problems of a file are reported at once; a rule whose examples do not hold is one of them.
//!
//! The default policy is read like any other, without a base. A project's policy overrides the default: it may be
//! stricter in everything, and less strict only as far as the default's `loosen_to` permits.

mod rules;
mod table;

use std::sync::OnceLock;

pub(crate) use table::{Fields, FileParser, nearest};
pub use table::{Problem, Problems};

use crate::{
    Level, Policy,
    glob::{self, Globs},
    policy::{DefaultCase, LastWord, Limits},
};

/// The text of the built-in default policy.
const DEFAULT: &str = include_str!("../default.toml");

/// A limit by its name in the file.
type Limit = (&'static str, fn(&mut Limits) -> &mut u64);

/// The values to which a project may raise the limits of a patch.
const LIMITS_MAX: Limits = Limits { files: 1_000, lines: 50_000, bytes: 16 * 1024 * 1024 };

impl Policy {
    /// Returns the built-in default policy.
    pub fn builtin() -> &'static Policy {
        static BUILTIN: OnceLock<Policy> = OnceLock::new();
        // A test checks that it can be read. If it could not, nothing would be permitted.
        BUILTIN.get_or_init(|| Policy::read_default(DEFAULT, "default.toml").unwrap_or_else(|_| Policy::nothing()))
    }

    /// Returns the text of that policy, for people to read.
    pub fn builtin_text() -> &'static str {
        DEFAULT
    }

    /// Reads a policy that has no base.
    pub fn read_default(text: &str, file: &str) -> Result<Policy, Problems> {
        FileParser::of(text, file, |reading, fields| read(reading, fields, Policy::nothing(), true))
    }

    /// Returns this policy with a project's file applied to it.
    pub fn with_project(&self, text: &str, file: &str) -> Result<Policy, Problems> {
        FileParser::of(text, file, |reading, fields| read(reading, fields, self.clone(), false))
    }

    /// Returns a policy that permits nothing.
    pub(crate) fn nothing() -> Policy {
        let last_word =
            LastWord { level: Level::Deny, loosen_to: Level::Deny, reason: "nothing is permitted".to_owned() };
        Policy {
            otherwise: std::array::from_fn(|_| last_word.clone()),
            paths: Vec::new(),
            path_globs: Globs::default(),
            path_texts: Vec::new(),
            commands: Vec::new(),
            hosts: Vec::new(),
            limits: Limits { files: 0, lines: 0, bytes: 0 },
            allowed: Vec::new(),
            disposable: Globs::default(),
            disposable_texts: Vec::new(),
        }
    }
}

fn read<'t>(reading: &mut FileParser<'t>, mut fields: Fields<'_, 't>, mut policy: Policy, is_default: bool) -> Policy {
    match fields.whole("version", reading) {
        Some((1, _)) => {}
        Some((other, at)) => {
            reading.wrong(at, format!("version {other} is not known"), Some("this is version 1".to_owned()))
        }
        None => reading.wrong(0, "`version` is missing", Some("begin with `version = 1`".to_owned())),
    }
    if let Some(table) = fields.table("otherwise", reading) {
        otherwise(reading, table, &mut policy, is_default);
    }
    if let Some(table) = fields.table("limits", reading) {
        limits(reading, table, &mut policy, is_default);
    }
    if let Some(table) = fields.table("paths", reading) {
        paths(reading, table, &mut policy);
    }
    rules::read(reading, &mut fields, &mut policy, is_default);
    fields.finish(reading);
    policy
}

/// Parses a level from its word.
fn level(reading: &mut FileParser<'_>, word: &str, at: usize) -> Option<Level> {
    let level = Level::from_word(word);
    if level.is_none() {
        reading.wrong(at, format!("`{word}` is not a decision"), nearest(word, &["allow", "confirm", "deny"]));
    }
    level
}

fn otherwise<'t>(reading: &mut FileParser<'t>, mut table: Fields<'_, 't>, policy: &mut Policy, is_default: bool) {
    for (case, name) in DefaultCase::ALL {
        let Some(node) = table.get(name) else {
            if is_default {
                reading.wrong(table.at, format!("`{name}` is missing"), None);
            }
            continue;
        };
        let before = policy.last_word(case).clone();
        let Some(mut word) = last_word(reading, node, &before, is_default) else { continue };
        if !is_default && word.level < before.loosen_to {
            let message = format!(
                "`{name}` cannot be {}: the least that a project can choose is {}",
                word.level, before.loosen_to
            );
            reading.wrong(node.at, message, None);
            word.level = before.level;
        }
        policy.otherwise[case as usize] = word;
    }
    table.finish(reading);
}

/// Reads `"deny"`, or `{ decision, loosen_to, reason }`.
fn last_word<'t>(
    reading: &mut FileParser<'t>,
    node: table::Node<'_, 't>,
    before: &LastWord,
    is_default: bool,
) -> Option<LastWord> {
    if let Some(word) = node.as_str() {
        let level = level(reading, word, node.at)?;
        return Some(LastWord { level, loosen_to: before.loosen_to.min(level), reason: before.reason.clone() });
    }
    let Some(mut fields) = node.as_table() else {
        reading.wrong(node.at, format!("a decision must be a string or a table, not a {}", node.kind()), None);
        return None;
    };
    let said = fields.need("decision", reading).and_then(|word| level(reading, word, node.at));
    let loosen_to = match is_default {
        true => fields.text("loosen_to", reading).and_then(|word| level(reading, word, node.at)),
        false => None,
    };
    let reason = fields.text("reason", reading).unwrap_or(&before.reason).to_owned();
    fields.finish(reading);
    let level = said?;
    let loosen_to = if is_default { loosen_to.unwrap_or(level) } else { before.loosen_to };
    Some(LastWord { level, loosen_to, reason })
}

fn limits<'t>(reading: &mut FileParser<'t>, mut table: Fields<'_, 't>, policy: &mut Policy, is_default: bool) {
    let names: [Limit; 3] = [
        ("files", |limits| &mut limits.files),
        ("lines", |limits| &mut limits.lines),
        ("bytes", |limits| &mut limits.bytes),
    ];
    for (name, field) in names {
        let most = *field(&mut LIMITS_MAX.clone());
        match table.whole(name, reading) {
            Some((number, at)) if !is_default && number > most => {
                reading.wrong(at, format!("`{name}` cannot be more than {most}"), None);
            }
            Some((number, _)) => *field(&mut policy.limits) = number,
            None if is_default => reading.wrong(table.at, format!("`{name}` is missing"), None),
            None => {}
        }
    }
    table.finish(reading);
}

fn paths<'t>(reading: &mut FileParser<'t>, mut table: Fields<'_, 't>, policy: &mut Policy) {
    let allowed = globs(reading, &mut table, "allowed");
    if !allowed.is_empty() {
        policy.allowed.extend(Globs::new(allowed.iter().map(|glob| (0, glob.as_str()))));
    }
    let disposable = globs(reading, &mut table, "disposable");
    if let Some(outside) =
        disposable.iter().find(|glob| glob.starts_with(['/', '~']) || glob.contains("..") || glob.as_str() == "**")
    {
        let at = table.get("disposable").map_or(0, |node| node.at);
        reading.wrong(
            at,
            format!("`{outside}` is not inside the workspace"),
            Some("name directories in it, such as `out/`".to_owned()),
        );
    }
    policy.disposable_texts.extend(disposable);
    let texts = policy.disposable_texts.iter().map(|glob| (0, glob.as_str()));
    policy.disposable = Globs::new(texts).unwrap_or_default();
    table.finish(reading);
}

/// Reads a list of globs and reports the invalid ones.
fn globs<'t>(reading: &mut FileParser<'t>, table: &mut Fields<'_, 't>, name: &'static str) -> Vec<String> {
    let texts = table.texts(name, reading);
    let good = texts.into_iter().filter(|(text, at)| match glob::check(text) {
        Ok(()) => true,
        Err(why) => {
            reading.wrong(*at, format!("`{text}` is not a glob: {why}"), None);
            false
        }
    });
    good.map(|(text, _)| text.to_owned()).collect()
}
