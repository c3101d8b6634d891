//! The literals of a test that say what is right, with other values for them.
//!
//! A caller writes the other values into a test and runs it: a case that still passes compares nothing, whatever makes it
//! pass. Only equality says what is right; a bound (`<`), a denial (`!=`, `not.toBe`) and the argument of a function under
//! test do not. What is not recognised stays as it is.

use std::ops::Range;

use tree_sitter::Node;

use crate::functions::{parse, visit};

/// A literal of a test that says what is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Its bytes.
    pub range: Range<usize>,
    /// A literal of the same kind with another value.
    pub other: String,
    /// True if an assertion compares it. Otherwise it is a value in a table of cases, or of a condition.
    pub is_asserted: bool,
    /// The name of the function, or the title of the case, that it stands in; empty if it stands in none.
    pub case: String,
}

/// Parts of the names of functions that compare their arguments.
const COMPARING: [&str; 10] =
    ["assert", "expect", "equal", "eql", "same", "tobe", "tomatch", "tocontain", "approx", "close"];

/// Whole names of such functions.
const COMPARING_NAMES: [&str; 6] = ["is", "eq", "cmp", "check_eq", "expect_eq", "strict"];

/// Parts of the names of functions that deny.
const DENYING: [&str; 7] = ["not", "_ne", "unequal", "refute", "differ", "greater", "less"];

/// The kinds of nodes that hold the values of a list, a table or a structure.
const CONTAINERS: [&str; 20] = [
    "list",
    "tuple",
    "set",
    "dictionary",
    "pair",
    "array",
    "object",
    "array_expression",
    "tuple_expression",
    "parenthesized_expression",
    "composite_literal",
    "literal_value",
    "literal_element",
    "keyed_element",
    "initializer_list",
    "array_initializer",
    "list_literal",
    "set_or_map_literal",
    "unary_expression",
    "unary_operator",
];

/// The kinds of nodes that give a value to a name.
const NAMING: [&str; 8] = [
    "assignment",
    "variable_declarator",
    "const_item",
    "let_declaration",
    "init_declarator",
    "const_spec",
    "var_spec",
    "short_var_declaration",
];

/// Returns the expectations of a test, in their order; empty if its language has no grammar.
pub fn expectations(path: &str, text: &str) -> Vec<Expectation> {
    let Some(tree) = parse(path, text) else { return Vec::new() };
    let mut found = Vec::new();
    visit(tree.root_node(), &mut |node| {
        let (literals, is_asserted) = match node.kind() {
            "comparison_operator" | "binary_expression" | "equality_expression" => compared(node, text),
            "arguments" | "argument_list" => (of_call(node, text), true),
            "token_tree" => (of_macro(node, text), true),
            kind if CONTAINERS.contains(&kind) => (row(node), false),
            kind if NAMING.contains(&kind) => (named(node), false),
            _ => return,
        };
        for literal in literals {
            let source = text.get(literal.byte_range()).unwrap_or_default();
            if let Some(other) = other(literal.kind(), source) {
                let case = case(literal, text);
                found.push(Expectation { range: literal.byte_range(), other, is_asserted, case });
            }
        }
    });
    found.sort_by_key(|one| (one.range.start, !one.is_asserted));
    let mut end = 0;
    found.retain(|one| {
        let is_apart = one.range.start >= end;
        end = if is_apart { one.range.end } else { end };
        is_apart
    });
    found
}

/// Returns the literals of a comparison for equality. A check can also say what is wrong: `if (a != 3) fail();`.
fn compared<'t>(node: Node<'t>, text: &str) -> (Vec<Node<'t>>, bool) {
    let source = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let mut cursor = node.walk();
    let operators: Vec<&str> = node.children(&mut cursor).filter(|child| !child.is_named()).map(source).collect();
    let is_asserted = is_in_assertion(node, text);
    let is_equality = operators.iter().any(|operator| ["==", "==="].contains(operator));
    let is_denial = operators.iter().any(|operator| ["!=", "!=="].contains(operator));
    if operators.len() != 1 || !is_equality && (!is_denial || is_asserted) {
        return (Vec::new(), false);
    }
    let mut cursor = node.walk();
    let literals = node.named_children(&mut cursor).filter_map(literal).collect();
    (literals, is_asserted || is_denial && is_condition(node))
}

fn is_condition(node: Node<'_>) -> bool {
    std::iter::successors(node.parent(), Node::parent).take(4).any(|above| above.kind().starts_with("if"))
}

