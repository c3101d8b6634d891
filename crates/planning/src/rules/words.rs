//! Splits texts into words and finds names in them. Words are compared without plural endings. A longer name takes its
//! place first, so `price` is not found inside `unit price`; a name that is also an ordinary word must be quoted or stand
//! where only a name can stand. Chinese letters are split at known words (`chinese`).

use super::chinese::{self, Piece, is_chinese};

/// Words that are found in most sentences, so that they name a column only if the sentence shows it.
const ORDINARY: [&str; 62] = [
    "a", "i", "an", "and", "any", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "had",
    "has", "have", "he", "how", "if", "in", "is", "it", "its", "me", "more", "most", "my", "no", "not", "of", "off",
    "on", "or", "our", "out", "per", "she", "so", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "to", "up", "us", "was", "we", "were", "what", "which", "who", "will", "with",
];

/// Words between which an ordinary word can only be a name: `between a and b`, `predict in from out`.
const BEFORE_NAMES: [&str; 14] = [
    "between",
    "and",
    "or",
    "of",
    "from",
    "by",
    "predict",
    "compare",
    "versus",
    "vs",
    "affect",
    "influence",
    "forecast",
    "with",
];
const AFTER_NAMES: [&str; 7] = ["and", "or", "from", "by", "versus", "vs", "with"];

/// Words that say that their neighbour is a name.
const LABELS: [&str; 5] = ["column", "variable", "field", "feature", "group"];

/// A word of a text.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// The word in small letters and without plural ending; the English one for a known Chinese word.
    pub(super) stem: String,
    /// The word as it is written.
    pub(super) text: String,
    pub(super) is_quoted: bool,
    /// True if a clause ends after the word.
    is_last: bool,
    /// True if an apostrophe joins the word to another one, as in `what's`.
    is_joined: bool,
}

/// Splits a text into words: at spaces, and Chinese letters at the names and at known words.
pub(super) fn words_of(text: &str, names: &[&str]) -> Vec<Word> {
    let chinese: Vec<String> = names.iter().flat_map(|name| words(name)).map(|word| word.text).collect();
    let chinese: Vec<String> = chinese.into_iter().filter(|text| text.chars().all(is_chinese)).collect();
    let split = |word: Word| {
        let pieces = match word.text.chars().all(is_chinese) {
            true => chinese::split(&word.text, &chinese),
            false => return vec![word],
        };
        let last = pieces.len().saturating_sub(1);
        let each = pieces.into_iter().enumerate().flat_map(|(at, piece)| {
            let is_last = word.is_last && at == last;
            let (text, stems) = match piece {
                Piece::Text(text) => (text.clone(), vec![text]),
                Piece::Known(text, meaning) => (text, meaning.split(' ').map(stem).collect()),
            };
            let word = word.clone();
            let stems = stems.into_iter().filter(|stem| !stem.is_empty());
            stems.map(move |stem| Word { stem, text: text.clone(), is_last, ..word.clone() }).collect::<Vec<_>>()
        });
        each.collect()
    };
    words(text).into_iter().flat_map(split).collect()
}

/// Splits a text into words. Capitals within a word begin another one, and so do Chinese letters.
pub(super) fn words(text: &str) -> Vec<Word> {
    let letters: Vec<char> = text.chars().collect();
    let at = |place: Option<usize>| place.and_then(|place| letters.get(place)).copied();
    let is_letter = |one: Option<char>| one.is_some_and(char::is_alphanumeric);
    let (mut found, mut start, mut quote): (Vec<Word>, Option<usize>, Option<char>) = (Vec::new(), None, None);
    for place in 0..=letters.len() {
        let (one, before, after) = (at(Some(place)), at(place.checked_sub(1)), at(Some(place + 1)));
        let is_capital = one.is_some_and(char::is_uppercase) && before.is_some_and(char::is_lowercase);
        let is_other = is_letter(before) && one.is_some_and(is_chinese) != before.is_some_and(is_chinese);
        if let Some(begun) = start.filter(|_| !is_letter(one) || is_capital || is_other) {
            let rest = letters.get(place..).unwrap_or_default().iter().find(|one| !one.is_whitespace());
            let joined = |one: Option<char>| matches!(one, Some('\'' | '’'));
            let (first, text) = (at(begun.checked_sub(1)), letters[begun..place].iter().collect::<String>());
            found.push(Word {
                stem: stem(&text.to_lowercase()),
                text,
                is_quoted: quote.is_some(),
                is_last: rest.is_none_or(|one| ".,;:?!)。，；：？！）".contains(*one)),
                is_joined: quote.is_none() && (joined(one) && is_letter(after) || joined(first)),
            });
            start = None;
        }
        quote = match (one, quote) {
            (Some(one), Some(open)) if closing(open) == one && (open != '\'' || !is_letter(after)) => None,
            (Some(one @ ('"' | '`' | '“' | '«' | '「' | '《')), None) => Some(one),
            (Some('\''), None) if !is_letter(before) => Some('\''),
            (_, quote) => quote,
        };
        if is_letter(one) && start.is_none() {
            start = Some(place);
        }
    }
    found
}

