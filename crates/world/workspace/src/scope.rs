//! Records the ignore rules that applied when a snapshot was taken.
//!
//! An attempt that adds a rule cannot hide its files, and one that removes a rule does not turn ignored files into its
//! changes.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{self, Write},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    Error, NotKept, Result,
    index::{Index, joined},
    listing::Staged,
    private::{Private, RULES_BYTES_MAX, hex, unhex},
    unkept::{self, Unkept, Why},
    workspace::name_part,
};

/// The directory of scopes within a private directory.
pub(crate) const FOLDER: &str = "scopes";

/// Prefix of the files that link a snapshot to its scope.
pub(crate) const OF: &str = "of-";

/// The name of a file with ignore rules.
pub(crate) const RULES: &[u8] = b".gitignore";

/// Lists ignored paths. If a whole directory is ignored, only the directory is listed.
const IGNORED: [&str; 6] = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];

/// Lists all paths in an index with their mode and hash.
const STAGED: [&str; 3] = ["ls-files", "-z", "--stage"];

/// The rules that define the files of a workspace at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scope {
    /// All rules as one list in which later rules take precedence. Bytes are stored as hexadecimal digits in all
    /// fields.
    rules: String,
    /// Paths that were ignored.
    ignored: Vec<String>,
    /// Paths that existed but could not be stored, with their stamp and the reason.
    unkept: Vec<(String, String, Why)>,
    /// Nested repositories, whose files are stored apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nested: Vec<String>,
}

impl Scope {
    /// Builds the scope of an index that is up to date. Returns it with the files of the index.
    pub(crate) fn of(index: &Index<'_>, mut unkept: Unkept) -> Result<(Self, Vec<Staged>)> {
        let (staged, ignored) = std::thread::scope(|scope| {
            let ignored = scope.spawn(|| index.git.paths(&IGNORED));
            let staged = index.git.paths(&STAGED)?;
            Ok::<_, Error>((staged, joined(ignored)?))
        })?;
        let ignored = without_mixed(ignored);
        let staged: Vec<Staged> = staged.iter().filter_map(|line| Staged::parse(line)).collect();
        unkept.extend(unkept::repositories(&index.private.place.root, staged.iter().map(|file| &file.path)));
        let nested = unkept::nested(index.private, &mut unkept, gitlinks(&staged));
        let scope = Scope {
            nested: nested.iter().map(|path| hex(path)).collect(),
            rules: hex(&rules(index.private, staged.iter().map(|file| &file.path), &ignored)),
            ignored: ignored.iter().map(|path| hex(path)).collect(),
            unkept: unkept.into_iter().map(|(path, (stamp, why))| (hex(&path), stamp, why)).collect(),
        };
        Ok((scope, staged))
    }

    /// Updates the index of a snapshot by these rules. Returns the changed paths that cannot be stored, and the paths of
    /// nested repositories.
    pub(crate) fn changed(&self, index: &Index<'_>) -> Result<(Vec<NotKept>, Vec<Vec<u8>>)> {
        let mut unkept = index.add_by(self)?;
        let staged: Vec<Staged> = index.git.paths(&STAGED)?.iter().filter_map(|line| Staged::parse(line)).collect();
        unkept.extend(unkept::repositories(&index.private.place.root, staged.iter().map(|file| &file.path)));
        let links = gitlinks(&staged).into_iter().chain(self.nested()).collect();
        let nested = unkept::nested(index.private, &mut unkept, links);
        Ok((unkept::changed(&self.unkept(), &unkept), nested))
    }

    /// Returns the paths of the nested repositories whose files are stored apart.
    pub(crate) fn nested(&self) -> Vec<Vec<u8>> {
        self.nested.iter().map(|path| bytes(path)).collect()
    }

    pub(crate) fn rules(&self) -> Vec<u8> {
        bytes(&self.rules)
    }

    /// Returns the paths that were ignored; directories have no trailing slash.
    pub(crate) fn ignored(&self) -> BTreeSet<Vec<u8>> {
        let plain = |path: Vec<u8>| path.strip_suffix(b"/").map(<[u8]>::to_vec).unwrap_or(path);
        self.ignored_paths().into_iter().map(plain).collect()
    }

    /// Returns the paths that were ignored; directories have a trailing slash.
    pub(crate) fn ignored_paths(&self) -> Vec<Vec<u8>> {
        self.ignored.iter().map(|path| bytes(path)).collect()
    }

    /// Returns true if every file that belongs to the workspace could be stored.
    pub(crate) fn keeps_all(&self) -> bool {
        self.unkept.is_empty()
    }

    /// Returns true if this path existed and could not be stored.
    pub(crate) fn has_unkept(&self, path: &Path) -> bool {
        let path = hex(path.as_os_str().as_bytes());
        self.unkept.iter().any(|(known, ..)| *known == path)
    }

    fn unkept(&self) -> Unkept {
        self.unkept.iter().map(|(path, stamp, why)| (bytes(path), (stamp.clone(), *why))).collect()
    }

