//! Parses the lines of a diagram into scopes, states and arrows, without interpreting them.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::label;
use crate::{
    IMPORT_DEPTH_MAX,
    problem::{self, MALFORMED, OUT_OF_PLACE, Problems, TOO_BIG},
};
use interlock_chart::{Diagnostic, Span};

/// The maximum number of lines that are read.
const LINES_MAX: usize = 50_000;

/// A diagram as it was read.
#[derive(Debug, Default)]
pub(super) struct Diagram {
    /// The first scope is the diagram itself, the others are composites.
    pub(super) scopes: Vec<Scope>,
    /// The states by id, in the order in which they are first named.
    pub(super) states: IndexMap<String, State>,
    pub(super) arrows: Vec<Arrow>,
    /// The scope of each composite.
    pub(super) owners: BTreeMap<String, usize>,
    pub(super) title: Option<String>,
}

/// The contents of one pair of braces.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The composite, or `None` for the diagram itself.
    pub(super) owner: Option<String>,
    /// The number of `--` separators.
    pub(super) separators: usize,
}

/// The position of a state or arrow: a scope and a region in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) scope: usize,
    pub(super) region: usize,
    depth: usize,
}

/// The kind of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Plain,
    Choice,
    Fork,
    Join,
}

/// A state of the diagram.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) summary: Option<String>,
    pub(super) kind: Kind,
    /// The state's scope and region: where it is declared or an arrow begins, preferring the deepest.
    pub(super) place: Option<Position>,
    strength: (bool, usize),
    pub(super) span: Span,
}

/// An arrow. An end is `None` if it is `[*]`.
#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) label: Option<String>,
    pub(super) place: Position,
}

/// Parses the lines of a diagram.
pub(super) fn parse(text: &str, problems: &mut Problems) -> Result<Diagram, Vec<Diagnostic>> {
    let mut parser = Parser {
        text,
        diagram: Diagram::default(),
        open: vec![Position::default()],
        note: None,
        declared: None,
        problems,
    };
    parser.diagram.scopes.push(Scope::default());
    let mut begun = false;
    let mut front_matter = false;
    if body(text).lines().count() > LINES_MAX {
        return Err(vec![problem::error(TOO_BIG, Span::default(), format!("more than {LINES_MAX} lines"))]);
    }
    for line in body(text).lines() {
        let trimmed = without_comment(line).trim();
        if trimmed == "---" && !begun {
            front_matter = !front_matter;
        } else if front_matter {
            parser.diagram.title =
                trimmed.strip_prefix("title:").map(|title| title.trim().to_owned()).or(parser.diagram.title);
        } else if trimmed.is_empty() || trimmed.starts_with("%%") {
        } else if !begun {
            begun = trimmed.starts_with("stateDiagram");
            if !begun {
                let message = "a state diagram begins with `stateDiagram-v2`";
                return Err(vec![problem::error(MALFORMED, parser.span(trimmed), message)]);
            }
        } else if !parser.line(trimmed) {
            break;
        }
    }
    parser.end(begun);
    Ok(parser.diagram)
}

/// Returns a line without the comment at its end. A `%%` inside a word does not begin a comment.
fn without_comment(line: &str) -> &str {
    let is_comment = |at: &usize| *at == 0 || line[..*at].ends_with(char::is_whitespace);
    let comment = line.match_indices("%%").map(|(at, _)| at).find(is_comment);
    comment.map_or(line, |at| &line[..at])
}

/// Returns the text between the fences of the first state diagram if the text is a Markdown page.
fn body(text: &str) -> &str {
    let mut fenced = text.split("```mermaid").skip(1).map(|rest| rest.split("```").next().unwrap_or(rest));
    fenced.find(|diagram| diagram.contains("stateDiagram")).unwrap_or(text)
}

struct Parser<'a, 'p> {
    text: &'a str,
    diagram: Diagram,
    /// The scopes that are open.
    open: Vec<Position>,
    /// The state whose note is being read, and its text so far.
    note: Option<(String, String)>,
    /// The state that the previous line declares, if that line does not open it.
    declared: Option<String>,
    problems: &'p mut Problems,
}

