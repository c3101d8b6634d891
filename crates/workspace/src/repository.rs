//! Records the state of the user's repository before an attempt, and repairs it if a program has damaged it.
//!
//! A program may commit, switch and merge, so a repository that still works is left unchanged. A repository is damaged
//! if git cannot read its `HEAD`, index or configuration, if references are gone although their logs exist, or if
//! objects of the commit that was checked out are missing. These parts are restored from the private directory. Earlier
//! commits are not stored there. If they are gone, the repaired history begins at the commit that was checked out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    Error, Moved, Result, git::Git, listing::Staged, place::Repository, private::Private, workspace::name_part,
};

/// The directory within a private directory that holds the recorded states of the repository.
pub(crate) const FOLDER: &str = "repository";

/// Maximum number of objects of a commit that are copied. The objects of a larger commit are not restored.
const OBJECTS_MAX: usize = 100_000;

/// Packs objects without searching for deltas, which would take most of the time.
const PACK: [&str; 4] = ["pack-objects", "--stdout", "--window=0", "-q"];

/// Maximum number of references that are recorded.
const REFERENCES_MAX: usize = 20_000;

/// The recorded state of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// Its location. A program may have replaced it with a link to another repository since.
    repository: Option<Repository>,
    head: String,
    config: String,
    /// The references with their values: a hash or the name of another reference.
    references: BTreeMap<String, String>,
    /// The commit that was checked out, if its objects are stored.
    commit: Option<String>,
    /// The names of the packs and of the directories of loose objects.
    objects: BTreeSet<String>,
    /// The name of the copy of its index.
    index: Option<String>,
}

impl Standing {
    /// Reads the current state of the user's repository. Parts that cannot be read are not recorded.
    pub(crate) fn of(private: &Private) -> Result<Option<Self>> {
        let Some(repository) = &private.place.repository else { return Ok(None) };
        let folder = private.folder.join(FOLDER);
        let wrong = |error: io::Error| Error::io("write in", &folder, &error);
        fs::create_dir_all(&folder).map_err(wrong)?;
        let (head, references) = (text(&repository.own_git_dir.join("HEAD")), references(&repository.git_dir));
        Ok(Some(Standing {
            repository: Some(repository.clone()),
            commit: brought(&folder, &head, &references).or_else(|| bring_head(private, repository, &folder)),
            head,
            config: text(&repository.git_dir.join("config")),
            references,
            objects: objects(&repository.git_dir),
            index: copy_index(repository, &folder).map_err(wrong)?,
        }))
    }

    /// Saves this state with a snapshot.
    pub(crate) fn write(&self, private: &Private, name: &str) -> Result<()> {
        let path = private.folder.join(FOLDER).join(name_part(name));
        let written = serde_json::to_vec(self).map_err(io::Error::from).and_then(|json| put(&path, &json));
        written.map_err(|error| Error::io("write", &path, &error))
    }
}

/// The repository as it stood at a snapshot.
fn standing_at(private: &Private, snapshot: &str) -> Option<Standing> {
    let json = fs::read(private.folder.join(FOLDER).join(name_part(snapshot))).ok()?;
    serde_json::from_slice(&json).ok()
}

/// The branches that were made or moved since a snapshot. To be called after `repair`: a damaged branch has not moved.
pub(crate) fn moved_branches(private: &Private, before: &str) -> Vec<Moved> {
    let Some(standing) = standing_at(private, before) else { return Vec::new() };
    let Some(repository) = &standing.repository else { return Vec::new() };
    let now = references(&repository.git_dir).into_iter().filter(|(name, _)| name.starts_with("refs/heads/"));
    let moved = now.filter_map(|(reference, after)| {
        let before = standing.references.get(&reference).cloned();
        (before.as_ref() != Some(&after) && is_reference(&after)).then_some(Moved { reference, before, after })
    });
    moved.collect()
}

/// Puts back what is broken in the user's repository since a snapshot. Says what that was.
pub(crate) fn repair(private: &Private, before: &str) -> Vec<String> {
    let folder = private.folder.join(FOLDER);
    let Some(standing) = standing_at(private, before) else { return Vec::new() };
    let Some(repository) = &standing.repository else { return Vec::new() };
    let mut repair = Repair { private, repository, standing: &standing, folder: &folder, said: Vec::new() };
    repair.all();
    repair.said
}

struct Repair<'r> {
    private: &'r Private,
    repository: &'r Repository,
    standing: &'r Standing,
    folder: &'r Path,
    said: Vec<String>,
}

