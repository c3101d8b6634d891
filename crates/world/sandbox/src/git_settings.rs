//! Finds the places in a workspace that git's settings refer to: hooks in other directories, and further settings files.
//!
//! All files that the person's own git would read count: those of the person, those of each repository, and what they
//! include under any condition. A file or a directory elsewhere counts by what it really is, because a link may lead into the
//! workspace.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path, PathBuf},
};

use interlock_beneath::{Error, FileType, Folder, whole};

use crate::{
    Rules,
    git_config::{self, Setting},
    guard::Refusal,
    repository::Repository,
};

/// Maximum size of a settings file that is read.
const BYTES_MAX: u64 = 1_024 * 1_024;

/// How deep files may include others. Git ends beyond this.
const DEPTH_MAX: usize = 10;

/// Maximum number of settings files that are included, in all repositories of a workspace together.
const INCLUDED_MAX: usize = 500;

/// Maximum number of names in a directory of hooks.
const HOOKS_MAX: usize = 1_000;

/// What settings files say that leads to other places.
#[derive(Clone, Debug, Default)]
struct Told {
    /// The files, and those that they include, which need not exist.
    files: BTreeSet<PathBuf>,
    /// The directories of hooks, and of templates of repositories, as they are written.
    hooks: Vec<Vec<u8>>,
    /// The work trees, as they are written.
    trees: Vec<Vec<u8>>,
}

/// Returns the places in a workspace that the settings of its repositories and of the person refer to.
pub(crate) fn leads_to(rules: &Rules, repositories: &[Repository]) -> Result<Vec<PathBuf>, Refusal> {
    let mut search = Search { home: rules.home.as_deref(), left: INCLUDED_MAX };
    let mut person = Told::default();
    for file in &rules.git_files {
        search.read(file, DEPTH_MAX, &mut person)?;
    }
    let mut found = BTreeSet::new();
    for repository in repositories {
        let mut told = person.clone();
        for file in &repository.settings {
            search.read(file, DEPTH_MAX, &mut told)?;
        }
        let trees = told.trees.iter().filter_map(|tree| search.place(tree, &repository.folder));
        let roots: Vec<PathBuf> = repository.roots.iter().cloned().chain(trees).collect();
        let named = told.hooks.iter().flat_map(|value| roots.iter().filter_map(|root| search.place(value, root)));
        let hooks: Vec<PathBuf> = named.flat_map(|place| [real(&place), place]).collect();
        if hooks.contains(&rules.workspace) {
            let why = "git takes hooks from the workspace itself (`core.hooksPath`), so no file in it could be changed. \
                       Name a directory for them";
            return Err(Refusal(why.to_owned()));
        }
        // The own hooks are protected by their names, as the own settings are.
        for folder in hooks.iter().chain([&repository.folder.join("hooks")]) {
            found.extend(linked(folder)?);
        }
        // Husky sets a directory whose scripts call scripts in the parent directory.
        let above: Vec<_> =
            hooks.iter().filter(|hooks| hooks.ends_with("_")).filter_map(|hooks| hooks.parent()).collect();
        found.extend(above.into_iter().map(Path::to_owned));
        found.extend(hooks);
        let files = told.files.iter().filter(|file| !repository.settings.contains(file));
        found.extend(files.flat_map(|file| [real(file), plain(file)]));
    }
    Ok(found.into_iter().filter(|place| place.starts_with(&rules.workspace) && *place != rules.workspace).collect())
}

/// A search in the settings of one workspace.
struct Search<'h> {
    home: Option<&'h Path>,
    /// How many files may still be included.
    left: usize,
}

impl Search<'_> {
    /// Reads a file and those that it includes.
    fn read(&mut self, file: &Path, depth: usize, told: &mut Told) -> Result<(), Refusal> {
        if depth == 0 || !told.files.insert(file.to_owned()) {
            return Ok(());
        }
        for Setting { section, name, value } in git_config::settings(&text(file)?) {
            match (section.as_str(), name.as_str()) {
                ("core", "hookspath") | ("init", "templatedir") => told.hooks.push(value),
                ("core", "worktree") => told.trees.push(value),
                ("include" | "includeif", "path") => {
                    let above = file.parent().unwrap_or(Path::new("/"));
                    if let Some(included) = self.place(&value, above) {
                        self.left = self.left.checked_sub(1).ok_or_else(|| too_many(file))?;
                        self.read(&included, depth - 1, told)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the path that a value means. `base` is the directory that a relative one starts from.
    fn place(&self, value: &[u8], base: &Path) -> Option<PathBuf> {
        let value = value.strip_prefix(b":(optional)").unwrap_or(value);
        let path = Path::new(OsStr::from_bytes(value));
        let Some(rest) = value.strip_prefix(b"~") else {
            return (!value.is_empty()).then(|| plain(&base.join(path)));
        };
        let (name, rest) = rest.split_at(rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len()));
        let home = if name.is_empty() { self.home?.to_owned() } else { home_of(name)? };
        Some(plain(&home.join(OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest)))))
    }
}

fn too_many(file: &Path) -> Refusal {
    Refusal(format!(
        "the settings of git include more than {INCLUDED_MAX} files, and each must be guarded while a program works. \
         Include fewer; {} is one of those that include others",
        file.display()
    ))
}

/// Reads a settings file. Programs cannot change links outside of the workspace, and those in it are protected.
fn text(file: &Path) -> Result<Vec<u8>, Refusal> {
    let Ok(real) = fs::canonicalize(file) else { return Ok(Vec::new()) };
    match whole::read(real, BYTES_MAX) {
        Err(Error::TooLong { .. }) => {
            let (file, mib) = (file.display(), BYTES_MAX >> 20);
            Err(Refusal(format!(
                "{file}, settings of git, is too long to be guarded (at most {mib} MiB). Make it shorter"
            )))
        }
        content => Ok(content.unwrap_or_default()),
    }
}

/// Returns the home directory of a user.
fn home_of(name: &[u8]) -> Option<PathBuf> {
    let users = fs::read("/etc/passwd").ok()?;
    let mut lines = users.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':').collect::<Vec<_>>());
    let line = lines.find(|fields| fields.first() == Some(&name))?;
    Some(PathBuf::from(OsStr::from_bytes(line.get(5)?)))
}

