//! The sources of machines: built into the binary, in a project, or at a path. Reading files is the only I/O of this
//! crate, and all of it is here.
//!
//! A project's machines are under `.interlock/machines/NAME/`, in the given directory or one above it. They override
//! the built-in machines of the same name, so a project can replace one.

mod builtin;
mod folder;

use crate::yaml::{self, ReadResult};
use std::{
    fs,
    path::{Path, PathBuf},
};

pub use builtin::{files as builtin_files, names as builtin_names};

/// The file that makes a directory a machine.
pub const MACHINE_FILE: &str = "machine.yaml";

/// The number of files beside the caller that are searched for a name like a wrong one.
const NEARBY_MAX: usize = 1_000;

/// The directory of a project's machines.
pub const PROJECT_MACHINES: &str = ".interlock/machines";

/// The source of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Embedded in the binary.
    BuiltIn,
    /// Found in the project.
    Project,
    /// Loaded from a given path.
    Path,
}

impl Origin {
    /// Returns the origin as a word for people.
    pub fn word(self) -> &'static str {
        match self {
            Origin::BuiltIn => "built-in",
            Origin::Project => "project",
            Origin::Path => "path",
        }
    }
}

/// A machine's files before they are parsed.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name with which the machine was found: the directory's name, or the given path.
    pub name: String,
    /// The source of the machine.
    pub origin: Origin,
    /// The path of `machine.yaml`. For a built-in machine it is the path in the repository.
    pub path: PathBuf,
    /// The text of `machine.yaml`, used to show problems. If it is not UTF-8, the text is lossy.
    pub text: String,
    /// The files under `prompts/` and `schemas/`, by path within the directory.
    pub files: Vec<(String, Vec<u8>)>,
    /// The file's bytes if they are not UTF-8.
    not_text: Option<Vec<u8>>,
}

impl Source {
    fn new(name: String, origin: Origin, path: PathBuf, bytes: Vec<u8>, files: Vec<(String, Vec<u8>)>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Source { name, origin, path, text, files, not_text: None },
            Err(error) => {
                let bytes = error.into_bytes();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Source { name, origin, path, text, files, not_text: Some(bytes) }
            }
        }
    }

    /// Parses and validates the machine.
    pub fn read(&self) -> ReadResult {
        match &self.not_text {
            Some(bytes) => yaml::read_bytes(bytes),
            None => yaml::read_folder(&self.text, &self.files),
        }
    }

    /// Returns the path as diagnostics show it.
    pub fn file_name(&self) -> String {
        self.path.display().to_string()
    }
}

/// A machine that can be loaded by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The machine's name, which is its directory's name.
    pub name: String,
    /// The source of the machine.
    pub origin: Origin,
    /// The path of `machine.yaml`.
    pub path: PathBuf,
}

/// The reason why a machine could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no machine with this name.
    #[error("there is no machine called `{name}`")]
    Unknown {
        /// The name that was looked up.
        name: String,
        /// A suggested fix for the user.
        hint: String,
    },
    /// A file or directory exists but cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The path of the unreadable file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The path is not a readable file: a link, a pipe, or too long.
    #[error(transparent)]
    Refused(#[from] interlock_beneath::Error),
    /// The directory exceeds a limit.
    #[error("{} has more than {limit}", path.display())]
    TooMuch {
        /// The path of the directory.
        path: PathBuf,
        /// The limit that was exceeded.
        limit: &'static str,
    },
}

impl Error {
    /// Returns a suggested fix, if there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Unknown { hint, .. } => Some(hint),
            Error::Unreadable { .. } | Error::Refused(_) | Error::TooMuch { .. } => None,
        }
    }
}

/// Lists every machine that can be named from `dir`, by name. A project's machine hides the built-in one of the same
/// name.
pub fn list(dir: &Path) -> Vec<Listed> {
    let mut found: Vec<Listed> = Vec::new();
    for folder in projects(dir).map(|project| project.join(PROJECT_MACHINES)) {
        for name in folder::machines_in(&folder) {
            let path = folder.join(&name).join(MACHINE_FILE);
            if !found.iter().any(|listed| listed.name == name) {
                found.push(Listed { name, origin: Origin::Project, path });
            }
        }
    }
    for name in builtin::names() {
        if !found.iter().any(|listed| listed.name == name) {
            found.push(Listed { name: name.to_owned(), origin: Origin::BuiltIn, path: builtin::path(name) });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Loads a machine by its name, or by a path to its directory or its file (relative to `dir`).
pub fn load(name_or_path: &str, dir: &Path) -> Result<Source, Error> {
    if looks_like_path(name_or_path) {
        return from_path(name_or_path, dir);
    }
    for project in projects(dir) {
        let folder = Path::new(PROJECT_MACHINES).join(name_or_path);
        if fs::symlink_metadata(project.join(&folder).join(MACHINE_FILE)).is_ok() {
            return folder::load(name_or_path.to_owned(), Origin::Project, project, &folder);
        }
    }
    if let Some(source) = builtin::load(name_or_path) {
        return Ok(source);
    }
    if dir.join(name_or_path).exists() { from_path(name_or_path, dir) } else { Err(unknown(name_or_path, dir)) }
}

fn looks_like_path(text: &str) -> bool {
    text.contains(['/', '\\']) || text.ends_with(".yaml") || text.ends_with(".yml") || matches!(text, "." | "..")
}

fn from_path(text: &str, dir: &Path) -> Result<Source, Error> {
    let path = dir.join(text);
    if path.is_dir() {
        return folder::load(text.to_owned(), Origin::Path, &path, Path::new(""));
    }
    if path.file_name().is_some_and(|name| name == MACHINE_FILE)
        && let Some(folder) = path.parent()
    {
        return folder::load(text.to_owned(), Origin::Path, folder, Path::new(""));
    }
    folder::load_file(text.to_owned(), &path)
}

fn unknown(name: &str, dir: &Path) -> Error {
    let known: Vec<String> = list(dir).into_iter().map(|listed| listed.name).collect();
    let near: Vec<(String, String)> = nearby(dir);
    let candidates = known.iter().chain(near.iter().map(|(bare, _)| bare)).map(String::as_str);
    let closest = interlock_suggest::closest(name, candidates).map(|closest| {
        let file = near.iter().find(|(bare, _)| bare == closest && !known.contains(bare));
        format!("did you mean `{}`?", file.map_or(closest, |(_, file)| file))
    });
    let hint = closest.unwrap_or_else(|| {
        format!("available machines are {}; you can also give the path of a directory or a file", known.join(", "))
    });
    Error::Unknown { name: name.to_owned(), hint }
}

/// Returns the machines beside the caller that are named by their path: directories and files, each also without ending.
fn nearby(dir: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().take(NEARBY_MAX);
    let machine = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        match name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")) {
            Some(bare) => Some((bare.to_owned(), name.clone())),
            None => entry.path().join(MACHINE_FILE).is_file().then(|| (name.clone(), name)),
        }
    };
    let mut found: Vec<_> = entries.filter_map(machine).collect();
    found.sort();
    found
}

/// Returns the directories that contain a project's machines, nearest first.
fn projects(dir: &Path) -> impl Iterator<Item = &Path> {
    dir.ancestors().filter(|dir| dir.join(PROJECT_MACHINES).is_dir())
}
