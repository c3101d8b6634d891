//! The scripts that a command runs. A change of a script changes what the command does, as a change of its definition.
//!
//! Only scripts that the command line or the definition names are found, in the root of the project or below it. A script
//! that another script runs is not: it is as often the program under test.

use std::collections::BTreeMap;

use crate::{Command, files::Files};

/// The endings of shell scripts. Test files of other languages are not listed, because adding cases to them is normal work.
const ENDINGS: [&str; 7] = ["sh", "bash", "zsh", "ksh", "fish", "bats", "mk"];

/// Returns the scripts that a command names, each with the hash of its content.
pub(crate) fn named(files: &Files<'_>, command: &Command) -> BTreeMap<String, String> {
    let texts = [Some(command.command.as_str()), command.definition.as_deref()];
    let words = texts.into_iter().flatten().flat_map(words);
    let found = words.filter_map(|word| Some((word.to_owned(), script(files, word)?)));
    found.collect()
}

/// Splits a command line or a recipe into words that can be paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_border = |letter: char| letter.is_whitespace() || "'\"();&|<>`=".contains(letter);
    // `@` and `-` begin lines of a recipe.
    let words = text.split(is_border).map(|word| word.trim_start_matches(['@', '-']));
    words.map(|word| word.strip_prefix("./").unwrap_or(word))
}

/// Returns the hash of a file if it is a script.
fn script(files: &Files<'_>, path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let content = match ending {
        _ if name.is_empty() => return None,
        Some(ending) if ENDINGS.contains(&ending) => files.bytes(path)?,
        Some(_) => return None,
        None => files.bytes(path).filter(|content| content.starts_with(b"#!"))?,
    };
    Some(hash(&content))
}

/// Returns the SHA-256 of a content, in hexadecimal digits.
pub(crate) fn hash(content: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
