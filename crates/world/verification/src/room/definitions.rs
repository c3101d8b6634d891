//! Changes of files that define the check: settings of runners, their hooks and plugins, makefiles and manifests.
//!
//! A definition counts if the check reads it, with its new or with its old text. Settings say only how the check runs, so a
//! person has to accept a change of them. A file that also builds the product is changed by honest work every day: the old
//! checks, the cases and the broken sources decide there, and the end names the file.
//!
//! No table has the settings of every tool. A file that the check opens although nothing names it was found by a tool
//! under a name that the tool knows, so the end names such a file, too.

use std::{collections::BTreeSet, path::Path, sync::LazyLock};

use regex::Regex;
use serde_json::Value as Json;

use super::{
    Visit, Warning, kinds,
    kinds::Part,
    listed,
    probe::{is_named, words},
    tree::{Changed, Trees},
    verdict::Measured,
};

/// The fields of manifests that say nothing about checks: what the product is called and which packages it gets from
/// registries. Nobody is told about them; the old checks run with the old manifest all the same.
const HARMLESS: [&str; 19] = [
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
    "bin",
    "dependencies",
    "peerDependencies",
    "optionalDependencies",
    "files",
    "private",
];

impl Visit<'_, '_> {
    /// Objects to changed settings that the check reads, and names changed build files.
    pub(super) fn look_at_definitions(&mut self, base: Option<&Measured>, now: &Measured) {
        self.look_at_repository();
        self.look_at_texts();
        self.look_at_locks();
        // A failing check may have stopped before it read everything.
        let was_read = |changed: &Changed| match base.filter(|base| base.is_green()) {
            Some(base) => changed.before.is_some() && base.has_read(&changed.path),
            None => changed.after.is_none(),
        };
        let is_read = |changed: &Changed| (changed.after.is_some() && now.has_read(&changed.path)) || was_read(changed);
        let changed = self.trees.with_part(&[Part::Definition]).filter(|changed| !is_harmless(changed));
        let (builds, settings): (Vec<Changed>, Vec<Changed>) =
            changed.filter(|changed| is_read(changed)).cloned().partition(is_build);
        let included = self.included();
        let is_included = |changed: &&Changed| {
            changed.part != Part::Definition && is_read(changed) && included.contains(&changed.path)
        };
        let builds: Vec<Changed> =
            builds.into_iter().chain(self.trees.changed.iter().filter(is_included).cloned()).collect();
        let names = |changed: &[Changed]| listed(&changed.iter().map(|one| one.path.clone()).collect::<Vec<_>>());
        if !settings.is_empty() {
            let text = format!("the check reads settings that this change wrote: {}", names(&settings));
            self.object(text, &Trees::hash(settings.iter()));
        }
        if !builds.is_empty() {
            let text = format!("this change wrote files that the check is built and started by: {}", names(&builds));
            self.warnings.push(Warning { code: "checks_changed", text });
        }
        let found = self.found_by_tools(now);
        if !found.is_empty() {
            let text = format!("the check opens files of this change that nothing names: {}", listed(&found));
            self.warnings.push(Warning { code: "checks_changed", text });
        }
    }

    /// Objects to locked packages that come from another place than all packages did.
    fn look_at_locks(&mut self) {
        let is_new = |one: &Changed| {
            let (before, after) = (origins(&one.text_before()), origins(&one.text_after()));
            let is_changed = !after.is_subset(&before) && (!before.is_empty() || after.len() > 1);
            let new: Vec<String> = after.difference(&before).cloned().collect();
            is_changed.then(|| format!("{} from {}", one.path, new.join(", ")))
        };
        let locks: Vec<Changed> =
            self.trees.with_part(&[Part::Definition]).filter(|one| is_lock(&one.path)).cloned().collect();
        let found: Vec<String> = locks.iter().filter_map(is_new).collect();
        if !found.is_empty() {
            let text = format!("the change locks packages from other places than before: {}", listed(&found));
            self.object(text, &Trees::hash(locks.iter()));
        }
    }

    /// The changed files that definitions of one of the trees include, whatever they are called.
    fn included(&self) -> Vec<String> {
        let is_inclusion = |line: &&str| {
            let line = line.trim_start().trim_start_matches(['-', 's', '!']);
            line.starts_with("include") && line["include".len()..].starts_with([' ', '\t', '(', ':'])
        };
        let texts =
            [&self.trees.base, &self.trees.new].into_iter().flat_map(|tree| Trees::texts(tree, Part::Definition));
        let lines: Vec<String> =
            texts.flat_map(|text| text.lines().filter(is_inclusion).map(str::to_owned).collect::<Vec<_>>()).collect();
        let words = words(lines.iter());
        // `include $(DIR)/*.inc` means every file with that end.
        let has_end = |path: &str| {
            words
                .iter()
                .filter_map(|word| word.rsplit_once(['*', ')', '%']))
                .any(|(_, end)| end.contains('.') && path.ends_with(end))
        };
        let paths = self.trees.changed.iter().map(|one| &one.path);
        paths.filter(|path| is_named(&words, path) || has_end(path)).cloned().collect()
    }

