//! Converts suspects to candidates: every template at every suspect place, ranked. Each resulting text is returned
//! once, and none with new syntax errors. The syntax is checked only when a candidate is taken, because most never are.

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

/// The maximum number of waiting candidates.
pub const CANDIDATES_MAX: usize = 10_000;
/// The maximum number of proposals that are ranked. A file with more is mostly suspect, and searching it is hardly
/// worthwhile.
const PROPOSALS_MAX: usize = 60_000;

/// The factor by which each further proposal of a template for one piece of text is lowered: the more there are, the
/// less likely is each.
const CROWD: f64 = 0.12;
/// The factor by which a change is raised that introduces a name from all failed checks.
const BROUGHT: f64 = 1.8;
/// The factor by which a line is raised that contains such a name.
const THERE: f64 = 0.4;

/// A small change that may be the repair.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The template that made the change.
    pub template: Template,
    /// The changed file; for two combined changes, the first.
    pub path: String,
    /// The line of the change; the first is 1.
    pub line: usize,
    /// One sentence that describes the change.
    pub summary: String,
    /// The changed lines before the change.
    pub before: String,
    /// The changed lines after the change.
    pub after: String,
    /// The change as a unified diff.
    pub patch: String,
    /// The probability of the template, independent of the place.
    pub prior: f64,
    /// The value by which candidates are ranked.
    pub score: f64,
    /// The edits of each file, as byte ranges of the given text.
    pub edits: BTreeMap<String, Vec<Edit>>,
}

impl Candidate {
    /// Returns a file with the candidate applied, or `None` if the edits do not fit the text.
    pub fn apply(&self, path: &str, text: &str) -> Option<String> {
        self.edits.get(path).map_or_else(|| Some(text.to_owned()), |edits| apply(text, edits))
    }
}

/// Returns every change that the templates propose for the suspects, most likely first.
///
/// `files` maps paths to texts. All files are read, because structures and constants are in headers. Files of tests and
/// files that the hints mark as read-only are not changed. The same input gives the same candidates.
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

/// The proposals of the templates, most likely first. The iterator returns those that are worth trying.
pub struct Candidates {
    sources: Vec<Source>,
    parser: Option<Parser>,
    waiting: Vec<Ranked>,
    /// The results that were already returned: the file, and a hash of the resulting text.
    seen: HashSet<(usize, u64)>,
}

/// The ranking data of a waiting candidate.
pub(crate) struct Offer<'o> {
    pub(crate) template: Template,
    pub(crate) path: &'o str,
    pub(crate) line: usize,
    pub(crate) score: f64,
}

impl Candidates {
    /// Returns the number of waiting candidates, some of which may turn out not to be worth trying.
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

    /// Takes an offer by its index. Returns `None` if it does not apply, repeats an earlier result, or breaks the
    /// syntax.
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

/// Lowers the scores if a template makes several proposals for one piece of text.
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
        let (line, place) = (source.node(node).line, CheckEvidence::of(source, node, hints));
        for proposal in found.drain(..) {
            let told = place.by(&proposal, hints);
            let score =
                suspect.powf(proposal.template.line_power()) * proposal.template.prior() * proposal.weight * told;
            into.push(Ranked { source: index, line, score, proposal });
        }
    }
}

/// The evidence of the failed checks about a place.
struct CheckEvidence<'s> {
    /// The names that already occur there.
    old: BTreeSet<&'s str>,
    /// The evidence for the line itself.
    there: f64,
}

impl<'s> CheckEvidence<'s> {
    fn of(source: &'s Source, node: usize, hints: &Hints) -> Self {
        CheckEvidence { old: words(source.text(node)).collect(), there: most(line_words(source, node), hints) }
    }

    /// Returns the factor for a change: it is raised if the change introduces a name from the checks, or if the checks
    /// point to its line.
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

/// Hashes a text without whitespace, so that changes that differ only in layout are equal.
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
