//! Matches the tokens of a problem with the patterns of whole sentences (`shapes`). A pattern must use every token.
//!
//! A pattern is a text: words in small letters stand for themselves, `[a|b c]` may be left out, `(a|b c)` may not, and a word in
//! capitals is a part that `shapes` defines or a slot for a name of the table.

use super::{
    names::{Name, Names},
    shapes,
    tokens::{Token, stem, tokens},
};

/// The most ways to match the beginning of one pattern.
const WAYS_MAX: usize = 500;

/// A part of a pattern.
#[derive(Debug)]
enum Item {
    Word(String),
    Slot(String),
    /// One of several ways.
    Choice(Vec<Vec<Item>>),
}

/// A pattern of whole sentences.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Item>);

/// What a slot has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Name(Name),
    /// The meaning of a word, such as `mean`.
    Meaning(&'static str),
}

/// The slots that a sentence has filled, in its order.
pub(super) type Filled = Vec<(String, Taken)>;

/// The problem that patterns are matched with.
pub(super) struct Sentence<'s> {
    pub(super) tokens: Vec<Token>,
    pub(super) names: &'s Names,
    /// Returns true if a slot takes a name.
    pub(super) takes: &'s dyn Fn(&str, Name) -> bool,
    /// Words of the table that stand for a row, and words of its file's name.
    pub(super) rows: Vec<String>,
    pub(super) file: Vec<String>,
}

impl Pattern {
    /// Reads a pattern.
    pub(super) fn read(text: &str) -> Self {
        let spaced: String = text
            .chars()
            .flat_map(|one| match one {
                '[' | ']' | '(' | ')' | '|' => vec![' ', one, ' '],
                _ => vec![one],
            })
            .collect();
        let mut words = spaced.split_whitespace();
        let mut ways = read(&mut words);
        Pattern(if ways.len() == 1 { ways.remove(0) } else { vec![Item::Choice(ways)] })
    }

    /// Returns all ways in which the pattern uses every token of a sentence. `reached` is the farthest place that any
    /// pattern has reached.
    pub(super) fn fill(&self, sentence: &Sentence<'_>, reached: &mut usize) -> Vec<Filled> {
        let ways = follow(&self.0, sentence, vec![(0, Vec::new())], reached);
        ways.into_iter().filter(|(at, _)| *at == sentence.tokens.len()).map(|(_, filled)| filled).collect()
    }

    /// Returns every word that the pattern knows.
    pub(super) fn words(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.0, &mut |item| {
            if let Item::Word(word) = item {
                found.push(word.clone())
            }
        });
        found
    }

    /// Returns every slot of the pattern.
    #[cfg(test)]
    pub(super) fn slots(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.0, &mut |item| {
            if let Item::Slot(slot) = item {
                found.push(slot.clone())
            }
        });
        found
    }
}

fn walk(items: &[Item], each: &mut dyn FnMut(&Item)) {
    for item in items {
        each(item);
        if let Item::Choice(ways) = item {
            ways.iter().for_each(|way| walk(way, each));
        }
    }
}

/// Reads the ways of a group, to its end.
fn read<'t>(words: &mut impl Iterator<Item = &'t str>) -> Vec<Vec<Item>> {
    let mut ways = vec![Vec::new()];
    while let Some(word) = words.next() {
        let last = ways.len() - 1;
        match word {
            "]" | ")" => break,
            "|" => ways.push(Vec::new()),
            "[" | "(" => {
                let mut inner = read(words);
                if word == "[" {
                    inner.push(Vec::new());
                }
                ways[last].push(Item::Choice(inner));
            }
            _ if word.chars().all(|one| one.is_ascii_uppercase()) => match shapes::part(word) {
                Some(text) => ways[last].push(Item::Choice(vec![Pattern::read(text).0])),
                None => ways[last].push(Item::Slot(word.to_owned())),
            },
            _ => ways[last].extend(tokens(word).into_iter().map(|token| Item::Word(token.folded))),
        }
    }
    ways
}

type Ways = Vec<(usize, Filled)>;

fn follow(items: &[Item], sentence: &Sentence<'_>, mut ways: Ways, reached: &mut usize) -> Ways {
    for item in items {
        ways = ways.into_iter().flat_map(|way| item.after(sentence, way, reached)).take(WAYS_MAX).collect();
    }
    ways
}

impl Item {
    fn after(&self, sentence: &Sentence<'_>, (at, filled): (usize, Filled), reached: &mut usize) -> Ways {
        *reached = at.max(*reached);
        match self {
            Item::Word(word) => {
                let fits = sentence.tokens.get(at).is_some_and(|token| !token.is_quoted && token.folded == *word);
                if fits { vec![(at + 1, filled)] } else { Vec::new() }
            }
            Item::Choice(ways) => {
                let each = ways.iter().flat_map(|way| follow(way, sentence, vec![(at, filled.clone())], reached));
                let mut all: Ways = Vec::new();
                each.for_each(|way| {
                    if !all.contains(&way) {
                        all.push(way)
                    }
                });
                all
            }
            Item::Slot(slot) => {
                let with = |(size, taken): (usize, Taken)| {
                    let more = filled.iter().cloned().chain([(slot.clone(), taken)]);
                    (at + size, more.collect())
                };
                sentence.fitting(slot, at).into_iter().map(with).collect()
            }
        }
    }
}

impl Sentence<'_> {
    /// Returns what a slot can take at a place, with the numbers of tokens.
    fn fitting(&self, slot: &str, at: usize) -> Vec<(usize, Taken)> {
        if let "ROW" | "ROWS" | "FILE" = slot {
            let words = if slot == "FILE" { &self.file } else { &self.rows };
            let token = self.tokens.get(at).filter(|token| !token.is_quoted);
            let fits = |token: &Token| {
                let stem = stem(&token.folded);
                words.contains(&stem) && (slot != "ROWS" || token.folded != stem)
            };
            let is_here = token.is_some_and(fits);
            return if is_here { vec![(1, Taken::Meaning("row"))] } else { Vec::new() };
        }
        let meanings = shapes::meanings(slot);
        if !meanings.is_empty() {
            let fits = |phrase: &&(&'static str, Vec<String>)| {
                let here = self.tokens.get(at..at + phrase.1.len()).unwrap_or_default();
                here.len() == phrase.1.len()
                    && here.iter().zip(&phrase.1).all(|(token, word)| !token.is_quoted && token.folded == *word)
            };
            let fitting = meanings.into_iter().filter(fits);
            return fitting.map(|(meaning, words)| (words.len(), Taken::Meaning(meaning))).collect();
        }
        let names = self.names.at(&self.tokens, at).into_iter();
        names.filter(|(_, name)| (self.takes)(slot, *name)).map(|(size, name)| (size, Taken::Name(name))).collect()
    }
}
