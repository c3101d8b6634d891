//! The protected files as they were before the first of the open attempts, shared by all supervisors of a store.
//!
//! Programs of several attempts can work in one workspace at once. If each supervisor read the files when its own program
//! starts, it would take what another program has planted for what belongs there, and restore that at its end. So the
//! first one writes what it has read to the store, and later ones take it from there. Only paths that nobody has read
//! before are read from the disk.
//!
//! Each supervisor is a member as long as it holds the lock of its member file. The kernel frees the lock of one that was
//! killed. Entries that belong to killed members only are restored by the next supervisor (`guard.rs`). An entry without
//! members is removed, so that a person can change the file when no program works.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use interlock_beneath::{Folder, Mode};
use rustix::{
    fs::{FlockOperation, OFlags, flock, openat},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use crate::saved::{BYTES_MAX, BoundedReader, SavedNode, entries_as_text};

/// The directory in the store, and the names in it. It exists only while there are members.
const FOLDER: &str = "guarded";
const FILE: &str = "guarded/baseline.json";
const MEMBERS: &str = "guarded/members";

/// The directory of what a restore after a killed supervisor has replaced.
const REPLACED: &str = "guarded/replaced";

/// Maximum size of the file. A byte of content takes up to six in JSON.
const FILE_BYTES_MAX: u64 = 16 * BYTES_MAX;

/// How long a supervisor waits for others, which hold the lock for milliseconds.
const LOCK_MAX: Duration = Duration::from_secs(20);
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// What the open attempts protect.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Baseline {
    #[serde(with = "entries_as_text")]
    files: BTreeMap<PathBuf, Claimed<SavedPath>>,
    /// The modes of directories on the way.
    #[serde(with = "entries_as_text")]
    folders: BTreeMap<PathBuf, Claimed<u32>>,
    /// The identities of directories that stay at their paths.
    #[serde(with = "entries_as_text")]
    places: BTreeMap<PathBuf, Claimed<(u64, u64)>>,
}

/// A value with the names of the members that it is kept for.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Claimed<T> {
    value: T,
    members: BTreeSet<String>,
}

/// A protected path with its content.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedPath {
    pub(crate) rule: String,
    pub(crate) node: SavedNode,
    /// Paths below it that were not read, because the programs of all members may change them.
    pub(crate) open: Vec<PathBuf>,
}

/// The baseline in the hands of one member.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    baseline: Baseline,
    me: String,
}

impl Claims {
    /// Returns the paths below these directories that others protect, with their rules.
    pub(crate) fn below(&self, tops: &[PathBuf]) -> Vec<(PathBuf, String)> {
        let is_below = |path: &Path| tops.iter().any(|top| path.starts_with(top));
        let files = self.baseline.files.iter().filter(|(path, _)| is_below(path));
        files.map(|(path, saved)| (path.clone(), saved.value.rule.clone())).collect()
    }

    /// Returns what was at a path before the first of the open attempts, without the paths that are open to this program.
    pub(crate) fn file(
        &mut self,
        (path, rule): (&Path, &str),
        open: &[PathBuf],
        reader: &mut BoundedReader<'_>,
    ) -> interlock_beneath::Result<SavedNode> {
        let open: Vec<_> = open.iter().filter(|open| open.starts_with(path)).cloned().collect();
        match self.baseline.files.get_mut(path) {
            Some(claimed) => {
                claimed.value.fill(path, &open)?;
                claimed.members.insert(self.me.clone());
                let mut node = claimed.value.node.clone();
                node.prune(path, &open);
                Ok(node)
            }
            None => {
                let node = reader.read(path)?;
                let value = SavedPath { rule: rule.to_owned(), node: node.clone(), open };
                self.baseline.files.insert(path.to_owned(), self.claimed(value));
                Ok(node)
            }
        }
    }

    /// Returns the mode that a directory had before the first of the open attempts, or `now`.
    pub(crate) fn folder(&mut self, path: &Path, now: u32) -> u32 {
        let new = self.claimed(now);
        let claimed = self.baseline.folders.entry(path.to_owned()).or_insert(new);
        claimed.members.insert(self.me.clone());
        claimed.value
    }

    /// Returns the identity that a directory had before the first of the open attempts, or `now`.
    pub(crate) fn place(&mut self, path: &Path, now: Option<(u64, u64)>) -> Option<(u64, u64)> {
        if let Some(claimed) = self.baseline.places.get_mut(path) {
            claimed.members.insert(self.me.clone());
            return Some(claimed.value);
        }
        let new = self.claimed(now?);
        Some(self.baseline.places.entry(path.to_owned()).or_insert(new).value)
    }