    /// The changed files that the check reads and that no text of the tree names, so that a tool knows their names. Tools
    /// look at the top of a project and in hidden directories. Sources of languages that compile whole directories need no
    /// name, and what may have been read is not known to be.
    fn found_by_tools(&self, now: &Measured) -> Vec<String> {
        let Some(read) = &now.read else { return Vec::new() };
        let is_candidate = |changed: &&Changed| {
            let is_hidden = changed.path.starts_with('.') || changed.path.contains("/.");
            let folder = changed.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            // A header is found in every directory, and a module in every one that is no package.
            let is_found = kinds::is_header(&changed.path)
                || changed.path.ends_with(".py") && !self.trees.has(Path::new(&format!("{folder}/__init__.py")));
            let is_loaded = changed.part == Part::Data
                || kinds::is_loaded_by_name(&changed.path)
                || kinds::is_header(&changed.path);
            matches!(changed.part, Part::Data | Part::Source)
                && is_loaded
                && (is_hidden || is_found || folder.is_empty())
                && read.contains(&changed.path)
        };
        let candidates: Vec<&Changed> =
            self.trees.changed.iter().filter(is_candidate).filter(|changed| changed.after.is_some()).collect();
        if candidates.is_empty() {
            return Vec::new();
        }
        // What is named by a file that is named is named, too. Two that name only each other are not.
        let mut left = candidates;
        loop {
            let words = self.words_beside(&left);
            let (named, unnamed): (Vec<&Changed>, Vec<&Changed>) =
                left.iter().copied().partition(|changed: &&Changed| is_named(&words, &changed.path));
            if named.is_empty() || unnamed.is_empty() {
                return unnamed.into_iter().map(|changed| changed.path.clone()).collect();
            }
            left = unnamed;
        }
    }
}

/// Returns true if a definition also builds the product.
pub(super) fn is_build(changed: &Changed) -> bool {
    kinds::builds_product(&changed.path) || is_lock(&changed.path)
}

/// Files in which tools keep exact versions, and which they write anew.
const LOCKS: [&str; 22] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "Cargo.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile.lock",
    "go.sum",
    "go.work.sum",
    "Gemfile.lock",
    "composer.lock",
    "mix.lock",
    "pubspec.lock",
    "Podfile.lock",
    "packages.lock.json",
    "gradle.lockfile",
    "flake.lock",
];

/// Returns true for files in which tools keep exact versions.
pub(super) fn is_lock(path: &str) -> bool {
    LOCKS.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// Returns the places from which a lock file gets packages: servers, and directories as one place.
fn origins(text: &str) -> BTreeSet<String> {
    static ORIGIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\b((?:git\+)?(?:https?|ssh|git|file)):(?://)?(?:[^@/\s"']*@)?([^/\s"':]*)"#)
            .unwrap_or_else(|error| unreachable!("a pattern of this file: {error}"))
    });
    // Pages for people are no origins.
    let is_origin = |line: &&str| !["\"url\":", "funding", "homepage"].iter().any(|word| line.contains(word));
    let lines = text.lines().filter(is_origin);
    lines.flat_map(|line| ORIGIN.captures_iter(line).map(|found| format!("{}:{}", &found[1], &found[2]))).collect()
}

/// Returns true if a manifest differs only in fields that say nothing about checks.
pub(super) fn is_harmless(changed: &Changed) -> bool {
    let (Some(before), Some(after)) = (&changed.before, &changed.after) else { return false };
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let name = changed.path.rsplit('/').next().unwrap_or(&changed.path);
    let parsed: fn(&str) -> Option<Json> = match name {
        "package.json" => |text| serde_json::from_str(text).ok(),
        "Cargo.toml" | "pyproject.toml" => |text| serde_json::to_value(text.parse::<toml::Table>().ok()?).ok(),
        // Locked versions: the dependencies are those from before the turn.
        name if is_lock(name) => return true,
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
            fields.retain(|name, value| {
                let is_harmless = HARMLESS.contains(&name.as_str());
                let is_list = is_harmless && name.to_lowercase().ends_with("dependencies");
                // A package that stands elsewhere than in a registry can be changed by the turn itself.
                if let (true, Some(packages)) = (is_list, value.as_object_mut()) {
                    packages.retain(|_, package| stands_elsewhere(package));
                }
                !is_harmless || is_list && value.as_object().is_some_and(|left| !left.is_empty())
            });
        }
    }
    manifest
}

/// Returns true if a package of a manifest is no version from a registry: a directory, an archive, a repository.
fn stands_elsewhere(package: &Json) -> bool {
    match package {
        Json::String(version) => version.contains([':', '/']),
        Json::Object(fields) => {
            fields.keys().any(|field| field != "version" && field != "features" && field != "optional")
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(path: &str, before: &str, after: &str) -> Changed {
        Changed {
            path: path.into(),
            spoken: path.into(),
            part: Part::Definition,
            before: Some(before.into()),
            after: Some(after.into()),
        }
    }

    #[test]
    fn a_lock_file_names_the_places_of_its_packages() {
        let of_registry = r#""resolved": "https://registry.npmjs.org/tape/-/tape-5.tgz","#;
        let found = |text: &str| origins(text).into_iter().collect::<Vec<_>>();
        assert_eq!(found(of_registry), ["https:registry.npmjs.org"]);
        assert_eq!(found("resolved \"git+ssh://git@github.com/a/b.git#1\"\n"), ["git+ssh:github.com"]);
        assert_eq!(found("source = \"registry+https://github.com/rust-lang/crates.io-index\"\n"), ["https:github.com"]);
        assert_eq!(found("  \"url\": \"https://opencollective.com/a\"\n"), [""; 0]);
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
        for (before, after) in [
            ("[features]\ndefault = []", "[features]\ndefault = [\"lax\"]"),
            ("[dev-dependencies]\nnear = \"1\"", "[dev-dependencies]\nclose = \"1\""),
            ("[dependencies]\na = { path = \"a\" }", "[dependencies]\na = { path = \"b\" }"),
        ] {
            assert!(!is_harmless(&changed("Cargo.toml", before, after)), "{after}");
        }
        assert!(!is_harmless(&changed("Cargo.toml", "[lib]", "[lib]\ntest = false")));
    }
}
