//! `copy.sources`: selects the sources that a judge sees: first the files that results name, then the files that may
//! be changed, up to a size limit.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use globset::{Glob, GlobSet, GlobSetBuilder};
use interlock_activity::{Attempt, Outcome};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    area::Area,
    build, copy,
    listed::files,
    table::{Done, Settings, blocking, failed, given, refs, signal},
};

/// The total size of the shown sources, their number, and the largest size of one file.
const ALL_BYTES_MAX: usize = 96 * 1024;
const FILES_MAX: usize = 12;
const FILE_BYTES_MAX: u64 = 48 * 1024;

/// The number of files that are considered, and the greatest directory depth.
const LOOKED_MAX: usize = 5_000;
const DEPTH_MAX: usize = 12;

/// The file extensions of sources that are shown.
const ENDINGS: [&str; 13] = ["c", "h", "cc", "cpp", "hpp", "rs", "py", "s", "S", "ld", "js", "ts", "go"];

#[derive(Deserialize)]
struct With {
    tree: String,
    #[serde(default)]
    repo: String,
    #[serde(default)]
    test_result: Value,
    #[serde(default)]
    analysis: Value,
    #[serde(default)]
    allowed_paths: Vec<String>,
}

/// Stores excerpts of a tree as evidence.
pub(crate) async fn sources(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    copy::bring(&settings, &attempt, &with.tree).await?;
    let root = Area::of(&settings, &attempt)?.copy();
    let folder = build::folder_in(&settings, &attempt, &with.repo, root.clone()).await?;
    let evidence = blocking(move || {
        let wanted = chosen(&root, &folder, &with)?;
        let keep = |(name, text): &(String, String)| {
            // The heading tells the reader that this is a source file and not a log.
            let shown = format!("File: {name}\n{text}");
            let shown = attempt.evidence.redactor().text(&shown).into_owned();
            let kept = attempt.evidence.put(&format!("source {name}"), "text/plain", shown.as_bytes());
            kept.map_err(|error| Outcome::not_stored(format!("{name} could not be stored: {error}")))
        };
        wanted.iter().map(keep).collect::<Result<Vec<_>, _>>()
    })
    .await?;
    Ok(signal("sources_read", json!({ "evidence_refs": refs(&evidence) })).with(evidence))
}

fn chosen(root: &Path, folder: &Path, with: &With) -> Result<Vec<(String, String)>, Outcome> {
    let is_hidden =
        |path: &Path| path.parent().is_some_and(|above| above.iter().any(|name| name.as_encoded_bytes()[0] == b'.'));
    let is_source = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        ENDINGS.contains(&ending) && !is_hidden(path)
    };
    let mut found: Vec<_> = files(root, folder, DEPTH_MAX).into_iter().filter(is_source).take(LOOKED_MAX).collect();
    let allowed = allowed(&with.allowed_paths).map_err(failed)?;
    let said = format!("{} {}", with.test_result, with.analysis);
    let rank = |path: &PathBuf| {
        let within = path.strip_prefix(folder.strip_prefix(root).unwrap_or(Path::new(""))).unwrap_or(path);
        let name = within.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_named = !name.is_empty() && said.contains(name);
        let may = allowed.is_empty() || allowed.is_match(within);
        (!is_named, !may, within.to_owned())
    };
    found.sort_by_cached_key(rank);
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut bytes = 0;
    for path in found {
        let name = path.display().to_string();
        let Ok(Some(text)) = interlock_beneath::read_text(root, &path, FILE_BYTES_MAX) else { continue };
        if texts.len() >= FILES_MAX || bytes + text.len() > ALL_BYTES_MAX {
            break;
        }
        bytes += text.len();
        texts.push((name, text));
    }
    Ok(texts)
}

fn allowed(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(Glob::new(glob)?);
    }
    builder.build()
}