    fn claimed<T>(&self, value: T) -> Claimed<T> {
        Claimed { value, members: BTreeSet::from([self.me.clone()]) }
    }
}

impl SavedPath {
    /// Reads the paths that no member before had to protect and that this one must.
    fn fill(&mut self, path: &Path, open: &[PathBuf]) -> interlock_beneath::Result<()> {
        let is_open = |one: &PathBuf| open.iter().any(|open| one.starts_with(open));
        let (still, unread): (Vec<_>, Vec<_>) = self.open.iter().cloned().partition(is_open);
        let mut reader = BoundedReader::new(&still);
        let read = unread.into_iter().map(|one| reader.read(&one).map(|node| (one, node)));
        for (one, node) in read.collect::<interlock_beneath::Result<Vec<_>>>()? {
            self.node.graft(one.strip_prefix(path).unwrap_or(&one), node);
        }
        self.open = still;
        Ok(())
    }
}

impl Baseline {
    /// Takes out the entries that no living member protects.
    fn take_abandoned(&mut self, living: &BTreeSet<String>) -> Baseline {
        Baseline {
            files: take_abandoned(&mut self.files, living),
            folders: take_abandoned(&mut self.folders, living),
            places: take_abandoned(&mut self.places, living),
        }
    }

    fn release(&mut self, member: &str) {
        release(&mut self.files, member);
        release(&mut self.folders, member);
        release(&mut self.places, member);
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty() && self.places.is_empty()
    }

    /// Returns the protected paths with their content.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &SavedPath)> {
        self.files.iter().map(|(path, claimed)| (path.as_path(), &claimed.value))
    }

    /// Returns the directories on the way with their modes.
    pub(crate) fn folders(&self) -> impl Iterator<Item = (&Path, u32)> {
        self.folders.iter().map(|(path, claimed)| (path.as_path(), claimed.value))
    }
}

fn take_abandoned<T>(
    map: &mut BTreeMap<PathBuf, Claimed<T>>,
    living: &BTreeSet<String>,
) -> BTreeMap<PathBuf, Claimed<T>> {
    let (kept, abandoned) = std::mem::take(map).into_iter().partition(|(_, one)| !one.members.is_disjoint(living));
    *map = kept;
    abandoned
}

fn release<T>(map: &mut BTreeMap<PathBuf, Claimed<T>>, member: &str) {
    map.retain(|_, claimed| {
        claimed.members.remove(member);
        !claimed.members.is_empty()
    });
}

/// The baseline of a store while this process holds its lock: no other attempt begins or ends meanwhile.
#[derive(Debug)]
pub(crate) struct Shared {
    store: Folder,
    _lock: File,
    member: File,
    pub(crate) claims: Claims,
    /// The entries of killed supervisors, which are to be restored.
    pub(crate) abandoned: Baseline,
}

impl Shared {
    /// Becomes a member. Waits until no other attempt begins or ends.
    pub(crate) fn join(store: &Path) -> io::Result<Self> {
        let store = open(store)?;
        let lock = lock(&store, FlockOperation::NonBlockingLockExclusive)?;
        Shared::under(store, lock)
    }

    fn under(store: Folder, lock: File) -> io::Result<Self> {
        store.make_folders(Path::new(MEMBERS))?;
        store.set_mode(Path::new(FOLDER), Mode::RWXU)?;
        let mut living = living(&store)?;
        let mut baseline = match read(&store) {
            // No living member needs the entries of a file that cannot be read, so a new file replaces it.
            Err(_) if living.is_empty() => Baseline::default(),
            other => other?,
        };
        let me = free_name();
        let member = store.create_new(&Path::new(MEMBERS).join(&me), Mode::RUSR | Mode::WUSR)?;
        flock(&member, FlockOperation::NonBlockingLockExclusive)?;
        living.insert(me.clone());
        let abandoned = baseline.take_abandoned(&living);
        Ok(Shared { store, _lock: lock, member, claims: Claims { baseline, me }, abandoned })
    }

    /// Keeps what a restore is about to replace: a person may have changed it since.
    pub(crate) fn keep_replaced(&self, path: &Path, node: &SavedNode) -> io::Result<PathBuf> {
        let name = path.strip_prefix("/").unwrap_or(path).to_string_lossy().replace('/', "%");
        let place = Path::new(REPLACED).join(&self.claims.me);
        self.store.make_folders(&place)?;
        put(&self.store.folder(&place)?, OsStr::new(&name), node)?;
        Ok(self.store.path().join(place).join(name))
    }

