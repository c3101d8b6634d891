//! What a report on a run is made of, and how an activity adds to it.
//!
//! `interlock report` writes a report for every machine. An activity that knows more about the runs that invoke it implements
//! [`Activity::story`](crate::Activity::story): it gets the [`RecordedRun`] and returns a [`Story`]. Which activities are asked is decided by what the
//! machine invokes, never by its name. A story is data; the report decides how it looks.

mod account;
pub mod reading;
mod run;
mod time;

pub use account::{Account, Claim, EndedAttempt, ExecutedCommand, Worker, command_line};
pub use run::{RecordedActivity, RecordedMove, RecordedRun, Reverted, RunRecord};
pub use time::TimeSpent;

use serde_json::Value as Json;

/// An activity's part of the report about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    /// The first sentence of the report: what was wrong, what changed, whether that is in the tree, how sure it is and why.
    /// If it is empty, the report makes one from the run's facts, and lists failures and changes before the sections.
    pub sentence: String,
    /// A part of the sentence that the report makes, after the outcome; empty if there is none.
    pub remark: String,
    /// The sections after the first sentence.
    pub sections: Vec<Section>,
    /// Commands that repeat the failing case, one to a line; lines that begin with `#` are comments.
    pub repeat: Vec<String>,
    /// Programs that the run used, with the versions that it recorded.
    pub tools: Vec<(String, String)>,
    /// The same content as JSON.
    pub json: Json,
}

/// A part of a report with a title. A section without parts is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// The content of the section, in order.
    pub parts: Vec<Part>,
}

impl Section {
    /// A section of these parts.
    pub fn new(title: &str, parts: Vec<Part>) -> Self {
        Section { title: title.to_owned(), parts }
    }
}

/// Something that a report shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A heading within the section.
    Heading(String),
    /// A paragraph. Text between backquotes is shown as code.
    Text(String),
    /// Commands to type, one to a line.
    Commands(String),
    /// A table: its head and its rows. A word of a cell that is the hash of a file of the run is shown as a link with the file's name.
    Table(Vec<String>, Vec<Vec<String>>),
    /// A patch.
    Diff(String),
    /// Source code or the output of a program, shown as it is.
    Code(String),
    /// A picture.
    Picture {
        /// Its name, for readers who do not see it.
        name: String,
        /// Its media type, such as `image/png`.
        media: String,
        /// The content of the file.
        content: Vec<u8>,
    },
}

impl Part {
    /// A table; nothing if it has no rows.
    pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> Option<Self> {
        (!rows.is_empty()).then(|| Part::Table(head.iter().map(|&name| name.to_owned()).collect(), rows))
    }
}

/// A word of a command line, quoted for a POSIX shell if it needs to be.
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:,@%".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, shell_word};

    #[test]
    fn words_are_quoted_only_if_needed() {
        assert_eq!(shell_word("src/a-b.c"), "src/a-b.c");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("$(x)"), "'$(x)'");
    }

    #[test]
    fn a_table_without_rows_is_none() {
        assert_eq!(Part::table(&["a"], Vec::new()), None);
    }
}
