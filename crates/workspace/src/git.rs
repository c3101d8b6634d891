//! The only module that starts `git`. The caller's environment is not passed on, and `git` cannot start any configured
//! program.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use crate::{Error, Result};

/// Settings for every call. They take precedence over the configuration of a repository.
const SETTINGS: &[&str] = &[
    "advice.addEmbeddedRepo=false",
    "commit.gpgSign=false",
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.fileMode=true",
    "core.fsmonitor=false",
    "core.fsyncMethod=batch",
    "core.hooksPath=/dev/null",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "core.safecrlf=false",
    "core.sparseCheckout=false",
    "core.splitIndex=false",
    "core.symlinks=true",
    "core.untrackedCache=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    // The owner of the directory does not matter, because no program from it is run.
    "safe.directory=*",
    "submodule.recurse=false",
];

/// The author of the commits that hold snapshots.
const AUTHOR: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "interlock"),
    ("GIT_AUTHOR_EMAIL", "interlock@localhost"),
    ("GIT_COMMITTER_NAME", "interlock"),
    ("GIT_COMMITTER_EMAIL", "interlock@localhost"),
];

/// The settings of a call of `git`: its directories and environment.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    /// The working directory of the call.
    folder: PathBuf,
    vars: Vec<(&'static str, PathBuf)>,
    /// Settings in addition to [`SETTINGS`].
    settings: Vec<String>,
    /// A file with ignore rules, in addition to those of the repository.
    excludes: Option<PathBuf>,
    /// True if written objects must survive a power failure.
    is_durable: bool,
    /// True if many objects are to be written. Then they go into one pack instead of one file each.
    is_bulk: bool,
}

impl Git {
    /// Uses the repository that contains the directory.
    pub(crate) fn discover(folder: &Path) -> Self {
        Git {
            folder: folder.to_owned(),
            vars: Vec::new(),
            settings: Vec::new(),
            excludes: None,
            is_durable: true,
            is_bulk: false,
        }
    }

    /// Uses the files under `root` with a git directory that need not be the repository's.
    pub(crate) fn new(root: &Path, git_dir: &Path) -> Self {
        let vars = vec![("GIT_DIR", git_dir.to_owned()), ("GIT_WORK_TREE", root.to_owned())];
        Git { vars, ..Git::discover(root) }
    }

    #[must_use]
    pub(crate) fn index(mut self, index: &Path) -> Self {
        self.vars.push(("GIT_INDEX_FILE", index.to_owned()));
        self
    }

    /// Sets another environment variable of the call.
    #[must_use]
    pub(crate) fn var(mut self, name: &'static str, value: &str) -> Self {
        self.vars.push((name, value.into()));
        self
    }

    /// Adds a setting of the call.
    #[must_use]
    pub(crate) fn setting(mut self, setting: &str) -> Self {
        self.settings.push(setting.to_owned());
        self
    }

    /// Makes the filter programs that the repository's configuration names unavailable, so that none is run.
    pub(crate) fn without_filters(mut self) -> Result<Self> {
        let pattern = r"^filter\..*\.(clean|smudge|process|required)$";
        let names = match self.paths(&["config", "--null", "--name-only", "--get-regexp", pattern]) {
            // There is no such setting.
            Err(Error::Git { .. }) => Vec::new(),
            names => names?,
        };
        let names = names.iter().map(|name| String::from_utf8_lossy(name).into_owned());
        self.settings.extend(names.map(|name| match name.ends_with(".required") {
            true => name + "=false",
            false => name + "=",
        }));
        Ok(self)
    }

    #[must_use]
    pub(crate) fn objects(mut self, objects: &Path) -> Self {
        self.vars.push(("GIT_OBJECT_DIRECTORY", objects.to_owned()));
        self
    }

    /// Adds a file with ignore rules.
    #[must_use]
    pub(crate) fn excluding(mut self, rules: &Path) -> Self {
        self.excludes = Some(rules.to_owned());
        self
    }

    #[must_use]
    pub(crate) fn for_a_moment(mut self) -> Self {
        self.is_durable = false;
        self
    }

