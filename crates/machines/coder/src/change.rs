//! The change of a turn: the paths that its tools and commands changed, and nothing else.
//!
//! Between the tree that a turn began with and a later tree, a person may have worked too, and checks leave files behind.
//! So a path counts only if the records say that the turn changed it. A new file that only a check has made, or that lies
//! in a cache of a program, is a product. Ignored files are in no tree.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use interlock_activity::{Attempt, Outcome, code};
use interlock_workspace::{Change, Workspace};
use serde_json::{Value as Json, json};

use crate::record::{Made, Maker, TurnRecord};

/// The directories that package managers and interpreters fill. Others mark theirs with the file [`CACHE_TAG`].
const CACHES: [&str; 2] = ["__pycache__", "node_modules"];

/// The file by which programs mark a directory as a cache.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Programs that may stand beside a check on a command line and write nothing.
const FILTERS: [&str; 12] =
    ["cd", "echo", "tail", "head", "grep", "cat", "true", "sort", "wc", "export", "set", "time"];

/// The change of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnChange {
    /// The tree that the turn began with, with the change of the turn and nothing else.
    pub(crate) tree: String,
    /// The changed paths.
    pub(crate) files: Vec<Change>,
    /// Paths that somebody else has changed since.
    pub(crate) others: Vec<PathBuf>,
    /// New files that checks and caches have left.
    pub(crate) products: Vec<PathBuf>,
}

/// The trees of a turn and its checks.
pub(crate) struct Trees<'t> {
    /// The tree that the turn began with.
    pub(crate) base: &'t str,
    /// The tree as it is now.
    pub(crate) now: &'t str,
    /// The command lines that verify the project.
    pub(crate) checks: &'t [String],
    /// The paths that the verification in progress has changed; it is not recorded yet.
    pub(crate) checked: BTreeSet<PathBuf>,
}

impl TurnChange {
    /// Finds the change of a turn and stores its tree. May block.
    pub(crate) fn find(
        workspace: &Workspace,
        attempt: &Attempt,
        record: &TurnRecord,
        trees: Trees<'_>,
    ) -> Result<Self, Outcome> {
        let failed = |error: interlock_workspace::Error| Outcome::error(code::FAILED, error.to_string());
        let all = workspace.changes_between(&attempt.folder, trees.base, trees.now).map_err(failed)?;
        let mut found = sorted(record, all, trees.checks, trees.checked);
        found.tree = match found.files.is_empty() {
            true => trees.base.to_owned(),
            false => {
                let files: Vec<&Change> = found.files.iter().collect();
                workspace.tree_with(&attempt.folder, &attempt.run, trees.base, &files).map_err(failed)?
            }
        };
        Ok(found)
    }

    /// Lists the changed files with the numbers of added and removed lines; null for a binary file.
    pub(crate) fn to_json(&self) -> Vec<Json> {
        let told = |change: &Change| {
            let (added, removed) = change.lines.unzip();
            let how = match (&change.before, &change.after) {
                (None, _) => "added",
                (_, None) => "deleted",
                _ => "changed",
            };
            json!({ "path": change.path.display().to_string(), "added": added, "removed": removed, "how": how })
        };
        self.files.iter().map(told).collect()
    }
}

/// Sorts changed paths by their makers.
fn sorted(record: &TurnRecord, all: Vec<Change>, checks: &[String], checked: BTreeSet<PathBuf>) -> TurnChange {
    let now = Made { by: Maker::Check, paths: checked, calls: record.calls.len(), breaches: Vec::new() };
    let caches: Vec<PathBuf> =
        all.iter().filter(|change| change.path.ends_with(CACHE_TAG)).filter_map(folder).collect();
    let mut found = TurnChange::default();
    for change in all {
        let makers: Vec<&Maker> = record
            .made
            .iter()
            .chain([&now])
            .filter(|made| made.paths.contains(&change.path))
            .map(|made| &made.by)
            .collect();
        let is_new = change.before.is_none();
        let is_cached = caches.iter().any(|cache| change.path.starts_with(cache)) || is_in_cache(&change.path);
        let is_written = makers.iter().any(|maker| **maker == Maker::Tool);
        let is_ordered = makers.iter().any(|maker| matches!(maker, Maker::Command(line) if !is_check(line, checks)));
        match () {
            () if makers.is_empty() => found.others.push(change.path),
            () if is_written || !is_new || is_ordered && !is_cached => found.files.push(change),
            () => found.products.push(change.path),
        }
    }
    found
}