/// Returns what the links in a directory of hooks lead to.
fn linked(hooks: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let opened = fs::canonicalize(hooks).ok().and_then(|real| Folder::open(&real).ok());
    let names = opened.and_then(|opened| opened.kinds(Path::new("")).ok()).unwrap_or_default();
    if names.len() > HOOKS_MAX {
        let why = format!("{} has more than {HOOKS_MAX} hooks. Remove what git does not need there", hooks.display());
        return Err(Refusal(why));
    }
    let links = names.into_iter().filter(|(_, kind)| *kind == FileType::Symlink);
    Ok(links.map(|(name, _)| real(&hooks.join(name))).collect())
}

/// Resolves the links of a path, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    let rest = known.as_ref().and_then(|(above, _)| path.strip_prefix(above).ok());
    match (&known, rest) {
        (Some((_, real)), Some(rest)) if rest.as_os_str().is_empty() => real.clone(),
        (Some((_, real)), Some(rest)) => plain(&real.join(rest)),
        _ => path.to_owned(),
    }
}

/// Removes `.` and `..` from a path without reading the file system.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files into a workspace `w` and a home `h`, and returns the protected places.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let top = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(top.path()).unwrap();
        for (name, text) in [("w/.git/HEAD", ""), ("h/x", "")].iter().chain(files) {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), text.replace("TOP", top.to_str().unwrap())).unwrap();
        }
        let (git, workspace) = (top.join("w/.git"), top.join("w"));
        let repository = Repository {
            roots: vec![workspace.clone()],
            settings: vec![git.join("config")],
            folder: git,
            is_link: false,
        };
        let git_files = vec![top.join("h/.gitconfig")];
        let rules = Rules { workspace: workspace.clone(), home: Some(top.join("h")), git_files, ..Rules::default() };
        let found = leads_to(&rules, &[repository]).unwrap();
        found.iter().map(|place| place.strip_prefix(&workspace).unwrap().display().to_string()).collect()
    }

    /// Files with their texts, and the places that they lead to.
    type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);

    #[test]
    fn hooks_and_settings_in_other_places_are_found() {
        let cases: [Case; 9] = [
            (&[("w/.git/config", "[core]\n hooksPath = h # of the team\n")], &["h"]),
            (&[("w/.git/config", "[core]\n hooksPath = .husky/_\n")], &[".husky", ".husky/_"]),
            (&[("w/.git/config", "[core] hooksPath = /elsewhere\n")], &[]),
            (&[("w/.git/config", "[core] hooksPath = TOP/w/a/../h\n")], &["h"]),
            (
                &[("w/.git/config", "[include]\n path = ../a\n"), ("w/a", "[include] path = b\n[core] hooksPath=c")],
                &["a", "b", "c"],
            ),
            (&[("w/.git/config", "[includeIf \"gitdir:/x\"]\n path = ~/../w/a\n")], &["a"]),
            (&[("h/.gitconfig", "[core]\n hooksPath = h6\n[include]\n path = TOP/w/c.inc\n")], &["c.inc", "h6"]),
            (&[("h/.gitconfig", "[include]\n path = ~/more\n"), ("h/more", "[core] hooksPath = h1")], &["h1"]),
            (&[("h/.gitconfig", "[init]\n templateDir = TOP/w/t\n")], &["t"]),
        ];
        for (files, expected) in cases {
            assert_eq!(found(files), expected, "{files:?}");
        }
    }

    #[test]
    fn a_cycle_ends_and_too_many_files_are_refused() {
        assert_eq!(
            found(&[("w/.git/config", "[include]\n path = ../a\n"), ("w/a", "[include] path = .git/config\n")]),
            ["a"]
        );
        let mut search = Search { home: None, left: 1 };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "[include]\n path = b\n path = c\n").unwrap();
        let refused = search.read(&folder.path().join("a"), DEPTH_MAX, &mut Told::default()).unwrap_err();
        assert!(refused.0.contains("include more than"), "{refused}");
    }
}