    #[must_use]
    pub(crate) fn bulk(mut self, is_bulk: bool) -> Self {
        self.is_bulk = is_bulk;
        self
    }

    /// Runs `git` and returns its output.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        self.run_with(arguments, b"")
    }

    /// Runs `git` and returns its output as text without the final line break.
    pub(crate) fn line(&self, arguments: &[&str]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.run(arguments)?).trim_end().to_owned())
    }

    /// Runs `git` and returns its output as a list of paths that are separated by NUL.
    pub(crate) fn paths(&self, arguments: &[&str]) -> Result<Vec<Vec<u8>>> {
        Ok(split(&self.run(arguments)?))
    }

    /// Returns the patch between two trees or commits.
    pub(crate) fn between(&self, from: &str, to: &str) -> Result<Vec<u8>> {
        self.between_at(from, to, &[])
    }

    /// Returns the patch between two trees or commits at the paths that these pathspecs select; at all if there are none.
    pub(crate) fn between_at(&self, from: &str, to: &str, paths: &[&str]) -> Result<Vec<u8>> {
        let plain = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--binary"];
        self.run(&[&plain[..], &["--end-of-options", from, to, "--"], paths].concat())
    }

    /// Runs `git` with this standard input and returns its output.
    pub(crate) fn run_with(&self, arguments: &[&str], stdin: &[u8]) -> Result<Vec<u8>> {
        let output = self.call(arguments, stdin)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::Git { doing: arguments.first().copied().unwrap_or_default().to_owned(), said })
    }

    fn call(&self, arguments: &[&str], stdin: &[u8]) -> Result<Output> {
        let no_git = |error: std::io::Error| Error::NoGit(error.to_string());
        let mut command = self.command(arguments);
        if stdin.is_empty() {
            return command.stdin(Stdio::null()).output().map_err(no_git);
        }
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(no_git)?;
        let mut pipe = child.stdin.take();
        std::thread::scope(|scope| {
            // A separate thread writes the input, because `git` may print before it has read everything.
            scope.spawn(move || pipe.as_mut().map(|pipe| pipe.write_all(stdin)));
            child.wait_with_output().map_err(no_git)
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let mut command = Command::new(program(&path));
        command.env_clear().current_dir(&self.folder).env("PATH", &path);
        command.envs([("HOME", "/nonexistent"), ("LC_ALL", "C"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_ATTR_NOSYSTEM", "1"), ("GIT_TERMINAL_PROMPT", "0")]);
        command.envs([("GIT_OPTIONAL_LOCKS", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("GIT_NO_REPLACE_OBJECTS", "1")]);
        command.envs(AUTHOR).envs(self.vars.iter().map(|(name, path)| (name, path)));
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let excludes = self.excludes.as_deref().unwrap_or(Path::new("/dev/null"));
        command.arg("-c").arg([OsStr::new("core.excludesFile="), excludes.as_os_str()].join(OsStr::new("")));
        let fsync =
            if self.is_durable { "core.fsync=loose-object,pack,pack-metadata,reference" } else { "core.fsync=none" };
        command.args(["-c", fsync]).args(if self.is_bulk { &["-c", "core.bigFileThreshold=1"][..] } else { &[] });
        command.args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Returns the path of the `git` program. It is searched here because `Command` forks the whole process if it has to
/// search `PATH`, which takes longer than most calls of `git`.
fn program(path: &OsStr) -> PathBuf {
    let is_program = |file: &PathBuf| fs::metadata(file).is_ok_and(|it| it.is_file() && it.mode() & 0o111 != 0);
    let places = std::env::split_paths(path).filter(|place| place.is_absolute());
    places.map(|place| place.join("git")).find(is_program).unwrap_or_else(|| "git".into())
}

/// Splits a list that is separated by NUL bytes and drops empty items.
pub(crate) fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Joins a list, with a NUL byte after each item.
pub(crate) fn join(paths: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend(path);
        bytes.push(0);
    }
    bytes
}
