//! The words by which a text is searched: only where one of them stands is anything looked at closely.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{commands, shapes};

/// How every mark begins.
pub(crate) const MARK: &str = "[redacted: ";

/// What a hint promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// A mark that is there already.
    Mark,
    /// A name that may have a secret beside it.
    Name,
    /// A URL that may carry a password.
    Url,
    /// A word after which a token follows.
    Scheme,
    /// The first line of a block.
    Block,
    /// A token of the shape with this number.
    Shape(usize),
    /// The program of the command rule with this number.
    Command(usize),
}

/// Parts of names; whether a name is one is decided by its words.
const NAMES: [&str; 13] = [
    "passw",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "key",
    "auth",
    "credential",
    "_pat",
    "pass",
    "psk",
    "cookie",
];

/// Everything searched for, in one pass.
pub(crate) struct Hints {
    search: Option<AhoCorasick>,
    meanings: Vec<Hint>,
}

impl Hints {
    /// The same for every redactor.
    pub(crate) fn all() -> &'static Hints {
        static HINTS: LazyLock<Hints> = LazyLock::new(Hints::new);
        &HINTS
    }

    fn new() -> Self {
        let mut words: Vec<(&str, Hint)> = vec![
            (MARK, Hint::Mark),
            ("://", Hint::Url),
            ("bearer ", Hint::Scheme),
            ("-----begin ", Hint::Block),
            ("&sig=", Hint::Name),
            ("?sig=", Hint::Name),
            ("signature=", Hint::Name),
        ];
        words.extend(NAMES.iter().map(|name| (*name, Hint::Name)));
        words.extend(shapes::all().iter().enumerate().map(|(at, shape)| (shape.hint, Hint::Shape(at))));
        words.extend(commands::all().iter().enumerate().map(|(at, rule)| (rule.hint, Hint::Command(at))));
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(words.iter().map(|(word, _)| word));
        Hints { search: search.ok(), meanings: words.into_iter().map(|(_, hint)| hint).collect() }
    }

    /// The next hint from `from` on: where it begins and ends.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<(Hint, usize, usize)> {
        let found = self.search.as_ref()?.find(aho_corasick::Input::new(text).span(from..text.len()))?;
        let hint = self.meanings.get(found.pattern().as_usize())?;
        Some((*hint, found.start(), found.end()))
    }

    /// Whether there is anything to look at closely.
    pub(crate) fn any(&self, text: &[u8]) -> bool {
        self.search.as_ref().is_some_and(|search| search.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_could_be_built() {
        assert!(Hints::all().search.is_some());
    }
}
