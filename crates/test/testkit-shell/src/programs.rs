//! The programs that the reader reports for a shell text.

use std::collections::BTreeSet;

use interlock_shell_effects::{Effect, Surroundings, Witness, read_shell};

/// The programs of a text, by name without directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// The names of the programs that are started.
    pub names: BTreeSet<String>,
    /// True if the reader could not determine the effect of a part.
    pub is_unclear: bool,
}

impl Witness for Programs {
    fn see(&mut self, effect: Effect<'_>) {
        match effect {
            Effect::Run { words, .. } => self.names.extend(words.first().cloned()),
            Effect::Unclear { .. } => self.is_unclear = true,
            _ => {}
        }
    }
}

/// Returns the programs that the reader finds in a text.
pub fn programs(text: &str) -> Programs {
    let around = Surroundings { cwd: "/work", home: Some("/home/ada"), aliases: &[], is_inside: &|_, _| true };
    let mut programs = Programs::default();
    read_shell(text, &around, &mut programs);
    programs
}
