//! Words that stand for an event: the list of words with which its summary begins, such as `Go, Yes or OK: …`.

/// Returns true if the summary of an event begins with a list of words that contains this one, in any case.
pub(crate) fn stands_for(summary: &str, word: &str) -> bool {
    let Some((words, _)) = summary.split_once(": ") else { return false };
    let mut words = words.split([',', ' ']).filter(|word| !word.is_empty() && *word != "or");
    words.any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_the_colon_stand_for_the_event() {
        for word in ["go", "YES", "Ok"] {
            assert!(stands_for("Go, Yes or OK: execute this PRD", word), "{word}");
        }
        for (summary, word) in [("Go, Yes or OK: execute", "or"), ("Go, Yes or OK: execute", "execute"), ("Go", "go")] {
            assert!(!stands_for(summary, word), "{summary} {word}");
        }
    }
}