impl Repair<'_> {
    fn all(&mut self) {
        let git_dir = &self.repository.git_dir;
        if make_folder(git_dir) {
            self.said.push(format!("{} was missing and was recreated", git_dir.display()));
        }
        // Nothing is written through a link, because it may lead to another repository.
        let folders = [git_dir, &self.repository.own_git_dir];
        if let Some(other) = folders.into_iter().find(|folder| fs::canonicalize(folder).ok().as_ref() != Some(*folder))
        {
            self.said.push(format!("{} now points elsewhere and was not changed", other.display()));
            return;
        }
        for name in ["refs", "refs/heads", "objects", "objects/pack", "objects/info"] {
            if make_folder(&git_dir.join(name)) && ["refs", "objects"].contains(&name) {
                self.said.push(format!("{} was missing and was recreated", git_dir.join(name).display()));
            }
        }
        self.config();
        self.head();
        let lost = self.lost_references();
        let has_lost_objects = !self.standing.objects.is_subset(&objects(git_dir));
        if !lost.is_empty() || has_lost_objects || !self.said.is_empty() {
            self.objects();
        }
        self.references(lost);
        self.index();
    }

    fn file(&mut self, path: &Path, content: &[u8], what: &str) {
        let done = match put(path, content) {
            Ok(()) => "restored".to_owned(),
            Err(error) => format!("could not be restored: {error}"),
        };
        self.said.push(format!("{what} of the repository was damaged and {done}"));
    }

    /// Restores the configuration if git cannot read it, because then no other git command works.
    fn config(&mut self) {
        let path = self.repository.git_dir.join("config");
        let is_read = || {
            Git::discover(&self.private.place.root).run(&["config", "--file", &path.display().to_string(), "--list"])
        };
        let has_changed = text(&path) != self.standing.config;
        if has_changed && !self.standing.config.is_empty() && (!path.is_file() || is_read().is_err()) {
            self.file(&path, self.standing.config.as_bytes(), "the configuration");
        }
    }

    fn head(&mut self) {
        let path = self.repository.own_git_dir.join("HEAD");
        let is_whole =
            is_reference(text(&path).trim_end()) && fs::symlink_metadata(&path).is_ok_and(|about| about.is_file());
        if !is_whole && !self.standing.head.is_empty() {
            self.file(&path, self.standing.head.as_bytes(), "HEAD");
        }
    }

    /// Returns the references that are missing or empty. If git deleted a reference, its log is gone too.
    fn lost_references(&self) -> Vec<(String, String)> {
        let now = references(&self.repository.git_dir);
        let logs = self.repository.git_dir.join("logs");
        let has_log = |name: &str| logs.join(name).is_file();
        let is_broken = !self.said.is_empty() || !self.repository.git_dir.join("refs/heads").is_dir();
        let is_lost = |name: &str| match now.get(name) {
            Some(says) => !is_reference(says),
            None => is_broken || has_log(name),
        };
        let lost = self.standing.references.iter().filter(|(name, _)| is_lost(name));
        lost.map(|(name, says)| (name.clone(), says.clone())).collect()
    }

    fn references(&mut self, lost: Vec<(String, String)>) {
        let git_dir = self.repository.git_dir.clone();
        for (name, says) in lost {
            let mut folder = git_dir.clone();
            for part in Path::new(&name).parent().into_iter().flatten() {
                folder.push(part);
                make_folder(&folder);
            }
            self.file(&git_dir.join(&name), format!("{says}\n").as_bytes(), &format!("the reference {name}"));
        }
    }

    /// Restores the objects of the commit that was checked out, if some are missing.
    fn objects(&mut self) {
        let Some(commit) = &self.standing.commit else { return };
        let theirs = Git::new(&self.private.place.root, &self.repository.git_dir);
        if listed(&theirs, commit, None).is_ok() {
            return;
        }
        let ours = self.private.git();
        let brought = listed(&ours, commit, None).and_then(|mut all| {
            all.extend(self.staged()?);
            let pack = ours.run_with(&PACK, &all)?;
            theirs.run_with(&["index-pack", "--stdin"], &pack)
        });
        let said = match brought {
            Err(error) => format!("objects of commit {commit} are missing and could not be restored: {error}"),
            Ok(_) if theirs.run(&["rev-list", "--quiet", commit]).is_ok() => {
                format!("objects of commit {commit} were missing and were restored")
            }
            Ok(_) => {
                let shallow = put(&self.repository.git_dir.join("shallow"), format!("{commit}\n").as_bytes());
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
        let entries = self.private.git().index(&self.folder.join(copy)).paths(&["ls-files", "--stage", "-z"])?;
        // The hash of a submodule is a commit of another repository.
        let files = entries.iter().filter_map(|entry| Staged::parse(entry)).filter(|file| file.mode != "160000");
        let hashes: String = files.map(|file| file.hash + "\n").collect();
        let found = self.private.git().run_with(&["cat-file", "--batch-check=%(objectname)"], hashes.as_bytes())?;
        let is_kept = |line: &&[u8]| !line.is_empty() && !line.contains(&b' ');
        Ok(found
            .split(|byte| *byte == b'\n')
            .filter(is_kept)
            .flat_map(|line| [line, b"\n"])
            .flatten()
            .copied()
            .collect())
    }

    fn index(&mut self) {
        let Some(copy) = &self.standing.index else { return };
        let path = self.repository.own_git_dir.join("index");
        let git = Git::new(&self.private.place.root, &self.repository.own_git_dir);
        if stamp(&path).as_ref() == Some(copy) || (path.is_file() && git.run(&["ls-files", "--stage"]).is_ok()) {
            return;
        }
        if let Ok(content) = fs::read(self.folder.join(copy)) {
            self.file(&path, &content, "the index");
        }
    }
}

/// Returns the checked-out commit if its objects have been copied already.
fn brought(folder: &Path, head: &str, references: &BTreeMap<String, String>) -> Option<String> {
    let head = head.trim_end();
    let commit = match head.strip_prefix("ref: ") {
        Some(name) => references.get(name)?,
        None => head,
    };
    (text(&folder.join("commit")) == commit).then(|| commit.to_owned())
}

/// Copies the objects of the checked-out commit to the private directory and returns that commit.
fn bring_head(private: &Private, repository: &Repository, folder: &Path) -> Option<String> {
    let theirs = Git::new(&private.place.root, &repository.own_git_dir);
    let commit = theirs.line(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]).ok()?;
    let last = text(&folder.join("commit"));
    if last == commit {
        return Some(commit);
    }
    let known = Some(last.as_str()).filter(|last| !last.is_empty());
    // The previous commit may have been removed since.
    let all = listed(&theirs, &commit, known).or_else(|_| listed(&theirs, &commit, None)).ok()?;
    if all.iter().filter(|byte| **byte == b'\n').count() > OBJECTS_MAX {
        return None;
    }
    let pack = theirs.run_with(&PACK, &all).ok()?;
    private.git().run_with(&["index-pack", "--stdin"], &pack).ok()?;
    // This reference protects the commit from pruning, and `shallow` stops git from searching for its history.
    put(&private.folder.join("shallow"), format!("{commit}\n").as_bytes()).ok()?;
    private.git().run(&["update-ref", "refs/repository/head", &commit]).ok()?;
    put(&folder.join("commit"), commit.as_bytes()).ok()?;
    Some(commit)
}

