//! Where machines come from: built into the binary, a project's own, or a path. Reading files is the only thing this crate does
//! with the world, and it is all here.
//!
//! A project's machines live under `.interlock/machines/NAME/`, in the directory given or one above it. They come before
//! the built-in ones of the same name: that is how a project changes one.

mod builtin;
mod folder;

use crate::yaml::{self, Reading};
use std::{
    fs,
    path::{Path, PathBuf},
};

pub use builtin::{files as builtin_files, names as builtin_names};

/// The file that makes a folder a machine.
pub const MACHINE_FILE: &str = "machine.yaml";

/// Where a project keeps its machines.
pub const PROJECT_MACHINES: &str = ".interlock/machines";

/// Where a machine comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Embedded in the binary.
    BuiltIn,
    /// The project's own.
    Project,
    /// A path that was named.
    Path,
}

impl Origin {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Origin::BuiltIn => "built-in",
            Origin::Project => "project",
            Origin::Path => "path",
        }
    }
}

/// A machine's files, not yet read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name it was found by: the folder's, for a path the path's.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Where `machine.yaml` is; for a built-in machine its place in the repository.
    pub path: PathBuf,
    /// The text of `machine.yaml`, for showing problems in it; where it is not UTF-8, as much as can be shown.
    pub text: String,
    /// What stands under `prompts/` and `schemas/`, by path within the folder.
    pub files: Vec<(String, Vec<u8>)>,
    /// The file's own bytes where they are no text.
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

    /// Reads and validates it.
    pub fn read(&self) -> Reading {
        match &self.not_text {
            Some(bytes) => yaml::read_bytes(bytes),
            None => yaml::read_folder(&self.text, &self.files),
        }
    }

    /// The path as problems show it.
    pub fn file_name(&self) -> String {
        self.path.display().to_string()
    }
}

/// A machine that can be named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name: the folder's.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Where `machine.yaml` is.
    pub path: PathBuf,
}

/// Why a machine could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing has this name.
    #[error("there is no machine called `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// What to do about it.
        hint: String,
    },
    /// Something is there and cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// What.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no file that is read: a link, a pipe, or too long.
    #[error(transparent)]
    Refused(#[from] interlock_regular_file::Error),
    /// The folder has more in it than is taken.
    #[error("{} has more than {limit}", path.display())]
    TooMuch {
        /// The folder.
        path: PathBuf,
        /// What it has too much of.
        limit: &'static str,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Unknown { hint, .. } => Some(hint),
            Error::Unreadable { .. } | Error::Refused(_) | Error::TooMuch { .. } => None,
        }
    }
}

/// Every machine that can be named from `dir`, by name; a project's own hides the built-in one of the same name.
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

/// Loads a machine by its name, or by a path to its folder or its file (relative to `dir`).
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
    let hint = yaml::suggest::did_you_mean(name, known.iter().map(String::as_str)).unwrap_or_else(|| {
        format!("the machines here are {}; a path to a folder or a file works too", known.join(", "))
    });
    Error::Unknown { name: name.to_owned(), hint }
}

/// The folders that have machines of a project in them, nearest first.
fn projects(dir: &Path) -> impl Iterator<Item = &Path> {
    dir.ancestors().filter(|dir| dir.join(PROJECT_MACHINES).is_dir())
}
