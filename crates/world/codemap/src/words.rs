//! Words of goals, paths and names, used to match a request with the code.

/// Words without information about the location of code.
#[rustfmt::skip]
const EMPTY: &[&str] = &[
    "the", "and", "for", "with", "that", "this", "from", "into", "when", "where", "which", "should", "must", "can", "not",
    "add", "make", "fix", "bug", "new", "use", "all", "any", "are", "has", "have", "its", "but", "than", "then", "does",
    "please", "change", "implement", "support", "work", "works", "code", "file", "files", "function", "test", "tests", "let",
    "was", "will", "who", "why", "how", "what", "our", "out", "also", "too", "very", "some", "them", "they", "there", "instead",
    "after", "before", "only", "more", "less", "every", "each", "their", "about", "because", "without", "within",
];

/// The maximum number of words of a goal. The first ones usually name the subject.
const WORDS_MAX: usize = 40;

/// Returns the words of a goal that are searched for.
pub(crate) fn of_goal(goal: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in split(goal).into_iter().filter(|word| word.len() >= 3 && !EMPTY.contains(&word.as_str())) {
        let word = stem(&word).to_owned();
        if !words.contains(&word) {
            words.push(word);
        }
        if words.len() == WORDS_MAX {
            break;
        }
    }
    words
}

/// Splits a text into words in lower case: `readRegister_v2` is `read`, `register`, `v`, `2`.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    for letter in text.chars() {
        let begins = !previous.is_alphanumeric()
            || (letter.is_uppercase() && previous.is_lowercase())
            || letter.is_numeric() != previous.is_numeric();
        if letter.is_alphanumeric() {
            if begins {
                words.push(String::new());
            }
            words.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
        previous = letter;
    }
    words
}

/// Returns a word without its inflectional ending.
fn stem(word: &str) -> &str {
    let long = |end: &str| word.strip_suffix(end).filter(|rest| rest.len() >= 4);
    long("ing")
        .or_else(|| long("ies"))
        .or_else(|| long("ed"))
        .or_else(|| long("es"))
        .or_else(|| long("s"))
        .unwrap_or(word)
}

/// Returns the match of a text with a word: 1 if the word is one of its words, less if it is only part of one.
pub(crate) fn fits(text: &str, word: &str) -> f64 {
    // The cheap test comes first, because most texts do not contain the word.
    if !contains(text, word) {
        return 0.0;
    }
    match split(text).iter().any(|part| stem(part) == word || part == word) {
        true => 1.0,
        false => 0.3,
    }
}

fn contains(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    !word.is_empty() && text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_reduced_to_its_words() {
        assert_eq!(of_goal("Fix the ring buffer when it wraps"), ["ring", "buffer", "wrap"]);
        assert_eq!(split("readRegister_v2"), ["read", "register", "v", "2"]);
        assert_eq!(of_goal(&"word ".repeat(500)), ["word"]);
    }

    #[test]
    fn a_name_matches_a_word_fully_partly_or_not() {
        let check = |text: &str, word: &str, expected: f64| assert_eq!(fits(text, word), expected, "{text} {word}");
        check("ring_wraps_around", "wrap", 1.0);
        check("RingBuffer", "ring", 1.0);
        check("stringify", "ring", 0.3);
        check("other", "ring", 0.0);
        check("größe", "ring", 0.0);
        check("x", "", 0.0);
    }
}
