//! Splits text into lines, byte for byte.

/// One line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'t> {
    /// The text without the line feed, but with a preceding carriage return.
    pub(crate) text: &'t [u8],
    pub(crate) has_newline: bool,
}

/// Splits a file into lines.
pub(crate) fn lines(content: &[u8]) -> Vec<Line<'_>> {
    let pieces = content.split_inclusive(|byte| *byte == b'\n');
    let line = |piece: &'_ [u8]| piece.strip_suffix(b"\n").is_some();
    pieces.map(|piece| Line { text: piece.strip_suffix(b"\n").unwrap_or(piece), has_newline: line(piece) }).collect()
}

/// Splits a patch into lines. If its marker lines end with a carriage return, the patch was converted in transit, so
/// the carriage returns of all lines are removed.
pub(crate) fn patch_lines(patch: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = lines(patch).into_iter().map(|line| line.text).collect();
    let is_mark = |line: &&&[u8]| [&b"@@ -"[..], b"*** Begin Patch"].iter().any(|mark| line.starts_with(mark));
    if lines.iter().find(is_mark).is_some_and(|mark| mark.ends_with(b"\r")) {
        lines.iter_mut().for_each(|line| *line = line.strip_suffix(b"\r").unwrap_or(line));
    }
    lines
}

/// Returns the text without trailing white space.
pub(crate) fn trimmed_end(text: &[u8]) -> &[u8] {
    text.trim_ascii_end()
}

/// Converts text for display to people.
pub(crate) fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(trimmed_end(text)).into_owned()
}
