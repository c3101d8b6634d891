//! Formats a map as text: one line about all files, then files with their relevant lines.

use std::fmt::Write as _;

use crate::Map;

/// The maximum number of languages that are listed.
const LANGUAGES_MAX: usize = 8;

/// The width of the margin before a signature: the line number and two spaces.
const MARGIN: usize = 8;

/// Returns the line about all files.
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

/// Returns the length of a file's line.
pub(crate) fn file_bytes(path: &str) -> usize {
    path.len() + 1
}

/// Returns the length of a symbol's line.
pub(crate) fn symbol_bytes(signature: &str) -> usize {
    MARGIN + signature.len() + 1
}

/// Returns the whole map as text.
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
