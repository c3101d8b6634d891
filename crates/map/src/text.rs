//! A map as text: a line about all files, then files with the lines that matter in them.

use std::fmt::Write as _;

use crate::Map;

/// The most languages that are named.
const LANGUAGES_MAX: usize = 8;

/// What stands before a signature: the line's number and two spaces.
const MARGIN: usize = 8;

/// The line about all files.
pub(crate) fn head(map: &Map) -> String {
    let mut text = format!("{} {}", map.files, if map.files == 1 { "file" } else { "files" });
    let languages = map.languages.iter().take(LANGUAGES_MAX);
    let languages: Vec<String> = languages.map(|one| format!("{} {}", one.files, one.language)).collect();
    if !languages.is_empty() {
        let _ = write!(text, ": {}", languages.join(", "));
    }
    let left_out: Vec<String> =
        map.left_out.iter().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
    if !left_out.is_empty() {
        let _ = write!(text, "; left out: {}", left_out.join(", "));
    }
    if map.is_partial {
        text.push_str("; there are more");
    }
    text.push('\n');
    text
}

/// How long the line of a file is.
pub(crate) fn file_bytes(path: &str) -> usize {
    path.len() + 1
}

/// How long the line of a symbol is.
pub(crate) fn symbol_bytes(signature: &str) -> usize {
    MARGIN + signature.len() + 1
}

/// All of it.
pub(crate) fn write(map: &Map) -> String {
    let mut text = head(map);
    for entry in &map.entries {
        let _ = writeln!(text, "{}", entry.path);
        for symbol in &entry.symbols {
            let _ = writeln!(text, "{:>6}  {}", symbol.line, symbol.signature);
        }
    }
    text
}
