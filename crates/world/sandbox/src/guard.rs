//! Guards files that a program must not change although they lie in a place that it may change (`protected.rs` lists
//! them).
//!
//! Landlock cannot express this. So the content of these files is read before the program starts, and restored when no
//! process of the program is left. Each change is a breach. Other programs may work in the same workspace, so symbolic
//! links on the way are not followed, and what an earlier attempt has read is taken from it (`baseline.rs`).

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use interlock_beneath::{Error, FileType, Folder, Mode, Result};

use crate::{
    Breach, PROJECT_PROTECTED,
    baseline::{Baseline, Claims, Member, Shared},
    placed::PlacedFolder,
    protected::Protected,
    saved::{BYTES_MAX, BoundedReader, HERE, Identity, SavedNode, is_nothing},
};

/// The rule that protects what git reads and runs.
pub(crate) const GIT_PROTECTED: &str = "git.protected";

/// How often a path is restored if it has changed again at once.
const ROUNDS_MAX: usize = 3;

/// The guarded paths with their content.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    kept: Vec<(Protected, SavedNode)>,
    /// The directories that stay at their paths, from the top.
    placed: Vec<PlacedFolder>,
    /// The directories on the way to them, from the top, with their modes.
    folders: BTreeMap<PathBuf, u32>,
    /// Paths below them that the program may change nevertheless.
    open: Vec<PathBuf>,
    /// Descriptions of the paths that could not be read.
    pub(crate) missing: Vec<String>,
    /// The membership in the baseline of the store.
    member: Option<Member>,
}

/// The reason why a program must not start. It is reported as a refusal of the sandbox.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

impl std::error::Error for Refusal {}

impl std::fmt::Display for Refusal {
    fn fmt(&self, form: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        form.write_str(&self.0)
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        io::Error::other(refusal)
    }
}

impl Guard {
    /// Reads the content of the protected paths, except those that are open to the program. The program can change
    /// everything below `tops`. What other attempts protect there is protected, too.
    pub(crate) fn new(
        mut protected: Vec<Protected>,
        open: &[PathBuf],
        tops: &[PathBuf],
        claims: &mut Claims,
    ) -> std::result::Result<Self, Refusal> {
        let others = claims.below(tops).into_iter().filter(|(path, _)| !open.contains(path));
        protected.extend(others.map(|(path, rule)| Protected { path, rule: known(&rule) }));
        protected.sort();
        protected.dedup_by(|one, other| one.path == other.path);
        let is_below = |place: &&PathBuf| protected.iter().any(|protected| place.starts_with(&protected.path));
        let mut guard = Guard { open: open.iter().filter(is_below).cloned().collect(), ..Guard::default() };
        let above = protected.iter().flat_map(|protected| protected.path.ancestors().skip(1));
        let above = above.filter(|folder| tops.iter().any(|top| folder.starts_with(top)));
        let modes = above.filter_map(|folder| Some((folder.to_owned(), claims.folder(folder, folder_mode(folder)?))));
        guard.folders = modes.collect();
        let mut reading = BoundedReader::new(&guard.open);
        for protected in protected {
            let path = &protected.path;
            match claims.file((path, protected.rule), &guard.open, &mut reading) {
                Ok(kept) => guard.kept.push((protected, kept)),
                // A guard that ends at a limit would be one that a program can switch off.
                Err(error @ (Error::TooLong { .. } | Error::TooMany { .. })) => return Err(too_much(path, &error)),
                Err(error) => guard.missing.push(format!("{} cannot be stored: {error}", path.display())),
            }
        }
        let unread = reading.unread.iter().map(|path| {
            format!("the content of {} is not guarded: it cannot be read, or it is too deep", path.display())
        });
        guard.missing.extend(unread);
        Ok(guard)
    }

    /// Guards the places of these directories, too, which are sorted from the top.
    pub(crate) fn with_placed(self, placed: Vec<PlacedFolder>) -> Self {
        Guard { placed, ..self }
    }

    /// Lets later attempts restore what this one has read.
    pub(crate) fn shared(self, shared: Shared) -> io::Result<Self> {
        Ok(Guard { member: Some(shared.written()?), ..self })
    }

    /// Ends the membership, after the restore.
    pub(crate) fn leave(&mut self) {
        self.member = None;
    }

