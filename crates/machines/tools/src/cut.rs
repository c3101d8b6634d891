//! Cuts long text and says in a marker how to read the rest.

/// The most bytes of text in one result: about 8,000 tokens.
pub(crate) const TEXT_BYTES_MAX: usize = 32 * 1024;

/// Returns the longest beginning of a text that has at most this many bytes and ends at a character.
pub(crate) fn beginning(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the longest end of a text that has at most this many bytes and begins at a character.
pub(crate) fn end(text: &str, bytes_max: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes_max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Cuts a text after its last whole line that fits, and adds a marker with the way to read the rest.
pub(crate) fn after_lines(text: &str, bytes_max: usize, rest: &str) -> (String, bool) {
    if text.len() <= bytes_max {
        return (text.to_owned(), false);
    }
    let kept = beginning(text, bytes_max);
    let kept = kept.rfind('\n').map_or(kept, |at| &kept[..=at]);
    let line_break = if kept.ends_with('\n') { "" } else { "\n" };
    (format!("{kept}{line_break}[cut: {} of {} bytes are shown; {rest}]\n", kept.len(), text.len()), true)
}

/// Cuts the middle out of a text: output begins with the command and ends with the errors.
pub(crate) fn middle(text: &str, bytes_max: usize, rest: &str) -> (String, bool) {
    if text.len() <= bytes_max {
        return (text.to_owned(), false);
    }
    let (head, tail) = (beginning(text, bytes_max / 4), end(text, bytes_max - bytes_max / 4));
    let head = head.rfind('\n').map_or(head, |at| &head[..=at]);
    let tail = tail.find('\n').map_or(tail, |at| &tail[at + 1..]);
    let gone = text.len() - head.len() - tail.len();
    let line_break = if head.ends_with('\n') { "" } else { "\n" };
    (format!("{head}{line_break}[cut: {gone} bytes are left out here; {rest}]\n{tail}"), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_says_how_to_read_the_rest() {
        assert_eq!(after_lines("a\nb\n", 4, "x"), ("a\nb\n".to_owned(), false));
        let cut = after_lines("aä\nbb\ncc\n", 8, "see below").0;
        assert_eq!(cut, "aä\nbb\n[cut: 7 of 10 bytes are shown; see below]\n");
        let text: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let (cut, is_cut) = middle(&text, 100, "ask for less");
        assert!(is_cut && cut.starts_with("line 0\n") && cut.ends_with("line 99\n"), "{cut}");
        assert!(cut.contains("bytes are left out here; ask for less]\n"), "{cut}");
    }
}
