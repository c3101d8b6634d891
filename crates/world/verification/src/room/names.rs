//! Paths as text: every path has one, also if its bytes are no text.
//!
//! Bytes that are no UTF-8 become letters of a private range, and letters of that range become such letters, byte by byte.
//! So no two paths have the same text, and no file is left out for its name.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

/// The letter for the byte 0; the letters for the others follow.
const FIRST: u32 = 0x0010_FF00;

/// Returns the text of a path.
pub(crate) fn text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match byte(letter) {
                None => text.push(letter),
                Some(_) => text.extend(letter.encode_utf8(&mut [0; 4]).bytes().filter_map(letter_of)),
            }
        }
        text.extend(chunk.invalid().iter().copied().filter_map(letter_of));
    }
    text
}

/// Returns the path of a text.
pub(crate) fn path(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match byte(letter) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(letter.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Returns a text as people can read it.
pub(crate) fn shown(text: &str) -> String {
    let each = |letter: char| byte(letter).map_or_else(|| letter.to_string(), |byte| format!("\\x{byte:02x}"));
    text.chars().map(each).collect()
}

fn letter_of(byte: u8) -> Option<char> {
    char::from_u32(FIRST + u32::from(byte))
}

fn byte(letter: char) -> Option<u8> {
    u32::from(letter).checked_sub(FIRST).and_then(|byte| u8::try_from(byte).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_a_text_of_its_own() {
        for bytes in [&b"lib/d\xff.sh"[..], b"a/b.py", "\u{10ff41}\u{e9}".as_bytes(), b"\xf4\x8f"] {
            let named = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            assert_eq!(path(&text(&named)), named);
        }
        assert_eq!(text(Path::new("a/b.py")), "a/b.py");
        assert_eq!(shown(&text(&PathBuf::from(OsString::from_vec(b"d\xff.sh".to_vec())))), "d\\xff.sh");
    }
}
