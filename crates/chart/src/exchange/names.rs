//! Names that a machine file allows, made from names that it may not.

use std::collections::{BTreeMap, BTreeSet};

/// Whether a state, a machine or a variable may have this name as it is.
pub(super) fn is_legal(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-')
}

/// The nearest legal name: what is not a letter, digit, `-` or `_` becomes `_`.
pub(super) fn legal(name: &str) -> String {
    if is_legal(name) {
        return name.to_owned();
    }
    let mut made = String::with_capacity(name.len());
    for letter in name.trim().chars() {
        let allowed = letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if allowed {
            made.push(letter);
        } else if !made.ends_with('_') {
            made.push('_');
        }
    }
    let made = made.trim_end_matches('_');
    match made.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_ascii_alphabetic() || first == '_' => made.to_owned(),
        Some(_) => format!("_{made}"),
    }
}

/// A machine's name from the name of its file: without folders and extension.
pub(super) fn from_file_name(file_name: &str) -> String {
    let base = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = base.split('.').next().unwrap_or_default();
    if stem.is_empty() { "imported".to_owned() } else { legal(stem) }
}

/// Hands out names of states, each once.
#[derive(Debug, Default)]
pub(super) struct Names {
    used: BTreeSet<String>,
    /// How often each base was asked for, so that many equal names do not cost a search each.
    counts: BTreeMap<String, u32>,
    renamed: BTreeMap<String, String>,
}

impl Names {
    /// Keeps a name from being handed out.
    pub(super) fn reserve(&mut self, name: &str) {
        self.used.insert(name.to_owned());
    }

    /// A legal name that nobody has yet, as near to `wanted` as can be.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let base = legal(wanted);
        let count = self.counts.entry(base.clone()).or_insert(0);
        let mut name = base.clone();
        while self.used.contains(&name) {
            *count = (*count).max(1) + 1;
            name = format!("{base}_{count}");
        }
        self.used.insert(name.clone());
        name
    }

    /// Remembers that `theirs` is called `ours` now, if that is different.
    pub(super) fn note(&mut self, ours: &str, theirs: &str) {
        if ours != theirs {
            self.renamed.insert(ours.to_owned(), theirs.to_owned());
        }
    }

    /// Ours to theirs.
    pub(super) fn into_renamed(self) -> BTreeMap<String, String> {
        self.renamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_name_may_not_have_becomes_an_underscore() {
        let cases = [
            ("testing", "testing"),
            ("A-b_9", "A-b_9"),
            ("a.b", "a_b"),
            ("on task request!", "on_task_request"),
            ("9lives", "_9lives"),
            ("—", "unnamed"),
            ("", "unnamed"),
        ];
        for (name, expected) in cases {
            assert_eq!(legal(name), expected, "{name}");
            assert!(is_legal(&legal(name)), "{name}");
        }
    }

    #[test]
    fn a_name_is_handed_out_once() {
        let mut names = Names::default();
        names.reserve("a");
        assert_eq!([names.fresh("a"), names.fresh("a"), names.fresh("b")], ["a_2", "a_3", "b"]);
    }

    #[test]
    fn a_machine_is_called_as_its_file() {
        let cases =
            [("x/y/door lock.scxml", "door_lock"), ("a.b.json", "a"), ("", "imported"), (".hidden", "imported")];
        for (file, expected) in cases {
            assert_eq!(from_file_name(file), expected, "{file}");
        }
    }
}
