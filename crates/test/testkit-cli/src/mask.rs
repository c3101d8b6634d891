//! Masks the parts of a printed line that differ from run to run: times, hashes and durations.

use crate::session::without_times;

/// Shortest run of hexadecimal digits that counts as a hash; `interlock` shortens hashes to this length.
const HASH_LENGTH_MIN: usize = 12;

/// The field of an outcome that holds the measured time.
const DURATION: &str = "\"duration_ms\":";

/// The shape of a moment; `0` stands for any digit.
const MOMENT: &str = "0000-00-00T00:00:00.000Z";

/// Returns the line with its times, hashes and durations replaced by fixed words.
pub fn masked(line: &str) -> String {
    without_durations(&without_hashes(&without_times(&without_moments(line))))
}

fn without_moments(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next() {
        let length = if is_moment(rest) { MOMENT.len() } else { letter.len_utf8() };
        out.push_str(if is_moment(rest) { "moment" } else { &rest[..length] });
        rest = &rest[length..];
    }
    out
}

fn is_moment(text: &str) -> bool {
    let is_like = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    text.len() >= MOMENT.len() && text.bytes().zip(MOMENT.bytes()).all(is_like)
}

fn without_hashes(text: &str) -> String {
    let (mut out, mut word) = (String::new(), String::new());
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            word.push(letter);
        } else {
            out.push_str(hash_or_word(&word));
            word.clear();
            out.push(letter);
        }
    }
    out + hash_or_word(&word)
}

fn hash_or_word(word: &str) -> &str {
    let is_hex = word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if word.len() >= HASH_LENGTH_MIN && is_hex { "hash" } else { word }
}

fn without_durations(text: &str) -> String {
    let mut parts = text.split(DURATION);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(DURATION);
        out.push('n');
        out.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn times_hashes_and_durations_are_masked() {
        assert_eq!(masked("08:06:15 (`evidence 583ae4331a4c`)"), "hh:mm:ss (`evidence hash`)");
        assert_eq!(masked("→ at 2026-11-17T07:16:43.472Z (in 19m)"), "→ at moment (in 19m)");
        assert_eq!(masked(r#"{"duration_ms":2054,"exit_code":0}"#), r#"{"duration_ms":n,"exit_code":0}"#);
    }

    #[test]
    fn short_numbers_and_words_are_kept() {
        assert_eq!(masked("18 configurations, deadbeef"), "18 configurations, deadbeef");
    }
}
