//! The repository that a check sees: what a clone has of it, and nothing else that stands in `.git`.
//!
//! A turn may write into `.git`, and no difference between trees shows that. So the check sees a directory made anew, with
//! the head, the references, the index and the settings that git needs to read it. Only the objects are those of the
//! checkout, without files that git does not make there. Everything is read by descriptor.

use std::{
    io,
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use interlock_workspace::{GitDirs, Place};

use super::{Visit, hash_of, listed, names};

/// The most references, and the most bytes of one.
const REFERENCES_MAX: usize = 50_000;
const REFERENCE_BYTES_MAX: u64 = 4 * 1024;

/// The most bytes of the list of packed references, and of the index.
const PACKED_BYTES_MAX: u64 = 64 * 1024 * 1024;
const INDEX_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The most files with objects that are looked at.
const OBJECTS_MAX: usize = 200_000;

/// The beginnings of the files beside packs, by their endings.
const PACK_FILES: [(&str, &[u8]); 5] =
    [(".pack", b"PACK"), (".idx", b"\xfftOc"), (".rev", b"RIDX"), (".bitmap", b"BITM"), (".mtimes", b"MTME")];

/// What a check may see of a repository.
pub(super) struct Repository {
    dirs: GitDirs,
    head: String,
    references: Vec<(PathBuf, String)>,
    packed: String,
    shallow: String,
    index: Option<Vec<u8>>,
    /// Files below `objects` that nobody sees.
    hidden: Vec<PathBuf>,
    /// Those of them that git does not make.
    pub(super) foreign: Vec<String>,
}

impl Repository {
    /// Reads the repository of a workspace; `None` if it has none.
    pub(super) fn of(root: &Path) -> Option<Self> {
        let dirs = Place::find(root).ok()?.repository?;
        let (own, common) = (Folder::open(&dirs.own).ok()?, Folder::open(&dirs.common).ok()?);
        let text = |folder: &Folder, name: &str, max: u64| folder.read_text(Path::new(name), max).ok().flatten();
        let head = text(&own, "HEAD", REFERENCE_BYTES_MAX).filter(|head| is_reference(head));
        // A shared part of the index is read only by git that finds it in the same place.
        let is_split =
            own.names(Path::new("")).ok()?.iter().any(|name| name.to_string_lossy().starts_with("sharedindex."));
        let index = own.read(Path::new("index"), INDEX_BYTES_MAX).ok();
        let packed = text(&common, "packed-refs", PACKED_BYTES_MAX).unwrap_or_default();
        let shallow = text(&common, "shallow", PACKED_BYTES_MAX).unwrap_or_default();
        let mut objects = Objects::default();
        if let Ok(folder) = common.folder(Path::new("objects")) {
            objects.look(&folder);
        }
        Some(Repository {
            head: head.unwrap_or_else(|| "ref: refs/heads/main\n".to_owned()),
            references: references(&common),
            packed: only(&packed, is_packed),
            shallow: only(&shallow, is_hash),
            index: index.filter(|index| index.starts_with(b"DIRC") && !is_split),
            hidden: objects.hidden.iter().chain(&objects.foreign).cloned().collect(),
            foreign: objects.foreign.iter().map(|path| names::text(&Path::new(".git/objects").join(path))).collect(),
            dirs,
        })
    }

    /// Writes the repository into a copy of the tree.
    pub(super) fn write(&self, copy: &Folder) -> io::Result<()> {
        super::files::make_folder(copy, Path::new(".git/objects"))?;
        let git = copy.folder(Path::new(".git"))?;
        git.make_folders(Path::new("refs/heads"))?;
        git.make_folders(Path::new("refs/tags"))?;
        git.write(Path::new("HEAD"), self.head.as_bytes())?;
        git.write(Path::new("config"), self.settings().as_bytes())?;
        for (path, text) in &self.references {
            git.make_folders(path.parent().unwrap_or(Path::new("refs")))?;
            git.write(path, text.as_bytes())?;
        }
        for (name, text) in [("packed-refs", &self.packed), ("shallow", &self.shallow)] {
            if !text.is_empty() {
                git.write(Path::new(name), text.as_bytes())?;
            }
        }
        match &self.index {
            Some(index) => Ok(git.write(Path::new("index"), index)?),
            None => Ok(()),
        }
    }

    /// The settings without which git does not read the repository.
    fn settings(&self) -> String {
        match self.dirs.object_format().as_str() {
            "sha256" => {
                "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
            }
            _ => "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
        }
        .to_owned()
    }

    /// The objects of the checkout, and the paths below them that nobody sees.
    pub(super) fn objects(&self) -> (PathBuf, &[PathBuf]) {
        (self.dirs.common.join("objects"), &self.hidden)
    }

    /// The repository of a linked worktree or a submodule, which stands elsewhere and must not be seen there either.
    pub(super) fn elsewhere(&self, root: &Path) -> Option<&Path> {
        let common = self.dirs.common.as_path();
        (common != root.join(".git") && !root.starts_with(common)).then_some(common)
    }
}

impl Visit<'_, '_> {
    /// Objects to files among the objects of the repository that git does not make there.
    pub(super) fn look_at_repository(&mut self) {
        let foreign = self.ground.repository().map(|one| one.foreign.clone()).unwrap_or_default();
        if !foreign.is_empty() {
            let text = format!("the repository has files that git does not make: {}", listed(&foreign));
            self.object(text, &hash_of(&foreign));
        }
    }
}

/// The files below `objects` that are no objects.
#[derive(Default)]
struct Objects {
    /// Files of git that are none: of a command that runs or was killed, notes for git itself.
    hidden: Vec<PathBuf>,
    /// Files that git does not make.
    foreign: Vec<PathBuf>,
    looked_at: usize,
}

impl Objects {
    fn look(&mut self, objects: &Folder) {
        for (name, kind) in objects.kinds(Path::new("")).unwrap_or_default() {
            let (path, name) = (PathBuf::from(&name), name.to_string_lossy().into_owned());
            match (kind == FileType::Directory, name.as_str()) {
                (true, "pack") => self.look_into(objects, &path, is_of_pack),
                (true, "info") => self.look_into(objects, &path, is_of_info),
                (true, name) if is_hex(name, &[2]) => self.look_into(objects, &path, is_loose),
                _ => self.sort_out(path, &name),
            }
        }
    }

    /// Looks at the files of one directory with a rule, which gets the directory, the name and the kind.
    fn look_into(&mut self, objects: &Folder, path: &Path, is_right: fn(&Folder, &str, FileType) -> bool) {
        let Ok(folder) = objects.folder(path) else { return self.foreign.push(path.to_owned()) };
        for (name, kind) in folder.kinds(Path::new("")).unwrap_or_default() {
            let (path, name) = (path.join(&name), name.to_string_lossy().into_owned());
            self.looked_at += 1;
            if self.looked_at > OBJECTS_MAX || !is_right(&folder, &name, kind) {
                self.sort_out(path, &name);
            }
        }
    }

    fn sort_out(&mut self, path: PathBuf, name: &str) {
        let is_passing =
            ["tmp_", ".tmp-", "incoming-", "bulk-fsync-"].iter().any(|beginning| name.starts_with(beginning))
                || [".lock", ".keep", ".promisor"].iter().any(|ending| name.ends_with(ending))
                || path == Path::new("info/packs");
        match is_passing {
            true => self.hidden.push(path),
            false => self.foreign.push(path),
        }
    }
}

fn begins(folder: &Folder, name: &str, kind: FileType, beginning: &[u8]) -> bool {
    let length = u64::try_from(beginning.len()).unwrap_or_default();
    kind == FileType::RegularFile && folder.read_beginning(Path::new(name), length).is_ok_and(|text| text == beginning)
}

fn is_of_pack(folder: &Folder, name: &str, kind: FileType) -> bool {
    if let Some(rest) = name.strip_prefix("multi-pack-index") {
        let is_whole = rest.is_empty() && begins(folder, name, kind, b"MIDX");
        return is_whole || rest.starts_with('-') && is_of_pack_with(folder, rest.trim_start_matches('-'), name, kind);
    }
    let rest = ["pack-", "loose-", "old-"].iter().find_map(|beginning| name.strip_prefix(beginning));
    rest.is_some_and(|rest| is_of_pack_with(folder, rest.trim_start_matches("pack-"), name, kind))
}

/// Returns true if a name goes on with a hash and the ending that the content has.
fn is_of_pack_with(folder: &Folder, rest: &str, name: &str, kind: FileType) -> bool {
    PACK_FILES.iter().any(|(ending, beginning)| {
        rest.strip_suffix(ending).is_some_and(|hash| is_hex(hash, &[40, 64])) && begins(folder, name, kind, beginning)
    })
}

fn is_of_info(folder: &Folder, name: &str, kind: FileType) -> bool {
    let is_folder =
        |line: &str| line.starts_with('#') || Path::new(line).is_absolute() && Folder::open(Path::new(line)).is_ok();
    let is_graph = |name: &str| name.strip_prefix("graph-").and_then(|rest| rest.strip_suffix(".graph")).is_some();
    let Ok(text) = folder.read_text(Path::new(name), REFERENCE_BYTES_MAX) else {
        return name == "commit-graph" && begins(folder, name, kind, b"CGPH");
    };
    match name {
        "commit-graph" => begins(folder, name, kind, b"CGPH"),
        "alternates" => text.is_some_and(|text| text.lines().all(is_folder)),
        "commit-graphs" => folder.folder(Path::new(name)).is_ok_and(|inner| {
            inner.kinds(Path::new("")).unwrap_or_default().iter().all(|(name, kind)| {
                let name = name.to_string_lossy();
                is_graph(&name) && begins(&inner, &name, *kind, b"CGPH") || name == "commit-graph-chain"
            })
        }),
        _ => false,
    }
}

/// Returns true if a file can be an object: it begins as compressed data does. A text with such a name could be loaded by a
/// program, also one that begins with the same letter: a part that is not compressed begins with a number.
fn is_loose(folder: &Folder, name: &str, kind: FileType) -> bool {
    if kind != FileType::RegularFile || !is_hex(name, &[38, 62]) {
        return false;
    }
    let Ok(begin) = folder.read_beginning(Path::new(name), 3) else { return false };
    let [first, second, third] = begin[..] else { return false };
    first == 0x78 && u16::from_be_bytes([first, second]) % 31 == 0 && (third & 0b110 != 0 || third <= 1)
}

fn is_hex(text: &str, lengths: &[usize]) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_hash(line: &str) -> bool {
    is_hex(line, &[40, 64])
}

/// Returns true for the text of a reference: a hash, or the name of another reference.
fn is_reference(text: &str) -> bool {
    let line = text.trim_end_matches('\n');
    is_hash(line) || line.strip_prefix("ref: refs/").is_some_and(|name| !name.contains(char::is_whitespace))
}

/// Returns true for a line of the list of packed references.
fn is_packed(line: &str) -> bool {
    let named = line.split_once(' ').is_some_and(|(hash, name)| is_hash(hash) && name.starts_with("refs/"));
    named || line.strip_prefix('^').is_some_and(is_hash) || line.starts_with("# pack-refs with: ")
}

/// Returns the lines that a rule accepts.
fn only(text: &str, is_right: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| is_right(line)).map(|line| format!("{line}\n")).collect()
}

