//! Names that a machine file allows, made from names that it may not.

use std::collections::{BTreeMap, BTreeSet};

/// The longest name, in bytes, that is made here.
const NAME_BYTES_MAX: usize = 200;

/// The nearest name that a machine may have: letters, digits, `-` and `_`, with a letter or `_` in front.
pub(super) fn machine(name: &str) -> String {
    let made = only(name, |letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'));
    match made.chars().next() {
        Some(first) if first.is_alphabetic() || first == '_' => made,
        _ => format!("_{made}"),
    }
}

/// The nearest name that a state may have: as a machine's, with digits in front and dots and colons inside allowed.
pub(super) fn state(name: &str) -> String {
    let made = only(name, |letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':'));
    let made = made.trim_matches(['.', ':']);
    if made.is_empty() { "unnamed".to_owned() } else { made.to_owned() }
}

/// The nearest name that an event may have: one token, in small letters where it was free text.
pub(super) fn event(text: &str) -> String {
    let made = only(text, |letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':'));
    let tokens: Vec<_> = made.split('.').filter(|token| !token.is_empty()).collect();
    if tokens.is_empty() { "unnamed".to_owned() } else { tokens.join(".") }
}

/// The nearest name that a variable may have: letters, digits and `_`, as expressions can name it.
pub(super) fn variable(name: &str) -> String {
    let made = only(name, |letter| letter.is_ascii_alphanumeric() || letter == '_');
    match made.chars().next() {
        Some(first) if first.is_ascii_alphabetic() || first == '_' => made,
        _ => format!("_{made}"),
    }
}

/// The event that a foreign chart must declare to handle a descriptor; none for those that come by themselves.
pub(super) fn to_declare(descriptor: &str) -> Option<&str> {
    let prefix = descriptor.strip_suffix('*').unwrap_or(descriptor);
    let name = prefix.strip_suffix('.').unwrap_or(prefix);
    let family = name.split('.').next().unwrap_or_default();
    let by_itself = matches!(family, "" | "error") || name == "done" || name.starts_with("done.state");
    (!by_itself).then_some(name)
}

/// The letters that are allowed; a row of others becomes one `_`.
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

/// A machine's name from the name of its file: without folders and extension.
pub(super) fn from_file_name(file_name: &str) -> String {
    let base = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = base.split('.').next().unwrap_or_default();
    if stem.is_empty() { "imported".to_owned() } else { machine(stem) }
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
    /// Whether a state can have this very name.
    pub(super) fn is_free(&self, name: &str) -> bool {
        state(name) == name && !self.used.contains(name)
    }

    /// A legal name that nobody has yet, as near to `wanted` as can be.
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
    fn a_name_is_handed_out_once() {
        let mut names = Names::default();
        let made = ["a", "a", "a_3", "a", "b"].map(|name| names.fresh(name));
        assert_eq!(made, ["a", "a_2", "a_3", "a_4", "b"]);
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
