//! A unified diff between two versions of a file.

use similar::TextDiff;

const CONTEXT: usize = 3;

/// Returns the patch from `old` to `new`; empty if they are equal.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    let (before, after) = (format!("a/{path}"), format!("b/{path}"));
    TextDiff::from_lines(old, new).unified_diff().context_radius(CONTEXT).header(&before, &after).to_string()
}
