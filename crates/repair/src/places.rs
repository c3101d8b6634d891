//! How suspect each node is: its line's score, and what follows from it for lines that nobody executes, because they declare
//! something or are the rest of a statement. Values that failed checks name lead to the lines that give them.

use std::collections::{BTreeMap, BTreeSet};

use crate::hints::Hints;
use crate::localise::Suspect;
use crate::source::Source;
use crate::symbols::Symbols;

/// A line that no coverage knows, in a statement that it does: the rest of a long condition.
const SAME_STATEMENT: f64 = 0.9;
/// A line that no coverage knows, in a function that it does: the compiler moved or joined it.
const SAME_FUNCTION: f64 = 0.2;
/// A declaration, by the most suspect line that uses what it declares.
const DECLARATION: f64 = 0.5;
/// A line that gives a value that a failed check expected or found.
const GIVES: f64 = 1.2;
/// The condition that such a line stands under.
const DECIDES: f64 = 1.5;

/// The enumerators that failed checks expected, and those that they found instead.
pub(crate) fn values(symbols: &Symbols, hints: &Hints) -> BTreeSet<String> {
    let mut values = BTreeSet::new();
    for name in hints.words.keys() {
        let Some(expected) = symbols.constants.get(name).filter(|constant| !constant.of.is_empty()) else { continue };
        let found = hints.differences.iter().filter(|(wanted, _)| i64::try_from(expected.ordinal) == Ok(*wanted));
        let ordinals: BTreeSet<i64> = found.map(|(_, actual)| *actual).collect();
        for (other, constant) in symbols.constants.iter().filter(|(_, constant)| constant.of == expected.of) {
            if !ordinals.is_empty() && i64::try_from(constant.ordinal).is_ok_and(|ordinal| ordinals.contains(&ordinal))
            {
                values.extend([name.clone(), other.clone()]);
            }
        }
    }
    values
}

/// How suspect each line is, with what follows for lines that are not executed: declarations and parts of statements.
pub(crate) struct Places {
    lines: BTreeMap<(String, usize), f64>,
    uses: BTreeMap<String, f64>,
    functions: BTreeMap<(String, usize), f64>,
    raised: BTreeMap<(String, usize), f64>,
}

impl Places {
    /// Takes the suspects, and the values that failed checks expected or found.
    pub(crate) fn new(sources: &[Source], suspects: &[Suspect], values: &BTreeSet<String>) -> Places {
        let mut lines: BTreeMap<(String, usize), f64> = BTreeMap::new();
        for suspect in suspects.iter().filter(|suspect| suspect.score.is_finite() && suspect.score > 0.0) {
            let score = lines.entry((suspect.path.clone(), suspect.line)).or_default();
            *score = score.max(suspect.score.min(1.0));
        }
        let mut places = Places { lines, uses: BTreeMap::new(), functions: BTreeMap::new(), raised: BTreeMap::new() };
        for source in sources {
            places.note(source);
            places.raise(source, values);
        }
        places
    }

    fn note(&mut self, source: &Source) {
        let mut function = None;
        for (at, node) in source.nodes.iter().enumerate() {
            if &*node.kind == "function_definition" {
                function = Some((at, node.end));
            }
            let Some(score) = self.lines.get(&(source.path.clone(), node.line)).copied() else { continue };
            if matches!(&*node.kind, "identifier" | "field_identifier") {
                let most = self.uses.entry(source.text(at).to_owned()).or_default();
                *most = most.max(score);
            }
            if let Some((of, _)) = function.filter(|(_, end)| node.start < *end) {
                let most = self.functions.entry((source.path.clone(), of)).or_default();
                *most = most.max(score);
            }
        }
    }

    /// A line that gives one of the values, and the condition that it stands under.
    fn raise(&mut self, source: &Source, values: &BTreeSet<String>) {
        let named =
            (0..source.nodes.len()).filter(|at| source.kind(*at) == "identifier" && values.contains(source.text(*at)));
        for at in named.filter(|at| source.function(*at).is_some()) {
            let line = (source.path.clone(), source.node(at).line);
            self.raised.insert(line, GIVES);
            if let Some(condition) = source.above(at, "if_statement").and_then(|up| source.child(up, "condition")) {
                self.raised.insert((source.path.clone(), source.node(condition).line), DECIDES);
            }
        }
    }

    fn line(&self, source: &Source, line: usize) -> f64 {
        let place = (source.path.clone(), line);
        self.lines.get(&place).copied().unwrap_or_default() * self.raised.get(&place).copied().unwrap_or(1.0)
    }

    /// How suspect a node is.
    pub(crate) fn score(&self, source: &Source, node: usize) -> f64 {
        let own = self.line(source, source.node(node).line);
        if own > 0.0 {
            return own;
        }
        let Some(function) = source.function(node) else { return self.declaration(source, node) };
        self.statement(source, node).max(self.function(source, function))
    }

    fn function(&self, source: &Source, function: usize) -> f64 {
        SAME_FUNCTION * self.functions.get(&(source.path.clone(), function)).copied().unwrap_or_default()
    }

    /// By the lines of the innermost statement that the node is in.
    fn statement(&self, source: &Source, node: usize) -> f64 {
        let is_statement = |at: &usize| source.kind(*at).ends_with("_statement") || source.kind(*at) == "declaration";
        let Some(at) = std::iter::once(node).chain(source.ancestors(node)).find(is_statement) else { return 0.0 };
        if source.kind(at) == "compound_statement" {
            return 0.0;
        }
        let first = source.node(at).line;
        let last = first + source.text(at).matches('\n').count().min(8);
        SAME_STATEMENT * (first..=last).map(|line| self.line(source, line)).fold(0.0, f64::max)
    }

    /// By the lines that use what is declared.
    fn declaration(&self, source: &Source, node: usize) -> f64 {
        let is_declaration = |at: &usize| {
            matches!(
                source.kind(*at),
                "declaration" | "field_declaration" | "preproc_def" | "enumerator" | "function_definition"
            )
        };
        let Some(at) = std::iter::once(node).chain(source.ancestors(node)).find(is_declaration) else { return 0.0 };
        let names =
            source.inside(at).take(64).filter(|inner| matches!(source.kind(*inner), "identifier" | "field_identifier"));
        let most = names.filter_map(|name| self.uses.get(source.text(name))).fold(0.0, |a: f64, b| a.max(*b));
        DECLARATION * most
    }
}
