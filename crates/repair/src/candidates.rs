//! From suspects to candidates: every template at every suspect place, ranked, each result once, none that breaks the syntax.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use tree_sitter::Parser;

use crate::diff::unified;
use crate::edit::{Edit, apply};
use crate::hints::{Hints, words};
use crate::localise::{Suspect, is_test};
use crate::source::{Source, parser};
use crate::symbols::Symbols;
use crate::template::Template;
use crate::templates::{At, Ingredients, Proposal, RULES};

/// The most candidates that are made.
pub const CANDIDATES_MAX: usize = 4_000;
/// The most proposals that are ranked; a file that gives more is mostly suspect and hardly worth it.
const PROPOSALS_MAX: usize = 60_000;

/// A line that no coverage knows, in a statement that it does: the rest of a long condition.
const SAME_STATEMENT: f64 = 0.9;
/// A line that no coverage knows, in a function that it does: the compiler moved or joined it.
const SAME_FUNCTION: f64 = 0.2;
/// A declaration, by the most suspect line that uses what it declares.
const DECLARATION: f64 = 0.5;
/// How much each further proposal of a template for one piece of text sinks: the more there are, the less likely is each.
const CROWD: f64 = 0.12;
/// How much a name is raised that a failed check names, where the checks name few.
const BROUGHT: f64 = 1.4;
/// As many names in failed checks say something; more say less.
const TELLING_WORDS: f64 = 5.0;
/// How much the score of the line counts against the template's prior.
const LINE_POWER: f64 = 1.5;

/// A small change that may be the repair.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What kind of change it is.
    pub template: Template,
    /// The file; of two that were combined, the first.
    pub path: String,
    /// The line of the change; the first is 1.
    pub line: usize,
    /// One sentence for people.
    pub summary: String,
    /// The changed lines as they were.
    pub before: String,
    /// The changed lines as they become.
    pub after: String,
    /// The change as a unified diff.
    pub patch: String,
    /// How likely the template is, before anything is known of the place.
    pub prior: f64,
    /// What it is ranked by.
    pub score: f64,
    /// The change of each file, as byte ranges of the text that was given.
    pub edits: BTreeMap<String, Vec<Edit>>,
}

impl Candidate {
    /// A file as the candidate makes it; `None` where it does not fit the text.
    pub fn apply(&self, path: &str, text: &str) -> Option<String> {
        self.edits.get(path).map_or_else(|| Some(text.to_owned()), |edits| apply(text, edits))
    }
}

/// Every change that the templates know for what is suspect, most likely first.
///
/// Files are paths and texts; all are read, because structures and constants are in headers, and those of tests and those that the
/// hints say are read-only are not changed. The same input gives the same list.
pub fn candidates(files: &BTreeMap<String, String>, suspects: &[Suspect], hints: &Hints) -> Vec<Candidate> {
    let Some(mut parser) = parser() else { return Vec::new() };
    let read = |(path, text): (&String, &String)| Source::read(&mut parser, path, text);
    let sources: Vec<Source> = files.iter().filter(|(path, _)| !is_test(path)).filter_map(read).collect();
    let symbols = Symbols::read(&sources);
    let places = Places::new(&sources, suspects);
    let mut proposals = Vec::new();
    for (index, source) in sources.iter().enumerate().filter(|(_, source)| !hints.read_only.contains(&source.path)) {
        propose(source, index, &symbols, &places, hints, &mut proposals);
    }
    proposals.truncate(PROPOSALS_MAX);
    rank(&mut proposals);
    thin(&mut proposals);
    rank(&mut proposals);
    accept(proposals, &sources, &mut parser)
}

struct Ranked {
    source: usize,
    line: usize,
    score: f64,
    proposal: Proposal,
}

fn rank(proposals: &mut [Ranked]) {
    proposals.sort_by(|a, b| {
        let place = |one: &Ranked| (one.source, one.line, one.proposal.template);
        let last = |one: &Ranked| one.proposal.template == Template::Delete;
        last(a)
            .cmp(&last(b))
            .then_with(|| b.score.total_cmp(&a.score))
            .then_with(|| place(a).cmp(&place(b)))
            .then_with(|| a.proposal.edits.cmp(&b.proposal.edits))
    });
}

/// What a template proposes for one piece of text shares what is likely of it.
fn thin(proposals: &mut [Ranked]) {
    let mut crowd: BTreeMap<(usize, usize, Template), usize> = BTreeMap::new();
    for one in proposals {
        let from = one.proposal.edits.first().map_or(0, |edit| edit.start);
        let before = crowd.entry((one.source, from, one.proposal.template)).or_default();
        one.score /= 1.0 + CROWD * *before as f64;
        *before += 1;
    }
}

