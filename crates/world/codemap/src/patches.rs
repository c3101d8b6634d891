//! Assignments of a source text to what it has imported, or to what every program has: patches of other code.
//!
//! Only names are followed, no values: `a = unittest.TestCase` makes `a` another name of it. Whether a module belongs to
//! the project is a question of the caller.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::functions::{parse, visit};

/// An assignment to a part of something that the text does not define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// What is assigned, as the text writes it.
    pub target: String,
    /// The module that it comes from, as the text writes it; empty for what every program has.
    pub module: String,
}

/// Calls whose first argument gets other members.
const SETTERS: [&str; 12] = [
    "setattr",
    "delattr",
    "defineProperty",
    "defineProperties",
    "assign",
    "set",
    "setPrototypeOf",
    "deleteProperty",
    "__defineGetter__",
    "patch.object",
    "patch",
    "update",
];

/// Calls that only lead to what they are called on.
const LEADING: [&str; 7] = ["__import__", "import_module", "require", "vars", "globals", "getattr", "type"];

/// Names of programs in JavaScript that are no library: a module's own, and the page that it changes.
const OWN: [&str; 8] = ["module", "exports", "this", "document", "window", "self", "location", "localStorage"];

/// Returns the patches of a text. Empty if the language has no grammar.
pub fn patches(path: &str, text: &str) -> Vec<Patch> {
    let Some(tree) = parse(path, text) else { return Vec::new() };
    let names = Names::of(tree.root_node(), path, text);
    let mut found: Vec<Patch> = Vec::new();
    visit(tree.root_node(), &mut |node| {
        let targets = match node.kind() {
            "assignment"
            | "augmented_assignment"
            | "assignment_expression"
            | "augmented_assignment_expression"
            | "assignment_statement"
            | "for_statement"
            | "for_in_statement" => {
                let value = node.child_by_field_name("right");
                node.child_by_field_name("left").map(|left| members(left, value))
            }
            "delete_statement" => Some(members(node, None)),
            "unary_expression" if text[node.byte_range()].starts_with("delete") => Some(members(node, None)),
            "call" | "call_expression" => names.set_by(node),
            _ => None,
        };
        for (target, value) in targets.into_iter().flatten() {
            found.extend(names.patch(target, value));
        }
    });
    found.dedup();
    found
}

/// Returns the outermost members that a target of an assignment has.
fn members<'t>(target: Node<'t>, value: Option<Node<'t>>) -> Vec<(Node<'t>, Option<Node<'t>>)> {
    let is_member = |kind: &str| {
        ["attribute", "member_expression", "subscript", "subscript_expression", "selector_expression"].contains(&kind)
    };
    let (mut found, mut waiting) = (Vec::new(), vec![target]);
    while let Some(node) = waiting.pop() {
        if is_member(node.kind()) {
            // What a part of a pattern gets is not followed.
            found.push((node, value.filter(|_| node.id() == target.id())));
            continue;
        }
        let mut cursor = node.walk();
        let is_pattern = |kind: &str| {
            kind.contains("pattern")
                || kind.contains("list")
                || kind == "pair"
                || kind == target.kind()
                || ["tuple", "array", "object", "parenthesized_expression"].contains(&kind)
        };
        if is_pattern(node.kind()) {
            waiting.extend(node.named_children(&mut cursor));
        }
    }
    found
}

/// The names of a text and what they mean.
struct Names<'t> {
    text: &'t str,
    is_script: bool,
    is_python: bool,
    /// The names that an import binds, or that are other names for such.
    imported: BTreeMap<&'t str, String>,
    /// Names of whole modules: every member of them counts, whatever it gets.
    modules: Vec<&'t str>,
    /// All other names that the text declares.
    declared: Vec<&'t str>,
    /// Names of functions and classes.
    callable: Vec<&'t str>,
}