fn closing(open: char) -> char {
    match open {
        '“' => '”',
        '«' => '»',
        '「' => '」',
        '《' => '》',
        same => same,
    }
}

/// Returns the stems of the words of a text.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.stem).collect()
}

/// Finds names among words. Returns the position of each name that was found, and marks the words that names take.
pub(super) fn find(names: &[&str], words: &[Word], taken: &mut [bool]) -> Vec<Option<usize>> {
    let stems: Vec<Vec<String>> = names.iter().map(|name| stems(name)).collect();
    let mut order: Vec<usize> = (0..names.len()).filter(|at| !stems[*at].is_empty()).collect();
    order.sort_by_key(|at| std::cmp::Reverse((stems[*at].len(), names[*at].chars().count())));
    let mut found = vec![None; names.len()];
    for name in order {
        let parts = &stems[name];
        let is_here = |place: usize| words[place..place + parts.len()].iter().map(|word| &word.stem).eq(parts);
        for place in 0..(words.len() + 1).saturating_sub(parts.len()) {
            let range = place..place + parts.len();
            let is_free = !taken[range.clone()].contains(&true);
            if is_free && is_here(place) && (parts.len() > 1 || is_name(names[name], words, place)) {
                taken[range].fill(true);
                found[name].get_or_insert(place);
            }
        }
    }
    found
}

/// Returns true if a word that is spelled like a name is meant as one.
fn is_name(name: &str, words: &[Word], place: usize) -> bool {
    let word = &words[place];
    let is_short = word.text.chars().count() == 1;
    if word.is_quoted || (!is_short && !is_ordinary(&word.text.to_lowercase())) {
        return true;
    }
    if word.text != name.trim() || word.is_joined {
        return false;
    }
    let before = place.checked_sub(1).map(|place| &words[place]);
    let after = words.get(place + 1).filter(|_| !word.is_last);
    let is_one = |word: Option<&Word>, some: &[&str]| word.is_some_and(|word| some.contains(&word.stem.as_str()));
    if is_one(before, &LABELS) || is_one(after, &LABELS) {
        return true;
    }
    let begins = before.is_none_or(|before| before.is_last);
    let is_letter = word.text.chars().all(char::is_alphabetic);
    // `A` is a name, except at the beginning of a sentence; `I` is a pronoun.
    let is_capital = word.text != "I" && word.text.chars().all(char::is_uppercase) && !begins;
    if is_letter && (is_capital || !is_ordinary(&word.text.to_lowercase())) {
        return true;
    }
    is_letter && is_one(before, &BEFORE_NAMES) && (word.is_last || is_one(after, &AFTER_NAMES))
}

/// Returns true if a word in small letters is found in most sentences.
pub(super) fn is_ordinary(word: &str) -> bool {
    ORDINARY.contains(&word)
}

/// Returns a word in small letters without its plural ending.
pub(super) fn stem(word: &str) -> String {
    match word.len() {
        5.. if word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        4.. if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names that are found in a text, in the order of the text.
    fn found(text: &str, names: &[&str]) -> Vec<String> {
        let words = words(text);
        let places = find(names, &words, &mut vec![false; words.len()]);
        let mut found: Vec<_> = names.iter().zip(places).filter_map(|(name, place)| Some((place?, *name))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, name)| name.to_owned()).collect()
    }

    #[test]
    fn names_are_compared_without_their_form() {
        assert_eq!(
            stems("unitPrice of Cities, gas & class status"),
            ["unit", "price", "of", "city", "gas", "class", "status"]
        );
    }

    #[test]
    fn the_longest_name_takes_its_place() {
        let names = ["a", "price", "unit price", "sales"];
        let text = "Is there a correlation between unit price and sales?";
        assert_eq!(found(text, &names), ["unit price", "sales"]);
        assert_eq!(found("Is the price higher than the unit_price?", &names), ["price", "unit price"]);
        assert_eq!(found("unit price, unit price", &names), ["unit price"]);
    }

    #[test]
    fn an_ordinary_word_is_a_name_only_in_a_clear_place() {
        for (text, names, expected) in [
            ("What is in a name?", &["in", "a", "is"][..], &[][..]),
            ("Is there a correlation between a and b?", &["a", "b"], &["a", "b"]),
            ("Is there a correlation between b and a?", &["a", "b"], &["b", "a"]),
            ("What affects \"in\"?", &["in"], &["in"]),
            ("What affects 'in'?", &["in"], &["in"]),
            ("Describe the column a", &["a"], &["a"]),
            ("Compare A and B: who has a higher y?", &["A", "B", "y"], &["A", "B", "y"]),
            ("A higher price?", &["A"], &[]),
            ("What's T or X?", &["s", "T", "x"], &["T"]),
            ("Is it more in IT?", &["IT"], &["IT"]),
            ("Show 2 rows of \"2\"", &["2"], &["2"]),
        ] {
            assert_eq!(found(text, names), expected, "{text}");
        }
        assert_eq!(found("Show 2 rows", &["2"]), Vec::<String>::new());
    }
}
