//! The cost of tracking a workspace per attempt: the snapshot before it, the record of its changes, and a patch.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use interlock_workspace::{Workspace, patch::Patch};

use crate::{Result, size};

const FILES: usize = size(5_000, 100);

/// The number of files per directory.
const FOLDER_FILES: usize = 50;

/// Files that change between two snapshots.
const CHANGED: usize = size(10, 2);

const ROUNDS: usize = size(10, 1);

/// Measures a repository of 5,000 files in which ten change every round.
pub(crate) fn report() -> Result<()> {
    let scratch = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
    let folder = scratch.path().join("repository");
    fill(&folder)?;
    let workspace = Workspace::new(scratch.path().join("home"));
    let begun = Instant::now();
    workspace.take(&folder, "bench")?;
    let first = begun.elapsed();
    let (mut taking, mut telling, mut patching) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for round in 1..=ROUNDS {
        let begun = Instant::now();
        let snapshot = workspace.take(&folder, "bench")?;
        taking = taking.min(begun.elapsed());
        patching = patching.min(patch(&workspace, &folder, round)?);
        let begun = Instant::now();
        let changes = workspace.changes_since(&folder, "bench", &snapshot)?.ok_or("the patch changed nothing")?;
        telling = telling.min(begun.elapsed());
        if changes.files.len() != CHANGED {
            return Err(format!("{} files changed, not {CHANGED}", changes.files.len()).into());
        }
    }
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!("snapshot {:>8.3} ms for {FILES} files (wanted 200); {:.0} ms for the first", ms(taking), ms(first));
    println!("changes  {:>8.3} ms for {CHANGED} of {FILES} files, kept and told", ms(telling));
    println!("patch    {:>8.3} ms for {CHANGED} files, checked and applied", ms(patching));
    Ok(())
}

fn path(number: usize) -> String {
    format!("folder-{}/file-{number}.txt", number / FOLDER_FILES)
}

fn fill(folder: &Path) -> Result<()> {
    for number in 0..FILES {
        let path = folder.join(path(number));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, format!("file {number}\nround 0\n{}", "some more text\n".repeat(20)))?;
    }
    let made = Command::new("git").args(["init", "--quiet"]).current_dir(folder).status()?;
    made.success().then_some(()).ok_or_else(|| "`git init` failed".into())
}

/// The time to apply a patch that changes one line in each of ten files.
fn patch(workspace: &Workspace, folder: &Path, round: usize) -> Result<Duration> {
    let hunk = |number: usize| {
        let (path, before) = (path(number), round - 1);
        format!(
            "--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n file {number}\n-round {before}\n+round {round}\n some more text\n"
        )
    };
    let text: String = (0..CHANGED).map(|at| hunk(at * (FILES / CHANGED))).collect();
    let begun = Instant::now();
    let patch = Patch::parse(text.as_bytes()).map_err(|problem| problem.to_string())?;
    workspace.apply(folder, &patch, &BTreeMap::new())?;
    Ok(begun.elapsed())
}
