//! One call of git: its directories, settings and environment. The caller's environment is not passed on.

use std::{
    ffi::OsStr,
    marker::PhantomData,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use interlock_beneath::Folder;

use crate::{
    Error,
    odd::{self, odd_files},
    place::{GitDirs, Place},
    program::Program,
    wait::{self, DEADLINE, Ended, IDLE, NotEnded},
    walls::{self, Walls},
};

/// Settings for every call. They take precedence over the configuration of a repository.
const SETTINGS: &[&str] = &[
    "advice.addEmbeddedRepo=false",
    "commit.gpgSign=false",
    "core.attributesFile=/dev/null",
    "core.alternateRefsCommand=",
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
    "diff.ignoreSubmodules=dirty",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    // The owner of the directory does not matter, because no program from it is run.
    "safe.directory=*",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];

/// The author of the commits that hold snapshots.
const AUTHOR: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "interlock"),
    ("GIT_AUTHOR_EMAIL", "interlock@localhost"),
    ("GIT_COMMITTER_NAME", "interlock"),
    ("GIT_COMMITTER_EMAIL", "interlock@localhost"),
];

/// The git directory of a call on a directory without a repository. Without one git would look for it.
const NOWHERE: &str = "/nonexistent";

/// Why git could not be started if there is none.
const NOWHERE_FOUND: &str =
    "there is no `git` in `PATH`; directories that a program of a run can change are not searched";

/// The variables that say where the settings of a person are.
const PERSONS: [&str; 5] = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// A call of git. `E` is the error type of the caller.
///
/// By default the call may change nothing: [`Git::new`], [`Git::of`], [`Git::index`], [`Git::objects`] and
/// [`Git::writing`] name the places that it may change.
#[derive(Debug)]
pub struct Git<E = Error> {
    /// The working directory of the call.
    folder: PathBuf,
    /// The reason why the call must not be made, if there is one.
    refused: Option<String>,
    vars: Vec<(&'static str, PathBuf)>,
    /// Settings in addition to [`SETTINGS`].
    settings: Vec<String>,
    /// A file with ignore rules, in addition to those of the repository.
    excludes: Option<PathBuf>,
    /// The directories that the call may change. No part of their paths may be a link.
    writes: Vec<PathBuf>,
    /// Directories of the caller that the call may change. Links above them are followed; they themselves must be none.
    own: Vec<PathBuf>,
    /// The directories that the call reads besides its own. `None` if it reads what the user can read.
    reads: Option<Vec<PathBuf>>,
    /// True if written objects must survive a power failure.
    is_durable: bool,
    /// True if many objects are to be written. Then they go into one pack instead of one file each.
    is_bulk: bool,
    /// True if the call needs helper programs of git.
    has_helpers: bool,
    /// True if the settings of the person count.
    is_person: bool,
    error: PhantomData<fn() -> E>,
}

impl<E> Clone for Git<E> {
    fn clone(&self) -> Self {
        Git {
            folder: self.folder.clone(),
            refused: self.refused.clone(),
            vars: self.vars.clone(),
            settings: self.settings.clone(),
            excludes: self.excludes.clone(),
            writes: self.writes.clone(),
            own: self.own.clone(),
            reads: self.reads.clone(),
            error: PhantomData,
            ..*self
        }
    }
}

impl<E: From<Error>> Git<E> {
    /// Uses the repository of the directory's workspace, as [`Place::find`] decides it. The call changes nothing.
    pub fn discover(folder: &Path) -> Self {
        let git = Git::started_in(folder);
        match Place::find(folder) {
            Ok(Place { root, repository: Some(GitDirs { own, common }) }) => {
                git.place("GIT_DIR", &own).place("GIT_WORK_TREE", &root).place("GIT_COMMON_DIR", &common)
            }
            Ok(_) => git.place("GIT_DIR", Path::new(NOWHERE)),
            Err(error) => Git { refused: Some(error.to_string()), ..git },
        }
    }

    /// The caller must name the git directory: without one git would look for it.
    fn started_in(folder: &Path) -> Self {
        Git {
            folder: folder.to_owned(),
            refused: None,
            vars: Vec::new(),
            settings: Vec::new(),
            excludes: None,
            writes: Vec::new(),
            own: Vec::new(),
            reads: None,
            is_durable: true,
            is_bulk: false,
            has_helpers: false,
            is_person: false,
            error: PhantomData,
        }
    }

    /// Uses the files under `root` with a git directory that need not be the repository's. The call may change the git
    /// directory, whose path must not contain a link.
    pub fn new(root: &Path, git_dir: &Path) -> Self {
        let vars = vec![("GIT_DIR", git_dir.to_owned()), ("GIT_WORK_TREE", root.to_owned())];
        Git { vars, writes: vec![git_dir.to_owned()], ..Git::started_in(root) }
    }

    /// Uses the files under `root` with a git directory, and changes nothing.
    pub fn reading(root: &Path, git_dir: &Path) -> Self {
        Git { writes: Vec::new(), ..Git::new(root, git_dir) }
    }

