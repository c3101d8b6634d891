//! The subject of one exact command, for grants: a confirmation covers this text and no other.
//!
//! A command that was understood is named by its words. Any other command is named by a hash of its whole text,
//! followed by the text for people. A grant for it must be given each time.

use interlock_shell_effects::quoted;
use sha2::{Digest, Sha256};

use crate::{Command, Request};

/// The prefix of a subject that names a command by its whole text.
const EXACT: &str = "exact:";

/// The number of hex digits of the hash: 128 bits.
const DIGITS: usize = 32;

/// Returns the subject that names the whole text of a request, and no other request.
pub(crate) fn subject(request: &Request) -> Option<String> {
    let text = match request {
        Request::Command(Command::Shell(text)) => text.clone(),
        Request::Command(Command::Words(words)) => line(words.iter().map(String::as_str)),
        Request::Git(words) => line(std::iter::once("git").chain(words.iter().map(String::as_str))),
        Request::Unconfined { command, .. } => command.clone(),
        Request::Path { .. } | Request::Connect { .. } | Request::Patch(_) => return None,
    };
    let hash: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{EXACT}{}: {text}", &hash[..DIGITS]))
}

/// Reports if a subject names one whole text.
pub(crate) fn is_exact(subject: &str) -> bool {
    subject.starts_with(EXACT)
}

/// Reports if two subjects name the same whole text. The text itself may be missing or redacted.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let hash =
        |subject: &str| subject.strip_prefix(EXACT).map(|rest| rest.split(':').next().unwrap_or(rest).to_owned());
    match (hash(one), hash(other)) {
        (Some(one), Some(other)) => one.len() == DIGITS && one == other,
        _ => false,
    }
}

/// Quotes words so that a shell would read the same words back; no two word lists look the same.
pub(crate) fn line<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_commands_have_different_subjects() {
        let shell = |text: &str| subject(&Request::Command(Command::Shell(text.into()))).unwrap();
        let words = |words: &[&str]| {
            subject(&Request::Command(Command::Words(words.iter().map(|word| (*word).to_owned()).collect()))).unwrap()
        };
        assert_ne!(shell("f x"), shell("f y"));
        assert!(is_same(&shell("f x"), &shell("f x")));
        assert!(!is_same(&shell("f x"), &shell("f  x")));
        assert_ne!(words(&["a b", "c"]), words(&["a", "b c"]));
        assert_ne!(words(&["a'b"]), words(&["a", "b"]));
        assert_ne!(words(&["", "a"]), words(&["a"]));
        let short = shell("f x").split(": ").next().unwrap().to_owned();
        assert!(is_same(&short, &shell("f x")), "{short}");
        assert!(!is_same("exact:", "exact:") && !is_same("exact:ab", "exact:ab"), "no hash is no name");
    }
}
