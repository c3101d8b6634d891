//! The files that a patch applies to, if it is only tested.

use std::path::{Path, PathBuf};

use interlock_beneath::{self as beneath, FileType, Folder};
use interlock_workspace::patch::{Kind, Look, LookupResult, Node};

/// The longest file that a patch is tested on.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// The files of a workspace, for a patch that is only tested and not written.
#[derive(Debug)]
pub(super) struct Files(pub(super) PathBuf);

impl Look for Files {
    fn look(&self, path: &Path) -> LookupResult {
        let read = || {
            let folder = Folder::open(&self.0)?;
            let about = folder.stat(path)?;
            Ok(match FileType::from_raw_mode(about.st_mode) {
                FileType::Symlink => {
                    let content = folder.read_link(path)?.into_os_string().into_encoded_bytes();
                    Node { kind: Kind::Link, content }
                }
                _ => {
                    let kind = if about.st_mode & 0o100 == 0 { Kind::File } else { Kind::Executable };
                    Node { kind, content: folder.read(path, FILE_BYTES_MAX)? }
                }
            })
        };
        match read() {
            Ok(node) => LookupResult::Node(node),
            Err(beneath::Error::Link { path }) => {
                LookupResult::Not(format!("its path contains the link {}", path.display()))
            }
            Err(error) if error.is_absent() => LookupResult::Nothing,
            Err(error) => LookupResult::Not(error.to_string()),
        }
    }
}
