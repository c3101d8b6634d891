//! The commands that tree-sitter-bash finds in a shell text.

use std::collections::BTreeSet;

use tree_sitter::{Node, Parser};

/// A parser for bash.
pub struct Bash(Parser);

/// The commands of a text.
#[derive(Debug, Default)]
pub struct Commands {
    /// The commands whose name is a plain word.
    pub list: Vec<Command>,
    /// The functions that the text defines.
    pub functions: BTreeSet<String>,
}

/// A command as the grammar delimits it.
#[derive(Debug)]
pub struct Command {
    /// The program's name without its directory.
    pub name: String,
    /// The command with its arguments and assignments.
    pub text: String,
}

impl Bash {
    /// Creates a parser. `None` if the grammar does not fit the library.
    pub fn new() -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
        Some(Bash(parser))
    }

    /// Returns the commands of a text. `None` if the grammar finds an error in it.
    pub fn commands(&mut self, text: &str) -> Option<Commands> {
        let tree = self.0.parse(text, None)?;
        if tree.root_node().has_error() {
            return None;
        }
        let mut commands = Commands::default();
        let mut cursor = tree.walk();
        loop {
            commands.add(cursor.node(), text);
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Some(commands);
                }
            }
        }
    }
}

impl Commands {
    fn add(&mut self, node: Node<'_>, text: &str) {
        let named = |node: Node<'_>| node.child_by_field_name("name").map(|name| text[name.byte_range()].to_owned());
        match node.kind() {
            "function_definition" => self.functions.extend(named(node)),
            "command" => {
                let name = named(node).filter(|name| is_plain(name));
                let name = name.and_then(|name| name.rsplit('/').next().map(str::to_owned));
                let text = text[node.byte_range()].to_owned();
                self.list.extend(name.map(|name| Command { name, text }));
            }
            _ => {}
        }
    }
}

/// Reports whether a name has no quotes, expansions or patterns, so that both sides spell it alike.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_./-".contains(letter))
}
