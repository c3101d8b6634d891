//! From suspects to candidates: every template at every suspect place, ranked, each result once, none that breaks the syntax.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hasher};

use crate::diff::unified;
use crate::edit::{Edit, apply};
use crate::hints::{Hints, words};
use crate::localise::{Suspect, is_test};
use crate::places::{Places, values};
use crate::source::{Source, parser};
use crate::symbols::Symbols;
use crate::template::Template;
use crate::templates::{At, Ingredients, Proposal, RULES};

/// The most candidates that are made.
pub const CANDIDATES_MAX: usize = 4_000;
/// The most proposals that are ranked; a file that gives more is mostly suspect and hardly worth it.
const PROPOSALS_MAX: usize = 60_000;

/// How many proposals are checked before it is asked whether there are enough, and by how many threads.
const CHECKED_AT_ONCE: usize = 4_000;
const SHARES_MAX: usize = 8;

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
/// hints say are read-only are not changed. The same input gives the same list.
pub fn candidates(files: &BTreeMap<String, String>, suspects: &[Suspect], hints: &Hints) -> Vec<Candidate> {
    let Some(mut parser) = parser() else { return Vec::new() };
    let read = |(path, text): (&String, &String)| Source::read(&mut parser, path, text);
    let sources: Vec<Source> = files.iter().filter(|(path, _)| !is_test(path)).filter_map(read).collect();
    let symbols = Symbols::read(&sources);
    let places = Places::new(&sources, suspects, &values(&symbols, hints));
    let mut proposals = Vec::new();
    for (index, source) in sources.iter().enumerate().filter(|(_, source)| !hints.read_only.contains(&source.path)) {
        propose(source, index, &symbols, &places, hints, &mut proposals);
    }
    proposals.truncate(PROPOSALS_MAX);
    rank(&mut proposals);
    thin(&mut proposals);
    rank(&mut proposals);
    accept(proposals, &sources)
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
            let score =
                suspect.powf(proposal.template.line_power()) * proposal.template.prior() * proposal.weight * told;
            into.push(Ranked { source: index, line, score, proposal });
        }
    }
}

/// How much the failed checks speak for a change: it brings in a name that they name, or is where they point at.
fn told(source: &Source, node: usize, proposal: &Proposal, hints: &Hints) -> f64 {
    let old: BTreeSet<String> = words(source.text(node)).collect();
    let new = proposal.edits.iter().flat_map(|edit| words(&edit.text));
    let most = |words: &mut dyn Iterator<Item = String>| words.map(|word| hints.tells(&word)).fold(0.0, f64::max);
    let brings = most(&mut new.filter(|word| !old.contains(word)));
    let there = most(&mut line_words(source, node));
    let one = hints.off_by_one() && matches!(proposal.template, Template::OffByOne | Template::Boundary);
    (1.0 + BROUGHT * brings) * (1.0 + THERE * there) * if one { 1.3 } else { 1.0 }
}

fn line_words(source: &Source, node: usize) -> impl Iterator<Item = String> + '_ {
    let start = source.node(node).start;
    let from = source.text.get(..start).and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1);
    let line = source.text.get(from..).and_then(|text| text.lines().next()).unwrap_or_default();
    words(line)
}

/// Takes the proposals in their order: those that apply, are new, and leave the syntax sound.
fn accept(proposals: Vec<Ranked>, sources: &[Source]) -> Vec<Candidate> {
    let mut seen: HashSet<(usize, u64)> = HashSet::new();
    let mut fresh = proposals.into_iter().filter_map(|ranked| {
        let source = &sources[ranked.source];
        let new = apply(&source.text, &ranked.proposal.edits)?;
        (new != source.text && seen.insert((ranked.source, squeezed(&new)))).then_some((ranked, new))
    });
    let mut accepted = Vec::new();
    while accepted.len() < CANDIDATES_MAX {
        let some: Vec<(Ranked, String)> = fresh.by_ref().take(CHECKED_AT_ONCE).collect();
        if some.is_empty() {
            break;
        }
        accepted.extend(sound(&some, sources));
    }
    accepted.truncate(CANDIDATES_MAX);
    accepted
}

/// Those that leave the syntax sound, in their order. To find that out takes longer than all else, so every processor has a share of it.
fn sound(proposals: &[(Ranked, String)], sources: &[Source]) -> Vec<Candidate> {
    let shares = std::thread::available_parallelism().map_or(1, usize::from).min(SHARES_MAX);
    let check = |share: &[(Ranked, String)]| {
        let Some(mut parser) = parser() else { return Vec::new() };
        let is_sound = |(ranked, new): &&(Ranked, String)| sources[ranked.source].stays_sound(&mut parser, new);
        let sound = share.iter().filter(is_sound);
        sound.map(|(ranked, new)| candidate(ranked, &sources[ranked.source], new)).collect()
    };
    std::thread::scope(|scope| {
        let shares = proposals.chunks(proposals.len().div_ceil(shares).max(1));
        let under_way: Vec<_> = shares.map(|share| scope.spawn(move || check(share))).collect();
        under_way.into_iter().flat_map(|share| share.join().unwrap_or_default()).collect()
    })
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
