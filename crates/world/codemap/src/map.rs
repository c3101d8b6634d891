//! Selects the entries that fit in a token budget.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{BYTES_PER_TOKEN, Ranking, Reason, Survey, text};

/// The maximum number of symbols per file, so that one large file does not displace all others.
const PER_FILE_MAX: usize = 12;

/// The maximum number of files that are listed without symbols.
const BARE_FILES_MAX: usize = 8;

/// The divisor of the share for files without symbols: a fifth of the map.
const BARE_SHARE: usize = 5;

/// A map of a directory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Map {
    /// The number of files that were analysed.
    pub files: usize,
    /// The number of files per language, largest first.
    pub languages: Vec<Count>,
    /// The number of skipped files by reason.
    pub left_out: BTreeMap<Reason, usize>,
    /// True if there are more files than the maximum.
    pub is_partial: bool,
    /// The approximate number of tokens of the map's text.
    pub tokens: usize,
    /// The relevant files, ordered by their most relevant symbol. Files without symbols come last.
    pub entries: Vec<Entry>,
}

/// The number of files in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The language's name for output.
    pub language: &'static str,
    /// The number of its files.
    pub files: usize,
}

/// A file on a map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The path relative to the root.
    pub path: String,
    /// The name of the file's language.
    pub language: &'static str,
    /// The relevance of the file; the maximum over all files is 1.
    pub score: f64,
    /// The relevant symbols, by line.
    pub symbols: Vec<Symbol>,
}

/// A definition in a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Symbol {
    /// The symbol's name in the source.
    pub name: String,
    /// The kind: `function`, `class`, `type`, …
    pub kind: &'static str,
    /// The first line of the definition, from 1.
    pub line: u32,
    /// The last line of the definition.
    pub end_line: u32,
    /// The first line of source text, without the body.
    pub signature: String,
    /// The relevance of the symbol; the maximum over all symbols is 1.
    pub score: f64,
}

impl Map {
    /// Returns the map as text for people and for models.
    pub fn to_text(&self) -> String {
        text::write(self)
    }
}

/// The selection: for each file, its symbols with their scores.
type Chosen = BTreeMap<usize, BTreeMap<usize, f64>>;

/// Selects the most relevant symbols that fit, grouped by file.
pub(crate) fn fit(ranking: &Ranking<'_>, tokens_max: usize) -> Map {
    let survey = ranking.survey;
    let mut map = Map {
        files: survey.files.len(),
        languages: languages(survey),
        left_out: survey.left_out.clone(),
        is_partial: survey.is_partial,
        tokens: 0,
        entries: Vec::new(),
    };
    let mut room = (tokens_max.saturating_mul(BYTES_PER_TOKEN)).saturating_sub(text::head(&map).len());
    let mut chosen = Chosen::new();
    let mut bare_room = room / BARE_SHARE;
    let bare_before = bare_room;
    choose_bare(ranking, &mut bare_room, &mut chosen);
    room -= bare_before - bare_room;
    choose_symbols(ranking, room, &mut chosen);
    map.entries = chosen.into_iter().map(|(file, symbols)| entry(ranking, file, &symbols)).collect();
    let best = |entry: &Entry| entry.symbols.iter().map(|symbol| symbol.score).fold(0.0, f64::max);
    let key = |entry: &Entry| (best(entry), entry.score);
    map.entries.sort_by(|one, other| {
        let ((best, score), (other_best, other_score)) = (key(one), key(other));
        let by_score = other_best.total_cmp(&best).then(other_score.total_cmp(&score));
        by_score.then_with(|| one.path.cmp(&other.path))
    });
    map.tokens = text::write(&map).len().div_ceil(BYTES_PER_TOKEN);
    map
}

fn choose_symbols(ranking: &Ranking<'_>, mut room: usize, chosen: &mut Chosen) {
    for (score, (file, number)) in &ranking.symbols {
        let found = &ranking.survey.files[*file];
        let taken = chosen.get(file).map_or(0, BTreeMap::len);
        let signature = &found.definitions()[*number].signature;
        let heading = if chosen.contains_key(file) { 0 } else { text::file_bytes(&found.path) };
        let cost = text::symbol_bytes(signature) + heading;
        if taken >= PER_FILE_MAX || cost > room {
            continue;
        }
        room -= cost;
        chosen.entry(*file).or_default().insert(*number, *score);
    }
}

/// Selects relevant files without definitions: documents, settings.
fn choose_bare(ranking: &Ranking<'_>, room: &mut usize, chosen: &mut Chosen) {
    let files = &ranking.survey.files;
    let is_bare = |at: &usize| files[*at].definitions().is_empty() && ranking.is_meant[*at];
    let mut bare: Vec<usize> = (0..files.len()).filter(is_bare).collect();
    bare.sort_by(|one, other| ranking.files[*other].total_cmp(&ranking.files[*one]).then(one.cmp(other)));
    for at in bare.into_iter().take(BARE_FILES_MAX) {
        let cost = text::file_bytes(&files[at].path);
        if cost <= *room {
            *room -= cost;
            chosen.entry(at).or_default();
        }
    }
}

fn entry(ranking: &Ranking<'_>, file: usize, numbers: &BTreeMap<usize, f64>) -> Entry {
    let found = &ranking.survey.files[file];
    let mut seen = BTreeSet::new();
    let symbols = numbers.iter().filter_map(|(number, score)| {
        let definition = &found.definitions()[*number];
        // A struct and its typedef on the same line have the same signature.
        seen.insert((definition.line, &definition.signature)).then(|| Symbol {
            name: ranking.survey.names.text(definition.name).to_owned(),
            kind: definition.kind,
            line: definition.line,
            end_line: definition.end_line,
            signature: definition.signature.clone(),
            score: rounded(*score),
        })
    });
    let symbols = symbols.collect();
    let language = found.language.name();
    Entry { path: found.path.clone(), language, score: rounded(ranking.files[file]), symbols }
}

/// Rounds a score to four digits, which suffice for comparison.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

/// Returns the number of files per language, largest first.
fn languages(survey: &Survey) -> Vec<Count> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    survey.files.iter().for_each(|file| *counts.entry(file.language.name()).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().map(|(language, files)| Count { language, files }).collect();
    counts.sort_by(|one, other| other.files.cmp(&one.files).then(one.language.cmp(other.language)));
    counts
}
