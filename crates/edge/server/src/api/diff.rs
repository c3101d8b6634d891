//! The changes of a run to the files of its directory, for a person who supervises it: every file with its counts, the
//! patch of one file, and the whole patch to download. `interlock diff` shows the same.

use axum::{
    Json,
    extract::{Path, Query, State as Extracted},
    response::Response,
};
use interlock_follow::Difference;
use serde::Deserialize;
use serde_json::{Value, json};

use super::evidence::attachment;
use crate::{
    app::{App, State, blocking},
    problem::{Problem, Result},
};

/// The most bytes of patches that are sent with the list, or of the patch of one file.
const BYTES_MAX: usize = 1024 * 1024;

/// The parameters of a diff.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only the patch of this file.
    path: Option<String>,
    /// Also the patches of the files; true if it is missing.
    text: Option<bool>,
}

/// Lists the files that differ between the directory before the run's first write and now, with the first part of the
/// patch; or shows the patch of one of them.
pub(super) async fn show(
    Extracted(app): Extracted<State>,
    Path(run): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        let difference = of(app, &run)?;
        let mut json = match &wanted.path {
            None => difference.json(&run),
            Some(path) => json!({ "run": run, "path": path }),
        };
        let text = match (&wanted.path, wanted.text) {
            (Some(path), _) => {
                let missing = || Problem::not_found(format!("{run} has not changed a file called `{path}`"));
                difference.patch_of(path)?.ok_or_else(missing)?
            }
            (None, Some(false)) => return Ok(Json(json)),
            (None, _) => difference.patch()?,
        };
        let text = redacted(app, &text);
        let (shown, more_bytes) = cut(&text);
        json["diff"] = json!(shown);
        json["more_bytes"] = json!(more_bytes as u64 + difference.missing_bytes);
        Ok(Json(json))
    })
    .await
}

/// Sends the whole patch as a file.
pub(super) async fn download(Extracted(app): Extracted<State>, Path(run): Path<String>) -> Result<Response> {
    blocking(&app, move |app| {
        let patch = redacted(app, &of(app, &run)?.patch()?);
        Ok(attachment(&format!("{run}.diff"), "text/plain; charset=utf-8", patch.into_bytes(), None))
    })
    .await
}

fn of(app: &App, run: &str) -> Result<Difference> {
    Ok(Difference::of(&**app.engine(), &app.workspace, &app.head(run)?)?)
}

fn redacted(app: &App, text: &str) -> String {
    app.engine().evidence().redactor().text(text).into_owned()
}

/// Returns the part of a patch that is sent, which ends with a line, and the number of bytes that are left out.
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
    fn a_long_patch_is_cut_after_a_line() {
        let long = format!("{}\n", "ä".repeat(40)).repeat(20_000);
        let (shown, more) = cut(&long);
        assert!(shown.ends_with('\n') && shown.len() <= BYTES_MAX && shown.len() + more == long.len());
    }
}
