//! Gives files of the user's checkout the content of another tree.
//!
//! A program of a run may work in the checkout meanwhile. So git only reads objects here, and the files are written by
//! descriptor. What differs is known completely before the first file is written.

use std::{collections::BTreeSet, ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use interlock_beneath::{FileType, Folder};

use super::{View, apply::conflict, text};
use crate::{
    Error, Result, checkout,
    git::{Git, join, split},
};

/// The attributes by which git converts the content of a file without a program.
const CONVERSIONS: [&str; 3] = ["eol", "ident", "working-tree-encoding"];

/// The files that differ between two trees.
pub(super) struct Difference<'g> {
    git: &'g Git,
    /// The files of the first tree that are other ones in the second, or missing.
    before: Vec<checkout::File>,
    /// The files of the second tree that are other ones in the first, or missing.
    after: Vec<checkout::File>,
    /// The paths that only the first tree has.
    gone: Vec<Vec<u8>>,
    /// The paths that only the second tree has.
    new: Vec<Vec<u8>>,
    /// The paths whose content git converts.
    converted: BTreeSet<Vec<u8>>,
}

impl<'g> Difference<'g> {
    /// Compares two trees at the paths that are wanted.
    pub(super) fn of(git: &'g Git, from: &str, to: &str, is_wanted: impl Fn(&[u8]) -> bool) -> Result<Self> {
        let listed = git.paths(&["diff-tree", "-r", "-z", "--raw", "--no-renames", "--end-of-options", from, to])?;
        let (mut before, mut after, mut gone, mut new) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for pair in listed.chunks_exact(2).filter(|pair| is_wanted(&pair[1])) {
            let both = (checkout::File::before(&pair[0], &pair[1]), checkout::File::after(&pair[0], &pair[1]));
            match both {
                (Some(_), None) => gone.push(pair[1].clone()),
                (None, Some(_)) => new.push(pair[1].clone()),
                _ => {}
            }
            before.extend(both.0);
            after.extend(both.1);
        }
        let converted = converted(git, before.iter().chain(&after))?;
        Ok(Difference { git, before, after, gone, new, converted })
    }

    /// Gives the files of a checkout the content of the second tree. If that fails, they get that of the first.
    pub(super) fn write(&self, root: &Path) -> Result<()> {
        let folder = open(root)?;
        let removed = self.gone.iter().try_for_each(|path| checkout::remove(&folder, path));
        let is_free = removed.and_then(|()| self.new.iter().try_for_each(|path| refuse_taken(&folder, path)));
        if let Err(error) = is_free {
            // Nothing was written yet, so the new paths are somebody else's.
            self.put(&folder, &self.before)?;
            return Err(error);
        }
        self.put(&folder, &self.after).inspect_err(|_| drop(self.write_back(root)))
    }

    /// Gives the files of a checkout the content of the first tree again.
    pub(super) fn write_back(&self, root: &Path) -> Result<()> {
        let folder = open(root)?;
        self.new.iter().try_for_each(|path| checkout::remove(&folder, path))?;
        self.put(&folder, &self.before)
    }

    fn put(&self, folder: &Folder, files: &[checkout::File]) -> Result<()> {
        checkout::write_as(self.git, folder, files, |file, content| {
            match self.converted.contains(file.path.as_os_str().as_bytes()) {
                true => self.git.run(&["cat-file", "--filters", "--path", text(&file.path)?, &file.hash]),
                false => Ok(content),
            }
        })
    }
}

/// Returns the tree that a patch makes of a tree. Fails if it does not fit.
pub(super) fn patched(view: &View, tree: &str, options: &[&str], patch: &[u8]) -> Result<String> {
    let git = view.git.clone().index(&view.scratch.path().join("patched"));
    git.run(&["read-tree", tree])?;
    if !patch.is_empty() {
        let words = [&["apply", "--cached", "--whitespace=nowarn"][..], options, &["-"]].concat();
        git.run_with(&words, patch).map_err(|error| conflict(&error))?;
    }
    git.line(&["write-tree"])
}

/// Refuses a new path at which something is already, for example an ignored file, or on the way to which there is a file.
fn refuse_taken(folder: &Folder, path: &[u8]) -> Result<()> {
    let path = Path::new(OsStr::from_bytes(path));
    let is_taken = |place: &Path| match folder.kind(place) {
        Ok(None) => false,
        Ok(Some(FileType::Directory)) => place == path,
        _ => true,
    };
    match path.ancestors().filter(|place| !place.as_os_str().is_empty()).find(|place| is_taken(place)) {
        None => Ok(()),
        Some(place) => Err(Error::Worktree(format!(
            "nothing was changed, because {} is in the checkout and not in git; move it away and try again",
            place.display()
        ))),
    }
}

/// Returns the paths whose content git converts by their attributes.
fn converted<'f>(git: &Git, files: impl Iterator<Item = &'f checkout::File>) -> Result<BTreeSet<Vec<u8>>> {
    let paths = join(files.map(|file| file.path.as_os_str().as_bytes().to_vec()));
    if paths.is_empty() {
        return Ok(BTreeSet::new());
    }
    let said = split(&git.run_with(&[&["check-attr", "-z", "--stdin"][..], &CONVERSIONS].concat(), &paths)?);
    let is_converted = |fields: &&[Vec<u8>]| match fields {
        [_, name, value] if name == b"eol" => value == b"crlf",
        [_, name, value] if name == b"ident" => value == b"set",
        [_, _, value] => value != b"unspecified" && value != b"unset",
        _ => false,
    };
    Ok(said.chunks(3).filter(is_converted).map(|fields| fields[0].clone()).collect())
}

fn open(root: &Path) -> Result<Folder> {
    Folder::open(root).map_err(|error| Error::io("open", root, &error.into()))
}