/// Returns true if a node is a part of an assertion, and no statement stands between the two.
fn is_in_assertion(node: Node<'_>, text: &str) -> bool {
    let mut above = node.parent();
    while let Some(node) = above {
        match node.kind() {
            "assert_statement" => return true,
            "arguments" | "argument_list" if is_comparing(callee(node, text)) => return true,
            kind if kind.ends_with("statement") || kind.contains("block") || kind.contains("body") => return false,
            _ => above = node.parent(),
        }
    }
    false
}

/// Returns the literals among the arguments of a function that compares them.
fn of_call<'t>(arguments: Node<'t>, text: &str) -> Vec<Node<'t>> {
    let callee = callee(arguments, text);
    if !is_comparing(callee) || is_denied(arguments, text) {
        return Vec::new();
    }
    let mut cursor = arguments.walk();
    let given = arguments.named_children(&mut cursor).filter(|given| !given.kind().starts_with("keyword"));
    // The third one is a message or a tolerance.
    given
        .take(2)
        .map(|given| if given.kind() == "argument" { given.named_child(0).unwrap_or(given) } else { given })
        .filter_map(literal)
        .collect()
}

/// Returns the literals of an assertion that is a macro, whose arguments no grammar reads.
fn of_macro<'t>(tokens: Node<'t>, text: &str) -> Vec<Node<'t>> {
    let source = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let Some(above) = tokens.parent().filter(|above| above.kind() == "macro_invocation") else { return Vec::new() };
    let name = above.child_by_field_name("macro").map(source).unwrap_or_default();
    if !is_comparing(name) {
        return Vec::new();
    }
    let mut cursor = tokens.walk();
    let (mut found, mut commas, mut before) = (Vec::new(), 0, "");
    let is_bare = !name.contains("eq");
    let children: Vec<Node<'t>> = tokens.children(&mut cursor).collect();
    for (at, node) in children.iter().enumerate() {
        commas += usize::from(source(*node) == ",");
        let is_beside_equality = before == "==" || children.get(at + 1).is_some_and(|next| source(*next) == "==");
        let is_value = before.is_empty() || ["(", ",", "&", "-", "!", "=="].contains(&before) || starts_upper(before);
        if commas < 2 && (!is_bare || is_beside_equality || starts_upper(before)) {
            match node.kind() {
                "token_tree" if is_value => found.extend(last_token(*node)),
                _ if is_value => found.extend(Some(*node).filter(|node| is_literal(node.kind()))),
                _ => {}
            }
        }
        before = source(*node);
    }
    found
}

/// Returns the last literal of the tokens of a list or of the arguments of a constructor.
fn last_token(tokens: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = tokens.walk();
    let last = tokens.named_children(&mut cursor).last()?;
    match last.kind() {
        "token_tree" => last_token(last),
        kind => is_literal(kind).then_some(last),
    }
}

/// Returns the literal that a name stands for: an assertion may compare the name.
fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let value = ["value", "right"].iter().find_map(|field| node.child_by_field_name(field));
    let value = value
        .map(|value| if value.kind() == "expression_list" { value.named_child(0).unwrap_or(value) } else { value });
    value.and_then(literal).into_iter().collect()
}

