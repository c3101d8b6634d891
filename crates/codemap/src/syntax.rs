//! A light check of syntax: whether a change of a file brings in an error that its grammar sees.
//!
//! A grammar does not know macros, so it finds errors in good files too. Only a file without any is checked, and only
//! for the first error that the change brings.

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
    match (first(before)?, first(after)?) {
        (None, error) => error,
        (Some(_), _) => None,
    }
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
        assert_eq!(check("a.c", "int a;\nint b;\n", "int a;\nint b = ;\n"), Some(2));
        assert_eq!(check("a.c", "int f(void) { return 1; }\n", "int f(void) { return 1;\n"), Some(1));
        assert_eq!(check("a.py", "x = 1\n", "x = (1\n"), Some(1));
        assert_eq!(check("a.c", "int a;\n", "int a = 3;\n"), None);
        assert_eq!(check("a.c", "MACRO(a b { c\n", "MACRO(a b { c d\n"), None, "the grammar does not fit it");
        assert_eq!(check("a.txt", "a", "((("), None);
    }
}
