//! The items of a source text that can say what is right: tests, examples in its documentation, constants, functions.
//!
//! A caller puts such an item of one version of a file into another version. Whether a constant or a function belongs to
//! the tests depends on who uses it, which this module does not know.

use std::ops::Range;

use tree_sitter::Node;

use crate::functions::{parse, rust_test_items, visit};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    /// A test, or statements that check something while the file runs.
    Test,
    /// A text of the documentation that has examples.
    Documentation,
    /// A name for a literal value.
    Value,
    /// Any other function.
    Function,
}

/// An item of a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Its name, or the name of what it documents; empty if it has none.
    pub name: String,
    /// Its bytes.
    pub range: Range<usize>,
}

/// Calls that declare cases, in JavaScript and TypeScript.
const DECLARING: [&str; 8] = ["test", "it", "describe", "suite", "context", "specify", "Deno", "bench"];

/// Parts of the names of nodes that no literal has.
const COMPUTED: [&str; 10] = [
    "identifier",
    "call",
    "function",
    "lambda",
    "attribute",
    "member",
    "selector",
    "macro",
    "interpolation",
    "substitution",
];

/// Returns the items of a text in their order; none overlaps another one. Empty if the language has no grammar.
pub fn items(path: &str, text: &str) -> Vec<Item> {
    let Some(tree) = parse(path, text) else { return Vec::new() };
    let mut found = Vec::new();
    if path.ends_with(".rs") {
        let tests = rust_test_items(text).into_iter();
        found.extend(tests.map(|range| Item { kind: ItemKind::Test, name: rust_name(&text[range.clone()]), range }));
        found.extend(rust_examples(text));
    }
    if path.ends_with(".py") {
        found.extend(python_examples(tree.root_node(), text));
    }
    let root = tree.root_node();
    let mut cursor = root.walk();
    for node in root.named_children(&mut cursor) {
        found.extend(item(node, text));
    }
    // What is found first is the more special one.
    let mut apart: Vec<Item> = Vec::new();
    for one in found {
        if apart.iter().all(|other| one.range.end <= other.range.start || other.range.end <= one.range.start) {
            apart.push(one);
        }
    }
    apart.sort_by_key(|one| one.range.start);
    apart
}

/// Returns the item that a node at the top of a file is.
fn item(node: Node<'_>, text: &str) -> Option<Item> {
    let made = |kind, name: &str| Some(Item { kind, name: name.to_owned(), range: node.byte_range() });
    let inner = inner(node);
    let name = name(inner, text);
    let kind = inner.kind();
    if let Some(function) = function(inner) {
        let is_test = name.starts_with("test") && text_has_end(text, inner, "def ")
            || (!has_parameters(function, text) && has_assertion(function, text));
        return made(if is_test { ItemKind::Test } else { ItemKind::Function }, &name);
    }
    if kind.contains("class") {
        let head = text.get(inner.byte_range()).and_then(|text| text.lines().next()).unwrap_or_default();
        let is_test = name.starts_with("Test") || name.ends_with("Test") || head.contains("TestCase");
        return is_test.then(|| made(ItemKind::Test, &name)).flatten();
    }
    if let Some(value) = value(inner) {
        return is_literal(value).then(|| made(ItemKind::Value, &name)).flatten();
    }
    let is_statement = kind.ends_with("statement");
    (is_statement && (declares_case(inner, text) || has_assertion(inner, text)))
        .then(|| made(ItemKind::Test, ""))
        .flatten()
}

