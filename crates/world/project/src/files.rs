//! Reads the files in the root of a project, and remembers those that could not be read.

use std::{cell::RefCell, path::Path};

use interlock_beneath::{read, read_text};

/// The longest file that is read.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The files of a project.
pub(crate) struct Files<'p> {
    root: &'p Path,
    problems: RefCell<Vec<String>>,
}

impl<'p> Files<'p> {
    pub(crate) fn new(root: &'p Path) -> Self {
        Files { root, problems: RefCell::default() }
    }

    /// Returns the text of a file, or `None` if it does not exist or cannot be read.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        match read_text(self.root, Path::new(name), BYTES_MAX) {
            Ok(text) => text,
            Err(error) => {
                let problem = error.to_string();
                let mut problems = self.problems.borrow_mut();
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
                None
            }
        }
    }

    /// Returns the content of a file, or `None` if it does not exist or cannot be read.
    pub(crate) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        read(self.root, Path::new(path), BYTES_MAX).ok()
    }

    /// Returns true if a regular file of this name exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root.join(name).symlink_metadata().is_ok_and(|about| about.is_file())
    }

    /// Returns true if a directory of this name exists.
    pub(crate) fn has_folder(&self, name: &str) -> bool {
        self.root.join(name).symlink_metadata().is_ok_and(|about| about.is_dir())
    }

    /// Returns the names of the files in a directory of the project, sorted; empty if there is no such directory.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Returns the first file whose path begins and ends like this; `begin` can name a directory.
    pub(crate) fn matching(&self, begin: &str, end: &str) -> Option<String> {
        let (folder, begin) = begin.rsplit_once('/').unwrap_or((".", begin));
        let is_it =
            |name: &String| name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end);
        let name = self.names(folder).into_iter().find(is_it)?;
        Some(if folder == "." { name } else { format!("{folder}/{name}") })
    }

    /// Records a file that could be read and not understood.
    pub(crate) fn misread(&self, name: &str, why: impl std::fmt::Display) {
        self.problems.borrow_mut().push(format!("{name}: {why}"));
    }

    /// Returns the recorded problems.
    pub(crate) fn problems(self) -> Vec<String> {
        self.problems.into_inner()
    }
}