    /// Uses the files under `root` with their own repository, whose references and objects may lie in another directory than
    /// its `HEAD` and index. Both are used even if a file in the repository names others now.
    pub fn of(root: &Path, own_git_dir: &Path, git_dir: &Path) -> Self {
        Git::new(root, own_git_dir).place("GIT_COMMON_DIR", git_dir).writing(git_dir)
    }

    fn place(mut self, name: &'static str, path: &Path) -> Self {
        self.vars.push((name, path.to_owned()));
        self
    }

    /// Lets the call change a directory. No part of its path may be a link.
    #[must_use]
    pub fn writing(mut self, folder: &Path) -> Self {
        self.writes.push(folder.to_owned());
        self
    }

    /// Lets the call change a directory of Interlock's own. Links above it are followed; it must be none itself.
    #[must_use]
    pub fn filling(mut self, folder: &Path) -> Self {
        self.own.push(folder.to_owned());
        self
    }

    /// Keeps the call from reading other places of people than its own and these, for a call that stores files as objects:
    /// git looks at a directory once and opens paths below it later, when it may have become a link.
    #[must_use]
    pub fn reading_only(mut self, places: impl IntoIterator<Item = PathBuf>) -> Self {
        self.reads = Some(places.into_iter().collect());
        self
    }

    /// Reads the settings of the person who uses Interlock too, as their own git does.
    #[must_use]
    pub fn as_person(mut self) -> Self {
        self.is_person = true;
        self
    }

    /// Lets the call start helper programs of git. Such a call reads no files of a work tree.
    #[must_use]
    pub fn helped(mut self) -> Self {
        self.has_helpers = true;
        self
    }

    /// Uses another index.
    #[must_use]
    pub fn index(mut self, index: &Path) -> Self {
        self.own.extend(index.parent().map(Path::to_owned));
        self.place("GIT_INDEX_FILE", index)
    }

    /// Sets another environment variable of the call.
    #[must_use]
    pub fn var(mut self, name: &'static str, value: &str) -> Self {
        self.vars.push((name, value.into()));
        self
    }

    /// Adds a setting of the call.
    #[must_use]
    pub fn setting(mut self, setting: &str) -> Self {
        self.settings.push(setting.to_owned());
        self
    }

    /// Makes the filter programs that the repository's configuration names unavailable, so that none is run.
    pub fn without_filters(mut self) -> Result<Self, E> {
        let pattern = r"^filter\..*\.(clean|smudge|process|required)$";
        let names = match self.call(&["config", "--null", "--name-only", "--get-regexp", pattern], b"") {
            // There is no such setting.
            Err(Error::Failed { .. }) => Vec::new(),
            names => split(&names?),
        };
        let names = names.iter().map(|name| String::from_utf8_lossy(name).into_owned());
        self.settings.extend(names.map(|name| match name.ends_with(".required") {
            true => name + "=false",
            false => name + "=",
        }));
        Ok(self)
    }

    /// Writes objects to another directory.
    #[must_use]
    pub fn objects(mut self, objects: &Path) -> Self {
        self.own.push(objects.to_owned());
        self.place("GIT_OBJECT_DIRECTORY", objects)
    }

    /// Adds a file with ignore rules.
    #[must_use]
    pub fn excluding(mut self, rules: &Path) -> Self {
        self.excludes = Some(rules.to_owned());
        self
    }

    /// Does not wait until written objects have reached the disk.
    #[must_use]
    pub fn for_a_moment(mut self) -> Self {
        self.is_durable = false;
        self
    }

    /// Writes many objects into one pack.
    #[must_use]
    pub fn bulk(mut self, is_bulk: bool) -> Self {
        self.is_bulk = is_bulk;
        self
    }

    /// Runs `git` and returns its output.
    pub fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, E> {
        self.run_with(arguments, b"")
    }

    /// Runs `git` and returns its output as text without the final line break.
    pub fn line(&self, arguments: &[&str]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(&self.run(arguments)?).trim_end().to_owned())
    }

    /// Runs `git` and returns its output as a list of paths that are separated by NUL.
    pub fn paths(&self, arguments: &[&str]) -> Result<Vec<Vec<u8>>, E> {
        Ok(split(&self.run(arguments)?))
    }

    /// Returns the patch between two trees or commits.
    pub fn between(&self, from: &str, to: &str) -> Result<Vec<u8>, E> {
        self.between_at(from, to, &[])
    }

    /// Returns the patch between two trees or commits at the paths that these pathspecs select; at all if there are none.
    pub fn between_at(&self, from: &str, to: &str, paths: &[&str]) -> Result<Vec<u8>, E> {
        let plain = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--binary"];
        self.run(&[&plain[..], &["--end-of-options", from, to, "--"], paths].concat())
    }

