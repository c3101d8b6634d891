//! Escape sequences of terminals: colours and links can stand in the middle of a secret and hide it from a search.

use std::borrow::Cow;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// Returns true if the text has an escape sequence.
pub(crate) fn any(text: &[u8]) -> bool {
    text.contains(&ESCAPE)
}

/// Returns the text without escape sequences. Line ends stay.
pub(crate) fn without(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = text.get(at) {
        if byte == ESCAPE {
            at += 1 + length(&text[at + 1..]);
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
        let cases: [(&str, &str); 7] = [
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