/// Returns the last literal of a row in a table of cases.
fn row(node: Node<'_>) -> Vec<Node<'_>> {
    let is_inside = std::iter::successors(node.parent(), Node::parent)
        .take_while(|above| above.kind().contains("element") || CONTAINERS.contains(&above.kind()))
        .any(|above| is_list(above.kind()));
    let is_row = is_list(node.kind()) && is_inside;
    literal(node).filter(|_| is_row).into_iter().collect()
}

fn is_list(kind: &str) -> bool {
    CONTAINERS.contains(&kind)
        && ![
            "pair",
            "keyed_element",
            "literal_element",
            "parenthesized_expression",
            "unary_expression",
            "unary_operator",
        ]
        .contains(&kind)
}

/// Returns the literal that an expression is, or the last one of a list, a structure or the arguments of a constructor.
fn literal(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node;
    for _ in 0..16 {
        if is_literal(at.kind()) {
            return Some(at);
        }
        let is_open = CONTAINERS.contains(&at.kind()) || at.kind() == "new_expression";
        at = at.named_child(u32::try_from(at.named_child_count().checked_sub(1)?).ok()?).filter(|_| is_open)?;
    }
    None
}

fn is_literal(kind: &str) -> bool {
    let is_number = kind.ends_with("_literal")
        && ["int", "integer", "float", "number", "floating"].iter().any(|part| kind.contains(part));
    let is_text = matches!(kind, "string" | "template_string" | "raw_string_literal" | "interpreted_string_literal");
    is_number
        || is_text
        || matches!(
            kind,
            "integer"
                | "float"
                | "number"
                | "string_literal"
                | "char_literal"
                | "rune_literal"
                | "true"
                | "false"
                | "boolean_literal"
        )
}

/// Returns a literal of the same kind with another value.
fn other(kind: &str, source: &str) -> Option<String> {
    match source {
        "true" => return Some("false".to_owned()),
        "false" => return Some("true".to_owned()),
        "True" => return Some("False".to_owned()),
        "False" => return Some("True".to_owned()),
        _ => {}
    }
    if kind.contains("char") || kind.contains("rune") {
        let mut letters = source.chars().filter(|letter| *letter != '\'');
        let letter = letters.next().filter(char::is_ascii_alphanumeric)?;
        let next = if matches!(letter, 'z' | 'Z' | '9') { 'b' } else { char::from_u32(u32::from(letter) + 1)? };
        return letters.next().is_none().then(|| source.replacen(letter, &next.to_string(), 1));
    }
    if kind.contains("string") {
        return other_text(source);
    }
    other_number(source)
}

/// Returns a text that differs as little as possible: in the case of its last letter, for comparisons that became generous.
fn other_text(source: &str) -> Option<String> {
    let end = source.trim_end_matches(['\'', '"', '`', '#']).len().max(1);
    let (text, quote) = source.split_at_checked(end).filter(|(_, quote)| !quote.is_empty())?;
    let start = text.find(['\'', '"', '`'])? + 1;
    let mut letters = text.char_indices().filter(|(at, letter)| *at >= start && letter.is_ascii_alphabetic());
    let is_plain = |at: &usize| !text[..*at].ends_with(['\\', '%', '{', '$']);
    let Some((at, letter)) = letters.rfind(|(at, _)| is_plain(at)) else {
        return Some(format!("{text}q{quote}"));
    };
    let other = if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
    Some(format!("{}{other}{}{quote}", &text[..at], &text[at + 1..]))
}

fn other_number(source: &str) -> Option<String> {
    let digits =
        source.len() - source.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '_').len();
    let (whole, rest) = source.split_at(digits);
    let fraction = rest
        .strip_prefix('.')
        .map(|rest| rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len());
    match fraction {
        // The last digit of the fraction: close by, for comparisons that became generous.
        Some(length) if length > 0 => {
            let at = digits + length;
            let digit = (source[at..=at].parse::<u8>().ok()? + 3) % 10;
            Some(format!("{}{digit}{}", &source[..at], &source[at + 1..]))
        }
        _ if !whole.is_empty() && !rest.starts_with(['x', 'X', 'b', 'o']) => {
            let number: u64 = whole.replace('_', "").parse().ok()?;
            Some(format!("{}{rest}", number.checked_add(1)?))
        }
        _ => {
            let (at, digit) = source.char_indices().rfind(|(_, letter)| letter.is_ascii_digit())?;
            Some(format!("{}{}{}", &source[..at], (digit.to_digit(10)? + 1) % 2, &source[at + 1..]))
        }
    }
}

/// Returns the last name before the arguments of a call.
fn callee<'t>(arguments: Node<'_>, text: &'t str) -> &'t str {
    let before = text.get(..arguments.start_byte()).unwrap_or_default().trim_end();
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    &before[before.trim_end_matches(is_name).len()..]
}

fn is_comparing(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_denial = DENYING.iter().any(|part| name.contains(part));
    !is_denial && (COMPARING_NAMES.contains(&name.as_str()) || COMPARING.iter().any(|part| name.contains(part)))
}

/// Returns true for `expect(a).not.toBe(3)`.
fn is_denied(arguments: Node<'_>, text: &str) -> bool {
    let before = text.get(..arguments.start_byte()).unwrap_or_default();
    let name = before.len() - callee(arguments, text).len();
    let chain = before.get(..name).unwrap_or_default();
    [".not.", ".isNot.", "isNot."].iter().any(|part| chain.ends_with(part))
}

fn starts_upper(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_uppercase())
}

