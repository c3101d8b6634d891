//! Converts arbitrary names to names that a machine file allows.

use std::collections::{BTreeMap, BTreeSet};

/// The maximum length in bytes of a converted name.
const NAME_BYTES_MAX: usize = 200;

/// Returns the nearest legal name of a machine: letters, digits, `-` and `_`, beginning with a letter or `_`.
pub(super) fn machine(name: &str) -> String {
    let made = only(name, |letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'));
    match made.chars().next() {
        Some(first) if first.is_alphabetic() || first == '_' => made,
        _ => format!("_{made}"),
    }
}

/// Returns the nearest legal name of a state: like a machine's name, but digits at the start and dots and colons inside
/// are allowed.
pub(super) fn state(name: &str) -> String {
    let made = only(name, |letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':'));
    let made = made.trim_matches(['.', ':']);
    if made.is_empty() { "unnamed".to_owned() } else { made.to_owned() }
}

/// Returns the nearest legal name of an event: non-empty tokens separated by dots.
pub(super) fn event(text: &str) -> String {
    let made = only(text, |letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':'));
    let tokens: Vec<_> = made.split('.').filter(|token| !token.is_empty()).collect();
    if tokens.is_empty() { "unnamed".to_owned() } else { tokens.join(".") }
}

/// Returns the nearest legal name of a variable: letters, digits and `_`, as expressions can name it.
pub(super) fn variable(name: &str) -> String {
    let made = only(name, |letter| letter.is_ascii_alphanumeric() || letter == '_');
    match made.chars().next() {
        Some(first) if first.is_ascii_alphabetic() || first == '_' => made,
        _ => format!("_{made}"),
    }
}

/// Returns the event that must be declared for a descriptor of a foreign chart, or `None` for events that the engine
/// raises.
pub(super) fn to_declare(descriptor: &str) -> Option<&str> {
    let prefix = descriptor.strip_suffix('*').unwrap_or(descriptor);
    let name = prefix.strip_suffix('.').unwrap_or(prefix);
    let family = name.split('.').next().unwrap_or_default();
    let by_itself = matches!(family, "" | "error") || name == "done" || name.starts_with("done.state");
    (!by_itself).then_some(name)
}

/// Keeps the allowed characters and replaces each run of other characters by one `_`.
fn only(text: &str, allowed: impl Fn(char) -> bool) -> String {
    let mut made = String::with_capacity(text.len().min(NAME_BYTES_MAX));
    for letter in text.trim().chars() {
        if made.len() + letter.len_utf8() > NAME_BYTES_MAX {
            break;
        }
        if allowed(letter) {
            made.push(letter);
        } else if !made.ends_with('_') {
            made.push('_');
        }
    }
    if text.trim().ends_with(&allowed) { made } else { made.trim_end_matches('_').to_owned() }
}

/// Returns a machine's name derived from its file name: without directories and extension.
pub(super) fn from_file_name(file_name: &str) -> String {
    let base = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = base.split('.').next().unwrap_or_default();
    if stem.is_empty() { "imported".to_owned() } else { machine(stem) }
}

/// Assigns unique names to states.
#[derive(Debug, Default)]
pub(super) struct Names {
    used: BTreeSet<String>,
    /// The number of requests for each base name, so that many equal names need no repeated search.
    counts: BTreeMap<String, u32>,
    renamed: BTreeMap<String, String>,
}

impl Names {
    /// Returns true if a state can have exactly this name.
    pub(super) fn is_free(&self, name: &str) -> bool {
        state(name) == name && !self.used.contains(name)
    }

    /// Returns a legal, unused name that is as close to `wanted` as possible.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let base = state(wanted);
        let count = self.counts.entry(base.clone()).or_insert(0);
        let mut name = base.clone();
        while self.used.contains(&name) {
            *count = (*count).max(1) + 1;
            name = format!("{base}_{count}");
        }
        self.used.insert(name.clone());
        name
    }

    /// Records that `theirs` was renamed to `ours`, if the names differ.
    pub(super) fn note(&mut self, ours: &str, theirs: &str) {
        if ours != theirs {
            self.renamed.insert(ours.to_owned(), theirs.to_owned());
        }
    }

    /// Returns the renamed states: the new name to the original one.
    pub(super) fn into_renamed(self) -> BTreeMap<String, String> {
        self.renamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn illegal_characters_become_underscores() {
        type Case = (fn(&str) -> String, &'static str, &'static str);
        let cases: [Case; 12] = [
            (state, "testing", "testing"),
            (state, "a.b:c-9_", "a.b:c-9_"),
            (state, " Not  yet! ", "Not_yet"),
            (state, "9 lives", "9_lives"),
            (state, ".a.", "a"),
            (state, "—", "unnamed"),
            (machine, "a.b", "a_b"),
            (machine, "9", "_9"),
            (machine, "", "_"),
            (event, "on task request", "on_task_request"),
            (event, "a..b.", "a.b"),
            (event, "{}", "unnamed"),
        ];
        for (make, name, expected) in cases {
            assert_eq!(make(name), expected, "{name}");
        }
        assert_eq!(state(&"é".repeat(1_000)).len(), NAME_BYTES_MAX);
    }

    #[test]
    fn names_are_unique() {
        let mut names = Names::default();
        let made = ["a", "a", "a_3", "a", "b"].map(|name| names.fresh(name));
        assert_eq!(made, ["a", "a_2", "a_3", "a_4", "b"]);
    }

    #[test]
    fn a_machine_is_named_after_its_file() {
        let cases =
            [("x/y/door lock.scxml", "door_lock"), ("a.b.json", "a"), ("", "imported"), (".hidden", "imported")];
        for (file, expected) in cases {
            assert_eq!(from_file_name(file), expected, "{file}");
        }
    }
}
