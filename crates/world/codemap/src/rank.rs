//! Ranks files and symbols by the goal's words, the places in a log and recent changes. The rank then spreads along
//! references between files for a few rounds.

use serde::Serialize;

use crate::{Map, Survey, Wish, map, mentions::ByName, names::Name, survey::File, tags::Definition, words};

/// The number of rounds in which rank is passed on.
const ROUNDS: usize = 12;

/// The share of a rank that is passed on in each round.
const PASSED_ON: f64 = 0.6;

/// The weight of passing rank back to the referring files.
const BACK: f64 = 0.3;

/// A name with more definitions than this is ignored, because it is too common.
const HOMES_MAX: usize = 20;

/// The maximum number of symbols that are ranked.
const SYMBOLS_MAX: usize = 4_000;

/// The weight of a mentioned file. For comparison, a word that only one file contains has weight 3.
const MENTIONED: f64 = 8.0;

/// The position of a definition: the file, and the index of the definition in it.
pub(crate) type Home = (usize, usize);

/// Files and symbols ranked by relevance to a request.
#[derive(Debug)]
pub struct Ranking<'s> {
    pub(crate) survey: &'s Survey,
    /// The relevance of each file; the maximum is 1.
    pub(crate) files: Vec<f64>,
    /// True for each file that the goal or a log refers to directly.
    pub(crate) is_meant: Vec<bool>,
    /// The symbols, most relevant first.
    pub(crate) symbols: Vec<(f64, Home)>,
}

/// A relevant symbol with its position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedSymbol {
    /// The path relative to the root.
    pub path: String,
    /// The kind: `function`, `class`, `type`, …
    pub kind: &'static str,
    /// The first line of source text, without the body.
    pub signature: String,
    /// The first line of the definition, from 1.
    pub line: u32,
    /// The last line of the definition.
    pub end_line: u32,
    /// The relevance of the symbol; the maximum over all symbols is 1.
    pub score: f64,
}

impl<'s> Ranking<'s> {
    pub(crate) fn of(survey: &'s Survey, wish: &Wish) -> Self {
        let graph = Graph::of(survey);
        let wanted = Wanted::of(survey, wish);
        let files = graph.spread(&wanted.seeds(survey));
        let is_meant = wanted.is_meant(survey);
        let symbols = symbols(survey, &graph, &wanted, &files);
        Ranking { survey, files, is_meant, symbols }
    }

    /// Returns a map of the part that fits in a token budget.
    pub fn map(&self, tokens_max: usize) -> Map {
        map::fit(self, tokens_max)
    }

    /// Returns the most relevant symbols in order.
    pub fn places(&self, at_most: usize) -> Vec<RankedSymbol> {
        let place = |(score, (file, number)): &(f64, Home)| {
            let file = &self.survey.files[*file];
            let Definition { kind, line, end_line, signature, .. } = &file.definitions()[*number];
            RankedSymbol {
                path: file.path.clone(),
                kind,
                signature: signature.clone(),
                line: *line,
                end_line: *end_line,
                score: *score,
            }
        };
        self.symbols.iter().take(at_most).map(place).collect()
    }
}

/// The references between files.
struct Graph {
    /// The definitions of each name.
    homes: Vec<Vec<Home>>,
    /// The number of files that refer to each name.
    spoken: Vec<u32>,
    /// The edges: source, target and weight; each pair occurs once.
    edges: Vec<(usize, usize, f64)>,
    /// The total weight of the edges from and to each file.
    sums: Vec<f64>,
}

impl Graph {
    fn of(survey: &Survey) -> Self {
        let (names, files) = (survey.names.len(), survey.files.len());
        let (mut homes, mut spoken): (Vec<Vec<Home>>, Vec<u32>) = (vec![Vec::new(); names], vec![0; names]);
        for (at, file) in survey.files.iter().enumerate() {
            for (number, definition) in file.definitions().iter().enumerate() {
                homes[index(definition.name)].push((at, number));
            }
            file.references().iter().for_each(|(name, _)| spoken[index(*name)] += 1);
        }
        let mut graph = Graph { homes, spoken, edges: Vec::new(), sums: vec![0.0; files] };
        let mut weights = vec![0.0; files];
        for (from, file) in survey.files.iter().enumerate() {
            graph.connect(from, file, &mut weights);
        }
        graph
    }

