//! "Did you mean …?": finds the known name that is most similar to a wrong one.
//!
//! Every crate that reports an unknown name uses this crate, so that all of them suggest by the same measure. It compares
//! names and formats the hint. It does not know the meaning of the names.

/// The minimum similarity of a suggested name.
const LIKENESS_MIN: f64 = 0.7;
/// The maximum number of candidates that are compared; with more, the search would cost more than the hint is worth.
const CANDIDATES_MAX: usize = 5_000;
/// The maximum number of names that a hint lists.
const LISTED_MAX: usize = 8;

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

/// Returns a hint that names the closest candidate, if any is similar enough.
pub fn did_you_mean<'c>(wrong: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    closest(wrong, candidates).map(|name| format!("did you mean `{name}`?"))
}

/// Like [`did_you_mean`]. If no candidate is similar to `wrong`, lists the candidates under the heading `are`.
pub fn did_you_mean_or_list<'c>(
    wrong: &str,
    are: &str,
    candidates: impl IntoIterator<Item = &'c str> + Clone,
) -> Option<String> {
    did_you_mean(wrong, candidates.clone()).or_else(|| list(are, candidates))
}

fn list<'c>(are: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let mut names: Vec<String> = candidates.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return None;
    }
    if names.len() > LISTED_MAX {
        names.truncate(LISTED_MAX);
        names.push("…".to_owned());
    }
    Some(format!("{are} {}", names.join(", ")))
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
    fn the_closest_name_is_suggested_and_a_stranger_is_not() {
        let names = ["TEST_SETUP", "TEST_RUN", "PLANNING"];
        assert_eq!(closest("TEST_SETPU", names), Some("TEST_SETUP"));
        assert_eq!(closest("test_run", names), Some("TEST_RUN"));
        assert_eq!(closest("xyz", names), None);
    }

    #[test]
    fn candidates_are_listed_if_none_is_alike() {
        let known = ["iteration", "iterations_max", "goal"];
        let listed = |wrong| did_you_mean_or_list(wrong, "its fields are", known);
        assert_eq!(listed("iteratoin").as_deref(), Some("did you mean `iteration`?"));
        assert_eq!(listed("verdict").as_deref(), Some("its fields are `iteration`, `iterations_max`, `goal`"));
        assert_eq!(did_you_mean_or_list("verdict", "its fields are", []), None);
    }

    #[test]
    fn a_long_list_is_cut() {
        let known: Vec<String> = (0..=LISTED_MAX).map(|number| format!("name_{number}")).collect();
        let listed = did_you_mean_or_list("zzz", "there are", known.iter().map(String::as_str));
        assert!(listed.is_some_and(|listed| listed.ends_with("`name_7`, …")));
    }
}
