//! A unified diff between two versions of a file with few and small differences.

const CONTEXT: usize = 3;

/// Returns the patch from `old` to `new`; empty if they are equal.
///
/// Equal lines at both ends are omitted, apart from the context. Everything between the first and the last difference
/// is one hunk.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let (old, new) = (lines(old), lines(new));
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let from = head.saturating_sub(CONTEXT);
    let after = tail.saturating_sub(CONTEXT);
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let mut patch = format!("--- a/{path}\n+++ b/{path}\n");
    patch.push_str(&format!("@@ -{} +{} @@\n", range(from, old_end), range(from, new_end)));
    push(&mut patch, ' ', &old[from..head]);
    push(&mut patch, '-', &old[head..old.len() - tail]);
    push(&mut patch, '+', &new[head..new.len() - tail]);
    push(&mut patch, ' ', &old[old.len() - tail..old_end]);
    patch
}

/// Formats a range of lines. An empty range names the line before it.
fn range(from: usize, end: usize) -> String {
    let start = if from == end { from } else { from + 1 };
    format!("{start},{}", end - from)
}

/// Returns the lines with their line ends, so that a missing last line end is visible.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn push(patch: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        patch.push(mark);
        patch.push_str(line);
        if !line.ends_with('\n') {
            patch.push_str("\n\\ No newline at end of file\n");
        }
    }
}
