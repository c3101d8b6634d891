//! The search: the result of one candidate changes the order of the rest.

use std::collections::{BTreeMap, BTreeSet};

use interlock_repair::{Candidate, Hints, Search, Template, Trial, candidates};

use crate::templates::suspects;

const SOURCE: &str = "int f(int a, int b) {
    int c = a - b;
    int d = a * b;
    if (c < d) {
        return c;
    }
    return d;
}
";

fn files() -> BTreeMap<String, String> {
    BTreeMap::from([("src/a.c".to_owned(), SOURCE.to_owned())])
}

fn trial(passed: &[&str], failed: &[(&str, &str)]) -> Trial {
    let passed: BTreeSet<String> = passed.iter().map(|case| (*case).to_owned()).collect();
    let failed = failed.iter().map(|(case, said)| ((*case).to_owned(), (*said).to_owned())).collect();
    Trial { built: true, passed, failed }
}

fn search(lines: &[usize], baseline: Trial) -> Search {
    Search::new(files(), candidates(&files(), &suspects("src/a.c", lines), &Hints::default()), baseline)
}

fn take(search: &mut Search, wanted: impl Fn(&Candidate) -> bool) -> Candidate {
    for _ in 0..1000 {
        let candidate = search.next().expect("one that is wanted");
        if wanted(&candidate) {
            return candidate;
        }
    }
    panic!("none was wanted");
}

/// Code is copied with its bugs: a change that moves a failure is tried at the copy too.
#[test]
fn the_same_edit_is_tried_at_its_sibling() {
    let text = "int f(int head, int tail) {\n    if (head > 8) {\n        return 1;\n    }\n    if (tail > 8) {\n        return 2;\n    }\n    return 0;\n}\n";
    let files = BTreeMap::from([("src/a.c".to_owned(), text.to_owned())]);
    let offered = candidates(&files, &suspects("src/a.c", &[2]), &Hints::default());
    let mut search = Search::new(files, offered, trial(&["y"], &[("x", "1")]));
    let first = take(&mut search, |one| one.after.contains("head >= 8"));
    search.tell(&first, &trial(&["y"], &[("x", "another")]));
    let both = take(&mut search, |one| one.after.is_empty() || one.patch.contains("+    if (tail >= 8) {"));
    assert!(
        both.patch.contains("+    if (head >= 8) {") && both.patch.contains("+    if (tail >= 8) {"),
        "{}",
        both.patch
    );
    assert!(both.summary.ends_with("and the same at 1 more place"), "{}", both.summary);
}

#[test]
fn candidates_come_in_order_and_each_once() {
    let mut search = search(&[2, 4], trial(&[], &[("x", "1")]));
    let all = search.waiting();
    let mut scores = Vec::new();
    let mut given = 0;
    while let Some(candidate) = search.next() {
        given += 1;
        if candidate.template != Template::Delete {
            scores.push(candidate.score);
        }
    }
    let worth = candidates(&files(), &suspects("src/a.c", &[2, 4]), &Hints::default()).count();
    assert!(0 < worth && worth <= all, "{worth} of {all}");
    assert_eq!(given, worth);
    assert_eq!(search.waiting(), 0);
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[test]
fn a_partial_repair_raises_its_neighbourhood() {
    let baseline = trial(&["z"], &[("x", "1"), ("y", "1")]);
    let mut told = search(&[2, 7], baseline.clone());
    let mut untold = search(&[2, 7], baseline);
    let near = take(&mut told, |one| one.line == 7);
    take(&mut untold, |one| *one == near);
    told.tell(&near, &trial(&["x", "z"], &[("y", "1")]));
    let ahead = |search: &mut Search| (0..12).filter_map(|_| search.next()).filter(|one| one.line == 7).count();
    let (with, without) = (ahead(&mut told), ahead(&mut untold));
    assert!(with > without, "{with} {without}");
}

#[test]
fn a_line_without_effect_sinks() {
    let baseline = trial(&[], &[("x", "1")]);
    let places = |trials: usize| {
        let mut search = search(&[2, 3], baseline.clone());
        let tried = take(&mut search, |one| one.line == 2);
        (0..trials).for_each(|_| search.tell(&tried, &baseline));
        let order = (0..search.waiting()).filter_map(|_| search.next());
        order.enumerate().filter(|(_, one)| one.line == 2).map(|(place, _)| place).sum::<usize>()
    };
    assert!(places(60) > places(0), "{} {}", places(60), places(0));
}

#[test]
fn two_partial_repairs_are_combined_and_come_next() {
    let mut search = search(&[2, 3], trial(&["z"], &[("x", "1"), ("y", "1")]));
    let first = take(&mut search, |one| one.line == 2 && one.template == Template::Operator);
    let second = take(&mut search, |one| one.line == 3 && one.template == Template::Operator);
    search.tell(&first, &trial(&["x", "z"], &[("y", "1")]));
    search.tell(&second, &trial(&["y", "z"], &[("x", "1")]));
    let both = search.next().unwrap();
    assert_eq!(both.template, Template::Combined);
    let made = both.apply("src/a.c", SOURCE).unwrap();
    let changed = made.lines().zip(SOURCE.lines()).filter(|(new, old)| new != old).count();
    assert_eq!(changed, 2, "{made}");
    assert_eq!(both.patch.matches("@@ -").count(), 1);
}

#[test]
fn only_a_trial_in_which_every_case_passes_is_a_repair() {
    let search = search(&[2], trial(&["z"], &[("x", "1")]));
    assert!(search.repaired(&trial(&["x", "z"], &[])));
    assert!(!search.repaired(&trial(&["x"], &[])), "a case is gone");
    assert!(!search.repaired(&trial(&["x", "z"], &[("end", "missing")])));
    assert!(!search.repaired(&Trial { built: false, ..trial(&["x", "z"], &[]) }));
    assert!(!search.repaired(&Trial { built: true, ..Trial::default() }));
}