    /// Runs `git` with this standard input and returns its output.
    pub fn run_with(&self, arguments: &[&str], stdin: &[u8]) -> Result<Vec<u8>, E> {
        Ok(self.call(arguments, stdin)?)
    }

    fn call(&self, arguments: &[&str], stdin: &[u8]) -> Result<Vec<u8>, Error> {
        if let Some(why) = &self.refused {
            return Err(Error::Stopped(why.clone()));
        }
        let doing = arguments.first().copied().unwrap_or_default();
        let places: Vec<&Path> = self.places().collect();
        let program = Program::find(&places).ok_or_else(|| Error::NoGit(NOWHERE_FOUND.to_owned()))?;
        let mut command = self.command(&program, arguments);
        command.stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
        let child = walls::start(command, &self.walls(program)?)?;
        // The time of helper programs is not seen.
        let idle = if self.has_helpers { DEADLINE } else { IDLE };
        match wait::wait(child, stdin, idle) {
            Ok(Ended { status, stdout, .. }) if status.success() => Ok(stdout),
            Ok(Ended { stderr, .. }) => {
                Err(Error::Failed { doing: doing.to_owned(), said: String::from_utf8_lossy(&stderr).trim().to_owned() })
            }
            Err(why) => Err(self.stopped(doing, &why)),
        }
    }

    fn walls(&self, program: Program) -> Result<Walls, Error> {
        let without_links = self.writes.iter().map(|place| Folder::open(place));
        let own = self.own.iter().map(|place| match (place.parent(), place.file_name()) {
            (Some(above), Some(name)) => Folder::open_through_links(above)?.folder(Path::new(name)),
            _ => Folder::open(place),
        });
        let writes = without_links.chain(own).collect::<Result<Vec<_>, _>>();
        Ok(Walls {
            helpers: self.has_helpers.then(|| program.helpers()).flatten(),
            reads: self.places().chain(self.reads.iter().flatten().map(PathBuf::as_path)).map(Path::to_owned).collect(),
            is_narrow: self.reads.is_some(),
            around: program.around(),
            executes: program.executes,
            writes: writes.map_err(|error| {
                Error::Stopped(format!("git was not started: {error}. Put the directory back and try again"))
            })?,
        })
    }

    /// Returns the places that the call is about.
    fn places(&self) -> impl Iterator<Item = &Path> {
        let vars = self.vars.iter().filter(|(name, _)| name.starts_with("GIT_")).map(|(_, path)| path.as_path());
        vars.filter(|path| path.is_absolute()).chain([self.folder.as_path()]).chain(self.excludes.as_deref())
    }

    /// Explains why a call was ended. A call that did nothing was blocked by a file, which is looked for.
    fn stopped(&self, doing: &str, why: &NotEnded) -> Error {
        let at = self.folder.display();
        let blocked = match why {
            NotEnded::Idle => self.places().flat_map(|place| odd_files(place, odd::LOOK_MAX)).next(),
            _ => None,
        };
        Error::Stopped(match (why, blocked) {
            (_, Some(odd)) => format!("git {doing} in {at} was stopped, because {odd}. Remove it and try again"),
            (NotEnded::Idle, None) => format!(
                "git {doing} in {at} was stopped, because it did nothing for {} seconds. Look for a named pipe in place of a file there",
                IDLE.as_secs()
            ),
            (NotEnded::Late, None) => {
                format!(
                    "git {doing} in {at} was stopped after {} minutes. Try it by hand there",
                    DEADLINE.as_secs() / 60
                )
            }
            (NotEnded::TooMuch, None) => {
                format!("git {doing} in {at} was stopped, because it printed too much. Use a smaller directory")
            }
            (NotEnded::System(error), None) => format!("git {doing} in {at} was stopped: {error}"),
        })
    }

    #[expect(clippy::disallowed_methods, reason = "the program was found where no other program can have put it")]
    fn command(&self, program: &Program, arguments: &[&str]) -> Command {
        let mut command = Command::new(&program.path);
        // A signal to the whole session must not end git in the middle of a write.
        command.process_group(0);
        command.env_clear().current_dir(&self.folder).env("PATH", program.search_path());
        command.envs([("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0")]);
        command.envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_NO_REPLACE_OBJECTS", "1")]);
        if self.is_person {
            command.envs(PERSONS.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
            command.envs(self.vars.iter().map(|(name, path)| (name, path)));
            command.args(["-c", "core.fsmonitor=false"]).args(arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            return command;
        }
        command.envs([("HOME", "/nonexistent"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
        command.env("GIT_ATTR_NOSYSTEM", "1");
        command.envs(AUTHOR).envs(self.vars.iter().map(|(name, path)| (name, path)));
        for setting in SETTINGS.iter().copied().chain(self.settings.iter().map(String::as_str)) {
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

/// Splits a list that is separated by NUL bytes and drops empty items.
pub fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Joins a list, with a NUL byte after each item.
pub fn join(paths: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend(path);
        bytes.push(0);
    }
    bytes
}