    /// Writes the baseline for later members and frees the lock.
    pub(crate) fn written(self) -> io::Result<Member> {
        write(&self.store, &self.claims.baseline)?;
        Ok(Member { store: self.store, name: self.claims.me, _lock: self.member })
    }
}

fn put(folder: &Folder, name: &OsStr, node: &SavedNode) -> io::Result<()> {
    let name = Path::new(name);
    match node {
        SavedNode::File { content, .. } => Ok(folder.write_new(name, content, Mode::RUSR | Mode::WUSR)?),
        SavedNode::Link(target) => Ok(folder.write_link(name, target)?),
        SavedNode::Folder { entries, .. } => {
            folder.make_folders(name)?;
            let here = folder.folder(name)?;
            entries.iter().try_for_each(|(name, node)| put(&here, name, node))
        }
        SavedNode::Nothing | SavedNode::Unread(_) => Ok(()),
    }
}

/// The membership of one supervisor. It ends when this is dropped, or when the process is killed.
#[derive(Debug)]
pub(crate) struct Member {
    store: Folder,
    name: String,
    _lock: File,
}

impl Member {
    /// Removes the entries that only this member protects.
    fn leave(&self) -> io::Result<()> {
        let _lock = lock(&self.store, FlockOperation::NonBlockingLockExclusive)?;
        let mut baseline = read(&self.store)?;
        baseline.release(&self.name);
        write(&self.store, &baseline)?;
        self.store.remove_file(&Path::new(MEMBERS).join(&self.name))?;
        // They stay if there are other members, or files that were replaced.
        let _ = self.store.remove_folder(Path::new(MEMBERS));
        let _ = self.store.remove_folder(Path::new(FOLDER));
        Ok(())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // What is left belongs to a dead member then, and is restored by the next supervisor.
        let _ = self.leave();
    }
}

/// Looks at the baseline while no attempt begins or ends. What killed supervisors have left is restored first.
pub(crate) fn look<T>(store: &Path, look: impl FnOnce(&Baseline) -> T) -> io::Result<T> {
    // Without a store no program has been started.
    let Ok(real) = fs::canonicalize(store) else { return Ok(look(&Baseline::default())) };
    let folder = Folder::open(&real)?;
    let lock = lock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    if folder.kind(Path::new(FILE))?.is_none() {
        return Ok(look(&Baseline::default()));
    }
    let shared = Shared::under(folder, lock)?;
    crate::guard::restore_abandoned(&shared);
    let looked = look(&shared.claims.baseline);
    drop(shared.written()?);
    Ok(looked)
}

/// Opens the directory of a store by its real path, and makes it if it is not there.
fn open(store: &Path) -> io::Result<Folder> {
    if let Ok(real) = fs::canonicalize(store) {
        return Ok(Folder::open(&real)?);
    }
    interlock_beneath::whole::make_folders(store)?;
    Ok(Folder::open(store)?)
}

/// Locks the store for the beginning or the end of an attempt. The directory itself is locked, so that no file is left.
fn lock(store: &Folder, how: FlockOperation) -> io::Result<File> {
    let folder = File::from(openat(store, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?);
    let deadline = Instant::now() + LOCK_MAX;
    loop {
        match flock(&folder, how) {
            Ok(()) => return Ok(folder),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => std::thread::sleep(LOCK_PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the names of the members that hold their locks, and removes the files of the others.
fn living(store: &Folder) -> io::Result<BTreeSet<String>> {
    let mut living = BTreeSet::new();
    for name in store.names(Path::new(MEMBERS))? {
        let path = Path::new(MEMBERS).join(&name);
        let file = store.open_file(&path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => drop(store.remove_file(&path)?),
            Err(_) => drop(living.insert(name.to_string_lossy().into_owned())),
        }
    }
    Ok(living)
}

fn read(store: &Folder) -> io::Result<Baseline> {
    match store.read(Path::new(FILE), FILE_BYTES_MAX) {
        Err(error) if error.is_absent() => Ok(Baseline::default()),
        Err(error) => Err(error.into()),
        Ok(json) => Ok(serde_json::from_slice(&json)?),
    }
}

fn write(store: &Folder, baseline: &Baseline) -> io::Result<()> {
    if baseline.is_empty() {
        store.remove_file(Path::new(FILE))?;
        return Ok(());
    }
    let json = serde_json::to_vec(baseline)?;
    Ok(store.write_new(Path::new(FILE), &json, Mode::RUSR | Mode::WUSR)?)
}

/// Returns a name that no member has had.
fn free_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}", std::process::id(), now.as_nanos())
}
