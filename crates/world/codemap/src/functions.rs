//! The functions of a source text, and the tests inside it, with their places.
//!
//! Callers change a text with these places: they stop a function at its first statement, or put the tests of one
//! version of a file into another.

use std::ops::Range;

use tree_sitter::{Node, Parser};

use crate::language::Language;

/// The most bytes of a text that is parsed.
const BYTES_MAX: usize = 2 * 1024 * 1024;

/// The names that grammars have for the type that a function returns.
const RETURNS: [&str; 3] = ["return_type", "result", "type"];

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its lines, from 0, from its head to the end of its body.
    pub lines: Range<usize>,
    /// The byte offset at which a statement can be inserted as the first of its body.
    pub first_statement: usize,
    /// The type that it returns, as the source writes it; empty if the source names none.
    pub returns: String,
}

/// Returns the functions of a text, outer ones first; `None` if the language has no grammar or the text is too long.
pub fn functions(path: &str, text: &str) -> Option<Vec<Function>> {
    let tree = parse(path, text)?;
    let mut found = Vec::new();
    visit(tree.root_node(), &mut |node| {
        if let Some(body) = body(node) {
            let returns = RETURNS.iter().find_map(|field| node.child_by_field_name(field));
            let returns = returns.and_then(|returns| text.get(returns.byte_range())).unwrap_or_default();
            found.push(Function {
                lines: node.start_position().row..node.end_position().row + 1,
                first_statement: body,
                returns: returns.trim_start_matches([':', ' ']).to_owned(),
            });
        }
    });
    Some(found)
}

/// Returns the blocks of statements that run under a condition: branches, loops, handlers. `first_statement` and `lines`
/// are those of the block. `None` as for [`functions`].
pub fn blocks(path: &str, text: &str) -> Option<Vec<Function>> {
    let tree = parse(path, text)?;
    let mut found = Vec::new();
    visit(tree.root_node(), &mut |node| {
        let is_conditional = node.parent().is_some_and(|above| is_conditional(above.kind()));
        if let Some(first_statement) = beginning(node).filter(|_| is_conditional) {
            let lines = node.start_position().row..node.end_position().row + 1;
            found.push(Function { lines, first_statement, returns: String::new() });
        }
    });
    Some(found)
}

/// Returns true for nodes whose block runs only sometimes.
fn is_conditional(kind: &str) -> bool {
    ["if", "else", "elif", "for", "while", "loop", "catch", "except", "match_arm", "case"]
        .iter()
        .any(|part| kind.split('_').any(|word| word == *part))
}

/// A part of a statement that runs only sometimes and is no block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its kind.
    pub kind: BranchKind,
    /// Its bytes.
    pub range: Range<usize>,
    /// Its lines, from 0.
    pub lines: Range<usize>,
}

/// The syntax of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchKind {
    /// A value: of a conditional expression, the right side of `and` and `or`, the body of a short function.
    Value,
    /// The only statement below a condition, without braces.
    Statement,
    /// The first of several statements below a label, such as `case`.
    First,
}

/// Returns the parts of statements that run only sometimes and are no blocks; `None` as for [`functions`].
pub fn branches(path: &str, text: &str) -> Option<Vec<Branch>> {
    let tree = parse(path, text)?;
    let mut found = Vec::new();
    visit(tree.root_node(), &mut |node| {
        for (kind, part) in branches_of(node, text) {
            let lines = part.start_position().row..part.end_position().row + 1;
            found.push(Branch { kind, range: part.byte_range(), lines });
        }
    });
    Some(found)
}

