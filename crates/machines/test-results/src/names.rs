//! The names of cases: unique within a run, and found by their short names.

use std::collections::{BTreeMap, BTreeSet};

use super::CaseResult;

/// Makes every id unique. Cases with the same name in different suites become `suite.name`; remaining duplicates get
/// `#2`, `#3` in the order of the text. The notes report the changes.
pub(super) fn make_unique(cases: &mut [CaseResult], suites: &[String], notes: &mut Vec<String>) {
    for (name, indices) in shared(cases) {
        let different: BTreeSet<&String> = indices.iter().filter_map(|index| suites.get(*index)).collect();
        if different.len() > 1 {
            for index in indices {
                if let Some(suite) = suites.get(index).filter(|suite| !suite.is_empty()) {
                    cases[index].case_id = format!("{suite}.{name}");
                }
            }
            notes.push(format!("{name} is in {} suites: each is called suite.name", different.len()));
        }
    }
    let mut taken: BTreeSet<String> = cases.iter().map(|case| case.case_id.clone()).collect();
    for (name, indices) in shared(cases) {
        notes.push(format!("{name} is there {} times: the later ones are called {name}#2 and so on", indices.len()));
        let mut number = 1;
        for index in indices.into_iter().skip(1) {
            number += 1;
            while !taken.insert(format!("{name}#{number}")) {
                number += 1;
            }
            cases[index].case_id = format!("{name}#{number}");
        }
    }
}

/// Returns the names that several cases share, with the indices of those cases.
fn shared(cases: &[CaseResult]) -> BTreeMap<String, Vec<usize>> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        places.entry(case.case_id.clone()).or_default().push(index);
    }
    places.retain(|_, indices| indices.len() > 1);
    places
}

/// Reports whether an id ends with a name after `.`, `::`, `/` or a space. An exact match takes precedence: see
/// [`meant`].
fn ends_with(case_id: &str, name: &str) -> bool {
    case_id.strip_suffix(name).is_some_and(|before| before.ends_with(['.', ':', '/', ' ']))
}

/// Returns the ids that a name refers to: the exact one, or all that end with it after a separator. `test_pop` refers
/// to `test_ring.py::TestRing::test_pop`.
pub fn meant<'a>(name: &str, case_ids: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ending = Vec::new();
    for case_id in case_ids {
        if case_id == name {
            return vec![case_id];
        }
        if !name.is_empty() && ends_with(case_id, name) {
            ending.push(case_id);
        }
    }
    ending
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    fn unique(cases: &[(&str, &str)]) -> (Vec<String>, usize) {
        let suites: Vec<String> = cases.iter().map(|(suite, _)| (*suite).to_owned()).collect();
        let mut cases: Vec<CaseResult> = cases.iter().map(|(_, name)| CaseResult::new(*name, Status::Passed)).collect();
        let mut notes = Vec::new();
        make_unique(&mut cases, &suites, &mut notes);
        (cases.into_iter().map(|case| case.case_id).collect(), notes.len())
    }

    #[test]
    fn equal_names_are_distinguished_by_suite_then_by_number() {
        assert_eq!(unique(&[("a", "x"), ("b", "x"), ("b", "y")]), (vec!["a.x".into(), "b.x".into(), "y".into()], 1));
        assert_eq!(unique(&[("a", "x"), ("a", "x")]), (vec!["x".into(), "x#2".into()], 1));
        assert_eq!(unique(&[("", "x"), ("b", "x"), ("b", "x")]), (vec!["x".into(), "b.x".into(), "b.x#2".into()], 2));
        assert_eq!(unique(&[("", "x"), ("", "x"), ("", "x#2")]).0, ["x", "x#3", "x#2"]);
    }

    #[test]
    fn name_refers_to_its_exact_id_or_to_all_ids_ending_in_it() {
        let ids = ["Ring.Push", "Other.Push", "Push", "t.py::T::test_pop"];
        assert_eq!(meant("Push", ids), ["Push"]);
        assert_eq!(meant("Push", ["Ring.Push", "Other.Push"]), ["Ring.Push", "Other.Push"]);
        assert_eq!(meant("test_pop", ids), ["t.py::T::test_pop"]);
        assert_eq!(meant("pop", ids), [""; 0]);
        assert_eq!(meant("", ids), [""; 0]);
    }
}