/// Reads the references that stand in files of their own.
fn references(common: &Folder) -> Vec<(PathBuf, String)> {
    let files = common.list_some(Path::new("refs"), REFERENCES_MAX, |_| true).into_iter();
    let read = files.filter(|entry| entry.kind == FileType::RegularFile).filter_map(|entry| {
        let text = common.read_text(&entry.path, REFERENCE_BYTES_MAX).ok().flatten()?;
        is_reference(&text).then_some((entry.path, text))
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_makes_is_an_object() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(&place.path().canonicalize().unwrap()).unwrap();
        let hash = "0123456789".repeat(4);
        for (path, text, is_shown, is_foreign) in [
            (format!("ab/{}", &hash[2..]), &b"x\x01K"[..], true, false),
            (format!("ab/{}", &hash[1..39]), b"x^`.", false, true),
            (format!("cd/{}", &hash[2..]), b"module.exports = 1", false, true),
            (format!("pack/pack-{hash}.pack"), b"PACK\0\0\0\x02", true, false),
            (format!("pack/pack-{hash}.idx"), b"exports.a = 1", false, true),
            (format!("pack/pack-{hash}.keep"), b"exports.a = 1", false, false),
            ("pack/more.js".to_owned(), b"PACK", false, true),
            ("pack/tmp_pack_x".to_owned(), b"PACK", false, false),
            ("info/packs".to_owned(), b"P pack", false, false),
            ("info/commit-graph".to_owned(), b"CGPH\x01", true, false),
            ("slug.js".to_owned(), b"1", false, true),
        ] {
            let path = PathBuf::from(path);
            folder.make_folders(path.parent().unwrap()).unwrap();
            folder.write(&path, text).unwrap();
            let mut objects = Objects::default();
            objects.look(&folder);
            let found =
                (!objects.hidden.contains(&path) && !objects.foreign.contains(&path), objects.foreign.contains(&path));
            assert_eq!(found, (is_shown, is_foreign), "{}", path.display());
        }
    }

    #[test]
    fn references_are_hashes_or_names() {
        let hash = "0123456789".repeat(4);
        assert!(is_reference(&format!("{hash}\n")) && is_reference("ref: refs/heads/main\n"));
        assert!(!is_reference("module.exports = 1\n") && !is_reference("ref: refs/heads/a b\n"));
        let packed = format!("# pack-refs with: peeled \n{hash} refs/tags/a\n^{hash}\nmodule.exports = 1\n");
        assert_eq!(only(&packed, is_packed).lines().count(), 3);
    }
}
