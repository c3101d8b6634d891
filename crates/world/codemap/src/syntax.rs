//! A light check of syntax: whether a change of a file brings in an error that its grammar sees.
//!
//! A grammar does not know macros, so it finds errors in good files too. Only a file without any is checked, only for the
//! first error that the change brings, and in C and C++ only if the change leaves a bracket open or closes one too many.

use tree_sitter::{Node, Parser};

use crate::language::Language;

/// The largest file that is parsed.
const BYTES_MAX: usize = 1 << 20;

/// Returns the line, from 1, at which a changed file has a syntax error that it did not have before; `None` if it has
/// none, if its language is not known, or if the grammar does not fit the file as it was.
pub fn new_error(path: &str, before: &[u8], after: &[u8]) -> Option<usize> {
    if before.len().max(after.len()) > BYTES_MAX {
        return None;
    }
    let (grammar, _) = Language::of(path).with_content(path, after).grammar()?;
    let mut parser = Parser::new();
    parser.set_language(&grammar).ok()?;
    let mut first = |text: &[u8]| Some(first_error(parser.parse(text, None)?.root_node()));
    let error = match (first(before)?, first(after)?) {
        (None, error) => error,
        (Some(_), _) => None,
    };
    let has_macros = matches!(Language::of(path), Language::C | Language::Cpp);
    error.filter(|_| !has_macros || is_balanced(before) && !is_balanced(after))
}

/// Reports whether every bracket of a C text is closed, without those in comments, texts and characters.
fn is_balanced(text: &[u8]) -> bool {
    let (mut open, mut at) = (Vec::new(), 0);
    let find = |from: usize, end: &[u8]| {
        let rest = text.get(from..).unwrap_or_default();
        rest.windows(end.len()).position(|part| part == end).map_or(text.len(), |found| from + found + end.len())
    };
    while let Some(byte) = text.get(at) {
        at = match (byte, text.get(at + 1)) {
            (b'/', Some(b'/')) => find(at, b"\n"),
            (b'/', Some(b'*')) => find(at + 2, b"*/"),
            (b'"' | b'\'', _) => quoted(text, at),
            (b'(' | b'[' | b'{', _) => {
                open.push(*byte);
                at + 1
            }
            (b')' | b']' | b'}', _) => {
                let opener = open.pop();
                if !matches!((opener, byte), (Some(b'('), b')') | (Some(b'['), b']') | (Some(b'{'), b'}')) {
                    return false;
                }
                at + 1
            }
            _ => at + 1,
        };
    }
    open.is_empty()
}

/// Returns the position after a text or a character, which ends at its quote or at the end of its line.
fn quoted(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at + 1,
            byte if *byte == text[start] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at
}

fn first_error(root: Node<'_>) -> Option<usize> {
    if !root.has_error() {
        return None;
    }
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return Some(node.start_position().row + 1);
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_that_a_change_brings_is_reported() {
        let check = |path: &str, before: &str, after: &str| new_error(path, before.as_bytes(), after.as_bytes());
        assert_eq!(check("a.c", "int a;\nint b;\n", "int a;\nint b = (3;\n"), Some(2));
        assert_eq!(check("a.rs", "fn a() {}\n", "fn a() { let = 3; }\n"), Some(1));
        let each = "void f(void) { LIST_FOREACH(x, &head) { g(x, '(', \"}\"); } /* ( */ }\n";
        assert_eq!(check("a.c", "void f(void) { }\n", each), None, "a macro is no error");
        assert_eq!(check("a.c", "int f(void) { return 1; }\n", "int f(void) { return 1;\n"), Some(1));
        assert_eq!(check("a.py", "x = 1\n", "x = (1\n"), Some(1));
        assert_eq!(check("a.c", "int a;\n", "int a = 3;\n"), None);
        assert_eq!(check("a.c", "MACRO(a b { c\n", "MACRO(a b { c d\n"), None, "the grammar does not fit it");
        assert_eq!(check("a.txt", "a", "((("), None);
    }
}
