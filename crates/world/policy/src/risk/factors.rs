//! The risk factors. One function per factor; each returns a value from 0 (the sizes of a patch may exceed 1) and a
//! description of its findings.

use super::{Evidence, Table, weakened::weakenings};
use crate::{ChangeKind, FileChange, Patch};

type Measured = (&'static str, f64, String);

/// The maximum number of items that a description names.
const NAMED_MAX: usize = 4;

/// The plural suffix. It is defined here because this crate depends on no other crate of the project.
fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

pub(super) fn measure(patch: &Patch, evidence: Evidence, table: &Table) -> Vec<Measured> {
    let paths = |is: &dyn Fn(&FileChange) -> bool| -> Vec<String> {
        patch.files.iter().filter(|file| is(file)).map(|file| file.path.clone()).collect()
    };
    let lines = patch.lines();
    let files = patch.files.len();
    vec![
        // A size counts fully at the table's value and grows on beyond it: 2,000 lines are never as harmless as 400.
        ("size", lines as f64 / table.lines_full, format!("{lines} line{}", plural(lines))),
        ("files", files.saturating_sub(1) as f64 / table.files_full, format!("{files} file{}", plural(files))),
        some("sensitive_paths", &paths(&|file| touched(file, &|path| table.is_sensitive(path)))),
        some("dangerous_calls", &dangerous(patch, table)),
        some("tests_deleted", &paths(&|file| is_test_gone(file, table))),
        weakened(patch, table),
        some("boot_files", &paths(&|file| touched(file, &|path| table.is_boot(path)))),
        no_evidence(evidence),
        some("binary_files", &paths(&|file| file.kind == ChangeKind::Binary)),
    ]
}

/// A factor without findings has the value 0; one finding gives the full value.
fn some(name: &'static str, found: &[String]) -> Measured {
    (name, if found.is_empty() { 0.0 } else { 1.0 }, named(found))
}

fn named(found: &[String]) -> String {
    let more = found.len().saturating_sub(NAMED_MAX);
    let first = found[..found.len() - more].join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

fn touched(file: &FileChange, is: &dyn Fn(&str) -> bool) -> bool {
    let from = match &file.kind {
        ChangeKind::Renamed { from } => is(from),
        _ => false,
    };
    from || is(&file.path)
}

/// Reports if a test file is deleted, or moved to a path that is not recognised as a test.
fn is_test_gone(file: &FileChange, table: &Table) -> bool {
    match &file.kind {
        ChangeKind::Deleted => table.is_test(&file.path),
        ChangeKind::Renamed { from } => table.is_test(from) && !table.is_test(&file.path),
        _ => false,
    }
}

/// Returns dangerous calls that are added and not only moved from removed lines.
fn dangerous(patch: &Patch, table: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for file in &patch.files {
        for call in table.calls(&file.path) {
            let count = |lines: &[String]| lines.iter().filter(|line| holds(line, call)).count();
            if count(&file.added) > count(&file.removed) {
                found.push(format!("`{}` in {}", call.trim(), file.path));
            }
        }
    }
    found
}

/// Reports if a line contains this call, and not only a longer name with the same ending: `filesystem(` is not
/// `system(`. Blanks before the bracket and comments do not hide a call.
fn holds(line: &str, call: &str) -> bool {
    let squeezed = squeeze(line);
    let begins_with_letter = call.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let is_whole = |at: usize| {
        !begins_with_letter || !squeezed[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
    };
    squeezed.match_indices(call).any(|(at, _)| is_whole(at))
}

/// Removes comments inside the line and blanks before a bracket.
fn squeeze(line: &str) -> String {
    let mut text = line.to_owned();
    while let Some(start) = text.find("/*")
        && let Some(length) = text[start..].find("*/")
    {
        text.replace_range(start..start + length + 2, "");
    }
    let mut squeezed = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '(' {
            squeezed.truncate(squeezed.trim_end().len());
        }
        squeezed.push(letter);
    }
    squeezed
}

fn weakened(patch: &Patch, table: &Table) -> Measured {
    let found: Vec<String> = weakenings(patch, table).iter().map(ToString::to_string).collect();
    some("tests_weakened", &found)
}

fn no_evidence(evidence: Evidence) -> Measured {
    match evidence.count {
        0 => ("no_evidence", 1.0, "no evidence supports the change".to_owned()),
        count => ("no_evidence", 0.0, format!("{count} pieces")),
    }
}
