//! Puts back what a program has damaged or removed in the user's repository.

use std::{collections::BTreeSet, ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use interlock_beneath::{FileType, Folder};

use super::{
    FILE_BYTES_MAX, FOLDER, REMOVED, Standing, commit_of,
    copies::{self, Copies},
    locks, logs,
    objects::{self, existing, listed},
    open,
    references::{self, Compared, HEAD, PACKED, STASH, is_value},
    returned,
    state::{self, State},
    text, worktree, write,
};
use crate::{
    Result,
    git::{Git, join},
    listing::Staged,
    place::Repository,
    private::Private,
    workspace::name_part,
};

/// Puts back what is broken in the user's repository since a snapshot. Says what that was.
pub(crate) fn repair(private: &Private, before: &str) -> Vec<String> {
    let Some((standing, repository)) = Standing::at(private, before) else { return Vec::new() };
    let mut said = Vec::new();
    if make_folder(&repository.git_dir) {
        said.push(format!("{} was missing and was recreated", repository.git_dir.display()));
    }
    let (git, own) = match open(&repository) {
        Ok(opened) => opened,
        Err(error) => {
            said.push(format!("{} now points elsewhere and was not changed: {error}", repository.git_dir.display()));
            return said;
        }
    };
    let folder = private.folder.join(FOLDER);
    let (copies, repository, standing) = (Copies { folder: &folder }, &repository, &standing);
    let mut repair = Repair { private, repository, standing, copies, git, own, said };
    repair.all(before);
    repair.said
}

struct Repair<'r> {
    private: &'r Private,
    repository: &'r Repository,
    standing: &'r Standing,
    copies: Copies<'r>,
    /// The directory with the references.
    git: Folder,
    /// The directory with `HEAD`.
    own: Folder,
    said: Vec<String>,
}

/// The git mode of a repository in an index, and the paths of some.
const REPOSITORY: &str = "160000";
type Links = BTreeSet<Vec<u8>>;

/// A reference that is gone or that git cannot read, with the value that it had.
struct Lost {
    name: String,
    value: String,
    is_deleted: bool,
}

