//! Reading shell text: which commands it holds, with which words and redirections. Nothing is run or looked up.
//!
//! `parse.rs` finds commands, `word.rs` reads words, `expand.rs` says what words become. The reading is flat on purpose: a
//! command inside a loop, a branch, a function or a substitution is a command, since it may run. What a shell would refuse
//! is read anyway; what cannot be read is said in [`Script::unclear`], and nothing is then taken to be harmless.

mod expand;
mod parse;
mod word;

pub(crate) use expand::{Field, Vars, expand};
pub(crate) use parse::parse;

/// The longest text that is read.
pub(crate) const BYTES_MAX: usize = 64 * 1024;
/// How deep substitutions and subshells may be nested.
pub(crate) const DEPTH_MAX: usize = 24;
/// The most commands in one text.
pub(crate) const ITEMS_MAX: usize = 2_000;

/// A shell text, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) items: Vec<Item>,
    /// The functions it defines.
    pub(crate) functions: Vec<String>,
    /// What could not be read.
    pub(crate) unclear: Vec<&'static str>,
}

/// What comes one after the other in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A command.
    Simple(Simple),
    /// A loop gives a variable one of these values.
    Bind { name: String, values: Vec<Word> },
    /// A subshell or substitution begins: where it works and what it sets ends with it.
    Open,
    /// And ends.
    Close,
}

/// A command with its words and redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) sets: Vec<(String, Word)>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    /// What it reads, where the text says so.
    pub(crate) fed: Option<Word>,
    /// It is only what follows the end of a loop, a branch or a subshell.
    pub(crate) is_tail: bool,
    pub(crate) then: Link,
}

/// What stands between a command and the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Link {
    And,
    Or,
    Pipe,
    #[default]
    Next,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) way: Way,
    pub(crate) target: Word,
}

/// What a redirection does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    /// From the start, so that what was there is gone.
    Overwrite,
    Append,
}

/// A word, before it is expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text {
        text: String,
        quoted: bool,
    },
    Var {
        name: String,
        quoted: bool,
    },
    /// `${NAME:-word}` and its relatives: the variable's value, or perhaps this word.
    Default {
        word: Word,
        quoted: bool,
    },
    /// A substitution, or something else that only running it would tell.
    Unknown {
        quoted: bool,
    },
}

impl Word {
    /// The word as it stands, where nothing in it is quoted or expanded.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn quoted(text: &str) -> Self {
        Word { parts: vec![Part::Text { text: text.to_owned(), quoted: true }] }
    }
}
