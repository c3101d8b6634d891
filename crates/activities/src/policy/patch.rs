//! Patches in the form that policy reads, and the files that a patch applies to.

use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

use interlock_policy::{ChangeKind, FileChange, Patch};
use interlock_workspace::patch::{self, FilePatch, Kind, Look, LookupResult, Node, Sign};

/// Converts a patch to the form that policy reads.
pub(super) fn seen(patch: &patch::Patch) -> Patch {
    Patch { files: patch.files.iter().map(file).collect() }
}

fn file(file: &FilePatch) -> FileChange {
    let lines = |sign: Sign| {
        let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.sign == sign);
        lines.map(|line| String::from_utf8_lossy(&line.text).into_owned()).collect::<Vec<_>>()
    };
    let (added, removed) = (lines(Sign::Add), lines(Sign::Remove));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let kind = match (&file.old, &file.new, file.new_kind) {
        (_, Some(_), Some(Kind::Link)) => ChangeKind::Linked { to: added.join("\n") },
        (_, Some(_), Some(Kind::Repository)) => ChangeKind::Binary,
        (None, ..) => ChangeKind::Added,
        (_, None, _) => ChangeKind::Deleted,
        (Some(old), Some(_), _) if file.is_rename() => ChangeKind::Renamed { from: text(old) },
        _ => ChangeKind::Modified,
    };
    FileChange { path: text(file.path()), kind, added, removed }
}

/// The files of a workspace, for a patch that is only tested and not written.
#[derive(Debug)]
pub(super) struct Files(pub(super) PathBuf);

impl Look for Files {
    fn look(&self, path: &Path) -> LookupResult {
        let mut above = self.0.clone();
        for part in path.parent().into_iter().flat_map(Path::components) {
            above.push(part);
            if above.is_symlink() {
                return LookupResult::Not(format!("its path contains the link {}", above.display()));
            }
        }
        let full = self.0.join(path);
        match fs::symlink_metadata(&full) {
            Err(_) => LookupResult::Nothing,
            Ok(meta) if meta.is_symlink() => match fs::read_link(&full) {
                Ok(to) => LookupResult::Node(Node { kind: Kind::Link, content: to.as_os_str().as_bytes().to_vec() }),
                Err(error) => LookupResult::Not(error.to_string()),
            },
            Ok(meta) if meta.is_file() => match fs::read(&full) {
                Ok(content) => {
                    let kind = if meta.permissions().mode() & 0o100 == 0 { Kind::File } else { Kind::Executable };
                    LookupResult::Node(Node { kind, content })
                }
                Err(error) => LookupResult::Not(error.to_string()),
            },
            Ok(_) => LookupResult::Not("it is no file".to_owned()),
        }
    }
}
