//! Decodes the text of a report or a console.

use crate::script_host::text::unicode;

/// Decodes bytes: UTF-16 with or without a byte order mark, otherwise UTF-8. Invalid bytes become the replacement
/// character.
pub fn text(bytes: &[u8]) -> String {
    unicode(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned())
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