/// Returns the declaration below decorators and exports.
fn inner(node: Node<'_>) -> Node<'_> {
    ["definition", "declaration"].iter().find_map(|field| node.child_by_field_name(field)).unwrap_or(node)
}

/// Returns true if a Python function begins as such: other languages have no tests by their names alone.
fn text_has_end(text: &str, node: Node<'_>, beginning: &str) -> bool {
    let source = text.get(node.byte_range()).unwrap_or_default();
    source.trim_start_matches("async ").starts_with(beginning)
}

/// Returns the function that a node declares, also as the value of a name.
fn function(node: Node<'_>) -> Option<Node<'_>> {
    let is_function = |node: &Node<'_>| {
        let kind = node.kind();
        (kind.contains("function") || kind.contains("method") || kind == "func_literal")
            && node.child_by_field_name("body").is_some()
    };
    Some(node).filter(is_function).or_else(|| value(node).filter(is_function))
}

/// Returns the value that a declaration or an assignment gives to a name.
fn value(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node;
    for _ in 0..3 {
        if let Some(value) = ["value", "right"].iter().find_map(|field| at.child_by_field_name(field)) {
            return Some(value);
        }
        if !(at.kind().contains("declaration") || at.kind() == "expression_statement") || at.named_child_count() != 1 {
            return at.child_by_field_name("declarator").and_then(|inner| inner.child_by_field_name("value"));
        }
        at = at.named_child(0)?;
    }
    None
}

/// Returns the name that a node declares.
fn name(node: Node<'_>, text: &str) -> String {
    let mut at = node;
    for _ in 0..6 {
        let next = ["name", "declarator", "left", "property"].iter().find_map(|field| at.child_by_field_name(field));
        match next.or_else(|| {
            at.named_child(0).filter(|_| at.kind().contains("declaration") || at.kind() == "expression_statement")
        }) {
            Some(inner) => at = inner,
            None => break,
        }
    }
    if at.id() == node.id() || at.kind().contains("string") {
        return String::new();
    }
    text.get(at.byte_range()).unwrap_or_default().to_owned()
}

fn has_parameters(function: Node<'_>, text: &str) -> bool {
    let mut at = Some(function);
    while let Some(node) = at {
        let list = ["parameters", "parameter"].iter().find_map(|field| node.child_by_field_name(field));
        if let Some(list) = list {
            let inside = text.get(list.byte_range()).unwrap_or_default().trim_matches(['(', ')', ' ']);
            return !inside.is_empty() && inside != "void";
        }
        at = node.child_by_field_name("declarator");
    }
    false
}

/// Returns true if a statement calls a function that declares cases.
fn declares_case(node: Node<'_>, text: &str) -> bool {
    let source = text.get(node.byte_range()).unwrap_or_default();
    let first = source.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    node.kind() == "expression_statement" && DECLARING.contains(&first) && source[first.len()..].starts_with(['(', '.'])
}

/// Returns true if code asserts something. Functions with parameters inside of it are left out: they check what they are
/// given.
fn has_assertion(node: Node<'_>, text: &str) -> bool {
    let mut waiting = vec![node];
    while let Some(at) = waiting.pop() {
        let kind = at.kind();
        if kind == "assert_statement" || is_assertion(at, text) {
            return true;
        }
        if at.id() != node.id() && function(at).is_some_and(|function| has_parameters(function, text)) {
            continue;
        }
        let mut cursor = at.walk();
        waiting.extend(at.named_children(&mut cursor));
    }
    false
}

fn is_assertion(node: Node<'_>, text: &str) -> bool {
    let called = ["function", "macro"].iter().find_map(|field| node.child_by_field_name(field));
    let Some(called) = called.and_then(|called| text.get(called.byte_range())) else { return false };
    let mut words = called.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| word.starts_with("assert") || word == "expect")
}

fn is_literal(value: Node<'_>) -> bool {
    let mut is_plain = true;
    visit(value, &mut |node| {
        let kind = node.kind();
        is_plain &= kind == "property_identifier" || !COMPUTED.iter().any(|part| kind.contains(part));
    });
    is_plain
}

/// Returns the texts that document Python and have examples.
fn python_examples(root: Node<'_>, text: &str) -> Vec<Item> {
    let mut found = Vec::new();
    visit(root, &mut |node| {
        let is_text = node.kind() == "expression_statement"
            && node.named_child_count() == 1
            && node.named_child(0).is_some_and(|only| only.kind() == "string");
        if is_text && text.get(node.byte_range()).is_some_and(|text| text.contains(">>>")) {
            let (mut name, mut above) = (String::new(), node.parent());
            while let Some(outer) = above {
                if let Some(part) = outer.child_by_field_name("name").and_then(|name| text.get(name.byte_range())) {
                    name = format!("{part}.{name}");
                }
                above = outer.parent();
            }
            found.push(Item { kind: ItemKind::Documentation, name, range: node.byte_range() });
        }
    });
    found
}