impl<'t> Names<'t> {
    fn of(root: Node<'t>, path: &str, text: &'t str) -> Self {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_script = ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"].contains(&extension);
        let mut names = Names {
            text,
            is_script,
            is_python: extension.starts_with("py"),
            imported: BTreeMap::new(),
            modules: Vec::new(),
            declared: Vec::new(),
            callable: Vec::new(),
        };
        visit(root, &mut |node| names.declare(node));
        // Another name of a name; twice, for the names of those.
        for _ in 0..2 {
            visit(root, &mut |node| names.alias(node));
        }
        names
    }

    fn source(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn declare(&mut self, node: Node<'t>) {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "import_statement" if self.is_python => self.bind(node, "", true),
            "import_from_statement" => {
                let module = field("module_name").map(|name| self.source(name)).unwrap_or_default();
                self.bind(node, module, false);
            }
            "import_statement" => {
                let module = unquoted(field("source").map(|from| self.source(from)).unwrap_or_default());
                self.identifiers(node, module);
            }
            "import_spec" => {
                let module = unquoted(field("path").map(|path| self.source(path)).unwrap_or_default());
                let name = field("name").map(|name| self.source(name));
                let name = name.unwrap_or_else(|| module.rsplit('/').next().unwrap_or(module));
                self.imported.insert(name, module.to_owned());
                self.modules.push(name);
            }
            "for_in_statement" => field("left").into_iter().for_each(|left| self.declare_all(left)),
            kind if ["function", "class", "method", "declaration"].iter().any(|part| kind.contains(part)) => {
                if let Some(name) = field("name") {
                    self.callable.push(self.source(name));
                    self.declared.push(self.source(name));
                }
                field("parameter").into_iter().for_each(|name| self.declare_all(name));
            }
            "variable_declarator" => {
                let (Some(name), value) = (field("name"), field("value")) else { return };
                let module = value.and_then(|value| self.required(value));
                match module {
                    Some(module) => self.identifiers(name, module),
                    None => self.declare_all(name),
                }
                if value.is_some_and(|value| value.kind().contains("function")) {
                    self.callable.push(self.source(name));
                }
            }
            "catch_clause" => field("parameter").into_iter().for_each(|name| self.declare_all(name)),
            kind if kind.contains("parameter") => self.declare_all(node),
            _ => {}
        }
    }

    /// Binds the names of a Python import.
    fn bind(&mut self, node: Node<'t>, module: &str, is_whole: bool) {
        let mut cursor = node.walk();
        for part in node.children_by_field_name("name", &mut cursor) {
            let (name, bound) = match part.kind() {
                "aliased_import" => (part.child_by_field_name("name"), part.child_by_field_name("alias")),
                _ => (Some(part), part.named_child(0).or(Some(part))),
            };
            let (Some(name), Some(bound)) = (name, bound) else { continue };
            let from = if is_whole { self.source(name) } else { module };
            self.imported.insert(self.source(bound), from.to_owned());
            if is_whole {
                self.modules.push(self.source(bound));
            }
        }
    }

    /// Binds all identifiers below a node to a module.
    fn identifiers(&mut self, node: Node<'t>, module: &str) {
        let is_whole = node.kind() == "identifier";
        visit(node, &mut |part| {
            if part.kind().ends_with("identifier") || part.kind() == "shorthand_property_identifier_pattern" {
                self.imported.insert(self.source(part), module.to_owned());
                let is_namespace =
                    part.parent().is_some_and(|above| ["import_clause", "namespace_import"].contains(&above.kind()));
                if is_whole || is_namespace {
                    self.modules.push(self.source(part));
                }
            }
        });
    }

    fn declare_all(&mut self, node: Node<'t>) {
        visit(node, &mut |part| {
            if part.kind().contains("identifier") {
                self.declared.push(self.source(part));
            }
        });
    }