    /// Adds the edges from one file to all files that it refers to. `weights` is all zeros before and after the call.
    fn connect(&mut self, from: usize, file: &File, weights: &mut [f64]) {
        let mut touched = Vec::new();
        for (name, count) in file.references() {
            let homes = &self.homes[index(*name)];
            if homes.is_empty() || homes.len() > HOMES_MAX {
                continue;
            }
            let weight = f64::from(*count).sqrt() / homes.len() as f64;
            for (to, _) in homes.iter().filter(|(to, _)| *to != from) {
                if weights[*to] == 0.0 {
                    touched.push(*to);
                }
                weights[*to] += weight;
            }
        }
        for to in touched {
            let weight = std::mem::take(&mut weights[to]);
            self.edges.push((from, to, weight));
            self.sums[from] += weight;
            self.sums[to] += weight * BACK;
        }
    }

    /// Spreads rank along names: to their definitions, and with less weight back.
    fn spread(&self, seeds: &[f64]) -> Vec<f64> {
        let mut ranks = seeds.to_vec();
        for _ in 0..ROUNDS {
            let mut next: Vec<f64> = seeds.iter().map(|seed| seed * (1.0 - PASSED_ON)).collect();
            // A file without any references keeps its rank.
            for at in (0..ranks.len()).filter(|at| self.sums[*at] == 0.0) {
                next[at] += ranks[at] * PASSED_ON;
            }
            for (from, to, weight) in &self.edges {
                next[*to] += ranks[*from] * PASSED_ON * weight / self.sums[*from];
                next[*from] += ranks[*to] * PASSED_ON * weight * BACK / self.sums[*to];
            }
            ranks = next;
        }
        let most = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        ranks.iter_mut().for_each(|rank| *rank /= most);
        ranks
    }
}

/// The request, matched against the survey.
struct Wanted {
    words: Vec<String>,
    /// The match of each name with each word, by word.
    fits: Vec<Vec<f64>>,
    /// The mentioned lines of each file, or `None` if the file is not mentioned.
    mentioned: Vec<Option<Vec<u32>>>,
    is_about_tests: bool,
}

impl Wanted {
    fn of(survey: &Survey, wish: &Wish) -> Self {
        let words = words::of_goal(&wish.goal);
        let fits = words.iter().map(|word| survey.names.iter().map(|name| words::fits(name, word)).collect()).collect();
        let mut mentioned: Vec<Option<Vec<u32>>> = vec![None; survey.files.len()];
        let names = ByName::new(survey.files.iter().map(|file| file.path.as_str()));
        for mention in &wish.mentions {
            for at in names.find(&mention.path) {
                mentioned[at].get_or_insert_default().extend(mention.line);
            }
        }
        let is_about_tests = words::split(&wish.goal).iter().any(|word| word.starts_with("test"));
        Wanted { words, fits, mentioned, is_about_tests }
    }

    /// Returns the direct relevance of each file; the sum is 1.
    fn seeds(&self, survey: &Survey) -> Vec<f64> {
        let mut seeds = vec![1.0 / survey.files.len().max(1) as f64; survey.files.len()];
        for (word, fits) in self.words.iter().zip(&self.fits) {
            let found: Vec<f64> = survey.files.iter().map(|file| fit(file, word, fits)).collect();
            // A word that occurs in many files has less weight.
            let places = found.iter().filter(|fit| **fit > 0.0).count().max(1) as f64;
            seeds.iter_mut().zip(found).for_each(|(seed, fit)| *seed += fit / places.sqrt());
        }
        let named = self.mentioned.iter().flatten().count().max(1) as f64;
        for (seed, _) in seeds.iter_mut().zip(&self.mentioned).filter(|(_, lines)| lines.is_some()) {
            *seed += MENTIONED / named.sqrt();
        }
        self.add_recent(survey, &mut seeds);
        let sum: f64 = seeds.iter().sum();
        seeds.iter_mut().for_each(|seed| *seed /= sum.max(f64::MIN_POSITIVE));
        seeds
    }

