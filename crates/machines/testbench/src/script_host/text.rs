//! Decodes the output of other systems: UTF-8 and UTF-16 with and without a byte order mark, console and Windows code
//! pages, and line endings.

use encoding_rs::Encoding;
use interlock_test_results::utf_16_without_mark;
use serde::Deserialize;

/// The upper halves of the DOS and Windows console code pages that are not also Windows code pages.
const CONSOLES: [(u32, &str); 2] = [
    (
        437,
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
         └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    ),
    (
        850,
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
         └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    ),
];

/// The encoding of a host's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum TextEncoding {
    /// Detects the encoding from the byte order mark or the content, and otherwise uses the code page of the host's
    /// console.
    #[default]
    Auto,
    /// Uses this code page.
    As(Page),
}

/// A character encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// A console code page, as an index into the list.
    Console(usize),
    /// Any other encoding.
    Other(&'static Encoding),
}

impl TryFrom<String> for TextEncoding {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name.eq_ignore_ascii_case("auto") {
            return Ok(TextEncoding::Auto);
        }
        let number = name.to_ascii_lowercase();
        let number = number.strip_prefix("cp").unwrap_or(&number).parse().ok();
        let page = number.and_then(Page::numbered).or_else(|| Encoding::for_label(name.as_bytes()).map(Page::Other));
        page.map(TextEncoding::As)
            .ok_or_else(|| format!("`{name}` is not an encoding; use `auto`, `utf-16le`, `cp850` or similar"))
    }
}

impl Page {
    /// Returns the code page with a Windows number.
    pub(crate) fn numbered(number: u32) -> Option<Self> {
        if let Some(at) = CONSOLES.iter().position(|(known, _)| *known == number) {
            return Some(Page::Console(at));
        }
        let label = match number {
            65001 => "utf-8".to_owned(),
            1200 => "utf-16le".to_owned(),
            1201 => "utf-16be".to_owned(),
            932 => "shift_jis".to_owned(),
            936 => "gbk".to_owned(),
            949 => "euc-kr".to_owned(),
            950 => "big5".to_owned(),
            866 => "ibm866".to_owned(),
            54936 => "gb18030".to_owned(),
            28591..=28606 => format!("iso-8859-{}", number - 28590),
            other => format!("windows-{other}"),
        };
        Encoding::for_label(label.as_bytes()).map(Page::Other)
    }

    fn read(self, bytes: &[u8]) -> String {
        match self {
            Page::Console(at) => {
                let upper = CONSOLES.get(at).map(|(_, upper)| *upper).unwrap_or_default();
                let letter = |byte: &u8| match byte {
                    0..128 => char::from(*byte),
                    _ => upper.chars().nth(usize::from(*byte) - 128).unwrap_or(char::REPLACEMENT_CHARACTER),
                };
                bytes.iter().map(letter).collect()
            }
            Page::Other(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
        }
    }
}

/// Decodes text and converts line endings to `\n`. `console` is the code page of the host's console.
pub(crate) fn read(bytes: &[u8], reading: TextEncoding, console: Option<Page>) -> String {
    let text = match (Encoding::for_bom(bytes), reading) {
        (Some((encoding, mark)), _) => encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned(),
        (None, TextEncoding::As(page)) => page.read(bytes),
        (None, TextEncoding::Auto) => guessed(bytes, console),
    };
    text.replace("\r\n", "\n")
}

/// Returns true if the bytes are not UTF-8, or have a byte order mark.
pub(crate) fn is_foreign(bytes: &[u8]) -> bool {
    Encoding::for_bom(bytes).is_some() || std::str::from_utf8(bytes).is_err() || utf_16_without_mark(bytes).is_some()
}

fn guessed(bytes: &[u8], console: Option<Page>) -> String {
    if let Some(encoding) = utf_16_without_mark(bytes) {
        return encoding.decode_without_bom_handling(bytes).0.into_owned();
    }
    match (std::str::from_utf8(bytes), console) {
        (Ok(text), _) => text.to_owned(),
        (Err(_), Some(page)) => page.read(bytes),
        (Err(_), None) => Page::Other(encoding_rs::WINDOWS_1252).read(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> TextEncoding {
        TextEncoding::try_from(name.to_owned()).unwrap()
    }

    #[test]
    fn text_is_decoded_in_every_encoding() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let utf16_be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>();
        let marked = |mark: &[u8], rest: Vec<u8>| [mark, &rest].concat();
        let auto = TextEncoding::Auto;
        let cases: Vec<(Vec<u8>, TextEncoding, &str)> = vec![
            (b"PASS a\r\nPASS b\r\n".into(), auto, "PASS a\nPASS b\n"),
            (b"50 %\r100 %\r\n".into(), auto, "50 %\r100 %\n"),
            ("größer".into(), auto, "größer"),
            (marked(b"\xef\xbb\xbf", "ü\r\n".into()), auto, "ü\n"),
            (marked(b"\xff\xfe", utf16("Prüfung\r\n")), auto, "Prüfung\n"),
            (marked(b"\xfe\xff", utf16_be("Prüfung\r\n")), auto, "Prüfung\n"),
            (utf16("no mark\r\n"), auto, "no mark\n"),
            (utf16_be("no mark\r\n"), auto, "no mark\n"),
            (marked(b"\xff\xfe", utf16("測試 通過\r\n")), page("cp850"), "測試 通過\n"),
            (utf16("測試"), page("utf-16le"), "測試"),
            (b"Gr\x94\xe1e \x9c \xdb".into(), page("cp437"), "Größe £ █"),
            (b"Gr\x94\xe1e \x9b \xb5".into(), page("CP850"), "Größe ø Á"),
            (b"\x80 \x84Gr\xf6\xdfe\x93".into(), page("1252"), "€ „Größe“"),
            (b"\xb2\xe2\xca\xd4\xcd\xa8\xb9\xfd".into(), page("cp936"), "测试通过"),
            (b"\x83e\x83X\x83g \x5c".into(), page("932"), "テスト \\"),
            (b"\x8f\xe0\xae\xa2\xa5\xe0\xaa\xa0".into(), page("cp866"), "Проверка"),
            (b"broken \xff\xfftail".into(), auto, "broken ÿÿtail"),
            (b"".into(), auto, ""),
            (b"odd\x00".into(), auto, "odd\0"),
            (b"odd\x00".into(), page("utf-16le"), "摯d"),
        ];
        for (bytes, reading, expected) in cases {
            assert_eq!(read(&bytes, reading, None), expected, "{bytes:x?} {reading:?}");
        }
    }

    #[test]
    fn console_code_page_is_the_fallback() {
        let console = Page::numbered(850);
        assert_eq!(read(b"Gr\x94\xe1e", TextEncoding::Auto, console), "Größe");
        assert_eq!(read("Größe".as_bytes(), TextEncoding::Auto, console), "Größe");
    }

    #[test]
    fn unknown_encodings_are_refused() {
        for name in ["", "cp9999", "klingon"] {
            assert!(TextEncoding::try_from(name.to_owned()).is_err(), "{name}");
        }
        assert_eq!(Page::numbered(9_999), None);
    }

    #[test]
    fn arbitrary_bytes_are_decoded() {
        let mut bytes = Vec::new();
        for number in 0..5_000_u32 {
            bytes.push((number.wrapping_mul(2_654_435_761) >> 24) as u8);
            if number % 37 == 0 {
                for reading in [TextEncoding::Auto, page("cp437"), page("932"), page("utf-16be")] {
                    let _ = read(&bytes, reading, None);
                }
            }
        }
        assert!(is_foreign(&bytes));
    }
}
