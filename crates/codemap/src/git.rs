//! The only place that starts `git`. It inherits nothing from the caller's environment and runs no configured programs.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

use crate::{Error, Result};

/// Settings that override the configuration of any repository.
const SETTINGS: [&str; 6] = [
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "log.showSignature=false",
    "safe.directory=*",
];

/// Runs `git` in a directory and returns its output, split at NULs. With `git_dir`, the directory is used as the work
/// tree of that repository.
pub(crate) fn paths(folder: &Path, git_dir: Option<&Path>, arguments: &[&str]) -> Result<Vec<Vec<u8>>> {
    let mut command = Command::new("git");
    command.env_clear().current_dir(folder).stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").as_deref().unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin")));
    command.envs([("HOME", "/nonexistent"), ("LC_ALL", "C"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_NO_LAZY_FETCH", "1")]);
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0")]);
    if let Some(git_dir) = git_dir {
        command.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", folder);
    }
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    let output = command.args(arguments).output().map_err(|error| Error::NoGit(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Git { doing: arguments.first().copied().unwrap_or_default().to_owned(), said });
    }
    let parts = output.stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    Ok(parts.map(<[u8]>::to_vec).collect())
}
