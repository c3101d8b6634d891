//! What can stand in the middle of a secret and hide it from a search: escape sequences of terminals, and characters without
//! a width. Characters of full width, as Chinese and Japanese texts have them, are read like the usual ones.

use std::borrow::Cow;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// Returns true if the text has something that `without` changes.
pub(crate) fn any(text: &[u8]) -> bool {
    text.contains(&ESCAPE) || (0..text.len()).filter(|&at| text[at] >= 0xc2).any(|at| unusual(&text[at..]).is_some())
}

/// Returns the length of the character that a text begins with, and the character in its place, if it has no width or the
/// full width.
fn unusual(text: &[u8]) -> Option<(usize, Option<u8>)> {
    match *text {
        // The soft hyphen; spaces, joiners and marks of direction without width; the mark of the byte order.
        [0xc2, 0xad, ..] => Some((2, None)),
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa0..=0xa4, ..] | [0xef, 0xbb, 0xbf, ..] => {
            Some((3, None))
        }
        // U+FF01 to U+FF5E are the characters from `!` to `~`.
        [0xef, 0xbc, last @ 0x81..=0xbf, ..] => Some((3, Some(last - 0x60))),
        [0xef, 0xbd, last @ 0x80..=0x9e, ..] => Some((3, Some(last - 0x20))),
        _ => None,
    }
}

/// Returns the text without escape sequences and hidden characters. Line ends stay.
pub(crate) fn without(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = text.get(at) {
        if byte == ESCAPE {
            at += 1 + length(&text[at + 1..]);
        } else if let Some((length, usual)) = unusual(&text[at..]) {
            plain.extend(usual);
            at += length;
        } else {
            plain.push(byte);
            at += 1;
        }
    }
    plain
}

/// Returns the length of the sequence that follows an escape character. A sequence ends at a line end at the latest.
fn length(rest: &[u8]) -> usize {
    let count = |from: usize, is: fn(u8) -> bool| rest[from.min(rest.len())..].iter().take_while(|b| is(**b)).count();
    let is_part = |byte: u8| (0x20..=0x3f).contains(&byte);
    match rest.first() {
        None => 0,
        Some(b'[') => {
            let end = 1 + count(1, is_part);
            end + usize::from(rest.get(end).is_some_and(|last| (0x40..=0x7e).contains(last)))
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = 1 + count(1, |byte| !matches!(byte, BELL | ESCAPE | b'\n' | b'\r'));
            end + usize::from(rest.get(end) == Some(&BELL))
        }
        Some(_) => {
            let end = count(0, |byte| (0x20..=0x2f).contains(&byte));
            end + usize::from(rest.get(end).is_some_and(|last| !matches!(last, b'\n' | b'\r' | &ESCAPE)))
        }
    }
}

/// Joins the redacted forms of a text with escape sequences and of the same text without them: a line in which only the
/// second one has a mark loses its sequences, all others keep them.
pub(crate) fn joined<'t>(coloured: Cow<'t, [u8]>, plain: &[u8], redacted: Cow<'_, [u8]>) -> Cow<'t, [u8]> {
    let Cow::Owned(redacted) = redacted else { return coloured };
    let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (coloured, plain, redacted_lines) = (lines(&coloured), lines(plain), lines(&redacted));
    // A mark can stand for several lines. Then the lines do not correspond to each other.
    if coloured.len() != plain.len() || plain.len() != redacted_lines.len() {
        return Cow::Owned(redacted);
    }
    let chosen = coloured
        .into_iter()
        .zip(plain)
        .zip(redacted_lines)
        .map(|((coloured, plain), redacted)| if redacted == plain { coloured } else { redacted });
    Cow::Owned(chosen.flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_removed_and_text_stays() {
        let cases: [(&str, &str); 9] = [
            ("a\u{200b}b\u{2060}\u{feff}\u{ad}c", "abc"),
            ("ＡＰＩ＿ｋｅｙ：１～", "API_key:1~"),
            ("a\x1b[01;31mb\x1b[m\x1b[Kc", "abc"),
            ("\x1b]8;;https://x.org/\x1b\\link\x1b]8;;\x07!", "link!"),
            ("\x1b(Ba\x1b=b\x1b7c", "abc"),
            ("cut \x1b[3", "cut "),
            ("cut \x1b", "cut "),
            ("title \x1b]0;never ended\nnext", "title \nnext"),
            ("\x1b[\nx", "\nx"),
        ];
        for (text, plain) in cases {
            assert_eq!(String::from_utf8(without(text.as_bytes())).unwrap(), plain, "{text:?}");
        }
    }
}
