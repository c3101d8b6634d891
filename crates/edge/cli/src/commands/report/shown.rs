//! References to evidence in text: a file is shown by its name instead of its hash.

use super::gather::File;

/// The lengths of hashes: SHA-1 of git trees, SHA-256 of evidence.
const HASH_CHARS: [usize; 2] = [40, 64];

/// The number of digits that are shown of a hash that belongs to no file.
const HASH_CHARS_SHOWN: usize = 12;

/// A part of a text: plain text or a link.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// A link to a file of the run: its label, and its place among the files of the report.
    Link(String, usize),
}

/// Splits a text into pieces, with a link in place of every hash of a file.
pub(super) fn pieces(text: &str, files: &[File]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, word) in text.split(' ').enumerate() {
        let gap = if at == 0 { "" } else { " " };
        let bare = word.trim_end_matches([',', '.', ';']);
        let file = files.iter().position(|file| is_hash(bare) && file.evidence.hash.to_string() == bare);
        match file {
            Some(file) => {
                push(&mut pieces, gap);
                pieces.push(Piece::Link(label(&files[file]), file));
                push(&mut pieces, &word[bare.len()..]);
            }
            None => push(&mut pieces, &format!("{gap}{}", without_hashes(word))),
        }
    }
    pieces
}

fn push(pieces: &mut Vec<Piece>, more: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push_str(more),
        _ if more.is_empty() => {}
        _ => pieces.push(Piece::Text(more.to_owned())),
    }
}

/// Returns the name of a file with its record, which together identify the file.
pub(super) fn label(file: &File) -> String {
    format!("{} (record {})", file.evidence.name, file.seq)
}

/// Returns true for the types of pictures that are shown: an SVG picture could load something.
pub(super) fn is_picture(media: &str) -> bool {
    ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&media)
}

/// Returns the anchor of a file in the report.
pub(super) fn anchor(index: usize) -> String {
    format!("file-{}", index + 1)
}

/// Returns the anchor of the first file with this hash.
pub(super) fn anchor_of(hash: &str, files: &[File]) -> Option<String> {
    files.iter().position(|file| file.evidence.hash.to_string() == hash).map(anchor)
}

/// Returns the command that prints a file.
pub(super) fn command(run: &str, file: &File) -> String {
    let word = interlock_activity::report::shell_word;
    format!("interlock evidence {} {} --record {}", word(run), word(&file.evidence.name), file.seq)
}

/// Returns the text with its hashes shortened to their first digits.
pub(super) fn without_hashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut run = String::new();
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_alphanumeric() {
            run.push(letter);
            continue;
        }
        out.push_str(if is_hash(&run) { &run[..HASH_CHARS_SHOWN] } else { &run });
        run.clear();
        out.push(letter);
    }
    out.pop();
    out
}

fn is_hash(word: &str) -> bool {
    HASH_CHARS.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_cut_and_other_words_are_not() {
        let tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        assert_eq!(without_hashes(&format!("on tree {tree}, done\n")), "on tree 4b825dc642cb, done\n");
        assert_eq!(without_hashes("deadbeef stays"), "deadbeef stays");
    }

    #[test]
    fn text_without_files_is_one_piece() {
        assert_eq!(pieces("a b  c", &[]), [Piece::Text("a b  c".to_owned())]);
    }
}
