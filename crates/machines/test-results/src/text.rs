//! Decodes the text of a report or a console from any of the usual encodings.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// At least one byte in this many must be zero if text is to count as UTF-16 without a byte order mark.
const ZEROS_ONE_IN: usize = 3;

/// Decodes bytes: UTF-16 with or without a byte order mark, otherwise UTF-8. Invalid bytes become the replacement
/// character.
pub fn text(bytes: &[u8]) -> String {
    unicode(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned())
}

/// Decodes text that has a byte order mark or looks like UTF-16.
fn unicode(bytes: &[u8]) -> Option<String> {
    let (encoding, mark) =
        Encoding::for_bom(bytes).or_else(|| utf_16_without_mark(bytes).map(|encoding| (encoding, 0)))?;
    Some(encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned())
}

/// Returns the byte order of UTF-16 without a mark, if the bytes look like it. Programs that write UTF-16 to a pipe
/// leave out the mark, but Latin letters have a zero in every other byte.
pub fn utf_16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let zeros = |from: usize| bytes.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let (high, low) = (zeros(0), zeros(1));
    let is_many = |zeros: usize| zeros > 0 && zeros * ZEROS_ONE_IN >= bytes.len();
    match bytes.len().is_multiple_of(2) {
        true if is_many(low) && high * 4 < low => Some(UTF_16LE),
        true if is_many(high) && low * 4 < high => Some(UTF_16BE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_windows_are_decoded() {
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        assert_eq!(text(&wide("\u{feff}ok 1\r\n")), "ok 1\r\n");
        assert_eq!(text(&wide("ok 1 - no mark\r\n")), "ok 1 - no mark\r\n");
        assert_eq!(text(b"\xef\xbb\xbfok 1\n"), "ok 1\n");
        assert_eq!(text("größe".as_bytes()), "größe");
        assert_eq!(text(b"ok \xff"), "ok \u{fffd}");
    }
}
