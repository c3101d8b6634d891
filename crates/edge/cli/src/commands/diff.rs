//! `interlock diff`: shows what a run has changed: all files with their counts, and their patches.

use interlock_chart::counted;
use interlock_runtime::Workspace;
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    args::Diff,
    failure::Failure,
    follow::{ChangedFile, Difference, Total},
    output::Output,
    store::{Store, redactor},
};

/// Prints the list of files, or the patch of one file or of all.
pub(crate) fn run(args: &Diff, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    let difference = Difference::of(&*store.engine(), &Workspace::new(&store.home), &head)?;
    let patch = match &args.path {
        Some(path) => {
            let missing = || {
                let hint = format!("`interlock diff {} --stat` lists the files", head.name);
                Failure::bad_input(format!("{} has not changed a file called `{path}`", head.name)).hint(hint)
            };
            Some(difference.patch_of(path)?.ok_or_else(missing)?)
        }
        None if args.stat => None,
        None => Some(difference.patch()?),
    };
    let patch = patch.map(|patch| redactor().text(&patch).into_owned());
    if output.is_json() {
        let mut json = difference.json(&head.name);
        if let Some(patch) = patch {
            json["diff"] = json!(patch);
            json["more_bytes"] = json!(difference.missing_bytes);
        }
        output.json(&json)?;
        return known(&difference, &head.name);
    }
    let Total { files, added, removed } = difference.total();
    match patch {
        Some(patch) => output.content(patch.as_bytes())?,
        None => output.data(&difference.files.iter().map(row).collect::<String>())?,
    }
    let note = difference.note().map(|note| format!("{note}\n")).unwrap_or_default();
    let missing = match difference.missing_bytes {
        0 => String::new(),
        bytes => format!("{} of the recorded patch are missing\n", counted(bytes, "byte", "bytes")),
    };
    let total = format!("{}, +{added} −{removed} lines\n", counted(files, "file differs", "files differ"));
    output.talk(&format!("{note}{missing}{total}"));
    known(&difference, &head.name)
}

/// Fails if changes are missing because they are not known.
fn known(difference: &Difference, run: &str) -> Outcome {
    match difference.unknown.len() as u64 {
        0 => Ok(Exit::Good),
        writes => {
            let writes = counted(writes, "write", "writes");
            Err(Failure::failed(format!(
                "the difference is incomplete: the changes of {writes} of {run} are not known"
            )))
        }
    }
}

fn row(file: &ChangedFile) -> String {
    let counts = match (file.added, file.removed) {
        (Some(added), Some(removed)) => format!("+{added} −{removed}"),
        _ => file.note.clone().unwrap_or_default(),
    };
    format!("{:<8} {counts:>14}  {}\n", file.how, file.path)
}
