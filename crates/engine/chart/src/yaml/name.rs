//! The syntax of names.

use super::limits::NAME_BYTES_MAX;

/// Returns true for a machine's id: letters, digits, `-`, `_`, beginning with a letter or `_`.
pub(crate) fn is_machine(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    first && fits(name) && chars.all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// Returns true for a state's name: like a machine's id, but digits at the start and dots or colons inside are allowed
/// too (SCXML has such ids).
pub(crate) fn is_state(name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    fits(name) && edge(name.chars().next()) && edge(name.chars().next_back()) && name.chars().all(inside)
}

/// Returns true for an event's name: tokens joined by dots.
pub(crate) fn is_event(name: &str) -> bool {
    let token = |token: &str| {
        let bad = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '*' | '{' | '}' | '"' | '\'' | '`');
        !token.is_empty() && !token.contains(bad)
    };
    fits(name) && name.split('.').all(token)
}

/// Returns true for an event descriptor: an event's name, optionally followed by `.*` or `.`, or `*`.
pub(crate) fn is_descriptor(text: &str) -> bool {
    let bare = text.strip_suffix(".*").or_else(|| text.strip_suffix('.')).unwrap_or(text);
    text == "*" || is_event(bare)
}

/// Returns true for the name of a variable or a counter, as expressions can use it.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first && fits(name) && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns true for a tag or an activity: one word.
pub(crate) fn is_word(name: &str) -> bool {
    !name.is_empty() && fits(name) && !name.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn fits(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_and_illegal_names_are_distinguished() {
        type Case<'a> = (fn(&str) -> bool, &'a [&'a str], &'a [&'a str]);
        let cases: &[Case<'_>] = &[
            (is_machine, &["a", "fix-until_green", "été"], &["", "1a", "-a", "a b", "a.b"]),
            (is_state, &["A", "s1", "1", "a.b", "ns:a", "TEST_RUN"], &["", ".a", "a.", "a b", "a->b", "#a"]),
            (is_event, &["a", "a.b", "error.execution", "x-y"], &["", ".", "a..b", "a b", "a.*", "${x}"]),
            (is_descriptor, &["*", "a.*", "a.", "a"], &["**", ".*", "", "a*"]),
            (is_identifier, &["a", "_x9"], &["", "9a", "a-b", "a.b", "é"]),
            (is_word, &["idle", "command.run"], &["", "a b"]),
        ];
        for (is_name, good, bad) in cases {
            assert!(good.iter().all(|name| is_name(name)), "{good:?}");
            assert!(!bad.iter().any(|name| is_name(name)), "{bad:?}");
        }
        assert!(!is_state(&"x".repeat(NAME_BYTES_MAX + 1)));
    }
}
