//! A shell parser: finds the commands of a text, with their words and redirections. Nothing is executed or looked up.
//!
//! `parse.rs` finds commands, `word.rs` parses words, and `expand.rs` expands them. The result is flat on purpose: a
//! command inside a loop, a branch, a function or a substitution is a command, because it may run. Text that a shell
//! would refuse is parsed anyway; unreadable parts are named in [`Script::unclear`], and the text is then not
//! considered harmless.

mod expand;
mod parse;
mod word;

pub(crate) use expand::{Field, Vars, expand};
pub(crate) use parse::parse;

/// The maximum length of a text.
pub(crate) const BYTES_MAX: usize = 64 * 1024;
/// The maximum nesting of substitutions and subshells.
pub(crate) const DEPTH_MAX: usize = 24;
/// The maximum number of commands in one text.
pub(crate) const ITEMS_MAX: usize = 2_000;

/// A parsed shell text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) items: Vec<Item>,
    /// The names of the functions that it defines.
    pub(crate) functions: Vec<String>,
    /// Each function with a command in its body.
    pub(crate) calls: Vec<(String, String)>,
    /// The reasons why parts could not be parsed.
    pub(crate) unclear: Vec<&'static str>,
}

impl Script {
    /// Returns true if a function calls itself, directly or through others: nothing would end it.
    pub(crate) fn calls_itself(&self) -> bool {
        self.functions.iter().any(|start| {
            let mut reached = vec![start];
            let mut at = 0;
            while let Some(from) = reached.get(at).copied() {
                at += 1;
                for (_, to) in self.calls.iter().filter(|(caller, _)| caller == from) {
                    if to == start {
                        return true;
                    }
                    if self.functions.contains(to) && !reached.contains(&to) {
                        reached.push(to);
                    }
                }
            }
            false
        })
    }
}

/// One element of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A command with its words and redirections.
    Simple(Simple),
    /// A loop assigns one of these values to a variable.
    Bind { name: String, values: Vec<Word> },
    /// A subshell or substitution begins: its directory and variables end with it.
    Open,
    /// The subshell or substitution ends.
    Close,
}

/// A command with its words and redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) sets: Vec<(String, Word)>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    /// The standard input, if the text defines it.
    pub(crate) fed: Option<Word>,
    /// True if it only follows the end of a loop, a branch or a subshell.
    pub(crate) is_tail: bool,
    pub(crate) then: Link,
}

/// The operator between a command and the next.
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

/// The operation of a redirection on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    /// Writes from the start, so the old content is lost.
    Overwrite,
    Append,
}

/// A word before expansion.
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
    /// `${NAME:-word}` and similar forms: the variable's value, or this word.
    Default {
        word: Word,
        quoted: bool,
    },
    /// A substitution, or another part that is known only at run time.
    Unknown {
        quoted: bool,
    },
}

impl Word {
    /// Returns the word as it is, if nothing in it is quoted or expanded.
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
