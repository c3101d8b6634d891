//! Checks that the files, crates, modules and items that documents and comments name in back-quotes exist.
//!
//! A name counts if its form says that it belongs to this repository: `crates/…`, `docs/…` and the other directories at
//! the root, a source file (`prose.rs`, `workspace/mod.rs`), or a path of Rust such as `chart::model::Chart`. A source
//! file is searched in the crate that the line names before it, else in the crate of the comment, else in all crates.

use std::path::{Path, PathBuf};

use super::{manifest::folders, root};

/// The directories at the root whose names begin a path of this repository.
const FOLDERS: [&str; 7] = ["crates/", "docs/", "machines/", "examples/", "scripts/", "clients/", "benches/"];
/// Paths in the projects of users, which begin like those of this repository.
const OF_USERS: [&str; 1] = ["docs/prd"];

/// A name in back-quotes and its place.
struct Reference {
    place: String,
    /// The text before the name in the same paragraph, which may say the crate.
    before: String,
    name: String,
}

/// Returns the names in back-quotes of a text; fenced blocks are left out.
fn references(place: &str, text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for (number, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        let mut before = String::new();
        for (part, text) in line.split('`').enumerate().filter(|_| !is_fenced && !is_fence) {
            if part % 2 == 1 {
                let place = format!("{place}:{}", number + 1);
                found.push(Reference { place, before: before.clone(), name: text.to_owned() });
            }
            before.push_str(text);
        }
    }
    found
}

/// Returns all files with these endings under a directory, as paths from the root.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<String>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !["target", "node_modules", "corpus"].contains(&name.as_str()) {
            files(&path, endings, found);
        } else if endings.iter().any(|ending| name.ends_with(ending)) && path.is_file() {
            found.push(path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// Says whether a path with `*` in its names matches an entry under a directory.
fn matches(folder: &Path, path: &str) -> bool {
    let (first, rest) = path.trim_end_matches('/').split_once('/').unwrap_or((path.trim_end_matches('/'), ""));
    let Some((begin, end)) = first.split_once('*') else {
        let next = folder.join(first);
        return next.exists() && (rest.is_empty() || matches(&next, rest));
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap());
    entries
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        })
        .any(|entry| rest.is_empty() || matches(&entry.path(), rest))
}

