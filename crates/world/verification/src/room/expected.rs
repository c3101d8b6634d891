//! Shows that the cases compare something: the tests get other expected values, and their cases must turn red.
//!
//! The other measurements break the sources. A source can also end the program with the line of a passing case, give its
//! results an equality of their own, or replace what compares. Then a case passes whatever is expected. So the literals
//! that say what is right get other values, in the tests of the base tree with the base sources and in those of the new tree
//! with the new ones. A case that fails with other values on the base tree and passes with them on the new one compares
//! nothing any more. A case that failed before the change has only the new tree: none of its asserted values may be free.

use std::{collections::BTreeSet, ops::Range, path::Path, sync::LazyLock};

use interlock_activity::Outcome;
use interlock_codemap::{Expectation, ItemKind, expectations};
use interlock_test_results::Status;
use regex::Regex;

use super::{
    Visit,
    breaking::is_shell,
    kinds::{self, Part},
    listed,
    tree::Trees,
    uses::{Uses, items_of},
    verdict::Measured,
};

/// The longest text that gets other values.
const TEXT_MAX: usize = 1024 * 1024;

/// The tests of a tree with other expected values.
struct OtherValues {
    /// The paths and the new texts.
    texts: Vec<(String, String)>,
    /// The names of the cases in which an assertion has another value; an empty name for an assertion outside of all.
    asserted: BTreeSet<String>,
}

impl Visit<'_, '_> {
    /// Objects to cases that pass whatever is expected.
    pub(super) async fn look_at_expectations(
        &mut self,
        base: Option<&Measured>,
        now: &Measured,
    ) -> Result<(), Outcome> {
        let uses = self.uses.clone();
        let is_run = |measured: Option<&Measured>, path: &str| measured.is_none_or(|run| run.has_read(path));
        let new = OtherValues::of(&self.trees.new, &uses, |path| is_run(Some(now), path));
        let green_base = base.filter(|base| base.is_green());
        let old = green_base.map(|base| OtherValues::of(&self.trees.base, &uses, |path| is_run(Some(base), path)));
        if new.texts.is_empty() && old.as_ref().is_none_or(|old| old.texts.is_empty()) {
            return Ok(());
        }
        self.say("the tests get other expected values, to see whether their cases compare something");
        // Tests that have lost all their values are not run again.
        let other_now = match new.texts.is_empty() {
            true => now.clone(),
            false => {
                let key = [self.question.base.clone(), self.question.tree.clone()];
                let tree = self.trees.new.clone();
                self.run_with("other values", &key, &tree, &new.texts).await?
            }
        };
        self.facts["other_values"] = other_now.to_json();
        if other_now.fault.is_some() {
            return Ok(());
        }
        let mut free = free_of_values(base, now, &other_now, &new.asserted);
        if let Some((base, old)) = green_base.zip(old).filter(|(_, old)| !old.texts.is_empty()) {
            let tree = self.trees.base.clone();
            let key = [self.question.base.clone()];
            let other_before = self.run_with("other values before", &key, &tree, &old.texts).await?;
            self.facts["other_values_before"] = other_before.to_json();
            free.extend(freed(base, &other_before, now, &other_now));
        }
        if free.is_empty() {
            return Ok(());
        }
        free.sort();
        free.dedup();
        let hash = Trees::hash(self.trees.changed.iter());
        let text = format!("these cases pass whatever values are expected: {}", listed(&free));
        self.object(text, &hash);
        Ok(())
    }
}

impl OtherValues {
    fn of(tree: &Path, uses: &Uses, is_run: impl Fn(&str) -> bool) -> Self {
        let mut others = OtherValues { texts: Vec::new(), asserted: BTreeSet::new() };
        let contents = Trees::contents(tree).filter(|(path, text)| text.len() <= TEXT_MAX && is_run(path));
        let contents = contents.filter_map(|(path, text)| {
            let part = kinds::part(&path, &text);
            Some((path, part, String::from_utf8(text).ok()?))
        });
        for (path, part, text) in contents {
            let found = match part {
                Part::Test => all(&path, &text),
                Part::Source if uses.is_check(&path) => all(&path, &text),
                Part::Source => inside(&path, &text),
                // The recipes of a makefile are lines of a shell.
                Part::Definition if kinds::builds_product(&path) && path.to_lowercase().ends_with("makefile") => {
                    of_shell(&text)
                }
                _ => continue,
            };
            if !found.is_empty() {
                others.asserted.extend(found.iter().filter(|one| one.is_asserted).map(|one| one.case.clone()));
                others.texts.push((path, with_other_values(text, found)));
            }
        }
        others
    }
}

fn all(path: &str, text: &str) -> Vec<Expectation> {
    if is_shell(path, text) { of_shell(text) } else { expectations(path, text) }
}

