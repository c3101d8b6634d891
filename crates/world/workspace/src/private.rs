//! The private git directory of a workspace, which holds its snapshots. It lies outside the workspace, so that programs
//! that work there cannot reach it. It has no configuration, hooks, filters or attributes that others could set.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    fmt::Write as _,
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::{
    Error, Result,
    git::{Git, join, split},
    place::WorkspaceRoot,
    sweep,
};

/// Overrides the `.gitattributes` of the files, so that their content is stored unchanged.
const ATTRIBUTES: &str = "* -text !eol !crlf -ident !filter !working-tree-encoding !diff\n";

/// Prefix of the names of directories that exist only during one call.
pub(crate) const SCRATCH: &str = "scratch-";

/// Name of the file with the root path of the workspace that a private directory belongs to.
pub(crate) const ROOT: &str = "root";

/// Name of the file with the serialized [`WorkspaceRoot`] of that workspace.
const PLACE: &str = "place";

/// Name of the file that is written last.
const HEAD: &str = "HEAD";

/// The kinds of workspaces: a repository with either hash algorithm, or a plain directory.
const KINDS: [&str; 3] = ["sha1", "sha256", "folder"];

/// Patterns of files that show a run and are written by Interlock itself. They are no part of any workspace, commit or
/// undo, unless the user's repository tracks them. The second pattern is that of files being written.
pub const VIEW_FILES: [&str; 2] = [".agent/memory/active_context.md", ".agent/memory/.interlock-writing-*"];

/// The longest file with ignore rules that is read.
pub(crate) const RULES_BYTES_MAX: u64 = 16 << 20;

/// Turns off the protections for other systems: names that only NTFS or HFS+ treat as `.git` are ordinary files here.
const CONFIG: &str = "[core]\n\tbare = false\n\tprotectNTFS = false\n\tprotectHFS = false\n";

/// The private git directory of a workspace.
#[derive(Debug)]
pub(crate) struct Private {
    pub(crate) folder: PathBuf,
    pub(crate) objects: PathBuf,
    pub(crate) place: WorkspaceRoot,
    /// The directory of Interlock's store. It is not part of the workspace even if it lies inside.
    pub(crate) home: Option<PathBuf>,
    /// The root of the workspace around it, if this is a nested repository.
    pub(crate) nested_in: Option<PathBuf>,
    /// The temporary directory that is used without a store. Dropping the value deletes it.
    _for_a_moment: Option<TempDir>,
}

impl Private {
    /// Opens the private directory of a place and creates it if necessary. Without a home it is a temporary directory.
    pub(crate) fn open(home: Option<&Path>, place: WorkspaceRoot) -> Result<Self> {
        let (folder, home, passing) = match home {
            Some(home) => {
                let folder = home.join("workspaces").join(name_of(kind_of(&place), &place.root));
                make_private(&folder).map_err(|error| Error::io("make", &folder, &error))?;
                let home = fs::canonicalize(home).map_err(|error| Error::io("find", home, &error))?;
                (folder, Some(home), None)
            }
            None => {
                let passing = TempDir::new().map_err(|error| Error::io("make", &std::env::temp_dir(), &error))?;
                (passing.path().to_owned(), None, Some(passing))
            }
        };
        // The user may have put the store behind a link. Git is given the directory itself.
        let folder = fs::canonicalize(&folder).map_err(|error| Error::io("find", &folder, &error))?;
        let private =
            Private { objects: folder.join("objects"), folder, place, home, nested_in: None, _for_a_moment: passing };
        private.prepared()
    }

    /// Opens the private directory of a place as it is, to read it. Returns `None` if there is none. Nothing is created or
    /// changed, because the reader may be another user than the owner.
    pub(crate) fn existing(home: &Path, place: WorkspaceRoot) -> Option<Self> {
        let home = fs::canonicalize(home).ok()?;
        let folder = fs::canonicalize(home.join("workspaces").join(name_of(kind_of(&place), &place.root))).ok()?;
        // This file is written last.
        fs::symlink_metadata(folder.join(HEAD)).ok()?;
        let objects = folder.join("objects");
        Some(Private { objects, folder, place, home: Some(home), nested_in: None, _for_a_moment: None })
    }

    /// Opens the private directory of a nested repository as it is.
    pub(crate) fn existing_nested(home: &Path, place: WorkspaceRoot, outer: &Path) -> Option<Self> {
        Private::existing(home, place).map(|private| Private { nested_in: Some(outer.to_owned()), ..private })
    }

    /// Opens the private directory of a nested repository.
    pub(crate) fn open_nested(home: &Path, place: WorkspaceRoot, outer: &Path) -> Result<Self> {
        let private = Private::open(Some(home), place)?;
        Private { nested_in: Some(outer.to_owned()), ..private }.prepared()
    }

    fn prepared(self) -> Result<Self> {
        self.prepare().map_err(|error| Error::io("write", &self.folder, &error))?;
        Ok(self)
    }

    /// Returns the existing private directories of a directory and of its ancestors, with the place as recorded in
    /// each.
    pub(crate) fn known(home: &Path, folder: &Path) -> Result<Vec<Self>> {
        let folder = fs::canonicalize(folder).map_err(|error| Error::io("find", folder, &error))?;
        Self::known_at(home, &folder)
    }

    /// Does the same for a full path, at which there may be no directory any more.
    pub(crate) fn known_at(home: &Path, folder: &Path) -> Result<Vec<Self>> {
        let home = fs::canonicalize(home).map_err(|error| Error::io("find", home, &error))?;
        // A slash at the end would be part of the first ancestor.
        let folder: PathBuf = folder.components().collect();
        let names = folder.ancestors().flat_map(|root| KINDS.map(|kind| name_of(kind, root)));
        let folders = names.map(|name| home.join("workspaces").join(name));
        let open = |folder: PathBuf| {
            let place = serde_json::from_slice(&fs::read(folder.join(PLACE)).ok()?).ok()?;
            Some(Private {
                objects: folder.join("objects"),
                folder,
                place,
                home: Some(home.clone()),
                nested_in: None,
                _for_a_moment: None,
            })
        };
        Ok(folders.filter_map(open).collect())
    }