    /// Returns the module that a call of `require` names, also below members of it.
    fn required(&self, value: Node<'t>) -> Option<&'t str> {
        let mut at = value;
        while ["member_expression", "await_expression", "parenthesized_expression"].contains(&at.kind()) {
            at = at.child_by_field_name("object").or_else(|| at.named_child(0))?;
        }
        let called = self.source(at.child_by_field_name("function")?);
        let first = at.child_by_field_name("arguments")?.named_child(0)?;
        ["require", "import"].contains(&called).then(|| unquoted(self.source(first)))
    }

    /// Makes a name that gets a member of something imported another name of it.
    fn alias(&mut self, node: Node<'t>) {
        let (name, value) = match node.kind() {
            "assignment" => (node.child_by_field_name("left"), node.child_by_field_name("right")),
            "variable_declarator" => (node.child_by_field_name("name"), node.child_by_field_name("value")),
            _ => return,
        };
        let (Some(name), Some(value)) = (name, value) else { return };
        let is_name = name.kind() == "identifier" && value.kind() != "call" && value.kind() != "call_expression";
        if let Some((_, module)) = self.root(value).filter(|_| is_name) {
            let module = module.to_owned();
            self.imported.entry(self.source(name)).or_insert(module);
        }
    }

    /// Returns the name at the root of a member, and its module; empty for a name of every program.
    fn root(&self, member: Node<'t>) -> Option<(&'t str, &str)> {
        let mut at = member;
        loop {
            let below = ["object", "value", "operand"].iter().find_map(|field| at.child_by_field_name(field));
            at = match at.kind() {
                "identifier" => break,
                "call" | "call_expression" => {
                    let called = at.child_by_field_name("function")?;
                    let name = self.source(called).rsplit('.').next().unwrap_or_default();
                    if !LEADING.contains(&name) {
                        return None;
                    }
                    if let Some(module) = self.required(at) {
                        return Some(("require", module));
                    }
                    match ["getattr", "vars", "type"].contains(&name) {
                        true => at.child_by_field_name("arguments")?.named_child(0)?,
                        false => return Some((name, "")),
                    }
                }
                "attribute" | "member_expression" | "subscript" | "subscript_expression" | "selector_expression" => {
                    below.or_else(|| at.named_child(0))?
                }
                "parenthesized_expression" => at.named_child(0)?,
                _ => return None,
            };
        }
        let name = self.source(at);
        if let Some(module) = self.imported.get(name) {
            return Some((name, module));
        }
        let is_of_all = match self.is_script {
            true => !OWN.contains(&name) && !self.declared.contains(&name),
            false => self.is_python && ["__builtins__", "__import__"].contains(&name),
        };
        is_of_all.then_some((name, ""))
    }

    /// Returns what a call sets: the first argument of a setter, or what the setter is called on.
    fn set_by(&self, call: Node<'t>) -> Option<Vec<(Node<'t>, Option<Node<'t>>)>> {
        let called = call.child_by_field_name("function")?;
        let name = self.source(called);
        let last = name.rsplit('.').next().unwrap_or_default();
        if !SETTERS.contains(&last) {
            return None;
        }
        if last == "update" || last.starts_with("__") {
            let object = called.child_by_field_name("object")?;
            return Some(vec![(object, None)]).filter(|_| self.source(object).contains("__"));
        }
        let is_known = match last {
            "set" | "assign" | "deleteProperty" => name.starts_with("Object.") || name.starts_with("Reflect."),
            "patch" => false,
            _ => true,
        };
        let arguments = call.child_by_field_name("arguments").filter(|_| is_known)?;
        Some(vec![(arguments.named_child(0)?, None)])
    }

    /// Returns the patch if a target belongs to other code. A member of an object that the text only imports by name can be
    /// data, so there the value must be a function, or the member one of a class.
    fn patch(&self, target: Node<'t>, value: Option<Node<'t>>) -> Option<Patch> {
        let (root, module) = self.root(target)?;
        let words: Vec<&str> = self.source(target).split(['.', '[', ']', '(', ')']).collect();
        let has_class = words
            .iter()
            .any(|word| *word == "prototype" || word.contains("__") || word.starts_with(char::is_uppercase));
        let is_element = target.kind().starts_with("subscript");
        let is_callable = value.is_some_and(|value| {
            let kind = value.kind();
            kind.contains("function")
                || kind == "lambda"
                || self.callable.contains(&self.source(value))
                || kind == "identifier" && self.imported.contains_key(self.source(value))
        });
        let is_registry = words.iter().any(|word| ["modules", "cache", "extensions"].contains(word));
        let is_patch = match (module.is_empty(), is_element) {
            (_, true) => is_registry || words.iter().any(|word| word.contains("__")) || is_callable && self.is_script,
            (true, false) => {
                is_callable
                    || value.is_none()
                    || words.contains(&"prototype")
                    || words.iter().any(|word| word.contains("__"))
            }
            (false, false) => {
                // `process.exitCode = 1` says how the program ends.
                let is_switch = |kind: &str| ["true", "false", "none"].contains(&kind);
                let is_plain = value.is_some_and(|value| match self.is_script {
                    true => value.kind() != "identifier",
                    // A module has switches; everything else can be what it computes with.
                    false => is_switch(value.kind()),
                });
                self.modules.contains(&root) && !is_plain
                    || root == "require"
                    || is_callable
                    || has_class
                    || value.is_none()
            }
        };
        is_patch.then(|| Patch { target: self.source(target).to_owned(), module: module.to_owned() })
    }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(String, String)> {
        patches(path, text).into_iter().map(|one| (one.target, one.module)).collect()
    }

    #[test]
    fn what_changes_other_code_is_a_patch() {
        for (path, text, target, module) in [
            (
                "a.py",
                "import unittest\nunittest.TestCase.assertEqual = f\n",
                "unittest.TestCase.assertEqual",
                "unittest",
            ),
            (
                "a.py",
                "import unittest as u\nC = u.TestCase\nC.assertEqual = lambda *a: None\n",
                "C.assertEqual",
                "unittest",
            ),
            ("a.py", "from unittest import TestCase\nsetattr(TestCase, 'assertEqual', 1)\n", "TestCase", "unittest"),
            ("a.py", "import sys\nsys.modules['x'] = 1\n", "sys.modules['x']", "sys"),
            ("a.py", "import math\nmath.floor, a = f, 1\n", "math.floor", "math"),
            ("a.py", "__builtins__.len = f\n", "__builtins__.len", ""),
            ("a.py", "__import__('math').pi = lambda: 3\n", "__import__('math').pi", ""),
            ("a.js", "const a = require('node:assert');\na.equal = () => {};\n", "a.equal", "node:assert"),
            ("a.js", "require('assert').equal = f;\n", "require('assert').equal", "assert"),
            ("a.mjs", "import a from 'assert';\n[a.equal] = [1];\n", "a.equal", "assert"),
            ("a.js", "Array.prototype.map = function () {};\n", "Array.prototype.map", ""),
            ("a.js", "Object.defineProperty(Object.prototype, 'x', {});\n", "Object.prototype", ""),
            ("a.ts", "globalThis.it = () => {};\n", "globalThis.it", ""),
            ("a.js", "require.cache[x] = 1;\n", "require.cache[x]", ""),
            ("a.go", "package a\nimport \"os\"\nfunc f() { os.Args = nil }\n", "os.Args", "os"),
        ] {
            assert_eq!(found(path, text), [(target.to_owned(), module.to_owned())], "{text}");
        }
    }

    #[test]
    fn what_changes_own_values_or_sets_options_is_none() {
        for (path, text) in [
            ("a.py", "import os\nos.environ['A'] = '1'\n"),
            ("a.py", "from flask import g\ndef f(user):\n    g.user = user\n"),
            ("a.py", "import decimal\ndecimal.getcontext().prec = 5\n"),
            ("a.py", "class A:\n    def f(self, b):\n        self.b = b\n        b.c = 1\n"),
            ("a.py", "import math\na = math.floor(1)\n"),
            ("a.py", "import logging\nlogging.raiseExceptions = False\n"),
            ("a.js", "module.exports = { a };\nexports.b = () => 1;\n"),
            ("a.js", "import process from 'process';\nprocess.exitCode = 1;\nconst a = {};\na.b = () => 1;\n"),
            ("a.js", "function f(a) { a.b = () => 1; }\nconst g = (c) => { c.d = f; };\n"),
            ("a.js", "const all = Object.assign({}, a);\n"),
            ("a.go", "package a\nfunc f(a *A) { a.B = 1 }\n"),
        ] {
            assert_eq!(found(path, text), [], "{text}");
        }
    }
}
