//! The private directory of a kernel: its sockets, its connection file and its home.
//!
//! The directory is in the store if its path is short enough, because no confined program may read the store: then a
//! program of another run cannot read the key of this kernel, even while the kernel starts. Elsewhere only the modes of
//! the files protect it, which do not stop programs of the same user. So the connection file is removed as soon as the
//! kernel has read it.

#![expect(
    clippy::disallowed_methods,
    reason = "no program works in the directory yet, or can change the directory above it"
)]

use std::{
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use interlock_journal::Hash;

/// The directory in the store.
const PLACE: &str = "kernels";

/// The longest path of the directory. The path of a socket has at most 107 bytes.
const PATH_BYTES_MAX: usize = 90;

/// The number of characters of the name in the store.
const NAME_CHARS: usize = 16;

/// The number of lists of fonts that a kernel gets: one for each version of matplotlib.
const FONT_LISTS_MAX: usize = 4;

/// A private directory. It is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

impl Folder {
    /// Creates the directory of a run's kernel. One that a killed process left is removed.
    pub(super) fn create(store: Option<&Path>, run: &str) -> io::Result<Self> {
        let folder = match store.and_then(|store| in_store(store, run)) {
            Some(path) => {
                remove(&path);
                only_mine().recursive(true).create(path.parent().unwrap_or(&path))?;
                only_mine().create(&path)?;
                Folder(path)
            }
            None => Folder(elsewhere()?),
        };
        std::fs::create_dir(folder.path().join("home"))?;
        bring_fonts(&folder.path().join("home/matplotlib"));
        Ok(folder)
    }

    /// Returns the path of the directory.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of the connection file.
    pub(super) fn connection_file(&self) -> PathBuf {
        self.0.join("connection.json")
    }

    /// Writes the connection file, readable for this user alone.
    pub(super) fn write_connection(&self, content: &str) -> io::Result<()> {
        use std::{io::Write as _, os::unix::fs::OpenOptionsExt as _};
        let mut file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.connection_file())?;
        file.write_all(content.as_bytes())
    }

    /// Removes the connection file, which the kernel has read.
    pub(super) fn forget_connection(&self) {
        let _ = std::fs::remove_file(self.connection_file());
    }
}

/// Removes a directory. The kernel may have prepared what is in it, and may still run.
fn remove(path: &Path) {
    let above = path.parent().map(interlock_beneath::Folder::open);
    if let (Some(Ok(above)), Some(name)) = (above, path.file_name()) {
        let _ = above.remove_all(Path::new(name));
    }
}

fn only_mine() -> std::fs::DirBuilder {
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Returns the path in the store, unless it is too long for sockets.
fn in_store(store: &Path, run: &str) -> Option<PathBuf> {
    let store = std::fs::canonicalize(store).ok()?;
    let name: String = Hash::of(run.as_bytes()).to_string().chars().take(NAME_CHARS).collect();
    let path = store.join(PLACE).join(name);
    (path.as_os_str().len() <= PATH_BYTES_MAX).then_some(path)
}

fn elsewhere() -> io::Result<PathBuf> {
    let wanted = std::env::temp_dir();
    let place = if wanted.as_os_str().len() <= PATH_BYTES_MAX - 32 { wanted } else { PathBuf::from("/tmp") };
    let only_mine = std::fs::Permissions::from_mode(0o700);
    Ok(tempfile::Builder::new().prefix("interlock-k-").permissions(only_mine).tempdir_in(place)?.keep())
}

/// Copies the user's list of fonts for matplotlib, which takes seconds to make. Without it, the kernel makes its own.
fn bring_fonts(to: &Path) {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(std::env::home_dir()?.join(".cache")));
    let Some(lists) = cache.and_then(|cache| std::fs::read_dir(cache.join("matplotlib")).ok()) else { return };
    let is_list = |name: &str| name.starts_with("fontlist-") && name.ends_with(".json");
    for list in lists.flatten().filter(|list| list.file_name().to_str().is_some_and(is_list)).take(FONT_LISTS_MAX) {
        let _ = std::fs::create_dir_all(to);
        let _ = std::fs::copy(list.path(), to.join(list.file_name()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_private_and_goes_with_its_owner() {
        let store = tempfile::tempdir_in("/tmp").unwrap();
        let folder = Folder::create(Some(store.path()), "r").unwrap();
        let path = folder.path().to_owned();
        assert!(path.starts_with(store.path().canonicalize().unwrap().join(PLACE)), "{}", path.display());
        folder.write_connection("{}").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder.connection_file())), (0o700, 0o600));
        // A process that is killed leaves its directory; the next kernel of the run replaces it.
        std::mem::forget(folder);
        let folder = Folder::create(Some(store.path()), "r").unwrap();
        assert!(!folder.connection_file().exists() && folder.path() == path);
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn a_store_with_a_long_path_is_not_used() {
        let store = tempfile::tempdir_in("/tmp").unwrap();
        let long = store.path().join("x".repeat(80));
        std::fs::create_dir(&long).unwrap();
        let folder = Folder::create(Some(&long), "r").unwrap();
        assert!(!folder.path().starts_with(store.path()));
        assert!(folder.path().as_os_str().len() <= PATH_BYTES_MAX);
    }
}
