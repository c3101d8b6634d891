//! The position of a value in a JSON text. The JSON parser does not report positions, so the text is scanned again if
//! there is a problem. The text is known to be valid JSON at that point.

use crate::problem;
use interlock_chart::Span;

/// A step from a value to one of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The field of an object.
    Key(String),
    /// The index in a list.
    Item(usize),
}

/// Returns the span of the value at the end of a path, or of the last value on the path that exists.
pub(super) fn find(text: &str, path: &[Step]) -> Span {
    let mut cursor = Cursor { text, at: 0 };
    let mut found = 0..1;
    for step in path {
        let Some(range) = cursor.enter(step) else { break };
        found = range;
    }
    problem::span(found.start.min(text.len())..found.end.min(text.len()))
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    /// Moves to the value that a step leads to. Returns the span of its key, or of its first byte in a list.
    fn enter(&mut self, step: &Step) -> Option<std::ops::Range<usize>> {
        self.blank();
        let opening = self.peek()?;
        if !matches!(opening, b'{' | b'[') {
            return None;
        }
        self.at += 1;
        let mut index = 0;
        loop {
            self.blank();
            if matches!(self.peek()?, b'}' | b']') {
                return None;
            }
            let start = self.at;
            let is_it = if opening == b'{' { self.key()? == *step } else { *step == Step::Item(index) };
            let range = start..self.at.max(start + 1);
            self.blank();
            if is_it {
                return Some(range);
            }
            self.skip()?;
            self.blank();
            if self.peek()? == b',' {
                self.at += 1;
            }
            index += 1;
        }
    }

    /// Reads a key and the colon after it.
    fn key(&mut self) -> Option<Step> {
        let start = self.at;
        self.string()?;
        let key = serde_json::from_str(self.text.get(start..self.at)?).ok()?;
        let end = self.at;
        self.blank();
        self.at += usize::from(self.peek()? == b':');
        // The colon is not part of the span; usually it directly follows the key.
        self.at = self.at.max(end);
        Some(Step::Key(key))
    }

    /// Skips one value of any kind.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            self.blank();
            match self.peek()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' => {
                    self.at += 1;
                    continue;
                }
                _ => self.word(),
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.find(|letter: char| letter.is_whitespace() || ",:]}".contains(letter)).unwrap_or(rest.len());
        self.at += length.max(1);
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, path: &[Step], expected: &str) {
        let span = find(text, path);
        assert_eq!(&text[span.start as usize..span.end as usize], expected, "{text} {path:?}");
    }

    #[test]
    fn a_path_leads_to_its_key_or_item() {
        let key = |name: &str| Step::Key(name.to_owned());
        let text = r#"{ "a": [1, {"b\"é": "]"}, "x"], "c" : {"d": null, "e": -1.5e3} }"#;
        check(text, &[key("a")], "\"a\":");
        check(text, &[key("a"), Step::Item(1), key("b\"é")], "\"b\\\"é\":");
        check(text, &[key("a"), Step::Item(2)], "\"");
        check(text, &[key("c"), key("e")], "\"e\":");
        check(text, &[key("c"), key("missing")], "\"c\" :");
        check(text, &[], "{");
        check("", &[Step::Item(0)], "");
    }
}
