//! Parses YAML text to a tree: syntax, limits, and the parts of YAML that the format excludes.
//!
//! The tree is built on an explicit stack, so that no nesting of the file can overflow the program's stack.

use super::{
    code, limits,
    node::{Entry, Kind, Node, Scalar},
};
use crate::{Diagnostic, Span};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use std::collections::BTreeMap;

/// Maps with fewer entries are searched without an index.
const SMALL_MAP: usize = 16;

/// Returns the file's only value. Returns `None` if the text is not YAML or exceeds a limit; the reason is in
/// `problems`.
pub(crate) fn parse(source: &str, problems: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut builder = Builder {
        source,
        offsets: Offsets::of(source),
        open: Vec::new(),
        root: None,
        documents: 0,
        nodes: 0,
        problems,
    };
    for event in Parser::new_from_str(source) {
        let outcome = match event {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => Err(builder.syntax_error(error.marker(), error.info())),
        };
        if let Err(problem) = outcome {
            builder.problems.push(*problem);
            return None;
        }
    }
    let root = builder.root.take();
    if root.is_none() {
        let hint = "a machine file begins with `machine:`, `version:`, `initial:` and `states:`";
        problems.push(Diagnostic::error(code::NOT_ONE_DOCUMENT, Span::default(), "the file is empty").hint(hint));
    }
    root
}

/// Converts the parser's positions, which count characters, to bytes.
enum Offsets {
    /// Every character is one byte.
    Ascii(usize),
    /// The byte at which each character begins, and the end.
    Table(Vec<u32>),
}

impl Offsets {
    fn of(source: &str) -> Self {
        if source.is_ascii() {
            return Offsets::Ascii(source.len());
        }
        let starts = source.char_indices().map(|(at, _)| at).chain([source.len()]);
        Offsets::Table(starts.map(|at| u32::try_from(at).unwrap_or(u32::MAX)).collect())
    }

    fn byte(&self, marker: &Marker) -> usize {
        match self {
            Offsets::Ascii(len) => marker.index().min(*len),
            Offsets::Table(starts) => {
                let last = starts.last().copied().unwrap_or(0);
                starts.get(marker.index()).copied().unwrap_or(last) as usize
            }
        }
    }
}

/// A list or a map whose end has not been read yet.
struct Open {
    start: usize,
    body: Body,
}

enum Body {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: BTreeMap<String, Span>, key: Option<Key> },
}

/// A key whose value has not been read yet.
enum Key {
    Good(Scalar),
    /// The key was already reported; its value is omitted.
    Bad,
}

struct Builder<'s, 'p> {
    source: &'s str,
    offsets: Offsets,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
    nodes: usize,
    problems: &'p mut Vec<Diagnostic>,
}

/// Returns the position of an earlier equal key. Most maps are small and are searched linearly; the others get an
/// index.
fn known(entries: &[Entry], seen: &mut BTreeMap<String, Span>, key: &str) -> Option<Span> {
    if entries.len() < SMALL_MAP {
        return entries.iter().find(|entry| entry.key.text == key).map(|entry| entry.key.span);
    }
    for entry in &entries[seen.len()..] {
        seen.insert(entry.key.text.clone(), entry.key.span);
    }
    seen.get(key).copied()
}

/// A problem that ends parsing. It is boxed because it is rare and large.
type Stop = Box<Diagnostic>;