    /// Saves the scope of a snapshot and returns the name of its file. Equal scopes are stored once.
    pub(crate) fn write(&self, private: &Private, name: &str) -> Result<String> {
        use sha2::{Digest, Sha256};
        let folder = private.folder.join(FOLDER);
        let written = || {
            fs::create_dir_all(&folder)?;
            let json = serde_json::to_vec(self)?;
            let hash = hex(&Sha256::digest(&json));
            let path = folder.join(&hash);
            if !path.exists() {
                let mut file = tempfile::NamedTempFile::new_in(&private.folder)?;
                file.write_all(&json)?;
                file.persist(path).map_err(|error| error.error)?;
            }
            fs::write(file(private, name), &hash)?;
            Ok(hash)
        };
        written().map_err(|error: io::Error| Error::io("write in", &folder, &error))
    }

    /// Gives a snapshot the stored scope of another one.
    pub(crate) fn link(private: &Private, name: &str, scope: &str) -> Result<()> {
        let path = file(private, name);
        fs::write(&path, scope).map_err(|error| Error::io("write", &path, &error))
    }

    /// Reads the scope of a snapshot. Snapshots of earlier versions of Interlock have none.
    pub(crate) fn read(private: &Private, name: &str) -> Option<Self> {
        let hash = fs::read_to_string(file(private, name)).ok()?;
        serde_json::from_slice(&fs::read(private.folder.join(FOLDER).join(hash)).ok()?).ok()
    }
}

/// Returns the paths of the nested repositories in an index.
fn gitlinks(staged: &[Staged]) -> BTreeSet<Vec<u8>> {
    staged.iter().filter(|file| file.mode == "160000").map(|file| file.path.clone()).collect()
}

/// Removes directories that are listed with their content: they are not ignored themselves, all their files are. A new
/// file in them need not be.
fn without_mixed(mut ignored: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    ignored.sort();
    let is_mixed = |at: usize| {
        ignored[at].ends_with(b"/") && ignored.get(at + 1).is_some_and(|next| next.starts_with(&ignored[at]))
    };
    let mixed: Vec<bool> = (0..ignored.len()).map(is_mixed).collect();
    ignored.into_iter().zip(mixed).filter(|(_, is_mixed)| !is_mixed).map(|(path, _)| path).collect()
}

pub(crate) fn file(private: &Private, name: &str) -> PathBuf {
    private.folder.join(FOLDER).join(format!("{OF}{}", name_part(name)))
}

/// Returns all rules in ascending precedence: those of the user, those of the repository, then those of `.gitignore`
/// files, outer before inner.
fn rules<'p>(private: &Private, kept: impl Iterator<Item = &'p Vec<u8>>, ignored: &'p [Vec<u8>]) -> Vec<u8> {
    let root = &private.place.root;
    let inside = ignored.iter().filter(|path| path.ends_with(b"/")).map(|path| [path.as_slice(), RULES].concat());
    let named = kept.chain(ignored).filter(|path| path.ends_with(RULES)).cloned();
    let mut files: Vec<Vec<u8>> = named.chain(inside).collect();
    files.retain(|path| path.rsplit(|byte| *byte == b'/').next() == Some(RULES));
    files.sort_by_key(|path| (path.iter().filter(|byte| **byte == b'/').count(), path.clone()));
    files.dedup();
    let mut rules = fs::read(private.excludes()).unwrap_or_default();
    let Ok(root) = interlock_beneath::Folder::open(root) else { return rules };
    for path in files {
        // As in git, a link counts as no file.
        let Ok(text) = root.read(Path::new(OsStr::from_bytes(&path)), RULES_BYTES_MAX) else { continue };
        let folder = &path[..path.len() - RULES.len()];
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        for line in text.split(|byte| *byte == b'\n') {
            rules.push(b'\n');
            rules.extend(below(folder, line.strip_suffix(b"\r").unwrap_or(line)));
        }
    }
    rules.push(b'\n');
    rules
}

/// Rewrites a rule of a directory as a rule of the root. A rule with a slash before its end is relative to its
/// directory; any other rule applies at every depth.
fn below(folder: &[u8], rule: &[u8]) -> Vec<u8> {
    if folder.is_empty() || rule.is_empty() || rule.starts_with(b"#") {
        return rule.to_vec();
    }
    let (not, rule) = match rule.strip_prefix(b"!") {
        Some(rule) => (&b"!"[..], rule),
        None => (&b""[..], rule),
    };
    let inner = rule.strip_suffix(b"/").unwrap_or(rule);
    let depth: &[u8] = if inner.contains(&b'/') { b"" } else { b"**/" };
    let escaped = folder.iter().flat_map(|byte| match byte {
        b'*' | b'?' | b'[' | b'\\' => vec![b'\\', *byte],
        _ => vec![*byte],
    });
    let folder: Vec<u8> = escaped.collect();
    [not, b"/", &folder, depth, rule.strip_prefix(b"/").unwrap_or(rule)].concat()
}

/// Reads the bytes of a field. A field that is damaged is empty.
fn bytes(field: &str) -> Vec<u8> {
    unhex(field).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn directory_rules_are_rewritten_for_the_root() {
        let cases = [
            ("", "*.o", "*.o"),
            ("a/", "*.o", "/a/**/*.o"),
            ("a/", "!keep.o", "!/a/**/keep.o"),
            ("a/b/", "/x", "/a/b/x"),
            ("a/", "x/y", "/a/x/y"),
            ("a/", "x/", "/a/**/x/"),
            ("a/", "# no rule", "# no rule"),
            ("a[1]/", "x", "/a\\[1]/**/x"),
        ];
        for (folder, rule, expected) in cases {
            assert_eq!(below(folder.as_bytes(), rule.as_bytes()), expected.as_bytes(), "{folder} {rule}");
        }
    }
}