    /// Returns the guarded paths that exist.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.kept.iter().filter(|(_, kept)| *kept != SavedNode::Nothing).map(|(protected, _)| protected.path.as_path())
    }

    /// Restores the files that have changed. Returns the breaches.
    pub(crate) fn restore(&self) -> Vec<Breach> {
        // What was in the right place is there again before its content is compared.
        let mut breaches: Vec<_> = self.placed.iter().filter_map(PlacedFolder::restore).collect();
        // A directory without access permission would hide its content.
        for (folder, mode) in self.folders.iter().filter(|(folder, mode)| folder_mode(folder) != Some(**mode)) {
            let _ = Folder::above(folder)
                .and_then(|(above, name)| above.folder(&name)?.set_mode(HERE.as_ref(), bits(*mode)));
        }
        let changed = self.kept.iter().filter_map(|(protected, kept)| self.restore_one(protected, kept));
        breaches.extend(changed);
        breaches
    }

    fn restore_one(&self, protected: &Protected, kept: &SavedNode) -> Option<Breach> {
        let path = &protected.path;
        // A file that has grown beyond the maximum size has changed too.
        let is_same = || BoundedReader::new(&self.open).read(path).is_ok_and(|found| kept.is_kept_by(&found));
        if is_same() {
            return None;
        }
        // Another program may put a directory in place of the one that is being restored.
        let restored = (0..ROUNDS_MAX).map(|_| self.write(path, kept)).find(|result| result.is_err() || is_same());
        let said = match restored {
            Some(Ok(())) => format!("{} was changed and restored", path.display()),
            Some(Err(error)) => format!("{} was changed and could not be restored: {error}", path.display()),
            None => {
                format!("{} was changed and could not be restored: another program keeps changing it", path.display())
            }
        };
        Some(Breach { path: Some(path.clone()), ..Breach::new(protected.rule, said) })
    }

    fn write(&self, path: &Path, kept: &SavedNode) -> Result<()> {
        let (above, name) = match (Folder::above(path), kept) {
            (Err(error), SavedNode::Nothing) if is_nothing(&error) => return Ok(()),
            (Err(_), SavedNode::Nothing) => return remove_above(path),
            (Err(_), _) => {
                replace_parent(path)?;
                Folder::above(path)?
            }
            (Ok(found), _) => found,
        };
        self.put(&above, &name, path, kept)
    }

    /// Restores what is at a name in a directory. `path` is the whole path.
    fn put(&self, above: &Folder, name: &Path, path: &Path, kept: &SavedNode) -> Result<()> {
        if let SavedNode::Unread(identity) = kept {
            return put_unread(above, name, path, identity);
        }
        let is_folder = above.kind(name)? == Some(FileType::Directory);
        if is_folder != matches!(kept, SavedNode::Folder { .. }) {
            above.remove_all(name)?;
        }
        match kept {
            SavedNode::Nothing | SavedNode::Unread(_) => above.remove_all(name),
            SavedNode::Link(target) => above.write_link(name, target),
            SavedNode::File { content, mode, .. } => above.write_as(name, content, bits(*mode)),
            SavedNode::Folder { entries, mode } => {
                if !is_folder {
                    above.make_folder(name)?;
                }
                self.put_folder(&above.folder(name)?, path, entries, *mode)
            }
        }
    }

    /// Restores a directory entry by entry, because entries that may be changed stay. An entry that cannot be restored
    /// does not keep the others from it.
    fn put_folder(&self, here: &Folder, path: &Path, entries: &BTreeMap<OsString, SavedNode>, mode: u32) -> Result<()> {
        here.set_mode(HERE.as_ref(), Mode::RWXU)?;
        let is_new = |name: &OsString| {
            !entries.contains_key(name) && !self.open.iter().any(|open| open.starts_with(path.join(name)))
        };
        let new = here.names(HERE.as_ref())?.into_iter().filter(is_new);
        let mut done: Vec<_> = new.map(|name| here.remove_all(name.as_ref())).collect();
        done.extend(entries.iter().map(|(name, kept)| self.put(here, name.as_ref(), &path.join(name), kept)));
        done.push(here.set_mode(HERE.as_ref(), bits(mode)));
        done.into_iter().collect()
    }
}

/// Restores what killed supervisors could not restore. Returns what was done, for people.
pub(crate) fn restore_abandoned(shared: &Shared) -> Vec<String> {
    let guard = Guard::of(&shared.abandoned);
    let mut said = Vec::new();
    for (protected, kept) in &guard.kept {
        let path = &protected.path;
        let now = BoundedReader::new(&guard.open).read(path);
        if now.as_ref().is_ok_and(|now| kept.is_kept_by(now)) {
            continue;
        }
        let aside = now.ok().and_then(|now| shared.keep_replaced(path, &now).ok());
        let aside = aside.map(|aside| format!("; what it was is {} now", aside.display())).unwrap_or_default();
        let restored = guard.restore_one(protected, kept).map(|breach| breach.said).unwrap_or_default();
        said.push(format!("the supervisor of an earlier program was killed, so {restored} only now{aside}"));
    }
    said
}

