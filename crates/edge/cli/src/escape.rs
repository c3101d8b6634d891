//! Escapes untrusted text (event data, model text, user names, log lines), so that it cannot control a terminal.
//!
//! Control characters and marks that change the direction of text are shown as `\u{…}`. Line ends, tabs and plain
//! colours are kept.

use std::borrow::Cow;

/// Returns the text with every character escaped that would control a terminal.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|letter| steers(letter) && !matches!(letter, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(letter) = rest.chars().next() {
        if let Some(length) = colour(rest) {
            shown.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        match letter {
            '\n' | '\t' => shown.push(letter),
            letter if steers(letter) => shown.extend(letter.escape_unicode()),
            letter => shown.push(letter),
        }
        rest = &rest[letter.len_utf8()..];
    }
    Cow::Owned(shown)
}

/// Returns the length of the colour code that a text begins with. Codes that hide text or make it blink do not count.
fn colour(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\x1b[")?;
    let end = codes.find('m').filter(|end| *end <= 8)?;
    let is_harmless = |code: &str| matches!(code.parse::<u8>(), Ok(0 | 1 | 22 | 30..=37 | 39 | 90..=97));
    codes[..end].split(';').all(is_harmless).then_some(2 + end + 1)
}

/// Returns JSON text with the same characters escaped. They can occur only in its strings, so its meaning is unchanged.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    let is_odd = |letter: char| steers(letter) && letter != '\n';
    if !text.chars().any(is_odd) {
        return Cow::Borrowed(text);
    }
    // All of these characters are in the Basic Multilingual Plane, so four digits are enough.
    let spelled = |letter: char| match is_odd(letter) {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    };
    Cow::Owned(text.chars().map(spelled).collect())
}

/// Returns the name of a file for a line of text: line ends and tabs in it are escaped too, so that a name cannot look
/// like another line.
pub(crate) fn path(path: &std::path::Path) -> String {
    let name = path.to_string_lossy();
    let shown = |letter: char| match steers(letter) {
        true => letter.escape_unicode().to_string(),
        false => letter.to_string(),
    };
    name.chars().map(shown).collect()
}

/// Returns a text on one line, with a blank for every character that would control a terminal: for status lines, which
/// are short.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(|letter| if steers(letter) { ' ' } else { letter }).collect()
}

/// Returns true for control characters and for marks that change the direction of text.
fn steers(letter: char) -> bool {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{feff}'];
    letter.is_control()
        || turns.contains(&letter)
        || ('\u{202a}'..='\u{202e}').contains(&letter)
        || ('\u{2066}'..='\u{2069}').contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_spelled_out() {
        assert_eq!(shown("a\tb\nü → ✓"), "a\tb\nü → ✓");
        assert_eq!(shown("\x1b]0;title\x07"), "\\u{1b}]0;title\\u{7}");
        assert_eq!(shown("\x1b[2J\x1b[1mbold\x1b[0m"), "\\u{1b}[2J\x1b[1mbold\x1b[0m");
        assert_eq!(shown("\x1b[8mhidden\x1b[0m"), "\\u{1b}[8mhidden\x1b[0m");
        assert_eq!(shown("\u{202e}txt.exe\u{9b}31m\r"), "\\u{202e}txt.exe\\u{9b}31m\\u{d}");
        assert_eq!(line("a\x1b[2Jb\u{202e}"), "a [2Jb ");
        let name = std::path::Path::new("a\nrestored  b\t\x1b[31mc ü");
        assert_eq!(path(name), "a\\u{a}restored  b\\u{9}\\u{1b}[31mc ü");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({ "a": "x\u{202e}y\u{7f}\u{9b}z" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let spelled = json(&text).into_owned();
        assert!(spelled.contains("\\u202e") && spelled.contains("\\u009b"), "{spelled}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&spelled).unwrap(), value);
    }
}