/// Returns the comments that document Rust and have examples.
fn rust_examples(text: &str) -> Vec<Item> {
    let is_documentation = |line: &str| ["///", "//!"].iter().any(|sign| line.trim_start().starts_with(sign));
    let (mut found, mut begun, mut place) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n').chain([""]) {
        match (is_documentation(line), begun) {
            (true, None) => begun = Some(place),
            (false, Some(start)) if !line.trim_start().starts_with("#[") => {
                begun = None;
                let comment: &str = &text[start..place];
                let end = start
                    + comment
                        .rfind("//")
                        .map_or(0, |at| at + comment[at..].find('\n').map_or(comment.len() - at, |end| end + 1));
                if text[start..end].contains("```") {
                    let name =
                        line.trim().split(['(', '{', ';', '=', '<']).next().unwrap_or_default().trim().to_owned();
                    found.push(Item { kind: ItemKind::Documentation, name, range: start..end });
                }
            }
            _ => {}
        }
        place += line.len();
    }
    found
}

/// Returns the name of a Rust item, behind its attributes.
fn rust_name(source: &str) -> String {
    let code = source.lines().find(|line| !line.trim_start().starts_with("#[")).unwrap_or_default();
    code.split(['(', '{', ';', '=', '<']).next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(ItemKind, String)> {
        items(path, text).into_iter().map(|item| (item.kind, item.name)).collect()
    }

    #[test]
    fn tests_and_values_are_told_from_the_product() {
        use ItemKind::{Documentation, Function, Test, Value};
        let python = "HALF = 1.5\nSIZE = len(x)\ndef mean(a):\n    \"\"\"M.\n\n    >>> mean([1])\n    1\n    \"\"\"\n    assert a\n    return 1\n\
                      def case():\n    assert mean([1]) == 1\ndef test_a(tmp):\n    pass\nclass TestA:\n    pass\nclass A:\n    pass\nif main:\n    assert x\n";
        let expected =
            [(Value, "HALF"), (Documentation, "mean."), (Test, "case"), (Test, "test_a"), (Test, "TestA"), (Test, "")];
        assert_eq!(found("a.py", python), expected.map(|(kind, name)| (kind, name.to_owned())));
        let script = "const A = 1.5;\nconst f = (a) => { assert(a); return a; };\ntest('x', (t) => { t.ok(1); });\nfunction check() { assert.equal(f(1), 1); }\nexports.g = (a) => a;\n";
        let expected = [(Value, "A"), (Function, "f"), (Test, ""), (Test, "check"), (Function, "g")];
        assert_eq!(found("a.js", script), expected.map(|(kind, name)| (kind, name.to_owned())));
        let rust = "pub const A: f64 = 0.5;\n/// M.\n/// ```\n/// assert_eq!(1, 1);\n/// ```\n#[inline]\npub fn m(a: u8) -> u8 { a }\n#[cfg(test)]\nmod tests { fn b() {} }\n";
        let expected = [(Value, "A"), (Documentation, "pub fn m"), (Function, "m"), (Test, "mod tests")];
        assert_eq!(found("a.rs", rust), expected.map(|(kind, name)| (kind, name.to_owned())));
        let c = "#define A 1\nstatic const int B = 2;\nint f(int a) { return a; }\nvoid check(void) { assert(f(1) == 1); }\n";
        let expected = [(Value, "A"), (Value, "B"), (Function, "f"), (Test, "check")];
        assert_eq!(found("a.c", c), expected.map(|(kind, name)| (kind, name.to_owned())));
        let go = "package a\nconst A = 1.5\nfunc F(a int) int { return a }\n";
        let expected = [(Value, "A"), (Function, "F")];
        assert_eq!(found("a.go", go), expected.map(|(kind, name)| (kind, name.to_owned())));
    }
}
