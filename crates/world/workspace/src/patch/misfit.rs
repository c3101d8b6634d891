//! Describes a hunk that fits nowhere: shows the nearest text of the file next to the expected text.

use std::{fmt::Write as _, path::Path};

use super::{
    Hunk, HunkLine, Misfit,
    seek::{self, Fit},
    text::{Line, shown},
};

/// Maximum number of lines shown of one section.
const SHOWN_MAX: usize = 24;

/// Maximum number of line comparisons in the search for the nearest text.
const COMPARED_MAX: usize = 4_000_000;

pub(super) fn describe(path: &Path, number: usize, hunk: &Hunk, lines: &[Line<'_>], from: usize) -> Misfit {
    let old = hunk.old();
    let misfit = |why: &str, nearest: Option<usize>, view: String| Misfit {
        path: path.to_owned(),
        hunk: number,
        patch_line: hunk.patch_line,
        why: why.to_owned(),
        nearest: nearest.map(|at| at + 1),
        view,
    };
    if old.is_empty() && hunk.start.is_some() {
        return misfit("only adds lines and has no context lines, so its position is not known", None, String::new());
    }
    if let Some(anchor) = missing_anchor(hunk, lines, from) {
        return misfit(&format!("follows a line that does not exist: `{}`", shown(anchor)), None, String::new());
    }
    if let Some(at) = position(lines, &hunk.new_lines()) {
        return misfit("seems to be already applied", Some(at), view(lines, at, &hunk.new_lines()));
    }
    match nearest(lines, &old, hunk.start.unwrap_or(from)) {
        Some(at) => misfit("matches nowhere", Some(at), view(lines, at, &old)),
        None => misfit("matches nowhere, and none of its lines is in the file", None, String::new()),
    }
}

fn missing_anchor<'h>(hunk: &'h Hunk, lines: &[Line<'_>], from: usize) -> Option<&'h [u8]> {
    let reached =
        (1..=hunk.anchors.len()).find(|count| seek::after_anchors(lines, &hunk.anchors[..*count], from).is_none())?;
    hunk.anchors.get(reached - 1).map(Vec::as_slice)
}

fn position(lines: &[Line<'_>], wanted: &[&HunkLine]) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len()).filter(|_| !wanted.is_empty())?;
    let is_there = |at: usize| lines[at..].iter().zip(wanted).all(|(line, want)| seek::is_same(line, want, Fit::Loose));
    (0..=last).find(|at| is_there(*at))
}

/// Returns the position with the most matching lines. Among equals it returns the one nearest to the stated line.
fn nearest(lines: &[Line<'_>], old: &[&HunkLine], stated: usize) -> Option<usize> {
    let starts = lines.len().min(COMPARED_MAX / old.len().max(1));
    let score = |at: usize| {
        lines[at..]
            .iter()
            .zip(old)
            .filter(|(line, want)| {
                let text = line.text.trim_ascii();
                !text.is_empty() && text == want.text.trim_ascii()
            })
            .count()
    };
    let best = (0..starts)
        .map(|at| (score(at), at))
        .max_by_key(|(score, at)| (*score, std::cmp::Reverse(at.abs_diff(stated))));
    best.filter(|(score, _)| *score > 0).map(|(_, at)| at)
}

/// Shows the lines of the file at a position, and before each line that differs the expected line.
fn view(lines: &[Line<'_>], at: usize, wanted: &[&HunkLine]) -> String {
    let mut view = String::new();
    for (offset, want) in wanted.iter().enumerate().take(SHOWN_MAX) {
        let found = lines.get(at + offset);
        if !found.is_some_and(|line| seek::is_same(line, want, Fit::Loose)) {
            let _ = writeln!(view, "  expected | {}", shown(&want.text));
        }
        match found {
            Some(line) => drop(writeln!(view, "{:>10} | {}", at + offset + 1, shown(line.text))),
            None => drop(writeln!(view, "{:>10} | (the file ends)", at + offset + 1)),
        }
    }
    if wanted.len() > SHOWN_MAX {
        let _ = writeln!(view, "  … and {} more lines", wanted.len() - SHOWN_MAX);
    }
    view
}