fn propose(source: &Source, index: usize, symbols: &Symbols, places: &Places, hints: &Hints, into: &mut Vec<Ranked>) {
    let ingredients = Ingredients::of(source);
    let mut found = Vec::new();
    for node in (0..source.nodes.len()).filter(|node| source.node(*node).named) {
        let suspect = places.score(source, node);
        if suspect <= 0.0 || into.len() >= PROPOSALS_MAX {
            continue;
        }
        let at = At { source, symbols, hints, ingredients: &ingredients, node };
        RULES.iter().for_each(|rule| rule(&at, &mut found));
        for proposal in found.drain(..) {
            let line = source.node(node).line;
            let told = told(source, node, &proposal, hints);
            let score = suspect.powf(LINE_POWER) * proposal.template.prior() * proposal.weight * told;
            into.push(Ranked { source: index, line, score, proposal });
        }
    }
}

/// How much the failed checks speak for a change: it brings in a name that they name, or is where they point at.
fn told(source: &Source, node: usize, proposal: &Proposal, hints: &Hints) -> f64 {
    let old: BTreeSet<String> = words(source.text(node)).collect();
    let new = proposal.edits.iter().flat_map(|edit| words(&edit.text));
    let brings = new.filter(|word| !old.contains(word) && hints.names(word)).count() > 0;
    let there = line_words(source, node).any(|word| hints.names(&word));
    let one = hints.off_by_one() && matches!(proposal.template, Template::OffByOne | Template::Boundary);
    let factor = |holds: bool, factor: f64| if holds { factor } else { 1.0 };
    let telling = (TELLING_WORDS / hints.words.len().max(1) as f64).min(1.0);
    factor(brings, 1.0 + BROUGHT * telling) * factor(there, 1.0 + 0.4 * telling) * factor(one, 1.3)
}

fn line_words(source: &Source, node: usize) -> impl Iterator<Item = String> + '_ {
    let start = source.node(node).start;
    let from = source.text.get(..start).and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1);
    let line = source.text.get(from..).and_then(|text| text.lines().next()).unwrap_or_default();
    words(line)
}

/// Takes the proposals in their order: those that apply, are new, and leave the syntax sound.
fn accept(proposals: Vec<Ranked>, sources: &[Source], parser: &mut Parser) -> Vec<Candidate> {
    let mut seen: HashSet<(usize, String)> = HashSet::new();
    let mut accepted = Vec::new();
    for ranked in proposals {
        if accepted.len() >= CANDIDATES_MAX {
            break;
        }
        let source = &sources[ranked.source];
        let Some(new) = apply(&source.text, &ranked.proposal.edits) else { continue };
        if new == source.text || !source.stays_sound(parser, &new) || !seen.insert((ranked.source, squeezed(&new))) {
            continue;
        }
        accepted.push(candidate(ranked, source, &new));
    }
    accepted
}

/// Two changes that differ in blanks only are one.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn candidate(ranked: Ranked, source: &Source, new: &str) -> Candidate {
    let Ranked { line, score, proposal, .. } = ranked;
    let patch = unified(&source.path, &source.text, new);
    let (before, after) = changed_lines(&patch);
    let summary = format!("{}:{line}: {}: {}", source.path, proposal.template, in_words(&before, &after));
    Candidate {
        template: proposal.template,
        path: source.path.clone(),
        line,
        summary,
        before,
        after,
        patch,
        prior: proposal.template.prior(),
        score,
        edits: BTreeMap::from([(source.path.clone(), proposal.edits)]),
    }
}

fn changed_lines(patch: &str) -> (String, String) {
    let body = patch.lines().skip(3);
    let of = |mark: char| {
        let lines = body.clone().filter_map(|line| line.strip_prefix(mark));
        lines.collect::<Vec<_>>().join("\n")
    };
    (of('-'), of('+'))
}

fn in_words(before: &str, after: &str) -> String {
    match (before.trim(), after.trim()) {
        ("", after) => format!("`{after}` is put in"),
        (before, "") => format!("`{before}` is taken out"),
        (before, after) => format!("`{before}` becomes `{after}`"),
    }
}

/// How suspect each line is, with what follows for lines that are not executed: declarations and parts of statements.
pub(crate) struct Places {
    lines: BTreeMap<(String, usize), f64>,
    uses: BTreeMap<String, f64>,
    functions: BTreeMap<(String, usize), f64>,
}

impl Places {
    fn new(sources: &[Source], suspects: &[Suspect]) -> Places {
        let mut lines: BTreeMap<(String, usize), f64> = BTreeMap::new();
        for suspect in suspects.iter().filter(|suspect| suspect.score.is_finite() && suspect.score > 0.0) {
            let score = lines.entry((suspect.path.clone(), suspect.line)).or_default();
            *score = score.max(suspect.score.min(1.0));
        }
        let mut places = Places { lines, uses: BTreeMap::new(), functions: BTreeMap::new() };
        sources.iter().for_each(|source| places.note(source));
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

    fn line(&self, source: &Source, line: usize) -> f64 {
        self.lines.get(&(source.path.clone(), line)).copied().unwrap_or_default()
    }

    fn score(&self, source: &Source, node: usize) -> f64 {
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
