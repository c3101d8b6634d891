//! The changes of a run to the files of its directory, for a person who supervises it.

use axum::{
    Json,
    extract::{Path, State as Extracted},
};
use serde_json::{Value, json};

use crate::{
    app::{App, State, blocking},
    problem::Result,
};

/// The most bytes of a diff that are sent.
const BYTES_MAX: usize = 1024 * 1024;

/// Shows the difference between the directory before the run's first write and now. If the directory has gone or has no
/// snapshot, the latest diff among the evidence is shown.
pub(super) async fn show(Extracted(app): Extracted<State>, Path(run): Path<String>) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        let head = app.head(&run)?;
        let is_over = head.phase.is_over();
        let now = if is_over { None } else { since_first_write(app, &run)? };
        let (text, source) = match (now, app.spent.of(&**app.engine(), &head)?.1) {
            (Some(text), _) => (text, "directory"),
            (None, Some(file)) => {
                let bytes = app.engine().evidence().get(&file.hash)?;
                (String::from_utf8_lossy(&bytes).into_owned(), "evidence")
            }
            (None, None) if is_over => (since_first_write(app, &run)?.unwrap_or_default(), "directory"),
            (None, None) => (String::new(), "directory"),
        };
        let (diff, more_bytes) = cut(&text);
        Ok(Json(json!({ "run": run, "source": source, "diff": diff, "more_bytes": more_bytes })))
    })
    .await
}

/// Returns the difference since the first snapshot of a run, redacted; `None` if there is no snapshot.
fn since_first_write(app: &App, run: &str) -> Result<Option<String>> {
    let follower = app.follow(run)?;
    let folder = &follower.live.folder;
    let compare = || -> Option<Vec<u8>> {
        let all = app.workspace.snapshots(folder, run).ok()?;
        let first = all.into_iter().find(|snapshot| snapshot.name.parse::<u64>().is_ok())?;
        let tree = app.workspace.tree_since(folder, &first.reference).ok()?;
        app.workspace.diff_trees(folder, &first.tree, &tree).ok()
    };
    let redactor = app.engine().evidence().redactor();
    Ok(compare().map(|diff| redactor.text(&textual(&String::from_utf8_lossy(&diff))).into_owned()))
}

/// Replaces the content of binary files by a note.
fn textual(diff: &str) -> String {
    let mut text = String::with_capacity(diff.len());
    let mut is_binary = false;
    for line in diff.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            is_binary = false;
        }
        if line.starts_with("GIT binary patch") {
            is_binary = true;
            text.push_str("Binary files differ\n");
        }
        if !is_binary {
            text.push_str(line);
        }
    }
    text
}

/// Returns the part of a diff that is sent, which ends with a line, and the number of bytes that are left out.
fn cut(text: &str) -> (&str, usize) {
    if text.len() <= BYTES_MAX {
        return (text, 0);
    }
    let end = (0..=BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
    (&text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut_after_a_line_and_binary_content_is_left_out() {
        let long = format!("{}\n", "ä".repeat(40)).repeat(20_000);
        let (shown, more) = cut(&long);
        assert!(shown.ends_with('\n') && shown.len() <= BYTES_MAX && shown.len() + more == long.len());
        let binary = "diff --git a/x b/x\nGIT binary patch\nliteral 3\nKcmZ\n\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n";
        assert_eq!(textual(binary), "diff --git a/x b/x\nBinary files differ\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n");
    }
}