    /// Creates the files of a git directory. It completes a directory that an interrupted call has left unfinished.
    fn prepare(&self) -> io::Result<()> {
        for name in ["info", "refs", "objects"] {
            fs::create_dir_all(self.folder.join(name))?;
        }
        let repository = self.place.repository.as_ref();
        let config = match repository.map(|repository| repository.format.as_str()) {
            Some("sha256") => format!("{CONFIG}\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"),
            _ => format!("{CONFIG}\trepositoryformatversion = 0\n"),
        };
        let exclude = repository.map(|repository| {
            // Later rules take precedence.
            let users = repository.users_excludes.as_deref().and_then(rules);
            [users.unwrap_or_default(), rules(&repository.exclude).unwrap_or_default()].join(&b'\n')
        });
        let views = VIEW_FILES.map(|path| format!("\n**/{path}\n")).concat();
        self.write("info/attributes", ATTRIBUTES.as_bytes())?;
        self.write("info/exclude", &[exclude.unwrap_or_default(), views.into_bytes()].concat())?;
        self.write("config", config.as_bytes())?;
        self.write(PLACE, &serde_json::to_vec(&self.place)?)?;
        // The snapshots of a nested repository that was removed are needed as long as the workspace around it exists.
        let root = self.nested_in.as_ref().unwrap_or(&self.place.root);
        self.write(ROOT, root.as_os_str().as_encoded_bytes())?;
        self.write(HEAD, b"ref: refs/heads/none\n")
    }

    /// Writes a file atomically, so that a concurrent call never reads a partial file.
    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.folder.join(name);
        if fs::read(&path).is_ok_and(|found| found == content) {
            return Ok(());
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(content)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Makes a git directory below another directory, in which the `.gitattributes` of the files count as in a new clone.
    pub(crate) fn plain_in(&self, folder: &Path) -> Result<PathBuf> {
        let plain = folder.join("plain");
        let make = || {
            ["objects", "refs"].iter().try_for_each(|name| fs::create_dir_all(plain.join(name)))?;
            ["config", "HEAD"].iter().try_for_each(|name| fs::copy(self.folder.join(name), plain.join(name)).map(drop))
        };
        make().map_err(|error| Error::io("make", &plain, &error))?;
        Ok(plain)
    }

    /// Returns `git` calls on the files of the workspace with this private directory.
    pub(crate) fn git(&self) -> Git {
        // `git` needs a directory to start in, also to read what a nested repository was.
        let is_there = || fs::symlink_metadata(&self.place.root).is_ok_and(|about| about.is_dir());
        let root = if self.nested_in.is_none() || is_there() { &self.place.root } else { &self.folder };
        Git::new(root, &self.folder)
    }

    /// Returns the file with the ignore rules that come in addition to those in the workspace.
    pub(crate) fn excludes(&self) -> PathBuf {
        self.folder.join("info/exclude")
    }

    /// Returns the paths that the current rules ignore. Tracked files count as any others.
    pub(crate) fn ignored<'p>(&self, paths: impl Iterator<Item = &'p [u8]>) -> Result<Vec<Vec<u8>>> {
        // A path that begins with a colon would have a special meaning.
        let paths = join(paths.map(|path| [b"./", path].concat()));
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let plain = |path: Vec<u8>| path.strip_prefix(b"./").map(<[u8]>::to_vec).unwrap_or(path);
        match self.git().run_with(&["check-ignore", "--no-index", "-z", "--stdin"], &paths) {
            Ok(ignored) => Ok(split(&ignored).into_iter().map(plain).collect()),
            // `git check-ignore` fails without a message if no path is ignored.
            Err(Error::Git { said, .. }) if said.is_empty() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Creates a directory that exists only during one call. Removes those that interrupted calls have left.
    pub(crate) fn scratch(&self) -> Result<TempDir> {
        sweep::scratch(&self.folder, sweep::SCRATCH_AGE);
        TempDir::with_prefix_in(SCRATCH, &self.folder).map_err(|error| Error::io("write in", &self.folder, &error))
    }

    /// Returns the path of the home relative to the workspace's root, if it lies inside.
    pub(crate) fn home_within(&self) -> Option<&Path> {
        self.home.as_ref()?.strip_prefix(&self.place.root).ok().filter(|within| !within.as_os_str().is_empty())
    }
}

/// Reads a file with ignore rules, to which the user may have made a link. A program can put anything in its place.
fn rules(path: &Path) -> Option<Vec<u8>> {
    let real = fs::canonicalize(path).ok()?;
    interlock_beneath::read(real.parent()?, Path::new(real.file_name()?), RULES_BYTES_MAX).ok()
}

/// Creates a directory that only its owner can read, because snapshots may contain secrets.
fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for folder in folder.parent().into_iter().chain([folder]) {
        if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

fn kind_of(place: &WorkspaceRoot) -> &str {
    place.repository.as_ref().map_or("folder", |repository| repository.format.as_str())
}

/// Derives the name of a private directory from the kind and the root path of the workspace.
fn name_of(kind: &str, root: &Path) -> String {
    let hash = Sha256::digest([kind.as_bytes(), root.as_os_str().as_encoded_bytes()].join(&0));
    hex(&hash)[..24].to_owned()
}

/// Reads bytes from hexadecimal digits. Returns `None` for any other text.
pub(crate) fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(byte).collect()
}

/// Writes bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}