impl Repair<'_> {
    fn all(&mut self, before: &str) {
        self.locks();
        for name in ["refs", "refs/heads", "objects", "objects/pack", "objects/info"] {
            let path = self.repository.git_dir.join(name);
            if make_folder(&path) && ["refs", "objects"].contains(&name) {
                self.said.push(format!("{} was missing and was recreated", path.display()));
            }
        }
        self.config();
        self.head();
        self.packed();
        // Git waits for a pipe in place of one of these files.
        self.state(before);
        let lost = self.lost_references();
        let has_lost_objects = !self.standing.objects.is_subset(&objects::names(&self.git));
        if !lost.is_empty() || has_lost_objects || !self.said.is_empty() {
            self.objects();
        }
        self.references(lost);
        self.logs();
        self.shallow(before);
        self.index();
    }

    /// Removes the locks that were made since and that nobody holds: the processes of the attempt have ended.
    fn locks(&mut self) {
        let Some(before) = &self.standing.locks else { return };
        let new: Vec<_> = locks::read(&self.git, &self.own).into_iter().filter(|path| !before.contains(path)).collect();
        if new.is_empty() || locks::is_git_at_work(&self.repository.git_dir) {
            return;
        }
        self.said.extend(new.iter().filter_map(|path| match locks::remove(path) {
            Ok(true) => Some(format!("the lock {} was left behind and was removed", path.display())),
            Ok(false) => None,
            Err(error) => Some(format!("the lock {} was left behind; remove it: {error}", path.display())),
        }));
    }

    fn theirs(&self) -> Git {
        self.repository.git(&self.private.place.root)
    }

    fn file(&mut self, own: bool, path: &str, content: &[u8], what: &str) {
        let done = match write(if own { &self.own } else { &self.git }, path, content) {
            Ok(()) => "restored".to_owned(),
            Err(error) => format!("could not be restored: {error}"),
        };
        self.said.push(format!("{what} of the repository was damaged and {done}"));
    }

    /// Restores the configuration if git cannot read it, because then no other git command works.
    fn config(&mut self) {
        let now = text(&self.git, "config");
        if now == self.standing.config || self.standing.config.is_empty() {
            return;
        }
        let is_read = || self.private.git().run_with(&["config", "--file", "-", "--list"], now.as_bytes()).is_ok();
        if now.is_empty() || !is_read() {
            self.file(false, "config", self.standing.config.as_bytes(), "the configuration");
        }
    }

    fn head(&mut self) {
        if !is_value(text(&self.own, HEAD).trim_end()) && !self.standing.head.is_empty() {
            self.file(true, HEAD, self.standing.head.as_bytes(), "HEAD");
        }
    }

    /// Restores the packed references if git cannot read them, or if the file is gone.
    fn packed(&mut self) {
        let is_there = matches!(self.git.kind(Path::new(PACKED)), Ok(Some(_)));
        if references::packed(&self.git).is_some() && (is_there || self.standing.packed.is_none()) {
            return;
        }
        let before = self.standing.packed.as_ref().and_then(|copy| self.copies.read(copy)).unwrap_or_default();
        self.file(false, PACKED, &before, "the file with the packed references");
    }

    /// Returns the references that are missing or broken.
    fn lost_references(&mut self) -> Vec<Lost> {
        let (now, is_complete) = references::read(&self.git);
        if !is_complete {
            self.said
                .push("the repository has too many references now: not all that were made are recorded".to_owned());
        }
        let compared =
            Compared::new(&self.git, [&self.standing.head, &text(&self.own, HEAD)], worktree(self.repository));
        let has_log = |name: &str| matches!(self.git.kind(&Path::new("logs").join(name)), Ok(Some(_)));
        let is_damaged = !self.said.is_empty();
        let lost = self.standing.references.iter().filter(|(_, value)| is_value(value)).filter_map(|(name, value)| {
            let is_deleted = match now.get(name) {
                Some(value) => {
                    if is_value(value) {
                        return None;
                    }
                    false
                }
                None if !is_complete && references::value(&self.git, name).is_some() => return None,
                None if is_damaged || compared.is_put_back(name) || has_log(name) => true,
                None => return None,
            };
            Some(Lost { name: name.clone(), value: value.clone(), is_deleted })
        });
        let lost: Vec<Lost> = lost.collect();
        // Git waits for a pipe in place of a reference, and refuses to work with other content.
        for name in now.iter().filter(|(_, value)| value.is_empty()).map(|(name, _)| name) {
            if !self.standing.references.contains_key(name) && self.git.remove_file(Path::new(name)).is_ok() {
                self.said.push(format!("{name} is no reference that git can read, and was removed"));
            }
        }
        lost
    }

    fn references(&mut self, lost: Vec<Lost>) {
        let hashes = lost.iter().map(|lost| lost.value.clone()).filter(|value| !value.starts_with("ref: "));
        // If git cannot tell, the reference is worth more than nothing.
        let there = existing(&self.theirs(), hashes).ok();
        for Lost { name, value, is_deleted } in lost {
            let is_there = value.starts_with("ref: ") || there.as_ref().is_none_or(|there| there.contains(&value));
            let what = if is_deleted { "was deleted" } else { "of the repository was damaged" };
            let done = match is_there.then(|| self.put_reference(&name, &value)) {
                Some(Ok(())) => "restored".to_owned(),
                Some(Err(error)) => format!("could not be restored: {error}"),
                None => "could not be restored: its object is gone".to_owned(),
            };
            self.said.push(format!("the reference {name} ({value}) {what} and {done}"));
        }
    }

    /// Writes a reference. A reference in its way, such as `a/b` in that of `a`, is removed.
    fn put_reference(&mut self, name: &str, value: &str) -> std::io::Result<()> {
        let path = Path::new(name);
        let mut in_the_way: Vec<String> = Vec::new();
        for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            if !matches!(self.git.kind(above)?, None | Some(FileType::Directory)) {
                in_the_way.extend(above.to_str().map(str::to_owned));
            }
        }
        if self.git.kind(path)? == Some(FileType::Directory) {
            let below = self.git.list(path, usize::MAX, |_| true)?.into_iter();
            let files = below.filter(|entry| entry.kind != FileType::Directory);
            in_the_way.extend(files.filter_map(|entry| entry.path.into_os_string().into_string().ok()));
        }
        for other in in_the_way {
            let value = references::value(&self.git, &other).unwrap_or_default();
            self.git.remove_file(Path::new(&other))?;
            self.said.push(format!("the reference {other} ({value}) was in the way of {name} and was removed"));
        }
        write(&self.git, name, format!("{value}\n").as_bytes())
    }

    /// Restores removed entries of logs, and with them entries of the stash.
    fn logs(&mut self) {
        for lost in logs::lost(&self.git, &self.standing.logs, &self.copies) {
            let name = lost.path.trim_start_matches("logs/").to_owned();
            let is_gone = references::value(&self.git, &name).is_none() && name != HEAD;
            let is_put_back = name == STASH || !is_gone;
            if !is_put_back || (name == STASH && !self.has_objects(&lost)) {
                self.said.push(format!("the log of {name} has lost entries, which could not be restored"));
                continue;
            }
            let value = lost.value().filter(|value| name == STASH && is_value(value)).map(str::to_owned);
            let written = value.map_or(Ok(()), |value| self.put_reference(&name, &value));
            let done = match written.and_then(|()| lost.write(&self.git)) {
                Ok(()) => "restored".to_owned(),
                Err(error) => format!("could not be restored: {error}"),
            };
            match name == STASH {
                true => self.said.extend(lost.removed.iter().map(|line| {
                    let (about, text) = line.split_once('\t').unwrap_or((line, ""));
                    let commit = about.split(' ').nth(1).unwrap_or_default();
                    format!("the entry {commit} of the stash ({text}) was removed and {done}")
                })),
                false => self.said.push(format!("entries of the log of {name} were removed and {done}")),
            }
        }
    }

    fn has_objects(&self, lost: &logs::Lost) -> bool {
        let commits: BTreeSet<String> =
            lost.lines.iter().filter_map(|line| line.split(' ').nth(1)).map(str::to_owned).collect();
        let count = commits.len();
        existing(&self.theirs(), commits.into_iter()).is_ok_and(|found| found.len() == count)
    }

    /// Restores the state of a merge or rebase and the like. What a program has finished stays finished.
    fn state(&mut self, snapshot: &str) {
        let Some(before) = &self.standing.state else { return };
        let now = state::read(&self.own, &self.copies);
        let (head, (references, _)) = (text(&self.own, HEAD), references::read(&self.git));
        let commit = commit_of(&head, &references);
        let has_moved = commit.is_some() && commit != self.standing.head_commit();
        for name in state::differing(before, &now).into_iter().filter(|name| *name != state::SHALLOW) {
            let is_finished = has_moved && !now.contains_key(name) && !name.contains('/');
            if is_finished {
                continue;
            }
            let what = match before.contains_key(name) {
                true if now.contains_key(name) => "was changed",
                true => "was removed",
                false => "was made",
            };
            let path = self.repository.own_git_dir.join(name);
            self.said.push(match self.put_back(name, [before, &now], snapshot) {
                Ok(kept) => format!("{} {what} and put back to what it was{kept}", path.display()),
                Err(error) => format!("{} {what} and could not be put back: {error}", path.display()),
            });
        }
    }

    /// Puts a part of the state back. Says where a copy of what was there is, if there is one.
    fn put_back(&self, name: &str, states: [&State; 2], snapshot: &str) -> std::io::Result<String> {
        let aside = self.copies.folder.join(REMOVED).join(name_part(snapshot));
        state::put_back(&self.own, name, states, &aside, &self.copies)?;
        returned::note(self.copies.folder, name, states[0])?;
        Ok(match aside.join(name).exists() {
            true => format!("; a copy is in {}", aside.display()),
            false => String::new(),
        })
    }

    /// Corrects the list of the commits whose parents are missing: a fetch may add some or bring their parents.
    fn shallow(&mut self, snapshot: &str) {
        let Some(before) = &self.standing.state else { return };
        let now = state::read(&self.own, &self.copies);
        if before.get(state::SHALLOW) == now.get(state::SHALLOW) {
            return;
        }
        let is_file = matches!(self.own.kind(Path::new(state::SHALLOW)), Ok(None | Some(FileType::RegularFile)));
        let is = text(&self.own, state::SHALLOW);
        // Git waits for a pipe in its place.
        let wrong = self.put_back(state::SHALLOW, [before, &now], snapshot).err();
        let was = text(&self.own, state::SHALLOW);
        let listed = was.lines().chain(is.lines()).filter(|line| is_value(line)).map(str::to_owned).collect();
        let right = objects::without_parents(&self.theirs(), listed);
        if is_file && wrong.is_none() && right.iter().map(String::as_str).eq(is.lines().collect::<BTreeSet<_>>()) {
            // The change of the program was allowed.
            let _ = self.set_shallow(&right);
            return;
        }
        let path = self.repository.own_git_dir.join(state::SHALLOW);
        self.said.push(match wrong.map_or_else(|| self.set_shallow(&right), Err) {
            Ok(()) => format!("{} was changed and corrected", path.display()),
            Err(error) => format!("{} was changed and could not be corrected: {error}", path.display()),
        });
    }

    fn set_shallow(&self, commits: &BTreeSet<String>) -> std::io::Result<()> {
        match commits.is_empty() {
            true => self.own.remove_file(Path::new(state::SHALLOW)).map(drop).map_err(Into::into),
            false => {
                let lines: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
                write(&self.own, state::SHALLOW, lines.as_bytes())
            }
        }
    }

    /// Restores the objects of the commit that was checked out, if some are missing.
    fn objects(&mut self) {
        let Some(commit) = &self.standing.commit else { return };
        let theirs = self.repository.git(&self.private.place.root);
        if listed(&theirs, commit, None).is_ok() {
            return;
        }
        let ours = self.private.git();
        let brought = listed(&ours, commit, None).and_then(|mut all| {
            all.extend(self.staged()?);
            let pack = ours.run_with(&objects::PACK, &all)?;
            theirs.run_with(&["index-pack", "--stdin"], &pack)
        });
        let said = match brought {
            Err(error) => format!("objects of commit {commit} are missing and could not be restored: {error}"),
            Ok(_) if theirs.run(&["rev-list", "--quiet", commit]).is_ok() => {
                format!("objects of commit {commit} were missing and were restored")
            }
            Ok(_) => {
                let shallow = write(&self.git, state::SHALLOW, format!("{commit}\n").as_bytes());
                let history = if shallow.is_ok() { "its history begins there now" } else { "it has no history" };
                format!(
                    "objects of commit {commit} were missing and were restored; those of earlier commits are missing, and {history}"
                )
            }
        };
        self.said.push(said);
    }

    /// Returns the hashes of the objects that the index refers to, as far as they are stored.
    fn staged(&self) -> Result<Vec<u8>> {
        let Some(copy) = &self.standing.index else { return Ok(Vec::new()) };
        let index = self.private.git().index(&self.copies.path(copy));
        let entries = index.paths(&["ls-files", "--stage", "-z"])?;
        // The hash of a submodule is a commit of another repository.
        let files = entries.iter().filter_map(|entry| Staged::parse(entry)).filter(|file| file.mode != REPOSITORY);
        let found = existing(&self.private.git(), files.map(|file| file.hash))?;
        Ok(found.into_iter().map(|hash| hash + "\n").collect::<String>().into_bytes())
    }

    fn index(&mut self) {
        let copy = &self.standing.index;
        if self.own.stat(Path::new("index")).ok().map(|about| copies::name(&about)) == *copy {
            return;
        }
        if let Some(now) = self.read_index() {
            self.links(now);
        } else if let Some(content) = copy.as_ref().and_then(|copy| self.copies.read(copy)) {
            self.file(true, "index", &content, "the index");
        }
    }

    /// Takes repositories out of the index that a program has added: git would enter them at every `git status` and read
    /// their settings, which can name programs. One that came with a commit that was there before is not new.
    fn links(&mut self, now: Links) {
        let Ok(root) = Folder::open(&self.private.place.root) else { return };
        let is_there = |path: &Vec<u8>| {
            let git = Path::new(OsStr::from_bytes(path)).join(".git");
            !matches!(root.kind(&git), Ok(None))
        };
        let now: Links = now.into_iter().filter(is_there).collect();
        if now.is_empty() {
            return;
        }
        let before = self.standing.index.as_ref().and_then(|copy| self.links_in(&self.copies.path(copy)));
        let before = before.unwrap_or_default();
        for path in now.difference(&before).filter(|path| !self.is_committed(path)).cloned().collect::<Vec<_>>() {
            let removed =
                self.theirs().run_with(&["update-index", "--force-remove", "-z", "--stdin"], &join([path.clone()]));
            let done = match removed {
                Ok(_) => "was taken out of it".to_owned(),
                Err(error) => format!("could not be taken out of it; use `git rm --cached`: {error}"),
            };
            let path = String::from_utf8_lossy(&path).into_owned();
            self.said.push(format!("the repository {path} was added to the index and {done}"));
        }
    }

    /// Returns true if the commit that is checked out has a repository at a path and no program has committed it since.
    fn is_committed(&self, path: &[u8]) -> bool {
        let git = self.theirs();
        let path = String::from_utf8_lossy(path);
        let entry = git.paths(&["ls-tree", "-z", "HEAD", "--", &path]).unwrap_or_default();
        let known: String = self.standing.hashes().iter().map(|hash| format!("^{hash}\n")).collect();
        let log =
            ["log", "--format=", "--raw", "--no-renames", "-c", "--diff-filter=AT", "--ignore-missing", "--stdin"];
        let added = git.run_with(&log, format!("HEAD\n{known}--\n:(top,literal){path}\n").as_bytes());
        entry.iter().any(|entry| entry.starts_with(b"160000 ")) && added.is_ok_and(|added| added.is_empty())
    }

    /// Returns the repositories in the index; `None` if git cannot read it. It is read from a copy, which nobody exchanges
    /// meanwhile.
    fn read_index(&self) -> Option<Links> {
        let content = self.own.read(Path::new("index"), FILE_BYTES_MAX).ok()?;
        let scratch = self.private.scratch().ok()?;
        let copy = scratch.path().join("index");
        copies::put(&copy, &content).ok()?;
        self.links_in(&copy)
    }

    fn links_in(&self, index: &Path) -> Option<Links> {
        let entries = self.theirs().index(index).paths(&["ls-files", "--stage", "-z"]).ok()?;
        let staged = entries.iter().filter_map(|entry| Staged::parse(entry));
        Some(staged.filter(|file| file.mode == REPOSITORY).map(|file| file.path).collect())
    }
}

/// Creates a directory if there is none and replaces any other file at the path. Returns true if it created the
/// directory.
fn make_folder(path: &Path) -> bool {
    let (Some(above), Some(name)) = (path.parent(), path.file_name().map(Path::new)) else { return false };
    let Ok(above) = Folder::open(above) else { return false };
    match above.kind(name) {
        Ok(Some(FileType::Directory)) => false,
        Ok(Some(_)) => above.remove_file(name).is_ok() && above.make_folders(name).is_ok(),
        _ => above.make_folders(name).is_ok(),
    }
}
