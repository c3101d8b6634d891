//! Robustness: for any file there is no panic, and no candidate makes the syntax worse.

use std::collections::BTreeMap;

use interlock_repair::{Candidate, Edit, Failure, Hints, Suspect, apply, candidates};
use proptest::prelude::*;

use crate::templates::suspects;

fn try_out(text: &str) -> usize {
    let lines: Vec<usize> = (1..=text.lines().count().clamp(1, 40)).collect();
    let files = BTreeMap::from([("src/a.c".to_owned(), text.to_owned())]);
    let failure =
        Failure {
            path: "src/a.c".to_owned(), line: 2, message: "Expected -1 Was 2é".to_owned(), ..Failure::default()
        };
    let hints = Hints::of(&files, &[failure]);
    let ranked: Vec<Candidate> = candidates(&files, &suspects("src/a.c", &lines), &hints).collect();
    for candidate in &ranked {
        assert!(candidate.apply("src/a.c", text).is_some(), "{}", candidate.summary);
        assert!(candidate.score.is_finite());
    }
    ranked.len()
}

/// Pieces of C in any order, which cover more of the grammar than random bytes.
const PIECES: [&str; 36] = [
    "int ",
    "f",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    "x",
    " = ",
    " + ",
    "1",
    "0x7f",
    "0xffffffffffffffff",
    "if (",
    "while (",
    "return ",
    "case 1:",
    "switch (x) {",
    "->",
    "*",
    "&",
    "~",
    "!",
    "struct s ",
    "uint8_t ",
    "#define N 3\n",
    "\n",
    "enum e { A, B };",
    "for (",
    "break;",
    "\"%d\"",
    ", ",
    "é",
    "volatile ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_never_panics(text in "\\PC{0,200}") {
        try_out(&text);
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        try_out(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_pieces_of_c_never_panic(pieces in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        try_out(&text);
    }
}

#[test]
fn deeply_nested_text_never_panics() {
    try_out(&"(".repeat(5_000));
    try_out(&format!("int f(int x) {{ return {}x{}; }}", "(".repeat(2_000), ")".repeat(2_000)));
    try_out(&format!("int f(int x) {{ {} x++; {} }}", "if (x) {".repeat(500), "}".repeat(500)));
}

#[test]
fn suspects_that_do_not_exist_give_no_candidates() {
    let files = BTreeMap::from([("src/a.c".to_owned(), "int f(void) { return 1; }\n".to_owned())]);
    let nowhere = |path: &str, line, score| Suspect { path: path.to_owned(), line, score, why: String::new() };
    let wrong = [
        nowhere("src/a.c", 0, 1.0),
        nowhere("src/a.c", usize::MAX, 1.0),
        nowhere("src/b.c", 1, 1.0),
        nowhere("src/a.c", 1, f64::NAN),
    ];
    assert_eq!(candidates(&files, &wrong, &Hints::default()).waiting(), 0);
    assert_eq!(candidates(&BTreeMap::new(), &wrong, &Hints::default()).waiting(), 0);
}

#[test]
fn edits_that_do_not_fit_are_refused() {
    let edit = |start, end, text: &str| Edit { start, end, text: text.to_owned() };
    assert_eq!(apply("abc", &[edit(1, 2, "X")]).as_deref(), Some("aXc"));
    assert_eq!(apply("abc", &[edit(2, 3, "Y"), edit(0, 1, "X")]).as_deref(), Some("XbY"));
    for wrong in [vec![edit(2, 9, "")], vec![edit(2, 1, "")], vec![edit(0, 2, ""), edit(1, 3, "")]] {
        assert_eq!(apply("abc", &wrong), None, "{wrong:?}");
    }
    assert_eq!(apply("é", &[edit(1, 2, "")]), None);
}
