//! The old checks on the new sources: the tests and definitions of the base tree, with everything else of the new one.
//!
//! A case that passes only with its new text, and a check that passes only with its new definition, shows nothing about
//! the sources. Whatever trick is in the new text, it is not there in this run.

use std::{io, path::Path};

use interlock_activity::Outcome;
use interlock_codemap::rust_test_items;
use serde_json::Value as Json;

use super::{
    Visit, files,
    kinds::Part,
    stage::Build,
    tree::{Changed, Trees},
    verdict::Measured,
};

/// The fields of manifests that say nothing about checks: what the product is called and what it builds on. Dependencies
/// are those from before the turn anyway.
const HARMLESS: [&str; 22] = [
    "version",
    "description",
    "author",
    "authors",
    "contributors",
    "license",
    "keywords",
    "homepage",
    "repository",
    "bugs",
    "categories",
    "documentation",
    "readme",
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "optionalDependencies",
    "dev-dependencies",
    "features",
    "bin",
    "files",
    "private",
];

/// The parts of a tree that are always checks.
const CHECKS: [Part; 2] = [Part::Definition, Part::Test];

impl Visit<'_, '_> {
    /// Runs the old checks on the new sources; `None` if they are the new ones. A check that fails runs once more: some
    /// tests fail now and then.
    pub(super) async fn old_checks(&mut self) -> Result<Option<Measured>, Outcome> {
        let old: Vec<Changed> = self.old_files().cloned().collect();
        let spliced: Vec<(String, String)> = self.trees.sources().filter_map(|(changed, _)| spliced(changed)).collect();
        if old.is_empty() && spliced.is_empty() {
            return Ok(None);
        }
        self.say("the tests and definitions from before the change run against the new sources");
        let mut result = self.old_run("old", &old, &spliced).await?;
        if !result.is_green() {
            let again = self.old_run("old again", &old, &spliced).await?;
            if again.census.passed() >= result.census.passed() {
                result = again;
            }
        }
        self.facts["old_checks"] = result.to_json();
        Ok(Some(result))
    }

    async fn old_run(
        &mut self,
        name: &str,
        old: &[Changed],
        spliced: &[(String, String)],
    ) -> Result<Measured, Outcome> {
        let (tree, base) = (self.trees.new.clone(), self.trees.base.clone());
        let (question_base, question_tree) = (self.question.base.clone(), self.question.tree.clone());
        let change = |copy: &Path| -> io::Result<()> {
            old.iter().try_for_each(|changed| files::replace(copy, &changed.path, &base))?;
            spliced.iter().try_for_each(|(path, text)| files::write(copy, path, text))
        };
        self.remembered(name, &[&question_base, &question_tree], &tree, Build::Discarded, change).await
    }

    /// The changed files that the old checks take from the base tree. Data is the product's if it changes alone; beside
    /// changed sources it may have been made to fit them, so the new sources must do with the old data.
    fn old_files(&self) -> impl Iterator<Item = &Changed> {
        let has_sources = self.trees.sources().next().is_some();
        let is_data = move |changed: &&Changed| has_sources && changed.part == Part::Data && changed.before.is_some();
        let checks = self.trees.with_part(&CHECKS).filter(|changed| !is_harmless(changed));
        checks.chain(self.trees.with_part(&[Part::Data]).filter(is_data))
    }

    /// Shows both texts of the tests and definitions that changed, as a difference.
    pub(super) fn difference_of_checks(&self) -> String {
        let with_tests =
            self.trees.sources().filter(|(changed, _)| spliced(changed).is_some()).map(|(changed, _)| changed);
        let checks = self.old_files().chain(with_tests);
        let mut text = String::new();
        for changed in checks {
            let (before, after) = (changed.text_before(), changed.text_after());
            let diff = similar::TextDiff::from_lines(&before, &after);
            let names = (format!("a/{}", changed.path), format!("b/{}", changed.path));
            text.push_str(&diff.unified_diff().header(&names.0, &names.1).to_string());
        }
        text
    }

