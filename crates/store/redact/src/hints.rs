//! The words that trigger a closer look: only text near one of them is examined.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{commands, shapes};

/// The prefix of every mark.
pub(crate) const MARK: &str = "[redacted: ";

/// The meaning of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// A mark from an earlier redaction.
    Mark,
    /// A name that may have a secret beside it.
    Name,
    /// A name of a password in a language that is not written in ASCII.
    Foreign,
    /// A URL that may carry a password.
    Url,
    /// A word that is followed by a token.
    Scheme,
    /// The first line of a block.
    Block,
    /// A token of the shape with this index.
    Shape(usize),
    /// The program of the command rule with this index.
    Command(usize),
}

/// Parts of names; `words` decides if the whole name is that of a secret.
const NAMES: [&str; 16] = [
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
    "pw",
    "parola",
    "senha",
];

/// Names of a password in other languages.
const FOREIGN: [&str; 13] = [
    "密码",
    "密碼",
    "口令",
    "密钥",
    "密鑰",
    "パスワード",
    "暗証番号",
    "비밀번호",
    "암호",
    "пароль",
    "Пароль",
    "contraseña",
    "hasło",
];

/// All hints, searched in one pass.
pub(crate) struct Hints {
    search: Option<AhoCorasick>,
    meanings: Vec<Hint>,
}

impl Hints {
    /// Returns the hints, which are the same for every redactor.
    pub(crate) fn all() -> &'static Hints {
        static HINTS: LazyLock<Hints> = LazyLock::new(Hints::new);
        &HINTS
    }

    fn new() -> Self {
        let mut words: Vec<(&str, Hint)> = vec![
            (MARK, Hint::Mark),
            ("://", Hint::Url),
            ("bearer ", Hint::Scheme),
            ("ssws ", Hint::Scheme),
            ("-----begin ", Hint::Block),
            ("&sig=", Hint::Name),
            ("?sig=", Hint::Name),
            ("signature=", Hint::Name),
        ];
        words.extend(FOREIGN.iter().map(|name| (*name, Hint::Foreign)));
        words.extend(NAMES.iter().map(|name| (*name, Hint::Name)));
        words.extend(shapes::all().iter().enumerate().map(|(at, shape)| (shape.hint, Hint::Shape(at))));
        words.extend(commands::all().iter().enumerate().map(|(at, rule)| (rule.hint, Hint::Command(at))));
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(words.iter().map(|(word, _)| word));
        Hints { search: search.ok(), meanings: words.into_iter().map(|(_, hint)| hint).collect() }
    }

    /// Returns the next hint from `from` on, with its start and end.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<(Hint, usize, usize)> {
        let found = self.search.as_ref()?.find(aho_corasick::Input::new(text).span(from..text.len()))?;
        let hint = self.meanings.get(found.pattern().as_usize())?;
        Some((*hint, found.start(), found.end()))
    }

    /// Reports if the text contains any hint.
    pub(crate) fn any(&self, text: &[u8]) -> bool {
        self.search.as_ref().is_some_and(|search| search.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_can_be_built() {
        assert!(Hints::all().search.is_some());
    }
}
