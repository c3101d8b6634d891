//! The place of a call: the attempt, the workspace and its root. Confines the paths of tools to the workspace.

use std::path::{Component, Path, PathBuf};

use interlock_activity::{Attempt, Outcome};
use interlock_beneath as beneath;
use interlock_process::Sandbox;
use interlock_workspace::{Workspace, patch::check_path};
use sha2::{Digest, Sha256};

use crate::{
    ErrorCode, ToolError,
    meaning::Source,
    problem::{io, outside, system},
    seen::Seen,
};

/// The longest file that a tool reads.
pub(crate) const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The surroundings of a call.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) attempt: Attempt,
    pub(crate) workspace: Workspace,
    pub(crate) sandbox: Sandbox,
    /// The root of the workspace; the paths of tools are relative to it.
    pub(crate) root: PathBuf,
    /// The directory of Interlock's store, which is no part of the workspace even if it is inside.
    pub(crate) store: Option<PathBuf>,
    /// The versions of files that the model knows.
    pub(crate) seen: Seen,
    /// The vectors of `search`.
    pub(crate) meaning: Source,
}

impl Scene {
    /// Finds the workspace of an attempt. May block.
    pub(crate) fn of(
        attempt: Attempt,
        workspace: &Workspace,
        sandbox: &Sandbox,
        store: Option<&Path>,
        seen: Seen,
    ) -> Result<Self, Outcome> {
        let root = workspace.root(&attempt.folder);
        let root = root.map_err(|error| Outcome::error(interlock_activity::code::FAILED, error.to_string()))?;
        let store = store.map(|store| store.canonicalize().unwrap_or_else(|_| store.to_owned()));
        let (workspace, sandbox, meaning) = (workspace.clone(), sandbox.clone(), Source::default());
        Ok(Scene { attempt, workspace, sandbox, root, store, seen, meaning })
    }

    /// Sets the vectors of `search`.
    #[must_use]
    pub(crate) fn with_meaning(self, meaning: Source) -> Self {
        Scene { meaning, ..self }
    }

    /// Returns a path relative to the root. Refuses paths that lead out, into `.git` or into the store.
    pub(crate) fn path(&self, text: &str) -> Result<PathBuf, ToolError> {
        let own = self.relative(text)?;
        let clean = check_path(own.as_encoded_bytes()).map_err(|why| outside(text, why))?;
        match self.store.as_ref().is_some_and(|store| self.root.join(&clean).starts_with(store)) {
            true => Err(outside(text, "belongs to Interlock's own data")),
            false => Ok(clean),
        }
    }

    /// Returns a directory or file relative to the root; the root itself is the empty path.
    pub(crate) fn place(&self, text: Option<&str>) -> Result<PathBuf, ToolError> {
        let text = text.unwrap_or(".").trim_end_matches('/');
        let is_root = |text: &str| Path::new(text).components().all(|part| part == Component::CurDir);
        let own = self.relative(text)?;
        if is_root(&own.to_string_lossy()) {
            return Ok(PathBuf::new());
        }
        let clean = self.path(text)?;
        self.check_links(&clean)?;
        Ok(clean)
    }

    /// Makes an absolute path within the root relative: models often write such paths.
    fn relative(&self, text: &str) -> Result<std::ffi::OsString, ToolError> {
        let path = Path::new(text);
        match path.is_absolute() {
            true => match path.strip_prefix(&self.root) {
                Ok(within) => Ok(within.as_os_str().to_owned()),
                Err(_) => Err(outside(text, "is outside of the workspace")),
            },
            false => Ok(text.into()),
        }
    }

    /// Refuses a path with a symbolic link on it: the link may lead out of the workspace.
    pub(crate) fn check_links(&self, clean: &Path) -> Result<(), ToolError> {
        let mut here = self.root.clone();
        for part in clean.components() {
            here.push(part);
            match std::fs::symlink_metadata(&here) {
                Ok(about) if about.is_symlink() => {
                    return Err(outside(&clean.to_string_lossy(), "has a symbolic link on it; links are not followed"));
                }
                Ok(_) => {}
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Reads a whole file of the workspace.
    pub(crate) fn read(&self, clean: &Path) -> Result<Vec<u8>, ToolError> {
        beneath::read(&self.root, clean, FILE_BYTES_MAX).map_err(|error| self.unreadable(clean, error))
    }

    fn unreadable(&self, clean: &Path, error: beneath::Error) -> ToolError {
        let path = clean.display();
        match error {
            beneath::Error::System { source, .. } => system(clean, &source),
            beneath::Error::Link { .. } => {
                outside(&clean.to_string_lossy(), "has a symbolic link on it; links are not followed")
            }
            beneath::Error::TooLong { bytes_max, .. } => io(format!("{path} is longer than {bytes_max} bytes"))
                .then("search it with `grep`, or print a part of it with `run_terminal_cmd`"),
            beneath::Error::NotRegular { kind, .. } => {
                let error = ToolError::new(ErrorCode::InvalidArgs, format!("{path} is {kind}, not a file"));
                error.then("list a directory with `list_dir`")
            }
            other => io(other.to_string()),
        }
    }

    /// Returns the identity of a tool call in traces.
    pub(crate) fn trace_id(&self) -> String {
        format!("{}/{}.{}", self.attempt.run, self.attempt.activity, self.attempt.number)
    }
}

/// Returns the SHA-256 of a file's content in hexadecimal digits.
pub(crate) fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns true if a file is not text: its beginning has a NUL byte.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(8 * 1024)].contains(&0)
}

/// Returns a path as results show it.
pub(crate) fn shown(clean: &Path) -> String {
    match clean.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => clean.to_string_lossy().into_owned(),
    }
}
