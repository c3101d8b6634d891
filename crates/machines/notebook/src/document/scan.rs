//! Finds the values in a JSON text without changing or interpreting them.
//!
//! A document is edited by replacing pieces of its text, so that every other byte stays as it is. The scanner accepts
//! more than JSON (Python writes `NaN`, editors write lone surrogates), because it only looks for the borders.

use std::ops::Range;

/// The position of a field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The name, decoded.
    pub(crate) name: String,
    /// The bytes of the value.
    pub(crate) value: Range<usize>,
}

/// Returns the fields of the object that begins at `at`, or `None` if there is none.
pub(crate) fn fields(text: &str, at: usize) -> Option<Vec<Field>> {
    let bytes = text.as_bytes();
    let mut fields = Vec::new();
    let mut at = opened(bytes, at, b'{')?;
    while *bytes.get(at)? != b'}' {
        let name = string(bytes, at)?;
        let colon = space(bytes, name);
        if *bytes.get(colon)? != b':' {
            return None;
        }
        let start = space(bytes, colon + 1);
        let end = value(bytes, start)?;
        fields.push(Field { name: serde_json::from_str(text.get(at..name)?).ok()?, value: start..end });
        at = next(bytes, end, b'}')?;
    }
    Some(fields)
}

/// Returns the positions of the items of the list that begins at `at`, or `None` if there is none.
pub(crate) fn items(text: &str, at: usize) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let mut items = Vec::new();
    let mut at = opened(bytes, at, b'[')?;
    while *bytes.get(at)? != b']' {
        let end = value(bytes, at)?;
        items.push(at..end);
        at = next(bytes, end, b']')?;
    }
    Some(items)
}

/// Returns the position of the first value of a list or an object.
fn opened(bytes: &[u8], at: usize, bracket: u8) -> Option<usize> {
    let at = space(bytes, at);
    (*bytes.get(at)? == bracket).then(|| space(bytes, at + 1))
}

/// Returns the position of the next value, or of the closing bracket.
fn next(bytes: &[u8], end: usize, bracket: u8) -> Option<usize> {
    let at = space(bytes, end);
    match *bytes.get(at)? {
        b',' => {
            let at = space(bytes, at + 1);
            (*bytes.get(at)? != bracket).then_some(at)
        }
        found => (found == bracket).then_some(at),
    }
}

fn space(bytes: &[u8], at: usize) -> usize {
    let blank = bytes.iter().skip(at).take_while(|byte| byte.is_ascii_whitespace()).count();
    at + blank
}

/// Returns the end of the string that begins at `at`.
fn string(bytes: &[u8], at: usize) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let mut at = at + 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the end of the value that begins at `at`. Nesting needs no stack: the kinds of brackets are not compared.
fn value(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = at;
    loop {
        match *bytes.get(at)? {
            b'"' => at = string(bytes, at)?,
            b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
            b'}' | b']' => (depth, at) = (depth.checked_sub(1)?, at + 1),
            byte if depth == 0 => {
                let word = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
                return (word > 0 && is_word(byte)).then_some(at + word);
            }
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_items_are_found_by_their_bytes() {
        let text = r#" { "a" : [ 1 , {"b": "]\"}"} , NaN ] , "c\u0064":"\ud800" , "e": {} }"#;
        let fields = fields(text, 0).unwrap();
        let read: Vec<_> = fields.iter().map(|field| (&*field.name, &text[field.value.clone()])).collect();
        assert_eq!(read, [("a", r#"[ 1 , {"b": "]\"}"} , NaN ]"#), ("cd", r#""\ud800""#), ("e", "{}")]);
        let items = items(text, fields[0].value.start).unwrap();
        assert_eq!(items.into_iter().map(|item| &text[item]).collect::<Vec<_>>(), ["1", r#"{"b": "]\"}"}"#, "NaN"]);
    }

    #[test]
    fn broken_text_is_refused() {
        for text in
            ["", "{", r#"{"a""#, r#"{"a":"#, r#"{"a":1"#, r#"{"a":1,"#, r#"{"a":1,}"#, r#"{"a":}"#, r#"{"a":"\"#, "[]"]
        {
            assert_eq!(fields(text, 0), None, "{text}");
        }
        for text in ["[", "[1", "[1,", "[1,]", "[}", "[,]", "{}"] {
            assert_eq!(items(text, 0), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let text = format!("[{}{}]", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(items(&text, 0).unwrap().len(), 1);
    }
}
