//! A git folder of our own for somebody else's files, in which snapshots are kept. Nothing of it is in the workspace, so that no program that works
//! there can reach it. It has no configuration, hooks, filters or attributes that others could set.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::{Error, Result, git::Git, place::Place, sweep};

/// Comes before the `.gitattributes` of the files: their content is taken as it is.
const ATTRIBUTES: &str = "* -text !eol !crlf -ident !filter !working-tree-encoding\n";

/// What the names of folders begin with that are needed only during one call.
pub(crate) const SCRATCH: &str = "scratch-";

/// The file that says which workspace a private folder is for.
pub(crate) const ROOT: &str = "root";

/// The file with all that is known of that workspace.
const PLACE: &str = "place";

/// The kinds of workspaces: a repository with one hash or the other, or a folder.
const KINDS: [&str; 3] = ["sha1", "sha256", "folder"];

/// Names that only other systems take for `.git` are files like any other here.
const CONFIG: &str = "[core]\n\tbare = false\n\tprotectNTFS = false\n\tprotectHFS = false\n";

/// The private git folder of a workspace.
#[derive(Debug)]
pub(crate) struct Private {
    pub(crate) folder: PathBuf,
    pub(crate) objects: PathBuf,
    pub(crate) place: Place,
    /// Not part of the workspace though inside it: where all this is kept.
    pub(crate) home: Option<PathBuf>,
    /// Gone when this is, where nobody said where to keep it.
    _for_a_moment: Option<TempDir>,
}

impl Private {
    /// The private folder of a place; a passing one without a home.
    pub(crate) fn open(home: Option<&Path>, place: Place) -> Result<Self> {
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
        let private = Private { objects: folder.join("objects"), folder, place, home, _for_a_moment: passing };
        private.prepare().map_err(|error| Error::io("write", &private.folder, &error))?;
        Ok(private)
    }

    /// The private folders of a folder and of those around it, as they were when something was kept there.
    pub(crate) fn known(home: &Path, folder: &Path) -> Result<Vec<Self>> {
        let folder = fs::canonicalize(folder).map_err(|error| Error::io("find", folder, &error))?;
        let home = fs::canonicalize(home).map_err(|error| Error::io("find", home, &error))?;
        let names = folder.ancestors().flat_map(|root| KINDS.map(|kind| name_of(kind, root)));
        let folders = names.map(|name| home.join("workspaces").join(name));
        let open = |folder: PathBuf| {
            let place = serde_json::from_slice(&fs::read(folder.join(PLACE)).ok()?).ok()?;
            Some(Private {
                objects: folder.join("objects"),
                folder,
                place,
                home: Some(home.clone()),
                _for_a_moment: None,
            })
        };
        Ok(folders.filter_map(open).collect())
    }

    /// Makes it a git folder, however far an earlier call came with that.
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
            // What counts more comes later.
            let users = repository.users_excludes.as_ref().and_then(|path| fs::read(path).ok()).unwrap_or_default();
            [users, fs::read(&repository.exclude).unwrap_or_default()].join(&b'\n')
        });
        self.write("info/attributes", ATTRIBUTES.as_bytes())?;
        self.write("info/exclude", &exclude.unwrap_or_default())?;
        self.write("config", config.as_bytes())?;
        self.write(PLACE, &serde_json::to_vec(&self.place)?)?;
        self.write(ROOT, self.place.root.as_os_str().as_encoded_bytes())?;
        self.write("HEAD", b"ref: refs/heads/none\n")
    }

    /// Two at once do not see each other's half-written file.
    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.folder.join(name);
        if fs::read(&path).is_ok_and(|found| found == content) {
            return Ok(());
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(content)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// `git` about the files of the workspace.
    pub(crate) fn git(&self) -> Git {
        Git::new(&self.place.root, &self.folder)
    }

    /// The rules for what is ignored besides those in the workspace itself.
    pub(crate) fn excludes(&self) -> PathBuf {
        self.folder.join("info/exclude")
    }

    /// A folder for what is needed only during one call. Those of calls that were cut off go.
    pub(crate) fn scratch(&self) -> Result<TempDir> {
        sweep::scratch(&self.folder, sweep::SCRATCH_AGE);
        TempDir::with_prefix_in(SCRATCH, &self.folder).map_err(|error| Error::io("write in", &self.folder, &error))
    }

    /// Where the home is within the workspace, if it is.
    pub(crate) fn home_within(&self) -> Option<&Path> {
        self.home.as_ref()?.strip_prefix(&self.place.root).ok().filter(|within| !within.as_os_str().is_empty())
    }
}

/// A folder that only its owner can look into: what is kept may be somebody's secret.
fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for folder in folder.parent().into_iter().chain([folder]) {
        if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

fn kind_of(place: &Place) -> &str {
    place.repository.as_ref().map_or("folder", |repository| repository.format.as_str())
}

/// A name that follows from where the workspace is, and from whether it is a repository.
fn name_of(kind: &str, root: &Path) -> String {
    let hash = Sha256::digest([kind.as_bytes(), root.as_os_str().as_encoded_bytes()].join(&0));
    hex(&hash)[..24].to_owned()
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}
