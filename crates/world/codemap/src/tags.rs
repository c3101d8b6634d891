//! Extracts definitions and references of a file from its syntax tree. Broken code has a tree too.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use tree_sitter::{Node, ParseOptions, Parser, Query, QueryCursor, QueryMatch, StreamingIterator as _};

use crate::language::Language;

/// The maximum length of a signature in characters.
const SIGNATURE_CHARS: usize = 120;

/// The maximum number of definitions, and of different names, that are kept per file.
const PER_FILE_MAX: usize = 2_000;

/// The maximum number of progress callbacks of the parser. A file that takes longer was not written by a person.
const PATIENCE: usize = 20_000;

/// The maximum number of matches that the query cursor keeps open.
const OPEN_MAX: u32 = 1_024;

/// The minimum length of a name that counts as a reference.
const NAME_BYTES_MIN: usize = 3;

/// The kinds of definitions. Each is the name of a capture in `queries/`; the cache stores their positions in this
/// list.
pub(crate) const KINDS: [&str; 19] = [
    "function",
    "prototype",
    "struct",
    "union",
    "enum",
    "type",
    "macro",
    "class",
    "namespace",
    "trait",
    "constant",
    "variable",
    "module",
    "method",
    "interface",
    "record",
    "constructor",
    "mixin",
    "extension",
];

/// A definition in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition<Name> {
    pub(crate) name: Name,
    pub(crate) kind: &'static str,
    /// The first line, from 1.
    pub(crate) line: u32,
    pub(crate) end_line: u32,
    pub(crate) signature: String,
}

/// The definitions and references of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tags<Name> {
    pub(crate) definitions: Vec<Definition<Name>>,
    /// The referenced names with their counts.
    pub(crate) references: Vec<(Name, u32)>,
}

impl<Name> Default for Tags<Name> {
    fn default() -> Self {
        Tags { definitions: Vec::new(), references: Vec::new() }
    }
}

/// Extracts tags from files. It keeps the parser between files.
pub(crate) struct Tagger {
    parser: Parser,
    cursor: QueryCursor,
    set_to: Option<Language>,
}

impl Tagger {
    pub(crate) fn new() -> Self {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(OPEN_MAX);
        Tagger { parser: Parser::new(), cursor, set_to: None }
    }

    /// Returns the tags of a text; empty if the language has no grammar.
    pub(crate) fn tags(&mut self, language: Language, text: &[u8]) -> Tags<String> {
        let Some((grammar, query)) = language.grammar() else { return Tags::default() };
        if self.set_to != Some(language) && self.parser.set_language(&grammar).is_err() {
            return Tags::default();
        }
        self.set_to = Some(language);
        let mut asked = 0;
        let mut go_on = |_: &_| {
            asked += 1;
            if asked > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut go_on);
        let mut read = |at: usize, _| text.get(at..).unwrap_or_default();
        match self.parser.parse_with_options(&mut read, None, Some(options)) {
            Some(tree) => collect(&mut self.cursor, query, tree.root_node(), text),
            None => {
                self.parser.reset();
                Tags::default()
            }
        }
    }
}

fn collect(cursor: &mut QueryCursor, query: &Query, root: Node<'_>, text: &[u8]) -> Tags<String> {
    let kinds: Vec<Option<&'static str>> =
        query.capture_names().iter().map(|name| KINDS.iter().find(|kind| *kind == name).copied()).collect();
    let (mut definitions, mut names) =
        (Vec::<((usize, usize), Definition<String>)>::new(), FxHashMap::<&str, u32>::default());
    let mut matches = cursor.matches(query, root, text);
    while let Some(found) = matches.next() {
        match parts(found, &kinds) {
            Some((node, name, kind)) if definitions.len() < PER_FILE_MAX => {
                definitions.extend(
                    definition(text, node, name, kind).map(|it| ((name.start_byte(), found.pattern_index), it)),
                );
            }
            Some(_) => {}
            None => {
                let name = found.captures().first().and_then(|one| one.node.utf8_text(text).ok()).unwrap_or_default();
                if name.len() >= NAME_BYTES_MIN && (names.len() < PER_FILE_MAX || names.contains_key(name)) {
                    *names.entry(name).or_default() += 1;
                }
            }
        }
    }
    // If two patterns match one node, the first is more specific.
    definitions.sort_by_key(|(at, _)| *at);
    definitions.dedup_by_key(|((at, _), _)| *at);
    let mut references: Vec<(String, u32)> = names.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    references.sort();
    Tags { definitions: definitions.into_iter().map(|(_, definition)| definition).collect(), references }
}

/// Returns the defining node, its name node and its kind, or `None` for a reference.
fn parts<'t>(found: &QueryMatch<'_, 't>, kinds: &[Option<&'static str>]) -> Option<(Node<'t>, Node<'t>, &'static str)> {
    let kind_of = |index: u32| kinds.get(index as usize).copied().flatten();
    let whole = found.captures().iter().find(|one| kind_of(one.index).is_some())?;
    let name = found.captures().iter().find(|one| kind_of(one.index).is_none())?;
    Some((whole.node, name.node, kind_of(whole.index)?))
}

fn definition(text: &[u8], node: Node<'_>, name: Node<'_>, kind: &'static str) -> Option<Definition<String>> {
    let name = name.utf8_text(text).ok()?;
    let name = name.rsplit("::").next().unwrap_or(name).trim().to_owned();
    let (begin, end) = (node.start_position(), node.end_position());
    // A node that ends with its line break does not include the next line.
    let last = if end.column == 0 && end.row > begin.row { end.row - 1 } else { end.row };
    let (line, end_line) = (number(begin.row), number(last));
    let is_plain = !name.is_empty() && !name.contains(char::is_control);
    is_plain.then(|| Definition { signature: shown(signature(text, node), kind), name, kind, line, end_line })
}

fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1) + 1
}

/// Removes string values from signatures, because they may be secrets and do not describe the definition.
fn shown(signature: String, kind: &str) -> String {
    let is_value = matches!(kind, "constant" | "variable" | "macro");
    match signature.find(['"', '\'', '`']).filter(|_| is_value) {
        Some(at) => format!("{}…", &signature[..at]),
        None => signature,
    }
}

/// Returns the text before the body, on one line.
fn signature(text: &[u8], node: Node<'_>) -> String {
    // In `next = (at) => at + 1` the body is inside the assigned value.
    let value = ["value", "right"].iter().find_map(|name| node.child_by_field_name(name)).unwrap_or(node);
    let body = [node, value].iter().find_map(|node| node.child_by_field_name("body"));
    let body = body.map_or(node.end_byte(), |body| body.start_byte());
    let head = String::from_utf8_lossy(text.get(node.start_byte()..body).unwrap_or_default());
    let mut line = String::new();
    for word in head.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|letter| !letter.is_control()));
        if line.len() > SIGNATURE_CHARS * 4 {
            break;
        }
    }
    let line = line.trim_end_matches(['{', ':', '=', ';', ' ']);
    match line.char_indices().nth(SIGNATURE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
