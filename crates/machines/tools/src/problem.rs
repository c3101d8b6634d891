//! Turns the errors of the file system and of the workspace into errors of tools.

use std::{io, path::Path};

use interlock_workspace::{Error, patch::Problem};

use crate::{ErrorCode, ToolError};

/// Errors of the file system that do not go away by themselves.
const LASTING: [io::ErrorKind; 6] = [
    io::ErrorKind::NotFound,
    io::ErrorKind::PermissionDenied,
    io::ErrorKind::NotADirectory,
    io::ErrorKind::IsADirectory,
    io::ErrorKind::InvalidInput,
    io::ErrorKind::InvalidFilename,
];

/// An input or output error that a later call may not have.
pub(crate) fn io(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::Io, message)
}

/// An error of the file system at a path of the workspace.
pub(crate) fn system(path: &Path, error: &io::Error) -> ToolError {
    let is_transient = !LASTING.contains(&error.kind());
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            io(format!("{} does not exist", path.display())).then("find the path with `glob` or `list_dir`")
        }
        _ => ToolError { is_transient, ..io(format!("{}: {error}", path.display())) },
    }
}

/// A path that no tool may use.
pub(crate) fn outside(path: &str, why: &str) -> ToolError {
    ToolError::new(ErrorCode::PolicyDenied, format!("the path `{path}` is refused: it {why}"))
        .then("use a path inside the workspace, relative to its root")
}

/// An error of the workspace. A refused patch has changed nothing.
pub(crate) fn workspace(error: &Error) -> ToolError {
    let Error::Patch(problems) = error else { return other(error) };
    let stale: Vec<String> = problems.iter().filter_map(stale).collect();
    if !stale.is_empty() {
        let message = format!("changed by somebody else since it was last read: {}", stale.join(", "));
        return ToolError::new(ErrorCode::Conflict, message + "; nothing was written");
    }
    let code = match problems.first() {
        Some(problem) if problem.is_forbidden() => ErrorCode::PolicyDenied,
        Some(Problem::Syntax { .. }) => ErrorCode::InvalidArgs,
        _ => ErrorCode::Conflict,
    };
    let error = ToolError::new(code, format!("{error}; nothing was written"));
    match problems.first() {
        Some(Problem::Syntax { .. }) => error.then(
            "send a unified diff, or `*** Begin Patch`, `*** Update File: PATH`, `@@`, lines that begin with ' ', '+' or '-', `*** End Patch`",
        ),
        _ => error,
    }
}

fn stale(problem: &Problem) -> Option<String> {
    match problem {
        Problem::Stale { path, .. } => Some(path.display().to_string()),
        _ => None,
    }
}

fn other(error: &Error) -> ToolError {
    match error {
        Error::TreeChanged { .. } => ToolError::new(ErrorCode::Conflict, error.to_string()),
        Error::Torn { .. } => ToolError::new(ErrorCode::Conflict, error.to_string())
            .then("look for files whose names begin with `.interlock-aside-`; they hold the previous content"),
        _ => io(error.to_string()),
    }
}
