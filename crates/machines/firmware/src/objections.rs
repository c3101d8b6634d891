//! Objections to a task before it begins, beyond the checks of the machine's schema. All problems are reported at
//! once.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use interlock_chart::Value;
use interlock_test_results::Format;
use interlock_testbench::{Profile, environment};
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
    #[serde(default)]
    commit_branch: String,
}

/// The figures that are measured; a threshold must use one of these names.
const FIGURES: [&str; 6] = ["text", "data", "bss", "duration_ms", "covered_lines", "starts"];

/// Returns all objections to a task; empty for an input that is not a firmware task.
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
        found.push(format!("`build.image`: {} is not a file within `repo_path`", task.build.image));
    }
    if task.build.commands.is_empty() && !task.build.image.is_empty() && !repo.join(&task.build.image).exists() {
        found.push(format!("`build.commands` is empty, and there is no {} either", task.build.image));
    }
    if task.test_profile.env_type == "qemu" && task.build.image.is_empty() {
        found.push("`build.image`: QEMU needs an image to start".to_owned());
    }
    found.extend(profile(&task.test_profile));
    found.extend(constraints(&task.constraints));
    found.extend(thresholds(&task));
    found.extend(branch(&task.constraints.commit_branch, folder));
    found
}

/// Returns the reason why a fix could not be committed to a branch of that name.
fn branch(name: &str, folder: &Path) -> Option<String> {
    let why = Workspace::default().can_commit_to(folder, name).err().filter(|_| !name.is_empty())?;
    Some(format!("`constraints.commit_branch`: {why}"))
}

/// Returns the reason why `repo_path` cannot be the directory of the sources.
fn misplaced(said: &str, repo: &Path, folder: &Path) -> Option<String> {
    if said.contains("://") {
        return Some(format!("`repo_path`: {said} is not a directory: clone it first"));
    }
    let Some(found) = repo.canonicalize().ok().filter(|found| found.is_dir()) else {
        return Some(format!("`repo_path`: {} is not a directory", repo.display()));
    };
    let root = Workspace::default().root(folder).ok()?;
    let (found, is_inside) = (found.display(), found.starts_with(&root));
    let why = || {
        let root = root.display();
        format!("`repo_path`: {found} is outside {root}, where the run works; use `--repo {found}` and `repo_path: .`")
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
    found.extend(unknown.map(|target| {
        let near = interlock_suggest::closest(target, profile.cases.iter().map(String::as_str));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("`test_profile.targets`: `{target}` is not among the cases{near}")
    }));
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
    globs
        .iter()
        .flat_map(|(name, globs)| globs.iter().map(move |glob| (name, glob)))
        .filter_map(|(name, glob)| globset::Glob::new(glob).err().map(|error| format!("`constraints.{name}`: {error}")))
        .collect()
}

fn thresholds(task: &Task) -> Vec<String> {
    let wrong = |(name, threshold): (&String, &serde_json::Value)| {
        let why = match serde_json::from_value::<Threshold>(threshold.clone()) {
            Err(error) => error.to_string(),
            Ok(threshold) if threshold.is_empty() => {
                "needs one of `max`, `min`, `rise_max_percent` and `fall_max_percent`".to_owned()
            }
            Ok(_) if !FIGURES.contains(&name.as_str()) => format!("is not measured; {} are", FIGURES.join(", ")),
            Ok(_) if name == "covered_lines" && !task.test_profile.coverage => {
                "is measured with `test_profile.coverage: true`".to_owned()
            }
            Ok(threshold) => {
                let (limit, value) = threshold.negative()?;
                let name = format!("constraints.metrics.{name}.{limit}");
                return Some(format!("`{name}`: {value} is below 0; use 0 or more"));
            }
        };
        Some(format!("`constraints.metrics.{name}`: {why}"))
    };
    task.constraints.metrics.iter().filter_map(wrong).collect()
}
