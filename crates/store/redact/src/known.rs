//! Secrets known by their value, such as keys that this process was given. They are found in any context, also
//! percent-encoded, escaped, in hexadecimal digits, or in base64 within a longer text.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE, Engine as _};

/// The minimum length of a value that is searched for: a shorter one occurs by chance.
const VALUE_BYTES_MIN: usize = 6;

/// The values to search for.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownValues {
    /// The values in all their notations, sorted.
    all: Vec<String>,
    finder: Option<AhoCorasick>,
}

impl KnownValues {
    pub(crate) fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        KnownValues::default().and(values)
    }

    /// Returns these values and more.
    pub(crate) fn and<S: AsRef<str>>(&self, values: impl IntoIterator<Item = S>) -> Self {
        let mut all = self.all.clone();
        all.extend(values.into_iter().flat_map(|value| forms(value.as_ref())));
        all.retain(|value| value.len() >= VALUE_BYTES_MIN);
        all.sort();
        all.dedup();
        KnownValues::of(all)
    }

    /// Returns the values that are not part of this text.
    pub(crate) fn except(&self, text: &str) -> Self {
        KnownValues::of(self.all.iter().filter(|value| !text.contains(value.as_str())).cloned().collect())
    }

    /// Reports if a value is part of this text.
    pub(crate) fn any_in(&self, text: &str) -> bool {
        self.next(text.as_bytes(), 0).is_some()
    }

    fn of(all: Vec<String>) -> Self {
        let build = || AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&all).ok();
        KnownValues { finder: (!all.is_empty()).then(build).flatten(), all }
    }

    /// Returns the first known value in `text` from `from` on.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = self.finder.as_ref()?.find(aho_corasick::Input::new(text).span(from..text.len()))?;
        Some((found.start(), found.end()))
    }
}

/// Returns the possible notations of a value, line by line, because texts are scanned by line.
fn forms(value: &str) -> Vec<String> {
    let lines = value.lines().map(str::trim).filter(|line| line.len() >= VALUE_BYTES_MIN);
    let plain = |line: &str| [line.to_owned(), percent(line), escaped(line)];
    lines.flat_map(|line| plain(line).into_iter().chain(hex(line.as_bytes())).chain(base64(line.as_bytes()))).collect()
}

fn hex(value: &[u8]) -> [String; 2] {
    let low: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    let high = low.to_ascii_uppercase();
    [low, high]
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

/// Encodes the value at each of the three places that it can have in a longer text, without the digits that depend on what
/// stands before and after it. In both alphabets.
fn base64(value: &[u8]) -> Vec<String> {
    let places = (0..3).filter_map(|skipped| value.get((3 - skipped) % 3..));
    let whole = places.map(|rest| &rest[..rest.len() / 3 * 3]).filter(|whole| whole.len() >= VALUE_BYTES_MIN);
    whole.flat_map(|whole| [BASE64_STANDARD.encode(whole), BASE64_URL_SAFE.encode(whole)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_found_in_every_notation() {
        let found = forms("p@ss \"word\"x");
        assert_eq!(found[..3], ["p@ss \"word\"x", "p%40ss%20%22word%22x", "p@ss \\\"word\\\"x"]);
        assert_eq!(
            found[3..5],
            ["704073732022 776f72642278".replace(' ', ""), "7040737320 22776F72642278".replace(' ', "")]
        );
        assert!(found.contains(&"cEBzcyAid29yZCJ4".to_owned()), "{found:?}");
        let known = KnownValues::new(["SyntheticValue77"]);
        for before in ["", "u", "us", "user:"] {
            let text = BASE64_STANDARD.encode(format!("{before}SyntheticValue77 and more"));
            assert!(known.any_in(&text), "{before}");
        }
        assert_eq!(forms("short\n"), Vec::<String>::new());
    }
}
