//! Patches that other programs apply, and files that are never changed.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use interlock_repair::{CANDIDATES_MAX, Candidate, Hints, Suspect, Template, candidates, unified};

use crate::templates::suspects;

const SOURCE: &str = include_str!("../../../../../examples/firmware/ring/src/ring.c");
const HEADER: &str = include_str!("../../../../../examples/firmware/ring/src/ring.h");

fn files() -> BTreeMap<String, String> {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    BTreeMap::from([file("src/ring.c", SOURCE), file("src/ring.h", HEADER), file("tests/test_ring.c", SOURCE)])
}

fn everywhere(path: &str) -> Vec<Suspect> {
    suspects(path, &(1..=SOURCE.lines().count()).collect::<Vec<_>>())
}

#[test]
fn git_applies_every_patch_with_the_candidates_result() {
    let folder = tempfile::tempdir().unwrap();
    let ranked: Vec<Candidate> = candidates(&files(), &everywhere("src/ring.c"), &Hints::default()).collect();
    assert!(ranked.len() > 300, "{}", ranked.len());
    fs::create_dir(folder.path().join("src")).unwrap();
    for candidate in ranked.iter().step_by(ranked.len() / 25) {
        for (path, text) in files().iter().filter(|(path, _)| path.starts_with("src")) {
            fs::write(folder.path().join(path), text).unwrap();
        }
        fs::write(folder.path().join("p.patch"), &candidate.patch).unwrap();
        let applied = Command::new("git").args(["apply", "p.patch"]).current_dir(folder.path()).output().unwrap();
        assert!(applied.status.success(), "{}\n{}", candidate.patch, String::from_utf8_lossy(&applied.stderr));
        for (path, text) in files().iter().filter(|(path, _)| path.starts_with("src")) {
            assert_eq!(fs::read_to_string(folder.path().join(path)).unwrap(), candidate.apply(path, text).unwrap());
        }
    }
}

#[test]
fn candidates_are_deterministic_and_results_are_unique() {
    let first: Vec<Candidate> = candidates(&files(), &everywhere("src/ring.c"), &Hints::default()).collect();
    let second: Vec<Candidate> = candidates(&files(), &everywhere("src/ring.c"), &Hints::default()).collect();
    assert_eq!(first, second);
    assert!(first.len() <= CANDIDATES_MAX);
    let others: Vec<f64> = first.iter().filter(|one| one.template != Template::Delete).map(|one| one.score).collect();
    assert!(others.is_sorted_by(|a, b| a >= b));
    let mut made: Vec<(String, String)> =
        first.iter().map(|one| (one.path.clone(), one.apply(&one.path, &files()[&one.path]).unwrap())).collect();
    made.sort();
    made.dedup();
    assert_eq!(made.len(), first.len());
}

#[test]
fn tests_and_read_only_files_are_never_changed() {
    let suspects: Vec<Suspect> = everywhere("src/ring.c").into_iter().chain(everywhere("tests/test_ring.c")).collect();
    let ranked: Vec<Candidate> = candidates(&files(), &suspects, &Hints::default()).collect();
    assert!(ranked.iter().flat_map(|one| one.edits.keys()).all(|path| path.starts_with("src/")));
    let kept = Hints { read_only: ["src/ring.c".to_owned()].into(), ..Hints::default() };
    let ranked: Vec<Candidate> = candidates(&files(), &suspects, &kept).collect();
    assert!(!ranked.is_empty());
    assert!(ranked.iter().flat_map(|one| one.edits.keys()).all(|path| path == "src/ring.h"));
}

#[test]
fn deleting_comes_last_of_all() {
    let ranked: Vec<Candidate> = candidates(&files(), &suspects("src/ring.c", &[56]), &Hints::default()).collect();
    let first = ranked.iter().position(|one| one.template == Template::Delete).unwrap();
    assert!(ranked[first..].iter().all(|one| one.template == Template::Delete), "{first} of {}", ranked.len());
}

#[test]
fn a_diff_has_three_lines_of_context_and_marks_a_missing_line_end() {
    let patch = unified("a.c", "1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n7");
    let expected = "--- a/a.c\n+++ b/a.c\n@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n\\ No newline at end of file\n+7\n\\ No newline at end of file\n";
    assert_eq!(patch, expected);
    assert_eq!(unified("a.c", "same", "same"), "");
    assert_eq!(unified("a.c", "", "x\n"), "--- a/a.c\n+++ b/a.c\n@@ -0,0 +1 @@\n+x\n");
}