fn folder(change: &Change) -> Option<PathBuf> {
    // A tag in the root of the workspace says nothing about the files of the project.
    change.path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned)
}

fn is_in_cache(path: &Path) -> bool {
    path.iter().any(|name| CACHES.iter().any(|cache| name == *cache))
}

/// Reports if a command line of the model runs checks and nothing else that writes.
fn is_check(line: &str, checks: &[String]) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let checks: Vec<String> = checks.iter().map(|check| plain(check)).filter(|check| !check.is_empty()).collect();
    let line = plain(line);
    let starts_check = |part: &str| {
        let rest = checks.iter().find_map(|check| part.strip_prefix(check.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>', '<']))
    };
    let is_filter = |part: &str| part.split(' ').next().is_some_and(|word| FILTERS.contains(&word));
    let parts: Vec<&str> = line.split([';', '|', '&']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let parts = || parts.iter().filter(|part| !part.chars().all(|letter| letter.is_ascii_digit()));
    checks.contains(&line)
        || parts().any(|part| starts_check(part)) && parts().all(|part| starts_check(part) || is_filter(part))
}

#[cfg(test)]
mod tests {
    use interlock_workspace::{Version, patch::Kind};

    use super::*;

    fn change(path: &str, is_new: bool) -> Change {
        let version = || Some(Version { kind: Kind::File, hash: "0".into() });
        let before = if is_new { None } else { version() };
        Change { path: path.into(), before, after: version(), renamed_from: None, lines: Some((1, 0)) }
    }

    fn made(by: Maker, paths: &[&str]) -> Made {
        Made { by, paths: paths.iter().map(PathBuf::from).collect(), calls: 0, breaches: Vec::new() }
    }

    fn check(by: Maker, path: &str, is_new: bool, expected: &str) {
        let record = TurnRecord { made: vec![made(by, &[path])], ..TurnRecord::default() };
        let found = sorted(&record, vec![change(path, is_new)], &["make test".into()], BTreeSet::new());
        let told = match (found.files.len(), found.products.len(), found.others.len()) {
            (1, 0, 0) => "change",
            (0, 1, 0) => "product",
            _ => "other",
        };
        assert_eq!(told, expected, "{path}");
    }

    #[test]
    fn a_path_belongs_to_the_turn_if_the_turn_changed_it() {
        check(Maker::Tool, "a", true, "change");
        check(Maker::Command("make fmt".into()), "a", false, "change");
        check(Maker::Command("python3 generate.py".into()), "generated.py", true, "change");
        check(Maker::Check, "Cargo.lock", false, "change");
        check(Maker::Check, "report.xml", true, "product");
        check(Maker::Command("make test 2>&1 | tail -5".into()), "report.xml", true, "product");
        check(Maker::Command("python3 generate.py && make test".into()), "generated.py", true, "change");
        check(Maker::Command("python3 a.py".into()), "__pycache__/a.pyc", true, "product");
        let nobody = sorted(&TurnRecord::default(), vec![change("mine", true)], &[], BTreeSet::new());
        assert_eq!((nobody.files.len(), nobody.others.len()), (0, 1));
    }

    #[test]
    fn a_tagged_directory_is_a_cache() {
        let by = Maker::Command("build".into());
        let record =
            TurnRecord { made: vec![made(by, &["out/CACHEDIR.TAG", "out/a.o", "a.c"])], ..TurnRecord::default() };
        let all = vec![change("a.c", true), change("out/CACHEDIR.TAG", true), change("out/a.o", true)];
        let found = sorted(&record, all, &[], BTreeSet::new());
        assert_eq!((found.files.len(), found.products.len()), (1, 2));
    }

    #[test]
    fn a_command_is_a_check_only_if_nothing_else_writes() {
        let checks = ["make test".to_owned()];
        for line in ["make test", " make  test ", "cd . && make test 2>&1 | tail -20", "make test > /dev/null"] {
            assert!(is_check(line, &checks), "{line}");
        }
        for line in ["make test-data", "make", "cp a b && make test", "make test; touch x"] {
            assert!(!is_check(line, &checks), "{line}");
        }
    }
}
