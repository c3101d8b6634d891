//! A C file as a flat list of syntax nodes, so that parents and children are indices and no walk is recursive.

use std::collections::HashMap;
use std::sync::Arc;

use tree_sitter::{InputEdit, Node as Raw, Parser, Point, Tree};

/// The maximum number of nodes of a file. A larger file is usually a table or generated.
pub(crate) const NODES_MAX: usize = 200_000;
/// The maximum size of a file in bytes.
pub(crate) const BYTES_MAX: usize = 1 << 20;

/// The maximum number of ancestors that are visited.
const ANCESTORS_MAX: usize = 256;

/// One node of the syntax tree.
pub(crate) struct Node {
    pub(crate) kind: Arc<str>,
    /// The name of the node's field in its parent; empty if it has none.
    pub(crate) field: Arc<str>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The first line of the node, from 1.
    pub(crate) line: usize,
    /// The parent; the root is its own parent.
    pub(crate) parent: usize,
    pub(crate) children: Vec<usize>,
    pub(crate) named: bool,
    /// The enclosing function, if any.
    function: Option<usize>,
}

/// A file and its syntax tree.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) nodes: Vec<Node>,
    tree: Tree,
    errors: usize,
}

/// Creates a parser for C. Returns `None` only if the grammar and the library are incompatible.
pub(crate) fn parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
    Some(parser)
}

impl Source {
    /// Parses a file. Returns `None` if it is too large.
    pub(crate) fn read(parser: &mut Parser, path: &str, text: &str) -> Option<Source> {
        if text.len() > BYTES_MAX {
            return None;
        }
        let tree = parser.parse(text, None)?;
        let nodes = flatten(&tree)?;
        let errors = errors(&tree);
        Some(Source { path: path.to_owned(), text: text.to_owned(), nodes, tree, errors })
    }

    /// Returns true if the changed text has no more syntax errors than this one.
    pub(crate) fn stays_sound(&self, parser: &mut Parser, new: &str) -> bool {
        let mut old = self.tree.clone();
        old.edit(&difference(&self.text, new));
        parser.parse(new, Some(&old)).is_some_and(|tree| errors(&tree) <= self.errors)
    }

    pub(crate) fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    pub(crate) fn kind(&self, at: usize) -> &str {
        &self.nodes[at].kind
    }

    pub(crate) fn text(&self, at: usize) -> &str {
        let node = &self.nodes[at];
        self.text.get(node.start..node.end).unwrap_or_default()
    }

    pub(crate) fn parent(&self, at: usize) -> usize {
        self.nodes[at].parent
    }

    /// Returns the child in a named field.
    pub(crate) fn child(&self, at: usize, field: &str) -> Option<usize> {
        self.nodes[at].children.iter().copied().find(|child| &*self.nodes[*child].field == field)
    }

    /// Returns the children that are neither punctuation nor comments.
    pub(crate) fn named(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let children = self.nodes[at].children.iter().copied();
        children.filter(|child| self.nodes[*child].named && &*self.nodes[*child].kind != "comment")
    }

    /// Returns the ancestors from the parent up to the root, within the maximum.
    pub(crate) fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let first = (at != 0).then(|| self.parent(at));
        std::iter::successors(first, |up| (*up != 0).then(|| self.parent(*up))).take(ANCESTORS_MAX)
    }

    /// Returns the nearest ancestor of a kind.
    pub(crate) fn above(&self, at: usize, kind: &str) -> Option<usize> {
        self.ancestors(at).find(|up| self.kind(*up) == kind)
    }

    /// Returns the function that contains a node.
    pub(crate) fn function(&self, at: usize) -> Option<usize> {
        self.nodes[at].function
    }

    /// Returns all nodes inside a node, itself first. Nodes are stored in the order of the text, so they are
    /// consecutive.
    pub(crate) fn inside(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[at].end;
        (at..self.nodes.len()).take_while(move |node| *node == at || self.nodes[*node].start < end)
    }

    /// Returns the indentation of a node's line.
    pub(crate) fn indent(&self, at: usize) -> &str {
        let start = self.nodes[at].start;
        let line = self.text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let text = self.text.get(line..start).unwrap_or_default();
        &text[..text.len() - text.trim_start().len()]
    }
}

/// Returns every node in the order of the text, or `None` if there are too many.
fn flatten(tree: &Tree) -> Option<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut names = Names::default();
    let mut cursor = tree.walk();
    let mut parents: Vec<usize> = Vec::new();
    loop {
        let parent = parents.last().copied().unwrap_or(0);
        let at = nodes.len();
        if at >= NODES_MAX {
            return None;
        }
        let function = nodes
            .get(parent)
            .and_then(|up| if &*up.kind == "function_definition" { Some(parent) } else { up.function });
        nodes.push(names.node(cursor.node(), cursor.field_name(), parent, function));
        if at != 0 {
            nodes[parent].children.push(at);
        }
        if cursor.goto_first_child() {
            parents.push(at);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(nodes);
            }
            parents.pop();
        }
    }
}

/// Interned kinds and fields. There are few, so each is stored once.
#[derive(Default)]
struct Names(HashMap<String, Arc<str>>);

impl Names {
    fn keep(&mut self, name: &str) -> Arc<str> {
        if let Some(kept) = self.0.get(name) {
            return Arc::clone(kept);
        }
        let kept: Arc<str> = Arc::from(name);
        self.0.insert(name.to_owned(), Arc::clone(&kept));
        kept
    }

    fn node(&mut self, raw: Raw<'_>, field: Option<&str>, parent: usize, function: Option<usize>) -> Node {
        Node {
            kind: self.keep(raw.kind()),
            field: self.keep(field.unwrap_or_default()),
            start: raw.start_byte(),
            end: raw.end_byte(),
            line: raw.start_position().row + 1,
            parent,
            children: Vec::new(),
            named: raw.is_named(),
            function,
        }
    }
}

/// Returns the number of nodes that are errors or that the parser inserted.
fn errors(tree: &Tree) -> usize {
    if !tree.root_node().has_error() {
        return 0;
    }
    let mut cursor = tree.walk();
    let mut count = 0;
    loop {
        let node = cursor.node();
        count += usize::from(node.is_error() || node.is_missing());
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return count;
            }
        }
    }
}

/// Returns the edit that lets the parser reuse its tree: from the first byte that differs to the last.
fn difference(old: &str, new: &str) -> InputEdit {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let rest = a.len().min(b.len()) - start;
    let tail = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(x, y)| x == y).count();
    let (old_end, new_end) = (a.len() - tail, b.len() - tail);
    InputEdit {
        start_byte: start,
        old_end_byte: old_end,
        new_end_byte: new_end,
        start_position: point(a, start),
        old_end_position: point(a, old_end),
        new_end_position: point(b, new_end),
    }
}

fn point(text: &[u8], at: usize) -> Point {
    let before = &text[..at];
    let row = before.iter().filter(|byte| **byte == b'\n').count();
    let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    Point { row, column: at - line }
}