fn branches_of<'t>(node: Node<'t>, text: &str) -> Vec<(BranchKind, Node<'t>)> {
    use BranchKind::{First, Statement, Value};
    let field = |name: &str| node.child_by_field_name(name);
    let is_block = |part: &Node<'_>| part.kind().contains("block") || part.kind() == "compound_statement";
    let alone = |kind: BranchKind, part: Option<Node<'t>>| {
        part.into_iter().filter(|part| !is_block(part)).map(|part| (kind, part)).collect::<Vec<_>>()
    };
    match node.kind() {
        // Python names no field: the value, the condition, the other value.
        "conditional_expression" if field("condition").is_none() => {
            [node.named_child(0), node.named_child(2)].into_iter().flatten().map(|part| (Value, part)).collect()
        }
        "conditional_expression" | "ternary_expression" => {
            ["consequence", "alternative"].into_iter().filter_map(field).map(|part| (Value, part)).collect()
        }
        "boolean_operator" => alone(Value, field("right")),
        "binary_expression" => {
            let operator = field("operator").and_then(|operator| text.get(operator.byte_range())).unwrap_or_default();
            alone(Value, field("right").filter(|_| ["&&", "||", "??", "and", "or"].contains(&operator)))
        }
        "lambda" | "arrow_function" | "closure_expression" => alone(Value, field("body")),
        "match_arm" => alone(Value, field("value")),
        "if_statement" => [field("consequence"), field("alternative")]
            .into_iter()
            .flat_map(|part| {
                alone(Statement, part.filter(|part| !part.kind().contains("clause") && part.kind() != "if_statement"))
            })
            .collect(),
        "else_clause" if field("body").is_none() => {
            alone(Statement, node.named_child(0).filter(|part| part.kind() != "if_statement"))
        }
        "for_statement" | "for_in_statement" | "while_statement" => alone(Statement, field("body")),
        "switch_case" | "switch_default" | "case_statement" | "expression_case" | "default_case" => {
            let value = field("value").map(|value| value.id());
            let mut cursor = node.walk();
            let mut parts = node.named_children(&mut cursor).filter(|part| Some(part.id()) != value);
            let is_statement = |part: &Node<'_>| {
                ["statement", "statement_list", "declaration"].iter().any(|kind| part.kind().ends_with(kind))
            };
            alone(First, parts.find(is_statement))
        }
        _ => Vec::new(),
    }
}

/// Returns a text without its comments, and without the texts that document Python; `None` as for [`functions`].
pub fn without_comments(path: &str, text: &str) -> Option<String> {
    let tree = parse(path, text)?;
    let mut comments: Vec<Range<usize>> = Vec::new();
    visit(tree.root_node(), &mut |node| {
        let documents = node.kind() == "expression_statement"
            && node.named_child_count() == 1
            && node.named_child(0).is_some_and(|only| only.kind() == "string");
        if node.kind().contains("comment") || documents && path.ends_with(".py") {
            comments.push(node.byte_range());
        }
    });
    let (mut code, mut end) = (String::new(), 0);
    for comment in comments {
        code.push_str(text.get(end..comment.start).unwrap_or_default());
        end = end.max(comment.end);
    }
    code.push_str(text.get(end..).unwrap_or_default());
    Some(code)
}

/// Returns the byte ranges of the top-level items of a Rust text that exist only for tests, with their attributes.
pub(crate) fn rust_test_items(text: &str) -> Vec<Range<usize>> {
    let Some(tree) = parse("items.rs", text) else { return Vec::new() };
    let root = tree.root_node();
    let (mut found, mut attributes): (Vec<Range<usize>>, Option<(usize, bool)>) = (Vec::new(), None);
    for at in 0..root.child_count() {
        let Some(item) = root.child(at) else { continue };
        let source = text.get(item.byte_range()).unwrap_or_default();
        match item.kind() {
            "attribute_item" => {
                let (start, is_test) = attributes.unwrap_or((item.start_byte(), false));
                attributes = Some((start, is_test || names_test(source)));
            }
            "line_comment" | "block_comment" => {}
            _ => {
                if let Some((start, true)) = attributes.take() {
                    found.push(start..item.end_byte());
                }
                attributes = None;
            }
        }
    }
    found
}