/// The expectations in the tests inside of a source.
fn inside(path: &str, text: &str) -> Vec<Expectation> {
    let tests: Vec<Range<usize>> =
        items_of(path, text).into_iter().filter(|item| item.kind == ItemKind::Test).map(|item| item.range).collect();
    if tests.is_empty() {
        return Vec::new();
    }
    let is_inside =
        |one: &Expectation| tests.iter().any(|test| test.start <= one.range.start && one.range.end <= test.end);
    all(path, text).into_iter().filter(is_inside).collect()
}

/// What a script compares with, or looks for in an output.
static OF_SHELL: LazyLock<Regex> = LazyLock::new(|| {
    let text = r#"(?m)(?:\s(?:==?|-eq)\s+|\bgrep\s+(?:-\w+\s+)+(?:--\s+)?)["']?(?P<value>[A-Za-z0-9_.+,:-][A-Za-z0-9_.+,: -]*)"#;
    Regex::new(text).unwrap_or_else(|error| unreachable!("a pattern of this file: {error}"))
});

fn of_shell(text: &str) -> Vec<Expectation> {
    let values = OF_SHELL.captures_iter(text).filter_map(|found| found.name("value"));
    let others = values.map(|value| {
        let word = value.as_str().trim_end();
        let other = match word.parse::<u64>() {
            Ok(number) => (number + 1).to_string(),
            Err(_) => other_word(word),
        };
        let range = value.start()..value.start() + word.len();
        Expectation { range, other, is_asserted: true, case: String::new() }
    });
    others.filter(|one| !one.range.is_empty()).collect()
}

/// Returns a word that differs in the case of its last letter.
fn other_word(word: &str) -> String {
    let Some((at, letter)) = word.char_indices().rfind(|(_, letter)| letter.is_ascii_alphabetic()) else {
        return format!("{word}q");
    };
    let other = if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
    format!("{}{other}{}", &word[..at], &word[at + 1..])
}

fn with_other_values(mut text: String, found: Vec<Expectation>) -> String {
    for one in found.into_iter().rev() {
        text.replace_range(one.range, &one.other);
    }
    text
}

/// The cases that did not pass with other values before the change, and pass with them now. Some runners name no case of a
/// file in which all pass.
fn freed(base: &Measured, other_before: &Measured, now: &Measured, other_now: &Measured) -> Vec<String> {
    if other_before.is_green() || other_before.fault.is_some() {
        return Vec::new();
    }
    let has_noticed = |name: &&String| other_before.census.cases.get(*name) != Some(&Status::Passed);
    let names: Vec<String> =
        passed(base).filter(has_noticed).filter(|name| is_free(now, other_now, name)).cloned().collect();
    match names.is_empty() && other_now.is_green() {
        true => vec!["all of them".to_owned()],
        false => names,
    }
}

/// The cases that did not pass before the change, have an assertion with another value, and pass with it.
fn free_of_values(
    base: Option<&Measured>,
    now: &Measured,
    other_now: &Measured,
    asserted: &BTreeSet<String>,
) -> Vec<String> {
    if asserted.is_empty() || base.is_some_and(Measured::is_green) {
        return Vec::new();
    }
    if other_now.is_green() && !now.census.is_readable() {
        return vec!["all of them".to_owned()];
    }
    let is_new = |name: &&String| base.is_none_or(|base| base.census.cases.get(*name) != Some(&Status::Passed));
    let is_asserted = |name: &&String| asserted.iter().any(|case| !case.is_empty() && kinds::has_word(name, case));
    passed(now).filter(is_new).filter(is_asserted).filter(|name| is_free(now, other_now, name)).cloned().collect()
}

fn passed(measured: &Measured) -> impl Iterator<Item = &String> {
    measured.census.cases.iter().filter(|(_, status)| **status == Status::Passed).map(|(name, _)| name)
}

fn is_free(now: &Measured, other_now: &Measured, name: &str) -> bool {
    let has_passed = |measured: &Measured| measured.census.cases.get(name) == Some(&Status::Passed);
    has_passed(now) && has_passed(other_now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_compares_with_has_another_value() {
        let cases = [
            ("[ \"$(sh a.sh 1)\" = 3 ] || exit 1\n", "[ \"$(sh a.sh 1)\" = 4 ] || exit 1\n"),
            ("test \"$out\" = \"a b\"\n", "test \"$out\" = \"a B\"\n"),
            ("test:\n\tsh add.sh 1 2 | grep -qx 3\n", "test:\n\tsh add.sh 1 2 | grep -qx 4\n"),
            ("a=1\nb = c\n", "a=1\nb = C\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(with_other_values(text.to_owned(), of_shell(text)), expected);
        }
    }
}