/// Returns the name of the function around a literal, or the title of the case.
fn case(literal: Node<'_>, text: &str) -> String {
    let source = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let mut above = literal.parent();
    while let Some(node) = above {
        let kind = node.kind();
        if kind.contains("function") || kind.contains("method") {
            let name = node.child_by_field_name("name").or_else(|| node.child_by_field_name("declarator"));
            if let Some(name) = name {
                return source(name).split('(').next().unwrap_or_default().to_owned();
            }
            let title =
                node.parent().filter(|given| given.kind() == "arguments").and_then(|given| given.named_child(0));
            if let Some(title) = title.filter(|title| is_literal(title.kind())) {
                return source(title).trim_matches(['\'', '"', '`']).to_owned();
            }
        }
        above = node.parent();
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(path: &str, text: &str) -> String {
        let mut changed = text.to_owned();
        for one in expectations(path, text).into_iter().rev() {
            changed.replace_range(one.range, &one.other);
        }
        changed
    }

    #[test]
    fn expected_values_have_others_and_arguments_stay() {
        let cases = [
            ("a.py", "assert f(2) == 3\n", "assert f(2) == 4\n"),
            ("a.py", "assert f(2) == [1, 2], 'm'\n", "assert f(2) == [1, 3], 'm'\n"),
            ("a.py", "self.assertEqual(f(2), -1.5, 'm')\n", "self.assertEqual(f(2), -1.8, 'm')\n"),
            ("a.py", "assert f('a') == {'b': True}\n", "assert f('a') == {'b': False}\n"),
            ("a.py", "assert f(2) == approx(9)\n", "assert f(2) == approx(10)\n"),
            ("a.py", "assert f(2) != 3 and f(2) < 5\n", "assert f(2) != 3 and f(2) < 5\n"),
            ("a.py", "CASES = [(1, 'a'), (2, \"b\")]\n", "CASES = [(1, 'A'), (2, \"B\")]\n"),
            ("a.py", "want = 3\nassert f(2) == want\n", "want = 4\nassert f(2) == want\n"),
            ("a.js", "const WANT = 'a';", "const WANT = 'A';"),
            ("a.js", "t.equal(f(1), 'a', 'title');", "t.equal(f(1), 'A', 'title');"),
            (
                "a.js",
                "expect(f(1)).toBe(2); expect(f(1)).not.toBe(2);",
                "expect(f(1)).toBe(3); expect(f(1)).not.toBe(2);",
            ),
            ("a.ts", "assert.deepStrictEqual(f(1), { a: [1] });", "assert.deepStrictEqual(f(1), { a: [2] });"),
            ("a.js", "assert(f(1) === 2);", "assert(f(1) === 3);"),
            ("a.rs", "fn t() { assert_eq!(f(&[1, 2]), 3); }", "fn t() { assert_eq!(f(&[1, 2]), 4); }"),
            (
                "a.rs",
                "fn t() { assert_eq!(f(1), Some(\"a\"), \"m\"); }",
                "fn t() { assert_eq!(f(1), Some(\"A\"), \"m\"); }",
            ),
            (
                "a.rs",
                "fn t() { assert!(f(1) == 2); assert_ne!(f(1), 2); }",
                "fn t() { assert!(f(1) == 3); assert_ne!(f(1), 2); }",
            ),
            (
                "a.go",
                "package a\nfunc T() { if got := F(1); got != 2 { fail() } }",
                "package a\nfunc T() { if got := F(1); got != 3 { fail() } }",
            ),
            (
                "a.c",
                "int t(void) { assert(f(1) == 2); if (f(1) != 0x1F) return 1; return 0; }",
                "int t(void) { assert(f(1) == 3); if (f(1) != 0x0F) return 1; return 0; }",
            ),
            (
                "a.java",
                "class T { void t() { assertEquals(2, f(1)); } }",
                "class T { void t() { assertEquals(3, f(1)); } }",
            ),
            ("a.dart", "void main() { expect(f(1), 2); }", "void main() { expect(f(1), 3); }"),
        ];
        for (path, text, expected) in cases {
            assert_eq!(changed(path, text), expected, "{path}");
        }
    }

    #[test]
    fn the_case_around_an_expectation_is_named() {
        let cases = [
            ("a.py", "def test_a():\n    assert f(2) == 3\n", "test_a"),
            ("a.js", "test('adds up', () => { expect(f(2)).toBe(3); });", "adds up"),
            ("a.rs", "#[test]\nfn adds() { assert_eq!(f(2), 3); }", "adds"),
            ("a.c", "static void adds(void) { assert(f(2) == 3); }", "adds"),
        ];
        for (path, text, case) in cases {
            let found: Vec<String> =
                expectations(path, text).into_iter().filter(|one| one.is_asserted).map(|one| one.case).collect();
            assert_eq!(found, [case], "{path}");
        }
    }
}