/// Returns true if an attribute has the word `test`: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, feature = "x"))]`.
fn names_test(attribute: &str) -> bool {
    attribute.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == "test")
}

pub(crate) fn parse(path: &str, text: &str) -> Option<tree_sitter::Tree> {
    if text.len() > BYTES_MAX {
        return None;
    }
    let (grammar, _) = Language::of(path).with_content(path, text.as_bytes()).grammar()?;
    let mut parser = Parser::new();
    parser.set_language(&grammar).ok()?;
    parser.parse(text, None)
}

/// Calls a function with every node, parents first, without recursion: source texts can be nested deeply.
pub(crate) fn visit<'t>(root: Node<'t>, each: &mut impl FnMut(Node<'t>)) {
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        each(node);
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        waiting.extend(children.into_iter().rev());
    }
}

/// Returns the offset of the first statement of a function's body; `None` if the node is no function with a block.
fn body(node: Node<'_>) -> Option<usize> {
    let kind = node.kind();
    let is_function =
        kind.contains("function") || kind.contains("method") || kind.contains("constructor") || kind == "func_literal";
    if !is_function {
        return None;
    }
    beginning(node.child_by_field_name("body")?)
}

/// Returns the offset of the first statement of a block; `None` if the node is no block.
fn beginning(block: Node<'_>) -> Option<usize> {
    match block.kind() {
        // A block of Python has no braces.
        "block" if block.child(0).is_some_and(|first| first.kind() != "{") => {
            // A text that documents the function stays the first statement.
            let is_text = |first: Node<'_>| first.named_child(0).is_some_and(|inner| inner.kind() == "string");
            let after = block.named_child(1).filter(|_| block.named_child(0).is_some_and(is_text));
            Some(after.map_or(block.start_byte(), |after| after.start_byte()))
        }
        "block" | "compound_statement" | "statement_block" | "constructor_body" | "function_body" => {
            let open = block
                .child(0)
                .filter(|first| first.kind() == "{")
                .or_else(|| block.child(0).and_then(|inner| inner.child(0)).filter(|first| first.kind() == "{"))?;
            Some(open.end_byte())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_can_be_inserted_into_functions_of_every_language() {
        let cases = [
            ("a.rs", "fn add(a: u8) -> u8 { a }", "fn add(a: u8) -> u8 {! a }"),
            ("a.py", "def add(a):\n    return a\n", "def add(a):\n    !return a\n"),
            ("b.py", "def add(a):\n    'Adds.'\n    return a\n", "def add(a):\n    'Adds.'\n    !return a\n"),
            ("a.js", "const add = (a) => { return a }", "const add = (a) => {! return a }"),
            ("a.ts", "class A { add(a: number) { return a } }", "class A { add(a: number) {! return a } }"),
            ("a.go", "package a\nfunc Add(a int) int { return a }", "package a\nfunc Add(a int) int {! return a }"),
            ("a.c", "int add(int a) { return a; }", "int add(int a) {! return a; }"),
            ("a.cpp", "int add(int a) { return a; }", "int add(int a) {! return a; }"),
            ("a.java", "class A { int add(int a) { return a; } }", "class A { int add(int a) {! return a; } }"),
            ("a.dart", "int add(int a) { return a; }", "int add(int a) {! return a; }"),
        ];
        for (path, text, expected) in cases {
            let mut changed = text.to_owned();
            for function in functions(path, text).unwrap_or_default() {
                changed.insert(function.first_statement, '!');
            }
            assert_eq!(changed, expected, "{path}");
        }
        assert_eq!(functions("a.txt", "text"), None);
    }

    #[test]
    fn blocks_that_run_sometimes_are_found() {
        let cases = [
            ("a.py", "if a:\n    b()\nelse:\n    c()\n", "if a:\n    !b()\nelse:\n    !c()\n"),
            ("b.py", "def f():\n    for a in b:\n        c()\n", "def f():\n    for a in b:\n        !c()\n"),
            ("a.rs", "fn f() { if a { b() } else { c() } }", "fn f() { if a {! b() } else {! c() } }"),
            ("a.js", "function f() { if (a) { b() } else { c() } }", "function f() { if (a) {! b() } else {! c() } }"),
            ("a.go", "package a\nfunc F() { if a { b() } }", "package a\nfunc F() { if a {! b() } }"),
            ("a.c", "int f() { if (a) { b(); } return 1; }", "int f() { if (a) {! b(); } return 1; }"),
        ];
        for (path, text, expected) in cases {
            let mut changed = text.to_owned();
            for block in blocks(path, text).unwrap_or_default().into_iter().rev() {
                changed.insert(block.first_statement, '!');
            }
            assert_eq!(changed, expected, "{path}");
        }
    }

    #[test]
    fn branches_without_a_block_are_found() {
        use BranchKind::{First, Statement, Value};
        let cases = [
            ("a.py", "x = a if b else c\n", &[(Value, "a"), (Value, "c")][..]),
            ("a.py", "x = a and b or c\nf = lambda: d\n", &[(Value, "c"), (Value, "b"), (Value, "d")]),
            ("a.py", "if a:\n    b()\n", &[]),
            ("a.js", "x = a ? b : c;", &[(Value, "b"), (Value, "c")]),
            ("a.ts", "const f = (a) => a + 1, g = (a) => { b(); };", &[(Value, "a + 1")]),
            ("a.js", "if (a && b) return c; else d();", &[(Statement, "return c;"), (Value, "b"), (Statement, "d();")]),
            ("a.js", "switch (a) { case 1: b(); c(); }", &[(First, "b();")]),
            (
                "a.c",
                "int f(void) { if (a) return b ? 1 : 2; return 3; }",
                &[(Statement, "return b ? 1 : 2;"), (Value, "1"), (Value, "2")],
            ),
            (
                "a.c",
                "int f(void) { switch (a) { case 1: return 2; default: return 3; } }",
                &[(First, "return 2;"), (First, "return 3;")],
            ),
            ("a.rs", "fn f() { match a { 1 => b, _ => { c } } }", &[(Value, "b")]),
            ("a.rs", "fn f() -> bool { a || b }", &[(Value, "b")]),
            (
                "a.go",
                "package a\nfunc F() bool { switch a { case 1: return b && c }; return d }",
                &[(First, "return b && c"), (Value, "c")],
            ),
        ];
        for (path, text, expected) in cases {
            let found = branches(path, text).unwrap_or_default();
            let found: Vec<_> = found.into_iter().map(|one| (one.kind, &text[one.range])).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn functions_name_the_type_that_they_return() {
        let cases = [
            ("a.rs", "fn add(a: u8) -> u8 { a }", "u8"),
            ("a.go", "package a\nfunc Add(a int) string { return a }", "string"),
            ("a.c", "unsigned add(int a) { return a; }", "unsigned"),
            ("a.ts", "function add(a: number): number { return a }", "number"),
            ("a.java", "class A { int add(int a) { return a; } }", "int"),
            ("a.rs", "fn add() {}", ""),
        ];
        for (path, text, expected) in cases {
            let found = functions(path, text).unwrap_or_default();
            assert_eq!(found.first().map(|function| function.returns.as_str()), Some(expected), "{path}");
        }
    }

    #[test]
    fn test_items_of_rust_are_found_with_their_attributes() {
        let text = "fn a() {}\n#[cfg(all(test, feature = \"x\"))]\nmod tests { fn b() {} }\n#[derive(Debug)]\nstruct C;\n#[test]\nfn d() {}\n";
        let found: Vec<&str> = rust_test_items(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["#[cfg(all(test, feature = \"x\"))]\nmod tests { fn b() {} }", "#[test]\nfn d() {}"]);
    }
}
