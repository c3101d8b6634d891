//! Suggestions for misspelt names: "Did you mean …?"

/// The minimum similarity (0 to 1) of a suggested name.
const LIKENESS_MIN: f64 = 0.75;

/// Returns the hint with the known name that is most similar to `wrong`, if there is one.
pub(super) fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(wrong, known).map(|name| format!("did you mean `{name}`?"))
}

/// Like [`did_you_mean`], but if no name is similar, lists the known names under the heading `are`.
pub(super) fn did_you_mean_or_list<'a>(
    wrong: &str,
    are: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    did_you_mean(wrong, known.clone()).or_else(|| list(are, known))
}

fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = wrong.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&folded, &name.to_lowercase());
    known
        .into_iter()
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| name)
}

/// The maximum number of names listed in a hint.
const LISTED_MAX: usize = 8;

fn list<'a>(are: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut names: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return None;
    }
    if names.len() > LISTED_MAX {
        names.truncate(LISTED_MAX);
        names.push("…".to_owned());
    }
    Some(format!("{are} {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_are_suggested() {
        let known = ["iteration", "iterations_max", "goal"];
        assert_eq!(did_you_mean("iteratoin", known).as_deref(), Some("did you mean `iteration`?"));
        assert_eq!(did_you_mean("GOAL", known).as_deref(), Some("did you mean `goal`?"));
        assert_eq!(did_you_mean("verdict", known), None);
        let listed = did_you_mean_or_list("verdict", "its fields are", known);
        assert_eq!(listed.as_deref(), Some("its fields are `iteration`, `iterations_max`, `goal`"));
        assert_eq!(did_you_mean_or_list("verdict", "its fields are", []), None);
    }
}