    fn add_recent(&self, survey: &Survey, seeds: &mut [f64]) {
        let files = survey.files.iter().enumerate().map(|(at, file)| (file.path.as_str(), at));
        let places: rustc_hash::FxHashMap<&str, usize> = files.collect();
        for (age, path) in survey.recent.iter().enumerate() {
            if let Some(at) = places.get(path.as_str()) {
                seeds[*at] += 0.2 / (1.0 + age as f64 / 10.0);
            }
        }
    }

    fn is_meant(&self, survey: &Survey) -> Vec<bool> {
        let named = |path: &str| self.words.iter().any(|word| words::fits(path, word) == 1.0);
        survey.files.iter().zip(&self.mentioned).map(|(file, lines)| lines.is_some() || named(&file.path)).collect()
    }

    /// Returns the direct relevance of a definition, apart from its file's.
    fn answers(&self, file: usize, definition: &Definition<Name>) -> f64 {
        let words: f64 = self.fits.iter().map(|fits| fits[index(definition.name)]).sum();
        let is_named = |line: &u32| (definition.line..=definition.end_line).contains(line);
        let is_mentioned = self.mentioned[file].as_ref().is_some_and(|lines| lines.iter().any(is_named));
        1.0 + 3.0 * words + if is_mentioned { 8.0 } else { 0.0 }
    }
}

fn fit(file: &File, word: &str, fits: &[f64]) -> f64 {
    let best = |names: &mut dyn Iterator<Item = Name>| names.map(|name| fits[index(name)]).fold(0.0, f64::max);
    let path = 3.0 * words::fits(&file.path, word);
    let defined = best(&mut file.definitions().iter().map(|definition| definition.name));
    let spoken = best(&mut file.references().iter().map(|(name, _)| *name));
    path + 3.0 * defined + 0.5 * spoken
}

/// Ranks symbols by their file, by the number of files that refer to them, and by their match with the goal.
fn symbols(survey: &Survey, graph: &Graph, wanted: &Wanted, files: &[f64]) -> Vec<(f64, Home)> {
    let mut all = Vec::new();
    for (at, file) in survey.files.iter().enumerate() {
        let share = match is_test(&file.path) {
            true if wanted.is_about_tests => 4.0,
            true => 0.4,
            false => 1.0,
        };
        for (number, definition) in file.definitions().iter().enumerate() {
            let name = index(definition.name);
            let used = f64::from(graph.spoken[name]) / graph.homes[name].len().max(1) as f64;
            let score = files[at] * share * weight(definition.kind) * (1.0 + (1.0 + used).ln());
            all.push((score * wanted.answers(at, definition), (at, number)));
        }
    }
    let order = |one: &(f64, Home), other: &(f64, Home)| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1));
    if all.len() > SYMBOLS_MAX {
        all.select_nth_unstable_by(SYMBOLS_MAX, order);
        all.truncate(SYMBOLS_MAX);
    }
    all.sort_by(order);
    let most = all.first().map_or(1.0, |(score, _)| score.max(f64::MIN_POSITIVE));
    all.iter_mut().for_each(|(score, _)| *score /= most);
    all
}

/// Returns the weight of a kind of definition: implementations count more than declarations.
fn weight(kind: &str) -> f64 {
    match kind {
        "prototype" | "constant" | "variable" | "macro" => 0.6,
        "namespace" | "module" => 0.3,
        _ => 1.0,
    }
}

fn is_test(path: &str) -> bool {
    words::split(path)
        .iter()
        .any(|word| matches!(word.as_str(), "test" | "tests" | "spec" | "testing" | "mock" | "mocks"))
}

fn index(name: Name) -> usize {
    name.0 as usize
}
