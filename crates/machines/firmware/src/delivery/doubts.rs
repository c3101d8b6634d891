//! Collects the input of `interlock_repair::doubts`: the changed files on both sides, all sources as they were, and
//! the failing tests with their input.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use interlock_activity::{Attempt, Outcome};
use interlock_repair::{Change, FailingTests, doubts, is_test};
use interlock_test_results::Measured;
use interlock_testbench::Profile;
use interlock_workspace::patch::Patch;
use serde_json::Value;

use super::With;
use crate::{
    area::Area,
    bench::controls,
    build,
    listed::files,
    search::Sources,
    table::{Settings, blocking, failed},
};

/// The largest file that is read, the largest number of test files, and the greatest directory depth.
const FILE_BYTES_MAX: u64 = 256 * 1024;
const TESTS_MAX: usize = 200;
const DEPTH_MAX: usize = 12;

/// Returns every reason why a person must read the changes, as text.
pub(super) async fn of(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    with: &With,
    before: Option<&Measured>,
) -> Result<Vec<String>, Outcome> {
    let area = Area::of(settings, attempt)?;
    let (old, new) = (area.untouched(), area.copy());
    let folder = build::folder_in(settings, attempt, &with.repo, old.clone()).await?;
    let (keeper, of, base, tree) = (Arc::clone(settings), attempt.folder.clone(), with.base.clone(), with.tree.clone());
    let (profile, before) = (with.test_profile.clone(), before.cloned());
    blocking(move || {
        let patch = keeper.workspace.diff_trees(&of, &base, &tree).map_err(failed)?;
        if patch.is_empty() {
            return Ok(Vec::new());
        }
        let patch = Patch::parse(&patch).map_err(failed)?;
        let changes: Vec<Change> = patch.paths().into_iter().filter_map(|path| change(&old, &new, path)).collect();
        let code = Sources::read(&old, &folder).texts;
        let tests = tests(&old, &folder, &profile, before.as_ref(), &changes);
        Ok(doubts(&changes, &code, &tests).iter().map(ToString::to_string).collect())
    })
    .await
}

fn change(old: &Path, new: &Path, path: &Path) -> Option<Change> {
    let side = |root: &Path| text(root, path).unwrap_or_default();
    Some(Change { path: path.to_str()?.to_owned(), before: side(old), after: side(new) })
}

/// Reads a small regular file as text; `None` for anything else.
fn text(root: &Path, path: &Path) -> Option<String> {
    let content = interlock_beneath::read(root, path, FILE_BYTES_MAX).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// Returns the sources of the failing cases: the tests that name the cases, or all tests if none does, with the data
/// files that they name and their input.
fn tests(root: &Path, folder: &Path, profile: &Profile, before: Option<&Measured>, changes: &[Change]) -> FailingTests {
    let all = test_files(root, folder);
    let failing = before.map(|before| controls::failing(before, &profile.targets)).unwrap_or_default();
    let cases = before.iter().flat_map(|before| &before.cases).filter(|case| failing.contains(&case.case.case_id));
    let mut names: Vec<String> = failing.iter().map(|id| last_part(id).to_owned()).collect();
    names.extend(cases.clone().filter_map(|case| case.case.location.as_ref()).map(|place| place.file.clone()));
    let is_named =
        |path: &str, text: &str| names.iter().any(|name| text.contains(name.as_str()) || path.ends_with(name.as_str()));
    let mut sources: BTreeMap<String, String> = all
        .iter()
        .filter(|(path, text)| is_named(path, text))
        .map(|(path, text)| (path.clone(), text.clone()))
        .collect();
    if sources.is_empty() {
        sources = all;
    }
    let data: Vec<(String, String)> =
        sources.iter().flat_map(|(path, text)| data_files(root, folder, path, text)).collect();
    sources.extend(data);
    // A patch is not compared with files that it changes itself.
    sources.retain(|path, _| !changes.iter().any(|change| change.path == *path));
    FailingTests { sources, inputs: inputs(profile) }
}

/// Returns the name of a case without its suite.
fn last_part(id: &str) -> &str {
    id.rsplit(['.', ':', '/', ' ']).next().unwrap_or(id)
}

fn test_files(root: &Path, folder: &Path) -> BTreeMap<String, String> {
    let named = files(root, folder, DEPTH_MAX).into_iter().filter_map(|path| path.to_str().map(str::to_owned));
    let read = named.filter(|name| is_test(name)).filter_map(|name| {
        let text = text(root, Path::new(&name)).filter(|text| !text.contains('\0'))?;
        Some((name, text))
    });
    read.take(TESTS_MAX).collect()
}

/// Returns the files that a test names between quotes: a file that it reads is its input.
fn data_files(root: &Path, folder: &Path, test: &str, source: &str) -> Vec<(String, String)> {
    let beside = root.join(test).parent().map(Path::to_owned).unwrap_or_default();
    let quoted = source.split('"').skip(1).step_by(2);
    let names = quoted.filter(|name| !name.is_empty() && name.len() < 200 && !name.contains(['\n', '\\', ' ']));
    let paths = names.flat_map(|name| [folder.join(name), beside.join(name)]);
    let within = paths.filter(|path| path.starts_with(root) && !path.components().any(|part| part.as_os_str() == ".."));
    let read = within.filter_map(|path| {
        let name = path.strip_prefix(root).ok()?.to_str()?.to_owned();
        // Code under test, such as a header, is not an input.
        let is_code = name.ends_with(".h") || name.ends_with(".c");
        text(root, Path::new(&name)).filter(|text| !is_code && !text.contains('\0')).map(|text| (name, text))
    });
    read.collect()
}

/// Returns the arguments, commands and sent texts of the cases.
fn inputs(profile: &Profile) -> Vec<String> {
    let suites = profile.suites.iter();
    let of_suites =
        suites.flat_map(|suite| suite.args.iter().chain([&suite.command]).chain(suite.environment_vars.values()));
    let steps = profile.config.get("steps").and_then(Value::as_array).into_iter().flatten();
    let sent = steps.filter_map(|step| step["send"].as_str().map(str::to_owned));
    of_suites.cloned().chain(sent).filter(|text| !text.is_empty()).collect()
}
