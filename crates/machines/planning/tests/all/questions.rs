//! Questions about tables, with the answers that another program has computed from the same files, or the word for which they
//! must be declined. Each question is asked as people ask it; none may get the answer of another question.

use std::{collections::BTreeMap, fs, path::Path};

use crate::kernel::ask;

/// A line of `questions.tsv`: the table, the question, and `- WORD` if it is declined or else the parts of the answer.
type Line<'l> = (&'l str, &'l str, &'l str);

fn lines(text: &'static str) -> Vec<Line<'static>> {
    let parts = |line: &'static str| -> Line<'static> {
        let [table, question, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        (table, question, expected)
    };
    text.lines().filter(|line| !line.starts_with('#')).map(parts).collect()
}

/// Returns what is wrong with an answer.
fn fault((_, question, expected): &Line<'_>, told: &Result<String, String>) -> Option<String> {
    let is_right = match (expected.strip_prefix("- "), told) {
        (Some(word), Err(reason)) => reason.contains(word),
        (None, Ok(answer)) => expected.split(" ; ").all(|part| answer.contains(part)),
        _ => false,
    };
    (!is_right).then(|| format!("{question}\n  expected {expected}\n  found    {told:?}"))
}

#[test]
fn every_question_is_answered_rightly_or_declined() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut by_table: BTreeMap<&str, Vec<Line<'_>>> = BTreeMap::new();
    for line in lines(include_str!("../questions.tsv")) {
        by_table.entry(line.0).or_default().push(line);
    }
    let mut faults = Vec::new();
    for (table, asked) in by_table {
        let file = format!("{table}.csv");
        let bytes = fs::read(here.join("questions").join(&file)).unwrap();
        let problems: Vec<&str> = asked.iter().map(|(_, question, _)| *question).collect();
        let Some(told) = ask(&file, &bytes, &problems) else { return };
        faults.extend(asked.iter().zip(&told).filter_map(|(line, told)| fault(line, told)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
