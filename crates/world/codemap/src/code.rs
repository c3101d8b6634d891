//! The code of a text: what means something to its language, without what people wrote for people.
//!
//! A search for words wants the names that a program uses. A word in a comment, in a sentence or in a key of a table is
//! none.

use std::ops::Range;

use tree_sitter::Node;

use crate::functions::{parse, visit};

/// Above a text of this kind, a lone word in quotes can be the name of something that the program asks for.
const ASKING: [&str; 9] = [
    "argument_list",
    "arguments",
    "comparison_operator",
    "binary_expression",
    "subscript",
    "subscript_expression",
    "index_expression",
    "import_statement",
    "import_spec",
];

/// Parts of the name of a function of JavaScript that loads a module by its name.
const LOADING: [&str; 4] = ["require", "import", "load", "resolve"];

/// Objects of JavaScript whose members are names of the whole program.
const WHOLE: [&str; 5] = ["env", "globalThis", "global", "window", "self"];

/// Returns a text without comments, keys of tables, and texts in quotes that are no lone word which the program asks for.
/// Examples in the documentation of Python stay. `None` if the language has no grammar or the text is too long.
pub fn code(path: &str, text: &str) -> Option<String> {
    let tree = parse(path, text)?;
    let is_script = ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"].iter().any(|end| path.ends_with(end));
    let declared = if is_script { declared(tree.root_node(), text) } else { Vec::new() };
    let mut gone: Vec<Range<usize>> = Vec::new();
    visit(tree.root_node(), &mut |node| {
        let source = text.get(node.byte_range()).unwrap_or_default();
        let is_gone = match node.kind() {
            kind if kind.contains("comment") => true,
            "string"
            | "string_literal"
            | "raw_string_literal"
            | "interpreted_string_literal"
            | "template_string"
            | "concatenated_string" => !source.contains(">>>") && !has_parts(node) && !is_asked(node, text, is_script),
            "property_identifier" | "field_identifier" if is_script => !is_of_whole(node, text),
            "shorthand_property_identifier" => true,
            "identifier" if is_script => declared.contains(&source),
            _ => false,
        };
        if is_gone {
            gone.push(node.byte_range());
        }
    });
    let (mut code, mut end) = (String::new(), 0);
    for range in gone {
        code.push_str(text.get(end..range.start).unwrap_or_default());
        code.push(' ');
        end = end.max(range.end);
    }
    code.push_str(text.get(end..).unwrap_or_default());
    Some(code)
}

/// Returns true for a text with code inside of it.
fn has_parts(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let kinds: Vec<&str> = node.named_children(&mut cursor).map(|part| part.kind()).collect();
    node.kind() == "concatenated_string"
        || kinds.iter().any(|kind| *kind == "interpolation" || *kind == "template_substitution")
}

fn is_asked(node: Node<'_>, text: &str, is_script: bool) -> bool {
    let source = text.get(node.byte_range()).unwrap_or_default();
    let Some(above) = node.parent() else { return false };
    if source.contains(char::is_whitespace) || !ASKING.contains(&above.kind()) {
        return false;
    }
    let called = above.parent().and_then(|call| call.child_by_field_name("function"));
    match called.filter(|_| is_script && above.kind() == "arguments") {
        Some(called) if called.kind() == "member_expression" => {
            let name = called.child_by_field_name("property").and_then(|name| text.get(name.byte_range()));
            name.is_some_and(|name| LOADING.iter().any(|part| name.contains(part)))
        }
        _ => true,
    }
}

/// Returns true if a member of JavaScript is a name of the whole program, such as a variable of the environment.
fn is_of_whole(member: Node<'_>, text: &str) -> bool {
    let object = member.parent().and_then(|above| above.child_by_field_name("object"));
    let source = object.and_then(|object| text.get(object.byte_range())).unwrap_or_default();
    WHOLE.contains(&source.rsplit(['.', '?']).next().unwrap_or_default())
}

/// Returns the names that a script gives to values of its own: not those of what it loads.
fn declared<'t>(root: Node<'_>, text: &'t str) -> Vec<&'t str> {
    let mut found = Vec::new();
    visit(root, &mut |node| {
        let name = match node.kind() {
            "variable_declarator" => {
                let value = node.child_by_field_name("value").and_then(|value| text.get(value.byte_range()));
                let is_loaded = value.is_some_and(|value| LOADING.iter().any(|part| value.contains(part)));
                node.child_by_field_name("name").filter(|_| !is_loaded)
            }
            "formal_parameters" => Some(node),
            "function_declaration" | "class_declaration" => node.child_by_field_name("name"),
            _ => None,
        };
        visit_names(name, text, &mut found);
    });
    found
}

fn visit_names<'t>(node: Option<Node<'_>>, text: &'t str, found: &mut Vec<&'t str>) {
    if let Some(node) = node {
        visit(node, &mut |part| {
            if part.kind() == "identifier" {
                found.extend(text.get(part.byte_range()));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_people_and_keys_are_no_code() {
        for (path, text, word, is_code) in [
            ("a.py", "\"\"\"For unittest.\"\"\"\nx = 1  # doctest\n", "test", false),
            ("a.py", "import unittest\n", "unittest", true),
            ("a.py", "x = 'pytest' in sys.modules\n", "pytest", true),
            ("a.py", "print('run pytest first')\n", "pytest", false),
            ("a.py", "x = {'pytest': 1}\n", "pytest", false),
            ("a.py", "def f():\n    '''>>> f()  # doctest: +SKIP\n    '''\n", "doctest", true),
            ("a.js", "const goods = { tape: 1 };\n", "tape", false),
            ("a.js", "const tape = 1; use(tape);\n", "tape", false),
            ("a.js", "const t = require('tape');\n", "tape", true),
            ("a.js", "import { it } from 'vitest';\n", "vitest", true),
            ("a.js", "if (process.env.VITEST) f();\n", "VITEST", true),
            ("a.js", "goods.mocha = 1;\n", "mocha", false),
            ("a.js", "mocha.run();\n", "mocha", true),
            ("a.c", "/* constructor */ int a;\n", "constructor", false),
            ("a.c", "__attribute__((constructor)) void f(void);\n", "constructor", true),
            ("a.c", "#define assert(x) 1\n", "define assert", true),
            ("a.go", "package a\nimport \"testing\"\n", "\"testing\"", true),
            ("a.rs", "// cfg!(test)\nfn f() {}\n", "test", false),
        ] {
            assert_eq!(code(path, text).is_some_and(|code| code.contains(word)), is_code, "{text}");
        }
        assert_eq!(code("a.txt", "text"), None);
    }
}
