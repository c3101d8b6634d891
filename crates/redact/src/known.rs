//! Secrets known by their value: keys that this process was given. Found wherever they stand, also percent-encoded, escaped or in base64.

use aho_corasick::{AhoCorasick, MatchKind};

/// The shortest value that is searched for: what is shorter occurs by chance.
const VALUE_BYTES_MIN: usize = 6;

/// Values to search for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Option<AhoCorasick>);

impl Known {
    pub(crate) fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut all: Vec<String> = values.into_iter().flat_map(|value| forms(value.as_ref())).collect();
        all.retain(|value| value.len() >= VALUE_BYTES_MIN);
        all.sort();
        all.dedup();
        if all.is_empty() {
            return Known(None);
        }
        Known(AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(all).ok())
    }

    /// The first of them in `text`.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = self.0.as_ref()?.find(aho_corasick::Input::new(text).span(from..text.len()))?;
        Some((found.start(), found.end()))
    }
}

/// A value as it may be written, line by line: lines are what texts are made of.
fn forms(value: &str) -> Vec<String> {
    let lines = value.lines().map(str::trim).filter(|line| line.len() >= VALUE_BYTES_MIN);
    lines.flat_map(|line| [line.to_owned(), percent(line), escaped(line), base64(line.as_bytes())]).collect()
}

fn percent(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    value
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn escaped(value: &str) -> String {
    let json = serde_json::Value::from(value).to_string();
    json.trim_matches('"').to_owned()
}

/// Without the padding and what depends on it, so that it is found within a longer text that begins with it.
fn base64(value: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32, shift: u32| char::from(DIGITS[(bits >> shift & 63) as usize]);
    let groups = value.chunks_exact(3).map(|bytes| u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]));
    groups.flat_map(|bits| [digit(bits, 18), digit(bits, 12), digit(bits, 6), digit(bits, 0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_searched_for_in_every_way_of_writing_it() {
        assert_eq!(
            forms("p@ss \"word\"x"),
            ["p@ss \"word\"x", "p%40ss%20%22word%22x", "p@ss \\\"word\\\"x", "cEBzcyAid29yZCJ4"]
        );
        assert_eq!(forms("short\n"), Vec::<String>::new());
    }
}