fn is_path(name: &str) -> bool {
    name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./*".contains(letter))
}

/// Returns the crate that a text names last, with its group, as in `crates/world/runtime/src/live.rs`.
fn crate_named(text: &str) -> Option<&str> {
    let (_, rest) = text.rsplit_once("crates/")?;
    let path = rest.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-/".contains(letter)).next()?;
    of_crate(path)
}

/// Returns the first two components of a path below `crates/`: the group and the name of a crate.
fn of_crate(path: &str) -> Option<&str> {
    let group = path.find('/')?;
    let end = path[group + 1..].find('/').map_or(path.len(), |end| group + 1 + end);
    Some(&path[..end])
}

/// Says whether a name that has the form of a path exists. `home` is the crate of the text, if it has one.
fn exists(reference: &Reference, home: Option<&str>, sources: &[String]) -> bool {
    let name = reference.name.as_str();
    if !is_path(name) || OF_USERS.iter().any(|path| name.starts_with(path)) {
        return true;
    }
    if FOLDERS.iter().any(|folder| name.starts_with(folder)) {
        return matches(&root(), name);
    }
    if !name.ends_with(".rs") || name.contains('*') {
        return true;
    }
    let ending = format!("/{name}");
    let owner = crate_named(&reference.before).or(home).map(|name| format!("crates/{name}/"));
    let mut candidates = sources.iter().filter(|path| path.ends_with(&ending));
    match owner {
        Some(owner) => candidates.any(|path| path.starts_with(&owner)),
        None => candidates.next().is_some(),
    }
}

pub(super) fn sources() -> Vec<String> {
    let mut found = Vec::new();
    files(&root().join("crates"), &[".rs"], &mut found);
    files(&root().join("benches"), &[".rs"], &mut found);
    found
}

/// The documents that describe this repository. The changelog names files as they were.
pub(super) fn documents() -> Vec<String> {
    let mut found = Vec::new();
    ["docs", "machines", "examples"].iter().for_each(|folder| files(&root().join(folder), &[".md"], &mut found));
    found.extend(
        ["README.md", "README.zh-CN.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"].map(String::from),
    );
    found
}

pub(super) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn files_named_in_documents_exist() {
    let sources = sources();
    let documents = documents();
    assert!(documents.len() > 50, "only {} documents were found", documents.len());
    let named = documents.iter().flat_map(|path| references(path, &read(path)));
    let missing: Vec<String> = named
        .filter(|reference| !exists(reference, None, &sources))
        .map(|reference| format!("{}: `{}`", reference.place, reference.name))
        .collect();
    assert!(missing.is_empty(), "these do not exist: {missing:#?}");
}

#[test]
fn files_named_in_comments_exist() {
    let sources = sources();
    let mut missing = Vec::new();
    for path in &sources {
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let lines = read(path);
        let comments: Vec<&str> = lines.lines().map(|line| if is_comment(&line) { line } else { "" }).collect();
        let home = path.strip_prefix("crates/").and_then(of_crate);
        for reference in references(path, &comments.join("\n")) {
            if !exists(&reference, home, &sources) {
                missing.push(format!("{}: `{}`", reference.place, reference.name));
            }
        }
    }
    assert!(missing.is_empty(), "these do not exist: {missing:#?}");
}

/// Says whether `module::Item` is in a crate: every module as a file or a directory, the item as a definition in it.
fn is_defined(home: &str, path: &str) -> bool {
    let Some(folder) = folders().into_iter().find(|folder| folder.ends_with(home)) else { return false };
    let mut place = folder.join("src");
    for part in path.split("::").filter(|part| !part.is_empty()) {
        let inner = place.join(part);
        if !inner.is_dir() && !inner.with_extension("rs").is_file() {
            return defines(&place, part) || defines(&place.with_extension("rs"), part);
        }
        place = inner;
    }
    place.is_dir() || place.with_extension("rs").is_file()
}

/// Says whether an item of this name is defined in a file, or in a file under a directory.
fn defines(place: &Path, name: &str) -> bool {
    if place.is_dir() {
        return std::fs::read_dir(place).unwrap().any(|entry| defines(&entry.unwrap().path(), name));
    }
    let text = std::fs::read_to_string(place).unwrap_or_default();
    ["struct ", "enum ", "trait ", "type ", "fn ", "const ", "mod "].iter().any(|word| {
        text.match_indices(&format!("{word}{name}"))
            .any(|(at, found)| !text[at + found.len()..].starts_with(|letter: char| letter.is_alphanumeric()))
    })
}

/// Returns the crate and the rest of a path of Rust that begins with the name of one of our crates.
fn path_of_ours(name: &str) -> Option<(String, &str)> {
    let is_code = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_:".contains(letter));
    let (first, rest) = name.split_once("::").unwrap_or((name, ""));
    let home = first.trim_start_matches("interlock_").replace('_', "-");
    (is_code && folders().iter().any(|folder| folder.ends_with(&home))).then_some((home, rest))
}

#[test]
fn code_named_in_documents_exists() {
    let mut missing = Vec::new();
    let named = documents().iter().flat_map(|path| references(path, &read(path))).collect::<Vec<_>>();
    for reference in named.iter().filter(|reference| reference.name.contains("::")) {
        let is_missing = path_of_ours(&reference.name).is_some_and(|(home, rest)| !is_defined(&home, rest));
        missing.extend(is_missing.then(|| format!("{}: `{}`", reference.place, reference.name)));
    }
    assert!(missing.is_empty(), "these do not exist: {missing:#?}");
}

/// The third column of the glossary names the code: a crate, a path that begins with one, or a file.
#[test]
fn code_named_in_the_glossary_exists() {
    let named = references("docs/glossary.md", &read("docs/glossary.md"));
    let column = named.iter().filter(|reference| reference.before.matches('|').count() >= 3);
    let (mut count, mut missing) = (0, Vec::new());
    for reference in column.filter(|reference| !reference.name.contains(['/', '.'])) {
        count += 1;
        let is_known = path_of_ours(&reference.name).is_some_and(|(home, rest)| is_defined(&home, rest));
        missing.extend((!is_known).then(|| format!("{}: `{}`", reference.place, reference.name)));
    }
    assert!(count > 30, "only {count} names of code were found");
    assert!(missing.is_empty(), "these do not exist: {missing:#?}");
}

#[test]
fn references_of_each_form_are_found() {
    let text = "See `crates/engine/core/src/step.rs`, then `missing.rs`.\n```text\n`other.rs`\n```\n";
    let found = references("a.md", text);
    assert_eq!(
        found.iter().map(|reference| reference.name.as_str()).collect::<Vec<_>>(),
        ["crates/engine/core/src/step.rs", "missing.rs"]
    );
    let sources = sources();
    assert_eq!(found.iter().map(|reference| exists(reference, None, &sources)).collect::<Vec<_>>(), [true, false]);
    assert!(matches(&root(), "crates/*/*/Cargo.toml") && !matches(&root(), "crates/*/*/missing.toml"));
    for (path, is_there) in [("model::Chart", true), ("model::Effect", false), ("no_such_module", false), ("", true)] {
        assert_eq!(is_defined("chart", path), is_there, "{path}");
    }
}
