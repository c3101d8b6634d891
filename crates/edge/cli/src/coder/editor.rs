//! The line on which a person writes: with history and several lines.
//!
//! Enter sends the message. A line that ends with `\` goes on, and so does a message with an open ``` fence; pasted text
//! may have any number of lines.

use std::path::PathBuf;

use interlock_redact::Redactor;
use rustyline::{
    Context, Editor, Helper,
    completion::Completer,
    config::Config,
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::FileHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};

use super::{keyboard::Keyboard, slash};
use crate::failure::Failure;

/// The file with the history, in the store.
const FILE: &str = "coder_history";

/// The most messages that are remembered.
const MESSAGES_MAX: usize = 1_000;

/// The input of a person.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A message or a command, without blanks around it.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal is gone.
    Closed,
}

/// Reads messages from the terminal.
pub(crate) struct Messages {
    /// `None` while a thread reads.
    editor: Option<(Editor<Rules, FileHistory>, Keyboard)>,
    file: PathBuf,
}

impl Messages {
    /// Opens the terminal and the history in this store.
    pub(crate) fn open(home: &std::path::Path) -> Result<Self, Failure> {
        let failed = |error: ReadlineError| Failure::failed(format!("cannot use the terminal: {error}"));
        let keyboard = Keyboard::open().map_err(|error| failed(error.into()))?;
        let config = Config::builder().max_history_size(MESSAGES_MAX).map_err(failed)?.auto_add_history(false).build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(Rules));
        let file = home.join(FILE);
        // A history that is missing or broken is no reason not to talk.
        let _ = editor.load_history(&file);
        Ok(Messages { editor: Some((editor, keyboard)), file })
    }

    /// Reads a message and remembers it, without its secrets. Lines that were typed ahead come first.
    pub(super) async fn read(&mut self, prompt: &str) -> Typed {
        if let Some((_, keyboard)) = &mut self.editor
            && let Some(line) = keyboard.line_ahead()
        {
            return Typed::Line(line);
        }
        let typed = self.typed(prompt, false).await;
        self.remember(&typed);
        typed
    }

    /// Reads the answer to a question and remembers it, without its secrets.
    pub(super) async fn answer(&mut self, prompt: &str) -> Typed {
        let typed = self.typed(prompt, true).await;
        self.remember(&typed);
        typed
    }

    /// Reads a line that is not remembered, such as a yes. Nothing that was typed before counts.
    pub(super) async fn ask(&mut self, prompt: &str) -> Typed {
        self.typed(prompt, true).await
    }

    /// Keeps what was typed so far for the next message. Returns true if there was something.
    pub(super) fn set_aside(&mut self) -> bool {
        self.editor.as_mut().is_some_and(|(_, keyboard)| keyboard.set_aside())
    }

    fn remember(&mut self, typed: &Typed) {
        if let (Typed::Line(line), Some((editor, _))) = (typed, &mut self.editor) {
            let _ = editor.add_history_entry(Redactor::default().text(line).into_owned());
            let _ = editor.save_history(&self.file);
        }
    }

    async fn typed(&mut self, prompt: &str, is_question: bool) -> Typed {
        let Some((mut editor, mut keyboard)) = self.editor.take() else { return Typed::Closed };
        let prompt = prompt.to_owned();
        // Reading keys blocks its thread.
        let read = tokio::task::spawn_blocking(move || {
            let line = keyboard.flow(is_question, || editor.readline(&prompt));
            ((editor, keyboard), line)
        });
        let Ok((editor, line)) = read.await else { return Typed::Closed };
        self.editor = Some(editor);
        match line {
            Ok(line) => Typed::Line(line.replace("\\\n", "\n").trim().to_owned()),
            Err(ReadlineError::Interrupted) => Typed::Interrupt,
            Err(_) => Typed::Closed,
        }
    }
}

/// The rules of the line: commands are completed, and open text goes on.
struct Rules;

impl Helper for Rules {}
impl Highlighter for Rules {}

impl Hinter for Rules {
    type Hint = String;
}

impl Completer for Rules {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = &line[..pos];
        let names = slash::NAMES.iter().filter(|(name, _)| begun.starts_with('/') && name.starts_with(begun));
        Ok((0, names.map(|(name, _)| (*name).to_owned()).collect()))
    }
}

impl Validator for Rules {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_open(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

/// Returns true if a message goes on in the next line.
fn is_open(text: &str) -> bool {
    text.ends_with('\\') || text.matches("```").count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_or_an_open_fence_continues_the_message() {
        assert!(is_open("one \\"));
        assert!(is_open("see:\n```\nfn main() {}"));
        assert!(!is_open("see:\n```\nfn main() {}\n```"));
        assert!(!is_open("one"));
    }
}
