//! Reads one command line: the entry points, and the reader that reports effects as it meets them.

use crate::{Effect, PathOp, shell::Field};

/// The maximum number of commands that are read for one text, including those made by loops and substitutions.
const COMMANDS_MAX: usize = 4_000;

/// The environment in which a command would run.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The working directory, absolute.
    pub cwd: &'a str,
    /// The home directory, for `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// The git aliases that are set: name and meaning.
    pub aliases: &'a [(String, String)],
    /// Returns true if a path, relative to a directory, is inside the workspace.
    pub is_inside: &'a dyn Fn(&str, &str) -> bool,
}

/// Receives every effect of a command, in the order in which the reader meets them.
pub trait Witness {
    /// Receives one effect.
    fn see(&mut self, effect: Effect<'_>);
}

/// Reads a text for `sh -c`.
pub fn read_shell(text: &str, around: &Surroundings<'_>, witness: &mut dyn Witness) {
    Reader::new(around, witness).shell(text);
}

/// Reads a program and its arguments, without a shell.
pub fn read_words(words: &[String], around: &Surroundings<'_>, witness: &mut dyn Witness) {
    let fields: Vec<Field> = words.iter().map(Field::known).collect();
    Reader::new(around, witness).fields(&fields);
}

/// Follows commands and reports their effects.
pub(crate) struct Reader<'a> {
    pub(crate) around: &'a Surroundings<'a>,
    witness: &'a mut dyn Witness,
    /// The number of commands that may still be read.
    pub(crate) budget: usize,
    /// The files that the text has written so far, absolute.
    pub(crate) written: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(around: &'a Surroundings<'a>, witness: &'a mut dyn Witness) -> Self {
        Reader { around, witness, budget: COMMANDS_MAX, written: Vec::new() }
    }
}

impl Reader<'_> {
    pub(crate) fn see(&mut self, effect: Effect<'_>) {
        self.witness.see(effect);
    }

    pub(crate) fn path(&mut self, op: PathOp, path: &str, folder: &str) {
        self.see(Effect::Path { op, path, folder });
    }

    pub(crate) fn connect(&mut self, host: &str, port: Option<u16>) {
        self.see(Effect::Connect { host, port });
    }

    /// Reports a program that no list of this crate has.
    pub(crate) fn unknown(&mut self, words: &[String], command: &str) {
        self.see(Effect::Unknown { words, command });
    }

    /// Reports a part whose effect cannot be determined.
    pub(crate) fn unclear(&mut self, command: &str, why: &str) {
        self.see(Effect::Unclear { command, why });
    }
}