impl Builder<'_, '_> {
    fn event(&mut self, event: Event<'_>, span: saphyr_parser::Span) -> Result<(), Stop> {
        let place = self.place(&span);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => self.document(place),
            Event::Alias(_) => {
                self.not_literal(place, "an alias");
                self.place_node(Node { span: place, kind: Kind::Broken })
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_extras(place, anchor, tag.is_some());
                let scalar = self.scalar(text.into_owned(), style, place);
                self.place_node(Node { span: scalar.span, kind: Kind::Scalar(scalar) })
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_extras(place, anchor, tag.is_some());
                self.begin(place, Body::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_extras(place, anchor, tag.is_some());
                self.begin(place, Body::Map { entries: Vec::new(), seen: BTreeMap::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(place),
        }
    }

    fn place(&self, span: &saphyr_parser::Span) -> Span {
        let (start, end) = (self.offsets.byte(&span.start), self.offsets.byte(&span.end));
        let text = self.source.get(start..end).unwrap_or("");
        Span::between(start, start + text.trim_end().len())
    }

    fn document(&mut self, place: Span) -> Result<(), Stop> {
        self.documents += 1;
        match self.documents {
            1 => Ok(()),
            _ => Err(Box::new(
                Diagnostic::error(code::NOT_ONE_DOCUMENT, place, "a second document begins here")
                    .hint("a file holds one machine; put the second into a folder of its own"),
            )),
        }
    }

    fn refuse_extras(&mut self, place: Span, anchor: usize, tagged: bool) {
        if anchor != 0 {
            self.not_literal(place, "an anchor");
        }
        if tagged {
            self.not_literal(place, "a tag");
        }
    }

    fn not_literal(&mut self, place: Span, what: &str) {
        let message = format!("{what} is not part of the format");
        let hint = "write the value in full";
        self.problems.push(Diagnostic::error(code::NOT_LITERAL, place, message).hint(hint));
    }

    fn scalar(&self, text: String, style: ScalarStyle, span: Span) -> Scalar {
        let quote = usize::from(matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted));
        let first = span.start as usize + quote;
        let written = self.source.get(first..first + text.len());
        let verbatim = (written == Some(text.as_str())).then_some(span.start + quote as u32);
        Scalar { text, plain: style == ScalarStyle::Plain, span, verbatim }
    }

    fn begin(&mut self, place: Span, body: Body) -> Result<(), Stop> {
        if self.open.len() >= limits::DEPTH_MAX {
            let message = format!("nested deeper than {} levels", limits::DEPTH_MAX);
            return Err(Box::new(Diagnostic::error(code::TOO_DEEP, place, message)));
        }
        self.open.push(Open { start: place.start as usize, body });
        Ok(())
    }

    fn end(&mut self, place: Span) -> Result<(), Stop> {
        let Some(Open { start, body }) = self.open.pop() else { return Ok(()) };
        let (kind, last) = match body {
            Body::List(items) => {
                let last = items.last().map(|item| item.span.end);
                (Kind::List(items), last)
            }
            Body::Map { entries, .. } => {
                let last = entries.last().map(|entry| entry.value.span.end.max(entry.key.span.end));
                (Kind::Map(entries), last)
            }
        };
        // A block list or map has no end marker: the parser reports the start of the next token instead.
        let end = if place.start < place.end { place.end } else { last.unwrap_or(place.end) };
        self.place_node(Node { span: Span::between(start, end as usize), kind })
    }

    fn place_node(&mut self, node: Node) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes > limits::NODES_MAX {
            let message = format!("the file has more than {} values", limits::NODES_MAX);
            return Err(Box::new(Diagnostic::error(code::TOO_MANY, node.span, message)));
        }
        match self.open.last_mut().map(|open| &mut open.body) {
            None => self.root = Some(node),
            Some(Body::List(items)) => items.push(node),
            Some(Body::Map { entries, key, .. }) => match key.take() {
                None => self.place_key(node),
                Some(Key::Good(key)) => entries.push(Entry { key, value: node }),
                Some(Key::Bad) => {}
            },
        }
        Ok(())
    }

    fn place_key(&mut self, node: Node) {
        let Some(Open { body: Body::Map { entries, seen, key }, .. }) = self.open.last_mut() else { return };
        *key = Some(Key::Bad);
        let scalar = match node.kind {
            Kind::Scalar(scalar) => scalar,
            Kind::Broken => return,
            _ => {
                let message = format!("a key must be text, this is {}", node.word());
                return self.problems.push(Diagnostic::error(code::WRONG_KIND, node.span, message));
            }
        };
        if scalar.plain && scalar.text == "<<" {
            return self.not_literal(node.span, "a merge key");
        }
        if let Some(first) = known(entries, seen, &scalar.text) {
            let message = format!("`{}` occurs twice in this map", scalar.text);
            let problem = Diagnostic::error(code::DUPLICATE_KEY, scalar.span, message);
            return self.problems.push(problem.related(first, "first here"));
        }
        *key = Some(Key::Good(scalar));
    }

    fn syntax_error(&self, marker: &Marker, info: &str) -> Stop {
        let at = self.offsets.byte(marker);
        if info.contains("recursion limit") {
            let message = format!("nested deeper than {} levels", limits::DEPTH_MAX);
            return Box::new(Diagnostic::error(code::TOO_DEEP, Span::between(at, at), message));
        }
        // The parser reports a tab in a plain text at the beginning of the text, which is often the line before.
        let tab = self.source.get(at..).filter(|_| info.contains("found a tab")).and_then(|rest| rest.find('\t'));
        let at = at + tab.unwrap_or(0);
        let hint = if info.contains("tab") {
            Some("indent with spaces".to_owned())
        } else if info.contains("unknown anchor") {
            Some("anchors and aliases are not part of the format; quote a value that begins with `*` or `&`".to_owned())
        } else {
            None
        };
        let problem = Diagnostic::error(code::SYNTAX, Span::between(at, at), format!("not YAML: {info}"));
        Box::new(problem.maybe_hint(hint))
    }
}
