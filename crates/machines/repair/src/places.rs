//! The suspicion of each node: the score of its line, or a derived score for lines that are never executed, such as
//! declarations and the continuation of a statement. Values in failed checks raise the lines that produce them.

use std::collections::{BTreeMap, BTreeSet};

use crate::hints::Hints;
use crate::localise::Suspect;
use crate::source::Source;
use crate::symbols::Symbols;

/// The factor for a line without coverage in a statement with coverage: the continuation of a long condition.
const SAME_STATEMENT: f64 = 0.9;
/// The factor for a line without coverage in a function with coverage: the compiler moved or merged it.
const SAME_FUNCTION: f64 = 0.2;
/// The factor for a declaration, relative to the most suspect line that uses it.
const DECLARATION: f64 = 0.5;
/// The factor for a line that produces a value that a failed check expected or found.
const GIVES: f64 = 1.2;
/// The factor for the condition that guards such a line.
const DECIDES: f64 = 1.5;

/// Returns the enumerators that failed checks expected, and those that they found instead.
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

/// The suspicion of each line, including derived scores for lines that are not executed.
pub(crate) struct Places {
    lines: BTreeMap<(String, usize), f64>,
    uses: BTreeMap<String, f64>,
    functions: BTreeMap<(String, usize), f64>,
    raised: BTreeMap<(String, usize), f64>,
}

impl Places {
    /// Creates the scores from the suspects, and from the values that failed checks expected or found.
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

    /// Raises the lines that produce one of the values, and the conditions that guard them.
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

    /// Returns the suspicion of a node.
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

    /// Returns the suspicion derived from the lines of the innermost statement around the node.
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

    /// Returns the suspicion derived from the lines that use the declared names.
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