    /// Names the tests and definitions that changed, for people.
    pub(super) fn changed_checks(&self) -> (String, String) {
        let checks = || {
            let with_tests =
                self.trees.sources().filter(|(changed, _)| spliced(changed).is_some()).map(|(changed, _)| changed);
            self.old_files().chain(with_tests)
        };
        let names: Vec<String> = checks().map(|changed| changed.path.clone()).collect();
        (super::listed(&names), Trees::hash(checks()))
    }
}

/// Returns true if a manifest differs only in fields that say nothing about checks.
fn is_harmless(changed: &Changed) -> bool {
    let (Some(before), Some(after)) = (&changed.before, &changed.after) else { return false };
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let name = changed.path.rsplit('/').next().unwrap_or(&changed.path);
    let parsed: fn(&str) -> Option<Json> = match name {
        "package.json" => |text| serde_json::from_str(text).ok(),
        "Cargo.toml" | "pyproject.toml" => |text| serde_json::to_value(text.parse::<toml::Table>().ok()?).ok(),
        // Locked versions: the dependencies are those from before the turn.
        "package-lock.json" | "yarn.lock" | "pnpm-lock.yaml" | "Cargo.lock" | "poetry.lock" | "uv.lock" | "go.sum" => {
            return true;
        }
        _ => return false,
    };
    let relevant = |text: &str| parsed(text).map(without_harmless);
    relevant(&before).is_some_and(|before| Some(before) == relevant(&after))
}

/// Removes the harmless fields at the top of a manifest and in its description of the package.
fn without_harmless(mut manifest: Json) -> Json {
    for table in ["", "package", "project"] {
        let fields = if table.is_empty() {
            manifest.as_object_mut()
        } else {
            manifest.get_mut(table).and_then(Json::as_object_mut)
        };
        if let Some(fields) = fields {
            fields.retain(|name, _| !HARMLESS.contains(&name.as_str()));
        }
    }
    manifest
}

/// Returns a Rust source with the tests that the base tree has inside it, if these differ.
fn spliced(changed: &Changed) -> Option<(String, String)> {
    if !changed.path.ends_with(".rs") || changed.before.is_none() {
        return None;
    }
    let (before, after) = (changed.text_before(), changed.text_after());
    let tests = |text: &str| rust_test_items(text).into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>();
    let (old, new) = (tests(&before), tests(&after));
    if old.is_empty() || old == new {
        return None;
    }
    let mut text = after.clone();
    for range in rust_test_items(&after).into_iter().rev() {
        text.replace_range(range, "");
    }
    Some((changed.path.clone(), format!("{}\n{}\n", text.trim_end(), old.join("\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(path: &str, before: &str, after: &str) -> Changed {
        Changed { path: path.into(), part: Part::Source, before: Some(before.into()), after: Some(after.into()) }
    }

    #[test]
    fn a_new_version_of_a_package_is_harmless_and_a_new_script_is_not() {
        assert!(is_harmless(&changed(
            "package.json",
            r#"{"version":"1","scripts":{"test":"tape"}}"#,
            r#"{"version":"2","scripts":{"test":"tape"}}"#
        )));
        assert!(!is_harmless(&changed(
            "package.json",
            r#"{"scripts":{"test":"tape"}}"#,
            r#"{"scripts":{"test":"true"}}"#
        )));
        assert!(is_harmless(&changed(
            "Cargo.toml",
            "[package]\nversion = \"1\"",
            "[package]\nversion = \"2\"\n[dependencies]\na = \"1\""
        )));
        assert!(!is_harmless(&changed("Cargo.toml", "[lib]", "[lib]\ntest = false")));
    }

    #[test]
    fn the_old_tests_of_a_rust_file_stand_in_the_new_one() {
        let before = "fn a() {}\n#[cfg(test)]\nmod tests { old }\n";
        let after = "fn a() { 1; }\n#[cfg(all(test, feature = \"x\"))]\nmod tests { new }\nfn b() {}\n";
        let text = spliced(&changed("a.rs", before, after)).map(|(_, text)| text);
        assert_eq!(text.as_deref(), Some("fn a() { 1; }\n\nfn b() {}\n#[cfg(test)]\nmod tests { old }\n"));
    }
}
