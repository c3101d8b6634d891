//! From suspects to candidates: every template at every suspect place, ranked. Each result comes once, and none that breaks the syntax: that is
//! looked at when one is taken, because most never are.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hasher};

use tree_sitter::Parser;

use crate::diff::unified;
use crate::edit::{Edit, apply};
use crate::hints::{Hints, words};
use crate::localise::{Suspect, is_test};
use crate::places::{Places, values};
use crate::source::{Source, parser};
use crate::symbols::Symbols;
use crate::template::Template;
use crate::templates::{At, Ingredients, Proposal, RULES};

/// The most candidates that wait.
pub const CANDIDATES_MAX: usize = 10_000;
/// The most proposals that are ranked; a file that gives more is mostly suspect and hardly worth it.
const PROPOSALS_MAX: usize = 60_000;

/// How much each further proposal of a template for one piece of text sinks: the more there are, the less likely is each.
const CROWD: f64 = 0.12;
/// How much a change is raised that brings in a name of all failed checks.
const BROUGHT: f64 = 1.8;
/// How much a line is raised that such a name is on.
const THERE: f64 = 0.4;

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
/// hints say are read-only are not changed. The same input gives the same candidates.
pub fn candidates(files: &BTreeMap<String, String>, suspects: &[Suspect], hints: &Hints) -> Candidates {
    let mut parser = parser();
    let read = |(path, text): (&String, &String)| Source::read(parser.as_mut()?, path, text);
    let sources: Vec<Source> = files.iter().filter(|(path, _)| !is_test(path)).filter_map(read).collect();
    let symbols = Symbols::read(&sources);
    let places = Places::new(&sources, suspects, &values(&symbols, hints));
    let mut waiting = Vec::new();
    for (index, source) in sources.iter().enumerate().filter(|(_, source)| !hints.read_only.contains(&source.path)) {
        propose(source, index, &symbols, &places, hints, &mut waiting);
    }
    waiting.truncate(PROPOSALS_MAX);
    rank(&mut waiting);
    thin(&mut waiting);
    rank(&mut waiting);
    waiting.truncate(CANDIDATES_MAX);
    Candidates { sources, parser, waiting, seen: HashSet::new() }
}

/// What templates offer, most likely first; as an iterator, those that are worth trying.
pub struct Candidates {
    sources: Vec<Source>,
    parser: Option<Parser>,
    waiting: Vec<Ranked>,
    /// What was taken before: its file, and a number for the text that it makes of it.
    seen: HashSet<(usize, u64)>,
}

/// A candidate that waits: enough to say whether it is next.
pub(crate) struct Offer<'o> {
    pub(crate) template: Template,
    pub(crate) path: &'o str,
    pub(crate) line: usize,
    pub(crate) score: f64,
}

impl Candidates {
    /// How many wait. Not all of them need be worth trying.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn offers(&self) -> impl Iterator<Item = Offer<'_>> {
        self.waiting.iter().map(|ranked| Offer {
            template: ranked.proposal.template,
            path: &self.sources[ranked.source].path,
            line: ranked.line,
            score: ranked.score,
        })
    }

    /// Takes one of the offers, by its place among them; nothing where it does not apply, was there before, or breaks the syntax.
    pub(crate) fn pick(&mut self, index: usize) -> Option<Candidate> {
        let ranked = self.waiting.remove(index);
        let source = &self.sources[ranked.source];
        let new = apply(&source.text, &ranked.proposal.edits)?;
        let is_new = new != source.text && self.seen.insert((ranked.source, squeezed(&new)));
        let is_sound = is_new && source.stays_sound(self.parser.as_mut()?, &new);
        is_sound.then(|| candidate(&ranked, source, &new))
    }
}

impl Iterator for Candidates {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        while !self.waiting.is_empty() {
            if let Some(candidate) = self.pick(0) {
                return Some(candidate);
            }
        }
        None
    }
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
        if found.is_empty() {
            continue;
        }
        let (line, place) = (source.node(node).line, Told::of(source, node, hints));
        for proposal in found.drain(..) {
            let told = place.by(&proposal, hints);
            let score =
                suspect.powf(proposal.template.line_power()) * proposal.template.prior() * proposal.weight * told;
            into.push(Ranked { source: index, line, score, proposal });
        }
    }
}

/// What the failed checks say about a place.
struct Told<'s> {
    /// The names that stand there already.
    old: BTreeSet<&'s str>,
    /// How much they tell of its line.
    there: f64,
}

impl<'s> Told<'s> {
    fn of(source: &'s Source, node: usize, hints: &Hints) -> Self {
        Told { old: words(source.text(node)).collect(), there: most(line_words(source, node), hints) }
    }

    /// How much they speak for a change: it brings in a name that they name, or is where they point at.
    fn by(&self, proposal: &Proposal, hints: &Hints) -> f64 {
        let new = proposal.edits.iter().flat_map(|edit| words(&edit.text));
        let brings = most(new.filter(|word| !self.old.contains(word)), hints);
        let one = hints.off_by_one() && matches!(proposal.template, Template::OffByOne | Template::Boundary);
        (1.0 + BROUGHT * brings) * (1.0 + THERE * self.there) * if one { 1.3 } else { 1.0 }
    }
}

fn most<'w>(words: impl Iterator<Item = &'w str>, hints: &Hints) -> f64 {
    words.map(|word| hints.tells(word)).fold(0.0, f64::max)
}

fn line_words(source: &Source, node: usize) -> impl Iterator<Item = &str> {
    let start = source.node(node).start;
    let from = source.text.get(..start).and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1);
    let line = source.text.get(from..).and_then(|text| text.lines().next()).unwrap_or_default();
    words(line)
}

/// Two changes that differ in blanks only are one: the same number then.
fn squeezed(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.split_ascii_whitespace().for_each(|word| hasher.write(word.as_bytes()));
    hasher.finish()
}

fn candidate(ranked: &Ranked, source: &Source, new: &str) -> Candidate {
    let Ranked { line, score, proposal, .. } = ranked;
    let patch = unified(&source.path, &source.text, new);
    let (before, after) = changed_lines(&patch);
    let summary = format!("{}:{line}: {}: {}", source.path, proposal.template, in_words(&before, &after));
    Candidate {
        template: proposal.template,
        path: source.path.clone(),
        line: *line,
        summary,
        before,
        after,
        patch,
        prior: proposal.template.prior(),
        score: *score,
        edits: BTreeMap::from([(source.path.clone(), proposal.edits.clone())]),
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
