//! A unified diff between two versions of a file whose differences are few and small.

const CONTEXT: usize = 3;

/// The patch that makes `new` out of `old`; empty where they are the same.
///
/// Lines that are the same at both ends are left out; what lies between is one hunk.
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

/// An empty range names the line before it.
fn range(from: usize, end: usize) -> String {
    let start = if from == end { from } else { from + 1 };
    format!("{start},{}", end - from)
}

/// The lines with their ends, so that a missing last one is seen.
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