impl Guard {
    /// Returns a guard of what a baseline holds.
    fn of(baseline: &Baseline) -> Self {
        let kept = baseline
            .files()
            .map(|(path, saved)| (Protected { path: path.to_owned(), rule: known(&saved.rule) }, saved.node.clone()));
        Guard {
            kept: kept.collect(),
            folders: baseline.folders().map(|(path, mode)| (path.to_owned(), mode)).collect(),
            open: baseline.files().flat_map(|(_, saved)| saved.open.clone()).collect(),
            ..Guard::default()
        }
    }
}

/// Returns the rule with this name.
fn known(rule: &str) -> &'static str {
    if rule == GIT_PROTECTED { GIT_PROTECTED } else { PROJECT_PROTECTED }
}

fn too_much(path: &Path, error: &Error) -> Refusal {
    let mib = BYTES_MAX >> 20;
    Refusal(format!(
        "{} must be guarded while a program works, but the guarded files have too much content (at most {mib} MiB): {error}. \
         Make it smaller, or let the program change it with `write`",
        path.display()
    ))
}

/// Leaves what was only recognized. What is of another kind was put in its place.
fn put_unread(above: &Folder, name: &Path, path: &Path, identity: &Identity) -> Result<()> {
    let now = Identity::at(above, name);
    if now == Some(*identity) {
        return Ok(());
    }
    if now.is_some_and(|now| !now.is_kind_of(identity)) {
        above.remove_all(name)?;
    }
    let source = io::Error::other("it was replaced, and its content was not stored");
    Err(Error::System { path: path.to_owned(), source })
}

fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode(mode)
}

/// Returns the mode of a directory that is reached without symbolic links, or `None` if the path is not a directory.
fn folder_mode(path: &Path) -> Option<u32> {
    let (above, name) = Folder::above(path).ok()?;
    let about = above.stat(&name).ok()?;
    (FileType::from_raw_mode(about.st_mode) == FileType::Directory).then_some(about.st_mode & 0o7777)
}

/// Restores a parent directory that was removed or replaced: removes a file in its place and creates the directory.
fn replace_parent(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let (above, name) = match Folder::above(folder) {
        Err(_) if folder.parent().is_some_and(|above| above != Path::new("/")) => {
            replace_parent(folder)?;
            Folder::above(folder)?
        }
        other => other?,
    };
    above.replace_folders(&name)
}

/// Removes a symbolic link that was created in place of a directory that did not exist before.
fn remove_above(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    match Folder::above(folder) {
        Ok((above, name)) if above.kind(&name)? == Some(FileType::Symlink) => above.remove_file(&name).map(drop),
        Ok(_) => Ok(()),
        Err(error) if is_nothing(&error) => Ok(()),
        Err(_) => remove_above(folder),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::symlink,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use rustix::fs::{CWD, RenameFlags};

    use super::*;
    use crate::saved::NAMES_MAX;

    const HOOKS: usize = 200;

    fn guard(top: &Path) -> Guard {
        let hooks = Protected { path: top.join(".git/hooks"), rule: "git.protected" };
        Guard::new(vec![hooks], &[], &[top.to_owned()], &mut Claims::default()).unwrap()
    }

    /// A second program replaces the directory of hooks by a link while the supervisor restores it.
    #[test]
    fn a_restore_removes_nothing_behind_a_link() {
        let (work, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let top = fs::canonicalize(work.path()).unwrap();
        let (hooks, link) = (top.join(".git/hooks"), top.join(".git/link"));
        fs::create_dir_all(&hooks).unwrap();
        fs::write(hooks.join("pre-commit"), "mine").unwrap();
        symlink(elsewhere.path(), &link).unwrap();
        let guard = guard(&top);
        let name = |n: usize| format!("hook-{n:03}");
        (0..HOOKS).for_each(|n| fs::write(elsewhere.path().join(name(n)), "theirs").unwrap());
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = rustix::fs::renameat_with(CWD, &hooks, CWD, &link, RenameFlags::EXCHANGE);
                }
            });
            for _ in 0..50 {
                for folder in [&hooks, &link].into_iter().filter(|folder| !folder.is_symlink()) {
                    (0..HOOKS).for_each(|n| drop(fs::File::create_new(folder.join(name(n)))));
                }
                let _ = guard.restore();
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), HOOKS);
        assert!((0..HOOKS).all(|n| fs::read_to_string(elsewhere.path().join(name(n))).unwrap() == "theirs"));
        // As soon as nobody interferes, everything is as before.
        guard.restore();
        assert_eq!(guard.restore(), []);
        assert_eq!(fs::read_to_string(hooks.join("pre-commit")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&hooks).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_of_too_many_names_is_restored() {
        let work = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(work.path()).unwrap();
        let guard = guard(&top);
        fs::create_dir_all(top.join(".git/hooks")).unwrap();
        (0..=NAMES_MAX).for_each(|n| drop(fs::File::create(top.join(".git/hooks").join(n.to_string())).unwrap()));
        assert_eq!(guard.restore().len(), 1);
        assert!(!top.join(".git/hooks").exists());
    }
}