/// Lists the objects of a commit and of its tree, except those of another commit. Fails if an object is missing.
fn listed(git: &Git, commit: &str, but_for: Option<&str>) -> Result<Vec<u8>> {
    let not = but_for.map(|commit| format!("^{commit}^{{tree}}"));
    let tree = format!("{commit}^{{tree}}");
    let mut all = vec!["rev-list", "--objects", "--no-object-names", "--no-walk", commit, tree.as_str()];
    all.extend(not.as_deref());
    git.run(&all)
}

/// Returns every reference of a repository with its value.
fn references(git_dir: &Path) -> BTreeMap<String, String> {
    let packed = text(&git_dir.join("packed-refs"));
    let packed = packed.lines().filter(|line| !line.starts_with(['#', '^'])).filter_map(|line| line.split_once(' '));
    let mut found: BTreeMap<String, String> = packed.map(|(hash, name)| (name.to_owned(), hash.to_owned())).collect();
    let mut folders = vec![git_dir.join("refs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            match kind {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && found.len() < REFERENCES_MAX => {
                    let Some(name) = path.strip_prefix(git_dir).ok().and_then(Path::to_str) else { continue };
                    found.insert(name.to_owned(), text(&path).trim_end().to_owned());
                }
                _ => {}
            }
        }
    }
    // References that earlier versions of Interlock made are no longer used.
    found.retain(|name, _| !name.starts_with("refs/interlock/"));
    found
}

/// Returns the names of the packs and of the directories of loose objects. `git gc` repacks objects, so a missing name
/// alone is no damage.
fn objects(git_dir: &Path) -> BTreeSet<String> {
    let names = |folder: &str| {
        let entries = fs::read_dir(git_dir.join(folder)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    names("objects").into_iter().chain(names("objects/pack")).collect()
}

/// Copies the index unless the same copy exists. Returns the name of the copy.
fn copy_index(repository: &Repository, folder: &Path) -> io::Result<Option<String>> {
    let index = repository.own_git_dir.join("index");
    let Some(name) = stamp(&index) else { return Ok(None) };
    if !folder.join(&name).exists() {
        put(&folder.join(&name), &fs::read(&index)?)?;
    }
    Ok(Some(name))
}

pub(crate) fn stamp(index: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let about = fs::symlink_metadata(index).ok().filter(fs::Metadata::is_file)?;
    Some(format!("index-{}-{}-{}-{}", about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}

/// Returns true if this is a valid value of a reference: a hash or the name of another reference.
fn is_reference(says: &str) -> bool {
    let is_hash = [40, 64].contains(&says.len()) && says.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash || says.strip_prefix("ref: ").is_some_and(|name| name.starts_with("refs/"))
}

/// Returns a file's text. Returns an empty text for a symbolic link.
fn text(path: &Path) -> String {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_file() => fs::read_to_string(path).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Replaces a file atomically. An existing symbolic link is replaced, not followed.
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if fs::symlink_metadata(path).is_ok_and(|about| about.is_dir()) {
        fs::remove_dir_all(path)?;
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Creates a directory if there is none and replaces any other file at the path. Returns true if it created the
/// directory.
fn make_folder(path: &PathBuf) -> bool {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => false,
        Ok(_) => fs::remove_file(path).and_then(|()| fs::create_dir(path)).is_ok(),
        Err(_) => fs::create_dir(path).is_ok(),
    }
}