impl<'a> Parser<'a, '_> {
    /// Parses a line. Returns false if parsing must stop.
    fn line(&mut self, line: &'a str) -> bool {
        if let Some((state, words)) = &mut self.note {
            if line == "end note" {
                let (state, words) = (std::mem::take(state), std::mem::take(words));
                self.note = None;
                self.summarise(&state, &words);
            } else {
                words.push_str(if words.is_empty() { "" } else { " " });
                words.push_str(line);
            }
            return true;
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        if first != "{" {
            self.declared = None;
        }
        match first {
            "direction" | "classDef" | "class" | "style" | "click" | "accTitle" | "accDescr" | "accTitle:"
            | "accDescr:" | "hide" | "scale" => {}
            "--" => self.separator(),
            "}" => self.close(line),
            "{" => return self.open_above(line),
            "note" => self.begin_note(line),
            "state" => return self.declaration(line),
            _ if line.contains("-->") => self.arrow(line),
            _ => self.description(line),
        }
        true
    }

    fn end(&mut self, begun: bool) {
        let at_end = problem::span(self.text.len()..self.text.len());
        if !begun {
            self.problems.error(MALFORMED, at_end, "there is no `stateDiagram-v2`");
        }
        if self.open.len() > 1 {
            self.problems.error(MALFORMED, at_end, "a `{` is never closed");
        }
    }

    fn here(&self) -> Position {
        self.open.last().copied().unwrap_or_default()
    }

    fn separator(&mut self) {
        let scope = self.here().scope;
        self.diagram.scopes[scope].separators += 1;
        if let Some(place) = self.open.last_mut() {
            place.region += 1;
        }
    }

    fn close(&mut self, line: &str) {
        if self.open.len() == 1 {
            return self.problems.error(MALFORMED, self.span(line), "this `}` closes nothing");
        }
        self.open.pop();
    }

    /// Parses `state X`, `state X {`, `state "words" as X` or `state X <<choice>>`.
    fn declaration(&mut self, line: &'a str) -> bool {
        let mut rest = line.strip_prefix("state").unwrap_or(line).trim();
        let opens = rest.ends_with('{');
        rest = rest.trim_end_matches('{').trim();
        let mut summary = None;
        if let Some((words, after)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            summary = Some(label::decode(words));
            let Some(id) = after.trim().strip_prefix("as ") else {
                self.problems.error(MALFORMED, self.span(line), "`state \"words\" as NAME` is expected");
                return true;
            };
            rest = id.trim();
        }
        let (id, kind) = self.kind(rest, line);
        let Some(id) = self.mention(id, line, true) else { return true };
        self.declared = Some(id.clone());
        if let Some(state) = self.diagram.states.get_mut(&id) {
            state.summary = summary.or(state.summary.take());
            state.kind = if kind == Kind::Plain { state.kind } else { kind };
        }
        !opens || self.open_scope(id, line)
    }

    /// Parses a `{` on a separate line. It opens the state that the previous line declares.
    fn open_above(&mut self, line: &'a str) -> bool {
        let owner = self.declared.take().filter(|_| line == "{");
        match owner {
            Some(owner) => self.open_scope(owner, line),
            None => {
                self.problems.error(MALFORMED, self.span(line), "no state is declared in the line above this `{`");
                true
            }
        }
    }

    fn kind<'t>(&mut self, rest: &'t str, line: &str) -> (&'t str, Kind) {
        let marks = [("<<", ">>"), ("[[", "]]")];
        let marked = marks.iter().find_map(|(open, close)| {
            let (id, word) = rest.split_once(open)?;
            Some((id.trim(), word.trim().trim_end_matches(close)))
        });
        let Some((id, word)) = marked else { return (rest, Kind::Plain) };
        let kind = match word {
            "choice" => Kind::Choice,
            "fork" => Kind::Fork,
            "join" => Kind::Join,
            _ => {
                self.problems.error(OUT_OF_PLACE, self.span(line), format!("there is no kind of state `{word}`"));
                Kind::Plain
            }
        };
        (id, kind)
    }

    fn open_scope(&mut self, owner: String, line: &str) -> bool {
        let here = self.here();
        if self.open.len() > IMPORT_DEPTH_MAX {
            self.problems.push(problem::too_deep(self.span(line)));
            return false;
        }
        let scope = self.diagram.owners.get(&owner).copied().unwrap_or_else(|| {
            let scope = self.diagram.scopes.len();
            self.diagram.owners.insert(owner.clone(), scope);
            self.diagram.scopes.push(Scope { owner: Some(owner), separators: 0 });
            scope
        });
        let region = self.diagram.scopes[scope].separators;
        self.declared = None;
        self.open.push(Position { scope, region, depth: here.depth + 1 });
        true
    }

    /// Parses `A --> B : label`.
    fn arrow(&mut self, line: &'a str) {
        let Some((from, rest)) = line.split_once("-->") else { return };
        // An id may carry a style (`B:::done`), so a label begins at a single colon.
        let rest = rest.trim();
        let colon = rest
            .match_indices(':')
            .map(|(at, _)| at)
            .find(|&at| !rest[at + 1..].starts_with(':') && !rest[..at].ends_with(':'));
        let (to, label) = match colon {
            Some(at) => (&rest[..at], Some(label::decode(&rest[at + 1..]))),
            None => (rest, None),
        };
        let (Some(from), Some(to)) = (self.arrow_end(from, line, true), self.arrow_end(to, line, false)) else {
            return;
        };
        if let (None, Some(target)) = (&from, &to) {
            self.mention(target, line, true);
        }
        let label = label.filter(|label| !label.is_empty());
        self.diagram.arrows.push(Arrow { from, to, label, place: self.here() });
    }

    fn arrow_end(&mut self, text: &str, line: &str, strong: bool) -> Option<Option<String>> {
        let text = text.trim();
        if text == "[*]" {
            return Some(None);
        }
        self.mention(text, line, strong).map(Some)
    }

    /// Parses `X : words`, or just `X`.
    fn description(&mut self, line: &'a str) {
        let (id, words) = match line.split_once(':').filter(|(_, rest)| !rest.starts_with(':')) {
            Some((id, words)) => (id, Some(label::decode(words))),
            None => (line, None),
        };
        if let (Some(id), Some(words)) = (self.mention(id, line, true), words) {
            self.summarise(&id, &words);
        }
    }

    /// Parses `note right of X : words`, or the first line of a longer note.
    fn begin_note(&mut self, line: &'a str) {
        let Some((_, rest)) = line.split_once(" of ") else {
            return self.problems.warn("a note that belongs to no state was left out");
        };
        match rest.split_once(':') {
            Some((id, words)) => self.summarise(id.trim(), &label::decode(words)),
            None => self.note = Some((rest.trim().to_owned(), String::new())),
        }
    }

    fn summarise(&mut self, id: &str, words: &str) {
        let state = self.diagram.states.entry(id.to_owned()).or_default();
        state.summary = Some(match state.summary.take() {
            Some(before) => format!("{before} {words}"),
            None => words.to_owned(),
        });
    }

    /// Records that a state is named here, and returns its id without a style.
    fn mention(&mut self, text: &str, line: &str, strong: bool) -> Option<String> {
        let id = text.split(":::").next().unwrap_or(text).trim();
        if id.is_empty() || id.contains(char::is_whitespace) || id.contains(['{', '}', '"', '[', ']']) {
            let message = format!(
                "`{}` is neither a state nor an arrow",
                if text.trim().is_empty() { line } else { text.trim() }
            );
            self.problems.error(MALFORMED, self.span(line), message);
            return None;
        }
        let here = self.here();
        let inside_itself = self.open.iter().any(|place| self.diagram.scopes[place.scope].owner.as_deref() == Some(id));
        let span = self.span(line);
        let state = self.diagram.states.entry(id.to_owned()).or_default();
        if state.place.is_none() {
            state.span = span;
        }
        let strength = (strong, here.depth);
        if !inside_itself && (state.place.is_none() || strength > state.strength) {
            state.place = Some(here);
            state.strength = strength;
        }
        Some(id.to_owned())
    }

    fn span(&self, line: &str) -> Span {
        let start = (line.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        problem::span(start..(start + line.len()).min(self.text.len()))
    }
}
