//! Finds the position of a hunk in a file. The stated line is tried first, then the lines around it, nearest first.
//! Exact matches take precedence over matches that differ in white space at line ends.

use super::{Hunk, HunkLine, text::Line};

/// The position of a hunk in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HunkPosition {
    /// The index of the first line.
    pub(crate) at: usize,
    pub(crate) fit: Fit,
}

/// The quality of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Exact,
    /// The lines match except for white space at their ends.
    Loose,
}

/// The ends of the file that a hunk must touch.
#[derive(Clone, Copy, Debug, Default)]
struct Edges {
    beginning: bool,
    end: bool,
}

/// Returns the position of a hunk at or after line `from`. `drift` is the offset of the previous hunk from its stated
/// line.
pub(crate) fn place(lines: &[Line<'_>], hunk: &Hunk, from: usize, drift: isize) -> Option<HunkPosition> {
    let old = hunk.old();
    match hunk.start {
        Some(start) => {
            let index = if old.is_empty() { start } else { start.saturating_sub(1) };
            stated(lines, &old, hunk, from, index.saturating_add_signed(drift))
        }
        None => unstated(lines, &old, hunk, after_anchors(lines, &hunk.anchors, from)?),
    }
}

fn stated(lines: &[Line<'_>], old: &[&HunkLine], hunk: &Hunk, from: usize, index: usize) -> Option<HunkPosition> {
    if old.is_empty() {
        // Without context the position is unknown, so the hunk only fits an empty file.
        return lines.is_empty().then_some(HunkPosition { at: 0, fit: Fit::Exact });
    }
    let tied = Edges { beginning: hunk.start <= Some(1), end: !hunk.has_trailing_context() };
    let find = |fit, edges| outward(lines, old, fit, edges, from, index);
    find(Fit::Exact, tied).or_else(|| find(Fit::Exact, Edges::default())).or_else(|| find(Fit::Loose, Edges::default()))
}

fn unstated(lines: &[Line<'_>], old: &[&HunkLine], hunk: &Hunk, from: usize) -> Option<HunkPosition> {
    if old.is_empty() {
        let at = if hunk.anchors.is_empty() { lines.len() } else { from };
        return Some(HunkPosition { at, fit: Fit::Loose });
    }
    let edges = Edges { beginning: false, end: hunk.is_at_end };
    let last = lines.len().checked_sub(old.len())?;
    let find = |fit| (from..=last).find(|at| fits(lines, old, *at, fit, edges)).map(|at| HunkPosition { at, fit });
    find(Fit::Exact).or_else(|| find(Fit::Loose))
}

/// Returns the line after the last anchor. Each anchor is searched after the previous one.
pub(crate) fn after_anchors(lines: &[Line<'_>], anchors: &[Vec<u8>], from: usize) -> Option<usize> {
    let mut at = from;
    for anchor in anchors {
        let rest = lines.get(at..)?;
        let exact = rest.iter().position(|line| line.text.trim_ascii_end() == anchor.trim_ascii_end());
        let found = exact.or_else(|| rest.iter().position(|line| line.text.trim_ascii() == anchor.trim_ascii()));
        at += found? + 1;
    }
    Some(at)
}

fn outward(
    lines: &[Line<'_>],
    old: &[&HunkLine],
    fit: Fit,
    edges: Edges,
    from: usize,
    index: usize,
) -> Option<HunkPosition> {
    let last = lines.len().checked_sub(old.len()).filter(|last| *last >= from)?;
    let index = index.clamp(from, last);
    let distances = 0..=(last - index).max(index - from);
    let candidates = distances.flat_map(|distance| [index.checked_add(distance), index.checked_sub(distance)]);
    let mut inside = candidates.flatten().filter(|at| (from..=last).contains(at));
    inside.find(|at| fits(lines, old, *at, fit, edges)).map(|at| HunkPosition { at, fit })
}

fn fits(lines: &[Line<'_>], old: &[&HunkLine], at: usize, fit: Fit, edges: Edges) -> bool {
    let Some(there) = lines.get(at..at + old.len()) else { return false };
    let is_tied = (!edges.beginning || at == 0) && (!edges.end || at + old.len() == lines.len());
    is_tied && there.iter().zip(old).all(|(line, wanted)| is_same(line, wanted, fit))
}

pub(crate) fn is_same(line: &Line<'_>, wanted: &HunkLine, fit: Fit) -> bool {
    match fit {
        Fit::Exact => line.text == wanted.text && line.has_newline == wanted.has_newline,
        Fit::Loose => line.text.trim_ascii_end() == wanted.text.trim_ascii_end(),
    }
}
