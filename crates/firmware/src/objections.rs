//! What speaks against a task before it is begun, beyond what the machine's schema can say: every problem at once.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use interlock_chart::Value;
use interlock_testbench::{Profile, environment, results::Format};
use interlock_workspace::Workspace;
use serde::Deserialize;

use crate::{build::Build, rounds::Threshold};

#[derive(Deserialize)]
struct Task {
    repo_path: String,
    #[serde(default)]
    build: Build,
    test_profile: Profile,
    #[serde(default)]
    constraints: Constraints,
}

#[derive(Default, Deserialize)]
struct Constraints {
    #[serde(default)]
    allowed_paths: Vec<String>,
    #[serde(default)]
    forbidden_paths: Vec<String>,
    #[serde(default)]
    metrics: BTreeMap<String, serde_json::Value>,
}

/// Everything that speaks against a task; empty for an input that is no firmware task.
pub(crate) fn of(input: &Value, folder: &Path) -> Vec<String> {
    let json = serde_json::Value::from(input);
    if json.get("test_profile").is_none() || json.get("repo_path").is_none() {
        return Vec::new();
    }
    let task: Task = match serde_json::from_value(json) {
        Ok(task) => task,
        Err(error) => return vec![error.to_string()],
    };
    let mut found = Vec::new();
    let repo = folder.join(&task.repo_path);
    found.extend(misplaced(&task.repo_path, &repo, folder));
    let is_within = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(&task.build.image).components().all(is_within) {
        found.push(format!("`build.image`: {} is no file within `repo_path`", task.build.image));
    }
    if task.build.commands.is_empty() && !task.build.image.is_empty() && !repo.join(&task.build.image).exists() {
        found.push(format!("`build.commands` is empty, and there is no {} either", task.build.image));
    }
    found.extend(profile(&task.test_profile));
    found.extend(constraints(&task.constraints));
    found
}

/// Why the sources cannot be where they are said to be.
fn misplaced(said: &str, repo: &Path, folder: &Path) -> Option<String> {
    if said.contains("://") {
        return Some(format!("`repo_path`: {said} is no folder: clone it first"));
    }
    let Some(found) = repo.canonicalize().ok().filter(|found| found.is_dir()) else {
        return Some(format!("`repo_path`: {} is no folder", repo.display()));
    };
    let root = Workspace::default().root(folder).ok()?;
    let (found, is_inside) = (found.display(), found.starts_with(&root));
    let why = || {
        let root = root.display();
        format!(
            "`repo_path`: {found} is outside of {root}, where the run works; say `--repo {found}` and `repo_path: .`"
        )
    };
    (!is_inside).then(why)
}

fn profile(profile: &Profile) -> Vec<String> {
    let mut found = Vec::new();
    if profile.cases.is_empty() && profile.suites.is_empty() {
        found.push("`test_profile`: there are neither `cases` nor `suites`".to_owned());
    }
    if profile.each_alone && profile.cases.is_empty() {
        found.push("`test_profile.each_alone` needs `cases`".to_owned());
    }
    let is_known = |target: &&String| profile.cases.is_empty() || profile.cases.contains(target);
    let unknown = profile.targets.iter().filter(|target| !is_known(target));
    found.extend(unknown.map(|target| format!("`test_profile.targets`: `{target}` is not among the cases")));
    let unknown = profile.tags.iter().filter(|tag| !profile.suites.iter().any(|suite| suite.tags.contains(tag)));
    found.extend(unknown.map(|tag| format!("`test_profile.tags`: no suite has the tag `{tag}`")));
    if let Err(wrong) = Format::configured(&profile.format, &profile.config) {
        found.extend(wrong.into_iter().map(|why| format!("`test_profile.format`: {why}")));
    }
    if let Err(trouble) = environment(profile) {
        found.push(trouble.to_string());
    }
    found
}

fn constraints(constraints: &Constraints) -> Vec<String> {
    let globs = [("allowed_paths", &constraints.allowed_paths), ("forbidden_paths", &constraints.forbidden_paths)];
    let mut found: Vec<String> = globs
        .iter()
        .flat_map(|(name, globs)| globs.iter().map(move |glob| (name, glob)))
        .filter_map(|(name, glob)| globset::Glob::new(glob).err().map(|error| format!("`constraints.{name}`: {error}")))
        .collect();
    for (name, threshold) in &constraints.metrics {
        if let Err(error) = serde_json::from_value::<Threshold>(threshold.clone()) {
            found.push(format!("`constraints.metrics.{name}`: {error}"));
        }
    }
    found
}
