//! Suggestions for misspelt names: "Did you mean …?"

/// The minimum similarity of a suggested name.
const LIKENESS_MIN: f64 = 0.7;
/// The maximum number of candidates. Beyond it the search costs more than the hint is worth.
const CANDIDATES_MAX: usize = 5_000;

/// Returns the candidate that is most similar to `wrong`, if any is similar enough.
pub fn closest<'c>(wrong: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wrong = wrong.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates.into_iter().take(CANDIDATES_MAX) {
        let likeness = likeness(&wrong, &candidate.to_lowercase());
        if likeness >= LIKENESS_MIN && best.is_none_or(|(least, _)| likeness > least) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the hint that names the closest candidate.
pub fn did_you_mean<'c>(wrong: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    closest(wrong, candidates).map(|name| format!("did you mean `{name}`?"))
}

fn likeness(wrong: &str, candidate: &str) -> f64 {
    if wrong == candidate {
        return 1.0;
    }
    strsim::normalized_damerau_levenshtein(wrong, candidate).max(strsim::jaro_winkler(wrong, candidate) - 0.15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_are_suggested() {
        let names = ["TEST_SETUP", "TEST_RUN", "PLANNING"];
        assert_eq!(closest("TEST_SETPU", names), Some("TEST_SETUP"));
        assert_eq!(closest("test_run", names), Some("TEST_RUN"));
        assert_eq!(closest("xyz", names), None);
    }
}
